from collections import Counter

import pytest

from mockserver.conformance import run
from mockserver.conformance.generation.sequence_stage import FLOWS, sequences
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.verdict import Verdict
from mockserver.testing import running
from tests.conformance.generation.conftest import ARMED, LISTS, options, session_with

FAULTS = [
    ("order-lost", "orders", "v2.checkOrder", "order is lost", Verdict.VIOLATION),
    ("order-ids-reused", "orders", "v2.submitOrder", "id used twice", Verdict.VIOLATION),
    ("order-reopens", "orders", "v2.checkOrder", "final status changes", Verdict.DIFFERS_OBSERVED),
    (
        "order-hash-changes",
        "orders",
        "v2.checkOrder",
        "final execHash changes",
        Verdict.DIFFERS_OBSERVED,
    ),
    ("order-time-goes-back", "orders", "v2.checkOrder", "time goes back", Verdict.DIFFERS_OBSERVED),
    (
        "ticket-not-listed",
        "tickets",
        "v2.getAllTicketByAddress",
        "ticket is lost",
        Verdict.VIOLATION,
    ),
    (
        "ticket-filter-ignored",
        "tickets",
        "v2.getAllTicketByAddress",
        "wrong status",
        Verdict.VIOLATION,
    ),
    ("ticket-id-uncheckable", "tickets", "v2.checkTicket", "ticket is lost", Verdict.VIOLATION),
    (
        "v1-order-not-found",
        "transfers",
        "v1.getOrderDetailByHashAndEvmAddress",
        "transfer is lost",
        Verdict.VIOLATION,
    ),
    (
        "v1-order-for-anyone",
        "transfers",
        "v1.getOrderDetailByHashAndEvmAddress",
        "somebody else's",
        Verdict.VIOLATION,
    ),
    ("quote-of-the-one-before", "reads", "v2.getBridgeQuote", "another quote", Verdict.VIOLATION),
    ("list-shrinks", "reads", "v2.getAssets", "another list", Verdict.DIFFERS_ASSUMPTION),
    (
        "refusal-sticks",
        "reads",
        "v2.getBridgeQuote",
        "refused in between",
        Verdict.DIFFERS_ASSUMPTION,
    ),
    ("order-of-another", "orders", "v2.checkOrder", "another order", Verdict.VIOLATION),
    (
        "chain-tokens-of-the-first",
        "reads",
        "v2.getAssetsByChain",
        "another chain",
        Verdict.VIOLATION,
    ),
]
# Each takes a while: in a quick run one of each machine, and of each way in which memory fails.
# An id that is used twice is found below as well, and the quote of the one before by the example
# of the how-to page.
QUICK = (
    *("order-lost", "order-time-goes-back", "ticket-filter-ignored", "v1-order-for-anyone"),
    "refusal-sticks",
)


def machine(words):
    return tuple(one for one in FLOWS if one.stage.words == words)


def test_a_healthy_service_gives_no_finding(opened, is_deep):
    one = opened(sequences=100 if is_deep else 3, arming=ARMED, budget=50_000)
    found = sequences(one.session, one.options)
    assert found
    assert not [each for each in found if each.verdict.is_finding]
    assert not [each for each in found if each.verdict is Verdict.INCONCLUSIVE]


def test_without_leave_only_reads_are_played(opened):
    one = opened(after=LISTS, sequences=2)
    found = sequences(one.session, one.options)
    assert {each.rule.name for each in found} == {"sequence-of-reads"}
    assert not any(exchange.operation.writes for exchange in one.session.context.exchanges)


@pytest.mark.parametrize(
    ("name", "words", "operation_id", "cause", "verdict"),
    [
        pytest.param(*row, id=row[0], marks=() if row[0] in QUICK else pytest.mark.deep)
        for row in FAULTS
    ],
)
@pytest.mark.deep(quick=2)
def test_a_fault_that_only_sequences_show_is_told_step_by_step(
    opened, name, words, operation_id, cause, verdict
):
    one = opened(name, after=LISTS, sequences=12, arming=ARMED)
    found = sequences(one.session, one.options, machine(words))
    [outcome] = [each for each in found if each.operation.id == operation_id]
    assert outcome.verdict is verdict
    [finding] = [each for each in outcome.findings if each.cause == cause]
    assert "steps: 1. " in finding.message
    assert len(finding.exchanges) >= 2
    assert f"; {len(finding.exchanges)}. " in finding.message


