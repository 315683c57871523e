"""What a comparison came to: differences by cause, what was compared, and what was not."""

from collections.abc import Mapping
from dataclasses import field

from mockserver.conformance.comparison.difference import Found, Kind
from mockserver.conformance.comparison.roles import Place
from mockserver.conformance.report.masking import Masker
from mockserver.values import dataclass
from mockserver.wording import counted

_PARTICULAR = (
    Kind.OUTCOME,
    Kind.CODE,
    Kind.STATUS,
    Kind.MEDIA_TYPE,
    Kind.NO_ANSWER,
    Kind.TYPE,
)


@dataclass(frozen=True, slots=True)
class Cause:
    """Differences that are one for a person: in one way, at one place, in some operations."""

    found: tuple[Found, ...]

    @property
    def kind(self) -> Kind:
        """In what the answers differ."""
        return self.found[0].difference.kind

    @property
    def place(self) -> str:
        """Where; empty for the answer as a whole."""
        return self.found[0].difference.where

    @property
    def operations(self) -> tuple[str, ...]:
        """The ids of the operations that show it."""
        return tuple(dict.fromkeys(one.left.operation.id for one in self.found))

    @property
    def probes(self) -> tuple[str, ...]:
        """The names of the requests that show it."""
        return tuple(dict.fromkeys(one.probe for one in self.found))


@dataclass(frozen=True, slots=True)
class SideSummary:
    """One side as it is told: its name, and what was sent to it."""

    name: str
    requests: int = 0
    submissions: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides held against each other.

    `compared` counts requests that both sides answered, `left_out` are those that one did not,
    with the reason. `moving` are places that were left out of the comparison, by operation, since
    they change from read to read on one side. `elapsed_ms` is wall time in milliseconds.
    """

    left: SideSummary
    right: SideSummary
    seed: int
    dialect: str
    band: str
    compared: int
    found: tuple[Found, ...]
    masker: Masker
    left_out: Mapping[str, str] = field(default_factory=dict)
    moving: Mapping[str, frozenset[Place]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    elapsed_ms: int = 0

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The differences, those of one cause together, the most telling kind first."""
        groups: dict[tuple[str, ...], list[Found]] = {}
        for one in self.found:
            groups.setdefault(_cause_of(one), []).append(one)
        order = tuple(Kind)
        causes = (Cause(tuple(found)) for found in groups.values())
        return tuple(sorted(causes, key=lambda cause: order.index(cause.kind)))

    @property
    def exit_code(self) -> int:
        """What a command ends with: 0 equal, 1 they differ, 3 nothing could be compared."""
        if not self.compared:
            return 3
        return 1 if self.found else 0

    @property
    def conclusion(self) -> str:
        """What it comes to, in words."""
        if not self.compared:
            return "nothing could be compared"
        what = f"{counted(self.compared, 'request')} compared"
        if not self.causes:
            return f"no difference: {what}"
        return f"they differ: {counted(len(self.causes), 'difference')}, {what}"


def _cause_of(found: Found) -> tuple[str, ...]:
    one = found.difference
    detail: tuple[str, ...] = ()
    if one.kind in _PARTICULAR:
        # The words of a refusal differ from request to request; the outcome does not.
        detail = (one.left.partition(":")[0], one.right.partition(":")[0])
    return (one.kind, one.where, *detail)
