"""Requests carry a fixed time where the service takes it, and the current one where it does not."""

from dataclasses import replace

import pytest

from mockserver.clock import wall_ms
from mockserver.conformance.options import Options
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.permit import Limits, Permit
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.session import Session
from mockserver.conformance.session.target import Target
from mockserver.conformance.session.transport import Transport
from mockserver.contract import load
from mockserver.testing import running
from mockserver.times_and_durations import EXAMPLE_START_MS
from tests.conformance.rawserver import http, raw_server, saying
from tests.conformance.report.pack import judged

CONTRACT = load()
QUOTE = "v1.getCrossChainQuote"
OK = b'{"code":0,"data":{},"msg":"success","status":0}'


def stamps(result):
    """Return the times of the v1 requests that carry one, in milliseconds."""
    headers = [one.request.headers for one in result.exchanges if one.operation.id == QUOTE]
    return [int(one["timestamp"]) for one in headers]


@pytest.fixture(scope="module")
def standing():
    with running(clock="frozen", refusals="allow") as mock:
        yield mock.world().base_url


@pytest.fixture(scope="module")
def current():
    with running(clock="real", refusals="allow") as mock:
        yield mock.world().base_url


def succeeded(result):
    return any(one.succeeded for one in result.exchanges if one.probe == f"{QUOTE}/usual")


def test_where_the_fixed_time_is_taken_runs_are_equal(standing):
    runs = [judged(standing) for _ in range(2)]
    sent = [[(e.request.headers.items_sent, e.request.body) for e in run.exchanges] for run in runs]
    assert sent[0] == sent[1]
    assert set(stamps(runs[0])) == {EXAMPLE_START_MS}
    assert succeeded(runs[0])


def test_where_it_is_refused_the_current_one_is_sent(current):
    result = judged(current)
    first, *later = stamps(result)
    assert first == EXAMPLE_START_MS
    assert all(abs(one - wall_ms()) < 60_000 for one in later)
    assert succeeded(result)


def test_a_fixed_time_stays_whatever_comes(current):
    result = judged(current, Options(caller=Caller(fixed_time=True)))
    assert set(stamps(result)) == {EXAMPLE_START_MS}
    assert not succeeded(result)


def test_an_own_account_begins_with_the_current_time(current):
    result = judged(current, Options(caller=Caller(own_keys=True)))
    assert all(abs(one - wall_ms()) < 60_000 for one in stamps(result))
    assert succeeded(result)


def test_a_refusal_for_another_reason_is_tried_twice_at_most(standing):
    odd = replace(Caller(), expire_ms=-1)
    result = judged(standing, Options(caller=odd))
    usual = [one for one in result.exchanges if one.probe == f"{QUOTE}/usual"]
    assert len(usual) == 2
    assert stamps(result)[-1] == EXAMPLE_START_MS


def test_a_refusal_for_a_new_reason_shows_that_the_current_time_is_taken():
    """Else all of v1 would be refused for its time where one quote is refused for its amount."""
    with running(clock="real", refusals="allow", breaks=("v1-amount-in-millionths",)) as mock:
        result = judged(mock.url)
    first, now, past, *later = stamps(result)
    assert (first, past) == (EXAMPLE_START_MS, 946_684_800_000)
    assert all(abs(one - wall_ms()) < 60_000 for one in (now, *later))
    assert not any(one.succeeded for one in result.exchanges if one.probe == f"{QUOTE}/usual")


def test_a_refusal_for_a_new_reason_may_be_that_of_the_current_time():
    with running(clock="auto", refusals="allow", breaks=("v1-amount-in-millionths",)) as mock:
        result = judged(mock.url)
    first, _, _, *later = stamps(result)
    assert {first, *later} == {EXAMPLE_START_MS}


def asked_at(now, draft):
    """Return the headers of a request that leaves at a time, in a run by the current one."""
    context = RunContext(CONTRACT)
    context.now = lambda: now
    with raw_server(saying(http(OK))) as server:
        target = Target(server.url, server.url)
        with Transport(target, Permit(CONTRACT, target), Limits()) as transport:
            session = Session(transport, context)
            return session.ask(f"{QUOTE}/made before", draft).request.headers


DRAFT = Draft(body={"fromAmount": 10, "token": "USDT"})
MADE = 1_790_000_000_000


def test_a_request_that_was_made_before_leaves_with_the_time_at_which_it_leaves():
    caller = Caller(timestamp_ms=MADE)
    sent = asked_at(MADE + 90_000, caller.sign_v1(DRAFT))
    fresh = replace(caller, timestamp_ms=MADE + 90_000).sign_v1(DRAFT)
    assert sent["timestamp"] == str(MADE + 90_000)
    assert sent["signature"] == fresh.headers["signature"]


@pytest.mark.parametrize(
    "change",
    [
        {"timestamp": str(MADE - 3_600_000)},
        {"signature": "0" * 64},
        {"timestamp": "soon"},
        {"appKey": "nobody"},
    ],
    ids=str,
)
def test_what_was_tried_on_purpose_leaves_as_it_was_made(change):
    signed = Caller(timestamp_ms=MADE).sign_v1(DRAFT)
    draft = replace(signed, headers={**signed.headers, **change})
    sent = asked_at(MADE + 90_000, draft)
    assert {name: sent[name] for name in draft.headers} == draft.headers


def test_an_hour_ago_stays_an_hour_ago_though_it_is_signed():
    draft = Caller(timestamp_ms=MADE - 3_600_000).sign_v1(DRAFT)
    assert asked_at(MADE, draft)["timestamp"] == str(MADE - 3_600_000)
