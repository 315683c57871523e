"""The command `conform`: does a service keep the contract?"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from mockserver.cli.default_address import DEFAULT_URL
from mockserver.cli.option_types import WrongOption
from mockserver.cli.printing import print_json, print_list, print_table, print_text
from mockserver.wording import counted

if TYPE_CHECKING:
    from mockserver.conformance.checks.rule import Rule
    from mockserver.conformance.options import Options
    from mockserver.conformance.runs.planner import Prepared
    from mockserver.conformance.session.target import Target


def judge(**settings: Any) -> None:
    """Judge the service behind URL."""
    from mockserver.cli import conform_run
    from mockserver.conformance.runs.option_reading import options_from

    output = conform_run.output_of(settings)
    if recordings := settings.pop("recordings"):
        _check_unsent(settings, journalled=bool(output.journal or output.resume))
        sys.exit(conform_run.judge_recordings(recordings, options_from(settings), output))
    target = _target(settings)
    sys.exit(conform_run.judge(target, options_from(settings, target), output))


def _check_unsent(settings: Mapping[str, Any], *, journalled: bool) -> None:
    """Refuse what makes no sense where nothing is sent."""
    if any(settings[name] for name in ("url", "v1", "v2")):
        raise WrongOption("--recordings goes with no address: nothing is sent")
    if settings["arm_writes"] or settings["examples"] or settings["sequences"] or settings["deep"]:
        raise WrongOption("--recordings sends nothing: leave out what is about requests to send")
    if journalled:
        raise WrongOption("--recordings keeps no journal: nothing is sent")


def explain(rule: str) -> None:
    """Explain a RULE: what it says, why it matters, and where that is documented."""
    from mockserver import contract as contracts
    from mockserver.conformance.report.rule_explanation import explained, rule_named
    from mockserver.conformance.requests.all_probes import probes_of

    contract, every = contracts.load(), _every_rule()
    chosen_rule = rule_named(rule, every)
    for heading, text in explained(chosen_rule, every, probes_of(contract), contract):
        print_text(f"{heading}: {text}" if heading else text)
        if not heading:
            click.echo()


def rules(as_json: bool) -> None:
    """List the rules."""
    from mockserver.conformance.report.json_report import rule_facts

    if as_json:
        print_json([rule_facts(rule) for rule in _every_rule()])
        return
    print_table(
        ("rule", "layer", "severity", "based on", "operations", "says"),
        [
            (
                *(rule.name, rule.layer.value, rule.severity.value, str(rule.basis)),
                *(str(len(rule.operations)), rule.summary),
            )
            for rule in _every_rule()
        ],
    )


def _every_rule() -> "tuple[Rule, ...]":
    from mockserver import contract as contracts
    from mockserver.conformance.checks.all_rules import RULES
    from mockserver.conformance.generation.stages import stage_rules

    return (*RULES, *stage_rules(contracts.load()))


def plan(as_json: bool, **settings: Any) -> None:
    """List the requests that would be sent to URL, without sending them."""
    from mockserver.conformance.runs.option_reading import options_from
    from mockserver.conformance.runs.planner import prepared

    if not any(settings[name] for name in ("url", "v1", "v2")):
        settings["url"] = DEFAULT_URL
    target = _target(settings)
    options = options_from(settings, target)
    ready = prepared(target, options)
    operations = [ready.contract.operation(probe.operation_id) for probe in ready.plan.probes]
    probes = [
        {
            "stage": probe.stage.name.lower().replace("_", " "),
            "name": probe.name,
            "operation": probe.operation_id,
            "request": f"{operation.method} {operation.path}",
            "after": list(probe.after),
        }
        for probe, operation in zip(ready.plan.probes, operations, strict=True)
    ]
    submissions = sum(operation.writes for operation in operations)
    if as_json:
        print_json(
            {
                "requests": len(probes),
                "submissions": submissions,
                "rate": ready.limits.rate,
                "rules": [rule.name for rule in ready.plan.rules],
                "probes": probes,
                "leftOut": dict(ready.plan.left_out),
            }
        )
        return
    print_list(probes, {"stage": "{stage}", "probe": "{name}", "request": "{request}"})
    for line in _plan_in_words(ready, submissions, options):
        click.echo(line)


def _plan_in_words(ready: "Prepared", submissions: int, options: "Options") -> Iterator[str]:
    """Yield the summary of a plan, and what comes after it."""
    from mockserver.conformance.options import MOST_DELIVERY

    plan, rate = ready.plan, format(ready.limits.rate.normalize(), "f")
    yield (
        f"{counted(len(plan.rules), 'rule')}, {counted(len(plan.probes), 'request')} at most, "
        f"{submissions} of them submissions, no faster than {rate} a second; nothing was sent"
    )
    if options.edges:
        yield f"up to {options.most_edges} requests with edge cases of inputs come after them"
    if options.delivery:
        yield f"up to {MOST_DELIVERY} requests come once more, in other deliveries"
    for reason, number in Counter(plan.left_out.values()).most_common():
        yield f"left out: {number} x {reason}"


def _target(settings: Mapping[str, Any]) -> "Target":
    from mockserver.conformance.session.target import target_of

    url, v1, v2 = settings["url"], settings["v1"], settings["v2"]
    if url is not None and v1 is not None and v2 is not None:
        raise WrongOption(f"{url!r} is left over: --v1 and --v2 name both addresses")
    return target_of(url, v1=v1, v2=v2)
