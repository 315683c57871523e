"""The findings of a run as pytest or as a command, which run the rules again that found them."""

import shlex
from collections.abc import Iterator

from mockserver.conformance.generation.stages import GENERATED, SAVED, STAGES
from mockserver.conformance.report.causes import Cause
from mockserver.conformance.report.exchanges_and_curl import variable_of
from mockserver.conformance.report.model import Report
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Layer
from mockserver.http_messages import is_loopback
from mockserver.wording import counted, one_line

_LONGEST = 300
_DEVELOPER = ("APP_KEY", "APP_SECRET")
_GENERATING = ("examples", "sequences", "deep")

# A finding in one of the first two lines could name an encoding (`content-encoding: gzip`) that
# Python would obey.
_TEST = """\
# -*- coding: utf-8 -*-
# {heading}; a test fails until what it names is mended.
from functools import cache
{imports}
import pytest

from mockserver.conformance import run

FINDINGS = [
{findings}]


@cache
def result():
    return run(
{arguments}    )


@pytest.mark.parametrize("judged", FINDINGS)
def test_finding(judged):
    (outcome,) = (outcome for outcome in result().outcomes if outcome.id == judged)
    assert not outcome.findings, outcome.findings[0].message
    if outcome.verdict == {vacuous!r}:
        pytest.skip(outcome.reason)
    assert outcome.verdict in {sound!r}, outcome.reason
"""


def saved_lines(report: Report) -> tuple[str, ...]:
    """Return the lines of `--probes` for the generated requests of all findings, each once."""
    return tuple(dict.fromkeys(line for cause in report.causes for line in _lines(cause)))


def as_pytest(report: Report, probes: str) -> str:
    """Return a test module that judges the rules again that found something.

    It sends their requests, and those of the file `probes` beside it, which has the `saved_lines`;
    `probes` is empty where there are none.
    """
    texts_by_rule: dict[str, list[str]] = {}
    for cause in report.causes:
        for operation in cause.operations:
            name = SAVED.rule().name if _is_saved(cause) else cause.rule.name
            texts_by_rule.setdefault(f"{name}[{operation}]", []).append(cause.located)
    for outcome in report.defects:
        texts_by_rule.setdefault(outcome.id, []).append(outcome.reason)
    imports = ["import os"] * report.own_keys + ["from pathlib import Path"] * bool(probes)
    return _TEST.format(
        heading=f"{counted(len(report.causes), 'cause')} found by crosschain-mock conform",
        imports="".join(f"{line}\n" for line in sorted(imports, key=lambda line: line[0] == "i")),
        findings="".join(
            "".join(f"    # {one_line(text)[:_LONGEST]}\n" for text in dict.fromkeys(texts))
            + f"    {name!r},\n"
            for name, texts in texts_by_rule.items()
        ),
        arguments="".join(f"        {argument},\n" for argument in _arguments(report, probes)),
        # What only a broken service answers is not there to be judged once it is mended.
        vacuous=Verdict.VACUOUS.value,
        sound=(Verdict.HOLDS.value, Verdict.NOT_APPLICABLE.value),
    )


def command_again(report: Report, cause: Cause) -> str:
    """Return the command that runs the rule of a cause again; empty where none can.

    Recordings have no service to ask, and a submission to a host of others is nobody's to repeat by
    a click.
    """
    target, dialect = report.target, report.contract.dialect.name
    far = [host for host in target.hosts if not is_loopback(host)]
    submits = any(exchange.submits for exchange in cause.exchanges)
    if not report.choices or (submits and far):
        return ""
    one_base = target.v1 if target.v1 == target.v2 else None
    bases = () if one_base else tuple(target.bases.items())
    words = ["crosschain-mock", "conform", *([one_base] if one_base else [])]
    words += [word for name, base in bases for word in (f"--{name}", base)]
    # Times that are compared over a run do not show in a part of it.
    is_of_whole_run = cause.rule.layer is Layer.TIMING and cause.rule.reads
    words += [] if is_of_whole_run else ["--only", cause.rule.name]
    words += ["--seed", str(report.seed)] * (report.seed != 1)
    words += ["--dialect", dialect] * (dialect != "documented")
    words += [word for host in far for word in ("--allow-host", host)]
    words += ["--arm-writes"] * submits
    if cause.rule.check in STAGES:
        words += _generating(report)
    return shlex.join(words)


def _generating(report: Report) -> Iterator[str]:
    """Yield the options that make a run generate what this one did."""
    for name in ("edges", "delivery"):
        yield f"--{'' if report.choices.get(name) else 'no-'}{name}"
    yield from ("--examples", str(report.choices.get("examples", 0)))
    for name in ("sequences", "deep"):
        if number := report.choices.get(name):
            yield from ("--set", f"{name}={number}")


def _is_saved(cause: Cause) -> bool:
    """Whether a generated request shows it alone: then its line does, in every run."""
    lines = {exchange.saved for exchange in cause.exchanges}
    return cause.rule.check is GENERATED and len(lines) == 1 and "" not in lines


def _lines(cause: Cause) -> Iterator[str]:
    if cause.rule.check in STAGES and not _is_saved(cause):
        # Answers to saved requests would change what is generated next.
        return
    for finding in cause.findings:
        yield from (exchange.saved for exchange in finding.exchanges if exchange.saved)


def _arguments(report: Report, probes: str) -> Iterator[str]:
    """Yield the arguments of `run` that send the requests of the findings again."""
    target, dialect = report.target, report.contract.dialect.name
    for name, base in (("v1", target.v1), ("v2", target.v2)):
        if base:
            yield f"{name}={base!r}"
    yield f"seed={report.seed}"
    if dialect != "documented":
        yield f"dialect={dialect!r}"
    yield from (f"{name}={value!r}" for name, value in _choices(report).items())
    if probes:
        yield f"probes=Path(__file__).with_name({probes!r})"
    far = [host for host in target.hosts if not is_loopback(host)]
    if far:
        yield f"allow_hosts={far!r}"
    if report.submissions:
        yield "arm_writes=True"
        if far:
            yield f"confirm_hosts={far!r}"
    if report.own_keys:
        yield from (f'{name.lower()}=os.environ["{variable_of(name)}"]' for name in _DEVELOPER)


def _choices(report: Report) -> dict[str, object]:
    """Return which requests are made: generated ones only where no saved one shows the finding."""
    again = [cause for cause in report.causes if not _is_saved(cause)]
    choices = dict(report.choices)
    if not any(cause.rule.check in STAGES for cause in again):
        choices |= dict.fromkeys(_GENERATING, 0)
    # A rule that judges every exchange sends none itself: the others have to run as well.
    if not any(cause.rule.every_exchange and not list(_lines(cause)) for cause in again):
        rules = [cause.rule for cause in again] + [outcome.rule for outcome in report.defects]
        choices["only"] = tuple({rule.name: 0 for rule in rules} | {SAVED.rule().name: 0})
    return {name: value for name, value in choices.items() if value != ()}
