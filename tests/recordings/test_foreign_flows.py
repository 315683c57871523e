"""Whole flows of each generation through the file of each other tool and back, byte for byte.

The tests of the tools themselves need VCR.py (PyPI: vcrpy), and Java with WireMock (npm install
--no-save wiremock, in tests/npm; or a path in CROSSCHAIN_WIREMOCK_JAR).
"""

import base64
import gzip
import http.client
import itertools
import json
import os
import shutil
import subprocess
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mockserver.recordings import gather
from tests.conftest import frozen, running
from tests.recordings.conftest import recording
from tests.recordings.services.ferry import Ferry
from tests.recordings.services.flows import (
    FERRY,
    LATTICE,
    WALLET,
    Client,
    Route,
    flow_v1,
    flow_v2,
    unpacked,
)
from tests.recordings.services.lattice import Lattice
from tests.recordings.services.serving import Query, Reply, Service, serving

FORMATS = ("har", "vcr", "wiremock")
JARS = Path(__file__).parents[1] / "npm" / "node_modules" / "wiremock" / "build"
ODD = b"\xff\xfe\x00\x01 no text \x80"


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as a client sends it, and the status and body that it got."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes | None
    status: int = 0
    answer: bytes = b""
    came: tuple[str | None, bytes] = field(default=(None, b""), compare=False)
    """The content coding, and the bytes in it."""


class Odd:
    """A service of the tests, whose answers come compressed in turn, and oddly for odd requests."""

    def __init__(self, service: Service, *, packs: bool = True) -> None:
        self.service, self.packs = service, packs
        self.now, self.count = service.now, itertools.count()

    def malformed(self, query: Query) -> Reply:
        return self.service.malformed(query)

    def answer(self, query: Query) -> Reply:
        if query.headers.get("chain") == "ODD":
            return Reply(200, ODD, {"Content-Type": "application/octet-stream"})
        if query.query.get("symbol") == "Ünï/cö+de ":
            return Reply(200, '{"code":0,"data":"Ω\u2028\\u00e9"}'.encode(), {})
        if query.headers.get("content-type") == "application/x-www-form-urlencoded":
            return Reply(415, b"<p>no forms</p>\r\n", {"Content-Type": "text/html"})
        reply = self.service.answer(query)
        packers = {"gzip": gzip.compress, "deflate": zlib.compress, "": None}
        coding = ("gzip", "deflate", "")[next(self.count) % 3]
        packer = packers[coding]
        if not self.packs or packer is None or "Content-Encoding" in reply.headers:
            return reply
        return Reply(
            reply.status, packer(reply.body), {**reply.headers, "Content-Encoding": coding}
        )


def send(base: str, sent: Sent) -> Sent:
    """Send a request, and return it with what came."""
    parts = urlsplit(base)
    with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)) as line:
        line.request(sent.method, sent.path, sent.body, sent.headers)
        response = line.getresponse()
        came = response.headers.get("Content-Encoding"), response.read()
    body = unpacked(came[1], came[0])
    return Sent(sent.method, sent.path, sent.headers, sent.body, response.status, body, came)


class Noting(Client):
    """A client that notes what it sends and what came."""

    def __init__(self, base_url: str) -> None:
        super().__init__(base_url)
        self.sent: list[Sent] = []

    def send(self, method: str, path: str, headers: Any = None, body: Any = None) -> Any:
        """Send a request with a body of JSON."""
        content = None if body is None else json.dumps(body).encode()
        form = {} if content is None else {"Content-Type": "application/json"}
        return json.loads(self.plain(method, path, {**form, **(headers or {})}, content))

    def plain(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None = None
    ) -> bytes:
        """Send a request as it is."""
        self.sent.append(send(self.base_url, Sent(method, path, headers, body)))
        return self.sent[-1].answer


def odd_requests(client: Noting) -> None:
    """Send what flows seldom do: bytes, forms, other spellings, the same with more or less."""
    tokens = "/open/v1/base/getSupportTokens"
    client.plain("GET", tokens, {"chain": "ODD"})
    client.plain("GET", "/v1/getPrice?symbol=%C3%9Cn%C3%AF%2Fc%C3%B6%2Bde+&chain=ETH", {})
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    client.plain("POST", "/v1/submitTicket", form, b"hash=0xab&chain=%C3%A9")
    client.plain("POST", "/v1/submitTicket", {"Content-Type": "application/json"}, b"\xff\xfe{")
    client.plain("GET", tokens, {})
    client.plain("GET", "/v1/checkOrder", {})
    client.plain("GET", "/v1/getAssetsByChain?chain=A&chain=B", {})
    signed = {"Content-Type": "application/json", "Evmaddress": WALLET}
    report = json.dumps({"hash": "0x" + "3e" * 32, "chain": "ETH"}).encode()
    client.plain("POST", "/v1/submitTicket", signed, report)
    client.plain("POST", "/v1/submitTicket", {**signed, "Signature": "0x" + "5a" * 65}, report)


@dataclass
class Recorded:
    """A folder of recordings, and what the client had sent and got."""

    folder: Path
    sent: list[Sent]


