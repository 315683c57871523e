"""Finding the recorded answer to a request, and saying how the nearest one differs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mockserver import jsontext
from mockserver.exchange import BadEncoding, Request, query_pairs
from mockserver.jsontext import Json
from mockserver.recordings.recording import RecordedExchange

VOLATILE_HEADERS = frozenset({"appkey", "expiretime", "timestamp", "signature"})
"""Headers that differ at every call of the same client, and are not compared."""


@dataclass(frozen=True, slots=True)
class RequestForm:
    """What of a request is compared with recordings: nothing that changes from call to call."""

    operation: str
    query: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    body: str

    def differences(self, other: "RequestForm") -> Iterator[str]:
        """Yield where another request of the same operation differs, in words."""
        yield from _differ("query parameter", dict(other.query), dict(self.query))
        yield from _differ("header", dict(other.headers), dict(self.headers))
        ours, theirs = _members(other.body), _members(self.body)
        yield from _differ("body field", ours, theirs)


@dataclass(frozen=True, slots=True)
class Miss:
    """No recording answers a request; `nearest` comes closest, and `differences` tell how."""

    nearest: RecordedExchange | None
    differences: tuple[str, ...]

    def sentence(self, operation: str) -> str:
        """Return the whole as a sentence."""
        if self.nearest is None:
            return f"nothing is recorded for {operation}"
        return f"nearest recording {self.nearest.name!r} differs: {'; '.join(self.differences)}"


def form_of(operation: str, header_names: Iterable[str], request: Request) -> RequestForm:
    """Return the comparable form of a request; `header_names` are the operation's own headers."""
    try:
        pairs = query_pairs(request.query)
    except BadEncoding:
        pairs = [("", request.query)]
    headers = [
        (name.lower(), request.headers[name])
        for name in header_names
        if name.lower() not in VOLATILE_HEADERS and name in request.headers
    ]
    return RequestForm(operation, tuple(sorted(pairs)), tuple(sorted(headers)), _canonical(request))


class Shelf:
    """Recorded exchanges, found by the form of a request. Equal requests answer one by one."""

    def __init__(
        self, exchanges: Iterable[RecordedExchange], header_names: Mapping[str, Iterable[str]]
    ) -> None:
        """Index exchanges; `header_names` gives for each operation the headers it declares."""
        self._by_form: dict[RequestForm, list[RecordedExchange]] = {}
        for exchange in exchanges:
            names = header_names.get(exchange.operation, ())
            form = form_of(exchange.operation, names, exchange.request())
            self._by_form.setdefault(form, []).append(exchange)

    def __len__(self) -> int:
        return sum(map(len, self._by_form.values()))

    def find(self, form: RequestForm, seen: int) -> RecordedExchange | None:
        """Return the answer to a request that was asked `seen` times before; the last repeats."""
        found = self._by_form.get(form)
        return found[min(seen, len(found) - 1)] if found else None

    def miss(self, form: RequestForm) -> Miss:
        """Return what came closest to a request that is not recorded."""
        candidates = [
            (tuple(form.differences(known)), exchanges[0])
            for known, exchanges in self._by_form.items()
            if known.operation == form.operation
        ]
        if not candidates:
            return Miss(None, ())
        differences, nearest = min(candidates, key=lambda candidate: len(candidate[0]))
        return Miss(nearest, differences)


def _canonical(request: Request) -> str:
    if not request.body or request.method == "GET":
        return ""
    try:
        value = jsontext.decode(request.body)
    except jsontext.NotJson:
        return request.body.decode("utf-8", "backslashreplace")
    return jsontext.encode(_sorted(value)).decode()


def _sorted(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _members(body: str) -> dict[str, Any]:
    try:
        value = jsontext.decode(body.encode()) if body else {}
    except (jsontext.NotJson, UnicodeEncodeError):
        return {"": body}
    return value if isinstance(value, dict) else {"": value}


def _differ(kind: str, recorded: Mapping[str, Any], came: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*recorded, *came}):
        if name not in came:
            yield f"{kind} {name!r} is missing, recorded {recorded[name]!r}"
        elif name not in recorded:
            yield f"{kind} {name!r} was not recorded"
        elif recorded[name] != came[name]:
            yield f"{kind} {name!r} is {came[name]!r}, recorded {recorded[name]!r}"
