"""Good requests are taken as published, and lists show what requests take: told both ways."""

import pytest

from mockserver.conformance import run as run_named
from mockserver.conformance.options import Options
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Answer, NoAnswer
from mockserver.conformance.session.permit import Arming, Limits, Permit, Refusing
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.session import Session
from mockserver.conformance.session.target import Target, target_of
from mockserver.conformance.session.transport import Transport
from mockserver.conformance.verdict import Verdict
from tests.blind.service_six import catalogue
from tests.blind.service_six.counting import service_six
from tests.conformance.exchanges import CONTRACT, JSON_HEADERS, answer, by_probe, healthy_exchanges
from tests.conformance.pack import broken, conform, data_of, found, named, rejudged

VIOLATION, ASSUMED = Verdict.VIOLATION, Verdict.DIFFERS_ASSUMPTION
SWAP, V1_QUOTE = "v2.getAggregateSwap", "v1.getCrossChainQuote"
ORDER, TICKETS = "v2.submitOrder", "v2.getAllTicketByAddress"
CHECK_TICKET = "v2.checkTicket"


@pytest.mark.parametrize(
    ("fault", "rule", "operation"),
    [
        ("swap-slippage-of-100-refused", "published-forms-are-taken", SWAP),
        ("swap-wants-route-summary", "published-forms-are-taken", SWAP),
        ("swap-of-two-tokens", "call-is-for-the-amount", SWAP),
        (
            "aggregate-quote-not-for-get",
            "documented-operations-are-served",
            "v2.getAggregateQuote",
        ),
        ("v1-amount-without-fraction", "published-forms-are-taken", V1_QUOTE),
        ("chain-token-without-decimals", "every-token-is-complete", "v2.getAssetsByChain"),
        ("token-indexes-shared", "one-index-is-one-token", "v2.getAssets"),
    ],
)
def test_a_break_of_reads_is_told(server, fault, rule, operation):
    with broken(server, fault) as url:
        # With the first seed the quote of the usual swap has no routeSummary.
        result = conform(url, seed=1, rules=named(rule))
    outcome = found(result)[f"{rule}[{operation}]"]
    assert outcome.verdict is outcome.rule.basis.kind.contradicted
    assert outcome.verdict in (VIOLATION, ASSUMED)


@pytest.mark.parametrize(
    ("fault", "rule", "operation"),
    [
        ("order-wants-extra", "published-forms-are-taken", ORDER),
        ("ticket-listed-twice", "each-ticket-is-listed-once", TICKETS),
        (
            "v1-order-on-any-chain",
            "v1-orders-are-of-their-chain",
            "v1.getOrderDetailByHashAndEvmAddress",
        ),
    ],
)
def test_a_break_of_submissions_is_told(server, fault, rule, operation):
    with broken(server, fault) as url:
        result = conform(url, armed=True, rules=named(rule))
    outcome = found(result)[f"{rule}[{operation}]"]
    assert outcome.verdict is outcome.rule.basis.kind.contradicted
    assert outcome.verdict in (VIOLATION, ASSUMED)


@pytest.mark.parametrize("fault", ["swap-slippage-of-100-refused", "v1-amount-without-fraction"])
def test_other_forms_are_asked_only_where_the_published_one_is_refused(server, fault):
    rules = named("published-forms-are-taken")
    healthy = [one.probe for one in conform(server.world().base_url, rules=rules).exchanges]
    with broken(server, fault) as url:
        asked = [one.probe for one in conform(url, rules=rules).exchanges]
    assert not [name for name in healthy if "other" in name and "reading" not in name]
    assert [name for name in asked if "other" in name or "fraction" in name]


REFUSED = answer({"code": 7, "msg": "no", "data": {}})


def test_a_refusal_alone_proves_nothing():
    told = rejudged({f"{SWAP}/usual": REFUSED}, named("published-forms-are-taken"))
    assert not told[f"published-forms-are-taken[{SWAP}]"].verdict.is_finding


def test_an_order_without_target_chain_is_refused_for_that_alone():
    rules = named("orders-need-no-target-chain")
    told = rejudged({f"{ORDER}/without optional inputs": REFUSED}, rules)
    assert [one.verdict for one in told.values()] == [VIOLATION]
    both = {f"{ORDER}/without optional inputs": REFUSED, f"{ORDER}/aggregate": REFUSED}
    assert [one.verdict for one in rejudged(both, rules).values()] == [Verdict.VACUOUS]


