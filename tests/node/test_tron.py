"""A node of Tron, asked over HTTP as TronWeb does: it carries out what is signed, by rules.

Written from java-tron's HTTP interface; `libraries/with_tronweb.mjs` does the same with TronWeb.
"""

import hashlib

import pytest
from eth_keys.datatypes import PrivateKey

from tests.node.mock import MockChain
from tests.node.rpc import call as post
from tests.node.rpc import fetch, invoke
from tests.node.submitting import paid_otherwise, submit

USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
PROXY, VAULT = "TKwr6NEyyxFrbGRWct8ff2fPXP7jKNPJym", "TKwr6NEz1bVLHfSBeBqQPpyqjzqRXsxGmB"
USDT_BNB = "0x55d398326f99059ff775485246999027b3197955"
RECIPIENT = "0x" + "37" * 20
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
TRX = 10**6


def hex_of(address):
    """Return `41…` of an address in base 58."""
    number = 0
    for char in address:
        number = 58 * number + ALPHABET.index(char)
    return number.to_bytes(25, "big")[:21].hex()


class Wallet:
    def __init__(self, control, seed):
        self.control, self.url = control, f"{control}/chains/TRX"
        self.key = PrivateKey(bytes([seed]) * 32)
        self.address = "41" + self.key.public_key.to_canonical_address().hex()

    def ask(self, name, **members):
        return post(f"{self.url}/wallet/{name}", members)

    def built(self, to, signature, *values, **members):
        """Return what the node proposes to sign for a call of a contract."""
        data = invoke(signature, *values)
        answer = self.ask(
            "triggersmartcontract",
            owner_address=self.address,
            contract_address=hex_of(to),
            function_selector=signature,
            parameter=data[10:],
            fee_limit=150 * TRX,
            **members,
        )
        return answer["transaction"]

    def paid(self, to, amount):
        members = {"owner_address": self.address, "to_address": hex_of(to), "amount": amount}
        return self.ask("createtransaction", **members)

    def signed(self, transaction):
        digest = hashlib.sha256(bytes.fromhex(transaction["raw_data_hex"])).digest()
        signature = self.key.sign_msg_hash(digest).to_bytes().hex()
        return {**transaction, "signature": [signature]}

    def send(self, transaction):
        return self.ask("broadcasttransaction", **self.signed(transaction))

    def invoke(self, to, signature, *values, **members):
        return self.send(self.built(to, signature, *values, **members))

    def info(self, sent):
        return self.ask("gettransactioninfobyid", value=sent["txid"])

    def balance(self):
        return self.ask("getaccount", address=self.address).get("balance", 0)

    def units(self, address=None):
        answer = self.read("balanceOf(address)", "0x" + (address or self.address)[2:])
        return int(answer["constant_result"][0], 16)

    def read(self, signature, *values):
        return self.ask(
            "triggerconstantcontract",
            owner_address=self.address,
            contract_address=hex_of(USDT),
            function_selector=signature,
            parameter=invoke(signature, *values)[10:],
        )


@pytest.fixture
def wallet(server):
    return Wallet(MockChain(server).control, 7)


def _order(wallet, amount=25 * TRX, approved=25 * TRX):
    if approved:
        spender = "0x" + hex_of(PROXY)[2:]
        assert wallet.invoke(USDT, "approve(address,uint256)", spender, approved)["result"]
    text = f"chainge:BNB:{USDT_BNB}:{RECIPIENT}:0:1_24000000000000000000;3_2;4_1;5_BNB".encode()
    token = "0x" + hex_of(USDT)[2:]
    return wallet.invoke(PROXY, "vaultOut(address,uint256,bool,bytes)", token, amount, False, text)


def _words(answer):
    return answer["code"], bytes.fromhex(answer["message"]).decode()


