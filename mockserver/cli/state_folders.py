"""The commands `state`: what people do with the folder of `serve --state`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mockserver import jsontext
from mockserver.cli.files import write_output
from mockserver.cli.printing import print_list
from mockserver.http_messages import printable
from mockserver.wording import counted

if TYPE_CHECKING:
    from mockserver.worlds.factory import WorldFactory


def check(folder: Path, scenario: str, as_json: bool) -> None:
    """Check each value against its checksum, and read each world of a state folder back.

    Exits with 1 where something is damaged, and with 4 where DIR is in use, or no state folder.
    """
    from mockserver.worlds.state import upkeep

    condition = upkeep.check(folder, lambda: _factory(scenario))
    if as_json:
        told = {
            "ok": condition.ok,
            **jsontext.members_of(condition, "worlds"),
            "worlds": [jsontext.members_of(world) for world in condition.worlds],
        }
        click.echo(jsontext.pretty(told))
    else:
        columns = ("key", "scenario", "orders", "snapshots", "journal", "restarts", "damage")
        worlds = [jsontext.members_of(world) for world in condition.worlds]
        for world in worlds:
            world["orders"] = "not read" if world["orders"] is None else world["orders"]
        print_list(worlds, {name: f"{{{name}}}" for name in columns})
        for line in condition.damage:
            click.echo(f"damaged: {printable(line)}")
        verdict = "all is well" if condition.ok else "damaged"
        click.echo(
            f"{verdict}: {counted(len(worlds), 'world')}, {condition.size} bytes, format "
            f"{condition.version} of release {condition.release}, "
            f"{counted(condition.processes, 'process')}"
        )
    sys.exit(0 if condition.ok else 1)


def export(folder: Path, keys: tuple[str, ...], scenario: str, out: Path | None) -> None:
    """Write the worlds of a state folder as dumps, for `world load`.

    KEYS may have `*`; without any, all worlds are written. One world goes to standard output
    without --out.
    """
    from mockserver.worlds.state import upkeep

    dumps = upkeep.export(folder, keys, _factory(scenario))
    if out is None:
        worlds = list(dumps)
        if len(worlds) > 1:
            raise click.UsageError(
                f"{counted(len(worlds), 'world')} cannot go to standard output; name one, or a "
                "folder with --out"
            )
        write_output(jsontext.pretty(worlds[0][1]) + "\n", None)
        return
    out.mkdir(parents=True, exist_ok=True)
    for key, dump in dumps:
        file = out / f"{key}.json"
        write_output(jsontext.pretty(dump) + "\n", file)
        click.echo(str(file))


def prune(folder: Path, keys: tuple[str, ...], journals: bool, dry_run: bool) -> None:
    """Delete worlds by KEYS, which may have `*`, and free the space of what is deleted."""
    from mockserver.worlds.state import upkeep

    chosen, freed = upkeep.prune(folder, keys, journals=journals, write=not dry_run)
    for key in chosen:
        click.echo(key)
    what = "would be deleted" if dry_run else f"deleted, {freed} bytes freed"
    click.echo(f"{counted(len(chosen), 'world')} {what}", err=True)


def _factory(scenario: str) -> "WorldFactory":
    from mockserver.clock import wall_ms
    from mockserver.worlds.factory import WorldFactory, WorldOptions

    return WorldFactory(WorldOptions(scenario=scenario), wall_ms)
