"""Answers that came compressed: a replay sends the bytes that came, and all else can read them."""

import base64
import gzip
import http.client
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from mockserver.testing import running as mock_running
from tests.conftest import frozen, running
from tests.recordings.conftest import Recorder, Upstream, answer

CHAINS = {"code": 0, "msg": "success", "data": {"version": 3, "list": [{"nickName": "ARB"}]}}
# Spaced, so that the layout has to come back as well.
BODY = json.dumps(CHAINS).encode()
LONG = json.dumps({**CHAINS, "data": {"version": 1, "list": [{"note": "r"}]}}).encode()


def raw_deflate(body: bytes) -> bytes:
    return zlib.compress(body)[2:-4]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, 9, mtime=1_793_491_200),
    "GZip": lambda body: gzip.compress(body, 1, mtime=7),
    "x-gzip": lambda body: gzip.compress(body[:20], mtime=0) + gzip.compress(body[20:], mtime=3),
    "deflate": zlib.compress,
    "deflate ": raw_deflate,
    "deflate, gzip": lambda body: gzip.compress(zlib.compress(body), mtime=5),
}
"""How services pack: other levels, times, members one behind the other, two codings."""


def packed(coding: str, body: bytes = BODY) -> Callable[[BaseHTTPRequestHandler, bytes], None]:
    headers = (("Content-Type", "application/json"), ("Content-Encoding", coding.strip()))
    return lambda handler, _: answer(handler, PACKERS[coding](body), headers=headers)


