"""What a user of web3.py sees of a chain, a function each; prints all answers as one JSON object.

Argument: a JSON file with the chain's address, contracts and the keys of funded and empty wallets.
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from eth_account import Account

# By name, since most environments that check types do not have it.
Web3: Any = import_module("web3").Web3
exceptions: Any = import_module("web3.exceptions")

GIVEN = json.loads(Path(sys.argv[1]).read_text("utf-8"))
W3 = Web3(Web3.HTTPProvider(GIVEN["url"]))
UNIT = 10**18
ABSENT = "0x" + "12" * 32
NATIVE = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"


def _function(name: str, inputs: str, outputs: str = "", kind: str = "nonpayable") -> Any:
    def typed(kinds: str) -> Any:
        return [{"name": "", "type": each} for each in kinds.split()]

    return {
        "type": "function",
        "name": name,
        "stateMutability": kind,
        "inputs": typed(inputs),
        "outputs": typed(outputs),
    }


def _event(name: str, *inputs: tuple[str, str, bool]) -> Any:
    return {
        "type": "event",
        "name": name,
        "anonymous": False,
        "inputs": [{"name": n, "type": t, "indexed": i} for n, t, i in inputs],
    }


ERC20 = [
    _function("name", "", "string", "view"),
    _function("symbol", "", "string", "view"),
    _function("decimals", "", "uint8", "view"),
    _function("totalSupply", "", "uint256", "view"),
    _function("balanceOf", "address", "uint256", "view"),
    _function("allowance", "address address", "uint256", "view"),
    _function("transfer", "address uint256", "bool"),
    _function("approve", "address uint256", "bool"),
    _function("transferFrom", "address address uint256", "bool"),
    _function("absent", "", "uint256", "view"),
    _event(
        "Transfer", ("from", "address", True), ("to", "address", True), ("value", "uint256", False)
    ),
]
PROXY = [
    _function("vaultOut", "address uint256 bool bytes", "", "payable"),
    _event(
        "LogVaultOut",
        ("token", "address", True),
        ("from", "address", True),
        ("orderID", "uint256", True),
        ("amount", "uint256", False),
        ("vault", "address", False),
        ("order", "bytes", False),
    ),
]
TOKEN = W3.eth.contract(address=Web3.to_checksum_address(GIVEN["token"]), abi=ERC20)
VAULT = W3.eth.contract(address=Web3.to_checksum_address(GIVEN["proxy"]), abi=PROXY)
BEHAVIOURS: dict[str, Callable[[], Any]] = {}


def behaviour(function: Callable[[], Any]) -> Callable[[], Any]:
    BEHAVIOURS[function.__name__] = function
    return function


def wallet() -> Any:
    return Account.from_key(GIVEN["funded"].pop(0))


def stranger() -> str:
    return str(Account.create().address)


def nobody() -> str:
    """Return an address that owns nothing; the mock's unnamed wallets own something."""
    return str(Account.from_key(GIVEN["empty"].pop(0)).address)


def signed(who: Any, **members: Any) -> Any:
    base = {
        "chainId": GIVEN["chainId"],
        "nonce": W3.eth.get_transaction_count(who.address),
        "gas": 200_000,
        "maxFeePerGas": 2 * W3.eth.gas_price + 2 * 10**9,
        "maxPriorityFeePerGas": 10**9,
        "value": 0,
        **members,
    }
    if "gasPrice" in base:
        base = {key: base[key] for key in base if not key.startswith("max")}
    return who.sign_transaction(base).raw_transaction


def sent(who: Any, **members: Any) -> Any:
    return W3.eth.send_raw_transaction(signed(who, **members))


def mined(hash_: Any) -> Any:
    return W3.eth.wait_for_transaction_receipt(hash_, timeout=20, poll_latency=0.05)


def called(who: Any, function: Any, **members: Any) -> Any:
    return sent(who, to=function.address, data=function._encode_transaction_data(), **members)


def told(asked: Callable[[], Any]) -> Any:
    """Return the class and the words of what web3.py raises, without numbers and addresses."""
    try:
        asked()
    except exceptions.ContractLogicError as error:
        return [type(error).__name__, error.message]
    except exceptions.Web3Exception as error:
        return type(error).__name__
    except ValueError as error:
        return type(error).__name__
    return "no error"


