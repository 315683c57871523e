"""The journal of a run: what it holds, what it hides, and what a run that resumes makes of it."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from mockserver.conformance import run
from mockserver.conformance.options import Options
from mockserver.conformance.runs.run_journal import (
    BadJournal,
    Journal,
    header_of,
    is_journal,
    read_run,
)
from mockserver.conformance.session.exchange import Answer, Exchange, NoAnswer
from mockserver.conformance.session.target import Target
from mockserver.http_messages import Headers, Request
from tests.conformance.everything import CONTRACT, ORDERS, READING, begun, judge, resumed, told
from tests.conformance.gate import gate

TARGET = Target("http://127.0.0.1:1", "http://127.0.0.1:1")
HEADER = header_of(TARGET, Options(), CONTRACT)
KEY, SIGNATURE = "own-app-key-7f3a", "9f86d081884c7d659a2feaa0c55ad015"


def exchange(request, answer, probe="v2.getPrice/usual", number=1):
    return Exchange(number, probe, CONTRACT.operation(probe.partition("/")[0]), request, answer)


def request(method="GET", headers=(), body=b"", query="chain=ARB"):
    return Request(method, "/v1/getPrice", query, Headers(headers), body)


def answers(path):
    return [kept.answer for kept in read_run(path).entries if kept.answer]


def lines(path):
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def test_a_journal_has_a_header_and_a_line_an_exchange(server, tmp_path):
    path = tmp_path / "run.jsonl"
    with begun(server.url, path) as journal:
        result = judge(server.url, journal)
    first, *others = lines(path)
    assert first["format"] == "crosschain-mock/run@1"
    assert (first["seed"], first["dialect"], first["v1"]) == (1, "documented", server.url)
    assert [one["probe"] for one in others] == [one.probe for one in result.exchanges]
    kept = read_run(path).entries
    assert [one.answer for one in kept] == [one.answer for one in result.exchanges]


@pytest.mark.parametrize(
    ("name", "is_kept"), [("token", True), ("symbol", False), ("password", False)]
)
@pytest.mark.parametrize("text", ["${jndi:ldap://127.0.0.1/x}<script>", "Tq7x2Lk9Wm4p"])
def test_an_answer_may_repeat_the_token_that_was_asked_for(tmp_path, name, is_kept, text):
    path = tmp_path / "run.jsonl"
    said = f"token '{text}' is not known"
    refused = Answer(
        200, (("X-Mock-Refusal", said),), json.dumps({"code": 7, "msg": said}).encode()
    )
    for query, body in ((f"{name}={quote(text)}", b""), ("", json.dumps({name: text}).encode())):
        with Journal.new(path, HEADER) as journal:
            journal.keep(exchange(request("POST", body=body, query=query), refused))
        [kept] = answers(path)
        masked = said.replace(text, "redacted")
        expected = said if is_kept else masked
        assert kept.headers == (("X-Mock-Refusal", expected),)
        assert json.loads(kept.body)["msg"] == expected


def test_a_whole_run_that_resumes_sends_nothing_and_says_the_same(server, tmp_path):
    path = tmp_path / "run.jsonl"
    with gate(server.url) as counting:
        with begun(counting.url, path) as journal:
            first = judge(counting.url, journal)
        before = path.read_bytes()
        counting.requests.clear()
        with resumed(counting.url, path) as journal:
            second = judge(counting.url, journal)
        assert counting.requests == []
    assert (second.requests, told(second)) == (0, told(first))
    assert first.requests > 20
    assert path.read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.deep(quick=1)
def test_a_run_that_was_killed_sends_only_the_rest(server, tmp_path, number):
    path = tmp_path / "run.jsonl"
    with gate(server.url) as counting:
        whole = judge(counting.url, rule=READING)
        planned = list(counting.requests)
        counting.requests.clear()
        counting.holds = lambda _: len(counting.requests) == 12
        process = apart(counting.url, path, READING)
        assert counting.held.wait(60)
        process.send_signal(number)
        process.communicate(timeout=60)
        assert process.returncode != 0
        counting.release()
        assert len(read_run(path).entries) == 11
        with resumed(counting.url, path) as journal:
            result = judge(counting.url, journal, rule=READING)
    # The twelfth was asked for twice, as its answer never came; everything else once.
    assert counting.requests[:12] == planned[:12]
    assert counting.requests[12:] == planned[11:]
    assert told(result) == told(whole)
    assert [one.request for one in result.exchanges] == [one.request for one in whole.exchanges]


@pytest.mark.deep
def test_a_submission_whose_answer_was_lost_is_not_sent_again(server, tmp_path):
    path = tmp_path / "run.jsonl"
    world = server.world("lost", refusals="allow")
    with gate(world.base_url_v2) as counting:
        counting.holds = lambda line: line == "POST /v1/submitOrder"
        process = apart(counting.url, path, ORDERS)
        assert counting.held.wait(60)
        process.kill()
        process.communicate(timeout=60)
        counting.release()
        with resumed(counting.url, path, armed=True) as journal:
            result = judge(counting.url, journal, rule=ORDERS, armed=True)
    world.close()
    [lost] = [one for one in result.exchanges if "never sent twice" in one.answer.reason]
    assert (lost.operation.id, lost.answer.trouble) == (
        "v2.submitOrder",
        NoAnswer.TIMED_OUT,
    )
    asked = [one for one in result.exchanges if one.operation.id == "v2.submitOrder"]
    assert counting.requests.count("POST /v1/submitOrder") == len(asked)


def test_submissions_of_the_earlier_part_count_against_the_cap(server, tmp_path):
    path = tmp_path / "run.jsonl"
    with server.world("capped", refusals="allow") as world:
        first = run(world.base_url, journal=path, only="stateful", arm_writes=True, most_writes=2)
        second = run(world.base_url, resume=path, only="stateful", arm_writes=True, most_writes=2)
    assert first.submissions == 2
    assert second.submissions == 0


def apart(url, path, rule):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.conformance.everything", url, str(path), rule.name],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


def test_secrets_are_masked_and_nothing_else_is(tmp_path):
    path = tmp_path / "run.jsonl"
    sent = request(headers=[("AppKey", KEY), ("sIgnature", SIGNATURE), ("token", "USDT")])
    body = f'{{"msg": "{SIGNATURE} of {KEY} is wrong for USDT"}}'.encode()
    answer = Answer(200, (("X-Echo", KEY), ("X-Token", "USDT")), body, 5)
    with Journal.new(path, HEADER) as journal:
        journal.keep(exchange(sent, answer))
    text = path.read_text("ascii")
    assert KEY not in text
    assert SIGNATURE not in text
    assert text.count("USDT") == 3
    assert answers(path)[0].body == b'{"msg": "%s of redacted is wrong for USDT"}' % (b"0" * 32)


def test_an_odd_value_of_a_secret_header_hides_nothing_in_answers(tmp_path):
    path = tmp_path / "run.jsonl"
    sent = request(headers=[("Signature", "0" * 64), ("appKey", "1")])
    body = b'{"data": "0x' + b"0" * 63 + b'1"}'
    with Journal.new(path, HEADER) as journal:
        journal.keep(exchange(sent, Answer(200, (), body)))
    assert answers(path)[0].body == body


def test_what_differs_in_secrets_only_is_the_same_request(tmp_path):
    path = tmp_path / "run.jsonl"
    answer = Answer(200, (("Content-Type", "application/json"),), b"\xff\x00 not text", 7)
    with Journal.new(path, HEADER) as journal:
        journal.keep(exchange(request(headers=[("appKey", KEY), ("a", "b")]), answer))
    with Journal.resumed(path, HEADER) as journal:
        other = request(headers=[("appKey", "another"), ("a", "c")])
        assert journal.recall("v2.getPrice/usual", other) is None
        same = request(headers=[("appKey", "another"), ("a", "b")])
        assert journal.recall("v2.getPrice/again", same) is None
        assert journal.recall("v2.getPrice/usual", same) == answer
        assert journal.recall("v2.getPrice/usual", same) is None


def test_the_same_request_at_another_time_is_the_same(tmp_path):
    path = tmp_path / "run.jsonl"
    with Journal.new(path, HEADER) as journal:
        journal.keep(exchange(request(headers=[("timestamp", "1767225600000")]), Answer(200)))
    with Journal.resumed(path, HEADER) as journal:
        odd = request(headers=[("timestamp", "soon")])
        assert journal.recall("v2.getPrice/usual", odd) is None
        later = request(headers=[("timestamp", "1767225999999")])
        assert journal.recall("v2.getPrice/usual", later) == Answer(200)


def test_equal_requests_of_one_probe_get_their_answers_in_order(tmp_path):
    path = tmp_path / "run.jsonl"
    with Journal.new(path, HEADER) as journal:
        for status in (200, 201):
            journal.keep(exchange(request(), Answer(status)))
    with Journal.resumed(path, HEADER) as journal:
        found = [journal.recall("v2.getPrice/usual", request()) for _ in range(3)]
    assert [one and one.status for one in found] == [200, 201, None]


def test_what_never_arrived_is_asked_again(tmp_path):
    path = tmp_path / "run.jsonl"
    with Journal.new(path, HEADER) as journal:
        for trouble in (
            NoAnswer.TIMED_OUT,
            NoAnswer.UNREACHABLE,
            NoAnswer.CUT,
        ):
            answer = Answer(0, trouble=trouble, reason="why")
            journal.keep(exchange(request(query=trouble.value), answer))
    with Journal.resumed(path, HEADER) as journal:
        found = {
            trouble: journal.recall("v2.getPrice/usual", request(query=trouble.value))
            for trouble in NoAnswer
        }
    assert [trouble for trouble, answer in found.items() if answer] == [NoAnswer.CUT]


def test_a_half_last_line_is_let_go_and_written_over(tmp_path):
    path = tmp_path / "run.jsonl"
    with Journal.new(path, HEADER) as journal:
        journal.keep(exchange(request(), Answer(200)))
        journal.keep(exchange(request(query="chain=BNB"), Answer(201)))
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    assert [one.status for one in answers(path)] == [200]
    with Journal.resumed(path, HEADER) as journal:
        journal.keep(exchange(request(query="chain=BNB"), Answer(201)))
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 2}, "the seed 1, not 2"),
        ({"dialect": "observed"}, "the dialect 'documented', not 'observed'"),
        ({"v2": "http://127.0.0.1:2"}, "the 2.0 address 'http://127.0.0.1:1', not"),
        ({"v1": None}, "the v1 address 'http://127.0.0.1:1', not None"),
        ({"contract": "sha256:0"}, "another version of the contract"),
    ],
)
def test_the_journal_of_another_run_is_refused(tmp_path, change, words):
    path = tmp_path / "run.jsonl"
    Journal.new(path, HEADER).close()
    before = path.read_bytes()
    with pytest.raises(BadJournal, match=words) as caught:
        Journal.resumed(path, replace(HEADER, **change))
    assert caught.value.exit_code == 2
    assert path.read_bytes() == before


def test_other_options_may_change(tmp_path):
    path = tmp_path / "run.jsonl"
    Journal.new(path, HEADER).close()
    Journal.resumed(path, replace(HEADER, options={"armed": True})).close()


@pytest.mark.parametrize("text", ["notes\n", '{"format": "crosschain-mock/world@1"}\n', "\n"])
def test_a_file_that_is_no_journal_is_neither_overwritten_nor_resumed(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(BadJournal, match="is not overwritten"):
        Journal.new(path, HEADER)
    with pytest.raises(BadJournal, match="is no journal of a run"):
        Journal.resumed(path, HEADER)
    assert path.read_text() == text
    assert not is_journal(path)


def test_an_older_journal_and_an_empty_file_are_overwritten(tmp_path):
    path = tmp_path / "run.jsonl"
    path.touch()
    with Journal.new(path, HEADER) as journal:
        journal.keep(exchange(request(), Answer(200)))
    Journal.new(path, HEADER).close()
    assert read_run(path).entries == ()


def line(answer=None, **changes):
    sound = {"method": "GET", "path": "/", "query": "", "headers": [], "body": ""}
    told = {"probe": "v2.getPrice/usual", "request": {**sound, **changes}}
    return json.dumps(told if answer is None else {**told, "answer": answer})


@pytest.mark.parametrize(
    "damaged",
    [
        "{}",
        "[]",
        "nonsense",
        '{"probe": 5}',
        '{"probe": "v2.getPrice/a", "request": {"method": "GET"}}',
        line(headers=[["a"]]),
        line(body={"base64": "%"}),
        line(answer={"status": True}),
    ],
)
def test_a_damaged_line_is_named(tmp_path, damaged):
    path = tmp_path / "run.jsonl"
    with Journal.new(path, HEADER) as journal:
        journal.keep(exchange(request(), Answer(200)))
    with path.open("a") as file:
        file.write(damaged + "\n")
    with pytest.raises(BadJournal, match=r"run\.jsonl:3: the line is damaged: "):
        read_run(path)


def test_a_missing_file_and_a_folder_are_sentences(tmp_path):
    with pytest.raises(BadJournal, match=r"the journal .* cannot be read: no such file"):
        Journal.resumed(tmp_path / "none", HEADER)
    with pytest.raises(BadJournal, match="is not overwritten"):
        Journal.new(tmp_path, HEADER)
    with pytest.raises(BadJournal, match=r"cannot write the journal .*: no such file"):
        Journal.new(tmp_path / "none" / "run.jsonl", HEADER)
