"""Each kind of finding, both ways: a careful wallet gives none, a sloppy one exactly that one."""

from contextlib import suppress
from pathlib import Path

import pytest
from eth_abi import encode

from mockserver.engine import abi
from mockserver.operations.deposit_transactions import VAULT_OUT
from mockserver.worlds.audit import KINDS
from tests.audit.wallets import Wallet
from tests.conftest import USDT_ARB, USDT_BNB, WALLET, Client, certificate, order

LOST = ("truncated-body", "reset-after-headers", "broken-json")


@pytest.fixture
def wallet(mock: Client) -> Wallet:
    return Wallet(mock)


def test_a_wallet_that_does_everything_right_hears_nothing(wallet):
    net = wallet.quote()
    assert wallet.follow(wallet.submit(extra=f"1_{net};3_2;4_{net}")) == "Succeeded"
    told = wallet.audit()
    assert told.pop("ground")["missing"] is None
    counts = {"more": 0, "judged": 1, "unjudged": 0}
    assert told == {"ok": True, "findings": [], "leftOut": [], **counts}


@pytest.mark.parametrize("fault", LOST)
def test_a_lost_answer_and_the_same_deposit_again(wallet, fault):
    wallet.quote()
    wallet.fault(fault)
    paid = wallet.pay()
    assert wallet.submit(paid) is None
    assert wallet.follow(wallet.submit(paid)) == "Succeeded"
    assert wallet.kinds() == []


@pytest.mark.parametrize("fault", LOST)
def test_a_lost_answer_and_another_deposit_are_two_orders(wallet, fault):
    wallet.quote()
    wallet.fault(fault)
    assert wallet.submit() is None
    wallet.quote()
    second = wallet.submit()
    first = str(int(second or "") - 1)
    assert {wallet.follow(second), wallet.look(first)} == {"Succeeded"}
    told = wallet.told("two-orders")
    assert told.startswith(f"10 USDT from ARB to BNB was paid for by order {first} and order ")
    assert "paid again" in told
    finding = wallet.audit()["findings"][0]
    assert finding["orders"] == [first, second]
    assert [one["sequence"] for one in finding["requests"]] == [2, 4]
    assert fault in finding["requests"][0]["outcome"]


def test_whoever_asked_for_the_lost_order_before_means_the_second_one(wallet):
    wallet.quote()
    wallet.fault("truncated-body")
    wallet.submit()
    known = wallet.client.control("GET", "/orders")["orders"][0]["id"]
    wallet.look(known)
    wallet.quote()
    assert {wallet.follow(wallet.submit()), wallet.look(known)} == {"Succeeded"}
    assert wallet.kinds() == []


def test_one_quote_that_is_paid_for_twice_is_two_orders_and_two_quotes_are_none(wallet):
    wallet.quote()
    first, second = wallet.submit(), wallet.submit()
    assert {wallet.follow(first), wallet.look(second)} == {"Succeeded"}
    assert "quoted once" in wallet.told("two-orders")


def test_two_equal_transfers_that_are_each_quoted_are_meant(wallet):
    wallet.quote()
    first = wallet.submit()
    wallet.quote()
    second = wallet.submit()
    assert {wallet.follow(first), wallet.look(second)} == {"Succeeded"}
    assert wallet.kinds() == []


def call(wallet: Wallet, *, number: int) -> str:
    """Send an order as a contract call, and return its id."""
    chains = wallet.client.get("/v1/getChain").data["list"]
    arb = next(one for one in chains if one["nickName"] == "ARB")
    text = f"demo:BNB:{USDT_BNB}:{WALLET}:0:3_2".encode()
    data = encode(["address", "uint256", "bool", "bytes"], [USDT_ARB, 10_000_000, False, text])
    told = {"chain": "ARB", "from": WALLET, "to": arb["builtInMinterProxyV2"]}
    more = {"data": f"0x{(VAULT_OUT + data).hex()}", "hash": f"0x{number:064x}"}
    return str(wallet.client.control("POST", "/transactions", {**told, **more})["order"])


@pytest.mark.parametrize(
    ("quotes", "kinds"), [(0, ["other-quote"] * 2), (1, ["two-orders"]), (2, [])]
)
def test_contract_calls_are_counted_against_their_quotes(serve, quotes, kinds):
    wallet = Wallet(serve(dialect="observed").client)
    for _ in range(quotes):
        wallet.quote()
    orders = [call(wallet, number=number) for number in (7, 8)]
    assert wallet.follow(orders[0]) == wallet.look(orders[1]) == "Succeeded"
    assert wallet.kinds() == kinds
    if quotes == 1:
        assert len(wallet.audit()["findings"][0]["transactions"]) == 2


def test_a_refused_submission_that_is_tried_again_is_no_loss(wallet):
    wallet.quote()
    wallet.client.control("POST", "/outages", {"chain": "BNB"})
    paid = wallet.pay()
    assert wallet.submit(paid) is None
    wallet.client.control("DELETE", "/outages?chain=BNB")
    wallet.follow(wallet.submit(paid))
    assert wallet.kinds() == []


