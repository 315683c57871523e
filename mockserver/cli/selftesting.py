"""The command `conform selftest`: do the rules find breaks?"""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mockserver.cli.option_types import WrongOption
from mockserver.cli.printing import print_json, print_table
from mockserver.wording import counted

if TYPE_CHECKING:
    from mockserver.selftest import Job, Summary, Trial

# What a run against a broken mock takes on one core, start of the mock included.
_SECONDS_A_TRIAL = 3
_MODES = {"both": (True, False), "reading": (False,), "submitting": (True,), "cheapest": None}


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
    from mockserver.conformance.checks.all_rules import RULES

    chosen, side_by_side = _chosen(names), processes or _cores()
    jobs = trials.jobs_of(chosen, range(1, seeds + 1), _MODES[mode])
    _announce(jobs, chosen, side_by_side)
    by_job: dict[Job, Trial] = {}
    interrupted = False
    try:
        for job, trial in trials.selftest(jobs, processes=side_by_side):
            by_job[job] = trial
            _progress(len(by_job), len(jobs))
    except KeyboardInterrupt:
        # What was found until then may have taken many minutes.
        interrupted = True
        click.echo(f"interrupted after {len(by_job)} of {counted(len(jobs), 'trial')}", err=True)
    made = [by_job[job] for job in jobs if job in by_job]
    # Of an interrupted self-test nobody can tell which rules would have noticed nothing.
    summary = trials.summary_of(made, () if names or interrupted else RULES)
    if as_json:
        print_json(trials.as_json(summary))
    else:
        _print(summary, findings=told)
    if interrupted:
        sys.exit(130)
    if not summary.passed:
        sys.exit(1)


def _announce(jobs: "Sequence[Job]", names: Sequence[str], processes: int) -> None:
    from mockserver.responders.breaks.catalogue import CATALOGUE

    seconds = -(-len(jobs) * _SECONDS_A_TRIAL // min(processes, len(jobs) or 1))
    long = f"{seconds} s" if seconds < 120 else f"{-(-seconds // 60)} min"
    controls = sum(CATALOGUE[name].control for name in names)
    broken = counted(len(names) - controls, "break")
    click.echo(
        f"{counted(len(jobs), 'trial')} of {broken}, {counted(controls, 'control')} "
        f"and the mock as it is, {processes} at a time; about {long}",
        err=True,
    )


def _cores() -> int:
    """Return how many cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _chosen(names: Sequence[str]) -> list[str]:
    from mockserver.responders.breaks.catalogue import CATALOGUE
    from mockserver.suggestions import did_you_mean

    for name in names:
        if name not in CATALOGUE:
            near = did_you_mean(name, list(CATALOGUE)) or "; `crosschain-mock breaks` lists them"
            raise WrongOption(f"{name!r} is no break{near}")
    return list(dict.fromkeys(names)) or list(CATALOGUE)


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
    names = {trial.name for trial in summary.breaks}
    controls, healthy = len(summary.controls), len(summary.healthy)
    trials = (
        f"{counted(len(names), 'break')} in {counted(len(summary.breaks), 'trial')}, "
        f"{len(summary.missed)} missed; "
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
