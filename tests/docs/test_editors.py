"""What editors say of files: a YAML language server with the schemas that the command writes.

Needs Node and `npm install` in tests/npm.
"""

import json
import shutil
import subprocess
import sys
from typing import Any

import pytest

from tests.docs.pages import ROOT

SERVER = ROOT / "tests/npm/node_modules/yaml-language-server/bin/yaml-language-server"

BASELINE = """\
format: crosschain-mock/baseline@1
accepted:
  - cause: "cab15e7067"
    rule: "data-form"
    operations: ["v2.getBridgeQuote"]
    reason: "known since spring"
    owner: "payments"
    expires: 2027-01-31
"""
SHIPPED = {
    "scenario": ["fixtures/scenarios/default.yaml", "fixtures/scenarios/outage.yaml"],
    "calendar": ["fixtures/calendars/weekend-halt.yaml", "fixtures/calendars/short-blip.yaml"],
    "recording": [
        "fixtures/recordings/v1/getSupportChains.yaml",
        "fixtures/recordings/v1/submitCrossChain.yaml",
    ],
    "probes": ["schemas/probes.yaml"],
}


def right_files():
    """Return the kind and the text of ten files that are right."""
    found = [
        (kind, (ROOT / file).read_text("utf-8"))
        for kind, files in SHIPPED.items()
        for file in files
    ]
    more = BASELINE.replace("cab15e7067", "0123456789").replace("spring", "today")
    return [*found, ("baseline", BASELINE), ("baseline", more), ("baseline", NOTHING)]


NOTHING = "format: crosschain-mock/baseline@1\naccepted: []\n"


def wrong_files():
    """Return the kind and the text of ten files, each with a mistake of another sort."""
    texts = {kind: (ROOT / files[0]).read_text("utf-8") for kind, files in SHIPPED.items()}
    scenario, calendar = texts["scenario"], texts["calendar"]
    recording, probes = texts["recording"], texts["probes"]
    return [
        ("scenario", scenario + "\ntitel: mistyped\n"),
        ("scenario", scenario.replace("scenario@1", "scenario@9")),
        ("scenario", scenario + "\nclock: 7\n"),
        ("calendar", calendar + "\noutage: []\n"),
        ("calendar", calendar.replace("calendar@1", "calender@1")),
        ("recording", recording + "\n  - 12\n"),
        ("recording", recording.replace("exchanges:", "exchange:")),
        ("probes", probes + "\nprobs: {}\n"),
        ("baseline", BASELINE.replace("owner", "ownr")),
        ("baseline", BASELINE.replace("accepted:", "accepted: 3\nmore:")),
    ]


class LanguageServer:
    """A client of the server over its standard streams."""

    def __init__(self, popen):
        self.popen, self.number = popen, 0

    def send(self, method, params, *, asks=False):
        self.number += asks
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if asks:
            message["id"] = self.number
        self.write(message)

    def write(self, message):
        body = json.dumps(message).encode()
        self.popen.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.popen.stdin.flush()

    def read(self):
        size = 0
        while (line := self.popen.stdout.readline().strip()) or not size:
            assert line or self.popen.poll() is None, "the language server has ended"
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        return json.loads(self.popen.stdout.read(size))

    def until(self, wanted):
        while True:
            message = self.read()
            if "method" in message and "id" in message:
                # It asks for settings, and to register capabilities.
                asked = message.get("params", {}).get("items", [])
                self.write({"jsonrpc": "2.0", "id": message["id"], "result": [None] * len(asked)})
            elif wanted(message):
                return message

    def diagnostics(self, file):
        """Open a file, and return what the server says of it."""
        document = {"uri": file.as_uri(), "languageId": "yaml", "version": 1}
        document["text"] = file.read_text("utf-8")
        self.send("textDocument/didOpen", {"textDocument": document})
        told = self.until(
            lambda message: (
                message.get("method") == "textDocument/publishDiagnostics"
                and message["params"]["uri"] == file.as_uri()
            )
        )
        return [found["message"] for found in told["params"]["diagnostics"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project with the schemas of the formats."""
    project = tmp_path_factory.mktemp("project")
    line = [sys.executable, "-m", "mockserver", "schemas", project / ".crosschain-mock"]
    subprocess.run(line, check=True, capture_output=True)
    return project


@pytest.fixture(scope="module")
def editor(folder):
    node = shutil.which("node")
    if node is None or not SERVER.exists():
        pytest.skip("needs Node, and `npm install` in tests/npm")
    with subprocess.Popen(
        [node, SERVER, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder
    ) as popen:
        server = LanguageServer(popen)
        abilities: dict[str, Any] = {"textDocument": {"publishDiagnostics": {}}}
        about = {"processId": None, "rootUri": folder.as_uri(), "capabilities": abilities}
        server.send("initialize", about, asks=True)
        server.until(lambda message: message.get("id") == 1)
        server.send("initialized", {})
        settings = {"yaml": {"validate": True, "schemaStore": {"enable": False}}}
        server.send("workspace/didChangeConfiguration", {"settings": settings})
        yield server
        popen.kill()


def opened(editor, folder, name, kind, text):
    file = folder / f"{name}.yaml"
    modeline = f"# yaml-language-server: $schema=.crosschain-mock/formats/{kind}.json\n"
    file.write_text(modeline + text, "utf-8")
    return editor.diagnostics(file)


@pytest.mark.parametrize("number", range(10))
def test_an_editor_finds_nothing_in_right_files(editor, folder, number):
    kind, text = right_files()[number]
    assert opened(editor, folder, f"right-{number}", kind, text) == []


@pytest.mark.parametrize("number", range(10))
def test_an_editor_finds_what_is_wrong(editor, folder, number):
    kind, text = wrong_files()[number]
    assert opened(editor, folder, f"wrong-{number}", kind, text)


def seeded(folder, name):
    """Write a scenario from the shipped recordings, and return its text."""
    line = [sys.executable, "-m", "mockserver", "world", "from-recording", "v2", "-o", name]
    subprocess.run(line, cwd=folder, check=True, capture_output=True)
    return (folder / name).read_text("utf-8")


def test_a_written_file_names_its_schema_where_the_schemas_are(folder, editor, tmp_path):
    (folder / "below").mkdir()
    text = seeded(folder / "below", "seeded.yaml")
    assert text.startswith(
        "# yaml-language-server: $schema=../.crosschain-mock/formats/scenario.json\n"
    )
    assert editor.diagnostics(folder / "below/seeded.yaml") == []
    line = [sys.executable, "-m", "mockserver", "validate", folder / "below/seeded.yaml"]
    assert subprocess.run(line, check=False, capture_output=True).returncode == 0
    # A line that leads nowhere would make editors complain.
    assert seeded(tmp_path, "seeded.yaml").startswith("format: ")