def test_a_refused_submission_that_is_given_up_is_a_deposit_without_order(wallet):
    wallet.quote()
    wallet.client.control("POST", "/outages", {"chain": "BNB"})
    paid = wallet.pay()
    assert wallet.submit(paid) is None
    told = wallet.told("deposit-without-order")
    assert told.startswith(
        f"10 USDT of {WALLET} on ARB, {paid}: its submission was refused as chain"
    )
    wallet.ticket(paid)
    assert told.endswith("submit the same deposit again, or report it with a ticket")
    assert wallet.told("deposit-without-order").endswith("so that its ticket helps nobody")
    assert wallet.audit()["findings"][0]["cause"] == "reported"
    minter = "0x6d696e74657270726f787976320000006d6f636b"
    data = f"0x{abi.encoded(abi.TRANSFER, minter, 10_000_000).hex()}"
    body = {"chain": "ARB", "from": WALLET, "hash": paid, "to": USDT_ARB, "data": data}
    wallet.client.control("POST", "/transactions", body)
    assert wallet.kinds() == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"kind": "false-success"}, "the service accepted it"),
        ({"kind": "http-status", "status": 503}, "came to nothing (http-status (1))"),
        ({"kind": "reset-before-headers"}, "came to nothing (reset-before-headers (1))"),
        ({"kind": "refusal", "refusal": "no-route"}, "refused as no-route, and no order"),
    ],
)
def test_a_submission_that_came_to_nothing_is_a_deposit_without_order(wallet, fault, words):
    wallet.quote()
    wallet.fault(**fault)
    paid = wallet.pay()
    wallet.submit(paid)
    assert words in wallet.told("deposit-without-order")
    wallet.follow(wallet.submit(paid))
    assert wallet.kinds() == []


@pytest.mark.parametrize("native", [True, False])
def test_a_payment_on_the_chain_needs_its_submission(serve, native):
    running = serve()
    wallet = Wallet(running.client)
    minter = running.service.worlds.get("default").world.scenario.catalog.chain("ARB").minter
    paid = wallet.pay()
    data = f"0x{abi.encoded(abi.TRANSFER, minter, 10_000_000).hex()}"
    told = {"to": minter, "value": "5"} if native else {"to": USDT_ARB, "data": data}
    body = {"chain": "ARB", "from": WALLET, "hash": paid, **told}
    wallet.client.control("POST", "/transactions", body)
    amount = "0.000000000000000005 ETH" if native else "10 USDT"
    words = f"{amount} on ARB, {paid}: it was never submitted, and no order"
    assert wallet.told("deposit-without-order").startswith(words)
    finding = wallet.audit()["findings"][0]
    assert finding["transactions"] == [{"chain": "ARB", "hash": paid}]
    wallet.quote()
    wallet.follow(wallet.submit(paid))
    assert wallet.kinds() == (["paid-otherwise"] if native else [])


def test_a_payment_to_somebody_else_is_nothing_of_ours(wallet):
    body = {"chain": "ARB", "from": WALLET, "to": WALLET, "value": "5"}
    wallet.client.control("POST", "/transactions", body)
    assert wallet.kinds() == []


def test_an_order_nobody_asked_for_is_not_followed_once_it_has_moved(wallet):
    wallet.quote()
    order_id = wallet.submit()
    assert wallet.kinds() == []
    wallet.wait("5s")
    assert "nobody has ever looked it up" in wallet.told("order-not-followed")
    wallet.look(order_id)
    assert wallet.kinds() == []
    wallet.wait("1h")
    told = wallet.told("order-not-followed")
    assert "it is Succeeded since" in told
    assert "nobody has looked it up since 2026-01-01T00:00:05Z" in told
    wallet.look(order_id)
    assert wallet.kinds() == []


def test_a_fault_is_known_by_its_kind_and_not_by_its_name(wallet):
    wallet.quote()
    order_id = wallet.submit()
    wallet.wait("1h")
    for kind, more in (("broken-json", {}), ("latency", {"delay": "1s"})):
        assert wallet.kinds() == ["order-not-followed"]
        wallet.fault(kind, operation="checkOrder", id=f"{kind}-truncated-body", **more)
        with suppress(ValueError):
            wallet.look(order_id)
    assert wallet.kinds() == []


def test_an_order_that_moves_by_polls_is_asked_for_to_its_end(wallet):
    wallet.quote()
    order_id = wallet.submit()
    path = f"/orders/{order_id}"
    wallet.client.control("POST", path, {"policy": "polls", "course": "success"})
    assert "waits for" in wallet.told("order-not-followed")
    while wallet.look(order_id) != "Succeeded":
        assert wallet.kinds() == ["order-not-followed"]
    assert wallet.kinds() == []


def test_a_stuck_order_is_left_under_way_by_who_only_looks(wallet):
    wallet.quote()
    paid = wallet.pay()
    order_id = wallet.submit(paid)
    wallet.client.control("POST", f"/orders/{order_id}", {"course": "stuck"})
    wallet.look(order_id)
    wallet.wait("1h")
    assert "somebody looked and gave up" in wallet.told("left-underway")
    assert wallet.look(order_id) == "Pending"
    assert wallet.kinds() == ["left-underway"]
    assert wallet.audit("?asIs=true")["ok"]
    wallet.ticket(paid)
    assert wallet.kinds() == []


