"""The result of a comparison: differences by cause, and what was not compared; text and JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum

from mockserver.conformance.comparison.answer_differences import (
    SILENT,
    Difference,
    DifferenceKind,
    dotted,
)
from mockserver.conformance.comparison.value_differences import Place
from mockserver.fast_dataclass import dataclass, grouped
from mockserver.jsontext import Json, picked
from mockserver.wording import counted, listed, one_line, reason_lines

FORMAT = "crosschain-mock/comparison@1"
SAYS = {
    DifferenceKind.OUTCOME: "one takes what the other does not",
    DifferenceKind.CODE: "refuses with another code",
    DifferenceKind.STATUS: "answers with another HTTP status",
    DifferenceKind.MEDIA_TYPE: "answers in another media type",
    DifferenceKind.NO_ANSWER: "an answer breaks off",
    DifferenceKind.NO_JSON: "an answer is no JSON",
    DifferenceKind.TYPE: "another type",
    DifferenceKind.MISSING: "a member is missing on the right",
    DifferenceKind.EXTRA: "a member is on the right only",
    DifferenceKind.SOMETIMES: "a member is not always there",
    DifferenceKind.EMPTY: "a list is empty on the right",
    DifferenceKind.FORM: "the value is written in another way",
    DifferenceKind.GONE: "orders or tickets of the past are not known; was the service restarted?",
    DifferenceKind.LOST: "an item is missing on the right",
    DifferenceKind.GAINED: "an item is on the right only",
    DifferenceKind.VALUE: "another value",
}
_PARTICULAR = (
    DifferenceKind.OUTCOME,
    DifferenceKind.CODE,
    DifferenceKind.STATUS,
    DifferenceKind.MEDIA_TYPE,
    DifferenceKind.NO_ANSWER,
    DifferenceKind.TYPE,
)
_MOST_EXAMPLES = 3
_MOST_REASONS = 5
_MOST_IN_JSON = 50
LONGEST = 300
"""How many characters of a text of a service are shown."""


class Level(StrEnum):
    """What a change does to clients that were written for the old answers; the worst is first."""

    BREAKING = "breaking"
    MAY_BREAK = "may-break"
    HARMLESS = "harmless"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A difference in the answers of an operation to a request, of which `probe` is the name.

    It has a level only where a service was compared with its past.
    """

    difference: Difference
    operation: str
    probe: str
    request: str
    level: Level | None = None


@dataclass(frozen=True, slots=True)
class DifferenceCause:
    """Differences with one cause: of one kind, at one place, in some operations."""

    occurrences: tuple[Occurrence, ...]

    @property
    def kind(self) -> DifferenceKind:
        return self.occurrences[0].difference.kind

    @property
    def level(self) -> Level | None:
        """How bad it is for clients; None where two services were compared."""
        return self.occurrences[0].level

    @property
    def place(self) -> str:
        """Where; empty for the answer as a whole."""
        return self.occurrences[0].difference.where

    @property
    def operations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(occurrence.operation for occurrence in self.occurrences))


