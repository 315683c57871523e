"""Clients that believe nothing: of control answers held to their row, and of broken connections."""

import http.client
import socket
from dataclasses import dataclass
from typing import Any

import pytest

from mockserver import jsontext
from mockserver.server.control import ROWS
from mockserver.validation import SchemaCheck
from tests.cli.conftest import loop, start
from tests.conftest import Answer, Client, order

QUOTE = "amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB"
QUOTE_PATH = f"/v1/getBridgeQuote?{QUOTE}"


@dataclass
class ControlClient:
    """The control API of one world; every answer is held against the row that documents it."""

    client: Client

    def get(self, path: str) -> Any:
        """Show something that must be there."""
        return self.send("GET", path)

    def post(self, path: str, body: Any) -> Any:
        """Have something done that must work."""
        return self.send("POST", path, body)

    def delete(self, path: str) -> Any:
        """Take something away that must be there."""
        return self.send("DELETE", path)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request that must succeed, and hold the answer against its row."""
        answer = self.client.call(method, f"/__mock{path}", body=body)
        assert answer.status == 200, answer.raw
        row = _row(method, path)
        assert not SchemaCheck(row.answer).violations(answer.json), (row.path, answer.json)
        return answer.json

    def refused(self, method: str, path: str, body: Any = None) -> str:
        """Send a request that must be refused with a sentence, and return the sentence."""
        answer = self.client.call(method, f"/__mock{path}", body=body)
        assert answer.status == 400, answer.raw
        assert answer.json.keys() == {"error"}
        return str(answer.json["error"])


def _row(method: str, path: str) -> Any:
    place = path.partition("?")[0]
    wanted = place.split("/")
    for row in ROWS:
        parts = row.path.split("/")
        fits = [
            part == other or part[:1] == "{" for part, other in zip(parts, wanted, strict=False)
        ]
        if row.method == method and len(parts) == len(wanted) and all(fits):
            return row
    raise AssertionError(f"no row for {method} {path}")


@pytest.fixture
def control(mock: Client) -> ControlClient:
    """The control API of the test's own world."""
    return ControlClient(mock)


@dataclass(frozen=True)
class Line:
    """A way to one world that checks nothing, for answers that are broken on purpose."""

    port: int
    prefix: str

    def get(self, path: str, **headers: str) -> Answer:
        """Send a GET on a connection of its own."""
        return self.send("GET", path, headers=headers)

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """Send a request on a connection of its own and read the answer as HTTP has it."""
        raw = None if body is None else jsontext.encode(body)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, f"{self.prefix}{path}", raw, headers or {})
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, named, response.read())
        finally:
            connection.close()

    def submit(self, **changes: Any) -> Answer:
        """Submit a 2.0 order."""
        wallet = {"Evmaddress": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"}
        headers = {**wallet, "Signature": "ab" * 65}
        return self.send("POST", "/v1/submitOrder", order(**changes), headers)

    def raw(self, path: str) -> tuple[bytes, bool]:
        """Send a GET by hand; return all bytes that came, and whether a reset ended them."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as line:
            line.sendall(f"GET {self.prefix}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            came = b""
            try:
                while part := line.recv(65_536):
                    came += part
            except ConnectionResetError:
                return came, True
            return came, False


@pytest.fixture
def line(mock: Client) -> Line:
    """An unchecked way to the test's own world."""
    return Line(mock.port, mock.prefix)


def submitted(control: ControlClient) -> list[str]:
    """Return the ids of the orders that a world has."""
    return [one["id"] for one in control.get("/orders")["orders"]]


__all__ = ["QUOTE", "QUOTE_PATH", "ControlClient", "Line", "loop", "start", "submitted"]