@behaviour
def connection_is_there() -> Any:
    return [W3.is_connected(), W3.eth.chain_id == GIVEN["chainId"], W3.net.version]


@behaviour
def payment_arrives() -> Any:
    to = nobody()
    receipt = mined(sent(wallet(), to=to, value=5))
    return [receipt.status, W3.eth.get_balance(to), receipt.gasUsed, receipt.type]


@behaviour
def payment_costs_value_and_gas() -> Any:
    who = wallet()
    before = W3.eth.get_balance(who.address)
    receipt = mined(sent(who, to=stranger(), value=5))
    return before - W3.eth.get_balance(who.address) == (
        5 + receipt.gasUsed * receipt.effectiveGasPrice
    )


@behaviour
def transaction_comes_back() -> Any:
    who = wallet()
    shown = W3.eth.get_transaction(mined(sent(who, to=stranger(), value=5)).transactionHash)
    return [shown["from"] == who.address, shown.value, shown.type, shown.nonce, len(shown.r) <= 32]


@behaviour
def raw_transaction_comes_back() -> Any:
    raw = signed(wallet(), to=stranger(), value=5)
    mined(W3.eth.send_raw_transaction(raw))
    return W3.eth.get_raw_transaction(Web3.keccak(raw)) == raw


@behaviour
def legacy_transaction_comes_back() -> Any:
    price = 2 * W3.eth.gas_price
    shown = W3.eth.get_transaction(
        mined(sent(wallet(), to=stranger(), gasPrice=price)).transactionHash
    )
    return [shown.type, shown.gasPrice == price, "maxFeePerGas" in shown]


@behaviour
def unknown_transaction_is_not_found() -> Any:
    return [
        told(lambda: W3.eth.get_transaction(ABSENT)),
        told(lambda: W3.eth.get_transaction_receipt(ABSENT)),
        told(lambda: W3.eth.get_block(ABSENT)),
    ]


@behaviour
def waiting_ends() -> Any:
    try:
        W3.eth.wait_for_transaction_receipt(ABSENT, timeout=0.3, poll_latency=0.1)
    except exceptions.TimeExhausted:
        return "TimeExhausted"
    except exceptions.TransactionNotFound:
        return "TransactionNotFound"
    return None


@behaviour
def block_holds_its_transaction() -> Any:
    receipt = mined(sent(wallet(), to=stranger(), value=5))
    block = W3.eth.get_block(receipt.blockNumber, full_transactions=True)
    return [[each.value for each in block.transactions], block.hash == receipt.blockHash]


@behaviour
def blocks_hang_together() -> Any:
    receipt = mined(sent(wallet(), to=stranger(), value=5))
    block = W3.eth.get_block(receipt.blockNumber)
    return block.parentHash == W3.eth.get_block(receipt.blockNumber - 1).hash


@behaviour
def block_counts_transactions() -> Any:
    receipt = mined(sent(wallet(), to=stranger(), value=5))
    return W3.eth.get_block_transaction_count(receipt.blockNumber)


@behaviour
def counts_tell_pending_from_latest() -> Any:
    who = wallet()
    sent(who, to=stranger(), nonce=1)
    return [
        W3.eth.get_transaction_count(who.address),
        W3.eth.get_transaction_count(who.address, "pending"),
    ]


@behaviour
def gap_is_filled() -> Any:
    who = wallet()
    late = sent(who, to=stranger(), nonce=1)
    waiting = told(lambda: W3.eth.get_transaction_receipt(late))
    mined(sent(who, to=stranger(), nonce=0))
    return [waiting, mined(late).status, W3.eth.get_transaction_count(who.address)]


@behaviour
def used_nonce_is_refused() -> Any:
    who = wallet()
    mined(sent(who, to=stranger()))
    return told(lambda: sent(who, to=stranger(), value=1, nonce=0))


@behaviour
def replacement_drops_the_first() -> Any:
    who = wallet()
    first = sent(who, to=stranger(), nonce=1)
    price = 4 * W3.eth.gas_price + 4 * 10**9
    second = sent(who, to=stranger(), nonce=1, maxFeePerGas=price, maxPriorityFeePerGas=3 * 10**9)
    mined(sent(who, to=stranger(), nonce=0))
    return [mined(second).status, told(lambda: W3.eth.get_transaction(first))]


