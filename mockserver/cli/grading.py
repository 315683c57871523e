"""The command `grade`: which breaks of the service does a suite of tests notice?"""

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

from mockserver.cli.option_types import WrongOption
from mockserver.cli.printing import print_text, progress_line
from mockserver.cli.surviving import (
    changed_options,
    report_file,
    settings_of,
    termination_as_interrupt,
)
from mockserver.http_messages import printable_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from mockserver.grading.grade import GradeProgress, GradeReport


# What changes the worlds of the suite: the option, and its default.
_OF_RUNS = {"scenario": "default", "dialect": "documented", "seed": None, "clock": "frozen"}


def grade(*, command: tuple[str, ...], reports: tuple[str, ...], **options: Any) -> None:
    """Run a test suite against one break of the service at a time, and say what it notices.

    COMMAND runs the tests, in any language: it finds the addresses in CROSSCHAIN_MOCK_BASE_URL and
    CROSSCHAIN_MOCK_BASE_URL_V2, or starts servers of its own, also by the fixture crosschain_mock.
    It has to pass while nothing is broken, and each time: else the exit code is 3.
    """
    from mockserver.grading.flows import suite_flow
    from mockserver.grading.grade import GradePlan
    from mockserver.grading.grade import grade as graded
    from mockserver.grading.report import FORMATS
    from mockserver.userfiles import write_text

    _check_names(options)
    plan = GradePlan(
        only=options["only"],
        operations=options["operations"],
        budget=options["budget"],
        seconds=None if options["time_ms"] is None else options["time_ms"] / 1000,
        jobs=options["jobs"] or len(os.sched_getaffinity(0)),
        first=options["first"],
        wall_s=None if options["wall_ms"] is None else options["wall_ms"] / 1000,
    )
    files = [report_file(text, FORMATS) for text in reports]
    with termination_as_interrupt() as code_of_stop, progress_line() as show:
        report = graded(suite_flow(command), plan, settings_of(options), _progress(show))
    _, words = changed_options(options, _OF_RUNS)
    suite, again = " ".join(command), f"crosschain-mock grade {words}-- {shlex.join(command)}"
    for name, file in files:
        write_text(file, FORMATS[name](report, suite, again))
    print_text(printable_lines(FORMATS["text"](report, suite, again).rstrip("\n")))
    if report.stopped.endswith("Ctrl-C"):
        sys.exit(code_of_stop())
    sys.exit(_exit_code(report, options["at_least"]))


def _exit_code(report: "GradeReport", at_least: int | None) -> int:
    from mockserver.grading.grade import TrialOutcome

    if report.score is None:
        return 3
    if at_least is not None and report.score < at_least:
        return 1
    # What fails by itself may have killed by chance.
    return 3 if report.of(TrialOutcome.UNSURE) else 0


def _check_names(options: dict[str, Any]) -> None:
    """Raise `WrongOption` for a break or an operation that nobody knows."""
    from mockserver.contract import load
    from mockserver.responders.breaks.catalogue import CATALOGUE
    from mockserver.suggestions import did_you_mean

    operations = [operation.id for operation in load("observed")]
    for option, names, known in (
        ("--only", options["only"], list(CATALOGUE)),
        ("--operation", options["operations"], operations),
    ):
        for name in names:
            if name not in known:
                near = did_you_mean(name, known) or "; `crosschain-mock breaks` lists all"
                raise WrongOption(f"{option}: {name[:80]!r} is not known{near}")


def _progress(show: "Callable[[str], None]") -> "GradeProgress":
    def tell(report: "GradeReport") -> None:
        done = f"{len(report.trials)} of {report.planned} breaks"
        show(f"{done}, {report.score or 0} % killed")

    return tell
