"""Parts of a request as tests describe them: what is named must match, the rest may be any."""

from collections.abc import Mapping
from decimal import Decimal

from mockserver import jsontext
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request, pairs_or
from mockserver.jsontext import Json


@dataclass(frozen=True, slots=True)
class Subset:
    """The parts of a request that must be as they are here; empty ones do not narrow."""

    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Mapping[str, Json]

    def takes(self, request: Request) -> bool:
        return not self.missing(request)

    def missing(self, request: Request) -> list[str]:
        """Return how a request differs, as sentences; empty where it matches."""
        sentences = []
        if self.query:
            # The first of a repeated parameter counts.
            sent = dict(reversed(pairs_or(request.query)))
            sentences += [
                f"query parameter {name!r}: expected {value!r}, got {_got(sent.get(name))}"
                for name, value in self.query.items()
                if sent.get(name) != value
            ]
        sentences += [
            f"header {name!r}: expected {value!r}, got {_got(request.headers.get(name))}"
            for name, value in self.headers.items()
            if request.headers.get(name) != value
        ]
        if self.body:
            sentences += _differences(self.body, jsontext.decode_or(request.body), "body")
        return sentences


def subset_of(definition: Mapping[str, Json]) -> Subset:
    """Return the subset that a request describes; numbers of query and headers become text."""
    return Subset(
        {name: _text(value) for name, value in definition.get("query", {}).items()},
        {name: _text(value) for name, value in definition.get("headers", {}).items()},
        definition.get("body", {}),
    )


def _differences(wanted: Json, came: Json, place: str) -> list[str]:
    if isinstance(wanted, Mapping):
        if not isinstance(came, Mapping):
            return [f"{place}: expected an object, got {_got(came)}"]
        return [
            text
            for name, value in wanted.items()
            for text in _differences(value, came.get(name), f"{place} field {name!r}")
        ]
    same = _same(wanted, came)
    return [] if same else [f"{place}: expected {_got(wanted)}, got {_got(came)}"]


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
