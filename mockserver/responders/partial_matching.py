"""Parts of a request as tests describe them: what is named must match, the rest may be any."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from mockserver import jsontext
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request, pairs_or
from mockserver.jsontext import Json

_OBJECT = object()


class Unmatched(NamedTuple):
    """One part of a request that is not as it must be, not yet in words: there may be thousands."""

    place: str
    name: str | None
    wanted: Any
    came: Json

    def told(self) -> str:
        where = self.place if self.name is None else f"{self.place} {self.name!r}"
        wanted = "an object" if self.wanted is _OBJECT else _got(self.wanted)
        return f"{where}: expected {wanted}, got {_got(self.came)}"


@dataclass(frozen=True, slots=True)
class Subset:
    """The parts of a request that must be as they are here; empty ones do not narrow."""

    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Mapping[str, Json]

    def takes(self, request: Request) -> bool:
        return next(self.differences(request), None) is None

    def differences(self, request: Request) -> Iterator[Unmatched]:
        """Yield in what a request differs; nothing where it matches."""
        if self.query:
            # The first of a repeated parameter counts.
            sent = dict(reversed(pairs_or(request.query)))
            for name, value in self.query.items():
                if sent.get(name) != value:
                    yield Unmatched("query parameter", name, value, sent.get(name))
        for name, value in self.headers.items():
            if request.headers.get(name) != value:
                yield Unmatched("header", name, value, request.headers.get(name))
        if self.body:
            yield from _differences(self.body, jsontext.decode_or(request.body), "body", None)


def subset_of(definition: Mapping[str, Json]) -> Subset:
    """Return the subset that a request describes; numbers of query and headers become text."""
    return Subset(
        {name: _text(value) for name, value in definition.get("query", {}).items()},
        {name: _text(value) for name, value in definition.get("headers", {}).items()},
        definition.get("body", {}),
    )


def _differences(wanted: Json, came: Json, place: str, name: str | None) -> Iterator[Unmatched]:
    if isinstance(wanted, Mapping):
        where = place if name is None else f"{place} {name!r}"
        if not isinstance(came, Mapping):
            yield Unmatched(place, name, _OBJECT, came)
            return
        for member, value in wanted.items():
            yield from _differences(value, came.get(member), f"{where} field", member)
    elif not _same(wanted, came):
        yield Unmatched(place, name, wanted, came)


def _same(wanted: Json, came: Json) -> bool:
    if isinstance(wanted, bool) or isinstance(came, bool):
        return wanted is came
    return bool(wanted == came)


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return jsontext.plain(value) if isinstance(value, Decimal) else str(value)


def _got(value: Json) -> str:
    text = "nothing" if value is None else ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
