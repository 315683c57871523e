"""The command `conform`: is what answers there the service of the contract?"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mockserver.cli import selftesting
from mockserver.cli.types import Duration, Instant, Quantity
from mockserver.errors import CrosschainMockError

if TYPE_CHECKING:
    from mockserver.conformance.caller import Caller
    from mockserver.conformance.known import Bindings
    from mockserver.conformance.options import Options
    from mockserver.conformance.target import Target

_DEFAULT = "run"
FAIL_ON = {
    "violation": "violation",
    "observed": "differs-from-observed",
    "assumption": "differs-from-assumption",
    "extra": "undocumented-extra",
}
"""What --fail-on takes, and the verdict each word stands for."""


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
        "--examples", type=click.IntRange(0), default=0, help="Generated requests an operation."
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
_TOLD = (
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


@dataclass(frozen=True, slots=True)
class Told:
    """What a run is to leave behind."""

    journal: Path | None
    resume: Path | None
    strict: bool
    fail_on: str
    reports: tuple[str, ...]
    baseline: Path | None
    write_baseline: Path | None
    owner: str | None
    expires: str | None
    reason: str
    quiet: bool
    verbose: bool


@conform.command(_DEFAULT, hidden=True)
@_with(_ASKED)
@_with(_TOLD)
def judge(**given: Any) -> None:
    """Judge the service behind URL."""
    from mockserver.cli import judging

    told = Told(**{name: given.pop(name) for name in Told.__dataclass_fields__})
    sys.exit(judging.judge(_target(given), options_of(given), told))


@conform.command()
@click.argument("rule")
def explain(rule: str) -> None:
    """Tell what a rule says, why it matters, and what it stands on."""
    from mockserver import contract as contracts
    from mockserver.conformance.generation.rules import stage_rules
    from mockserver.conformance.probes import probes_of
    from mockserver.conformance.report.explain import explained, rule_named
    from mockserver.conformance.rules import RULES

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
    from mockserver.conformance.generation.rules import stage_rules
    from mockserver.conformance.report.facts import rule_facts
    from mockserver.conformance.rules import RULES

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
    told = planned(_target(given), options_of(given))
    if as_json:
        click.echo(jsontext.pretty(told.facts()))
        return
    print_table(("stage", "probe", "request"), told.rows)
    for line in told.summary:
        click.echo(line)


def _target(given: Mapping[str, Any]) -> "Target":
    from mockserver.conformance.target import target_of

    url, v1, v2 = given["url"], given["v1"], given["v2"]
    if url is not None and v1 is not None and v2 is not None:
        raise WrongOption(f"{url!r} is left over: --v1 and --v2 name both addresses")
    return target_of(url, v1=v1, v2=v2)


def options_of(given: Mapping[str, Any]) -> "Options":
    """Return the settings of a run from the options of a command, those of `conform` itself."""
    from mockserver.conformance.options import Options
    from mockserver.conformance.permit import Arming

    writes = given["arm_writes"]
    return Options(
        **{
            name: given[name]
            for name in (
                *("seed", "dialect", "budget", "rate", "time_ms", "request_ms", "hosts"),
                *("only", "skip", "examples", "sequences", "deep"),
            )
        },
        arming=Arming(writes, given["most_writes"], given["confirmed"]),
        caller=_caller(given),
        bindings=_bindings(given["bindings"]),
        patience_ms=given["patience_ms"],
    )


def _caller(given: Mapping[str, Any]) -> "Caller":
    from mockserver.conformance.caller import Caller

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
    from mockserver.conformance.known import ROLES, Bindings
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
