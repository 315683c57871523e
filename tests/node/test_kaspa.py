"""A node of Kaspa, asked over REST as wallets do that sign for themselves.

The transaction at the end was made and signed by the chain's own library, kaspa-wasm 0.13.
"""

import json
import urllib.request

import pytest
from coincurve import PrivateKey

from mockserver.signing import kaspa_transactions as kaspa
from tests.conftest import PATIENCE_S
from tests.node.mock import MockChain
from tests.node.rpc import call as post
from tests.node.rpc import fetch, invoke
from tests.node.submitting import paid_otherwise, submit
from tests.node.test_tron import RECIPIENT, USDT_BNB

VAULT = "kaspa:qpgmt2dn8wcqf0436n0kueap7yx82n7raurlj6aqjc3t3wm9y5ssqtg9e4lsm"
VAULT_SCRIPT = "2051b5a9b33bb004beb1d4df6e67a1f10c754fc3ef07f96ba09622b8bb65252100ac"
KAS = 10**8


class Wallet:
    def __init__(self, control, seed):
        self.control, self.url = control, f"{control}/chains/KAS"
        self.key = PrivateKey(bytes([seed]) * 32)
        self.script = b"\x20" + self.key.public_key_xonly.format() + b"\xac"
        self.address = kaspa.address_of(self.script)

    def get(self, path):
        return fetch(f"{self.url}{path}")

    def utxos(self):
        return self.get(f"/addresses/{self.address}/utxos")

    def balance(self):
        return self.get(f"/addresses/{self.address}/balance")["balance"]

    def payment(self, units, fee=2_000, to=VAULT_SCRIPT, payload=b"", **changes):
        """Return a signed transaction that spends all that there is, with change."""
        spent = self.utxos()
        held = sum(int(each["utxoEntry"]["amount"]) for each in spent)
        outputs = [(units, to), (held - units - fee, self.script.hex())]
        plain = {
            "version": 0,
            "inputs": [
                {"previousOutpoint": each["outpoint"], "sequence": 0, "sigOpCount": 1}
                for each in spent
            ],
            "outputs": [
                {"amount": amount, "scriptPublicKey": {"version": 0, "scriptPublicKey": script}}
                for amount, script in outputs
                if amount > 0
            ],
            "lockTime": 0,
            "subnetworkId": "00" * 20,
            "payload": payload.hex(),
            **changes,
        }
        return self.signed(plain, spent)

    def signed(self, plain, spent):
        made = kaspa.decoded(plain)
        for place, each in enumerate(spent):
            output = kaspa.KaspaOutput(int(each["utxoEntry"]["amount"]), 0, self.script)
            signature = self.key.sign_schnorr(made.digest(place, output), bytes(32))
            plain["inputs"][place]["signatureScript"] = f"41{signature.hex()}01"
        return plain

    def send(self, plain):
        return post(f"{self.url}/transactions", {"transaction": plain, "allowOrphan": False})


@pytest.fixture
def wallet(server):
    return Wallet(MockChain(server).control, 7)


def _sum(wallet):
    return sum(int(each["utxoEntry"]["amount"]) for each in wallet.utxos())


def test_what_wallets_ask_of_the_chain(wallet):
    before, dag = wallet.get("/info/virtual-chain-blue-score"), wallet.get("/info/blockdag")
    assert int(dag["virtualDaaScore"]) == before["blueScore"]
    assert wallet.get("/info/network").keys() == dag.keys()
    assert wallet.get("/info/fee-estimate")["priorityBucket"]["feerate"] == 1


def test_what_can_be_spent_adds_up_to_the_balance_after_each_payment(wallet):
    before = wallet.balance()
    assert _sum(wallet) == before
    for count in (1, 2):
        sent = wallet.send(wallet.payment(5 * KAS))
        assert set(sent) == {"transactionId"}
        assert wallet.balance() == _sum(wallet) == before - count * (5 * KAS + 2_000)
    assert [each["outpoint"]["transactionId"] for each in wallet.utxos()] == [sent["transactionId"]]
    post(f"{wallet.control}/faucet", {"chain": "KAS", "address": wallet.address, "amount": "3"})
    assert wallet.balance() == _sum(wallet)
    assert len(wallet.utxos()) == 2


def test_a_payment_is_shown_with_its_payload(wallet):
    sent = wallet.send(wallet.payment(5 * KAS, payload=b"1_499;3_2;4_499;5_BNB"))
    shown = wallet.get(f"/transactions/{sent['transactionId']}?inputs=true&outputs=true")
    assert shown["is_accepted"] is True
    assert bytes.fromhex(shown["payload"]) == b"1_499;3_2;4_499;5_BNB"
    assert shown["outputs"][0]["amount"] == 5 * KAS
    assert shown["outputs"][0]["script_public_key_address"] == VAULT
    assert shown["inputs"][0]["previous_outpoint_address"] == wallet.address
    [listed] = wallet.get(f"/addresses/{wallet.address}/full-transactions")
    assert listed["transaction_id"] == sent["transactionId"]
    assert fetch(f"{wallet.control}/orders")["orders"] == []


