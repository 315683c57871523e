"""What the control API shows of a world to those who look: chains, orders, money, one request."""

import pytest

from tests.conftest import WALLET, certificate, order
from tests.control.conftest import QUOTE_PATH

HASHES = [f"0x{number:064x}" for number in range(1, 6)]


def submitted(control, certs=None, **changes):
    """Submit orders of a deposit each and return their ids."""
    client = control.client
    return [
        client.post(
            "/v1/submitOrder",
            order(sourceCerts=certs or certificate(certHash=one), **changes),
            headers=client.wallet,
        ).data["id"]
        for one in HASHES
    ]


def test_chains_are_listed_with_their_tokens(control):
    chains = {one["chain"]: one for one in control.get("/chains")["chains"]}
    assert len(chains) == 28
    assert (chains["ARB"]["evm"], chains["BNB"]["v1Name"]) == (True, "BSC")
    decimals = {one["token"]: one["decimals"] for one in chains["BNB"]["tokens"]}
    assert decimals["USDT"] == 18


def test_orders_come_in_pages_newest_first_and_are_found_by_any_of_their_names(control):
    ids = submitted(control)
    told = control.get("/orders?newest=true&offset=1&limit=2&events=true")
    assert [one["id"] for one in told["orders"]] == [ids[3], ids[2]]
    assert (told["total"], told["now"]) == (5, "2026-01-01T00:00:00Z")
    assert [event["past"] for event in told["orders"][0]["events"]][:2] == [True, False]
    assert [one["id"] for one in control.get(f"/orders?find={HASHES[1][2:]}")["orders"]] == [ids[1]]
    assert control.get(f"/orders?find={WALLET.upper()[2:]}")["total"] == 5
    assert control.get("/orders?find=nothing-like-it") == {
        "orders": [],
        "total": 0,
        "now": "2026-01-01T00:00:00Z",
    }
    control.post(f"/orders/{ids[0]}", {"status": "Failed"})
    assert [one["id"] for one in control.get("/orders?status=Failed")["orders"]] == [ids[0]]


@pytest.mark.parametrize("outcome", ["success", "refund"])
def test_what_an_order_moves_sums_to_zero_and_says_what_has_not_happened_yet(control, outcome):
    first = submitted(control)[0]
    control.post(f"/orders/{first}", {"course": outcome})
    before = control.get(f"/orders/{first}")["moves"]
    assert [move["past"] for move in before] == [True, False]
    control.post("/clock", {"runUntil": {"order": first}})
    moves = control.get(f"/orders/{first}")["moves"]
    assert all(move["past"] for move in moves)
    sums: dict[tuple[str, str], int] = {}
    for entry in (entry for move in moves for entry in move["entries"]):
        asset = (entry["chain"], entry["token"])
        sums[asset] = sums.get(asset, 0) + int(entry["units"])
    assert set(sums.values()) == {0}


def test_balances_are_those_that_clients_are_shown(control):
    submitted(control)
    told = control.get("/balances")
    assert {(one["chain"], one["token"]) for one in told["balances"]} == {
        ("ARB", "USDT"),
        ("BNB", "USDT"),
    }
    assert control.get(f"/balances?address={WALLET[:12]}")["total"] == 2
    assert control.get("/balances?address=0xnobody") == {"balances": [], "total": 0}
    on_chain = control.get(f"/balances?address={WALLET}&chain=ARB")["balances"]
    used = next(one for one in told["balances"] if one["chain"] == "ARB")
    owned = {one["token"]: one["units"] for one in on_chain}
    assert owned[used["token"]] == used["units"]
    assert len(owned) > 1
    assert "goes with 'address'" in control.refused("GET", "/balances?chain=ARB")


def test_a_quote_is_the_one_that_clients_get(control):
    told = control.get("/quote?from=ARB&to=BNB&token=USDT&amount=10")
    data = control.client.call("GET", QUOTE_PATH).data
    assert (told["gross"], told["serviceFee"], told["gasFee"]) == (
        data["outAmount"],
        data["serviceFee"],
        data["gasFee"],
    )
    swap = control.get("/quote?from=ARB&to=BNB&token=USDT&targetToken=USDC&amount=10")
    assert swap["aggregator"]
    assert int(swap["net"]) == int(swap["gross"]) - int(swap["serviceFee"]) - int(swap["gasFee"])


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from=ARB", "'to': missing"),
        ("from=ARB&to=BNB&token=USDT&amount=ten", "whole tokens"),
        ("from=ARB&to=BNBB&token=USDT&amount=10", "did you mean 'BNB'"),
        ("from=ARB&to=BNB&token=USDT&amount=0.0000000001", "decimals"),
    ],
)
def test_a_quote_of_nothing_is_a_sentence(control, query, words):
    assert words in control.refused("GET", f"/quote?{query}")


def test_a_request_is_shown_with_what_is_encoded_in_it(control):
    submitted(control, extra="1_9994000000000000000;2_30;3_2;4_9694000000000000000;5_BNB")
    told = {one["is"]: one["value"] for one in control.get("/journal/1")["decoded"]}
    assert told["deposit"]["fromChain"] == "ARB"
    assert told["order rules"] == {
        "expected": "9994000000000000000",
        "channelFeeBps": "30",
        "version": "2",
        "minimum": "9694000000000000000",
        "execution": "BNB",
    }
    assert "it has 1 to 5" in control.refused("GET", "/journal/6")
    control.delete("/journal")
    assert "it is empty" in control.refused("GET", "/journal/1")


@pytest.mark.parametrize("aggregator", ["ChaingeDex", "1inch", "Kyber", "OpenOcean"])
def test_call_data_is_decoded_as_it_was_encoded(control, aggregator):
    chains = {one["chain"]: one for one in control.get("/chains")["chains"]}
    addresses = {one["token"]: one for one in chains["ARB"]["tokens"]}
    source, target = addresses["USDT"], addresses["USDC"]
    answer = control.client.get(
        "/v1/getAggregateSwap",
        query={
            "fromAmount": "10000000",
            "fromTokenAddress": source["address"],
            "fromDecimal": str(source["decimals"]),
            "toTokenAddress": target["address"],
            "toDecimal": str(target["decimals"]),
            "chain": "ARB",
            "sender": WALLET,
            "recipient": WALLET,
            "slippage": "100",
            "allowPartialFill": "false",
            "aggregator": aggregator,
        },
    )
    assert not answer.refusal
    (call,) = control.get("/journal/1")["decoded"]
    assert call["is"].startswith("call of swap")
    text = str(call["value"]).lower()
    for part in (WALLET, source["address"], target["address"], "'10000000'"):
        assert part.lower() in text, (part, call["value"])


def test_broken_codes_are_said_to_be_broken(control):
    broken = [{"sourceCerts": "zz"}, {"sourceCerts": "00"}, {"extra": "9_9"}]
    for body in (*broken, {"data": "0xa9059cbb00"}, {"data": "0xa9059cbb" + "ff" * 63}):
        control.client.call("POST", "/v1/submitOrder", body=body)
    told = [control.get(f"/journal/{number}")["decoded"] for number in range(1, 6)]
    assert [isinstance(one["value"], str) for (one,) in told] == [True] * 5
    nested: object = "0x095ea7b3"
    for _ in range(60):
        nested = {"data": nested}
    control.client.call("POST", "/v1/submitOrder", body=nested)
    assert control.get("/journal/6")["decoded"] == []


def test_the_operations_of_a_world_are_an_openapi_document(control):
    assert "/v1/getBridgeQuote" in control.get("/contract")["paths"]
