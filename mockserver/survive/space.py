"""What can go wrong for a flow: the kinds of `schemas/failures.yaml` at the calls that it makes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from mockserver import documents, resources
from mockserver.contract import Contract
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.validation import did_you_mean
from mockserver.values import dataclass
from mockserver.worlds.actions import add_trigger
from mockserver.worlds.audit import Moved
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry

START = "start"
"""The place of failures that last for the whole run."""
_PLACEHOLDER = re.compile(r"\{(source|target|token)\}")
# The calls of an operation that stand for the others, beside the last one.
_FIRST_CALLS = (1, 2)


class UnknownKind(CrosschainMockError):
    """A kind of failure that does not exist."""


class UnknownFailure(CrosschainMockError):
    """An id of a failure that this flow does not have."""


@dataclass(frozen=True, slots=True)
class Point:
    """The nth call of an operation, the nth order that is made, or the start of a run."""

    operation: str
    nth: int = 1

    def __str__(self) -> str:
        name = self.operation.partition(".")[2] or self.operation
        return START if self.operation == START else f"{name}#{self.nth}"


@dataclass(frozen=True, slots=True)
class Kind:
    """A row of the table."""

    name: str
    summary: str
    at: str
    notice_is_fair: bool
    weight: int
    quick: bool
    forms: Mapping[str, Mapping[str, Json]]


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind in one of its forms at a point; `names` are the chains and the token of the order."""

    kind: Kind
    form: str
    point: Point
    names: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.kind.name}:{self.form}@{self.point}"

    @property
    def definition(self) -> Mapping[str, Json]:
        """The form with the names of the flow in place of `{target}`, `{source}`, `{token}`."""
        filled: Mapping[str, Json] = _filled(self.kind.forms[self.form], dict(self.names))
        return filled

    @property
    def doubles(self) -> bool:
        """Whether the client runs twice at the same time."""
        return bool(self.definition.get("twice"))

    @property
    def weight(self) -> int:
        """How early it is tried: harsh forms, and first calls, before the others."""
        later = list(self.kind.forms).index(self.form)
        return self.kind.weight * 100 - 6 * later - min(self.point.nth, 50)

    def steps(self) -> list[tuple[str, dict[str, Json]]]:
        """Return the requests to the control API that set it, as paths and bodies."""
        form = self.definition
        found: list[tuple[str, dict[str, Json]]] = []
        if "breaks" in form:
            found.append(("/breaks", {"breaks": list(form["breaks"])}))
        place: dict[str, Json] = {"operation": self.point.operation, "nth": self.point.nth}
        if "fault" in form:
            found.append(_fault_step(form["fault"], form.get("times", 1), place))
        if "kill" in form:
            found.append(("/at", {**place, "phase": form["kill"], "signal": "KILL"}))
        if "do" in form:
            if self.kind.at == "orders":
                place = {"counts": "orders", "nth": self.point.nth}
            else:
                place["phase"] = form.get("when", "after")
            found.append(("/at", {**place, **form["do"]}))
        return found

    def apply(self, hosted: HostedWorld) -> None:
        """Set it in a world. Raises `CrosschainMockError` where the world cannot have it."""
        for path, body in self.steps():
            if path == "/breaks":
                hosted.breaks.set([*hosted.breaks.names, *body["breaks"]])
            elif path == "/faults":
                hosted.faults.add(body, hosted.contract, hosted.world.scenario)
            else:
                add_trigger(hosted, body)

    def smaller(self) -> Iterator["Failure"]:
        """Yield milder failures of the same kind: later forms, and the first call."""
        forms = list(self.kind.forms)
        for form in reversed(forms[forms.index(self.form) + 1 :]):
            yield Failure(self.kind, form, self.point, self.names)
        if self.point.nth > 1:
            yield Failure(self.kind, self.form, Point(self.point.operation), self.names)


def _fault_step(
    fault: Mapping[str, Json], times: Json, place: Mapping[str, Json]
) -> tuple[str, dict[str, Json]]:
    """Return a fault at one call, or one that a trigger sets there for the calls from then on."""
    if times == 1:
        return "/faults", {**fault, **place}
    lasting = {**fault, "operation": place["operation"]}
    if times != "always":
        lasting["first"] = times
    return "/at", {**place, "phase": "before", "fault": lasting}


