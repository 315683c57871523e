"""What `conform URL` does: run, apply the baseline, write the reports, print, end."""

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import date
from decimal import Decimal
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mockserver import standard_streams
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.generation.stages import stage_rules
from mockserver.conformance.options import Options
from mockserver.conformance.report import baseline as baselines
from mockserver.conformance.report.baseline import Baseline
from mockserver.conformance.report.coverage import coverage_of
from mockserver.conformance.report.model import Report, report_of
from mockserver.conformance.report.report_files import (
    Destination,
    check_writable,
    destination_of,
    write,
)
from mockserver.conformance.report.terminal import print_report
from mockserver.conformance.result import INTERRUPTED, Result
from mockserver.conformance.runs import wrong_service as wrong
from mockserver.conformance.runs.offline import run_recorded
from mockserver.conformance.runs.planner import Prepared
from mockserver.conformance.runs.run_journal import journalled
from mockserver.conformance.runs.runner import run, skip_unused_work
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.conformance.verdict import FAIL_ON
from mockserver.fast_dataclass import dataclass
from mockserver.recordings import gather
from mockserver.userfiles import write_text
from mockserver.wording import counted

if TYPE_CHECKING:
    from mockserver.conformance.report.progress import Progress

_UNFOLDED_COLUMNS = 10_000
# What a request to the mock on a busy machine costs, with what judges its answer.
_USUAL_MS = 20


@dataclass(frozen=True, slots=True)
class Output:
    """What a run of `conform` is to write: the reports, a baseline, a journal; and what fails it.

    `written` is where a baseline goes that accepts what was found, by `owner` until `expires`.
    """

    destinations: tuple[Destination, ...]
    baseline: Baseline | None
    written: Path | None
    owner: str
    expires: date | None
    reason: str
    journal: Path | None
    resume: Path | None
    strict: bool
    fail_on: str
    difference: int
    quiet: bool
    verbose: bool


def output_of(settings: dict[str, Any]) -> Output:
    """Take what is to be written out of the options of `conform`; nothing is sent or written yet.

    Raises `CrosschainMockError` where something requested cannot be done.
    """
    destinations = tuple(destination_of(text) for text in settings.pop("report"))
    if sum(destination.file is None for destination in destinations) > 1:
        raise UnsafeOrWrong("--report: only one report can go to stdout")
    file, owner, last_day = (settings.pop(name) for name in ("write_baseline", "owner", "expires"))
    expires = None
    if file is not None:
        if not owner or not last_day:
            raise UnsafeOrWrong("--write-baseline needs --set owner=NAME and --set expires=DATE")
        expires = baselines.day_of(last_day)
        if expires is None:
            raise UnsafeOrWrong(f"expires: {last_day!r} is no day such as '2027-01-31'")
        if expires < baselines.today_utc():
            raise UnsafeOrWrong(f"expires: {last_day} is over already")
        check_writable(file, "--write-baseline")
    accepted = settings.pop("baseline")
    baseline = baselines.read_baseline(accepted) if accepted is not None else None
    # The file that is read may be the one that is written: that renews a baseline.
    as_read = () if accepted == file else (("--baseline", accepted),)
    _check_apart(
        *(("--report", destination.file) for destination in destinations),
        *(("--write-baseline", file), ("--journal", settings["journal"]), *as_read),
        ("--set resume", settings["resume"]),
    )
    plain = (
        "reason",
        "journal",
        "resume",
        "strict",
        "fail_on",
        "difference",
        "quiet",
        "verbose",
    )
    unchanged = {name: settings.pop(name) for name in plain}
    return Output(destinations, baseline, file, owner or "", expires, **unchanged)


def _check_apart(*files: tuple[str, Path | None]) -> None:
    """Raise `UnsafeOrWrong` where one file would take the place of another."""
    seen: dict[Path, str] = {}
    for option, file in files:
        # A pipe or a terminal takes what several options write.
        if file is None or (file.exists() and not file.is_file()):
            continue
        # Resolved: two names, or a link, may lead to one file.
        if earlier := seen.get(file.resolve()):
            raise UnsafeOrWrong(f"{earlier} and {option}: both are {str(file)!r}; name two files")
        seen[file.resolve()] = option


def judge(target: Target, options: Options, output: Output) -> int:
    """Judge a service, report, and return what the command ends with.

    Raises `CrosschainMockError` before anything is sent where something requested cannot be done.
    """
    why_not = wrong.WrongService()
    skip_unused_work()
    with (
        journalled(target, options, journal=output.journal, resume=output.resume) as keeper,
        _progress(quiet=output.quiet) as progress,
    ):
        result = run(
            target,
            options,
            keeper=keeper,
            watch=progress,
            why_not=why_not,
            announced=None if output.quiet else partial(_announce, options),
        )
    interrupted = INTERRUPTED in result.notes
    code = _reported(result, options, output, {} if interrupted else why_not.wrong_service)
    return 130 if interrupted else code


