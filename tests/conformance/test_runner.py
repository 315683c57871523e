"""A run: what is sent of a plan where the budget does not suffice."""

import gc
import json
import weakref
from contextlib import suppress
from decimal import Decimal
from urllib.request import urlopen

import pytest

from mockserver import conformance
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.options import Options, with_generation
from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.permit import Limits, Permit, Refusing
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.session import Session
from mockserver.conformance.session.target import Target
from mockserver.conformance.session.transport import Transport
from mockserver.conformance.verdict import Severity, Verdict
from mockserver.contract import Layer, fact_basis, load
from mockserver.testing import running

CONTRACT = load()


def probe(words, stage=Stage.READS, **values):
    return Probe(f"v2.getChain/{words}", lambda context: Draft(), stage=stage, **values)


FIRST = probe("usual", Stage.LISTS)
SPARE = probe("in need", conditional=True)
PLANNED = probe("planned")
LAST = probe("last look", Stage.LAST_LOOK)


def anything(context, operation):
    """Hold always."""
    yield from ()


def sent(budget, *probes):
    asks = Rule(
        "anything",
        anything,
        Layer.CROSS,
        Severity.MINOR,
        fact_basis("interface.envelopes"),
        operations=("v2.getChain",),
        probes=tuple(one.name for one in probes),
    )
    with running() as mock:
        target = Target(mock.url, mock.url)
        result = run(target, Options(budget=budget), rules=[asks], probes=probes)
    return [one.probe.partition("/")[2] for one in result.exchanges], result


def test_everything_is_sent_where_there_is_room():
    names, result = sent(4, FIRST, SPARE, PLANNED, LAST)
    assert names == ["usual", "in need", "planned", "last look"]
    assert not result.notes


def test_the_last_look_at_the_lists_is_not_given_up():
    names, result = sent(3, FIRST, SPARE, PLANNED, LAST)
    assert names == ["usual", "in need", "last look"]
    [note] = result.notes
    assert "kept for the last look" in note
    assert result.unsent["v2.getChain/planned"] == note


def test_what_is_sent_in_need_only_is_given_up_without_a_note():
    names, result = sent(3, FIRST, PLANNED, SPARE, LAST)
    assert names == ["usual", "planned", "last look"]
    assert "kept for the last look" in result.unsent["v2.getChain/in need"]
    assert not result.notes


def test_a_run_waits_for_orders_as_long_as_its_patience_lasts():
    with running(clock="scaled:60") as mock:
        result = conformance.run(
            mock.url, arm_writes=True, patience="6s", only=["success-has-a-hash"]
        )
    [outcome] = result.outcomes
    assert outcome.verdict is Verdict.HOLDS, outcome.reason


def test_more_patience_is_spread_over_all_looks():
    """An order of 15 s is done before a minute is over, which six looks in six seconds miss."""
    waited = []

    class Waiting(Transport):
        def wait(self, ms):
            waited.append(ms)

    target = Target("http://127.0.0.1:9", "http://127.0.0.1:9")
    with Waiting(target, Permit(CONTRACT, target), Limits(rate=Decimal(1_000_000))) as transport:
        session = Session(transport, RunContext(CONTRACT), patience_ms=60_000)
        for _ in range(10):
            with suppress(Refusing):
                session.ask("v2.getChain/usual", Draft(), wait_ms=1_000)
    assert waited == [1_000, 2_000, 4_000, 8_000, 16_000, 29_000, 0, 0, 0, 0]


@pytest.fixture
def waited(monkeypatch):
    """The times that runs wait, in milliseconds, each of which is over at once."""
    waited: list[int] = []
    monkeypatch.setattr(Transport, "wait", lambda _, ms: waited.append(ms))
    return waited


@pytest.mark.parametrize("patience", ["0s", None])
def test_a_run_without_patience_does_not_wait(patience, waited):
    """By itself it has none with the mock."""
    with running(clock="real") as mock:
        result = conformance.run(
            mock.url, arm_writes=True, patience=patience, only=["success-has-a-hash"]
        )
    [outcome] = result.outcomes
    assert outcome.verdict is Verdict.VACUOUS
    assert max(waited, default=0) < 1_000, "no longer than the rate asks for"


def test_a_run_waits_for_what_is_not_settled(waited):
    with running(clock="real") as mock:
        conformance.run(mock.url, arm_writes=True, patience="1s", only=["success-has-a-hash"])
    assert max(waited) >= 900


def test_a_run_does_not_wait_for_what_is_settled(waited):
    """The world's own clock is moved on by each look."""
    with running(clock="auto") as mock:
        conformance.run(mock.url, arm_writes=True, patience="1h", only=["success-has-a-hash"])
    assert sum(waited) < 60_000, "an hour is given"


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.deep(quick=1)
def test_a_reading_run_needs_no_more_than_its_budget(seed):
    """Also where requests are asked again: for their time, for a price, for a larger amount."""
    with running(clock="real") as mock:
        result = conformance.run(mock.url, seed=seed, edges=False, delivery=False, examples=0)
    assert not result.notes
    assert len(result.exchanges) <= 214


HERE, ELSEWHERE = Target("http://127.0.0.1:1", None), Target("http://example.com", None)


@pytest.mark.parametrize(
    ("target", "options", "most"),
    [
        (HERE, Options(), 1_000),
        # Each further example has eight requests for tokens on chains, of which there are 1,400,
        # and eight for further values of inputs, of which there are 800.
        (HERE, Options(examples=25), 1_000 + 19 * 23 + 1_400 + 800),
        (HERE, Options(probes=("",) * 3), 1_003),  # type: ignore[arg-type]
        (ELSEWHERE, Options(), 214),
    ],
)
def test_a_run_that_submits_nothing_has_a_bound_of_its_own(target, options, most):
    wanted = options.examples or None
    assert with_generation(options, target, examples=wanted).limits(target).budget == most


@pytest.mark.parametrize("budget", [60, pytest.param(110, marks=pytest.mark.deep)])
def test_where_the_budget_is_short_each_operation_has_a_generated_request(budget):
    """As on a busy machine, where what was late is asked again."""
    stages = ("same-answer-in-every-delivery", "generated-requests")
    with running() as mock:
        result = conformance.run(mock.url, only=stages, edges=False, examples=2, budget=budget)
    assert len(result.exchanges) == budget
    generated = [one.operation.id for one in result.exchanges if one.probe.stage == "generated"]
    assert len(set(generated)) == sum(not one.writes for one in result.contract)
    held = [
        one
        for one in result.outcomes
        if (one.rule.name, one.verdict) == ("generated-requests", Verdict.HOLDS)
    ]
    assert len(held) == len(set(generated))


@pytest.mark.deep
def test_a_reading_run_on_a_busy_machine_keeps_its_bound(wall_time):
    """Answers are late by chance: what was late is asked again, and others are left out for it."""
    late = {"kind": "latency", "delay": "700ms", "probability": 0.2}
    late["operation"] = "v2.getAssetsByChain"
    with running(clock="real") as mock:
        urlopen(f"{mock.url}/__mock/faults", json.dumps(late).encode(), timeout=60).close()
        result = conformance.run(mock.url)
    assert any("slower than its kind" in one.probe for one in result.exchanges)
    assert 990 <= len(result.exchanges) <= 1_000
    assert not [one.id for one in result.outcomes if one.verdict is Verdict.NOT_RUN]


def test_nothing_of_a_run_stays_in_memory_once_its_result_is_gone():
    with running() as mock:
        result = conformance.run(mock.url, edges=False, examples=2)
    first = weakref.ref(result.exchanges[0])
    del result
    gc.collect()
    assert first() is None