def _filled(value: Json, names: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return value.format_map(names) if "{" in value else value
    if isinstance(value, Mapping):
        return {name: _filled(item, names) for name, item in value.items()}
    return value


@cache
def kinds() -> Mapping[str, Kind]:
    table = documents.read(resources.schemas() / "failures.yaml", "failures").value["kinds"]
    return {
        name: Kind(
            name,
            row["is"],
            row["at"],
            row["fair"] == "notice",
            row["weight"],
            row.get("quick", False),
            row["forms"],
        )
        for name, row in table.items()
    }


def kinds_named(only: Iterable[str], skip: Iterable[str], *, quick: bool = False) -> list[Kind]:
    """Return the kinds to try, by weight. Raises `UnknownKind`."""
    table, wanted, without = kinds(), list(only), list(skip)
    for name in (*wanted, *without):
        if name not in table:
            near = did_you_mean(name, list(table)) or f"; there are {', '.join(table)}"
            raise UnknownKind(f"{name[:60]!r} is no kind of failure{near}")
    chosen = [table[name] for name in wanted] if wanted else list(table.values())
    found = [one for one in chosen if one.name not in without and (one.quick or not quick)]
    return sorted(found, key=lambda one: -one.weight)


@dataclass(frozen=True, slots=True)
class Calls:
    """What the undisturbed flow does: its calls of operations in order, and what it moves."""

    operations: tuple[str, ...]
    moved: tuple[Moved, ...]

    @classmethod
    def of(cls, entries: Sequence[Entry], moved: Sequence[Moved]) -> "Calls":
        return cls(tuple(one.operation for one in entries if one.operation), tuple(moved))


def failures_of(
    calls: Calls, contract: Contract, chosen: Sequence[Kind], *, thorough: bool = False
) -> list[Failure]:
    """Return the single failures of a flow, those first that are the likeliest to cost money.

    Of many calls of one operation the first two and the last stand for all, unless `thorough`.
    """
    found: list[Failure] = []
    for kind in chosen:
        if not _concerns(kind, calls):
            continue
        for point in _points(kind, calls, contract, thorough=thorough):
            for form in kind.forms:
                failure = Failure(kind, form, point, _names(calls))
                if failure.names or not _PLACEHOLDER.search(str(kind.forms[form])):
                    found.append(failure)
    # The kinds take turns once their harshest form was tried at the first call.
    return sorted(found, key=lambda one: (_round(one), -one.weight, str(one)))


def named(name: str, calls: Calls, contract: Contract) -> tuple[Failure, ...]:
    """Return the failures of an id such as `lost:once@submitOrder#1`, several joined by `+`.

    Raises `UnknownFailure` for one that cannot be.
    """
    return tuple(_named(part, calls, contract) for part in name.split("+"))


def _named(name: str, calls: Calls, contract: Contract) -> Failure:
    what, _, place = name.partition("@")
    kind_name, _, form = what.partition(":")
    kind = kinds().get(kind_name)
    if kind is None or form not in kind.forms:
        near = did_you_mean(kind_name, list(kinds()))
        raise UnknownFailure(
            f"{name[:80]!r} is no failure{near}; write one as a report does, such as "
            "'lost:once@submitOrder#1'"
        )
    operation, _, number = place.partition("#")
    ids = {one.id.partition(".")[2]: one.id for one in contract}
    ids |= {one: one for one in calls.operations} | {"orders": "orders", START: START}
    # Both generations have operations of one name: that which the flow calls is meant.
    ids |= {one.partition(".")[2]: one for one in calls.operations}
    if operation not in ids or not (number.isdecimal() or operation == START):
        raise UnknownFailure(
            f"{name[:80]!r}: {place!r} is no call; write for example submitOrder#1"
        )
    return Failure(kind, form, Point(ids[operation], int(number or 1)), _names(calls))


def _round(failure: Failure) -> int:
    """Return 0 for what is tried before everything else: each quick kind, harshest form first."""
    forms = list(failure.kind.forms)
    if failure.kind.quick and failure.point.nth == 1:
        return min(forms.index(failure.form), 2)
    return 2 if failure.kind.weight >= 50 else 3


def _concerns(kind: Kind, calls: Calls) -> bool:
    """Tell whether a kind can cost a flow anything: a transfer of one token follows no price."""
    swaps = any(moved.bought != moved.token for moved in calls.moved)
    return kind.at != "quotes" or swaps


def _points(kind: Kind, calls: Calls, contract: Contract, *, thorough: bool) -> Iterator[Point]:
    if kind.at == START:
        yield Point(START)
        return
    if kind.at == "orders":
        yield from (Point("orders", number + 1) for number in range(len(calls.moved)))
        return
    for operation, count in Counter(calls.operations).items():
        if _strikes(kind.at, operation, contract):
            every = range(1, count + 1)
            yield from (
                Point(operation, number)
                for number in every
                if thorough or number in (*_FIRST_CALLS, count)
            )


def _strikes(at: str, operation: str, contract: Contract) -> bool:
    row = next(one for one in contract if one.id == operation)
    tags = set(row.row.get("tags", ()))
    strikes: dict[str, bool] = {
        "any": True,
        "writes": row.writes,
        "lists": "lists" in tags,
        "quotes": "quotes" in tags,
        "look-ups": "orders" in tags and not row.writes,
        "orders-and-quotes": "quotes" in tags or (row.writes and "orders" in tags),
    }
    return strikes[at]


def _names(calls: Calls) -> tuple[tuple[str, str], ...]:
    """Return the ends of the first transfer of a flow."""
    if not calls.moved:
        return ()
    first = calls.moved[0]
    return ("source", first.source), ("target", first.target), ("token", first.bought)