def _announce(options: Options, ready: Prepared) -> None:
    """Say on stderr how many requests come, and about how long they take."""
    # Conditional ones leave only where another was refused.
    probes = [probe for probe in ready.plan.probes if not probe.conditional]
    planned = len(probes)
    submissions = sum(ready.contract.operation(probe.operation_id).writes for probe in probes)
    most = ready.limits.budget
    least_ms = Decimal(1000) / ready.limits.rate
    alone_ms = max(least_ms, Decimal(_USUAL_MS))
    # No others are sure to go side by side.
    beside_ms = max(least_ms, Decimal(_USUAL_MS) / options.concurrency)
    planned_ms = (planned - submissions) * beside_ms + submissions * alone_ms
    most_ms = planned_ms + max(0, most - planned) * alone_ms
    sys.stderr.write(
        f"sends {counted(planned, 'planned request')} ({submissions} of them submissions), "
        f"{most} with all others at most; about {_spoken(planned_ms)} to "
        f"{_spoken(most_ms)} where an answer takes {_USUAL_MS} ms, "
        f"and never more than {_spoken(Decimal(options.time_ms))}\n"
    )
    sys.stderr.flush()


def _spoken(ms: Decimal) -> str:
    """Return a duration in seconds or minutes, rounded up."""
    # Of integers: Decimal's // rounds towards zero, also below it.
    seconds = -(-int(ms) // 1000)
    return f"{seconds} s" if seconds < 120 else f"{-(-seconds // 60)} min"


def judge_recordings(named: Sequence[str], options: Options, output: Output) -> int:
    """Judge recorded exchanges, report, and return what the command ends with.

    Raises `CrosschainMockError` for what cannot be read or done; nothing is sent.
    """
    return _reported(run_recorded(gather(named), options), options, output, {})


def _reported(
    result: Result, options: Options, output: Output, wrong_service: dict[str, str]
) -> int:
    hints: tuple[str, ...] = ()
    if wrong_service:
        hints, result = wrong.hints(wrong_service, result, options)
        # After the hints, which need what is silenced.
        result = wrong.silenced(result, wrong_service)
    report = report_of(
        result,
        caller=options.caller,
        coverage=coverage_of(result),
        strict=output.strict,
        fail_on=FAIL_ON[output.fail_on],
        on_difference=output.difference,
        hints=hints,
        wrong_service=tuple(wrong_service),
    )
    if output.baseline is not None:
        every = (*RULES, *stage_rules(result.contract))
        report = baselines.apply(output.baseline, report, every)
    for destination in output.destinations:
        write(destination, report)
    _print(report, output)
    return _after_writing(report, output)


def _print(report: Report, output: Output) -> None:
    # Then stdout is for a program, and messages for people go to stderr.
    for_program = any(destination.file is None for destination in output.destinations)
    stream = sys.stderr if for_program else sys.stdout
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    width = None if stream.isatty() else _UNFOLDED_COLUMNS
    console = standard_streams.terminal(file=stream, highlight=False, width=width)
    has_tests = any(destination.format == "pytest" for destination in output.destinations)
    verbosity = {"verbose": output.verbose, "quiet": output.quiet}
    print_report(report, console, has_tests=has_tests, **verbosity)


def _after_writing(report: Report, output: Output) -> int:
    """Write the baseline that is wanted; with it nothing fails that was found."""
    # A run that was interrupted, or that could not decide anything, leaves the file as it is.
    if output.written is None or output.expires is None:
        return report.exit_code
    undecided = report.exit_code == 3 and not (report.causes or report.accepted)
    if INTERRUPTED in report.notes or undecided:
        sys.stderr.write(f"{output.written} is not written: the run could not be decided\n")
        return report.exit_code
    text = baselines.baseline_text(
        report,
        owner=output.owner,
        expires=output.expires,
        reason=output.reason,
        former=() if output.baseline is None else output.baseline.entries,
    )
    write_text(output.written, text)
    # Defects of the run itself are in no baseline.
    if report.defects:
        return 3
    return 0 if report.exit_code == 1 else report.exit_code


def _progress(*, quiet: bool) -> "AbstractContextManager[Progress | None]":
    if quiet or not sys.stderr.isatty():
        return nullcontext()
    from mockserver.conformance.report.progress import Progress

    return Progress(sys.stderr)