@behaviour
def replacement_for_the_same_is_refused() -> Any:
    who = wallet()
    sent(who, to=stranger(), nonce=1)
    return told(lambda: sent(who, to=stranger(), value=1, nonce=1))


@behaviour
def too_much_value_is_refused() -> Any:
    return told(lambda: sent(wallet(), to=stranger(), value=9 * UNIT))


@behaviour
def estimate_of_a_payment() -> Any:
    return W3.eth.estimate_gas({"from": wallet().address, "to": stranger(), "value": 1})


@behaviour
def token_reads() -> Any:
    functions = TOKEN.functions
    return [
        type(functions.name().call()).__name__,
        type(functions.symbol().call()).__name__,
        functions.decimals().call(),
        functions.balanceOf(wallet().address).call() // UNIT,
    ]


@behaviour
def transfer_tells_its_event() -> Any:
    who, to = wallet(), stranger()
    receipt = mined(called(who, TOKEN.functions.transfer(to, 5)))
    [event] = TOKEN.events.Transfer().process_receipt(receipt)
    return [event.event, event.args.value, event.args["from"] == who.address, event.logIndex]


@behaviour
def built_transaction_goes_through() -> Any:
    who, to = wallet(), nobody()
    built = TOKEN.functions.transfer(to, 5).build_transaction(
        {"from": who.address, "nonce": 0, "chainId": GIVEN["chainId"]}
    )
    raw = who.sign_transaction(built).raw_transaction
    return [mined(W3.eth.send_raw_transaction(raw)).status, TOKEN.functions.balanceOf(to).call()]


@behaviour
def build_that_would_revert_tells_why() -> Any:
    function = TOKEN.functions.transfer(stranger(), 10**30)
    return told(lambda: function.build_transaction({"from": wallet().address}))


@behaviour
def call_that_reverts_tells_why() -> Any:
    function = TOKEN.functions.transfer(stranger(), 10**30)
    return told(lambda: function.call({"from": wallet().address}))


@behaviour
def call_that_succeeds_returns_true() -> Any:
    return TOKEN.functions.transfer(stranger(), 1).call({"from": wallet().address})


@behaviour
def reverted_transfer_has_status_0() -> Any:
    receipt = mined(called(wallet(), TOKEN.functions.transfer(stranger(), 10**30)))
    return [receipt.status, len(receipt.logs)]


@behaviour
def allowance_is_needed_and_taken() -> Any:
    owner, spender, to = wallet(), wallet(), nobody()
    take = TOKEN.functions.transferFrom(owner.address, to, 4)
    before = told(lambda: take.call({"from": spender.address}))
    mined(called(owner, TOKEN.functions.approve(spender.address, 10)))
    receipt = mined(called(spender, take))
    left = TOKEN.functions.allowance(owner.address, spender.address).call()
    return [before, receipt.status, left, TOKEN.functions.balanceOf(to).call()]


@behaviour
def absent_function_is_told() -> Any:
    return str(told(TOKEN.functions.absent().call))


@behaviour
def logs_of_an_event() -> Any:
    who, to = wallet(), stranger()
    first = mined(called(who, TOKEN.functions.transfer(to, 1)))
    mined(called(who, TOKEN.functions.transfer(to, 2)))
    events = TOKEN.events.Transfer().get_logs(
        from_block=first.blockNumber, argument_filters={"to": to}
    )
    return [event.args.value for event in events]


@behaviour
def filter_of_an_event() -> Any:
    who, to = wallet(), stranger()
    watch = TOKEN.events.Transfer.create_filter(from_block="latest", argument_filters={"to": to})
    mined(called(who, TOKEN.functions.transfer(to, 1)))
    mined(called(who, TOKEN.functions.transfer(to, 2)))
    new = [event.args.value for event in watch.get_new_entries()]
    return [new, watch.get_new_entries(), len(watch.get_all_entries())]


@behaviour
def filter_of_blocks() -> Any:
    watch = W3.eth.filter("latest")
    receipt = mined(sent(wallet(), to=stranger()))
    return receipt.blockHash in watch.get_new_entries()