def test_a_call_of_the_proxy_makes_an_order_and_is_shown_with_its_logs(wallet):
    before, vault = wallet.units(), wallet.units(hex_of(PROXY))
    sent = _order(wallet)
    info = wallet.info(sent)
    assert info["receipt"]["result"] == "SUCCESS"
    assert (info["fee"], info["receipt"]["energy_usage_total"]) == (90_000 * 420, 90_000)
    transfer, vault_out = info["log"]
    assert transfer["topics"][1:] == [wallet.address[2:].zfill(64), hex_of(PROXY)[2:].zfill(64)]
    assert int(transfer["data"], 16) == 25 * TRX
    [order] = fetch(f"{wallet.control}/orders")["orders"]
    assert int(vault_out["topics"][3], 16) == int(order["id"])
    assert (wallet.units(), wallet.units(hex_of(PROXY))) == (before - 25 * TRX, vault + 25 * TRX)
    shown = wallet.ask("gettransactionbyid", value=sent["txid"])
    assert shown["ret"] == [{"contractRet": "SUCCESS"}]
    assert hashlib.sha256(bytes.fromhex(shown["raw_data_hex"])).hexdigest() == sent["txid"]


def test_without_approval_the_proxy_reverts_and_energy_is_paid(wallet):
    before, coins = wallet.units(), wallet.balance()
    info = wallet.info(_order(wallet, approved=0))
    assert (info["result"], info["receipt"]["result"]) == ("FAILED", "REVERT")
    assert b"ERC20: insufficient allowance" in bytes.fromhex(info["contractResult"][0])
    assert (wallet.units(), wallet.balance()) == (before, coins - 5_000 * 420)
    assert fetch(f"{wallet.control}/orders")["orders"] == []


def test_a_payout_is_a_transaction_of_the_node(server):
    control = MockChain(server).control
    wallet = Wallet(control, 8)
    text = f"chainge:TRX:{USDT}:{_base58(wallet.address)}:0:1_24000000;3_2;4_1;5_TRX".encode()
    payer = MockChain(server)
    data = invoke("vaultOut(address,uint256,bool,bytes)", USDT_BNB, 25 * 10**18, False, text)
    proxy = {"chain": "BNB", "from": RECIPIENT, "to": payer.proxy, "data": data}
    before = wallet.units()
    assert post(f"{control}/transactions", proxy)["order"]
    post(f"{control}/clock", {"advance": "1h"})
    [order] = fetch(f"{control}/orders")["orders"]
    info = wallet.ask("gettransactioninfobyid", value=order["execHash"])
    arrived = int(order["amountOut"])
    assert int(info["log"][0]["data"], 16) == arrived
    assert wallet.units() == before + arrived
    block = wallet.ask("getblockbynum", num=info["blockNumber"])
    assert [each["txID"] for each in block["transactions"]] == [order["execHash"]]


def _base58(address):
    raw = bytes.fromhex(address)
    raw += hashlib.sha256(hashlib.sha256(raw).digest()).digest()[:4]
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = ALPHABET[digit] + text
    return text


def test_coins_move_without_a_fee(wallet):
    before = wallet.balance()
    sent = wallet.send(wallet.paid(VAULT, 3 * TRX))
    assert sent["result"] is True
    assert (wallet.balance(), wallet.info(sent)["fee"]) == (before - 3 * TRX, 0)


def test_a_transaction_is_taken_once(wallet):
    paid = wallet.signed(wallet.paid(VAULT, 1))
    wallet.ask("broadcasttransaction", **paid)
    again = wallet.ask("broadcasttransaction", **paid)
    assert _words(again) == ("DUP_TRANSACTION_ERROR", "Dup transaction.")


def test_another_key_is_no_permission(wallet):
    signed = Wallet(wallet.control, 9).signed(wallet.paid(VAULT, 1))
    code, words = _words(wallet.ask("broadcasttransaction", **signed))
    assert code == "SIGERROR"
    assert "is not contained of permission" in words


def test_without_a_signature_nothing_is_carried_out(wallet):
    before = wallet.balance()
    unsigned = {**wallet.paid(VAULT, 1), "signature": []}
    assert _words(wallet.ask("broadcasttransaction", **unsigned))[0] == "SIGERROR"
    assert wallet.balance() == before