@dataclass(frozen=True, slots=True)
class SideSummary:
    """One side: its name, and what was sent to it."""

    name: str
    requests: int = 0
    submissions: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides compared, without secrets and invisible characters.

    `compared` counts requests that both sides answered, `fulfilled` those of them that one side did
    not refuse, `left_out` are those that one did not answer, with the reason, and `silent` the
    operations of requests without an answer. `moving` are places that were left out of the
    comparison, by operation, since they change from read to read on one side. `elapsed_ms` is wall
    time in milliseconds.
    """

    left: SideSummary
    right: SideSummary
    seed: int
    dialect: str
    band: str
    compared: int
    occurrences: tuple[Occurrence, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    silent: tuple[str, ...] = ()
    fulfilled: int = 0
    moving: Mapping[str, frozenset[Place]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    elapsed_ms: int = 0

    @property
    def causes(self) -> tuple[DifferenceCause, ...]:
        """The differences, those of one cause together, the most serious kind first."""
        levels, kinds = (*Level, None), tuple(DifferenceKind)
        groups = grouped(self.occurrences, _cause_of).values()
        causes = [DifferenceCause(tuple(occurrences)) for occurrences in groups]
        causes.sort(key=lambda cause: (levels.index(cause.level), kinds.index(cause.kind)))
        return tuple(causes)

    def failing(self, least: str) -> bool:
        """Tell whether something changed at a level, or at a worse one; `never` is no level."""
        levels = tuple(Level)
        worst = () if least == "never" else levels[: levels.index(Level(least)) + 1]
        return any(cause.level in worst for cause in self.causes)

    @property
    def exit_code(self) -> int:
        """What a command ends with: 0 equal, 1 they differ, 3 nothing could be compared."""
        if self.occurrences:
            return 1
        return 0 if self.fulfilled else 3

    @property
    def emptied(self) -> tuple[str, ...]:
        """The operations with lists that became empty, so that nothing is known of their items."""
        empty = (seen for seen in self.occurrences if seen.difference.kind is DifferenceKind.EMPTY)
        return tuple(dict.fromkeys(seen.operation for seen in empty))

    @property
    def conclusion(self) -> str:
        if not self.compared:
            return "nothing could be compared"
        if not self.fulfilled and not self.occurrences:
            # Two services that are both out of order answer alike.
            refused = counted(self.compared, "request")
            return f"nothing could be compared: both sides refused all of {refused}"
        what = f"{counted(self.compared, 'request')} compared"
        if not self.occurrences:
            return f"no difference: {what}"
        return f"they differ: {counted(len(self.causes), 'difference')}, {what}"

    @property
    def places_moving(self) -> dict[str, list[str]]:
        """The places that move, by operation, as people write them."""
        return {name: sorted(map(dotted, places)) for name, places in sorted(self.moving.items())}


def _cause_of(occurrence: Occurrence) -> tuple[str, ...]:
    difference = occurrence.difference
    detail: tuple[str, ...] = ()
    if difference.kind in _PARTICULAR:
        # Before the colon stands the outcome; the message after it differs by request.
        detail = (difference.left.partition(":")[0], difference.right.partition(":")[0])
    return (occurrence.level or "", difference.kind, difference.where, *detail)


def lines(comparison: Comparison, *, verbose: bool = False) -> Iterator[str]:
    """Yield the lines of a comparison; the last one is the conclusion."""
    for name, side in (("left ", comparison.left), ("right", comparison.right)):
        sent = f"{counted(side.requests, 'request')}, submissions sent: {side.submissions}"
        yield f"{name}  {side.name}: {sent}"
    made_by = f"seed {comparison.seed} · dialect {comparison.dialect}"
    yield f"{made_by} · amounts within {comparison.band} % are equal"
    for cause in comparison.causes:
        yield ""
        yield from _lines_of(cause, verbose=verbose)
    if comparison.moving:
        yield ""
    for operation, places in comparison.places_moving.items():
        yield f"moves by itself, not compared: {operation} {listed(places)}"
    if comparison.left_out:
        yield ""
        yield from _reasons(comparison, verbose=verbose)
    for note in comparison.notes:
        yield f"note: {note}"
    yield ""
    yield comparison.conclusion


def _lines_of(cause: DifferenceCause, *, verbose: bool) -> Iterator[str]:
    where = f" at {cause.place}" if cause.place else ""
    level = f"{cause.level}: " if cause.level else ""
    yield f"{level}{cause.kind}{where}: {SAYS[cause.kind]}"
    yield f"  {listed(cause.operations)}"
    most = len(cause.occurrences) if verbose else _MOST_EXAMPLES
    for occurrence in cause.occurrences[:most]:
        difference = occurrence.difference
        item = f" {difference.item}:" if difference.item else ""
        yield f" {item} {difference.left} | {difference.right}"
        yield f"    {one_line(f'{occurrence.probe}: {occurrence.request}', LONGEST)}"
    if len(cause.occurrences) > most:
        yield f"  and {len(cause.occurrences) - most} more"


def _reasons(comparison: Comparison, *, verbose: bool) -> Iterator[str]:
    left_out = comparison.left_out
    groups = list(grouped(left_out, left_out.__getitem__).items())
    groups.sort(key=lambda group: (SILENT not in group[0], -len(group[1])))
    yield f"not compared: {counted(len(left_out), 'request')}"
    lines = reason_lines(dict(groups), _MOST_REASONS, complete=verbose)
    yield from (f"  {line}" for line in lines)


def facts(comparison: Comparison) -> dict[str, Json]:
    """Return a comparison as JSON, in the published format."""
    return {
        "format": FORMAT,
        "left": picked(comparison.left, "name", "requests", "submissions"),
        "right": picked(comparison.right, "name", "requests", "submissions"),
        "seed": comparison.seed,
        "dialect": comparison.dialect,
        "band_percent": comparison.band,
        "compared": comparison.compared,
        "fulfilled": comparison.fulfilled,
        "equal": comparison.exit_code == 0,
        "conclusion": comparison.conclusion,
        "differences": [
            {
                "kind": cause.kind.value,
                **({"level": cause.level.value} if cause.level else {}),
                "place": cause.place,
                "says": SAYS[cause.kind],
                "operations": list(cause.operations),
                "count": len(cause.occurrences),
                "examples": [
                    {
                        **picked(occurrence, "probe", "operation", "request"),
                        **picked(occurrence.difference, "item", "left", "right"),
                    }
                    for occurrence in cause.occurrences[:_MOST_IN_JSON]
                ],
            }
            for cause in comparison.causes
        ],
        "moving": comparison.places_moving,
        "left_out": dict(sorted(comparison.left_out.items())),
        "notes": list(comparison.notes),
        "elapsed_ms": comparison.elapsed_ms,
    }
