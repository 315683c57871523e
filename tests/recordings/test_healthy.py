"""Healthy services: nothing of the contract is masked, recordings are judged like the service that
was recorded, and answer as it did."""

import http.client
from collections import Counter

import pytest

from mockserver.conformance import RunOptions, Verdict, run
from mockserver.conformance.runs.offline import run_recorded
from mockserver.conformance.runs.option_reading import options_of
from mockserver.conformance.session.target import target_of
from mockserver.http_messages import Headers, Request, Response
from mockserver.recordings import RecordedExchange, gather, load_folder
from mockserver.recordings.redaction import Redactor
from tests.blind.serve import blind_service
from tests.blind.tour import Tour, examples, request_of
from tests.conftest import frozen, running
from tests.recordings.conftest import recording
from tests.secrets_corpus.healthy import FLOWS, Healthy

EXAMPLES = [example for example in examples() if not example.headers]
# Four flows at once, in the first of which are the rate limits that were once taken for secrets.
TOGETHER = [FLOWS[at::14] for at in (1, 0, *range(2, 14))]
CONFORM: RunOptions = {"edges": False, "arm_writes": True, "examples": 0, "delivery": False}
# What these ask is no operation of the service, and not recorded.
UNRECORDED = {"unknown-path-is-no-success", "wrong-method-is-no-success"}


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
@pytest.mark.deep(quick=12)
def test_nothing_of_the_contract_is_masked(flow: Healthy, is_deep: bool):
    tour, redactor = Tour(variations=[flow.row()]), Redactor()
    for example in EXAMPLES if is_deep else EXAMPLES[:60]:
        method, target, headers, body = request_of(example)
        path, _, query = target.partition("?")
        request = Request(method, path, query, Headers([*headers.items(), *flow.request]), body)
        for answer in tour.send(example):
            response = Response(answer.status, tuple(answer.headers.items()), answer.encoded())
            made = RecordedExchange("healthy", example.operation, request, response, "captured")
            kept = redactor.exchange(made)
            assert (kept.request.target, kept.request.body) == (target, body)
            assert kept.response.body == response.body


def ask(port: int, example, more=()):
    method, target, headers, body = request_of(example)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, target, body=body or None, headers={**headers, **dict(more)})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return content


@pytest.mark.parametrize("part", [0, 1], ids=["half", "other half"])
def test_through_the_recorder_every_body_stays(record, part):
    # A client of Python takes no more than a hundred headers.
    flows = FLOWS[part::2]
    rows = [flow.row() for flow in flows if flow.answer]
    sent = [header for flow in flows for header in flow.request]
    with blind_service(rows=rows) as url:
        recorder = record("--arm-writes", url=url)
        came = [ask(recorder.port, example, sent) for example in EXAMPLES[part:40:2]]
    kept = [one.response.body for file in load_folder(recorder.folder) for one in file.exchanges]
    assert sorted(kept) == sorted(came)


@pytest.mark.parametrize(
    "flows", TOGETHER, ids=lambda flows: ", ".join(flow.name for flow in flows)
)
@pytest.mark.deep(quick=1)
def test_a_recording_is_judged_as_the_service_was_and_answers_as_it_did(
    flows: list[Healthy], tmp_path
):
    sent = [header for flow in flows for header in flow.request]
    kept = tmp_path / "kept"
    options = ("--out", str(kept), "--arm-writes")
    with blind_service(rows=[flow.row() for flow in flows if flow.answer]) as url:
        with recording(*options, "--upstream-v1", url, "--upstream-v2", url) as (port, proxy):
            base = f"http://127.0.0.1:{port}"
            lived = run(base, **CONFORM)
            # What a client of a flow sends besides is kept, and told apart, as well.
            came = [ask(port, example, sent) for example in EXAMPLES[:20]]
        assert not proxy.not_kept.keys() - {*filter(_is_no_operation, proxy.not_kept)}
    exchanges = [each for file in load_folder(kept) for each in file.exchanges]
    assert [place for each in exchanges for place, _ in each.masked if "response" in place] == []

    recorded = run_recorded(gather([str(kept)]), options_of(CONFORM, target_of(base)))
    assert differences(lived, recorded) == {}

    with running(frozen(replay=(kept,))) as mock:
        again = Counter(replayed(mock.port, each) for each in lived.exchanges if is_kept(each))
        assert again == {True: again.total()}
        assert again.total() > 400
        assert [ask(mock.port, example, sent) for example in EXAMPLES[:20]] == came


def differences(lived, recorded):
    """Verdicts that differ; of what was not requested nothing can be said."""
    now = {outcome.id: outcome for outcome in recorded.outcomes}
    return {
        outcome.id: (outcome.verdict, now[outcome.id].verdict, now[outcome.id].reason)
        for outcome in lived.outcomes
        if now[outcome.id].verdict is not outcome.verdict
        if outcome.verdict is not Verdict.NOT_APPLICABLE
        if outcome.rule.name not in UNRECORDED
    }


def _is_no_operation(reason: str) -> bool:
    return reason.endswith("is no operation of the service")


def is_kept(exchange) -> bool:
    """Whether the recorder had it to keep: it is of an operation, and reached the service."""
    spec = exchange.operation
    is_of_it = (exchange.request.method, exchange.request.path) == (spec.method, spec.path)
    return is_of_it and exchange.answer.header("X-Recorder") is None


def replayed(port: int, exchange) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    request = exchange.request
    headers = dict(request.headers.items_sent)
    connection.request(request.method, request.target, body=request.body or None, headers=headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return (response.status, content) == (exchange.answer.status, exchange.answer.body)
