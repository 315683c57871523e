"""Commands for whole worlds: made, forked, dumped and loaded, kept and brought back."""

from pathlib import Path
from typing import Any

import click

from mockserver.cli.files import put
from mockserver.cli.printing import print_json, print_table
from mockserver.cli.remote import NotDone, Remote, asks, connected, given, plain, value_of
from mockserver.cli.shared_options import OUTPUT
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json


class NotLoadable(CrosschainMockError):
    """A file that does not become a world."""

    exit_code = 4


@click.group()
def world() -> None:
    """Make, fork, dump, load and drop worlds."""


@world.command("list")
@asks("GET /worlds")
def world_list(told: Json) -> None:
    """List the worlds of a server."""
    names = ("key", "scenario", "dialect", "clock", "now", "orders", "requests")
    print_table(names, [tuple(str(one[name]) for name in names) for one in told["worlds"]])


@world.command("new")
@click.argument("key")
@click.option("--scenario", help="A shipped scenario.")
@click.option("--dialect", help="documented, observed, or errata such as E-01,E-03.")
@click.option("--clock", help="real, frozen, auto or scaled:60.")
@click.option("--start", help="The first time its clock shows.")
@click.option("--seed", type=int, help="The seed of everything that looks random.")
@click.option("--app-key", "app_keys", multiple=True, help="An app key bound to it; repeatable.")
@click.option("--break", "breaks", multiple=True, metavar="NAME", help="A break; repeatable.")
@connected
def world_new(
    remote: Remote,
    key: str,
    clock: str | None,
    app_keys: tuple[str, ...],
    breaks: tuple[str, ...],
    **options: Any,
) -> None:
    """Make a world under KEY; it is found at /w/KEY and by the header X-Mock-World."""
    mode, colon, rate = (clock or "").partition(":")
    body = given(
        key=key,
        clock=mode or None,
        rate=value_of(rate) if colon else None,
        appKeys=list(app_keys) or None,
        breaks=list(breaks) or None,
        **options,
    )
    print_json(remote.post("/worlds", body))


@world.command("from-recording")
@click.argument("named", nargs=-1, required=True, metavar="RECORDINGS...")
@OUTPUT
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


@world.command("dump")
@OUTPUT
@connected
def world_dump(remote: Remote, output: Path | None) -> None:
    """Print a world as JSON, to be loaded later."""
    from mockserver import jsontext

    put(jsontext.pretty(remote.get("/dump")) + "\n", output)


@world.command("load")
@click.argument("file")
@connected
def world_load(remote: Remote, file: str) -> None:
    """Put the world of a FILE in the place of the one meant; - reads standard input."""
    from mockserver import jsontext, limits
    from mockserver.cli.files import read_input

    try:
        dump: Json = jsontext.decode(read_input(file, limits.LOAD_BODY))
    except jsontext.NotJson as error:
        raise NotLoadable(f"{file}: {error}; expected the dump of a world") from None
    try:
        print_json(remote.post("/load", dump))
    except NotDone as error:
        raise NotLoadable(f"{file}: {error}") from None


@world.command("bind")
@click.argument("app_keys", nargs=-1, required=True, metavar="APPKEY...")
@asks("POST /app-keys")
def world_bind(told: Json) -> None:
    """Send the v1 requests of these app keys to the world meant."""
    print_json(told)


@click.group()
def snapshot() -> None:
    """Keep a world as it is, and go back to it."""


@snapshot.command("take")
@click.argument("name", required=False)
@asks("POST /snapshots")
def snapshot_take(told: Json) -> None:
    """Keep the world, clock, faults and stubs too, and print the name."""
    click.echo(told["name"])


def _snapshots(told: Json) -> None:
    for name in told["snapshots"]:
        click.echo(name)


_DROP = "Forget the world of KEY with everything in it."
_FORK = "Make a world under the key TO that has been the same up to now."
_LIST = "List the snapshots of a world, oldest first."
_REVERT = "Go back to a snapshot, which stays."

plain(world, "drop", "DELETE /worlds/{key}", _DROP)
plain(world, "fork", "POST /fork", _FORK, "TO=to")
plain(world, "unbind", "DELETE /app-keys", "Send no app keys to the world meant.")
plain(snapshot, "list", "GET /snapshots", _LIST, told=_snapshots)
plain(snapshot, "revert", "POST /revert", _REVERT, "NAME=name", told="{name}: it is {now}")
plain(snapshot, "drop", "DELETE /snapshots/{name}", "Forget a snapshot.", told="")