def test_a_type_of_order_is_refused_like_one_that_there_is_not():
    rules = named("aggregate-orders-are-a-type")
    kind = answer({"code": 8, "msg": "orderType '2' is unknown", "data": {}})
    like = answer({"code": 8, "msg": "orderType '3' is unknown", "data": {}})
    answers = {f"{ORDER}/aggregate": kind, f"{ORDER}/orderType unknown": like}
    others = {f"{ORDER}/sourceCerts no hex": REFUSED, f"{ORDER}/toIndex unlisted": REFUSED}
    told = rejudged({**answers, **others}, rules)
    assert [one.verdict for one in told.values()] == [VIOLATION]
    alike = {**answers, f"{ORDER}/sourceCerts no hex": kind, f"{ORDER}/toIndex unlisted": kind}
    assert [one.verdict for one in rejudged(alike, rules).values()] == [Verdict.VACUOUS]


def test_a_ticket_that_reopens_is_told_as_an_assumption():
    solved = {**data_of(f"{CHECK_TICKET}/at the end"), "succeeded": True}
    again = {f"{CHECK_TICKET}/at the end again": {**solved, "succeeded": False}}
    told = rejudged(
        {f"{CHECK_TICKET}/at the end": solved, **again}, named("solved-tickets-stay-solved")
    )
    assert [one.verdict for one in told.values()] == [ASSUMED]


def test_a_refused_report_that_is_listed_is_told():
    late = next(
        f"{TICKETS}/late {kind}"
        for kind in ("Unknown", "Pending", "Succeeded")
        if data_of(f"{TICKETS}/late {kind}")["list"]
    )
    items = data_of(late)["list"]
    odd = by_probe(healthy_exchanges())["v2.submitTicket/chain unlisted"]
    reported = odd.members["hash"]
    more = {late: {"list": [*items, {**items[0], "ticketId": 987, "hash": reported}]}}
    rules = named("refused-tickets-are-not-kept")
    assert [one.verdict for one in rejudged(more, rules).values()] == [VIOLATION]


class _Hanging(Transport):
    """A transport in front of operations some of which never answer."""

    def __init__(self, *paths):
        target = target_of("http://127.0.0.1:1")
        super().__init__(target, Permit(CONTRACT, target), Limits())
        self.paths = paths

    def send(self, generation, request, leaving=None):
        if request.path in self.paths:
            return Answer(0, trouble=NoAnswer.TIMED_OUT, reason="timed out")
        return Answer(200, JSON_HEADERS, b'{"code":0,"msg":"","data":{}}')

    def wait(self, ms):
        raise AssertionError("nothing asks to wait")


def _ask(session, operation_id, times=1):
    for number in range(times):
        session.ask(f"{operation_id}/{number}", Draft())


def test_an_operation_that_hangs_is_given_up_and_no_other():
    session = Session(_Hanging("/v1/getPrice"), RunContext(CONTRACT))
    _ask(session, "v2.getPrice", 2)
    with pytest.raises(Refusing, match=r"v2\.getPrice did not answer 2 times"):
        _ask(session, "v2.getPrice")
    _ask(session, "v2.getChain", 3)


def test_a_generation_is_given_up_once_three_operations_hang_in_a_row():
    hanging = _Hanging("/v1/getPrice", "/v1/getBalance", "/v1/getAssets")
    session = Session(hanging, RunContext(CONTRACT))
    for name in ("getPrice", "getBalance", "getAssets"):
        _ask(session, f"v2.{name}")
    with pytest.raises(Refusing, match="did not answer in time"):
        _ask(session, "v2.getChain")
    _ask(session, "v1.getSupportChains")


def test_an_answer_in_between_keeps_the_generation():
    session = Session(
        _Hanging("/v1/getPrice", "/v1/getBalance", "/v1/getAssets"), RunContext(CONTRACT)
    )
    for name in ("getPrice", "getBalance", "getChain", "getAssets", "getChain"):
        _ask(session, f"v2.{name}")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_long_and_foreign_texts_are_sent_whatever_the_seed(server, seed):
    url = server.world().base_url
    result = run(Target(url, url), Options(seed=seed, arming=Arming()))
    sent = [one.request.query for one in result.exchanges if one.probe.endswith("/hostile text")]
    assert any("A" * 2048 in query for query in sent)
    assert any("%E6%BC%A2" in query for query in sent)
    assert len(result.exchanges) <= 214
    assert not result.notes


@pytest.mark.parametrize(
    ("flaw", "is_told"),
    [
        (catalogue.flaw("tickets-sent-twice-by-the-gateway"), True),
        (catalogue.flaw(None, "tickets-are-made-anew-each-time"), False),
    ],
)
def test_no_more_tickets_are_listed_than_were_sent(flaw, is_told):
    rule = "each-ticket-is-listed-once"
    with service_six(flaw) as url:
        result = run_named(url, only=rule, arm_writes=True, examples=0)
    (outcome,) = [one for one in result.outcomes if one.rule.name == rule]
    assert outcome.verdict is (ASSUMED if is_told else Verdict.HOLDS)
    for finding in outcome.findings:
        assert "2 tickets are listed about a transaction that was reported once" in finding.message
