"""Recording files keep every byte, can be read by people, and say where they are wrong."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockserver import limits
from mockserver.errors import InvalidFile
from mockserver.http_messages import Headers, Request, Response, query_pairs
from mockserver.recordings import (
    RecordedExchange,
    Recording,
    RecordingFolder,
    StandIns,
    load,
    text_of,
)
from mockserver.recordings.bodies import encode
from mockserver.recordings.folder import LARGE_BODY, CannotKeep, FolderBusy

ROOT = Path(__file__).parents[2]

HEAD = "format: crosschain-mock/recording@2\ntitle: t\norigin: captured\nsource: a test\n"
HEAD_1 = "format: crosschain-mock/recording@1\ntitle: t\norigin: captured\nsource: a test\n"
ONE = """exchanges:
- name: one
  operation: v2.getChain
  request: {method: GET, path: /v1/getChain}
  response: {status: 200%s}
"""

EXPORT = ("recordings", "export", "--to", "wiremock", "--out", "/dev/null")
LEARN = ("recordings", "learn")


def exchange(response=b"{}", request=b"", query="", **more):
    """An exchange with these bytes."""
    return RecordedExchange(
        name="one",
        operation="v2.getChain",
        request=Request("GET", "/v1/getChain", query, Headers(), request),
        response=Response(200, (), response),
        origin="captured",
        **more,
    )


def recording(*exchanges, **more):
    """A captured recording of exchanges."""
    return Recording(title="t", origin="captured", source="a test", exchanges=exchanges, **more)


def kept(tmp_path, one):
    """The exchange as it comes back from its file, and the text of that file."""
    file = tmp_path / "one.yaml"
    file.write_text(text_of(recording(one, replace(one, name="two"))), "utf-8")
    back, behind = load(file).exchanges
    assert replace(behind, name="one") == back, "what stands behind it is read as well"
    return back, file.read_text("utf-8")


def fails(tmp_path, text):
    """What reading a text says."""
    file = tmp_path / "wrong.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(InvalidFile) as caught:
        load(file)
    return str(caught.value).replace(str(tmp_path), "")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b'{"price":1.00,"n":1}', "price: 1.00\n"),
        (b'{"price": 1.00, "n": [1, 2]}', "layout: spaced"),
        (b'{\n  "price": 1.00,\n  "list": [],\n  "more": [\n    1\n  ]\n}', "layout: lines"),
        ('{"a":"\u6e38"}'.encode(), "a: \u6e38"),
        (b'{"a":"\\u6e38"}', "layout: ascii"),
        (b'{"text":"1.5e5","other":"010","no":"no"}', "text: '1.5e5'"),
        (b'{"price":1e2}', "bodyText: '{\"price\":1e2}'"),
        (b'{"price":1.50E+3,"a":-0}', "bodyText:"),
        (b'{"a":1,"a":2}', "bodyText:"),
        (b'{"half":"\\ud800"}', "bodyText:"),
        (b"<html>\n<h1>502 Bad Gateway</h1>\n</html>\n", "bodyText: |\n"),
        (b"\x00\xff\x10", "bodyBase64: AP8Q"),
        (b"\r\n", "bodyText:"),
        (b"data: 1\n\ndata: 2\n\n", 'bodyText: "data: 1\\n\\ndata: 2\\n\\n"'),
        (b"null", "body: null"),
        (b"", "response:\n    status: 200\n"),
    ],
)
def test_a_body_comes_back_byte_for_byte_and_can_be_read(tmp_path, raw, shown):
    back, text = kept(tmp_path, exchange(raw))
    assert back.response.body == raw
    assert shown in text


TEXTS = st.text() | st.text("a -.\n\r\t\x85\u2028\ufeff")


@given(raw=st.binary() | TEXTS.map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_come_back(tmp_path_factory, raw):
    back, _ = kept(tmp_path_factory.getbasetemp(), exchange(raw, request=raw[::-1]))
    assert (back.response.body, back.request.body) == (raw, raw[::-1])


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(value=JSON, layout=st.sampled_from(["compact", "ascii", "spaced", "lines"]))
def test_any_json_comes_back(tmp_path_factory, value, layout):
    raw = encode(value, layout)
    back, _ = kept(tmp_path_factory.getbasetemp(), exchange(raw))
    assert back.response.body == raw


@given(pairs=st.lists(st.tuples(st.text(min_size=1), TEXTS)), tail=st.sampled_from(["", "%FF"]))
def test_any_query_comes_back(tmp_path_factory, pairs, tail):
    query = urlencode(pairs, errors="replace") + tail
    back, _ = kept(tmp_path_factory.getbasetemp(), exchange(query=query))
    if tail:
        assert back.request.query == query
    else:
        assert query_pairs(back.request.query) == query_pairs(query)


def test_times_and_notes_come_back(tmp_path):
    stand_ins = StandIns(("orders",), "0" * 32)
    one = exchange(time_ms=1_767_225_600_123, duration_ms=0, removed=("appKey",), note="why")
    file = tmp_path / "one.yaml"
    head = recording(
        one, dialect="E-01,E-03", clock_skew_ms=-1500, remarks=("a",), stand_ins=stand_ins
    )
    file.write_text(text_of(head))
    back = load(file)
    assert back.exchanges == (one,)
    assert (back.dialect, back.clock_skew_ms) == ("E-01,E-03", -1500)
    assert (back.remarks, back.stand_ins, back.file) == (("a",), stand_ins, file)


def test_a_body_that_was_not_kept_says_why(tmp_path):
    back, text = kept(tmp_path, exchange(b"", response_omitted="more than 1 GB"))
    assert "bodyOmitted: more than 1 GB" in text
    assert back.response_omitted == "more than 1 GB"


def test_repeated_headers_come_back(tmp_path):
    one = exchange()
    answer = Response(200, (("Via", "a"), ("Via", "b")), b"x")
    assert kept(tmp_path, one.answered(answer))[0].response == answer


def test_the_first_version_is_still_read(tmp_path):
    file = tmp_path / "old.yaml"
    file.write_text(HEAD_1 + "dialect: observed\n" + ONE % ", body: {a: 1.50}")
    back = load(file)
    assert back.exchanges[0].response.body == b'{"a":1.50}'
    assert text_of(back).startswith("format: crosschain-mock/recording@2\n")


def test_dialect_and_scenario_may_be_left_out(tmp_path):
    file = tmp_path / "short.yaml"
    file.write_text(HEAD + ONE % "")
    assert load(file).dialect is None
    start = 'origin: simulation\nstart: "2026-01-01T00:00:00Z"\n'
    file.write_text(HEAD.replace("origin: captured\n", start) + ONE % "")
    assert (load(file).dialect, load(file).scenario) == ("documented", "default")


@pytest.mark.parametrize(
    ("tail", "says"),
    [
        (", body: 1, bodyText: a", ":9: exchanges[0].response: expected either body or bodyText"),
        (", bodyBase64: '*'", ":9: exchanges[0].response.bodyBase64: expected base64, got '*'"),
        (", bodyFile: {name: ../x, sha256: %s}" % ("0" * 64), "the name of a file in the folder"),
        (", bodyFile: {name: x, sha256: %s}" % ("0" * 64), "x cannot be read: no such file"),
        (", layout: compact", ":9: exchanges[0].response.body: missing"),
        (", body: !!python/object/apply:os.system [true]", "os.system' is not read"),
        (", body: [&a [1], *a, *a]", ":9: exchanges[0].response.body[1]: aliases are not read"),
        (", body: " + "[" * 2000 + "]" * 2000, "nested"),
        (", stauts: 1", "unknown name; did you mean 'status'?"),
        (", headers: {Bad Name: x}", ":9: exchanges[0].response.headers: expected the name of a"),
        (', headers: {"A\\n": x}', ":9: exchanges[0].response.headers: expected the name of a"),
        (
            ', headers: {A: "x\\r\\nB: y"}',
            ":9: exchanges[0].response.headers.A: expected a text of",
        ),
        (', headers: {A: [x, "y\\0"]}', ":9: exchanges[0].response.headers.A: expected a text of"),
    ],
)
def test_a_wrong_file_says_where(tmp_path, tail, says):
    assert says in fails(tmp_path, HEAD + ONE % tail)


@pytest.mark.parametrize("status", [99, 100, 199, 600])
def test_a_status_that_ends_no_answer_is_no_recording(tmp_path, status):
    text = HEAD + (ONE % "").replace("200", str(status))
    assert ":9: exchanges[0].response.status: expected an HTTP status from" in fails(tmp_path, text)


@pytest.mark.parametrize(
    ("place", "line", "key"),
    [
        ("source: a test\n", 'start: "2026-02-30T00:00:00Z"\n', "start"),
        ("  operation: v2.getChain\n", '  time: "2026-13-01T00:00:00Z"\n', "exchanges[0].time"),
    ],
)
def test_a_day_that_no_calendar_has_is_found(tmp_path, place, line, key):
    text = (HEAD + ONE % "").replace(place, place + line)
    at = text[: text.index(line)].count("\n") + 1
    assert f":{at}: {key}: '2026-" in fails(tmp_path, text)


def test_a_name_given_twice_is_found(tmp_path):
    text = HEAD + ONE % "" + "".join((ONE % "").splitlines(keepends=True)[1:])
    assert ":10: exchanges[1].name: 'one' is the name of an earlier" in fails(tmp_path, text)


def test_another_version_is_named(tmp_path):
    text = HEAD.replace("@2", "@7") + ONE % ""
    assert (
        ":1: format: version 7 of the format is not known here; this release reads version 1"
        in (fails(tmp_path, text))
    )


def test_a_folder_keeps_each_exchange_before_it_returns(tmp_path):
    with RecordingFolder(tmp_path / "new" / "out", recording()) as folder:
        file = folder.keep("v2.getChain", exchange(b'{"a":1}'))
        assert [one.response.body for one in load(file).exchanges] == [b'{"a":1}']
        assert folder.keep("v2.getChain", exchange(b"second")) == file
        assert folder.keep("v1.getSupportChains", exchange(b"other")) != file
        assert [one.name for one in load(file).exchanges] == ["one", "one-2"]
        folder.describe(recording(dialect="observed"))
    assert [load(path).dialect for path in folder.files] == ["observed", "observed"]
    assert load(file).title == "t: v2.getChain"


def test_files_of_an_earlier_run_are_not_touched(tmp_path):
    for _ in range(2):
        with RecordingFolder(tmp_path, recording()) as folder:
            folder.keep("v2.getChain", exchange())
    assert sorted(path.name for path in tmp_path.glob("*.yaml")) == [
        "v2.getChain-2.yaml",
        "v2.getChain.yaml",
    ]


def test_a_large_body_has_a_file_of_its_own(tmp_path):
    body = b"\x00" * (LARGE_BODY + 1)
    with RecordingFolder(tmp_path, recording()) as folder:
        file = folder.keep("v2.getChain", exchange(body))
        folder.keep("v2.getChain", exchange(body))
    assert [one.response.body for one in load(file).exchanges] == [body, body]
    (held,) = (tmp_path / "bodies").iterdir()
    assert held.name == f"{hashlib.sha256(body).hexdigest()[:32]}.bin"
    held.write_bytes(body + b"changed")
    with pytest.raises(InvalidFile, match=r"v2.getChain.yaml:\d+: .*bodyFile: .* is not what was"):
        load(file)


def test_a_body_may_be_larger_than_other_files(tmp_path):
    body = bytes(limits.FILE.most + 1)
    with RecordingFolder(tmp_path, recording()) as folder:
        file = folder.keep("v2.getChain", exchange(body))
    assert load(file).exchanges[0].response.body == body


def test_a_full_file_is_followed_by_another(tmp_path):
    with RecordingFolder(tmp_path, recording()) as folder:
        for number in range(12):
            folder.keep("v2.getChain", exchange(b"%d" % number + b"x" * 60_000))
    bodies = [one.response.body for path in folder.files for one in load(path).exchanges]
    assert len(folder.files) > 1
    assert sorted(bodies) == sorted(b"%d" % number + b"x" * 60_000 for number in range(12))


def test_two_writers_do_not_share_a_folder(tmp_path):
    busy = pytest.raises(FolderBusy, match="another recorder is writing to")
    with RecordingFolder(tmp_path, recording()), busy:
        RecordingFolder(tmp_path, recording())
    RecordingFolder(tmp_path, recording()).close()


def test_what_cannot_be_brought_to_the_disk_is_told(tmp_path):
    folder = RecordingFolder(tmp_path, recording(), sync_seconds=3600)
    away = folder.keep("away", exchange())
    away.unlink()
    file = folder.keep("v2.getChain", exchange())
    file.unlink()
    file.symlink_to(file)
    with pytest.raises(CannotKeep, match=r"cannot write .*: too many levels of symbolic links"):
        folder.close()


def test_a_file_that_is_taken_away_is_no_trouble(tmp_path):
    with RecordingFolder(tmp_path, recording(), sync_seconds=3600) as folder:
        folder.keep("v2.getChain", exchange()).unlink()


def test_what_was_kept_is_brought_to_the_disk_meanwhile(tmp_path):
    folder = RecordingFolder(tmp_path, recording(), sync_seconds=0.001)

    def keep_what_cannot_be_brought():
        for _ in range(100_000):
            file = folder.keep("v2.getChain", exchange())
            file.unlink()
            file.symlink_to(file)

    with pytest.raises(CannotKeep, match="too many levels of symbolic links"):
        keep_what_cannot_be_brought()
    with pytest.raises(CannotKeep):
        folder.close()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotKeep, match=r"cannot write .*file"):
        RecordingFolder(tmp_path / "file" / "out", recording())


def test_the_page_shows_a_file_that_is_read(tmp_path):
    page = (ROOT / "docs" / "reference" / "recordings.md").read_text("utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    file = tmp_path / "page.yaml"
    file.write_text(block)
    quote, down = load(file).exchanges
    assert quote.response.body.endswith(b'"rate":1.00}}')
    assert (quote.duration_ms, load(file).clock_skew_ms) == (84, -1200)
    assert (down.response.status, down.response.body) == (502, b"<h1>502 Bad Gateway</h1>\n")
    schema = json.loads((ROOT / "schemas" / "meta" / "recording.json").read_text("utf-8"))
    exchange_keys = schema["properties"]["exchanges"]["items"]["properties"]
    for key in [*schema["properties"], *exchange_keys, *exchange_keys["response"]["properties"]]:
        assert f"`{key}`" in page, key


@pytest.mark.parametrize("command", [("validate",), ("recordings", "simulate"), EXPORT, LEARN])
def test_a_folder_without_recordings_is_no_success(call, tmp_path, command):
    (tmp_path / "empty" / "bodies").mkdir(parents=True)
    (tmp_path / "empty" / "bodies" / "large.json").write_text("{}")
    ended = call(*command, "empty")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert re.search(r"empty: no .* in this folder", ended.stderr)


def test_each_command_reads_the_same_files_of_a_folder(call, tmp_path):
    (tmp_path / "kept").mkdir()
    for name in ("a.yaml", "b.yml"):
        (tmp_path / "kept" / name).write_text(HEAD + ONE % "")
    assert call("validate", "kept").stdout.count("a valid recording") == 2
    assert call("recordings", "simulate", "kept").stderr.count("its origin is captured") == 2
    assert call(*EXPORT, "kept").stderr.startswith("2 exchanges")
    assert call(*LEARN, "kept").stdout.startswith("2 exchanges")


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"title: x\ny: \xff\n", "wrong.yaml:2: not UTF-8 at byte offset 12"),
        (b"title: x\n\ny: \0\n", "wrong.yaml:3: not YAML: the character '\\x00' is not allowed"),
    ],
)
def test_bytes_that_are_no_text_have_their_line(call, tmp_path, raw, says):
    (tmp_path / "wrong.yaml").write_bytes(raw)
    for command in (("validate",), ("recordings", "import", "--out", "new"), LEARN):
        ended = call(*command, "wrong.yaml")
        assert (ended.returncode, says in ended.stderr) == (2, True), ended.stderr
