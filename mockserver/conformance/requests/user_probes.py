"""Requests that the user wants in every run: a file with one request a line.

A request that generation has found once becomes such a line, so that every later run sends it.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from mockserver import userfiles
from mockserver.conformance.requests.negative import signed
from mockserver.conformance.session.caller import SECRET_HEADERS
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.request_draft import JSON_TYPE, Draft
from mockserver.conformance.session.target import UnsafeOrWrong
from mockserver.contract import Operation
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, read_loosely
from mockserver.signing.developer_signatures import IN_LOWER_CASE

_MEMBERS = {"operation": str, "query": str, "headers": dict, "body": str, "signed": bool}
# Headers that are made anew whenever a request is sent.
_MADE = {*IN_LOWER_CASE, "content-type"}


@dataclass(frozen=True, slots=True)
class SavedRequest:
    """A request as a line has it, without the time and the keys it was made with.

    `query` is as it travels, `body` text. Where it was `signed` it is signed anew.
    """

    operation_id: str
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    signed: bool = False

    @property
    def line(self) -> str:
        members: dict[str, Json] = {"query": self.query, "headers": dict(self.headers)}
        members |= {"body": self.body, "signed": self.signed}
        there = {name: value for name, value in members.items() if value}
        return json.dumps({"operation": self.operation_id, **there})

    def draft(self, context: RunContext, operation: Operation) -> Draft:
        """Return the request as it is sent, signed as the caller of the run."""
        headers: dict[str, Json] = dict(self.headers)
        caller = context.caller
        if self.signed and operation.auth == "wallet-signature":
            name = next(field.name for field in operation.fields if field.role == "signature")
            headers[name] = caller.wallet_signature
        body = None if self.body is None else self.body.encode()
        draft = Draft(headers, raw_query=self.query, raw_body=body, content_type=JSON_TYPE)
        return signed(draft, operation, caller) if self.signed else draft


def saved_request(exchange: Exchange) -> SavedRequest | None:
    """Return what saves a request; None where it is not the operation's own, or is no text."""
    request, operation = exchange.request, exchange.operation
    try:
        body = request.body.decode("utf-8") if request.body else None
    except UnicodeDecodeError:
        return None
    if (request.method, request.path) != (operation.method, operation.path):
        return None
    sent = request.headers.items_sent
    is_signed = any(name.lower() in SECRET_HEADERS for name, _ in sent)
    made = _MADE if is_signed else ("content-type",)
    headers = tuple((name, value) for name, value in sent if name.lower() not in made)
    return SavedRequest(operation.id, request.query, headers, body, is_signed)


def read_saved(file: Path) -> tuple[SavedRequest, ...]:
    """Return the requests of a file; lines that are empty or begin with `#` say nothing.

    Raises `UnsafeOrWrong` with the line for what is no request.
    """
    try:
        text = userfiles.read_text(file)
    except userfiles.NotReadable as error:
        raise UnsafeOrWrong(f"the probes {str(file)!r}: {error}") from None
    return saved_in(text.splitlines(), str(file))


def saved_in(lines: Iterable[str], source: str) -> tuple[SavedRequest, ...]:
    """Return the requests of lines. Raises as `read_saved` does, with `source` as the file."""
    return tuple(
        _parsed(line, f"{source}:{number}")
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    )


def _parsed(line: str, place: str) -> SavedRequest:
    try:
        row = read_loosely(line)
    except ValueError:
        raise UnsafeOrWrong(f"{place}: expected a JSON object, got {line[:60]!r}") from None
    if not isinstance(row, dict) or "operation" not in row:
        raise UnsafeOrWrong(f"{place}: expected an object with 'operation', got {line[:60]!r}")
    for name, value in row.items():
        if not isinstance(value, _MEMBERS.get(name, ())):
            wanted = ", ".join(f"{member} ({kind.__name__})" for member, kind in _MEMBERS.items())
            raise UnsafeOrWrong(f"{place}: {name} is {value!r}; expected {wanted}")
    headers = row.pop("headers", {})
    if not all(isinstance(value, str) for value in headers.values()):
        raise UnsafeOrWrong(f"{place}: headers: expected texts, got {headers!r}")
    return SavedRequest(row.pop("operation"), headers=tuple(headers.items()), **row)
