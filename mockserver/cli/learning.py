"""The commands `recordings drift` and `recordings learn`: what recordings tell of a service."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mockserver.cli.printing import print_json, print_levels
from mockserver.cli.run_options import with_rows
from mockserver.cli.shared_options import JSON, PATH, changes_as
from mockserver.conformance.option_table import PERMIT
from mockserver.userfiles import write_text

if TYPE_CHECKING:
    from mockserver.contract import Contract
    from mockserver.recordings import Source


@click.command()
@click.argument("old")
@click.argument("new")
@changes_as(("text", "json", "junit"), ("breaking", "may-break", "harmless", "never"))
@click.option("--write-test", type=PATH, help="A pytest file to write.")
@with_rows(PERMIT[:1])
@click.option("--dialect", default="observed", show_default=True, help="How answers are read.")
def drift(old: str, new: str, *, form: str, fail_on: str, dialect: str, **given: Any) -> None:
    """Say how the answers in NEW differ in shape from those in OLD.

    Each is a shipped recording, a file or a folder; NEW may be the base address of a service, which
    is asked what was recorded: reading requests only. Values may differ freely. Exits with 1 where
    something changed of the level of --fail-on, or worse.
    """
    from mockserver.contract import load
    from mockserver.learning.drift import drift as compared
    from mockserver.learning.drifting import as_facts, as_junit, as_lines, as_test
    from mockserver.recordings import gather

    contract = load(dialect)
    before = gather([old])
    found = compared(before, _after(new, before, contract, given["allow_hosts"]), contract)
    if given["write_test"] is not None:
        write_text(given["write_test"], as_test(found, old, new, dialect))
    if form == "text":
        print_levels(as_lines(found))
    elif form == "junit":
        click.echo(as_junit(found, fail_on))
    else:
        print_json(as_facts(found))
    if found.failing(fail_on):
        sys.exit(1)


def _after(
    new: str, before: "tuple[Source, ...]", contract: "Contract", hosts: tuple[str, ...]
) -> "tuple[Source, ...]":
    from mockserver.learning.asking import asked_anew
    from mockserver.recordings import gather

    if new.startswith(("http://", "https://")):
        return asked_anew(before, new, contract, hosts)
    return gather([new])


@click.command()
@click.argument("named", nargs=-1, required=True, metavar="RECORDINGS...")
@JSON
@click.option("--overlay", type=PATH, help="A file to write for --overlay.")
def learn(named: tuple[str, ...], *, as_json: bool, overlay: Path | None) -> None:
    """Hold RECORDINGS against the register: which guesses do they confirm, and which refute?

    Each is a shipped recording, a file or a folder. What the description documents is never
    changed: where it is violated, that is said. --overlay writes the errata that were seen and the
    members that the contract does not mention to a file for `serve`, `conform` and `validate`.
    """
    from mockserver.learning.register import as_facts, as_lines, as_overlay, evidence_of
    from mockserver.recordings import gather

    found = evidence_of(gather(named))
    if overlay is not None:
        write_text(overlay, as_overlay(found, f"learned from {', '.join(named)}"))
    if as_json:
        print_json(as_facts(found))
        return
    for line in as_lines(found):
        click.echo(line)