@pytest.mark.deep
def test_a_sequence_is_shrunk_to_the_steps_that_matter(opened):
    one = opened("order-ids-reused", after=LISTS, sequences=12, arming=ARMED)
    found = sequences(one.session, one.options, machine("orders"))
    every = [each for outcome in found for each in outcome.findings]
    [finding] = [each for each in every if each.cause == "id used twice"]
    assert "steps: 1. " in finding.message
    assert [each.operation.id for each in finding.exchanges] == ["v2.submitOrder"] * 2


@pytest.mark.parametrize("seed", range(1, 9))
@pytest.mark.parametrize(
    "effort",
    [
        {"sequences": 1, "arming": ARMED},
        # Most of these sequences may submit nothing, and look up what others submitted.
        {"sequences": 12, "examples": 25, "arming": Arming(writes=True, most=12)},
    ],
)
@pytest.mark.deep(quick=3)
def test_each_sequence_comes_to_everything_that_it_is_about(opened, seed, effort):
    one = opened(after=LISTS, seed=seed, **effort)
    assert {each.id: each.verdict for each in sequences(one.session, one.options)} == {
        f"{flow.stage.name}[{operation}]": Verdict.HOLDS
        for flow in FLOWS
        for operation in flow.stage.operations
    }


def test_equal_seeds_play_equal_sequences(opened, is_deep):
    sent = []
    for _ in range(2):
        one = opened(after=LISTS, sequences=3 if is_deep else 2, seed=5, arming=ARMED)
        sequences(one.session, one.options)
        sent.append(
            [(e.probe, e.request.query, e.request.body) for e in one.session.context.exchanges]
        )
    assert sent[0] == sent[1]


def test_submissions_respect_the_cap(opened):
    one = opened(after=LISTS, sequences=20, arming=Arming(writes=True, most=5), only=("stateful",))
    found = sequences(one.session, one.options)
    submitted = [each for each in one.session.context.exchanges if each.operation.writes]
    assert len(submitted) == 5
    assert not [each for each in found if each.verdict.is_finding]
    assert any("the cap of 5 submissions" in each.reason for each in found)


def test_the_budget_ends_it_without_a_finding(counting):
    some = options(sequences=20, budget=60, arming=ARMED)
    with session_with(counting.url, some, after=()) as one:
        found = sequences(one.session, one.options)
        assert one.transport.count <= 60
    assert not [each for each in found if each.verdict.is_finding]


def test_refusals_only_are_vacuous_or_not_run(counting):
    with session_with(counting.url, options(sequences=3, arming=ARMED), after=()) as one:
        found = sequences(one.session, one.options)
        assert counting.arrived == one.transport.sent
    assert {each.verdict for each in found} <= {Verdict.VACUOUS, Verdict.NOT_RUN}


def judged_checks(**options):
    with running(clock="frozen", refusals="allow") as mock:
        result = run(mock.url, **options)
    return {
        one.id for one in result.outcomes if one.verdict is Verdict.HOLDS or one.verdict.is_finding
    }


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "armed", [{"arm_writes": True, "sequences": 12}, pytest.param({}, id="reading")]
)
@pytest.mark.deep
def test_more_effort_never_judges_fewer_checks(seed, armed):
    leave = {"seed": seed, "arm_writes": "arm_writes" in armed}
    efforts = [{"examples": 0}, {}, {"examples": 4}, {"examples": 25, **armed}]
    least, usual, more, most = (judged_checks(**{**leave, **effort}) for effort in efforts)
    assert least < usual <= more <= most


def test_short_sequences_are_part_of_a_run_with_submissions():
    def sent(**options):
        with running(clock="frozen", refusals="allow") as mock:
            only = "sequence-of-tickets"
            result = run(mock.url, only=only, edges=False, delivery=False, **options)
        return sum(exchange.probe.stage == "tickets" for exchange in result.exchanges)

    assert sent(arm_writes=True) >= 6
    assert sent() == sent(arm_writes=True, sequences=0) == 0
    # Who wants nothing of chance gets no sequences either.
    assert sent(arm_writes=True, examples=0) == 0


@pytest.mark.parametrize("options", [{}, {"arm_writes": True}])
@pytest.mark.deep(quick=1)
def test_the_usual_budget_has_room_for_every_stage(options):
    with running(clock="auto", refusals="allow") as mock:
        result = run(mock.url, **options)
    generated = Counter(
        exchange.operation.id
        for exchange in result.exchanges
        if exchange.probe.stage == "generated"
    )
    sent_to = [operation for operation in result.contract if options or not operation.writes]
    assert {generated[operation.id] for operation in sent_to} == {2}
    assert not [one for one in result.outcomes if "budget" in one.reason]
