"""How a chain behaves over JSON-RPC, a function each; what each returns is in ``answers.yaml``.

Written from how Ethereum nodes behave; what the reference answered stands in the file beside.
"""

import json
from collections.abc import Callable
from typing import Any

from eth_abi import decode, encode
from eth_utils import keccak, to_checksum_address
from rlp import decode as rlp_decode
from rlp import encode as rlp

from tests.node.rpc import (
    APPROVAL,
    ETHER,
    GWEI,
    NATIVE,
    PAY,
    TRANSFER,
    UNIT,
    VAULT_OUT,
    ZERO,
    Session,
    call,
    invoke,
    padded,
    refusal,
    topic,
)

BEHAVIOURS: dict[str, Callable[[Session], Any]] = {}
SOMEBODY = "0x" + "ab" * 20
MULTICALL = "0xcA11bde05977b3631167028862bE2a173976CA11"
NOWHERE = "0x" + "12" * 32
FAR = hex(10**12)


def behaviour(function: Callable[[Session], Any]) -> Callable[[Session], Any]:
    BEHAVIOURS[function.__name__] = function
    return function


# --- who is there ---


@behaviour
def chain_and_network_are_the_same_number(node: Session) -> Any:
    return str(node.number("eth_chainId")) == node.rpc("net_version")


@behaviour
def client_names_itself(node: Session) -> Any:
    return isinstance(node.rpc("web3_clientVersion"), str)


@behaviour
def node_is_not_syncing(node: Session) -> Any:
    return node.rpc("eth_syncing")


@behaviour
def node_listens(node: Session) -> Any:
    return node.rpc("net_listening")


@behaviour
def keccak_of_bytes(node: Session) -> Any:
    return node.rpc("web3_sha3", "0x68656c6c6f")


# --- the envelope ---


@behaviour
def unknown_method(node: Session) -> Any:
    return refusal(node.ask("eth_foo"))


@behaviour
def unknown_namespace(node: Session) -> Any:
    return refusal(node.ask("bar_foo"))


@behaviour
def broken_json(node: Session) -> Any:
    return refusal(call(node.chain.url, b'{"jsonrpc": "2.0", "id": 1'))[:6]


@behaviour
def empty_batch(node: Session) -> Any:
    return refusal(call(node.chain.url, []))


@behaviour
def batch_keeps_order_and_ids(node: Session) -> Any:
    asked = [
        {"jsonrpc": "2.0", "id": "a", "method": "eth_chainId", "params": []},
        {"jsonrpc": "2.0", "id": 7, "method": "eth_foo", "params": []},
        {"jsonrpc": "2.0", "id": "c", "method": "net_version", "params": []},
    ]
    return [(answer["id"], "error" in answer) for answer in call(node.chain.url, asked)]


@behaviour
def id_that_is_text_comes_back(node: Session) -> Any:
    return call(
        node.chain.url, {"jsonrpc": "2.0", "id": "seven", "method": "eth_chainId", "params": []}
    )["id"]