def test_a_payout_is_an_output_that_can_be_spent(server):
    chain = MockChain(server)
    wallet = Wallet(chain.control, 8)
    native = "0x" + "ee" * 20
    text = f"chainge:KAS:{native}:{wallet.address}:100:1_100000000;3_2;4_1;5_KAS".encode()
    data = invoke("vaultOut(address,uint256,bool,bytes)", USDT_BNB, 25 * 10**18, False, text)
    call = {"chain": "BNB", "from": RECIPIENT, "to": chain.proxy, "data": data}
    assert post(f"{chain.control}/transactions", call)["order"]
    post(f"{chain.control}/clock", {"advance": "1h"})
    [order] = fetch(f"{chain.control}/orders")["orders"]
    arrived = wallet.utxos()[-1]
    assert arrived["outpoint"]["transactionId"] == order["execHash"]
    assert arrived["utxoEntry"]["amount"] == order["amountOut"]
    assert wallet.balance() == _sum(wallet)
    assert "transactionId" in wallet.send(wallet.payment(KAS))


def _why(answer):
    return answer["error"].partition(": ")[2]


def test_an_output_is_spent_once(wallet):
    payment = wallet.payment(KAS)
    wallet.send(payment)
    assert "already accepted" in _why(wallet.send(payment))
    again = {**payment, "payload": "00"}
    assert "is an orphan where orphan is disallowed" in _why(wallet.send(again))


def test_nobody_spends_what_is_anothers(wallet):
    stranger, spent, before = Wallet(wallet.control, 9), wallet.utxos(), wallet.balance()
    theirs = stranger.signed(wallet.payment(KAS), spent)
    assert _why(wallet.send(theirs)) == "failed to verify the signature script"
    changed = wallet.payment(KAS)
    changed["outputs"][0]["amount"] += 1
    assert _why(wallet.send(changed)) == "failed to verify the signature script"
    assert wallet.balance() == before


def test_no_more_is_paid_than_is_spent(wallet):
    payment = wallet.payment(wallet.balance() + 1, fee=0)
    assert "tries to spend" in _why(wallet.send(payment))
    named = {"units": 25 * KAS, "index": "18", "kind": "2"}
    submit(wallet.control, "KAS", wallet.address, kaspa.decoded(payment).id, **named)
    assert paid_otherwise(wallet.control, ["in no block of KAS: it was refused by its node"])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/transactions/" + "ab" * 32, 404),
        ("/addresses/0x12/balance", 400),
        (f"/addresses/{VAULT[:-1]}q/utxos", 400),
        ("/addresses/0x12/full-transactions", 400),
        ("/addresses/0x12/names", 404),
        ("/info/price", 404),
    ],
)
def test_what_is_not_there_has_the_status_of_rest(wallet, path, status):
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{wallet.url}{path}", timeout=PATIENCE_S)
    assert refused.value.code == status
    assert json.loads(refused.value.read())["detail"]
    refused.value.close()


def test_it_has_it_too_where_many_orders_are_worked_out_first(wallet):
    for number in range(600):
        paid = f"0x{number:064x}"
        submit(wallet.control, "ARB", RECIPIENT, paid, units=10_000_001 + 10 * number)
    post(f"{wallet.control}/clock", {"advance": "1h"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{wallet.url}/info/price", timeout=PATIENCE_S)
    assert refused.value.code == 404
    assert json.loads(refused.value.read())["detail"]
    assert refused.value.headers["X-Mock-Epoch"]
    refused.value.close()


@pytest.mark.parametrize("broken", [None, {}, {"inputs": [{}]}, {"inputs": "all"}])
def test_a_broken_transaction_is_told(wallet, broken):
    answer = post(f"{wallet.url}/transactions", {"transaction": broken})
    assert answer["detail"][0]["msg"].startswith("'")


@pytest.mark.parametrize(
    ("to", "units", "says"),
    [
        (VAULT_SCRIPT, 25 * KAS, []),
        (VAULT_SCRIPT, 24 * KAS, ["pays 24 KAS"]),
        ("20" + "ab" * 32 + "ac", 25 * KAS, ["which is no address for deposits"]),
    ],
)
def test_the_audit_compares_a_payment_with_its_order(wallet, to, units, says):
    sent = wallet.send(wallet.payment(units, to=to))
    named = {"units": 25 * KAS, "index": "18", "kind": "2"}
    submit(wallet.control, "KAS", wallet.address, sent["transactionId"], **named)
    assert paid_otherwise(wallet.control, says)


def test_ids_and_signatures_are_those_of_the_chains_library():
    tx_id = "295a5295e133c547bebf1906ac3877a0fe7f47d9fdb99bb4763985ba1cd00379"
    outpoint = "e419ff3beb583482aca0426926607ac536c97c560a562fe5d697112c50a4fdc4"
    signature = (
        "b2cd2403eb5858eedc9fcf968dd908968a2e88bf34bce976f625f6e31443d40d"
        "b10d4941c385e089ec4bf98e4c223cf989d46d77bd6b3ca78252b2d49fd626cb"
    )
    owner = bytes.fromhex("20466d7fcae563e5cb09a0d1870bb580344804617879a14949cf22285f1bae3f27ac")
    spent = {
        "previousOutpoint": {"transactionId": outpoint, "index": 0},
        "signatureScript": f"41{signature}01",
        "sigOpCount": 1,
    }
    paid = {"amount": 500_000_000, "scriptPublicKey": "0000" + VAULT_SCRIPT}
    signed = kaspa.decoded({"inputs": [spent], "outputs": [paid]})
    assert signed.id == tx_id
    assert signed.is_signed(0, kaspa.KaspaOutput(909_090_909_090, 0, owner))
    assert not signed.is_signed(0, kaspa.KaspaOutput(909_090_909_091, 0, owner))
    assert signed.outputs[0].address == VAULT
