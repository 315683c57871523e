"""The command `conform selftest`: do the rules find breaks?"""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mockserver.cli.printing import print_json, print_table
from mockserver.errors import CrosschainMockError

if TYPE_CHECKING:
    from mockserver.selftest import Summary, Trial

_MODES = {"both": (True, False), "reading": (False,), "submitting": (True,), "cheapest": None}


class UnknownBreak(CrosschainMockError):
    """A name that no break has."""


def selftest(
    names: tuple[str, ...],
    seeds: int,
    mode: str,
    processes: int | None,
    *,
    as_json: bool,
    told: bool,
) -> None:
    """Run the rules against every break and control of the mock: do they notice?

    Name BREAKs to run only some; `crosschain-mock breaks` lists them. Exits with 0 if every break
    is found under its right name and no correct behaviour is reported, and with 1 otherwise.
    """
    from mockserver import selftest as trials
    from mockserver.conformance.checks.catalog import RULES

    jobs = trials.jobs_of(_chosen(names), range(1, seeds + 1), _MODES[mode])
    made = []
    for trial in trials.selftest(jobs, processes=processes or _cores()):
        made.append(trial)
        _progress(len(made), len(jobs))
    summary = trials.summary_of(made, () if names else RULES)
    if as_json:
        print_json(trials.as_json(summary))
    else:
        _print(summary, findings=told)
    if not summary.passed:
        sys.exit(1)


def _cores() -> int:
    """Return how many cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _chosen(names: Sequence[str]) -> list[str]:
    from mockserver.responders.breaks.catalogue import CATALOGUE
    from mockserver.validation import did_you_mean

    for name in names:
        if name not in CATALOGUE:
            near = did_you_mean(name, list(CATALOGUE)) or "; `crosschain-mock breaks` lists them"
            raise UnknownBreak(f"{name!r} is no break{near}")
    return list(names) or list(CATALOGUE)


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{done} of {of} trials", nl=done == of, err=True)


def _print(summary: "Summary", *, findings: bool) -> None:
    rows = [
        (
            row.layer,
            str(row.breaks),
            *(
                "-" if count is None else str(count)
                for count in (row.detected_armed, row.readable, row.detected_reading)
            ),
        )
        for row in summary.layers
    ]
    print_table(("layer", "breaks", "found submitting", "visible reading", "found reading"), rows)
    if findings:
        _print_findings(summary)
    _print_trials("missed", summary.missed)
    _print_trials("false alarm", summary.false_alarms)
    _print_trials("wrong verdict", summary.wrong_verdicts)
    for rule in summary.idle_rules:
        click.echo(f"idle rule: {rule} noticed nothing")
    if summary.unasked_rules:
        click.echo(f"rules that were not judged: {', '.join(summary.unasked_rules)}")
    for defect in summary.defects:
        click.echo(f"defect: {defect}")
    click.echo(_conclusion(summary))


def _print_findings(summary: "Summary") -> None:
    for trial in summary.trials:
        rules = sorted({f"{finding.rule} ({finding.verdict})" for finding in trial.findings})
        click.echo(f"{_name(trial)}: {', '.join(rules) or 'nothing'}")


def _print_trials(what: str, trials: "Sequence[Trial]") -> None:
    for trial in trials:
        click.echo(f"{what}: {_name(trial)}: expected {trial.expected}, got {trial.verdict}")
        for finding in trial.findings[:3]:
            click.echo(f"  {finding}")


def _name(trial: "Trial") -> str:
    return f"{trial.name} ({'submitting' if trial.armed else 'reading'})"


def _conclusion(summary: "Summary") -> str:
    controls, healthy = len(summary.controls), len(summary.healthy)
    trials = (
        f"{len(summary.breaks)} trials of breaks, {len(summary.missed)} missed; "
        f"{controls} of controls and {healthy} of the mock as it is, "
        f"{len(summary.false_alarms)} false alarms; "
        f"{summary.right_share} % of verdicts right"
    )
    if not summary.reading:
        return trials
    return (
        f"{trials}; reading alone found {summary.reading_share} % of "
        f"{len(summary.reading)} with {summary.reading_submissions} submissions"
    )