@behaviour
def params_may_be_absent(node: Session) -> Any:
    return "result" in call(node.chain.url, {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"})


@behaviour
def argument_is_missing(node: Session) -> Any:
    return refusal(node.ask("eth_getTransactionReceipt"))


@behaviour
def address_is_too_short(node: Session) -> Any:
    return refusal(node.ask("eth_getBalance", "0x1234", "latest"))[:6]


@behaviour
def hash_is_too_short(node: Session) -> Any:
    return refusal(node.ask("eth_getTransactionByHash", "0x1234"))[:6]


@behaviour
def quantity_with_a_leading_zero(node: Session) -> Any:
    return refusal(node.ask("eth_getBlockByNumber", "0x01", False)).startswith("-32602")


@behaviour
def block_tag_nobody_knows(node: Session) -> Any:
    return refusal(node.ask("eth_getBalance", SOMEBODY, "newest"))[:6]


@behaviour
def too_many_arguments(node: Session) -> Any:
    return refusal(node.ask("eth_chainId", 1, 2))


# --- blocks ---


@behaviour
def latest_block_has_the_height(node: Session) -> Any:
    return node.block()["number"] == node.rpc("eth_blockNumber")


@behaviour
def members_of_a_block(node: Session) -> Any:
    needed = """
        baseFeePerGas difficulty extraData gasLimit gasUsed hash logsBloom miner mixHash nonce
        number parentHash
        receiptsRoot sha3Uncles size stateRoot timestamp transactions transactionsRoot uncles"""
    return [name for name in needed.split() if name not in node.block()]


@behaviour
def block_by_hash_is_block_by_number(node: Session) -> Any:
    block = node.block()
    return node.rpc("eth_getBlockByHash", block["hash"], False) == block


@behaviour
def blocks_hang_together(node: Session) -> Any:
    wallet = node.wallet()
    wallet.send(value=1), wallet.send(value=1)
    head = node.block()
    return node.block(hex(int(head["number"], 16) - 1))["hash"] == head["parentHash"]


@behaviour
def block_stays_as_it_was(node: Session) -> Any:
    wallet = node.wallet()
    wallet.send(value=1)
    before = node.block()
    wallet.send(value=1), wallet.send(value=1)
    return node.block(before["number"]) == before


@behaviour
def transaction_makes_exactly_a_block(node: Session) -> Any:
    wallet = node.wallet()
    height = node.number("eth_blockNumber")
    wallet.send(value=1), wallet.send(value=1)
    return node.number("eth_blockNumber") - height


@behaviour
def refused_transaction_makes_no_block(node: Session) -> Any:
    wallet = node.wallet(0)
    height = node.number("eth_blockNumber")
    wallet.send(value=1)
    return node.number("eth_blockNumber") - height


@behaviour
def time_of_blocks_never_goes_back(node: Session) -> Any:
    wallet = node.wallet()
    first = node.receipt(wallet.send(value=1))["blockNumber"]
    second = node.receipt(wallet.send(value=1))["blockNumber"]
    return int(node.block(first)["timestamp"], 16) <= int(node.block(second)["timestamp"], 16)


@behaviour
def first_block_has_no_parent(node: Session) -> Any:
    block = node.block("0x0")
    return block["parentHash"], block["number"], block == node.block("earliest")


@behaviour
def block_beyond_the_head(node: Session) -> Any:
    return node.rpc("eth_getBlockByNumber", FAR, False)


@behaviour
def block_of_no_hash(node: Session) -> Any:
    return node.rpc("eth_getBlockByHash", NOWHERE, False)


@behaviour
def pending_block_is_the_next(node: Session) -> Any:
    return int(node.block("pending")["number"], 16) - node.number("eth_blockNumber")


@behaviour
def safe_and_finalized_are_there(node: Session) -> Any:
    head = node.number("eth_blockNumber")
    return [int(node.block(tag)["number"], 16) <= head for tag in ("safe", "finalized")]


@behaviour
def block_holds_hashes(node: Session) -> Any:
    sent = node.wallet().send(value=1)
    return node.block()["transactions"] == [sent]


@behaviour
def block_holds_transactions(node: Session) -> Any:
    sent = node.wallet().send(value=1)
    return node.block(full=True)["transactions"] == [node.transaction(sent)]


@behaviour
def transactions_of_a_block_are_counted(node: Session) -> Any:
    node.wallet().send(value=1)
    block = node.block()
    return (
        node.rpc("eth_getBlockTransactionCountByNumber", block["number"]),
        node.rpc("eth_getBlockTransactionCountByHash", block["hash"]),
        node.rpc("eth_getBlockTransactionCountByHash", NOWHERE),
    )


@behaviour
def transaction_by_its_place(node: Session) -> Any:
    sent = node.wallet().send(value=1)
    block = node.block()
    return (
        node.rpc("eth_getTransactionByBlockNumberAndIndex", block["number"], "0x0")["hash"] == sent,
        node.rpc("eth_getTransactionByBlockHashAndIndex", block["hash"], "0x0")["hash"] == sent,
        node.rpc("eth_getTransactionByBlockNumberAndIndex", block["number"], "0x1"),
    )


@behaviour
def receipts_of_a_block(node: Session) -> Any:
    sent = node.wallet().send(value=1)
    return node.rpc("eth_getBlockReceipts", "latest") == [node.receipt(sent)]


@behaviour
def block_has_no_uncles(node: Session) -> Any:
    return node.rpc("eth_getUncleCountByBlockNumber", "latest")


@behaviour
def gas_of_a_block_is_that_of_its_transactions(node: Session) -> Any:
    sent = node.wallet().send(value=1)
    return node.block()["gasUsed"] == node.receipt(sent)["gasUsed"]


@behaviour
def bloom_of_a_block_is_that_of_its_receipt(node: Session) -> Any:
    wallet = node.wallet(units=UNIT)
    sent = wallet.invoke(node.chain.token, "transfer(address,uint256)", SOMEBODY, 1)
    return node.block()["logsBloom"] == node.receipt(sent)["logsBloom"]


# --- a transaction as it comes back ---


def _shown(node: Session, sent: str, *names: str) -> Any:
    return {name: node.transaction(sent).get(name) for name in names}


@behaviour
def hash_is_that_of_the_raw_bytes(node: Session) -> Any:
    raw = node.wallet().signed(value=1)
    return node.pass_on(raw) == "0x" + keccak(hexstr=raw).hex()


@behaviour
def legacy_transaction_comes_back(node: Session) -> Any:
    sent = node.wallet().send(value=5, legacy=True, gas=50_000, data="0x1234")
    shown = _shown(
        node, sent, "type", "nonce", "value", "gas", "input", "to", "maxFeePerGas", "accessList"
    )
    return shown | {"gasPrice": int(node.transaction(sent)["gasPrice"], 16) == node.gas_price}


@behaviour
def legacy_signature_names_the_chain(node: Session) -> Any:
    sent = node.wallet().send(value=5, legacy=True)
    tx = node.transaction(sent)
    return int(tx["v"], 16) - 2 * node.chain_id - 35 in (0, 1), int(
        tx["chainId"], 16
    ) == node.chain_id


@behaviour
def fee_market_transaction_comes_back(node: Session) -> Any:
    sent = node.wallet().send(value=5, gas=50_000, tip=GWEI)
    shown = _shown(
        node, sent, "type", "nonce", "value", "gas", "maxPriorityFeePerGas", "accessList", "input"
    )
    tx = node.transaction(sent)
    return shown | {
        "maxFeePerGas": int(tx["maxFeePerGas"], 16) == node.gas_price,
        "chainId": int(tx["chainId"], 16) == node.chain_id,
    }


@behaviour
def access_list_transaction_comes_back(node: Session) -> Any:
    listed = [{"address": node.chain.token, "storageKeys": ["0x" + "00" * 32]}]
    sent = node.wallet().send(value=5, listed=True, accessList=listed)
    tx = node.transaction(sent)
    return tx["type"], [
        (part["address"].lower(), part["storageKeys"]) for part in tx["accessList"]
    ] == [(node.chain.token.lower(), ["0x" + "00" * 32])]


@behaviour
def signature_comes_back(node: Session) -> Any:
    wallet = node.wallet()
    signed = wallet.account.sign_transaction(
        {
            "to": to_checksum_address(node.chain.token),
            "value": 0,
            "gas": 90_000,
            "nonce": 0,
            "chainId": node.chain_id,
            "maxFeePerGas": node.gas_price,
            "maxPriorityFeePerGas": GWEI,
            "type": 2,
            "data": invoke("approve(address,uint256)", SOMEBODY, 1),
        }
    )
    tx = node.transaction(node.pass_on("0x" + signed.raw_transaction.hex().removeprefix("0x")))
    return (
        int(tx["r"], 16) == signed.r,
        int(tx["s"], 16) == signed.s,
        int(tx["yParity"], 16) == int(signed.v),
    )


@behaviour
def mined_transaction_names_its_place(node: Session) -> Any:
    sent = node.wallet().send(value=1)
    tx, block = node.transaction(sent), node.block()
    return (
        tx["blockHash"] == block["hash"],
        tx["blockNumber"] == block["number"],
        tx["transactionIndex"],
    )


@behaviour
def sender_is_recovered(node: Session) -> Any:
    wallet = node.wallet()
    return node.transaction(wallet.send(value=1))["from"] == wallet.address.lower()


@behaviour
def unknown_transaction(node: Session) -> Any:
    return node.transaction(NOWHERE), node.receipt(NOWHERE)


@behaviour
def raw_transaction_by_hash(node: Session) -> Any:
    wallet = node.wallet()
    raw = wallet.signed(value=1)
    return node.rpc("eth_getRawTransactionByHash", node.pass_on(raw)) == raw


@behaviour
def creation_has_no_recipient(node: Session) -> Any:
    wallet = node.wallet()
    # Init code that returns a contract of a single STOP.
    sent = wallet.send(creation=True, data="0x60016000f3", gas=200_000)
    expected = "0x" + keccak(rlp([bytes.fromhex(wallet.address[2:]), b""]))[12:].hex()
    receipt = node.receipt(sent)
    return (
        node.transaction(sent)["to"],
        receipt["to"],
        receipt["contractAddress"] == expected,
        receipt["status"],
    )


# --- receipts ---


@behaviour
def receipt_of_a_payment(node: Session) -> Any:
    receipt = node.receipt(node.wallet().send(value=1, gas=50_000))
    names = "status gasUsed cumulativeGasUsed contractAddress logs type transactionIndex to"
    return {name: receipt[name] for name in names.split()} | {
        "bloom": set(receipt["logsBloom"][2:]) == {"0"}
    }


@behaviour
def receipt_tells_the_price_paid(node: Session) -> Any:
    receipt = node.receipt(node.wallet().send(value=1, tip=GWEI))
    base = int(node.block(receipt["blockNumber"])["baseFeePerGas"], 16)
    return int(receipt["effectiveGasPrice"], 16) == base + GWEI


@behaviour
def receipt_of_a_legacy_payment_tells_its_price(node: Session) -> Any:
    receipt = node.receipt(node.wallet().send(value=1, legacy=True))
    return receipt["type"], int(receipt["effectiveGasPrice"], 16) == node.gas_price


@behaviour
def receipt_and_block_agree(node: Session) -> Any:
    receipt = node.receipt(node.wallet().send(value=1))
    return node.block(receipt["blockNumber"])["hash"] == receipt["blockHash"]


@behaviour
def receipt_of_a_token_transfer(node: Session) -> Any:
    wallet = node.wallet(units=10 * UNIT)
    receipt = node.receipt(
        wallet.invoke(node.chain.token, "transfer(address,uint256)", SOMEBODY, 3 * UNIT)
    )
    (log,) = receipt["logs"]
    return {
        "status": receipt["status"],
        "topics": log["topics"] == [TRANSFER, padded(wallet.address), padded(SOMEBODY)],
        "amount": int(log["data"], 16) == 3 * UNIT,
        "address": log["address"].lower() == node.chain.token.lower(),
        "logIndex": log["logIndex"],
        "removed": log["removed"],
        "place": log["transactionHash"] == receipt["transactionHash"]
        and log["blockHash"] == receipt["blockHash"],
    }


def _in_bloom(bloom: str, item: str) -> bool:
    digest = keccak(hexstr=item)
    bits = int(bloom, 16)
    return all(bits >> (int.from_bytes(digest[i : i + 2]) & 2047) & 1 for i in (0, 2, 4))


@behaviour
def bloom_holds_address_and_topics(node: Session) -> Any:
    wallet = node.wallet(units=UNIT)
    bloom = node.receipt(wallet.invoke(node.chain.token, "transfer(address,uint256)", SOMEBODY, 1))[
        "logsBloom"
    ]
    items = (
        node.chain.token,
        TRANSFER,
        padded(wallet.address),
        padded(SOMEBODY),
        padded(node.chain.second_token),
    )
    return [_in_bloom(bloom, item) for item in items]


@behaviour
def gas_is_no_more_than_its_limit(node: Session) -> Any:
    wallet = node.wallet(units=UNIT)
    receipt = node.receipt(
        wallet.invoke(node.chain.token, "transfer(address,uint256)", SOMEBODY, 1, gas=150_000)
    )
    return 21_000 < int(receipt["gasUsed"], 16) < 100_000


# --- nonces and the pool ---


@behaviour
def fresh_key_has_sent_nothing(node: Session) -> Any:
    wallet = node.wallet()
    return [
        node.rpc("eth_getTransactionCount", wallet.address, tag)
        for tag in ("latest", "pending", "earliest")
    ]


@behaviour
def count_rises_with_each_transaction(node: Session) -> Any:
    wallet = node.wallet()
    wallet.send(value=1), wallet.send(value=1)
    return [
        node.rpc("eth_getTransactionCount", wallet.address, tag) for tag in ("latest", "pending")
    ]


@behaviour
def count_at_an_earlier_block(node: Session) -> Any:
    wallet = node.wallet()
    first = node.receipt(wallet.send(value=1))["blockNumber"]
    wallet.send(value=1)
    return node.rpc("eth_getTransactionCount", wallet.address, first)


@behaviour
def used_nonce_is_refused(node: Session) -> Any:
    wallet = node.wallet()
    wallet.send(value=1)
    return refusal(node.ask("eth_sendRawTransaction", wallet.signed(value=2, nonce=0)))


@behaviour
def same_bytes_again_after_mining(node: Session) -> Any:
    wallet = node.wallet()
    raw = wallet.signed(value=1)
    node.pass_on(raw)
    return refusal(node.ask("eth_sendRawTransaction", raw))


@behaviour
def same_bytes_again_while_waiting(node: Session) -> Any:
    wallet = node.wallet()
    raw = wallet.signed(value=1, nonce=3)
    node.pass_on(raw)
    return refusal(node.ask("eth_sendRawTransaction", raw))


@behaviour
def gap_waits(node: Session) -> Any:
    wallet = node.wallet()
    sent = wallet.send(value=1, nonce=1)
    tx = node.transaction(sent)
    return node.receipt(sent), tx["blockNumber"], tx["blockHash"], tx["transactionIndex"]


@behaviour
def gap_is_not_counted(node: Session) -> Any:
    wallet = node.wallet()
    wallet.send(value=1, nonce=1)
    return [
        node.rpc("eth_getTransactionCount", wallet.address, tag) for tag in ("latest", "pending")
    ]


@behaviour
def gap_makes_no_block(node: Session) -> Any:
    wallet = node.wallet()
    height = node.number("eth_blockNumber")
    wallet.send(value=1, nonce=4)
    return node.number("eth_blockNumber") - height


@behaviour
def filled_gap_frees_what_waits(node: Session) -> Any:
    wallet = node.wallet()
    later = [wallet.send(value=1, nonce=nonce) for nonce in (2, 1)]
    first = wallet.send(value=1, nonce=0)
    places = [
        (int(receipt["blockNumber"], 16), int(receipt["transactionIndex"], 16))
        for receipt in (node.receipt(sent) for sent in (first, later[1], later[0]))
    ]
    return places == sorted(places), node.rpc("eth_getTransactionCount", wallet.address, "latest")


@behaviour
def replacement_for_the_same_price(node: Session) -> Any:
    wallet = node.wallet()
    wallet.send(value=1, nonce=1)
    return refusal(node.ask("eth_sendRawTransaction", wallet.signed(value=2, nonce=1)))


@behaviour
def replacement_for_five_percent_more(node: Session) -> Any:
    wallet = node.wallet()
    wallet.send(value=1, nonce=1, legacy=True, price=100 * GWEI)
    raw = wallet.signed(value=2, nonce=1, legacy=True, price=105 * GWEI)
    return refusal(node.ask("eth_sendRawTransaction", raw))


@behaviour
def replacement_for_more(node: Session) -> Any:
    wallet = node.wallet()
    first = wallet.send(value=1, nonce=1, legacy=True, price=100 * GWEI)
    second = wallet.send(value=2, nonce=1, legacy=True, price=120 * GWEI)
    wallet.send(value=3, nonce=0)
    return node.transaction(first), node.receipt(first), node.receipt(second)["status"]


@behaviour
def pool_is_counted(node: Session) -> Any:
    before = node.rpc("txpool_status")
    node.wallet().send(value=1, nonce=5)
    after = node.rpc("txpool_status")
    return int(after["queued"], 16) - int(before["queued"], 16), int(after["pending"], 16) - int(
        before["pending"], 16
    )


@behaviour
def pool_is_shown(node: Session) -> Any:
    wallet = node.wallet()
    sent = wallet.send(value=1, nonce=5)
    content = node.rpc("txpool_content")["queued"]
    mine = next(
        group for address, group in content.items() if address.lower() == wallet.address.lower()
    )
    return mine["5"]["hash"] == sent


# --- what a node refuses ---


@behaviour
def value_above_the_balance(node: Session) -> Any:
    return refusal(node.ask("eth_sendRawTransaction", node.wallet(ETHER).signed(value=2 * ETHER)))


@behaviour
def gas_above_the_balance(node: Session) -> Any:
    return refusal(node.ask("eth_sendRawTransaction", node.wallet(ETHER).signed(value=ETHER)))


@behaviour
def empty_wallet_sends_nothing(node: Session) -> Any:
    return refusal(node.ask("eth_sendRawTransaction", node.wallet(0).signed()))


@behaviour
def too_little_gas(node: Session) -> Any:
    return refusal(node.ask("eth_sendRawTransaction", node.wallet().signed(gas=20_000)))


@behaviour
def more_gas_than_a_block(node: Session) -> Any:
    return refusal(
        node.ask("eth_sendRawTransaction", node.wallet(10**6 * ETHER).signed(gas=10**12))
    )


@behaviour
def other_chain(node: Session) -> Any:
    return refusal(node.ask("eth_sendRawTransaction", node.wallet().signed(chainId=999_999)))


@behaviour
def tip_above_the_fee(node: Session) -> Any:
    return refusal(
        node.ask("eth_sendRawTransaction", node.wallet().signed(price=GWEI, tip=2 * GWEI))
    )


@behaviour
def fee_below_the_base_fee(node: Session) -> Any:
    return refusal(node.ask("eth_sendRawTransaction", node.wallet().signed(price=1, tip=1)))


@behaviour
def legacy_price_of_nothing(node: Session) -> Any:
    return refusal(node.ask("eth_sendRawTransaction", node.wallet().signed(price=0, legacy=True)))


@behaviour
def rubbish_is_no_transaction(node: Session) -> Any:
    return refusal(node.ask("eth_sendRawTransaction", "0xdeadbeef"))[:6]


@behaviour
def empty_bytes_are_no_transaction(node: Session) -> Any:
    return refusal(node.ask("eth_sendRawTransaction", "0x"))[:6]


@behaviour
def cut_transaction(node: Session) -> Any:
    return refusal(node.ask("eth_sendRawTransaction", node.wallet().signed(value=1)[:-10]))[:6]


@behaviour
def node_holds_no_keys(node: Session) -> Any:
    asked = {"from": node.wallet().address, "to": SOMEBODY, "value": "0x1"}
    return refusal(node.ask("eth_sendTransaction", asked))


# --- the base coin ---


@behaviour
def payment_moves_value_and_gas(node: Session) -> Any:
    wallet, receiver = node.wallet(ETHER), node.wallet(0)
    receipt = node.receipt(wallet.send(to=receiver.address, value=5))
    cost = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
    return node.coins(receiver.address), ETHER - node.coins(wallet.address) - cost


@behaviour
def whole_balance_less_gas_can_be_sent(node: Session) -> Any:
    wallet, receiver = node.wallet(ETHER), node.wallet(0)
    value = ETHER - 21_000 * node.gas_price
    receipt = node.receipt(wallet.send(to=receiver.address, value=value, legacy=True, gas=21_000))
    return receipt["status"], node.coins(wallet.address), node.coins(receiver.address) == value


@behaviour
def received_coins_can_be_sent_on(node: Session) -> Any:
    wallet, second = node.wallet(ETHER), node.wallet(0)
    wallet.send(to=second.address, value=ETHER // 2)
    return node.receipt(second.send(value=ETHER // 4))["status"]


@behaviour
def balance_at_an_earlier_block(node: Session) -> Any:
    wallet, receiver = node.wallet(), node.wallet(0)
    first = node.receipt(wallet.send(to=receiver.address, value=5))["blockNumber"]
    wallet.send(to=receiver.address, value=6)
    before = hex(int(first, 16) - 1)
    return [node.coins(receiver.address, tag) for tag in (before, first, "latest", "pending")]


@behaviour
def failed_call_costs_gas_and_nonce(node: Session) -> Any:
    wallet = node.wallet(ETHER)
    receipt = node.receipt(
        wallet.invoke(node.chain.token, "transfer(address,uint256)", SOMEBODY, 1)
    )
    cost = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
    count = node.rpc("eth_getTransactionCount", wallet.address, "latest")
    return receipt["status"], ETHER - node.coins(wallet.address) - cost, cost > 0, count


@behaviour
def nobody_has_nothing(node: Session) -> Any:
    return node.rpc("eth_getBalance", node.wallet(0).address, "latest")


# --- a token ---


@behaviour
def token_tells_its_decimals_and_names(node: Session) -> Any:
    token = node.chain.token
    return (
        node.read(token, "decimals()"),
        bool(node.read(token, "symbol()", kinds=("string",))),
        bool(node.read(token, "name()", kinds=("string",))),
    )


@behaviour
def transfer_moves_the_amount(node: Session) -> Any:
    wallet, receiver = node.wallet(units=10 * UNIT), node.wallet(0)
    wallet.invoke(node.chain.token, "transfer(address,uint256)", receiver.address, 3 * UNIT)
    return node.holding(wallet.address) // UNIT, node.holding(receiver.address) // UNIT


@behaviour
def supply_is_kept_by_a_transfer(node: Session) -> Any:
    wallet = node.wallet(units=10 * UNIT)
    before = node.read(node.chain.token, "totalSupply()")
    wallet.invoke(node.chain.token, "transfer(address,uint256)", SOMEBODY, 3 * UNIT)
    return before >= 10 * UNIT, node.read(node.chain.token, "totalSupply()") - before


@behaviour
def transfer_above_the_balance_fails(node: Session) -> Any:
    wallet, receiver = node.wallet(units=UNIT), node.wallet(0)
    receipt = node.receipt(
        wallet.invoke(node.chain.token, "transfer(address,uint256)", receiver.address, 10**30)
    )
    return (
        receipt["status"],
        receipt["logs"],
        node.holding(receiver.address),
        node.holding(wallet.address) // UNIT,
    )


@behaviour
def call_of_a_transfer_above_the_balance(node: Session) -> Any:
    asked = {
        "from": node.wallet().address,
        "to": node.chain.token,
        "data": invoke("transfer(address,uint256)", SOMEBODY, 1),
    }
    answer = node.ask("eth_call", asked, "latest")
    return refusal(answer), answer["error"].get("data")


@behaviour
def estimate_of_a_transfer_above_the_balance(node: Session) -> Any:
    asked = {
        "from": node.wallet().address,
        "to": node.chain.token,
        "data": invoke("transfer(address,uint256)", SOMEBODY, 1),
    }
    answer = node.ask("eth_estimateGas", asked)
    return refusal(answer), answer["error"].get("data")


@behaviour
def transfer_to_nobody_is_refused(node: Session) -> Any:
    wallet = node.wallet(units=UNIT)
    asked = {
        "from": wallet.address,
        "to": node.chain.token,
        "data": invoke("transfer(address,uint256)", ZERO, 1),
    }
    return refusal(node.ask("eth_call", asked, "latest"))


@behaviour
def call_of_a_possible_transfer(node: Session) -> Any:
    wallet = node.wallet(units=UNIT)
    asked = {
        "from": wallet.address,
        "to": node.chain.token,
        "data": invoke("transfer(address,uint256)", SOMEBODY, 1),
    }
    return int(node.rpc("eth_call", asked, "latest"), 16), node.holding(wallet.address) // UNIT


@behaviour
def transfer_of_nothing(node: Session) -> Any:
    receipt = node.receipt(
        node.wallet().invoke(node.chain.token, "transfer(address,uint256)", SOMEBODY, 0)
    )
    return receipt["status"], len(receipt["logs"])


@behaviour
def transfer_to_oneself(node: Session) -> Any:
    wallet = node.wallet(units=10 * UNIT)
    wallet.invoke(node.chain.token, "transfer(address,uint256)", wallet.address, 4 * UNIT)
    return node.holding(wallet.address) // UNIT


@behaviour
def nothing_is_allowed_at_first(node: Session) -> Any:
    return node.read(
        node.chain.token, "allowance(address,address)", node.wallet().address, SOMEBODY
    )


@behaviour
def approval_is_kept_and_told(node: Session) -> Any:
    wallet = node.wallet()
    receipt = node.receipt(wallet.invoke(node.chain.token, "approve(address,uint256)", SOMEBODY, 7))
    (log,) = receipt["logs"]
    allowed = node.read(node.chain.token, "allowance(address,address)", wallet.address, SOMEBODY)
    return (
        allowed,
        log["topics"] == [APPROVAL, padded(wallet.address), padded(SOMEBODY)],
        int(log["data"], 16),
    )


@behaviour
def approval_can_be_changed(node: Session) -> Any:
    wallet = node.wallet()
    wallet.invoke(node.chain.token, "approve(address,uint256)", SOMEBODY, 7)
    wallet.invoke(node.chain.token, "approve(address,uint256)", SOMEBODY, 2)
    return node.read(node.chain.token, "allowance(address,address)", wallet.address, SOMEBODY)


TRANSFER_FROM = "transferFrom(address,address,uint256)"


@behaviour
def foreign_money_without_allowance(node: Session) -> Any:
    owner, spender = node.wallet(units=UNIT), node.wallet()
    receipt = node.receipt(
        spender.invoke(node.chain.token, TRANSFER_FROM, owner.address, SOMEBODY, 1)
    )
    asked = {
        "from": spender.address,
        "to": node.chain.token,
        "data": invoke(TRANSFER_FROM, owner.address, SOMEBODY, 1),
    }
    return (
        receipt["status"],
        refusal(node.ask("eth_call", asked, "latest")),
        node.holding(owner.address) // UNIT,
    )


@behaviour
def foreign_money_with_allowance(node: Session) -> Any:
    owner, spender, receiver = node.wallet(units=10), node.wallet(), node.wallet(0)
    owner.invoke(node.chain.token, "approve(address,uint256)", spender.address, 7)
    spender.invoke(node.chain.token, TRANSFER_FROM, owner.address, receiver.address, 3)
    allowed = node.read(
        node.chain.token, "allowance(address,address)", owner.address, spender.address
    )
    return allowed, node.holding(owner.address), node.holding(receiver.address)


@behaviour
def foreign_money_beyond_its_owner(node: Session) -> Any:
    owner, spender = node.wallet(units=10), node.wallet()
    owner.invoke(node.chain.token, "approve(address,uint256)", spender.address, 100)
    receipt = node.receipt(
        spender.invoke(node.chain.token, TRANSFER_FROM, owner.address, SOMEBODY, 11)
    )
    allowed = node.read(
        node.chain.token, "allowance(address,address)", owner.address, spender.address
    )
    return receipt["status"], allowed, node.holding(owner.address)


@behaviour
def unlimited_allowance_stays(node: Session) -> Any:
    owner, spender = node.wallet(units=10), node.wallet()
    owner.invoke(node.chain.token, "approve(address,uint256)", spender.address, 2**256 - 1)
    spender.invoke(node.chain.token, TRANSFER_FROM, owner.address, SOMEBODY, 3)
    return (
        node.read(node.chain.token, "allowance(address,address)", owner.address, spender.address)
        == 2**256 - 1
    )


@behaviour
def function_the_token_lacks(node: Session) -> Any:
    answer = node.ask("eth_call", {"to": node.chain.token, "data": "0x12345678"}, "latest")
    return refusal(answer), answer["error"].get("data")


@behaviour
def transaction_to_a_function_the_token_lacks(node: Session) -> Any:
    return node.receipt(node.wallet().send(to=node.chain.token, data="0x12345678"))["status"]


@behaviour
def base_coin_sent_to_a_token(node: Session) -> Any:
    wallet, before = node.wallet(), node.coins(node.chain.token)
    receipt = node.receipt(wallet.send(to=node.chain.token, value=5))
    return receipt["status"], node.coins(node.chain.token) - before


@behaviour
def holding_at_an_earlier_block(node: Session) -> Any:
    wallet, receiver = node.wallet(units=10), node.wallet(0)
    first = node.receipt(
        wallet.invoke(node.chain.token, "transfer(address,uint256)", receiver.address, 3)
    )
    wallet.invoke(node.chain.token, "transfer(address,uint256)", receiver.address, 4)
    asked = {"to": node.chain.token, "data": invoke("balanceOf(address)", receiver.address)}
    return [
        int(node.rpc("eth_call", asked, block), 16) for block in (first["blockNumber"], "latest")
    ]


@behaviour
def received_tokens_can_be_sent_on(node: Session) -> Any:
    wallet, second = node.wallet(units=10), node.wallet()
    wallet.invoke(node.chain.token, "transfer(address,uint256)", second.address, 6)
    return [
        node.receipt(
            second.invoke(node.chain.token, "transfer(address,uint256)", SOMEBODY, amount)
        )["status"]
        for amount in (6, 1)
    ]


@behaviour
def tokens_are_kept_apart(node: Session) -> Any:
    wallet = node.wallet(units=10)
    return node.holding(wallet.address), node.holding(wallet.address, node.chain.second_token)


@behaviour
def code_is_there_for_contracts_only(node: Session) -> Any:
    return node.rpc("eth_getCode", node.wallet().address, "latest"), len(
        node.rpc("eth_getCode", node.chain.token, "latest")
    ) > 2


@behaviour
def storage_nobody_wrote(node: Session) -> Any:
    return node.rpc("eth_getStorageAt", node.wallet().address, "0x0", "latest")


@behaviour
def call_to_a_wallet_returns_nothing(node: Session) -> Any:
    return node.rpc(
        "eth_call", {"to": node.wallet().address, "data": invoke("decimals()")}, "latest"
    )


@behaviour
def call_at_a_block_to_come(node: Session) -> Any:
    asked = {"to": node.chain.token, "data": invoke("decimals()")}
    # The height depends on how many transactions came before.
    return refusal(node.ask("eth_call", asked, FAR)).split(" but ")[0].rstrip("0123456789")


@behaviour
def call_with_more_value_than_there_is(node: Session) -> Any:
    asked = {"from": node.wallet(1).address, "to": SOMEBODY, "value": hex(ETHER)}
    return refusal(node.ask("eth_call", asked, "latest"))


# --- the service's proxy ---

ORDER = (
    b"chainge:ARB:0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9:0x"
    + b"42" * 20
    + b":0:1_1;3_2;4_1;5_ARB"
)


@behaviour
def vault_takes_what_was_allowed(node: Session) -> Any:
    wallet = node.wallet(units=10 * UNIT)
    wallet.invoke(node.chain.token, "approve(address,uint256)", node.chain.proxy, 10 * UNIT)
    sent = wallet.invoke(
        node.chain.proxy, PAY, node.chain.token, 10 * UNIT, False, ORDER, gas=500_000
    )
    receipt = node.receipt(sent)
    told = [
        log["topics"][0] for log in receipt["logs"] if log["topics"][0] in (TRANSFER, VAULT_OUT)
    ]
    return receipt["status"], told == [TRANSFER, VAULT_OUT], node.holding(wallet.address)


@behaviour
def vault_takes_nothing_that_was_not_allowed(node: Session) -> Any:
    wallet = node.wallet(units=10 * UNIT)
    sent = wallet.invoke(
        node.chain.proxy, PAY, node.chain.token, 10 * UNIT, False, ORDER, gas=500_000
    )
    receipt = node.receipt(sent)
    return receipt["status"], receipt["logs"], node.holding(wallet.address) // UNIT


@behaviour
def vault_call_without_allowance_tells_why(node: Session) -> Any:
    wallet = node.wallet(units=10 * UNIT)
    asked = {
        "from": wallet.address,
        "to": node.chain.proxy,
        "data": invoke(PAY, node.chain.token, UNIT, False, ORDER),
    }
    return refusal(node.ask("eth_call", asked, "latest")), refusal(
        node.ask("eth_estimateGas", asked)
    )


@behaviour
def vault_takes_no_more_than_there_is(node: Session) -> Any:
    wallet = node.wallet(units=UNIT)
    wallet.invoke(node.chain.token, "approve(address,uint256)", node.chain.proxy, 2**256 - 1)
    sent = wallet.invoke(node.chain.proxy, PAY, node.chain.token, 10**30, False, ORDER, gas=500_000)
    receipt = node.receipt(sent)
    return receipt["status"], receipt["logs"], node.holding(wallet.address) // UNIT


@behaviour
def vault_takes_the_base_coin(node: Session) -> Any:
    wallet = node.wallet(ETHER)
    sent = wallet.invoke(
        node.chain.proxy, PAY, NATIVE, ETHER // 2, False, ORDER, value=ETHER // 2, gas=500_000
    )
    receipt = node.receipt(sent)
    return receipt["status"], [log["topics"][0] == VAULT_OUT for log in receipt["logs"]]


@behaviour
def vault_wants_the_value_it_is_told(node: Session) -> Any:
    wallet = node.wallet(ETHER)
    sent = wallet.invoke(
        node.chain.proxy, PAY, NATIVE, ETHER // 2, False, ORDER, value=5, gas=500_000
    )
    return node.receipt(sent)["status"], node.receipt(sent)["logs"]


@behaviour
def order_ids_rise(node: Session) -> Any:
    wallet = node.wallet(ETHER)
    ids = []
    for _ in range(2):
        sent = wallet.invoke(
            node.chain.proxy, PAY, NATIVE, ETHER // 10, False, ORDER, value=ETHER // 10, gas=500_000
        )
        ids.append(int(node.receipt(sent)["logs"][-1]["topics"][3], 16))
    return ids[1] - ids[0]


# --- logs and filters ---


def _transfers(node: Session, *amounts: int) -> tuple[Any, list[str]]:
    wallet = node.wallet(units=sum(amounts))
    token = node.chain.token
    return wallet, [
        wallet.invoke(token, "transfer(address,uint256)", SOMEBODY, amount) for amount in amounts
    ]


def _span(node: Session, sent: list[str]) -> dict[str, str]:
    blocks = [node.receipt(each)["blockNumber"] for each in sent]
    return {"fromBlock": blocks[0], "toBlock": blocks[-1]}


@behaviour
def logs_of_an_address(node: Session) -> Any:
    _, sent = _transfers(node, 1, 2)
    logs = node.rpc("eth_getLogs", {"address": node.chain.token, **_span(node, sent)})
    return [int(log["data"], 16) for log in logs], [log["transactionHash"] for log in logs] == sent


@behaviour
def logs_are_those_of_the_receipt(node: Session) -> Any:
    _, sent = _transfers(node, 1)
    return (
        node.rpc("eth_getLogs", {"address": node.chain.token, **_span(node, sent)})
        == node.receipt(sent[0])["logs"]
    )


@behaviour
def logs_of_a_second_address(node: Session) -> Any:
    _, sent = _transfers(node, 1)
    tokens = [node.chain.second_token, node.chain.token]
    return (
        node.rpc("eth_getLogs", {"address": node.chain.second_token, **_span(node, sent)}),
        len(node.rpc("eth_getLogs", {"address": tokens, **_span(node, sent)})),
    )


@behaviour
def logs_by_topics(node: Session) -> Any:
    wallet, sent = _transfers(node, 1)
    asked = [
        [TRANSFER],
        [APPROVAL],
        [[APPROVAL, TRANSFER]],
        [None, padded(wallet.address)],
        [None, None, padded(wallet.address)],
        [TRANSFER, [padded(SOMEBODY), padded(wallet.address)]],
        [TRANSFER, padded(wallet.address), padded(SOMEBODY), padded(SOMEBODY)],
    ]
    span = _span(node, sent)
    return [len(node.rpc("eth_getLogs", {"topics": topics, **span})) for topics in asked]


@behaviour
def logs_of_a_block(node: Session) -> Any:
    _, sent = _transfers(node, 1)
    return len(node.rpc("eth_getLogs", {"blockHash": node.receipt(sent[0])["blockHash"]}))


@behaviour
def logs_of_no_block(node: Session) -> Any:
    return refusal(node.ask("eth_getLogs", {"blockHash": NOWHERE}))


@behaviour
def logs_of_a_block_and_a_span(node: Session) -> Any:
    block = node.block()
    return refusal(node.ask("eth_getLogs", {"blockHash": block["hash"], "fromBlock": "0x0"}))


@behaviour
def logs_of_a_span_that_runs_back(node: Session) -> Any:
    _transfers(node, 1, 1)
    head = node.number("eth_blockNumber")
    return refusal(node.ask("eth_getLogs", {"fromBlock": hex(head), "toBlock": hex(head - 1)}))


@behaviour
def logs_without_a_span_are_of_the_head(node: Session) -> Any:
    _transfers(node, 1, 2)
    return [int(log["data"], 16) for log in node.rpc("eth_getLogs", {"address": node.chain.token})]


@behaviour
def polling_tells_a_transfer_once(node: Session) -> Any:
    seen: list[str] = []
    since = node.number("eth_blockNumber")
    for amount in (1, 2, 3):
        _transfers(node, amount)
        head = node.number("eth_blockNumber")
        span = {"fromBlock": hex(since + 1), "toBlock": hex(head)}
        seen += [
            log["data"]
            for log in node.rpc(
                "eth_getLogs", {"topics": [TRANSFER, None, padded(SOMEBODY)], **span}
            )
        ]
        since = head
    return [int(data, 16) for data in seen]


@behaviour
def filter_tells_what_is_new(node: Session) -> Any:
    made = node.rpc(
        "eth_newFilter", {"address": node.chain.token, "topics": [TRANSFER, None, padded(SOMEBODY)]}
    )
    told = [len(node.rpc("eth_getFilterChanges", made))]
    for amounts in ((1,), (), (2, 3)):
        if amounts:
            _transfers(node, *amounts)
        told.append(len(node.rpc("eth_getFilterChanges", made)))
    return told


@behaviour
def filter_tells_all_again(node: Session) -> Any:
    made = node.rpc(
        "eth_newFilter", {"topics": [TRANSFER, None, padded(SOMEBODY)], "fromBlock": "latest"}
    )
    _transfers(node, 1, 2)
    node.rpc("eth_getFilterChanges", made)
    head = node.number("eth_blockNumber")
    both = node.rpc(
        "eth_newFilter",
        {
            "fromBlock": hex(head - 1),
            "toBlock": hex(head),
            "topics": [TRANSFER, None, padded(SOMEBODY)],
        },
    )
    return len(node.rpc("eth_getFilterLogs", both))


@behaviour
def block_filter_tells_each_block(node: Session) -> Any:
    wallet = node.wallet()
    made = node.rpc("eth_newBlockFilter")
    wallet.send(value=1), wallet.send(value=1)
    told = node.rpc("eth_getFilterChanges", made)
    return len(told), told[-1] == node.block()["hash"], node.rpc("eth_getFilterChanges", made)


@behaviour
def pool_filter_tells_transactions(node: Session) -> Any:
    wallet = node.wallet()
    made = node.rpc("eth_newPendingTransactionFilter")
    sent = wallet.send(value=1)
    return node.rpc("eth_getFilterChanges", made) == [sent]


@behaviour
def filter_ends_once(node: Session) -> Any:
    made = node.rpc("eth_newBlockFilter")
    return [node.rpc("eth_uninstallFilter", made) for _ in range(2)], refusal(
        node.ask("eth_getFilterChanges", made)
    )


@behaviour
def filter_nobody_made(node: Session) -> Any:
    return refusal(node.ask("eth_getFilterChanges", "0xdeadbeefdeadbeefdeadbeefdeadbeef"))


@behaviour
def logs_of_a_block_filter(node: Session) -> Any:
    return refusal(node.ask("eth_getFilterLogs", node.rpc("eth_newBlockFilter")))


@behaviour
def subscription_needs_a_socket(node: Session) -> Any:
    return refusal(node.ask("eth_subscribe", "newHeads"))


# --- gas ---


@behaviour
def price_of_gas_is_something(node: Session) -> Any:
    return node.number("eth_gasPrice") > 0, node.number("eth_maxPriorityFeePerGas") > 0


@behaviour
def history_of_fees(node: Session) -> Any:
    wallet = node.wallet()
    for _ in range(3):
        wallet.send(value=1)
    told = node.rpc("eth_feeHistory", "0x2", "latest", [25, 75])
    return (
        len(told["baseFeePerGas"]),
        len(told["gasUsedRatio"]),
        [len(rewards) for rewards in told["reward"]],
        int(told["oldestBlock"], 16) - node.number("eth_blockNumber"),
    )


@behaviour
def history_of_fees_without_rewards(node: Session) -> Any:
    told = node.rpc("eth_feeHistory", "0x1", "latest", [])
    return told.get("reward"), len(told["baseFeePerGas"])


@behaviour
def estimate_of_a_payment(node: Session) -> Any:
    asked = {"from": node.wallet().address, "to": SOMEBODY, "value": "0x1"}
    return node.rpc("eth_estimateGas", asked)


@behaviour
def estimate_of_a_token_transfer(node: Session) -> Any:
    wallet = node.wallet(units=UNIT)
    asked = {
        "from": wallet.address,
        "to": node.chain.token,
        "data": invoke("transfer(address,uint256)", SOMEBODY, 1),
    }
    estimate = node.number("eth_estimateGas", asked)
    sent = wallet.invoke(node.chain.token, "transfer(address,uint256)", SOMEBODY, 1, gas=estimate)
    return 21_000 < estimate < 100_000, node.receipt(sent)["status"]


@behaviour
def estimate_of_more_than_there_is(node: Session) -> Any:
    asked = {"from": node.wallet(1).address, "to": SOMEBODY, "value": hex(ETHER)}
    return refusal(node.ask("eth_estimateGas", asked))


@behaviour
def transfer_with_too_little_gas_fails(node: Session) -> Any:
    wallet = node.wallet(units=UNIT)
    sent = wallet.invoke(node.chain.token, "transfer(address,uint256)", SOMEBODY, 1, gas=23_000)
    receipt = node.receipt(sent)
    return receipt["status"], int(receipt["gasUsed"], 16), receipt["logs"]


# --- many calls in a single one ---


def _aggregate(node: Session, *calls: tuple[str, bool, str]) -> Any:
    kind = "(address,bool,bytes)[]"
    parts = [(to, may_fail, bytes.fromhex(data[2:])) for to, may_fail, data in calls]
    data = "0x82ad56cb" + encode([kind], [parts]).hex()
    return node.ask("eth_call", {"to": MULTICALL, "data": data}, "latest")


@behaviour
def many_calls_at_once(node: Session) -> Any:
    wallet = node.wallet(units=5)
    answer = _aggregate(
        node,
        (node.chain.token, True, invoke("balanceOf(address)", wallet.address)),
        (node.chain.second_token, True, invoke("balanceOf(address)", wallet.address)),
        (node.chain.token, True, invoke(TRANSFER_FROM, wallet.address, SOMEBODY, 1)),
        (MULTICALL, True, invoke("getEthBalance(address)", wallet.address)),
    )
    (results,) = decode(["(bool,bytes)[]"], bytes.fromhex(answer["result"][2:]))
    return [good for good, _ in results], [int.from_bytes(data) for good, data in results if good]


@behaviour
def many_calls_of_which_none_may_fail(node: Session) -> Any:
    owner = node.wallet(units=5)
    return refusal(
        _aggregate(
            node, (node.chain.token, False, invoke(TRANSFER_FROM, owner.address, SOMEBODY, 1))
        )
    )


@behaviour
def many_calls_know_the_block(node: Session) -> Any:
    return node.read(MULTICALL, "getBlockNumber()") == node.number("eth_blockNumber"), node.read(
        MULTICALL, "getCurrentBlockTimestamp()"
    ) >= int(node.block()["timestamp"], 16)


# --- nothing contradicts itself ---


@behaviour
def logs_add_up_to_holdings(node: Session) -> Any:
    first, second = node.wallet(units=100), node.wallet()
    token = node.chain.token
    start = node.number("eth_blockNumber")
    first.invoke(token, "transfer(address,uint256)", second.address, 60)
    first.invoke(token, "transfer(address,uint256)", second.address, 60)
    second.invoke(token, "transfer(address,uint256)", SOMEBODY, 10)
    second.invoke(token, "approve(address,uint256)", first.address, 20)
    first.invoke(token, TRANSFER_FROM, second.address, first.address, 15)
    logs = node.rpc(
        "eth_getLogs", {"address": token, "topics": [TRANSFER], "fromBlock": hex(start + 1)}
    )
    sums = []
    for wallet, granted in ((first, 100), (second, 0)):
        held = granted
        for log in logs:
            held += int(log["data"], 16) * (
                (log["topics"][2] == padded(wallet.address))
                - (log["topics"][1] == padded(wallet.address))
            )
        sums.append((held, node.holding(wallet.address)))
    return sums


@behaviour
def event_nobody_emitted(node: Session) -> Any:
    return node.rpc("eth_getLogs", {"topics": [topic("Nothing(uint256)")], "fromBlock": "0x0"})


@behaviour
def answers_are_numbers_as_text(node: Session) -> Any:
    names = ("eth_blockNumber", "eth_chainId", "eth_gasPrice")
    answers = [node.rpc(name) for name in names]
    return json.dumps(
        [answer.startswith("0x") and (answer == "0x0" or answer[2] != "0") for answer in answers]
    )


# --- what no chain takes ---

_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_NONCE, _S, _V = 0, 8, 6


def _edited(node: Session, edit: Callable[[list[bytes]], None]) -> Any:
    """Send a right legacy transaction of which items were changed after it was signed."""
    wallet = node.wallet()
    items = list(rlp_decode(bytes.fromhex(wallet.signed(legacy=True, gas=21_000)[2:])))
    edit(items)
    raw = f"0x{rlp(items).hex()}"
    return refusal(node.ask("eth_sendRawTransaction", raw))


@behaviour
def signature_with_the_larger_s(node: Session) -> Any:
    def edit(items: list[bytes]) -> None:
        items[_S] = (_ORDER - int.from_bytes(items[_S], "big")).to_bytes(32, "big")
        odd = (int.from_bytes(items[_V], "big") - 35) ^ 1
        items[_V] = (odd + 35).to_bytes(4, "big").lstrip(b"\0")

    return _edited(node, edit)[:22]


@behaviour
def signature_of_zeros(node: Session) -> Any:
    return "invalid" in _edited(node, lambda items: items.__setitem__(_S, b""))


@behaviour
def number_with_leading_zeros_in_a_transaction(node: Session) -> Any:
    return _edited(node, lambda items: items.__setitem__(_NONCE, b"\0"))[:6]


@behaviour
def nonce_of_nine_bytes(node: Session) -> Any:
    return _edited(node, lambda items: items.__setitem__(_NONCE, b"\1" * 9))[:6]


@behaviour
def encoding_that_is_not_the_shortest(node: Session) -> Any:
    raw = bytes.fromhex(node.wallet().signed(legacy=True, gas=21_000)[2:])
    assert raw[0] == 0xF8
    longer = b"\xf9\0" + raw[1:]
    return refusal(node.ask("eth_sendRawTransaction", f"0x{longer.hex()}"))[:6]


@behaviour
def nonce_with_none_behind_it(node: Session) -> Any:
    raw = node.wallet().signed(nonce=2**64 - 1, gas=21_000)
    return refusal(node.ask("eth_sendRawTransaction", raw))


@behaviour
def transaction_of_too_many_bytes(node: Session) -> Any:
    raw = node.wallet().signed(data="0x" + "00" * 131_072, gas=8_000_000)
    return refusal(node.ask("eth_sendRawTransaction", raw))[:21]


@behaviour
def creation_with_too_much_code(node: Session) -> Any:
    raw = node.wallet().signed(creation=True, data="0x" + "00" * 49_153, gas=5_000_000)
    return refusal(node.ask("eth_sendRawTransaction", raw))[:34]


@behaviour
def five_topics(node: Session) -> Any:
    asked = ("eth_getLogs", "eth_newFilter")
    return [refusal(node.ask(method, {"topics": [None] * 5})) for method in asked]


@behaviour
def both_ways_to_pay_for_gas(node: Session) -> Any:
    wanted = {"to": SOMEBODY, "gasPrice": "0x1", "maxFeePerGas": "0x1"}
    return [refusal(node.ask(method, wanted)) for method in ("eth_call", "eth_estimateGas")]


@behaviour
def input_comes_before_data(node: Session) -> Any:
    wanted = {"to": node.chain.token, "data": "0xdeadbeef", "input": invoke("decimals()")}
    return int(node.rpc("eth_call", wanted, "latest"), 16)


@behaviour
def percentiles_that_fall(node: Session) -> Any:
    shares = [[60, 20], [-1], [101]]
    return [refusal(node.ask("eth_feeHistory", "0x1", "latest", each))[:33] for each in shares]


@behaviour
def fee_history_beyond_the_head(node: Session) -> Any:
    return refusal(node.ask("eth_feeHistory", "0x1", FAR, []))[:32]


@behaviour
def storage_key_that_is_no_hex(node: Session) -> Any:
    return refusal(node.ask("eth_getStorageAt", node.chain.token, "0xzz", "latest"))[:6]


@behaviour
def notification_gets_no_answer(node: Session) -> Any:
    asked = {"jsonrpc": "2.0", "method": "eth_chainId", "params": []}
    return [call(node.chain.url, each) for each in (asked, [asked], [asked, {**asked, "id": 4}])]


@behaviour
def call_without_a_version(node: Session) -> Any:
    return refusal(call(node.chain.url, {"id": 1, "method": "eth_chainId", "params": []}))[:22]


@behaviour
def params_that_are_no_array(node: Session) -> Any:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}
    values: tuple[object, ...] = (None, {}, "x")
    answers = [call(node.chain.url, {**asked, "params": each}) for each in values]
    return ["result" if "result" in answer else refusal(answer)[:21] for answer in answers]


@behaviour
def more_arguments_than_methods_take(node: Session) -> Any:
    asked = (("eth_sendRawTransaction", "0x", 1), ("eth_getBalance", SOMEBODY, "latest", 1))
    return [refusal(node.ask(*each)) for each in asked]


@behaviour
def flag_that_is_text(node: Session) -> Any:
    return refusal(node.ask("eth_getBlockByNumber", "latest", "true"))[:6]


@behaviour
def gas_that_is_not_enough(node: Session) -> Any:
    tried = {
        "from": SOMEBODY,
        "to": node.chain.token,
        "data": invoke("decimals()"),
        "gas": "0x5207",
    }
    paying = {"from": SOMEBODY, "to": SOMEBODY, "gas": "0x5207"}
    answers = node.ask("eth_call", tried, "latest"), node.ask("eth_estimateGas", paying)
    enough = node.rpc("eth_estimateGas", {**paying, "gas": "0x5208"})
    return [*(refusal(answer)[:31] for answer in answers), enough]
