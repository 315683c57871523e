"""Healthy services: nothing of the contract is masked."""

import http.client

import pytest

from mockserver.exchange import Headers, Request, Response
from mockserver.recordings import RecordedExchange, load_folder
from mockserver.recordings.redaction import Redactor
from tests.blind.serve import blind_service
from tests.blind.tour import Tour, examples, request_of
from tests.secrets_corpus.healthy import FLOWS, Healthy

EXAMPLES = [example for example in examples() if not example.headers]


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
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


def test_through_the_recorder_every_body_stays(record):
    rows = [flow.row() for flow in FLOWS if flow.answer]
    sent = [header for flow in FLOWS for header in flow.request]
    with blind_service(rows=rows) as url:
        recorder = record("--arm-writes", url=url)
        came = [ask(recorder.port, example, sent) for example in EXAMPLES[:40]]
    kept = [one.response.body for file in load_folder(recorder.folder) for one in file.exchanges]
    assert sorted(kept) == sorted(came)
