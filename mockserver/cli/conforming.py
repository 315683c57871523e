"""The command `conform`: is what answers there the service of the contract?"""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from mockserver.cli.printing import print_json, print_table
from mockserver.errors import CrosschainMockError

if TYPE_CHECKING:
    from mockserver.conformance.options import Options
    from mockserver.conformance.session.target import Target


class WrongOption(CrosschainMockError):
    """An option that does not go with the others; nothing was sent."""


def judge(**given: Any) -> None:
    """Judge the service behind URL."""
    from mockserver.cli import judging
    from mockserver.conformance.runs.settings import options_from

    report = judging.wanted(given)
    if recordings := given.pop("recordings"):
        _check_unsent(given, journalled=bool(report.journal or report.resume))
        sys.exit(judging.judge_recordings(recordings, options_from(given), report))
    target = _target(given)
    sys.exit(judging.judge(target, _generating(given, target), report))


def _check_unsent(given: Mapping[str, Any], *, journalled: bool) -> None:
    """Refuse what makes no sense where nothing is sent."""
    if any(given[name] for name in ("url", "v1", "v2")):
        raise WrongOption("--recordings goes with no address: nothing is sent")
    if given["arm_writes"] or given["examples"] or given["sequences"] or given["deep"]:
        raise WrongOption("--recordings sends nothing: leave out what is about requests to send")
    if journalled:
        raise WrongOption("--recordings keeps no journal: nothing is sent")


def explain(rule: str) -> None:
    """Tell what a rule says, why it matters, and what it stands on."""
    from mockserver import contract as contracts
    from mockserver.conformance.checks.catalog import RULES
    from mockserver.conformance.generation.rules import stage_rules
    from mockserver.conformance.report.explain import explained, rule_named
    from mockserver.conformance.requests.catalog import probes_of

    contract = contracts.load()
    every = (*RULES, *stage_rules(contract))
    found = rule_named(rule, every)
    for heading, text in explained(found, every, probes_of(contract), contract):
        click.echo(f"{heading}: {text}" if heading else f"{text}\n")


def rules(as_json: bool) -> None:
    """List the rules."""
    from mockserver import contract as contracts
    from mockserver.conformance.checks.catalog import RULES
    from mockserver.conformance.generation.rules import stage_rules
    from mockserver.conformance.report.facts import rule_facts

    every = (*RULES, *stage_rules(contracts.load()))
    if as_json:
        print_json([rule_facts(rule) for rule in every])
        return
    print_table(
        ("rule", "layer", "severity", "stands on", "operations", "says"),
        [
            (
                rule.name,
                rule.layer.value,
                rule.severity.value,
                str(rule.basis),
                str(len(rule.operations)),
                rule.summary,
            )
            for rule in every
        ],
    )


def plan(as_json: bool, **given: Any) -> None:
    """Tell which requests would be sent to URL, and send none."""
    from mockserver.cli.planning import facts, rows, summary
    from mockserver.conformance.runs.planner import prepared

    if not any(given[name] for name in ("url", "v1", "v2")):
        given["url"] = "http://127.0.0.1:8765"
    target = _target(given)
    options = _generating(given, target)
    ready = prepared(target, options)
    if as_json:
        print_json(facts(ready))
        return
    print_table(("stage", "probe", "request"), rows(ready))
    for line in summary(ready, edges=options.edges):
        click.echo(line)


def _target(given: Mapping[str, Any]) -> "Target":
    from mockserver.conformance.session.target import target_of

    url, v1, v2 = given["url"], given["v1"], given["v2"]
    if url is not None and v1 is not None and v2 is not None:
        raise WrongOption(f"{url!r} is left over: --v1 and --v2 name both addresses")
    return target_of(url, v1=v1, v2=v2)


def _generating(given: Mapping[str, Any], target: "Target") -> "Options":
    """Return the settings of a run with the generation that is usual for its target."""
    from mockserver.conformance.options import is_installed
    from mockserver.conformance.runs.settings import options_from

    if given["examples"] is None and not is_installed():
        click.echo(
            "generated requests are left out: Hypothesis is not installed; "
            "pip install 'crosschain-mock[conformance]'",
            err=True,
        )
    return options_from(given, target)
