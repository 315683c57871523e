"""Commands that print the contract: routes, OpenAPI, registers, reference pages."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from mockserver import __version__
from mockserver.cli.files import put
from mockserver.cli.printing import print_json, print_table
from mockserver.jsontext import Json, picked
from mockserver.userfiles import write_text


def routes(dialect: str, as_json: bool) -> None:
    """List every operation with its method, path and inputs."""
    from mockserver.contract import load

    contract = load(dialect)
    if as_json:
        found = [
            {
                **picked(one, "id", "method", "path"),
                "inputs": [
                    {"in": field.location, "name": field.name, "required": field.required}
                    for field in one.fields
                ],
            }
            for one in contract
        ]
        print_json(found)
        return
    rows = [
        (
            one.method,
            one.path,
            ", ".join(field.name + ("" if field.required else "?") for field in one.fields),
        )
        for one in contract
    ]
    print_table(("method", "path", "inputs (? = optional)"), rows)


def openapi(
    generation: str | None, dialect: str, server: str, lifted: bool, output: Path | None
) -> None:
    """Print the OpenAPI 3.1 document of v1, 2.0, both, or the control API."""
    from mockserver import jsontext
    from mockserver.contract import load
    from mockserver.contract.examples import shipped_examples
    from mockserver.contract.openapi import document

    if generation == "control":
        from mockserver.server.control import ROWS
        from mockserver.server.control.openapi import document as of_rows

        put(jsontext.pretty(of_rows(ROWS)) + "\n", output)
        return
    contract = load(dialect)
    found = document(
        contract,
        generation,
        version=__version__,
        server=server,
        lifted=lifted,
        examples=shipped_examples(contract),
    )
    put(jsontext.pretty(found) + "\n", output)


def assumptions(as_json: bool) -> None:
    """List what is not documented and was assumed, with the reasons."""
    from mockserver.contract import load

    columns = {"id": "id", "what is not shown": "title", "what we chose": "chosen", "why": "reason"}
    more = ("alternatives", "concerns")
    _print_register(load().assumptions, columns, more, as_json=as_json)


def errata(as_json: bool) -> None:
    """List where the description and public clients contradict each other."""
    from mockserver.contract import load

    columns = {"id": "id", "documented": "documented", "observed": "observed", "source": "source"}
    _print_register(load().errata, columns, ("title", "operations"), as_json=as_json)


def breaks(as_json: bool) -> None:
    """List the permanent bugs that the mock can be served with.

    `serve --break NAME` starts a server with one; the commands below change a running server.
    """
    if click.get_current_context().invoked_subcommand is not None:
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


def reference(folder: Path, check: bool) -> None:
    """Write the generated pages and documents into FOLDER."""
    from mockserver import limits
    from mockserver.conformance import option_table
    from mockserver.conformance.checks.catalog import rules_by_fact
    from mockserver.contract.reference import pages
    from mockserver.server.control.pages import pages as control_pages

    stale = []
    found = {**pages(__version__, rules_by_fact()), **control_pages()}
    found |= {"limits.md": limits.page(), "options.md": option_table.page()}
    for name, text in found.items():
        path = folder / name
        if path.is_file() and path.read_text("utf-8") == text:
            continue
        stale.append(name)
        if not check:
            write_text(path, text, parents=True)
    for name in stale:
        click.echo(f"{'stale' if check else 'written'}: {folder / name}")
    if check and stale:
        sys.exit(1)


def _print_register(
    register: Iterable[object], columns: Mapping[str, str], more: Sequence[str], *, as_json: bool
) -> None:
    """Print the entries of a register: as a table of some members, or `more` of them as JSON."""
    told = [
        {name: _listed(getattr(one, name)) for name in (*columns.values(), *more)}
        for one in register
    ]
    if as_json:
        print_json(told)
        return
    rows = [tuple(_joined(one[name]) for name in columns.values()) for one in told]
    print_table(tuple(columns), rows)


def _listed(value: object) -> Json:
    return list(value) if isinstance(value, tuple) else value


def _joined(value: Json) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
