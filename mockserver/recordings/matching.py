"""How requests are compared with recorded ones: the rules, as data, and how two requests differ."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from mockserver import file_formats, jsontext, resources
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request, pairs_or
from mockserver.jsontext import Json

Part = tuple[str, ...]
"""A part of a request: `headers`, `query` or `body`, and the names that lead to it."""


@dataclass(frozen=True, slots=True)
class End:
    """Where a request names the chain and the token of one end of a transfer."""

    chain: Part
    token: Part = ()


@dataclass(frozen=True, slots=True)
class RouteParts:
    """Where a request names both ends of a transfer; `phase` is `quote` or `submit`."""

    phase: str
    source: End
    target: End | None = None


@dataclass(frozen=True, slots=True)
class MatchRule:
    """How requests of an operation are compared with recorded ones.

    `ignored` parts are not compared. `bound` ones are chosen anew by each client; the answer and
    later requests follow the choice. `near` gives by how many percent an amount may be off.
    """

    ignored: tuple[Part, ...] = ()
    bound: tuple[Part, ...] = ()
    near: Mapping[Part, Decimal] = field(default_factory=dict)
    route: RouteParts | None = None


@dataclass(frozen=True, slots=True)
class MatchRules:
    """The rules of every operation; `every` holds for those that have none of their own."""

    every: MatchRule = field(default_factory=MatchRule)
    operations: Mapping[str, MatchRule] = field(default_factory=dict)

    def of(self, operation: str) -> MatchRule:
        return self.operations.get(operation, self.every)


def load_rules(file: Path | None = None) -> MatchRules:
    """Return the rules of a file, by default the shipped ones. Raises `InvalidFile`."""
    value = file_formats.read(file or resources.schemas() / "matching.yaml", "matching").value
    every = _rule(value.get("every", {}), MatchRule())
    rows = value.get("operations", {})
    return MatchRules(every, {name: _rule(row, every) for name, row in rows.items()})


def _rule(row: Mapping[str, Any], every: MatchRule) -> MatchRule:
    route = row.get("route", {})
    ends = {
        name: End(**{member: _part(part) for member, part in route[name].items()})
        for name in ("source", "target")
        if name in route
    }
    return MatchRule(
        ignored=(*every.ignored, *map(_part, row.get("ignored", ()))),
        bound=(*every.bound, *map(_part, row.get("bound", ()))),
        near={_part(name): Decimal(most) for name, most in row.get("near", {}).items()},
        route=RouteParts(route["phase"], **ends) if route else None,
    )


def _part(text: str) -> Part:
    where, *names = text.split(".")
    return (where, *(name.lower() for name in names)) if where == "headers" else (where, *names)


# A client chooses the text: a million digits would take seconds, and no amount has more.
_MOST_DIGITS = 100
# Not None, which is a body as well: JSON's `null`.
_NO_JSON = object()


@dataclass(frozen=True, slots=True)
class RequestForm:
    """The parts of a request that are compared with recordings, without those of each call."""

    operation: str
    query: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    body: str

    def differences(self, request_form: "RequestForm") -> Iterator[str]:
        """Yield where another request of the same operation differs, in words."""
        yield from _differ("query parameter", dict(request_form.query), dict(self.query))
        yield from _differ("header", dict(request_form.headers), dict(self.headers))
        ours, theirs = _members(request_form.body), _members(self.body)
        yield from _differ("body field", ours, theirs)


@dataclass(frozen=True, slots=True)
class RequestReading:
    """A request, read by its operation's rule.

    `form` is what is compared; `loose` is the same without the amounts that may be near, which
    `amounts` holds. `bound` holds the values that each client chooses anew. `absent` are the
    operation's headers that it lacks: a service refuses that, also where their values are ignored.
    """

    form: RequestForm
    loose: RequestForm
    bound: Mapping[Part, str]
    amounts: Mapping[Part, Decimal]
    absent: frozenset[str] = frozenset()

    def distance(self, request_reading: "RequestReading", rule: MatchRule) -> Decimal | None:
        """Return by how many percent the amounts are off; None where that is too much."""
        if self.loose != request_reading.loose or set(self.amounts) != set(request_reading.amounts):
            return None
        worst = Decimal(0)
        for part, recorded in self.amounts.items():
            if recorded <= 0:
                # No percentage of nothing says how far another amount is from it.
                return None
            off = abs(request_reading.amounts[part] - recorded) * 100 / recorded
            if off > rule.near[part]:
                return None
            worst = max(worst, off)
        return worst


class RequestParts:
    """The parts of a request by name; texts that hold hexadecimal JSON are read as JSON."""

    def __init__(
        self, header_names: Iterable[str], request: Request, choices: Mapping[str, str]
    ) -> None:
        """Read a request; `choices` says which text of this client stands for a recorded one."""
        self._choices = choices
        pairs = pairs_or(request.query, [("", request.query)])
        self.query = [(name, self._recorded(value)) for name, value in pairs]
        self.headers = {
            name.lower(): request.headers[name] for name in header_names if name in request.headers
        }
        self.body = self._translated(_body(request))

    def drop(self, names: frozenset[str]) -> None:
        """Take out every part of these names, which are in lower case, wherever it stands."""
        self.query = [pair for pair in self.query if pair[0].lower() not in names]
        self.headers = {name: text for name, text in self.headers.items() if name not in names}
        self.body = self._without(self.body, names)

    def form(self, operation: str) -> RequestForm:
        """Return what is left, in a form to be compared."""
        body = "" if self.body is None else jsontext.canonical(self.body)
        # The order of parameters and headers, in which clients differ, makes no other request.
        headers = sorted(self.headers.items())
        return RequestForm(operation, tuple(sorted(self.query)), tuple(headers), body)

    def text(self, part: Part, *, take: bool = False) -> str:
        """Return a part as text, and with `take` remove it; empty where there is none."""
        where, *names = part
        if where == "body":
            return self._in_body(names, take=take)
        if where == "headers":
            return (self.headers.pop if take else self.headers.get)(names[0], "")
        first_value = next((value for name, value in self.query if name == names[0]), "")
        if take:
            self.query = [pair for pair in self.query if pair[0] != names[0]]
        return first_value

    def _in_body(self, names: list[str], *, take: bool) -> str:
        node: Any = self.body
        for name in names[:-1]:
            if not isinstance(node, dict) or name not in node:
                return ""
            if isinstance(node[name], str):
                node[name] = self._translated(_unpacked(node[name]))
            node = node[name]
        if not isinstance(node, dict) or names[-1] not in node:
            return ""
        member = node.pop(names[-1]) if take else node[names[-1]]
        return member if isinstance(member, str) else jsontext.encode(member).decode()

    def _without(self, value: Json, names: frozenset[str]) -> Json:
        match value:
            case dict():
                kept = {name: item for name, item in value.items() if name.lower() not in names}
                return {name: self._without(item, names) for name, item in kept.items()}
            case list():
                return [self._without(item, names) for item in value]
            case str() if isinstance(inside := _unpacked(value), dict):
                left = self._without(inside, names)
                return value if left == inside else self._translated(left)
            case _:
                return value

    def _recorded(self, text: str) -> str:
        return self._choices.get(text.lower(), text) if self._choices else text

    def _translated(self, value: Json) -> Json:
        if not self._choices:
            return value
        if isinstance(value, dict):
            return {name: self._translated(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self._translated(item) for item in value]
        return self._recorded(value) if isinstance(value, str) else value


def read_request(
    operation: str,
    header_names: Iterable[str],
    request: Request,
    rule: MatchRule,
    choices: Mapping[str, str] | None,
    removed: frozenset[str],
) -> RequestReading:
    """Return a request as it is compared; `header_names` are the operation's own headers.

    `removed` are names, in lower case, of what a recorder took out: it cannot be compared.
    """
    parts = RequestParts(header_names, request, choices or {})
    absent = frozenset(map(str.lower, header_names)).difference(parts.headers)
    if removed:
        parts.drop(removed)
    for part in rule.ignored:
        parts.text(part, take=True)
    bound = {part: value for part in rule.bound if (value := parts.text(part, take=True))}
    # Before the amounts are taken out: a recording of the very same amounts comes first.
    form = parts.form(operation)
    read = {part: number_in(parts.text(part)) for part in rule.near}
    amounts = {part: amount for part, amount in read.items() if amount is not None}
    for part in amounts:
        parts.text(part, take=True)
    loose = parts.form(operation) if amounts else form
    return RequestReading(form, loose, bound, amounts, absent)


def number_in(text: str) -> Decimal | None:
    """Return the number that a text is; None for anything else, and for one that is too long."""
    try:
        number = Decimal(text) if len(text) <= _MOST_DIGITS else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() else None


def _body(request: Request) -> Json:
    if not request.body or request.method == "GET":
        return None
    body = jsontext.decode_or(request.body, _NO_JSON)
    return request.body.decode("utf-8", "backslashreplace") if body is _NO_JSON else body


def _unpacked(text: str) -> Json:
    try:
        return jsontext.decode(bytes.fromhex(text.removeprefix("0x")))
    except (jsontext.NotJson, ValueError):
        return text


def _members(body: str) -> dict[str, Any]:
    try:
        value = jsontext.decode(body.encode()) if body else {}
    except (jsontext.NotJson, UnicodeEncodeError):
        return {"": body}
    return value if isinstance(value, dict) else {"": value}


def _differ(kind: str, recorded: Mapping[str, Any], came: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*recorded, *came}):
        if name not in came:
            yield f"{kind} {name!r} is missing, recorded {_short(recorded[name])}"
        elif name not in recorded:
            yield f"{kind} {name!r} was not recorded"
        elif recorded[name] != came[name]:
            yield f"{kind} {name!r} is {_short(came[name])}, recorded {_short(recorded[name])}"


def _short(value: Json) -> str:
    text = repr(value) if isinstance(value, str) else jsontext.encode(value).decode()
    return text if len(text) <= 200 else f"{text[:200]}…"
