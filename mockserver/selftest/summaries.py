"""What the trials come to: detection by layer, false alarms, wrong verdicts, idle rules."""

from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, Context, Decimal

from mockserver.conformance.checks.rule import Rule
from mockserver.jsontext import Json, picked
from mockserver.selftest.trials import HEALTHY, Trial
from mockserver.values import dataclass

FORMAT = "crosschain-mock/selftest@1"
_PERCENT = Context(prec=12, rounding=ROUND_FLOOR)


@dataclass(frozen=True, slots=True)
class LayerRow:
    """How many breaks of a layer were found: in runs that submit, and in runs that only read.

    `readable` is how many of them reading alone can bring to light. None stands for a mode in which
    nothing of the layer was tried.
    """

    layer: str
    breaks: int
    found_armed: int | None
    readable: int | None
    found_reading: int | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The trials, seen from the questions that matter."""

    trials: tuple[Trial, ...]
    rules: tuple[str, ...]

    @property
    def breaks(self) -> tuple[Trial, ...]:
        """The trials with something broken."""
        return tuple(trial for trial in self.trials if not trial.control)

    @property
    def controls(self) -> tuple[Trial, ...]:
        """The trials of variations that the description allows."""
        return tuple(t for t in self.trials if t.control and t.layer != HEALTHY)

    @property
    def healthy(self) -> tuple[Trial, ...]:
        """The trials of the mock as it is."""
        return tuple(trial for trial in self.trials if trial.layer == HEALTHY)

    @property
    def missed(self) -> tuple[Trial, ...]:
        """Breaks that no rule noticed, though the mode allowed to."""
        return tuple(
            trial
            for trial in self.breaks
            if not trial.detected and (trial.armed or not trial.needs_writes)
        )

    @property
    def false_alarms(self) -> tuple[Trial, ...]:
        """Controls and healthy runs of which something untrue was said."""
        return tuple(trial for trial in self.trials if trial.false_alarm)

    @property
    def wrong_verdicts(self) -> tuple[Trial, ...]:
        """Breaks that were found under the wrong label."""
        return tuple(trial for trial in self.breaks if trial.detected and not trial.right)

    @property
    def idle_rules(self) -> tuple[str, ...]:
        """Rules that noticed nothing in any trial: nobody knows whether they can."""
        spoke = {told.rule for trial in self.breaks for told in trial.told}
        quiet = {*spoke, *self.unasked_rules}
        return tuple(rule for rule in self.rules if rule not in quiet)

    @property
    def unasked_rules(self) -> tuple[str, ...]:
        """Rules for which nothing was to be asked of the mock as it is.

        The trials say nothing of them, though the answers of a break may give them work.
        """
        usual = self.healthy or self.breaks
        return tuple(rule for rule in self.rules if all(rule in trial.unasked for trial in usual))

    @property
    def defects(self) -> tuple[str, ...]:
        """Rules that failed of themselves."""
        return tuple(dict.fromkeys(defect for trial in self.trials for defect in trial.defects))

    @property
    def layers(self) -> tuple[LayerRow, ...]:
        """Detection by layer."""
        names = dict.fromkeys(trial.layer for trial in self.breaks)
        return tuple(self._row(name) for name in names)

    @property
    def right_share(self) -> Decimal:
        """How many of the breaks found have the right label, in percent rounded down."""
        found = [trial for trial in self.breaks if trial.detected]
        return percent(sum(trial.right for trial in found), len(found))

    @property
    def reading(self) -> tuple[Trial, ...]:
        """The trials of breaks in which nothing is submitted."""
        return tuple(trial for trial in self.breaks if not trial.armed)

    @property
    def reading_share(self) -> Decimal | None:
        """How many of these found their break, in percent rounded down; None where none is."""
        found = sum(trial.detected for trial in self.reading)
        return percent(found, len(self.reading)) if self.reading else None

    @property
    def reading_submissions(self) -> int:
        """How many submissions the reading runs sent; anything but 0 is a defect."""
        return sum(trial.submissions for trial in self.trials if not trial.armed)

    @property
    def passed(self) -> bool:
        """Whether every break was found, no control was blamed, and no rule is idle or failed."""
        return not (
            self.missed
            or self.false_alarms
            or self.idle_rules
            or self.defects
            or self.reading_submissions
            or self.right_share < 98
        )

    def _row(self, layer: str) -> LayerRow:
        mine = [trial for trial in self.breaks if trial.layer == layer]
        armed = [trial for trial in mine if trial.armed]
        reading = [trial for trial in mine if not trial.armed]
        readable = [trial for trial in reading if not trial.needs_writes]
        return LayerRow(
            layer,
            max(len(armed), len(reading)),
            sum(trial.detected for trial in armed) if armed else None,
            len(readable) if reading else None,
            sum(trial.detected for trial in reading) if reading else None,
        )


def summary_of(trials: Iterable[Trial], rules: Sequence[Rule]) -> Summary:
    """Return the summary of trials that were judged by some rules."""
    return Summary(tuple(trials), tuple(rule.name for rule in rules))


def percent(part: int, whole: int) -> Decimal:
    """Return a share in percent with one decimal, rounded down; 100 of nothing."""
    if not whole:
        return Decimal(100)
    return _PERCENT.quantize(_PERCENT.divide(Decimal(100 * part), whole), Decimal("0.1"))


def as_json(summary: Summary) -> Json:
    """Return the summary as plain data."""
    return {
        "format": FORMAT,
        "passed": summary.passed,
        "layers": [
            {
                **picked(row, "layer", "breaks"),
                "foundWithSubmissions": row.found_armed,
                "visibleToReading": row.readable,
                "foundByReading": row.found_reading,
            }
            for row in summary.layers
        ],
        "rightVerdictsPercent": summary.right_share,
        "foundByReadingPercent": summary.reading_share,
        "submissionsOfReadingRuns": summary.reading_submissions,
        "missed": [_brief(trial) for trial in summary.missed],
        "falseAlarms": [_brief(trial) for trial in summary.false_alarms],
        "wrongVerdicts": [_brief(trial) for trial in summary.wrong_verdicts],
        **picked(summary, "idle_rules", "unasked_rules", "defects"),
        "trials": [_brief(trial) for trial in summary.trials],
    }


def _brief(trial: Trial) -> Json:
    return {
        **picked(trial, "name", "layer", "control"),
        "submits": trial.armed,
        **picked(trial, "seed", "expected", "verdict", "requests", "submissions"),
        "told": [str(told) for told in trial.told],
    }
