"""Breaks of HTTP and time on a real socket, where a library could have put them right."""

import http.client
import socket
import time

import pytest

from mockserver.contract import Layer
from mockserver.responders.breaks.catalogue import CATALOGUE
from tests.breaks.conftest import V1_QUOTE, played_healthy, post, signed, touches
from tests.control.conftest import ControlClient

ON_THE_WIRE = [name for name, one in CATALOGUE.items() if one.layer is Layer.PROTOCOL]


def sent(mock, request):
    """Return what comes back on a connection of its own, as HTTP has it; also half an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=60)
    target = f"{mock.prefix}{request.path}" + (f"?{request.query}" if request.query else "")
    try:
        connection.request(request.method, target, request.body, dict(request.headers.items_sent))
        answer = connection.getresponse()
        headers = [item for item in answer.getheaders() if item[0] not in ("Date", "X-Mock-World")]
        try:
            return answer.status, headers, answer.read()
        except http.client.IncompleteRead as half:
            return answer.status, headers, (half.partial, "cut")
    finally:
        connection.close()


@pytest.mark.parametrize("name", ON_THE_WIRE)
def test_it_reaches_the_client(name, mock, caplog):
    touched = [told.step for told in played_healthy() if touches(CATALOGUE[name], told.path)]
    steps = [step for step in touched if not step.writes]
    chosen = [step.request for step in steps if step.request is not None][:40]
    whole = [sent(mock, request) for request in chosen]
    ControlClient(mock).send("PUT", "/breaks", {"breaks": [name]})
    broken = [sent(mock, request) for request in chosen]
    assert whole != broken
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_an_answer_comes_after_the_time_out_of_its_request(mock):
    ControlClient(mock).send("PUT", "/breaks", {"breaks": ["slower-than-expire-time"]})
    path = "/open/v1/order/getCrossChainQuote"
    begun = time.monotonic()
    status, _, _ = sent(mock, post(path, V1_QUOTE, signed(window="50")))
    assert (status, time.monotonic() - begun >= 0.25) == (200, True)


def test_an_answer_is_not_kept_until_after_a_long_time_out(serve):
    running = serve()
    ControlClient(running.client).send("PUT", "/breaks", {"breaks": ["slower-than-expire-time"]})
    path = "/open/v1/order/getCrossChainQuote"
    delays = [
        running.service.answer(post(path, V1_QUOTE, signed(window=window))).delay_ms
        for window in ("50", "60000")
    ]
    assert delays[0] >= 250
    assert delays[1] == 0


def test_a_body_shorter_than_promised_ends_the_connection(mock):
    ControlClient(mock).send("PUT", "/breaks", {"breaks": ["length-too-long"]})
    line = f"GET {mock.prefix}/v1/getAggregateQuote?x=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with socket.create_connection(("127.0.0.1", mock.port), timeout=60) as connection:
        connection.sendall(line.encode())
        came = b""
        while part := connection.recv(65_536):
            came += part
    head, _, body = came.partition(b"\r\n\r\n")
    promised = int(head.lower().partition(b"content-length: ")[2].split()[0])
    assert 0 < len(body) < promised
