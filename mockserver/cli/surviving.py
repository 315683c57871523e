"""The command `survive`: which failure costs money?"""

import os
import shlex
import signal
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mockserver.cli import Interruption
from mockserver.cli.option_types import WrongOption
from mockserver.cli.printing import print_text, progress_line
from mockserver.http_messages import printable_lines

if TYPE_CHECKING:
    from mockserver.survive.outcomes import RunResult
    from mockserver.survive.search import SearchPlan, SearchReport, Tell
    from mockserver.testing import MockSettings


def survive(
    *,
    command: tuple[str, ...],
    reports: tuple[str, ...],
    fail_on: tuple[str, ...],
    scenarios: Path | None,
    capsules: Path | None,
    **options: Any,
) -> None:
    """Run COMMAND again and again, let one thing go wrong each time, and say what that cost.

    COMMAND finds the addresses in CROSSCHAIN_MOCK_BASE_URL and CROSSCHAIN_MOCK_BASE_URL_V2, and in
    CROSSCHAIN_MOCK_STATE a folder that it finds again when it is started again. It says by its exit
    code whether all is done.
    """
    from mockserver.survive.api import searched
    from mockserver.survive.exports import write_capsules, write_scenarios
    from mockserver.survive.flows import command_flow
    from mockserver.survive.report import Subject
    from mockserver.survive.report_formats import FORMATS, failing
    from mockserver.survive.runs import RunLimits
    from mockserver.userfiles import write_text

    plan = _plan(options, command)
    files = [report_file(text, FORMATS) for text in reports]
    _check_folders(scenarios, capsules)
    settings = settings_of(options)
    limits = RunLimits(
        wall_s=options["wall_ms"] / 1000, reruns=options["reruns"], in_turn=options["in_turn"]
    )
    with termination_as_interrupt() as code_of_stop, progress_line() as show:
        report = searched(command_flow(command), plan, settings, limits, _progress(show))
    changed, words = changed_options(options, _OF_RUNS)
    subject = Subject(
        " ".join(command),
        f"crosschain-mock survive {words}-- {shlex.join(command)}",
        settings.seed,
        command,
        changed,
    )
    for name, file in files:
        write_text(file, FORMATS[name](report, subject))
    for folder, write in ((scenarios, write_scenarios), (capsules, write_capsules)):
        if folder is not None:
            write(report, subject, folder)
    print_text(printable_lines(FORMATS["text"](report, subject).rstrip("\n")))
    if report.stopped.endswith("Ctrl-C"):
        sys.exit(code_of_stop())
    if failing(report, fail_on):
        sys.exit(1)
    if report.unsure:
        sys.exit(3)


@contextmanager
def termination_as_interrupt() -> Iterator[Callable[[], int]]:
    """Let SIGTERM do what Ctrl-C does: what runs is ended, what is known is told.

    Yields what returns the exit code of what was stopped.
    """
    interruption = Interruption()
    with interruption.of(signal.SIGTERM, signal.SIGINT):
        try:
            yield lambda: 128 + (interruption.number or signal.SIGINT)
        except KeyboardInterrupt:
            # Before anything is known there is nothing to tell.
            sys.exit(128 + (interruption.number or signal.SIGINT))


def settings_of(options: Mapping[str, Any]) -> "MockSettings":
    """Return the settings of worlds that options of the command name. Raises `BadSetting`."""
    from mockserver.testing import MockSettings

    named = {name: options[name] for name in ("scenario", "dialect", "seed", "clock")}
    return MockSettings().changed(**{k: v for k, v in named.items() if v is not None})


# What changes what a run comes to: the option, and its default.
_OF_RUNS = {
    "scenario": "default",
    "dialect": "documented",
    "seed": None,
    "clock": "client",
    "reruns": 2,
    "refund_is_fine": False,
}


def changed_options(
    options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> tuple[dict[str, Any], str]:
    """Return the options that are not as by default, and how they are written before `--`."""
    changed = {
        name: options[name] for name, default in defaults.items() if options[name] != default
    }
    words = [
        "--fine-refund" if value is True else f"--{name} {shlex.quote(str(value))}"
        for name, value in changed.items()
    ]
    return changed, "".join(f"{word} " for word in words)


def _plan(options: dict[str, Any], command: Sequence[str]) -> "SearchPlan":
    from mockserver.survive.api import is_bad
    from mockserver.survive.possible_failures import kinds_named
    from mockserver.survive.search import SearchPlan

    done, bad = _earlier(options["resume"], " ".join(command))
    replay = options["replay"]
    return SearchPlan(
        kinds=kinds_named(options["only"], options["skip"], quick=options["quick"]),
        budget=options["budget"],
        seconds=None if options["time_ms"] is None else options["time_ms"] / 1000,
        # Not the processors of the machine: a container may be allowed fewer.
        jobs=options["jobs"] or len(os.sched_getaffinity(0)),
        # A quick search is a few single failures.
        pairs=options["pairs"] and not options["quick"],
        enough=is_bad if options["first"] else None,
        thorough=options["thorough"],
        refund_is_fine=options["refund_is_fine"],
        replay=replay,
        done=done,
        before=bad,
    )


def _earlier(file: Path | None, flow: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the failures that an earlier report has tried without harm, and those with harm."""
    # What another command has survived says nothing of this flow.
    if file is None:
        return frozenset(), ()
    from mockserver import file_formats

    report = file_formats.read(file, "survive").value
    harmful = {"fooled", "harmed", "hung", "unsure"}
    tried = {result["id"]: result["outcome"] for result in report["results"]}
    done = frozenset(name for name, outcome in tried.items() if outcome not in harmful)
    if report["flow"] != flow:
        click.echo(
            f"note: {str(file)!r} is the report of another command, {report['flow'][:200]!r}: "
            "its harm comes first, and all is tried",
            err=True,
        )
        done = frozenset()
    return done, tuple(name for name, outcome in tried.items() if outcome in harmful)


def _check_folders(*folders: Path | None) -> None:
    """Raise `WrongOption` for a folder that cannot be made, before a search takes its time."""
    for folder in filter(None, folders):
        # The nearest that exists: the folder itself is made when there is something to write.
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if not there.is_dir() or not os.access(there, os.W_OK):
            raise WrongOption(
                f"cannot write to {str(folder)!r}: {str(there)!r} is no writable folder"
            )


def report_file(text: str, formats: Collection[str]) -> tuple[str, Path]:
    """Return the format and the file of a `--report`. Raises `WrongOption`."""
    name, equals, target = text.partition("=")
    if name not in formats or not equals or not target:
        raise WrongOption(
            f"--report {text[:80]!r}: write FORMAT=FILE with one of {', '.join(formats)}"
        )
    file = Path(target)
    if not file.parent.is_dir() or file.is_dir() or not os.access(file.parent, os.W_OK):
        raise WrongOption(f"--report: cannot write {target!r}: no such folder, or not writable")
    return name, file


def _progress(show: Callable[[str], None]) -> "Tell":
    def tell(report: "SearchReport", result: "RunResult | None") -> None:
        if result is not None:
            bad = sum(1 for result in report.results.values() if result.bad)
            done = f"{len(report.results)} of {report.planned} failures, {bad} with harm"
            show(f"{done}  {result.name}")

    return tell
