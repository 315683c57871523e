"""The command `breaks`: ways to be wrong all the time, listed, and set in a world."""

import click

from mockserver.cli.remote import Remote, connected, show
from mockserver.cli.tables import print_table


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_context
def breaks(context: click.Context, *, as_json: bool) -> None:
    """List the ways in which a mock can be wrong all the time, and the controls.

    `serve --break NAME` serves one; the commands below change a world of a running server.
    """
    if context.invoked_subcommand is not None:
        if as_json:
            raise click.UsageError("--json goes with the list, not with a command")
        return
    from mockserver.responders.breaks.catalogue import CATALOGUE
    from mockserver.responders.breaks.pages import shown

    found = [shown(one) for one in CATALOGUE.values()]
    if as_json:
        show(found)
        return
    rows = [
        (
            one["name"],
            "control" if one["control"] else one["layer"],
            one["verdict"],
            one["section"],
            "yes" if one["needsWrites"] else "",
            one["summary"],
        )
        for one in found
    ]
    print_table(("name", "layer", "verdict", "by", "needs writes", "summary"), rows)


@breaks.command("active")
@connected
def breaks_active(remote: Remote) -> None:
    """Print the names of the breaks that a world has."""
    _print(remote.get("/breaks")["active"])


@breaks.command("set")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@connected
def breaks_set(remote: Remote, names: tuple[str, ...]) -> None:
    """Have exactly the breaks of these NAMES in a world."""
    _print(remote.put("/breaks", {"breaks": list(names)})["active"])


@breaks.command("clear")
@connected
def breaks_clear(remote: Remote) -> None:
    """Make a world whole again."""
    _print(remote.put("/breaks", {"breaks": []})["active"])


def _print(names: list[str]) -> None:
    for name in names:
        click.echo(name)