def test_a_transaction_lives_for_a_minute_of_the_worlds_clock(wallet):
    paid = wallet.paid(VAULT, 1)
    post(f"{wallet.control}/clock", {"advance": "61s"})
    answer = wallet.send(paid)
    assert _words(answer)[0] == "TRANSACTION_EXPIRATION_ERROR"
    submit(wallet.control, "TRX", _base58(wallet.address), answer["txid"], units=25 * TRX)
    assert paid_otherwise(wallet.control, ["refused by its node (Transaction expiration"])


def test_a_transaction_of_another_chain_names_none_of_its_blocks(wallet, server):
    elsewhere = Wallet(MockChain(server).control, 7)
    post(f"{elsewhere.control}/chains/TRX/blocks", {"mine": 5})
    paid = elsewhere.paid(VAULT, 1)
    assert elsewhere.send(paid)["result"]
    assert _words(wallet.send(paid))[0] == "TAPOS_ERROR"


@pytest.mark.parametrize(
    ("to", "amount", "words"),
    [
        (VAULT, 10**15, "balance is not sufficient"),
        (VAULT, 0, "Amount must be greater than 0"),
        (USDT, 1, "Cannot transfer TRX to a smartContract"),
    ],
)
def test_a_transfer_that_no_chain_takes_is_refused_when_it_is_made(wallet, to, amount, words):
    assert words in wallet.paid(to, amount)["Error"]


def test_little_energy_fails(wallet):
    built = wallet.ask(
        "triggersmartcontract",
        owner_address=wallet.address,
        contract_address=hex_of(USDT),
        function_selector="transfer(address,uint256)",
        parameter=invoke("transfer(address,uint256)", RECIPIENT, 1)[10:],
        fee_limit=TRX,
    )["transaction"]
    before = wallet.units()
    info = wallet.info(wallet.send(built))
    assert (info["receipt"]["result"], info["fee"]) == ("OUT_OF_ENERGY", TRX // 420 * 420)
    assert wallet.units() == before


def test_a_transfer_above_the_balance_reverts_when_it_is_tried(wallet):
    tried = wallet.read("transfer(address,uint256)", RECIPIENT, 10**15)
    assert tried["transaction"]["ret"] == [{"ret": "FAILED"}]
    assert b"ERC20: transfer amount exceeds balance" in bytes.fromhex(tried["constant_result"][0])


def test_what_is_not_there_has_the_answers_of_a_node(wallet):
    assert wallet.ask("gettransactioninfobyid", value="ab" * 32) == {}
    assert wallet.ask("getblockbynum", num=10**9) == {}
    assert "nothing at" in post(f"{wallet.url}/wallet/listwitnesses", {})["Error"]
    assert "Invalid address" in wallet.ask("getaccount", address="T" * 34)["Error"]
    no_contract = wallet.ask(
        "triggersmartcontract", owner_address=wallet.address, contract_address=hex_of(VAULT)
    )
    assert bytes.fromhex(no_contract["result"]["message"]) == (
        b"No contract or not a valid smart contract"
    )


def test_the_faucet_gives_on_tron(wallet):
    before = wallet.units()
    given = {"chain": "TRX", "address": _base58(wallet.address), "token": "USDT", "amount": "5"}
    post(f"{wallet.control}/faucet", given)
    assert wallet.units() == before + 5 * TRX


@pytest.mark.parametrize(
    ("to", "units", "says"),
    [
        (VAULT, 25 * TRX, []),
        (PROXY, 25 * TRX, []),
        (VAULT, 24 * TRX, ["pays 24 USDT"]),
        (USDT, 25 * TRX, ["which is no address for deposits"]),
    ],
)
def test_the_audit_compares_a_payment_with_its_order(wallet, to, units, says):
    paid = wallet.invoke(USDT, "transfer(address,uint256)", "0x" + hex_of(to)[2:], units)
    submit(wallet.control, "TRX", _base58(wallet.address), paid["txid"], units=25 * TRX)
    assert paid_otherwise(wallet.control, says)
