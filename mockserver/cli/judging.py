"""What `conform URL` does: run, apply the baseline, write the reports, print, end."""

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from mockserver.cli.files import write_text
from mockserver.conformance import hint
from mockserver.conformance.api import journalled
from mockserver.conformance.options import Options
from mockserver.conformance.report import baseline as baselines
from mockserver.conformance.report.baseline import Baseline
from mockserver.conformance.report.report import Report, coverage_of, report_of
from mockserver.conformance.report.terminal import print_report
from mockserver.conformance.report.writing import Order, check_writable, ordered, write
from mockserver.conformance.result import Result
from mockserver.conformance.rules import RULES
from mockserver.conformance.runner import INTERRUPTED, run
from mockserver.conformance.target import Target, UnsafeOrWrong
from mockserver.conformance.verdict import Verdict

if TYPE_CHECKING:
    from mockserver.cli.conforming import Told
    from mockserver.conformance.report.progress import Progress

_WIDE = 10_000


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a run is to leave behind, checked before anything is sent."""

    orders: tuple[Order, ...]
    baseline: Baseline | None
    written: Path | None
    owner: str
    expires: date | None


def judge(target: Target, options: Options, told: "Told") -> int:
    """Judge a service, report, and return what the command ends with.

    Raises `CrosschainMockError` before anything is sent where something asked for cannot be done.
    """
    wanted = _wanted(told)
    doubt = hint.Doubt()
    with (
        journalled(target, options, journal=told.journal, resume=told.resume) as keeper,
        _progress(quiet=told.quiet) as progress,
    ):
        result = run(target, options, keeper=keeper, watch=progress, doubt=doubt)
    interrupted = INTERRUPTED in result.notes
    report = _report(result, options, told, {} if interrupted else doubt.strange)
    if wanted.baseline is not None:
        report = baselines.apply(wanted.baseline, report, RULES)
    for order in wanted.orders:
        write(order, report)
    _print(report, told, to_stderr=any(order.file is None for order in wanted.orders))
    code = _after_writing(report, wanted, told)
    return 130 if interrupted else code


def _wanted(told: "Told") -> _Wanted:
    orders = tuple(ordered(text) for text in told.reports)
    if sum(order.file is None for order in orders) > 1:
        raise UnsafeOrWrong("--report: only one report can go to stdout")
    expires = None
    if told.write_baseline is not None:
        if not told.owner or not told.expires:
            raise UnsafeOrWrong("--write-baseline goes with --owner and --expires")
        expires = baselines.day_of(told.expires)
        if expires is None:
            raise UnsafeOrWrong(f"--expires: {told.expires!r} is no day such as '2027-01-31'")
        if expires < baselines.today_utc():
            raise UnsafeOrWrong(f"--expires: {told.expires} is over already")
        check_writable(told.write_baseline, "--write-baseline")
    baseline = baselines.read_baseline(told.baseline) if told.baseline is not None else None
    return _Wanted(orders, baseline, told.write_baseline, told.owner or "", expires)


def _report(result: Result, options: Options, told: "Told", strange: dict[str, str]) -> Report:
    from mockserver.cli.conforming import FAIL_ON

    hints: tuple[str, ...] = ()
    if strange:
        hints, result = hint.hints(strange, result, options)
        result = hint.silenced(result, strange)
    report = report_of(
        result,
        caller=options.caller,
        coverage=coverage_of(result),
        strict=told.strict,
        fail_on=Verdict(FAIL_ON[told.fail_on]),
    )
    return replace(report, hints=hints, strange=tuple(strange))


def _print(report: Report, told: "Told", *, to_stderr: bool) -> None:
    # What goes to stdout is for a program then, and people are told beside it.
    stream = sys.stderr if to_stderr else sys.stdout
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    width = None if stream.isatty() else _WIDE
    console = Console(file=stream, highlight=False, width=width)
    print_report(report, console, verbose=told.verbose, quiet=told.quiet)


def _after_writing(report: Report, wanted: _Wanted, told: "Told") -> int:
    """Write the baseline that is wanted; with it nothing fails that was found."""
    if wanted.written is None or wanted.expires is None:
        return report.exit_code
    text = baselines.baseline_text(
        report, owner=wanted.owner, expires=wanted.expires, reason=told.reason
    )
    write_text(wanted.written, text)
    return 0 if report.exit_code == 1 else report.exit_code


def _progress(*, quiet: bool) -> "AbstractContextManager[Progress | None]":
    if quiet or not sys.stderr.isatty():
        return nullcontext()
    from mockserver.conformance.report.progress import Progress

    return Progress(sys.stderr)
