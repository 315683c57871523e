"""The command `breaks`: ways to be wrong all the time, listed, and set in a world."""

import click

from mockserver.cli.printing import print_json, print_table
from mockserver.cli.remote import asks, plain
from mockserver.cli.shared_options import JSON
from mockserver.jsontext import Json


@click.group(invoke_without_command=True)
@JSON
@click.pass_context
def breaks(context: click.Context, *, as_json: bool) -> None:
    """List the ways in which a mock can be wrong all the time, and the controls.

    `serve --break NAME` serves one; the commands below change a world of a running server.
    """
    if context.invoked_subcommand is not None:
        if as_json:
            raise click.UsageError("--json goes with the list, not with a command")
        return
    from mockserver.responders.breaks.catalogue import CATALOGUE, shown

    found = [shown(one) for one in CATALOGUE.values()]
    if as_json:
        print_json(found)
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


@breaks.command("set")
@click.argument("breaks", nargs=-1, required=True, metavar="NAME...")
@asks("PUT /breaks")
def breaks_set(told: Json) -> None:
    """Have exactly the breaks of these NAMES in a world."""
    _active(told)


def _active(told: Json) -> None:
    for name in told["active"]:
        click.echo(name)


_NAMES = "Print the names of the breaks that a world has."

plain(breaks, "active", "GET /breaks", _NAMES, told=_active)
plain(
    breaks, "clear", "PUT /breaks", "Make a world whole again.", body={"breaks": []}, told=_active
)
