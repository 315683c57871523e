"""The command `conform`: is what answers there the service of the contract?"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mockserver.cli import selftesting
from mockserver.cli.files import with_overlay
from mockserver.cli.report_options import ReportOptions
from mockserver.cli.types import Duration, Instant, Quantity
from mockserver.conformance.verdict import FAIL_ON
from mockserver.errors import CrosschainMockError

if TYPE_CHECKING:
    from mockserver.conformance.options import Options
    from mockserver.conformance.session.bindings import Bindings
    from mockserver.conformance.session.caller import Caller
    from mockserver.conformance.session.target import Target

_DEFAULT = "run"


class WrongOption(CrosschainMockError):
    """An option that does not go with the others; nothing was sent."""


class _WithDefault(click.Group):
    """A group whose first word may be an address instead of a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command in front of what is no command."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the two ways in which it is called."""
        formatter.write_usage(ctx.command_path, "URL [OPTIONS]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the options of the default command, then the commands."""
        self.commands[_DEFAULT].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands; the default one is what happens without."""
        return [name for name in super().list_commands(ctx) if name != _DEFAULT]


@click.group(cls=_WithDefault, no_args_is_help=True)
def conform() -> None:
    """Judge the service behind URL by its answers, and by nothing else.

    URL is the base address of both generations; --v1 and --v2 name them apart, and a generation
    without an address is not judged. Only reading requests are sent unless --arm-writes is given.

    Exit 0 where it conforms, 1 where it does not, 2 for wrong or unsafe options, 3 where it cannot
    be told.
    """


_Command = Callable[..., Any]

_ASKED = (
    click.argument("url", required=False),
    click.option("--v1", "v1", metavar="URL", help="The base address of v1."),
    click.option("--v2", "v2", metavar="URL", help="The base address of 2.0."),
    click.option("--seed", type=int, default=1, show_default=True, help="What chance draws from."),
    click.option("--dialect", default="documented", show_default=True, help="Or observed."),
    click.option(
        "--overlay",
        type=click.Path(path_type=Path, dir_okay=False),
        help="What `recordings learn` has learned of a service, laid over the dialect.",
    ),
    click.option("--budget", type=click.IntRange(1), help="At most so many requests."),
    click.option(
        "--rate",
        type=Quantity("rate", "requests a second", "0.001", "10000"),
        help="At most so many requests a second.",
    ),
    click.option(
        "--time", "time_ms", type=Duration(), default="10m", show_default=True, help="For the run."
    ),
    click.option(
        "--request-time",
        "request_ms",
        type=Duration(),
        default="10s",
        show_default=True,
        help="For one request and its answer.",
    ),
    click.option(
        "--allow-host",
        "hosts",
        multiple=True,
        metavar="HOST",
        help="A host that is not this machine, and is meant. Repeatable.",
    ),
    click.option("--arm-writes", is_flag=True, help="Send submissions, too."),
    click.option(
        "--most-writes",
        type=click.IntRange(1),
        default=60,
        show_default=True,
        help="At most so many submissions.",
    ),
    click.option(
        "--confirm-host",
        "confirmed",
        multiple=True,
        metavar="HOST",
        help="The host's name again, without which it gets no submissions. Repeatable.",
    ),
    click.option(
        "--app-key",
        envvar="CROSSCHAIN_APP_KEY",
        show_envvar=True,
        help="A developer key for v1, instead of the example's.",
    ),
    click.option(
        "--app-secret",
        envvar="CROSSCHAIN_APP_SECRET",
        show_envvar=True,
        help="Its secret; better given by the environment.",
    ),
    click.option("--address", help="The account that requests name."),
    click.option(
        "--timestamp",
        type=Instant(milliseconds=True),
        help="Stamp v1 requests with this time, whatever comes of it.",
    ),
    click.option(
        "--only",
        multiple=True,
        metavar="NAME",
        help="Only this rule, layer, operation or generated stage; * fits.",
    ),
    click.option(
        "--skip",
        multiple=True,
        metavar="NAME",
        help="Not this rule, layer, operation or generated stage; * fits.",
    ),
    click.option(
        "--patience",
        "patience_ms",
        type=Duration(zero=True),
        help="How long to wait in all for what was submitted to settle: 6s by itself, not at all "
        "with the mock.",
    ),
    click.option(
        "--edges/--no-edges",
        default=None,
        help="Ask at the edges of every input; by itself where the service is on this machine.",
    ),
    click.option(
        "--examples",
        type=click.IntRange(0),
        help="Generated requests an operation: 2 by itself where the service is on this machine "
        "and Hypothesis is installed.",
    ),
    click.option(
        "--sequences", type=click.IntRange(0), default=0, help="Generated sequences a flow."
    ),
    click.option(
        "--deep", type=click.IntRange(0), default=0, help="Schemathesis examples an operation."
    ),
    click.option(
        "--bindings",
        type=click.Path(path_type=Path, dir_okay=False),
        help="A file that says which member of a list item plays which role.",
    ),
)
_WAIT = click.option(
    "--wait",
    "wait_ms",
    type=Duration(zero=True),
    default="0",
    metavar="DURATION",
    help="Wait so long for a service that is still starting, such as 30s.",
)
_TOLD = (
    click.option(
        "--recordings",
        multiple=True,
        metavar="NAME|PATH",
        help="Judge recordings instead of a service, and send nothing. Repeatable.",
    ),
    click.option(
        "--journal",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Keep every exchange in a file, from which a run can be resumed.",
    ),
    click.option(
        "--resume",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Go on with the run of a journal.",
    ),
    click.option("--strict", is_flag=True, help="Exit 3 where something could not be judged."),
    click.option(
        "--fail-on",
        type=click.Choice(list(FAIL_ON)),
        default="violation",
        show_default=True,
        help="The mildest finding that exits 1.",
    ),
    click.option(
        "--report",
        "reports",
        multiple=True,
        metavar="FORMAT=FILE",
        help="Write a report: html, json, junit, sarif or github; - is stdout. Repeatable.",
    ),
    click.option(
        "--baseline",
        type=click.Path(path_type=Path, dir_okay=False),
        help="A file of findings that are accepted.",
    ),
    click.option(
        "--write-baseline",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write such a file with all that was found.",
    ),
    click.option("--owner", help="Who answers for what --write-baseline accepts."),
    click.option("--expires", metavar="DATE", help="The last day on which it is accepted."),
    click.option("--reason", default="found, and not yet looked into", help="Why it is accepted."),
    click.option("--quiet", "-q", is_flag=True, help="Only findings and the conclusion."),
    click.option("--verbose", "-v", is_flag=True, help="Everything, and every request."),
)


def _with(options: Sequence[Callable[[_Command], _Command]]) -> Callable[[_Command], _Command]:
    def added(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return added


@conform.command(_DEFAULT, hidden=True)
@_with((*_ASKED, _WAIT))
@_with(_TOLD)
def judge(**given: Any) -> None:
    """Judge the service behind URL."""
    from mockserver.cli import judging

    report = ReportOptions(**{name: given.pop(name) for name in ReportOptions.__dataclass_fields__})
    if recordings := given.pop("recordings"):
        _check_unsent(given, report)
        sys.exit(judging.judge_recordings(recordings, options_of(given), report))
    target = _target(given)
    sys.exit(judging.judge(target, _generating(given, target), report))


def _check_unsent(given: Mapping[str, Any], report: ReportOptions) -> None:
    """Refuse what makes no sense where nothing is sent."""
    if any(given[name] for name in ("url", "v1", "v2")):
        raise WrongOption("--recordings goes with no address: nothing is sent")
    if given["arm_writes"] or given["examples"] or given["sequences"] or given["deep"]:
        raise WrongOption("--recordings sends nothing: leave out what is about requests to send")
    if report.journal or report.resume:
        raise WrongOption("--recordings keeps no journal: nothing is sent")


@conform.command()
@click.argument("rule")
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


@conform.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def rules(as_json: bool) -> None:
    """List the rules."""
    from mockserver import contract as contracts
    from mockserver import jsontext
    from mockserver.cli.tables import print_table
    from mockserver.conformance.checks.catalog import RULES
    from mockserver.conformance.generation.rules import stage_rules
    from mockserver.conformance.report.facts import rule_facts

    every = (*RULES, *stage_rules(contracts.load()))
    if as_json:
        click.echo(jsontext.pretty([rule_facts(rule) for rule in every]))
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


@conform.command()
@_with(_ASKED)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def plan(as_json: bool, **given: Any) -> None:
    """Tell which requests would be sent to URL, and send none."""
    from mockserver import jsontext
    from mockserver.cli.planning import planned
    from mockserver.cli.tables import print_table

    if not any(given[name] for name in ("url", "v1", "v2")):
        given["url"] = "http://127.0.0.1:8765"
    target = _target(given)
    told = planned(target, _generating(given, target))
    if as_json:
        click.echo(jsontext.pretty(told.facts()))
        return
    print_table(("stage", "probe", "request"), told.rows)
    for line in told.summary:
        click.echo(line)


def _target(given: Mapping[str, Any]) -> "Target":
    from mockserver.conformance.session.target import target_of

    url, v1, v2 = given["url"], given["v1"], given["v2"]
    if url is not None and v1 is not None and v2 is not None:
        raise WrongOption(f"{url!r} is left over: --v1 and --v2 name both addresses")
    return target_of(url, v1=v1, v2=v2)


def options_of(given: Mapping[str, Any]) -> "Options":
    """Return the settings of a run from the options of a command, those of `conform` itself."""
    from mockserver.conformance.options import Options
    from mockserver.conformance.session.permit import Arming

    writes = given["arm_writes"]
    return Options(
        **{
            name: given[name]
            for name in (
                *("seed", "budget", "rate", "time_ms", "request_ms", "hosts"),
                *("only", "skip", "sequences", "deep"),
            )
        },
        dialect=with_overlay(given["dialect"], given.get("overlay")),
        edges=bool(given["edges"]),
        examples=given["examples"] or 0,
        arming=Arming(writes, given["most_writes"], given["confirmed"]),
        caller=_caller(given),
        bindings=_bindings(given["bindings"]),
        patience_ms=given["patience_ms"],
        wait_ms=given.get("wait_ms", 0),
    )


def _generating(given: Mapping[str, Any], target: "Target") -> "Options":
    """Return the settings of a run with the generation that is usual for its target."""
    from mockserver.conformance.options import is_installed, with_generation

    if given["examples"] is None and not is_installed():
        click.echo(
            "generated requests are left out: Hypothesis is not installed; "
            "pip install 'crosschain-mock[conformance]'",
            err=True,
        )
    return with_generation(
        options_of(given), target, edges=given["edges"], examples=given["examples"]
    )


def _caller(given: Mapping[str, Any]) -> "Caller":
    from mockserver.conformance.session.caller import Caller

    key, secret = given["app_key"], given["app_secret"]
    if bool(key) != bool(secret):
        raise WrongOption("a developer key and its secret belong together: --app-key, --app-secret")
    changes: dict[str, Any] = {}
    if key:
        if not f"{key}{secret}".isprintable() or not key.isascii():
            raise WrongOption("the developer key or its secret holds what no header can carry")
        changes = {"app_key": key, "app_secret": secret, "own_keys": True}
    if given["address"]:
        changes["address"] = given["address"]
    if given["timestamp"] is not None:
        changes |= {"timestamp_ms": given["timestamp"], "fixed_time": True}
    return Caller(**changes)


def _bindings(file: Path | None) -> "Bindings":
    from mockserver import documents
    from mockserver.conformance.session.bindings import ROLES, Bindings
    from mockserver.errors import InvalidFile
    from mockserver.validation import did_you_mean

    if file is None:
        return Bindings()
    document = documents.read(file, "bindings")
    roles = dict(document.value["roles"])
    problems = [
        document.problem(
            ("roles", name),
            f"no such role{did_you_mean(name, list(ROLES))} (there are {', '.join(ROLES)})",
        )
        for name in roles
        if name not in ROLES
    ]
    if problems:
        raise InvalidFile(problems)
    return Bindings(roles)


conform.add_command(selftesting.selftest)
