"""Findings that are accepted for a while: by whom, why, and until when."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path

from mockserver import file_formats
from mockserver.clock import wall_ms
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.report.causes import Acceptance, Cause, ReportedFinding, general_place
from mockserver.conformance.report.model import Report
from mockserver.conformance.verdict import Verdict
from mockserver.errors import InvalidFile, Problem
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Document
from mockserver.jsontext import Json
from mockserver.suggestions import did_you_mean

FORMAT = "crosschain-mock/baseline@1"
_LONGEST_PLACE = 1000


@dataclass(frozen=True, slots=True)
class BaselineEntry:
    """An acceptance of a cause, or of a rule at some places, until its `last` day in UTC.

    Without `operations` it is for all of them, without `place` for every place.
    """

    acceptance: Acceptance
    last: date
    cause: str = ""
    rule: str = ""
    operations: tuple[str, ...] = ()
    place: str = ""

    def covers(self, cause: Cause, finding: ReportedFinding) -> bool:
        return (
            self.cause in ("", cause.id)
            and self.rule in ("", cause.rule.name)
            and (not self.operations or finding.operation in self.operations)
            and self.place in ("", general_place(finding.place))
        )

    def covers_any(self, causes: Iterable[Cause]) -> bool:
        return any(self.covers(cause, each) for cause in causes for each in cause.findings)

    def __str__(self) -> str:
        where = f" [{', '.join(self.operations)}]" if self.operations else ""
        return f"{self.cause or self.rule}{where}"


@dataclass(frozen=True, slots=True)
class Baseline:
    """A file of acceptances."""

    file: Path
    entries: tuple[BaselineEntry, ...] = ()


def read_baseline(file: Path) -> Baseline:
    """Return the acceptances of a file. Raises `InvalidFile` with every problem and its line."""
    document = file_formats.read(file, "baseline")
    problems: list[Problem] = []
    rows = enumerate(document.value["accepted"])
    entries = [_entry(document, number, row, problems) for number, row in rows]
    if problems:
        raise InvalidFile(problems)
    return Baseline(file, tuple(filter(None, entries)))


def apply(
    baseline: Baseline, report: Report, rules: Iterable[Rule], today: date | None = None
) -> Report:
    """Return the report with the findings apart that the baseline accepts.

    Findings whose acceptance has expired count again, and the report says who had accepted them.
    Notes name entries with unknown names, and entries that are no longer needed.
    """
    now, names = today or today_utc(), [rule.name for rule in rules]
    left, accepted, expired = list[Cause](), list[Cause](), list[Cause]()
    for cause in report.causes:
        counting, good, over = _apart(cause, baseline.entries, now)
        accepted += [cause.only(some, _word(entry, report)) for entry, some in good.items()]
        late = [cause.only(some, _word(entry, report)) for entry, some in over.items()]
        expired += late
        words = tuple(each.acceptance for each in late)
        left += [replace(cause.only(counting), expired=words)] if counting else []
    every = (_notes(entry, report, names, baseline.file) for entry in baseline.entries)
    notes = map(report.mask, chain.from_iterable(every))
    return replace(
        report,
        causes=tuple(left),
        accepted=tuple(accepted),
        expired=tuple(expired),
        notes=(*report.notes, *notes),
    )


def baseline_text(
    report: Report, *, owner: str, expires: date, reason: str, former: Iterable[BaselineEntry] = ()
) -> str:
    """Return a baseline that accepts everything that a report has found.

    Of the `former` entries, those stay that are about what was not judged this time.
    """
    acceptance = Acceptance(reason, owner, expires.isoformat())
    causes, lines = (*report.accepted, *report.causes), []
    for cause in causes:
        lines.append(f"  # {' '.join(ascii(cause.located)[1:-1].split())[:200]}")
        # Services may give members any name, also such as no file can have.
        can_be_named = len(cause.place) <= _LONGEST_PLACE and "\\" not in cause.place
        what = (cause.id, cause.rule.name, cause.operations, cause.place if can_be_named else "")
        lines.append(_row(*what, cause.acceptance or acceptance))
    for entry in former:
        if not (_is_judged(entry, report) or entry.covers_any(causes)):
            what = (entry.cause, entry.rule, entry.operations, entry.place)
            lines.append(_row(*what, _word(entry, report)))
    return "\n".join((f"format: {FORMAT}", "accepted:" if lines else "accepted: []", *lines)) + "\n"


def _row(cause: str, rule: str, operations: Sequence[str], place: str, word: Acceptance) -> str:
    """Return the lines of an entry, without what is empty."""
    members = {"cause": cause, "rule": rule, "operations": list(operations), "place": place}
    lines = [f"{name}: {_quoted(value)}" for name, value in members.items() if value]
    lines += [f"reason: {_quoted(word.reason)}", f"owner: {_quoted(word.owner)}"]
    return "  - " + "\n    ".join([*lines, f"expires: {word.expires}"])


def today_utc() -> date:
    """Return today by the wall clock, in UTC."""
    return datetime.fromtimestamp(wall_ms() // 1000, UTC).date()


def day_of(text: str) -> date | None:
    """Return the day of a text such as `2027-01-31`; None where it is none."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    # Only this form: Python also reads `20270131` and week dates.
    return day if day.isoformat() == text else None


