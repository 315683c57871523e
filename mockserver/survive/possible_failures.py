"""What can go wrong for a flow: the kinds of `schemas/failures.yaml` at the calls that it makes."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from mockserver import file_formats, resources
from mockserver.contract import Contract
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.suggestions import did_you_mean
from mockserver.worlds.audit import Moved
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.trigger_actions import add_trigger

START = "start"
"""The place of failures that last for the whole run."""
_PLACEHOLDER = re.compile(r"\{(source|target|token)\}")
# The calls of an operation that stand for the others, beside the last one: a read that fails the
# second time fails as the first, a second write may be another payment.
_FIRST_READS, _FIRST_WRITES = (1,), (1, 2)
# Kinds of this weight and above are tried in all their forms before the others are.
COSTLY = 50


class UnknownKind(CrosschainMockError):
    """A kind of failures that the table does not have."""


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
class KindOfFailure:
    """A row of the table."""

    name: str
    summary: str
    at: str
    notice_is_fair: bool
    weight: int
    quick: tuple[str, ...]
    """The forms that a quick search tries."""
    forms: Mapping[str, Mapping[str, Json]]

    @property
    def needs_process(self) -> bool:
        """Whether it strikes the client as a process: kills it, doubles it, or lets it wait."""
        return any(
            "kill" in form or "twice" in form or form.get("fault", {}).get("kind") == "latency"
            for form in self.forms.values()
        )


@dataclass(frozen=True, slots=True)
class InjectedFailure:
    """A kind in one of its forms at a point; `names` are the chains and the token of the order."""

    kind: KindOfFailure
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

    def strikes_all_of(self, operation: str) -> bool:
        """Tell whether no call of an operation is left for another failure."""
        always = self.kind.forms[self.form].get("times") == "always"
        return always and self.point.operation == operation

    @property
    def is_of_the_world(self) -> bool:
        """Whether nothing fails, and the service is merely another one than the mock is."""
        return "breaks" in self.definition

    @property
    def doubles(self) -> bool:
        """Whether the client runs twice at the same time."""
        return bool(self.definition.get("twice"))

    def steps(self) -> list[tuple[str, dict[str, Json]]]:
        """Return the requests to the control API that set it, as paths and bodies."""
        form = self.definition
        steps: list[tuple[str, dict[str, Json]]] = []
        if "breaks" in form:
            steps.append(("/breaks", {"breaks": list(form["breaks"])}))
        place: dict[str, Json] = {"operation": self.point.operation, "nth": self.point.nth}
        if "fault" in form:
            steps.append(_fault_step(form["fault"], form.get("times", 1), place))
        if "kill" in form:
            steps.append(("/at", {**place, "phase": form["kill"], "signal": "KILL"}))
        if "do" in form:
            if self.kind.at == "orders":
                place = {"counts": "orders", "nth": self.point.nth}
            else:
                place["phase"] = form.get("when", "after")
            steps.append(("/at", {**place, **form["do"]}))
        return steps

    def apply(self, hosted: HostedWorld) -> None:
        """Set it in a world. Raises `CrosschainMockError` where the world cannot have it."""
        for path, body in self.steps():
            if path == "/breaks":
                hosted.breaks.set([*hosted.breaks.names, *body["breaks"]])
            elif path == "/faults":
                hosted.faults.add(body, hosted.contract, hosted.world.scenario)
            else:
                add_trigger(hosted, body)

    def smaller(self) -> Iterator["InjectedFailure"]:
        """Yield milder failures of the same kind: later forms, and the first call."""
        # A quick search tries few forms, and yet shows the mildest.
        kind = kinds()[self.kind.name]
        forms = list(kind.forms)
        for form in reversed(forms[forms.index(self.form) + 1 :]):
            yield InjectedFailure(kind, form, self.point, self.names)
        if self.point.nth > 1:
            yield InjectedFailure(self.kind, self.form, Point(self.point.operation), self.names)


def _fault_step(
    fault: Mapping[str, Json], times: Json, place: Mapping[str, Json]
) -> tuple[str, dict[str, Json]]:
    """Return a fault at a first call, or one that a trigger sets for the calls from then on."""
    # A fault of a later call would not count those that another fault has struck.
    if times == 1 and place["nth"] == 1:
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
def kinds() -> Mapping[str, KindOfFailure]:
    table = file_formats.read(resources.schemas() / "failures.yaml", "failures").value["kinds"]
    return {
        name: KindOfFailure(
            name,
            row["is"],
            row["at"],
            row["fair"] == "notice",
            row["weight"],
            tuple(row.get("quick", ())),
            row["forms"],
        )
        for name, row in table.items()
    }


def kinds_named(
    only: str | Iterable[str], skip: str | Iterable[str], *, quick: bool = False
) -> list[KindOfFailure]:
    """Return the kinds to try, by weight; a text may name several. Raises `UnknownKind`."""
    table, wanted, without = kinds(), _names_in(only), _names_in(skip)
    for name in (*wanted, *without):
        if name not in table:
            near = did_you_mean(name, list(table)) or f"; there are {', '.join(table)}"
            raise UnknownKind(f"{name[:60]!r} is no kind of failure{near}")
    chosen = [table[name] for name in wanted] if wanted else list(table.values())
    tried = [kind for kind in chosen if kind.name not in without]
    if quick:
        # Kinds that are named are tried, whether they are among the quick ones or not.
        tried = [_quick(kind) for kind in tried if kind.quick or wanted]
    return sorted(tried, key=lambda kind: -kind.weight)


def _names_in(texts: str | Iterable[str]) -> list[str]:
    """Return the names of texts such as `lost,course`; one without any is a name that is wrong."""
    texts = (texts,) if isinstance(texts, str) and texts else texts
    return [name for text in texts for name in str(text).replace(",", " ").split() or [str(text)]]


def _quick(kind: KindOfFailure) -> KindOfFailure:
    forms = kind.quick or tuple(kind.forms)[:1]
    return replace(kind, forms={name: kind.forms[name] for name in forms})


@dataclass(frozen=True, slots=True)
class Calls:
    """What the undisturbed flow does: its calls of operations in order, and what it moves."""

    operations: tuple[str, ...]
    moved: tuple[Moved, ...]


def failures_of(
    calls: Calls, contract: Contract, chosen: Sequence[KindOfFailure], *, thorough: bool = False
) -> list[InjectedFailure]:
    """Return the single failures of a flow, those first that are the likeliest to cost money.

    Of many calls of one operation the first and the last stand for all, unless `thorough`. First
    comes what a quick search tries, then every kind in turn, then its other forms and calls.
    """
    writes = {operation.id for operation in contract if operation.writes}
    failures = [
        failure
        for kind in chosen
        if _concerns(kind, calls)
        for point in _points(kind, calls, contract, thorough=thorough)
        for failure in _forms_at(kind, point, calls)
    ]
    failures.sort(key=lambda failure: _rank(failure, writes))
    turns: dict[tuple[int, str], int] = {}
    order = []
    for failure in failures:
        kind = failure.kind
        is_quick = failure.form in kind.quick and failure.point.nth == 1
        group = 0 if is_quick else 1 if kind.weight >= COSTLY else 2
        turn = turns[group, kind.name] = turns.get((group, kind.name), -1) + 1
        # A first try of each kind, the unlikely ones too, comes before second tries of any.
        order.append((group if turn or not group else 1, 0 if is_quick else turn > 0, failure))
    ranked = sorted(order, key=lambda row: row[:2])
    return [failure for _, _, failure in ranked]


def _rank(failure: InjectedFailure, writes: Collection[str]) -> tuple[int, bool, int, int, str]:
    """Return how early a failure comes among its like: heavy kinds, writes and first calls."""
    form = list(failure.kind.forms).index(failure.form)
    point = failure.point
    is_read = point.operation not in writes and failure.kind.at == "any"
    return -failure.kind.weight, is_read, form, point.nth, str(failure)


def _forms_at(kind: KindOfFailure, point: Point, calls: Calls) -> Iterator[InjectedFailure]:
    for form in kind.forms:
        failure = InjectedFailure(kind, form, point, _names(calls))
        # Only a swap is filled in part.
        impossible = form == "partial" and not _swaps(calls)
        if not impossible and (failure.names or not _PLACEHOLDER.search(str(kind.forms[form]))):
            yield failure


def named(name: str, calls: Calls, contract: Contract) -> tuple[InjectedFailure, ...]:
    """Return the failures of an id such as `lost:once@submitOrder#1`, several joined by `+`.

    Raises `UnknownFailure` for one that cannot be.
    """
    return tuple(_named(part, calls, contract) for part in name.split("+"))


def _named(name: str, calls: Calls, contract: Contract) -> InjectedFailure:
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
    ids = {row.id.partition(".")[2]: row.id for row in contract}
    ids |= {name: name for name in calls.operations} | {"orders": "orders", START: START}
    # Both generations have operations of one name: that which the flow calls is meant.
    ids |= {name.partition(".")[2]: name for name in calls.operations}
    if operation not in ids or not (number.isdecimal() or operation == START):
        raise UnknownFailure(
            f"{name[:80]!r}: {place!r} is no call; write for example submitOrder#1"
        )
    return InjectedFailure(kind, form, Point(ids[operation], int(number or 1)), _names(calls))


def _concerns(kind: KindOfFailure, calls: Calls) -> bool:
    """Tell whether a kind can cost a flow anything: a transfer of one token follows no price."""
    return kind.at != "quotes" or _swaps(calls)


def _swaps(calls: Calls) -> bool:
    return any(moved.bought != moved.token for moved in calls.moved)


def _points(
    kind: KindOfFailure, calls: Calls, contract: Contract, *, thorough: bool
) -> Iterator[Point]:
    if kind.at == START:
        yield Point(START)
        return
    if kind.at == "orders":
        yield from (Point("orders", number + 1) for number in range(len(calls.moved)))
        return
    for operation, count in Counter(calls.operations).items():
        if _strikes(kind.at, operation, contract):
            every = range(1, count + 1)
            writes = any(row.writes for row in contract if row.id == operation)
            first = _FIRST_WRITES if writes else _FIRST_READS
            yield from (
                Point(operation, number)
                for number in every
                if thorough or number in (*first, count)
            )


def _strikes(at: str, operation: str, contract: Contract) -> bool:
    row = next(row for row in contract if row.id == operation)
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
