"""What `conform URL` does: run, apply the baseline, write the reports, print, end."""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import date
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from mockserver.conformance.runs.journal import journalled
from mockserver.conformance.runs.offline import run_recorded
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.conformance.verdict import FAIL_ON
from mockserver.recordings import gather
from mockserver.userfiles import write_text
from mockserver.values import dataclass

if TYPE_CHECKING:
    from mockserver.conformance.report.progress import Progress

_WIDE = 10_000
_SELDOM = (20_000, 20, 50)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `conform` is told beside what is sent: the reports, and what a run leaves behind.

    `written` is where a baseline goes that accepts what was found, by `owner` until `expires`.
    """

    orders: tuple[Order, ...]
    baseline: Baseline | None
    written: Path | None
    owner: str
    expires: date | None
    reason: str
    journal: Path | None
    resume: Path | None
    strict: bool
    fail_on: str
    quiet: bool
    verbose: bool


def wanted(given: dict[str, Any]) -> Wanted:
    """Take what is wanted out of the options of `conform`; nothing is sent or written yet.

    Raises `CrosschainMockError` where something asked for cannot be done.
    """
    orders = tuple(ordered(text) for text in given.pop("report"))
    if sum(order.file is None for order in orders) > 1:
        raise UnsafeOrWrong("--report: only one report can go to stdout")
    file, owner, told = (given.pop(one) for one in ("write_baseline", "owner", "expires"))
    expires = None
    if file is not None:
        if not owner or not told:
            raise UnsafeOrWrong("--write-baseline goes with --owner and --expires")
        expires = baselines.day_of(told)
        if expires is None:
            raise UnsafeOrWrong(f"--expires: {told!r} is no day such as '2027-01-31'")
        if expires < baselines.today_utc():
            raise UnsafeOrWrong(f"--expires: {told} is over already")
        check_writable(file, "--write-baseline")
    accepted = given.pop("baseline")
    baseline = baselines.read_baseline(accepted) if accepted is not None else None
    plain = ("reason", "journal", "resume", "strict", "fail_on", "quiet", "verbose")
    as_told = {name: given.pop(name) for name in plain}
    return Wanted(orders, baseline, file, owner or "", expires, **as_told)


def judge(target: Target, options: Options, told: Wanted) -> int:
    """Judge a service, report, and return what the command ends with.

    Raises `CrosschainMockError` before anything is sent where something asked for cannot be done.
    """
    why_not = wrong.WrongService()
    _hurry()
    with (
        journalled(target, options, journal=told.journal, resume=told.resume) as keeper,
        _progress(quiet=told.quiet) as progress,
    ):
        result = run(target, options, keeper=keeper, watch=progress, why_not=why_not)
    interrupted = INTERRUPTED in result.notes
    code = _reported(result, options, told, {} if interrupted else why_not.wrong_service)
    return 130 if interrupted else code


def _hurry() -> None:
    """Spare this process what is of no use to a run, and takes a tenth of its time.

    Plugins of Hypothesis belong to test suites: one of them imports pytest. The garbage collector
    looks again and again at exchanges, which a run keeps up to its end.
    """
    os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "1")
    gc.freeze()
    gc.set_threshold(*_SELDOM)


def judge_recordings(named: Sequence[str], options: Options, told: Wanted) -> int:
    """Judge recorded exchanges, report, and return what the command ends with.

    Raises `CrosschainMockError` for what cannot be read or done; nothing is sent.
    """
    return _reported(run_recorded(gather(named), options), options, told, {})


def _reported(result: Result, options: Options, told: Wanted, wrong_service: dict[str, str]) -> int:
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
    report = replace(report, hints=hints, wrong_service=tuple(wrong_service))
    if told.baseline is not None:
        report = baselines.apply(told.baseline, report, RULES)
    model = ReportModel(report)
    for order in told.orders:
        write(order, model)
    _print(model, told)
    return _after_writing(report, told)


def _print(model: ReportModel, told: Wanted) -> None:
    # What goes to stdout is for a program then, and people are told beside it.
    for_program = any(order.file is None for order in told.orders)
    stream = sys.stderr if for_program else sys.stdout
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    width = None if stream.isatty() else _WIDE
    console = Console(file=stream, highlight=False, width=width)
    print_report(model, console, verbose=told.verbose, quiet=told.quiet)


def _after_writing(report: Report, told: Wanted) -> int:
    """Write the baseline that is wanted; with it nothing fails that was found."""
    if told.written is None or told.expires is None:
        return report.exit_code
    text = baselines.baseline_text(
        report, owner=told.owner, expires=told.expires, reason=told.reason
    )
    write_text(told.written, text)
    return 0 if report.exit_code == 1 else report.exit_code


def _progress(*, quiet: bool) -> "AbstractContextManager[Progress | None]":
    if quiet or not sys.stderr.isatty():
        return nullcontext()
    from mockserver.conformance.report.progress import Progress

    return Progress(sys.stderr)
