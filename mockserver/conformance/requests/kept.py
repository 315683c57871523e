"""Requests that somebody wants to be sent in every run: a file of lines, one a request.

What generation has found once becomes such a line, so that the next run asks it without luck.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from mockserver import userfiles
from mockserver.conformance.requests.negative import signed
from mockserver.conformance.session.caller import SECRET_HEADERS
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import JSON_TYPE, Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.target import UnsafeOrWrong
from mockserver.contract import Operation
from mockserver.jsontext import Json
from mockserver.values import dataclass

_MEMBERS = {"operation": str, "query": str, "headers": dict, "body": str, "signed": bool}
_MADE = ("appkey", "expiretime", "timestamp", "signature", "content-type")
"""Headers that are made anew whenever a request is sent."""
_OF_CHANCE = ("generated ", "fuzzed ", "kept ")
_SECRET = frozenset(name.lower() for name in SECRET_HEADERS)


@dataclass(frozen=True, slots=True)
class KeptRequest:
    """A request as a line keeps it, without the time and the keys it was made with.

    `query` is as it travels, `body` text. Where it was `signed` it is signed anew.
    """

    operation_id: str
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    signed: bool = False

    @property
    def line(self) -> str:
        """The line that keeps it."""
        told: dict[str, Json] = {"operation": self.operation_id}
        if self.query:
            told["query"] = self.query
        if self.headers:
            told["headers"] = dict(self.headers)
        if self.body is not None:
            told["body"] = self.body
        if self.signed:
            told["signed"] = True
        return json.dumps(told)

    def draft(self, context: RunContext, operation: Operation) -> Draft:
        """Return the request as it is sent, signed as the caller of the run."""
        headers: dict[str, Json] = dict(self.headers)
        caller = context.caller
        if self.signed and operation.auth == "wallet-signature":
            name = next(one.name for one in operation.fields if one.role == "signature")
            headers[name] = caller.wallet_signature
        draft = Draft(
            headers=headers,
            raw_query=self.query,
            raw_body=None if self.body is None else self.body.encode(),
            content_type=JSON_TYPE,
        )
        return signed(draft, operation, caller) if self.signed else draft


def kept_request(exchange: Exchange) -> KeptRequest | None:
    """Return what keeps a request; None where it is not the operation's own, or is no text."""
    request, operation = exchange.request, exchange.operation
    try:
        body = request.body.decode("utf-8") if request.body else None
    except UnicodeDecodeError:
        return None
    if (request.method, request.path) != (operation.method, operation.path):
        return None
    sent = request.headers.items_sent
    names = {name.lower() for name, _ in sent}
    is_signed = bool(names & _SECRET)
    made = _MADE if is_signed else ("content-type",)
    kept = tuple((name, value) for name, value in sent if name.lower() not in made)
    return KeptRequest(operation.id, request.query, kept, body, is_signed)


def kept_line(exchange: Exchange) -> str:
    """Return the line that keeps a request which chance has made; empty for a planned one."""
    words = exchange.probe.partition("/")[2]
    kept = kept_request(exchange) if words.startswith(_OF_CHANCE) else None
    return "" if kept is None else kept.line


def read_kept(file: Path) -> tuple[KeptRequest, ...]:
    """Return the requests of a file; lines that are empty or begin with `#` say nothing.

    Raises `UnsafeOrWrong` with the line for what is no request.
    """
    try:
        text = userfiles.read_text(file)
    except userfiles.NotReadable as error:
        raise UnsafeOrWrong(f"the probes {str(file)!r}: {error}") from None
    return kept_of(text.splitlines(), str(file))


def kept_of(lines: Iterable[str], source: str) -> tuple[KeptRequest, ...]:
    """Return the requests of lines. Raises as `read_kept` does, with `source` as the file."""
    return tuple(
        _parsed(line, f"{source}:{number}")
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    )


def _parsed(line: str, place: str) -> KeptRequest:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        raise UnsafeOrWrong(f"{place}: expected a JSON object, got {line[:60]!r}") from None
    if not isinstance(told, dict) or "operation" not in told:
        raise UnsafeOrWrong(f"{place}: expected an object with 'operation', got {line[:60]!r}")
    for name, value in told.items():
        if not isinstance(value, _MEMBERS.get(name, ())):
            wanted = ", ".join(f"{one} ({kind.__name__})" for one, kind in _MEMBERS.items())
            raise UnsafeOrWrong(f"{place}: {name} is {value!r}; expected {wanted}")
    headers: Mapping[str, Json] = told.get("headers", {})
    if not all(isinstance(value, str) for value in headers.values()):
        raise UnsafeOrWrong(f"{place}: headers: expected texts, got {headers!r}")
    return KeptRequest(
        operation_id=told["operation"],
        query=told.get("query", ""),
        headers=tuple((name, str(value)) for name, value in headers.items()),
        body=told.get("body"),
        signed=told.get("signed", False),
    )
