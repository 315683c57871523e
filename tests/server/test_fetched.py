"""What a first answer does not need is fetched behind the ready line, and not by requests."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from mockserver.contract import Operation
from mockserver.contract.load import load
from tests.conftest import eventually

_WATCHED = """
import os, sys

def watched(event, arguments):
    if event in ("open", "import"):
        os.write(2, f"{event} {arguments[0]}\\n".encode())

sys.addaudithook(watched)
from mockserver.cli import main
main()
"""
_IN_MEMORY = "what requests need is in memory"


class _Server:
    """A server that tells of every file that it opens and every module that it imports."""

    def __init__(self, process: "subprocess.Popen[str]", said: Path) -> None:
        assert process.stdout is not None
        self._said = said
        self._heard = 0
        port = re.search(r":(\d+) ", process.stdout.readline())
        assert port is not None
        self.url = f"http://127.0.0.1:{port[1]}"

    def fetched_until(self, line: str) -> list[str]:
        """Return what was opened and imported before it logs a line."""
        before = self._heard

        def heard() -> bool:
            lines = self._said.read_text().splitlines()
            places = [at for at, one in enumerate(lines) if at >= before and line in one]
            self._heard = places[0] + 1 if places else before
            return bool(places)

        eventually(heard, f"a word of {line!r}")
        found = self._said.read_text().splitlines()[before : self._heard]
        return [one for one in found if one.startswith(("open ", "import "))]

    def fetched_until_lost(self, path: str) -> list[str]:
        """Ask for a path that is not there; return what was opened and imported before."""
        with pytest.raises(HTTPError):
            urlopen(f"{self.url}{path}", timeout=60)
        return self.fetched_until(path)

    def refuses(self, operation: Operation, example: Mapping[str, Any]) -> bool:
        """Ask for what an example asks for; return whether that is refused."""
        texts = {name: str(value) for name, value in example.get("query", {}).items()}
        query = urlencode(texts).replace("=False", "=false")
        body = json.dumps(example["body"]).encode() if "body" in example else None
        headers = {"Content-Type": "application/json", **example.get("headers", {})}
        url = f"{self.url}{operation.path}?{query}"
        with urlopen(Request(url, body, headers, method=operation.method), timeout=60) as answer:
            return "X-Mock-Refusal" in answer.headers


@contextmanager
def _watched(dialect: str, said: Path) -> Iterator[_Server]:
    command = [sys.executable, "-c", _WATCHED, "serve", "--port", "0", "--log-level", "debug"]
    command += ["--scenario", "published-examples", "--dialect", dialect]
    # Into a file: a pipe that is full at times loses lines.
    with (
        said.open("w") as stderr,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as process,
    ):
        try:
            yield _Server(process, said)
        finally:
            process.terminate()


def _odd(example: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example that lacks everything and has what nobody knows."""
    return {"query": {"odd": "1"}, **{name: {} for name in example if name == "body"}}


@pytest.mark.parametrize(("dialect", "count"), [("documented", 19), ("observed", 29)])
@pytest.mark.deep(quick=1)
def test_no_operation_opens_a_file_or_imports_a_module_once_all_is_fetched(
    tmp_path, dialect, count
):
    with _watched(dialect, tmp_path / "said") as server:
        behind = server.fetched_until(_IN_MEMORY)
        assert any("facts.yaml" in one for one in behind)
        operations = list(load(dialect))
        assert len(operations) == count
        answered = [one for one in operations if not server.refuses(one, one.row["example"])]
        assert server.fetched_until_lost("/sound") == []
        odd = {one.id: _odd(one.row["example"]) for one in operations}
        refused = [one for one in operations if server.refuses(one, odd[one.id])]
        explaining = server.fetched_until_lost("/odd")
        assert any("mockserver.schemaerrors" in one for one in explaining)
        assert [
            one for one in operations if server.refuses(one, _odd(one.row["example"]))
        ] == refused
        assert server.fetched_until_lost("/odd-again") == []
        assert len(answered) >= count - 1
        assert len(refused) > count / 2