SERVICES: dict[str, tuple[Any, Route]] = {"ferry": (Ferry, FERRY), "lattice": (Lattice, LATTICE)}


@pytest.fixture(scope="module", params=sorted(SERVICES))
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Both generations of a service, recorded."""
    make, route = SERVICES[request.param]
    service, folder = Odd(make()), tmp_path_factory.mktemp(request.param) / "recorded"
    with serving(service) as url:
        bases = ("--upstream-v1", url, "--upstream-v2", url)
        with recording("--out", str(folder), *bases, "--arm-writes") as (port, _):
            client = Noting(f"http://127.0.0.1:{port}")
            flow_v1(client, route, service.now.advance)
            flow_v2(client, route, service.now.advance)
            odd_requests(client)
    return Recorded(folder, client.sent)


def differing(base: str, sent: list[Sent], *, packed: bool = True) -> list[tuple[Sent, Sent]]:
    """Send requests again, and return those answered otherwise.

    With `packed`, compressed answers have to be the same bytes as well.
    """
    again = [send(base, before) for before in sent]
    return [
        pair
        for pair in zip(sent, again, strict=True)
        if pair[0] != pair[1] or (packed and pair[0].came != pair[1].came)
    ]


def exported(call: Callable[..., Any], folder: Path, name: str, base: str = "") -> tuple[Path, str]:
    """Export recordings; return the file and what was said."""
    file = folder.parent / f"{folder.name}.{name}{'.yaml' if name == 'vcr' else '.json'}"
    more = ("--base-url", base) if base else ()
    ended = call("recordings", "export", str(folder), "--to", name, "--out", str(file), *more)
    assert ended.returncode == 0, ended.stderr
    return file, ended.stderr


@pytest.mark.deep(quick=2)
def test_a_replay_answers_as_the_service_did(recorded: Recorded) -> None:
    with running(frozen(replay=(recorded.folder,))) as started:
        assert differing(f"http://127.0.0.1:{started.port}", recorded.sent) == []


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.deep(quick=3)
def test_a_flow_comes_back_from_a_file_of_another_tool(
    recorded: Recorded, call: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    file, said = exported(call, recorded.folder, name)
    ended = call("recordings", "import", str(file), "--out", "back")
    total = len(recorded.sent)
    assert f"{total} of {total} exchanges can be used" in ended.stdout, ended.stderr
    with running(frozen(replay=(tmp_path / "back",))) as started:
        base = f"http://127.0.0.1:{started.port}"
        assert differing(base, recorded.sent, packed=name != "har") == []
    # What does not come back is said, and nothing of the messages is among it but headers.
    for part in ("address", "body of the request", "body of the answer"):
        assert f": the {part} of" not in said


@pytest.mark.parametrize("form", ["journal", "recording"])
@pytest.mark.deep(quick=2)
def test_a_flow_comes_back_from_the_journal_of_the_mock(
    recorded: Recorded, call: Callable[..., Any], tmp_path: Path, form: str
) -> None:
    with running(frozen(replay=(recorded.folder,))) as started:
        base = f"http://127.0.0.1:{started.port}"
        assert differing(base, recorded.sent) == []
        shown = send(base, Sent("GET", f"/__mock/{form}", {}, None))
    if form == "recording":
        (tmp_path / "back").mkdir()
        (tmp_path / "back" / "flow.yaml").write_text(json.loads(shown.answer)["text"])
    else:
        (tmp_path / "journal.json").write_bytes(shown.answer)
        ended = call("recordings", "import", "journal.json", "--out", "back")
        total = len(recorded.sent)
        assert f"{total} of {total} exchanges can be used" in ended.stdout, ended.stderr
    with running(frozen(replay=(tmp_path / "back",))) as started:
        assert differing(f"http://127.0.0.1:{started.port}", recorded.sent) == []


@pytest.mark.parametrize("name", sorted(SERVICES))
@pytest.mark.deep
def test_what_conform_has_sent_comes_back_from_its_journal(
    call: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    make, _ = SERVICES[name]
    with serving(Odd(make())) as url:
        call("conform", url, "--journal", "run.jsonl", "--budget", "60", "--arm-writes")
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()][1:]
    ended = call("recordings", "import", "run.jsonl", "--out", "back")
    usable, _, total = ended.stdout.partition(" exchanges")[0].rpartition(": ")[2].split(" ")[:3]
    back = [
        exchange
        for source in gather([tmp_path / "back"])
        for exchange in source.recording.exchanges
    ]
    assert len(back) == int(usable) > 40
    # A submission has a line before it is sent, and another one with its answer.
    lines = [line for line in lines if line.get("answer")]
    assert int(total) == len(lines)
    # What the journal has of an answer is in the recording, and is what a replay sends.
    kept = Counter((entry["answer"]["status"], _bytes(entry["answer"]["body"])) for entry in lines)
    assert not Counter((one.response.status, one.response.body) for one in back) - kept
    assert {exchange.operation[:2] for exchange in back} == {"v1", "v2"}
    sent = [
        Sent(
            exchange.request.method,
            exchange.request.target,
            dict(exchange.request.headers.items_sent),
            exchange.request.body or None,
            exchange.response.status,
            exchange.response.body,
        )
        for exchange in back
    ]
    with running(frozen(replay=(tmp_path / "back",))) as started:
        base = f"http://127.0.0.1:{started.port}"
        assert differing(base, sent, packed=False) == []


def _bytes(shown: Any) -> bytes:
    return shown.encode() if isinstance(shown, str) else base64.b64decode(shown["base64"])


@pytest.fixture(scope="module")
def wiremock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a WireMock without mappings."""
    jar = os.environ.get("CROSSCHAIN_WIREMOCK_JAR") or next(iter(sorted(JARS.glob("*.jar"))), None)
    if jar is None or shutil.which("java") is None:
        pytest.skip("needs Java and WireMock (npm install --no-save wiremock, in tests/npm)")
    folder = tmp_path_factory.mktemp("wiremock")
    options = ("--port", "0", "--bind-address", "127.0.0.1", "--root-dir", str(folder))
    command = ["java", "-jar", str(jar), *options, "--disable-banner"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        port = next(line.split()[1] for line in process.stdout if line.startswith("port:"))
        # It says more later, which nobody else takes.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_wiremock_itself_answers_as_the_service_did(
    recorded: Recorded, call: Callable[..., Any], wiremock: str
) -> None:
    file, _ = exported(call, recorded.folder, "wiremock")
    send(wiremock, Sent("DELETE", "/__admin/mappings", {}, None))
    taken = send(wiremock, Sent("POST", "/__admin/mappings/import", {}, file.read_bytes()))
    assert taken.status == 200, taken.answer
    assert differing(wiremock, recorded.sent) == []


