"""What an audit makes of worlds that were turned back, copied, emptied or flooded."""

import time
from dataclasses import replace

import pytest
from hypothesis import given, strategies

from mockserver import limits
from mockserver.engine.orders import OrderGeneration, OrderKind
from mockserver.engine.submission import OrderRequest
from mockserver.worlds.audit import judge
from tests.audit.wallets import Wallet
from tests.conftest import WALLET, Client, costly, v1_submission

JSON = strategies.recursive(
    strategies.none() | strategies.integers() | strategies.text(max_size=9),
    lambda inner: strategies.dictionaries(strategies.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture
def wallet(mock: Client) -> Wallet:
    return Wallet(mock)


def in_world(wallet: Wallet, key: str) -> Wallet:
    """Return the same wallet in another world."""
    return replace(wallet, client=replace(wallet.client, prefix=f"/w/{key}", _connection=None))


def test_what_a_revert_has_undone_is_no_loss(wallet):
    wallet.client.control("POST", "/snapshots", {"name": "before"})
    for turn in range(3):
        wallet.quote()
        wallet.submit()
        wallet.wait("1h")
        assert wallet.kinds() == ["order-not-followed"], turn
        wallet.client.control("POST", "/revert", {"name": "before"})
        assert wallet.kinds() == []
    wallet.quote()
    wallet.wait("1h")
    wallet.follow(wallet.submit())
    assert wallet.kinds() == ["other-quote"]


def test_what_was_before_a_snapshot_still_counts_after_a_revert(wallet):
    wallet.quote()
    first = wallet.submit()
    wallet.client.control("POST", "/snapshots", {"name": "one"})
    wallet.submit()
    wallet.client.control("POST", "/snapshots", {"name": "two"})
    wallet.client.control("POST", "/revert", {"name": "two"})
    wallet.client.control("POST", "/revert", {"name": "one"})
    wallet.wait("1h")
    (finding,) = wallet.audit()["findings"]
    assert (finding["kind"], finding["orders"]) == ("order-not-followed", [first])


def test_a_copy_is_asked_only_for_what_came_to_it(wallet):
    wallet.quote()
    wallet.submit()
    wallet.wait("1h")
    wallet.client.control("POST", "/fork", {"to": "copy-of-the-audit"})
    copy = in_world(wallet, "copy-of-the-audit")
    assert (copy.audit()["judged"], copy.kinds()) == (0, [])
    copy.quote()
    copy.submit()
    copy.wait("1h")
    assert copy.kinds() == ["order-not-followed"]
    copy.client.control("POST", "/load", copy.client.control("GET", "/dump"))
    assert copy.kinds() == []
    copy.client.control("DELETE", "/worlds/copy-of-the-audit")
    copy.client.close()


def test_after_a_reset_everything_counts_again(wallet):
    wallet.submit()
    wallet.wait("1h")
    wallet.client.control("POST", "/reset", {})
    told = wallet.audit()
    assert (told["ok"], told["findings"], told["judged"], told["unjudged"]) == (False, [], 0, 0)
    assert "1 request before a reset" in told["ground"]["missing"]
    wallet.quote()
    wallet.submit()
    wallet.wait("1h")
    assert wallet.kinds() == ["order-not-followed"]


def test_an_emptied_journal_leaves_orders_that_nobody_can_judge(wallet):
    order_id = wallet.submit()
    wallet.follow(order_id)
    wallet.client.control("DELETE", "/journal")
    told = wallet.audit()
    assert (told["ok"], told["judged"], told["unjudged"]) == (False, 0, 1)
    wallet.look(order_id)
    assert wallet.audit()["judged"] == 1


def test_what_a_stub_answers_is_no_order(wallet):
    stub = {"operation": "submitOrder", "response": {"data": {"id": "7"}}}
    wallet.client.control("POST", "/stubs", stub)
    assert wallet.submit() == "7"
    assert wallet.kinds() == []


def test_who_was_told_the_end_by_a_stub_has_heard_it(wallet):
    wallet.quote()
    order_id = wallet.submit()
    end = {"status": "Succeeded", "timestamp": 1, "execHash": "", "reason": "", "amountOut": "1"}
    stub = {"operation": "checkOrder", "response": {"data": end}}
    wallet.client.control("POST", "/stubs", stub)
    wallet.follow(order_id)
    assert wallet.kinds() == []


def test_the_first_generation_is_judged_alike(wallet):
    client = wallet.client
    body = {"amount": 10, "fromChain": "ARB", "toChain": "BSC", "token": "USDT", "feeLevel": 0}
    quote = client.post("/open/v1/order/getCrossChainQuote", body, headers=client.keys)
    assert quote.data["crossChain"]["tokenIn"] == "USDT"
    submission = v1_submission(fromChain="ARB", certHash=wallet.pay(), feeLevel=3)
    answer = client.post("/open/v1/order/submitCrossChain", submission, headers=client.keys)
    assert "with a fee of 0 in place of 3" in wallet.told("other-quote")
    wallet.wait("10s")
    wanted = {"chain": "ARB", "hash": submission["certHash"], "evmAddress": WALLET}

    def look() -> int:
        path = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
        client.timestamp = client.control("GET", "/clock")["ms"]
        return int(client.get(path, query=wanted, headers=client.keys).data["order"]["status"])

    assert look() == 1
    wallet.wait("1h")
    assert wallet.kinds() == ["order-not-followed", "other-quote"]
    assert answer.data["sn"] in wallet.audit()["findings"][0]["told"]
    assert look() == 2
    assert wallet.kinds() == ["other-quote"]


def test_a_refund_of_the_first_generation_is_seen_with_its_transaction(wallet):
    client = wallet.client
    submission = v1_submission(fromChain="ARB", certHash=wallet.pay())
    answer = client.post("/open/v1/order/submitCrossChain", submission, headers=client.keys)
    client.control("POST", f"/orders/{answer.data['sn']}", {"course": "refund"})
    wallet.wait("1h")
    assert wallet.kinds() == ["refund-not-noticed", "other-quote"]
    client.timestamp = client.control("GET", "/clock")["ms"]
    wanted = {"chain": "ARB", "hash": submission["certHash"], "evmAddress": WALLET}
    path = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
    assert client.get(path, query=wanted, headers=client.keys).data["order"]["backHash"]
    assert wallet.kinds() == ["other-quote"]


@costly(30, 300)
@given(body=JSON, certs=JSON)
def test_nothing_that_is_sent_breaks_an_audit(shared_wallet, body, certs):
    client = shared_wallet.client
    for told in (body, {"sourceCerts": certs, "certHash": certs, "fromChain": "ARB"}):
        for path in ("/v1/submitOrder", "/open/v1/order/submitCrossChain"):
            client.post(path, told, headers={**client.wallet, **client.keys})
    assert set(shared_wallet.kinds()) <= {"deposit-without-order", "other-quote"}


@pytest.fixture(scope="module")
def shared_wallet():
    from tests.conftest import frozen, running  # noqa: PLC0415

    with running(frozen()) as started:
        yield Wallet(started.client)


def test_ten_thousand_orders_and_a_full_journal_cost_a_bounded_time(serve):
    running = serve()
    wallet, hosted = Wallet(running.client), running.service.worlds.get("default")
    for _ in range(limits.JOURNAL.most // 4):
        wallet.quote()
        wallet.submit()
    source, target = hosted.world.scenario.catalog.ends("USDT", "ARB", "BNB")
    first = OrderRequest(
        OrderGeneration.V2, OrderKind.BRIDGE, source, target, 10**7, WALLET, WALLET, ""
    )
    for number in range(limits.AUDITED.most):
        hosted.world.orders.submit(replace(first, cert_hash=f"0x{number:064x}"))
    wallet.wait("1h")
    begun = time.process_time()
    told = judge(hosted)
    took = time.process_time() - begun
    assert len(told) == limits.FINDINGS.most
    assert len(told) + told.more == limits.AUDITED.most
    assert (told.judged, told.unjudged) == (limits.AUDITED.most, limits.JOURNAL.most // 4)
    assert took < 10
    assert str(told).endswith("are no longer kept")