def _word(entry: BaselineEntry, report: Report) -> Acceptance:
    word = entry.acceptance
    return replace(word, reason=report.mask(word.reason), owner=report.mask(word.owner))


_ByEntry = dict[BaselineEntry, list[ReportedFinding]]


def _apart(
    cause: Cause, entries: Iterable[BaselineEntry], today: date
) -> tuple[list[ReportedFinding], _ByEntry, _ByEntry]:
    """Return the findings that count, those that are accepted, and those that no longer are."""
    left, good, over = list[ReportedFinding](), _ByEntry(), _ByEntry()
    for finding in cause.findings:
        meant = [entry for entry in entries if entry.covers(cause, finding)]
        valid = [entry for entry in meant if entry.last >= today]
        left += [] if valid else [finding]
        # Of several entries the first one counts.
        for entry in (valid or meant)[:1]:
            (good if valid else over).setdefault(entry, []).append(finding)
    return left, good, over


def _notes(entry: BaselineEntry, report: Report, names: Sequence[str], file: Path) -> Iterator[str]:
    """Yield problems of an entry: an unknown name, or nothing left to accept."""
    place = f"{file}:{entry.acceptance.line}"
    operations = [operation.id for operation in report.contract]
    named = [(entry.rule, "rule", names)] if entry.rule else []
    named += [(name, "operation", operations) for name in entry.operations]
    unknown = [(name, kind, known) for name, kind, known in named if name not in known]
    for name, kind, known in unknown:
        yield f"{place}: {name!r} is no {kind}{did_you_mean(name, known)}"
    if unknown or entry.covers_any(report.causes):
        return
    if not entry.rule:
        yield f"{place}: no finding has the cause {entry.cause!r}; it may have been mended"
    elif _is_judged(entry, report):
        yield f"{place}: {entry} was not found any more; the entry can go"


def _is_judged(entry: BaselineEntry, report: Report) -> bool:
    """Tell whether what an entry is about was judged; of a cause alone that is not known."""
    judged = {
        outcome.operation
        for outcome in report.judged
        if outcome.rule.name == entry.rule
        if outcome.verdict is Verdict.HOLDS or outcome.verdict.is_finding
    }
    return bool(judged) and judged.issuperset(entry.operations)


def _entry(
    document: Document, number: int, row: Mapping[str, Json], problems: list[Problem]
) -> BaselineEntry | None:
    if (last := day_of(row["expires"])) is None:
        message = f"{row['expires']!r} is no day; write for example '2027-01-31'"
        # Collected, so that one look at the file mends all of it.
        problems.append(document.problem(("accepted", number, "expires"), message))
        return None
    alone = (row["operation"],) if "operation" in row else ()
    word = file_formats.value_of(Acceptance, row, line=document.lines().get(("accepted", number)))
    more = {"last": last, "operations": (*row.get("operations", ()), *alone)}
    return file_formats.value_of(BaselineEntry, row, acceptance=word, **more)


def _quoted(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