def test_vcr_itself_answers_as_the_service_did(
    recorded: Recorded, call: Callable[..., Any]
) -> None:
    vcr = pytest.importorskip("vcr")
    base = "http://127.0.0.1:9"
    file, _ = exported(call, recorded.folder, "vcr", base)
    matched = ("method", "uri", "chain", "signed", "raw_body")
    player = vcr.VCR(match_on=matched, record_mode="none")
    player.register_matcher(
        "chain", lambda *pair: _same(lambda request: request.headers.get("chain"), pair)
    )
    player.register_matcher(
        "signed", lambda *pair: _same(lambda request: "Signature" in request.headers, pair)
    )
    player.register_matcher(
        "raw_body", lambda *pair: _same(lambda request: request.body or b"", pair)
    )
    with player.use_cassette(str(file)) as cassette:
        assert differing(base, recorded.sent) == []
        assert cassette.play_count == len(recorded.sent)


def _same(part: Callable[[Any], Any], requests: tuple[Any, Any]) -> None:
    assert part(requests[0]) == part(requests[1])


def test_what_vcr_itself_recorded_comes_in(call: Callable[..., Any], tmp_path: Path) -> None:
    vcr = pytest.importorskip("vcr")
    service = Odd(Lattice())
    with serving(service) as url, vcr.use_cassette(str(tmp_path / "flow.yaml")):
        client = Noting(url)
        flow_v1(client, LATTICE, service.now.advance)
        flow_v2(client, LATTICE, service.now.advance)
        odd_requests(client)
    ended = call("recordings", "import", "flow.yaml", "--out", "new")
    total = len(client.sent)
    assert f"{total} of {total} exchanges can be used" in ended.stdout, ended.stderr
    with running(frozen(replay=(tmp_path / "new",))) as started:
        assert differing(f"http://127.0.0.1:{started.port}", client.sent) == []


def test_what_wiremock_itself_recorded_comes_in(
    call: Callable[..., Any], wiremock: str, tmp_path: Path
) -> None:
    # WireMock itself writes down deflated bytes as a text, and they are lost.
    service = Odd(Lattice(), packs=False)
    send(wiremock, Sent("DELETE", "/__admin/mappings", {}, None))
    with serving(service) as url:
        spec = {
            "targetBaseUrl": url, "captureHeaders": {"chain": {}, "Evmaddress": {}},
            "requestBodyPattern": {"matcher": "equalToJson"}, "persist": False,
        }  # fmt: skip
        start = Sent("POST", "/__admin/recordings/start", {}, json.dumps(spec).encode())
        assert send(wiremock, start).status == 200
        client = Noting(wiremock)
        flow_v1(client, LATTICE, service.now.advance)
        flow_v2(client, LATTICE, service.now.advance)
        stopped = send(wiremock, Sent("POST", "/__admin/recordings/stop", {}, None))
    (tmp_path / "mappings.json").write_bytes(stopped.answer)
    ended = call("recordings", "import", "mappings.json", "--out", "new")
    total = len(client.sent)
    assert f"{total} of {total} exchanges can be used" in ended.stdout, ended.stderr
    with running(frozen(replay=(tmp_path / "new",))) as started:
        assert differing(f"http://127.0.0.1:{started.port}", client.sent) == []