def get(port: int, accepted: str | None, target: str = "/v1/getChain") -> tuple[str | None, bytes]:
    """Ask with an `Accept-Encoding`, or without; return the coding and the bytes that came."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as line:
        line.putrequest("GET", target, skip_accept_encoding=True)
        if accepted is not None:
            line.putheader("Accept-Encoding", accepted)
        line.endheaders()
        response = line.getresponse()
        return response.getheader("Content-Encoding"), response.read()


@pytest.fixture
def recorded(upstream: Upstream, record: Callable[..., Recorder]) -> Callable[..., Path]:
    """Record one answer of a service that packs as `coding` says; return the folder."""

    def make(coding: str, accepted: str | None = "gzip, deflate", body: bytes = BODY) -> Path:
        upstream.reply = packed(coding, body)
        recorder = record()
        assert get(recorder.port, accepted) == (coding.strip(), PACKERS[coding](body))
        return recorder.folder

    return make


@contextmanager
def replayed(folder: Path) -> Iterator[int]:
    with running(frozen(replay=(folder,))) as started:
        yield started.port


def row_of(folder: Path) -> dict[str, Any]:
    (file,) = folder.glob("*.yaml")
    row: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))["exchanges"][0]
    return row


@pytest.mark.parametrize("coding", PACKERS)
def test_the_bytes_that_came_are_sent_to_whoever_takes_them(recorded, coding):
    folder = recorded(coding)
    assert row_of(folder)["response"]["body"] == CHAINS
    came = (coding.strip(), PACKERS[coding](BODY))
    with replayed(folder) as port:
        assert get(port, "gzip, deflate") == came
        assert get(port, "br;q=1, *;q=0.1") == came
        for other in (None, "identity", "br", "gzip;q=0, deflate;q=0.000"):
            assert get(port, other) == (None, BODY)


@pytest.mark.parametrize("accepted", [None, "identity", "br"])
def test_a_service_that_packs_unasked_does_so_for_everybody(recorded, accepted):
    folder = recorded("gzip", accepted)
    assert row_of(folder)["response"]["coded"]["unasked"] is True
    with replayed(folder) as port:
        for other in (None, "identity", "gzip"):
            assert get(port, other) == ("gzip", PACKERS["gzip"](BODY))


def test_large_ones_have_a_file_of_their_own(recorded, call):
    body = json.dumps(
        {**CHAINS, "noise": [n * 2_654_435_761 % 999_999_937 for n in range(40_000)]}
    ).encode()
    folder = recorded("gzip", body=body)
    coded = row_of(folder)["response"]["coded"]
    assert (folder / "bodies" / coded["bodyFile"]["name"]).read_bytes() == PACKERS["gzip"](body)
    with replayed(folder) as port:
        assert get(port, "gzip") == ("gzip", PACKERS["gzip"](body))
    (folder / "bodies" / coded["bodyFile"]["name"]).write_bytes(b"other")
    assert "is not what was recorded" in call("validate", *map(str, folder.glob("*.yaml"))).stderr


SECRET = "k9Vq2LxT7wPz4RmB8sNd"  # noqa: S105 (planted)
TELLING = json.dumps({**CHAINS, "apiKey": SECRET}).encode()


@pytest.mark.parametrize("coding", PACKERS)
def test_a_secret_in_a_packed_body_is_found_and_its_bytes_are_not_kept(recorded, coding, call):
    folder = recorded(coding, body=TELLING)
    response = row_of(folder)["response"]
    assert response["body"]["apiKey"] != SECRET
    assert set(response["coded"]) == {"coding", "omitted"}
    assert "stands for a value of the body" in response["coded"]["omitted"]
    for file in folder.rglob("*"):
        if file.is_file():
            assert SECRET not in everything_in(file.read_bytes())
    assert call("recordings", "scan", str(folder), "--secret", SECRET).returncode == 0
    with replayed(folder) as port:
        coding_sent, body = get(port, "gzip, deflate")
        assert (coding_sent, json.loads(body)) == (None, response["body"])


def everything_in(raw: bytes) -> str:
    """The text of a file, and of everything in it that is packed in base64."""
    parts = [raw]
    for run in re.findall(rb"[A-Za-z0-9+/]{16,}={0,2}", raw):
        try:
            parts.append(zlib.decompress(base64.b64decode(run), 47))
        except (ValueError, zlib.error):
            continue
    return b"\n".join(parts).decode("utf-8", "replace")


@pytest.mark.parametrize("change", ["body", "coding", "bytes"])
def test_a_body_that_was_edited_is_not_sent_otherwise(recorded, call, change):
    folder = recorded("gzip")
    (file,) = folder.glob("*.yaml")
    document = yaml.safe_load(file.read_text("utf-8"))
    response = document["exchanges"][0]["response"]
    if change == "body":
        response["body"]["msg"] = "edited"
    elif change == "coding":
        response["coded"]["coding"] = "br"
    else:
        response["coded"]["bodyBase64"] = base64.b64encode(b"no gzip").decode()
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    ended = call("validate", str(file))
    assert ended.returncode == 2
    assert "exchanges[0].response.coded" in ended.stderr
    assert "leave 'coded' out" in ended.stderr
    del response["coded"]
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    assert call("validate", str(file)).returncode == 0


@pytest.mark.parametrize(
    "member",
    [{}, {"omitted": "so", "bodyBase64": ""}, {"bodyBase64": "?"}, {"coding": ""}, {"more": 1}],
)
def test_a_coding_of_another_form_is_refused_with_its_place(recorded, call, member):
    folder = recorded("gzip")
    (file,) = folder.glob("*.yaml")
    document = yaml.safe_load(file.read_text("utf-8"))
    document["exchanges"][0]["response"]["coded"] = {"coding": "gzip", **member}
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    ended = call("validate", str(file))
    assert (ended.returncode, "coded" in ended.stderr) == (2, True), ended.stderr


def test_a_coding_that_cannot_be_searched_is_left_out_and_said(upstream, record):
    headers = (("Content-Type", "application/json"), ("Content-Encoding", "br"))
    upstream.reply = lambda handler, _: answer(handler, b"\x0b\x02\x80hello\x03", headers=headers)
    recorder = record()
    assert get(recorder.port, "br") == ("br", b"\x0b\x02\x80hello\x03")
    assert upstream.seen[-1][2]["Accept-Encoding"] == "identity"
    response = row_of(recorder.folder)["response"]
    assert "'br' is not read here" in response["bodyOmitted"]
    assert "coded" not in response


@pytest.mark.parametrize("name", ["har", "vcr", "wiremock"])
def test_other_tools_get_the_bytes_that_came_or_a_line_says_that_they_cannot(
    recorded, call, tmp_path, name
):
    folder = recorded("deflate, gzip")
    file = f"flow.{'yaml' if name == 'vcr' else 'json'}"
    ended = call("recordings", "export", str(folder), "--to", name, "--out", file)
    lost = "HAR: the content coding of the answer of 1 exchange cannot be held"
    assert (lost in ended.stderr) is (name == "har"), ended.stderr
    assert call("recordings", "import", file, "--out", "back").returncode == 0
    with replayed(tmp_path / "back") as port:
        packed_again = ("deflate, gzip", PACKERS["deflate, gzip"](BODY))
        assert get(port, "gzip, deflate") == ((None, BODY) if name == "har" else packed_again)


def test_what_reads_answers_reads_them_unpacked(recorded, call, tmp_path):
    folder = recorded("gzip")
    plain = tmp_path / "plain"
    plain.mkdir()
    (file,) = folder.glob("*.yaml")
    document = yaml.safe_load(file.read_text("utf-8"))
    del document["exchanges"][0]["response"]["coded"]
    (plain / file.name).write_text(yaml.safe_dump(document, sort_keys=False))
    for command in (
        ("conform", "--recordings"),
        ("recordings", "learn", "--json"),
        ("world", "from-recording"),
    ):
        said = []
        for source in (folder, plain):
            ended = call(*command, str(source))
            said.append((ended.returncode, ended.stdout.replace(str(source), "DIR")))
        assert said[0] == said[1], command
    assert call("recordings", "drift", str(folder), str(plain)).returncode == 0
    ended = call("compare", str(folder), str(plain))
    assert ended.returncode == 0, ended.stdout


def test_a_service_behind_a_world_is_read_in_its_journal_and_passed_on_as_it_came(
    upstream, tmp_path
):
    upstream.reply = packed("gzip")
    came = ("gzip", PACKERS["gzip"](BODY))
    bases = {"upstream_v1": upstream.url, "upstream_v2": upstream.url}
    tape = {"record": "new", "recordings": str(tmp_path / "tape"), **bases}
    with mock_running() as mock, mock.world("taped", **tape) as world:
        port, prefix = urlsplit(world.base_url_v2).port or 0, urlsplit(world.base_url_v2).path
        assert get(port, "gzip", f"{prefix}/v1/getChain") == came
        (entry,) = control(port, f"{prefix}/__mock/journal")["entries"]
        assert entry["response"]["body"] == CHAINS
        text = control(port, f"{prefix}/__mock/recording")["text"]
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "flow.yaml").write_text(text)
    for folder in (tmp_path / "tape", tmp_path / "again"):
        with replayed(folder) as port:
            assert get(port, "gzip") == came


def control(port: int, path: str) -> Any:
    return json.loads(get(port, None, path)[1])


@pytest.mark.parametrize("kind", ["truncated-body", "broken-json"])
def test_a_fault_is_done_to_what_is_sent(recorded, kind):
    folder = recorded("gzip")
    with running(frozen(replay=(folder,))) as started:
        with closing(http.client.HTTPConnection("127.0.0.1", started.port, timeout=60)) as line:
            fault = json.dumps({"kind": kind})
            headers = {"Content-Type": "application/json"}
            line.request("POST", "/__mock/faults", fault, headers)
            assert line.getresponse().status == 200
        with closing(http.client.HTTPConnection("127.0.0.1", started.port, timeout=60)) as line:
            line.request("GET", "/v1/getChain", headers={"Accept-Encoding": "gzip"})
            response = line.getresponse()
            if kind == "truncated-body":
                with pytest.raises(http.client.IncompleteRead) as cut:
                    response.read()
                assert cut.value.partial == PACKERS["gzip"](BODY)[: len(PACKERS["gzip"](BODY)) // 2]
            else:
                assert response.getheader("Content-Encoding") is None
                assert b"code" in response.read()
