"""What `conform URL` does: run, apply the baseline, write the reports, print, end."""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.options import Options
from mockserver.conformance.report import baseline as baselines
from mockserver.conformance.report.baseline import Baseline
from mockserver.conformance.report.model import ReportModel
from mockserver.conformance.report.report import Report, coverage_of, report_of
from mockserver.conformance.report.terminal import print_report
from mockserver.conformance.report.writing import Order, check_writable, ordered, write
from mockserver.conformance.result import INTERRUPTED, Result
from mockserver.conformance.runs import wrong_service as wrong
from mockserver.conformance.runs.api import journalled
from mockserver.conformance.runs.offline import run_recorded
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.conformance.verdict import FAIL_ON
from mockserver.recordings import gather
from mockserver.userfiles import write_text

if TYPE_CHECKING:
    from mockserver.conformance.report.progress import Progress

_WIDE = 10_000
_SELDOM = (20_000, 20, 50)


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The options of `conform` that are about what is reported, and not about what is sent."""

    journal: Path | None
    resume: Path | None
    strict: bool
    fail_on: str
    report: tuple[str, ...]
    baseline: Path | None
    write_baseline: Path | None
    owner: str | None
    expires: str | None
    reason: str
    quiet: bool
    verbose: bool


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a run is to leave behind, checked before anything is sent."""

    orders: tuple[Order, ...]
    baseline: Baseline | None
    written: Path | None
    owner: str
    expires: date | None


def judge(target: Target, options: Options, told: ReportOptions) -> int:
    """Judge a service, report, and return what the command ends with.

    Raises `CrosschainMockError` before anything is sent where something asked for cannot be done.
    """
    wanted = _wanted(told)
    why_not = wrong.WrongService()
    _hurry()
    with (
        journalled(target, options, journal=told.journal, resume=told.resume) as keeper,
        _progress(quiet=told.quiet) as progress,
    ):
        result = run(target, options, keeper=keeper, watch=progress, why_not=why_not)
    interrupted = INTERRUPTED in result.notes
    found = {} if interrupted else why_not.wrong_service
    code = _reported(result, options, told, wanted, found)
    return 130 if interrupted else code


def _hurry() -> None:
    """Spare this process what is of no use to a run, and takes a tenth of its time.

    Plugins of Hypothesis belong to test suites: one of them imports pytest. The garbage collector
    looks again and again at exchanges, which a run keeps up to its end.
    """
    os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "1")
    gc.freeze()
    gc.set_threshold(*_SELDOM)


def judge_recordings(named: Sequence[str], options: Options, told: ReportOptions) -> int:
    """Judge recorded exchanges, report, and return what the command ends with.

    Raises `CrosschainMockError` for what cannot be read or done; nothing is sent.
    """
    wanted = _wanted(told)
    return _reported(run_recorded(gather(named), options), options, told, wanted)


def _reported(
    result: Result,
    options: Options,
    told: ReportOptions,
    wanted: _Wanted,
    wrong_service: dict[str, str] | None = None,
) -> int:
    report = _report(result, options, told, wrong_service or {})
    if wanted.baseline is not None:
        report = baselines.apply(wanted.baseline, report, RULES)
    model = ReportModel(report)
    for order in wanted.orders:
        write(order, model)
    _print(model, told, to_stderr=any(order.file is None for order in wanted.orders))
    return _after_writing(report, wanted, told)


def _wanted(told: ReportOptions) -> _Wanted:
    orders = tuple(ordered(text) for text in told.report)
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


def _report(
    result: Result, options: Options, told: ReportOptions, wrong_service: dict[str, str]
) -> Report:
    hints: tuple[str, ...] = ()
    if wrong_service:
        hints, result = wrong.hints(wrong_service, result, options)
        result = wrong.silenced(result, wrong_service)
    report = report_of(
        result,
        caller=options.caller,
        coverage=coverage_of(result),
        strict=told.strict,
        fail_on=FAIL_ON[told.fail_on],
    )
    return replace(report, hints=hints, wrong_service=tuple(wrong_service))


def _print(model: ReportModel, told: ReportOptions, *, to_stderr: bool) -> None:
    # What goes to stdout is for a program then, and people are told beside it.
    stream = sys.stderr if to_stderr else sys.stdout
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    width = None if stream.isatty() else _WIDE
    console = Console(file=stream, highlight=False, width=width)
    print_report(model, console, verbose=told.verbose, quiet=told.quiet)


def _after_writing(report: Report, wanted: _Wanted, told: ReportOptions) -> int:
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