@behaviour
def filter_of_the_pool() -> Any:
    watch = W3.eth.filter("pending")
    hash_ = sent(wallet(), to=stranger())
    return hash_ in watch.get_new_entries()


@behaviour
def filter_ends() -> Any:
    watch = W3.eth.filter("latest")
    return [W3.eth.uninstall_filter(watch.filter_id), W3.eth.uninstall_filter(watch.filter_id)]


@behaviour
def filter_that_ended_is_told() -> Any:
    watch = W3.eth.filter("latest")
    W3.eth.uninstall_filter(watch.filter_id)
    return told(watch.get_new_entries)


@behaviour
def batch_of_requests() -> Any:
    with W3.batch_requests() as batch:
        batch.add(W3.eth.get_block("latest"))
        batch.add(TOKEN.functions.decimals())
        block, decimals = batch.execute()
    return [type(block.number).__name__, decimals]


@behaviour
def history_of_fees() -> Any:
    history = W3.eth.fee_history(2, "latest", [25, 75])
    return [len(history.baseFeePerGas), [len(each) for each in history.reward]]


@behaviour
def priority_fee_reads() -> Any:
    return W3.eth.max_priority_fee >= 0


@behaviour
def history_of_a_balance() -> Any:
    who, to = wallet(), nobody()
    receipt = mined(called(who, TOKEN.functions.transfer(to, 5)))
    held = TOKEN.functions.balanceOf(to)
    return [
        held.call(block_identifier=receipt.blockNumber),
        held.call(block_identifier=receipt.blockNumber - 1),
    ]


@behaviour
def code_and_storage_read() -> Any:
    return [
        len(W3.eth.get_code(TOKEN.address)) > 0,
        W3.eth.get_code(Web3.to_checksum_address(stranger())).hex(),
        W3.eth.get_storage_at(Web3.to_checksum_address(stranger()), 0).hex(),
    ]


@behaviour
def vault_needs_an_allowance() -> Any:
    function = VAULT.functions.vaultOut(TOKEN.address, 10 * UNIT, False, GIVEN["order"])
    return told(lambda: function.call({"from": wallet().address}))


@behaviour
def vault_logs_the_order() -> Any:
    who = wallet()
    mined(called(who, TOKEN.functions.approve(VAULT.address, 10 * UNIT)))
    function = VAULT.functions.vaultOut(TOKEN.address, 10 * UNIT, False, GIVEN["order"])
    receipt = mined(called(who, function, gas=400_000))
    events = [
        VAULT.events.LogVaultOut().process_log(log)
        for log in receipt.logs
        if log.address == VAULT.address
    ]
    return [receipt.status, [event.args.amount // UNIT for event in events]]


@behaviour
def unknown_method_is_told() -> Any:
    return W3.provider.make_request("eth_foo", [])["error"]["code"]


PAYOUT = GIVEN.get("payout")
if PAYOUT:  # of the service, on the chain of arrival; a development chain has none
    ARRIVAL = Web3(Web3.HTTPProvider(PAYOUT["url"]))
    ARRIVED = ARRIVAL.eth.contract(address=Web3.to_checksum_address(PAYOUT["token"]), abi=ERC20)

    @behaviour
    def payout_has_a_receipt() -> Any:
        receipt = ARRIVAL.eth.wait_for_transaction_receipt(PAYOUT["hash"], timeout=20)
        [event] = ARRIVED.events.Transfer().process_receipt(receipt)
        return [receipt.status, str(event.args.value) == PAYOUT["amount"]]

    @behaviour
    def payout_is_a_transaction_of_its_block() -> Any:
        shown = ARRIVAL.eth.get_transaction(PAYOUT["hash"])
        return shown.hash in ARRIVAL.eth.get_block(shown.blockNumber).transactions

    @behaviour
    def payout_is_in_the_balance() -> Any:
        held = ARRIVED.functions.balanceOf(PAYOUT["recipient"])
        return str(held.call()) == PAYOUT["amount"]


def main() -> None:
    answers = {}
    for name, ask in BEHAVIOURS.items():
        try:
            answers[name] = ask()
        except Exception as error:  # noqa: BLE001 - tells how it failed; the next is asked
            answers[name] = f"failed: {type(error).__name__}: {error}"[:300]
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main()
