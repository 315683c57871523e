"""What lint says: rules, and what they find in the requests of a client."""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.worlds.journal import Entry
from mockserver.worlds.lint.traffic import ClientCall, Traffic


class LintLevel(StrEnum):
    """How bad it is, the worst first."""

    ERROR = "error"
    """Money is wrong already."""
    WARN = "warn"
    """Money will be wrong as soon as anything goes wrong."""
    NOTE = "note"
    """Nothing is wrong; it could be simpler, or is on its way out."""

    @property
    def or_worse(self) -> "tuple[LintLevel, ...]":
        levels = tuple(LintLevel)
        return levels[: levels.index(self) + 1]


class LimitUnit(StrEnum):
    """What the limit of a rule counts."""

    DURATION = "duration"
    USD = "USD"
    BPS = "hundredths of a percent"
    TIMES = "times"


@dataclass(frozen=True, slots=True)
class RuleLimit:
    """From where on a rule finds something: a whole number of its unit, durations in ms."""

    value: int
    unit: LimitUnit
    of: str
    """What it limits, in words."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a rule says of some calls: a sentence, and what would be right."""

    text: str
    calls: Sequence[ClientCall]
    advice: str = ""


@dataclass(frozen=True, slots=True)
class LintRule:
    """A rule: what it is about, on what it stands, and why it matters.

    `section` is that of the interface description where it says so; else `assumption` registers
    what the rule takes for granted. A rule without either needs none: it compares a client with
    itself, or with what it was told.
    """

    name: str
    level: LintLevel
    summary: str
    reads: str
    why: str
    find: Callable[[Traffic, int], Iterator[Remark | None]]
    """None stands for a step without a remark, after which others may have their turn."""
    section: str = ""
    assumption: str = ""
    limit: RuleLimit | None = None

    @property
    def basis(self) -> str:
        """Where the rule comes from, in words."""
        if self.section:
            return f"documented in section {self.section}"
        return f"assumption {self.assumption}" if self.assumption else "the client's own requests"

    @property
    def page(self) -> str:
        """The page that explains it."""
        return f"reference/lint.md#{self.name}"


@dataclass(frozen=True, slots=True)
class LintFinding:
    """What a rule has found: a sentence, what would be right, and the requests."""

    rule: LintRule
    message: str
    advice: str
    entries: Sequence[Entry]

    def __str__(self) -> str:
        lines = [f"{self.rule.level} {self.rule.name}: {self.message}"]
        lines += [
            f"  {entry.sequence}. {entry.request_line} -> {entry.outcome}" for entry in self.entries
        ]
        lines.append(f"  {self.advice or self.rule.why}")
        return "\n".join(lines)

    __repr__ = __str__

    def render(self) -> dict[str, Json]:
        """Return the finding as JSON for the control API."""
        return {
            "rule": self.rule.name,
            "level": self.rule.level.value,
            "told": self.message,
            "advice": self.advice or self.rule.why,
            "basis": self.rule.basis,
            "page": self.rule.page,
            "requests": [entry.named() for entry in self.entries],
        }
