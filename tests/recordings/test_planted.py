"""Planted secrets: nobody can read one afterwards, wherever the exchanges went."""

from __future__ import annotations

import http.client
import json
from functools import cache

import pytest

from mockserver.http_messages import Headers, Request, Response
from mockserver.recordings import RecordedExchange
from mockserver.recordings.files import exchange_text
from mockserver.recordings.redaction import Redactor
from tests.recordings.conftest import answer
from tests.secrets_corpus.fresh import fresh_cases
from tests.secrets_corpus.odd import odd_cases
from tests.secrets_corpus.planted import Case, Planted, cases
from tests.secrets_corpus.reading import Reader, told_by_requests

CASES = [*cases(), *odd_cases(), *fresh_cases()]
FEWEST = 720


def exchange_of(planted: Planted) -> RecordedExchange:
    """The exchange as the recorder sees it."""
    return RecordedExchange(
        name="planted",
        operation="v2.getPrice",
        request=Request(
            planted.method, planted.path, planted.query, Headers(planted.headers), planted.body
        ),
        response=Response(200, answered(planted), planted.answer),
        origin="captured",
    )


def answered(planted: Planted) -> tuple[tuple[str, str], ...]:
    named = any(name.lower() == "content-type" for name, _ in planted.answer_headers)
    kind = () if named else (("Content-Type", planted.answer_type),)
    return (*kind, *planted.answer_headers)


@cache
def kept() -> dict[str, bytes]:
    """What one set of recordings has of all cases, one after the other."""
    redactor = Redactor()
    return {
        case.name: "".join(
            exchange_text(redactor.exchange(exchange_of(planted).unpacked()), "captured")
            for planted in case.exchanges
        ).encode()
        for case in CASES
    }


def test_there_are_enough_and_each_can_be_read_where_it_is_planted():
    assert len(CASES) >= FEWEST
    assert len({case.name for case in CASES}) == len(CASES)
    for case in CASES:
        assert Reader(*shown(case)).reads(case.secret), case.name


def test_each_can_be_read_in_a_long_text_of_many():
    some = CASES[::24]
    together = Reader(b"\n".join(part for case in some for part in shown(case)))
    assert [case.name for case in some if not together.reads(case.secret)] == []


def shown(case: Case) -> list[bytes]:
    """What a recording would have of a case if nothing were masked, and its bodies."""
    raw = [exchange_text(exchange_of(one).unpacked(), "captured") for one in case.exchanges]
    bodies = [
        part
        for one in case.exchanges
        for part in (one.body, one.answer, repr((one.headers, one.answer_headers)).encode())
    ]
    return [*map(str.encode, raw), *bodies]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_secret_is_in_a_recording(case: Case):
    assert not Reader(kept()[case.name]).reads(case.secret)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_body_that_was_json_is_json_of_the_same_types(case: Case):
    redactor = Redactor()
    for planted in case.exchanges:
        after = redactor.exchange(exchange_of(planted).unpacked())
        for before, masked in (
            (planted.body, after.request.body),
            (planted.answer, after.response.body),
        ):
            try:
                types = shape(json.loads(before))
            except ValueError:
                continue
            assert shape(json.loads(masked)) == types


def shape(value):
    """The types of a JSON value; names may be masked."""
    if isinstance(value, dict):
        return [shape(member) for member in value.values()]
    return [shape(item) for item in value] if isinstance(value, list) else type(value)


@pytest.fixture
def sent(is_deep: bool) -> list[Case]:
    """The cases that go over a socket."""
    return CASES if is_deep else CASES[::16]


def send(port: int, planted: Planted) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    target = f"{planted.path}?{planted.query}" if planted.query else planted.path
    connection.putrequest(planted.method, target, skip_accept_encoding=True)
    for name, value in planted.headers:
        connection.putheader(name, value)
    if planted.body:
        connection.putheader("Content-Length", str(len(planted.body)))
    connection.endheaders(planted.body or None)
    connection.getresponse().read()
    connection.close()


def readable_in(sent: list[Case], *data: bytes) -> list[str]:
    reader = Reader(*data)
    return [case.name for case in sent if reader.reads(case.secret)]


def test_the_recorder_writes_and_prints_none(record_process, upstream, call, sent):
    current: list[Planted] = []
    upstream.reply = lambda handler, _: answer(
        handler, current[0].answer, headers=answered(current[0])
    )
    recorder = record_process("--arm-writes", "--most-writes", "10000")
    for planted in (planted for case in sent for planted in case.exchanges):
        current[:] = [planted]
        send(recorder.port, planted)
    _, out, err = recorder.stop()
    files = [file.read_bytes() for file in recorder.folder.rglob("*") if file.is_file()]
    assert len(recorder.exchanges) >= len(sent) // 2
    assert readable_in(sent, *files, out.encode(), err.encode()) == []
    scanned = call("recordings", "scan", str(recorder.folder))
    assert scanned.returncode == 0, scanned.stdout


def test_the_journal_and_what_is_made_of_it_show_none(serve, call, sent):
    mock, sent = serve(), told_by_requests(sent)
    for planted in (planted for case in sent for planted in case.exchanges):
        send(mock.port, planted)
    url = f"http://127.0.0.1:{mock.port}"
    shown = [
        json.dumps(mock.client.control("GET", path), default=str).encode()
        for path in ("/journal", "/check", "/recording")
    ]
    assert readable_in(sent, *shown) == []
    for command in (["journal"], ["check"]):
        result = call(*command, "--url", url)
        assert readable_in(sent, result.stdout.encode(), result.stderr.encode()) == []
