"""The commands `recordings drift` and `recordings learn`: what recordings tell of a service."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mockserver.cli.files import put
from mockserver.cli.printing import print_json, print_levels
from mockserver.userfiles import write_text

if TYPE_CHECKING:
    from mockserver.contract import Contract
    from mockserver.recordings import Source


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


def world_from_recording(named: tuple[str, ...], output: Path | None) -> None:
    """Make a scenario of RECORDINGS: chains and tokens, prices, fees, quotes and orders as shown.

    Each is a shipped recording, a file or a folder. Serve it with `--scenario FILE`, before it the
    recordings themselves with `--replay` and `--replay-fallback`. Nothing is asked of a server.
    """
    from mockserver.learning.seeding import scenario_text, seed_of
    from mockserver.recordings import gather

    seed = seed_of(gather(named))
    text = scenario_text(seed, f"as recorded in {', '.join(named)}")
    for sentence in seed.added.remarks:
        click.echo(sentence, err=True)
    if seed.unknown:
        names = ", ".join(seed.unknown)
        click.echo(
            f"left out, as neither the catalog nor a recorded list has them: {names}", err=True
        )
    for sentence in seed.orders.left_out:
        click.echo(f"left out: {sentence}", err=True)
    put(text, output)