@pytest.mark.parametrize("seen", [None, "Refunding", "Refunded"])
def test_a_refund_is_noticed_by_who_looks_until_it_is_there(wallet, seen):
    wallet.quote()
    order_id = wallet.submit()
    wallet.client.control("POST", f"/orders/{order_id}", {"course": "refund"})
    for _ in range(100):
        if seen is None or wallet.look(order_id) == seen:
            break
        wallet.wait("5s")
    wallet.wait("1h")
    if seen == "Refunded":
        assert wallet.kinds() == []
    else:
        told = wallet.told("refund-not-noticed")
        assert f"10 USDT went back to {WALLET} on ARB at 2026-01-01T00:0" in told


def test_a_dropped_order_is_reported_and_its_refund_seen(wallet):
    wallet.quote()
    paid = wallet.pay()
    order_id = wallet.submit(paid)
    wallet.client.control("POST", f"/orders/{order_id}", {"course": "dropped"})
    wallet.wait("1h")
    assert wallet.kinds() == ["order-not-followed"]
    assert wallet.look(order_id) == "Dropped"
    assert "only a ticket" in wallet.told("drop-not-reported")
    ticket = wallet.ticket(paid)
    assert wallet.kinds() == []
    wallet.wait("7d")
    assert wallet.kinds() == ["ticket-not-followed"]
    answer = wallet.client.get("/v1/checkTicket", query={"ticketId": str(ticket)})
    assert answer.data == {"succeeded": True, "solution": "refund"}
    assert wallet.kinds() == []


def test_an_old_quote_is_told_of_by_its_age(wallet):
    wallet.quote()
    wallet.wait("4m")
    wallet.follow(wallet.submit())
    assert wallet.kinds() == []
    assert "4m old" in wallet.audit("?quoteAge=1m")["findings"][0]["told"]
    wallet.quote()
    wallet.wait("2h")
    wallet.follow(wallet.submit())
    assert "a quote that was 2h old" in wallet.told("other-quote")


@pytest.mark.parametrize(
    ("submitted", "words"),
    [
        ({"amount": 12_000_000}, "12 USDT from ARB to BNB: it was never quoted; the nearest quote"),
        ({"toChain": "ETH"}, "from ARB to ETH: it was never quoted; the nearest quote was to BNB"),
    ],
)
def test_what_was_never_quoted_is_told_of_with_the_nearest_quote(wallet, submitted, words):
    wallet.quote()
    wallet.follow(wallet.submit(**submitted))
    assert words in wallet.told("other-quote")


@pytest.mark.parametrize("quoted", [{"channelFeeRate": "30"}, {"extra": "2_30"}, {}])
def test_the_fee_of_a_third_party_is_quoted_where_the_interface_can(serve, quoted):
    wallet = Wallet(serve(dialect="E-09").client)
    wallet.quote(**quoted)
    wallet.follow(wallet.submit(extra="2_30;3_2"))
    if quoted:
        assert wallet.kinds() == []
    else:
        assert "was with a fee of 0 in place of 30" in wallet.told("other-quote")


def test_a_fee_that_the_published_interface_cannot_quote_is_fine(wallet):
    wallet.quote()
    wallet.follow(wallet.submit(extra="2_30;3_2"))
    assert wallet.kinds() == []


def test_an_amount_that_no_quote_said_is_told_of(wallet):
    net = wallet.quote()
    wallet.follow(wallet.submit(extra=f"1_{net + 10**15};3_2"))
    told = wallet.told("other-quote")
    assert told.endswith("no quote was for that")
    assert "the newest quote has 9.694 USDT" in told


def test_an_amount_of_an_older_quote_is_told_of(wallet):
    first = wallet.quote()
    units = {"outAmount": "10000000000000000000", "serviceFee": "0", "gasFee": "500000000000000000"}
    data = {"price": "1", "outAmountUsd": "10", **units}
    stub = {"operation": "getBridgeQuote", "response": {"data": data}, "times": 1}
    wallet.client.control("POST", "/stubs", stub)
    assert wallet.quote() < first
    wallet.follow(wallet.submit(extra=f"1_{first};3_2"))
    assert wallet.told("other-quote").endswith("an older quote was submitted")


def test_who_never_asks_for_a_quote_pays_without_one(wallet):
    wallet.follow(wallet.submit())
    assert "without a quote" in wallet.told("other-quote")


def test_a_deposit_of_a_token_that_is_not_there_has_no_order(wallet):
    certs = certificate(certHash=wallet.pay(), fromIndex="8")
    answer = wallet.client.post(
        "/v1/submitOrder", order(sourceCerts=certs), headers=wallet.client.wallet
    )
    assert answer.refusal
    assert "token-not-on-chain" in wallet.told("deposit-without-order")


def test_every_kind_is_shown_both_ways_here():
    here = Path(__file__)
    shown = here.read_text("utf-8") + (here.parent / "flows/wrong.py").read_text("utf-8")
    assert all(f'"{kind}"' in shown for kind in KINDS)
