"""Commands that print the contract: routes, OpenAPI, registers, reference pages."""

import sys
from pathlib import Path
from typing import Any

import click

from mockserver import __version__
from mockserver.cli.files import write_output
from mockserver.cli.printing import Columns, print_list
from mockserver.jsontext import picked
from mockserver.userfiles import write_text


def routes(dialect: str, as_json: bool) -> None:
    """List every operation with its method, path and inputs."""
    from mockserver.contract import load

    rows = [
        {
            **picked(operation, "id", "method", "path"),
            "inputs": [
                {"in": field.location, "name": field.name, "required": field.required}
                for field in operation.fields
            ],
        }
        for operation in load(dialect)
    ]
    columns: Columns = {
        "method": "{method}",
        "path": "{path}",
        "inputs (? = optional)": lambda route: ", ".join(
            field["name"] + ("" if field["required"] else "?") for field in route["inputs"]
        ),
    }
    print_list(rows, columns, as_json=as_json)


def openapi(
    generation: str | None,
    dialect: str,
    server: str,
    lifted: bool,
    flat: bool,
    output: Path | None,
) -> None:
    """Print the OpenAPI 3.1 document of v1, 2.0, both, or the control API."""
    from mockserver import jsontext
    from mockserver.contract.flat_openapi import flat as flattened

    if generation == "control":
        document = _control_api()
    else:
        document = _api(generation, dialect, server=server, lifted=lifted)
    write_output(jsontext.pretty(flattened(document) if flat else document) + "\n", output)


def _control_api() -> dict[str, Any]:
    from mockserver.server.control import ROWS
    from mockserver.server.control.openapi import document

    return document(ROWS)


def _api(generation: str | None, dialect: str, *, server: str, lifted: bool) -> dict[str, Any]:
    from mockserver.contract import load
    from mockserver.contract.openapi import document, shipped_examples

    contract = load(dialect)
    return document(
        contract,
        generation,
        version=__version__,
        server=server,
        lifted=lifted,
        examples=shipped_examples(contract),
    )


def schemas(folder: Path, dialect: str) -> None:
    """Write JSON Schemas into FOLDER: of file formats, and of all requests and answers."""
    from mockserver import jsontext
    from mockserver.contract import load
    from mockserver.contract.schemafiles import schema_files

    count = 0
    for name, schema in schema_files(load(dialect)):
        write_text(folder / name, jsontext.pretty(schema) + "\n", parents=True)
        count += 1
    click.echo(f"written: {count} schemas to {folder}")


def assumptions(as_json: bool) -> None:
    """List what is not documented and was assumed, with the reasons."""
    from mockserver.contract import load

    columns = {
        "id": "{id}",
        "what is not shown": "{title}",
        "what we chose": "{chosen}",
        "why": "{reason}",
    }
    members = ("id", "title", "chosen", "reason", "alternatives", "concerns")
    print_list(
        [picked(assumption, *members) for assumption in load().assumptions],
        columns,
        as_json=as_json,
    )


def errata(as_json: bool) -> None:
    """List where the description and public clients contradict each other."""
    from mockserver.contract import load

    columns = {name: f"{{{name}}}" for name in ("id", "documented", "observed", "source")}
    members = (*columns, "title", "operations")
    print_list([picked(erratum, *members) for erratum in load().errata], columns, as_json=as_json)


def breaks(as_json: bool) -> None:
    """List the permanent bugs that the mock can be served with.

    `serve --break NAME` starts a server with one; the commands below change a running server.
    """
    if click.get_current_context().invoked_subcommand is not None:
        if as_json:
            raise click.UsageError("--json goes with the list, not with a command")
        return
    from mockserver.responders.breaks.catalogue import CATALOGUE, break_json

    columns: Columns = {
        "name": "{name}",
        "layer": lambda row: "control" if row["control"] else row["layer"],
        "verdict": "{verdict}",
        "by": "{section}",
        "needs writes": lambda row: "yes" if row["needsWrites"] else "",
        "summary": "{summary}",
    }
    print_list([break_json(break_) for break_ in CATALOGUE.values()], columns, as_json=as_json)


def reference(folder: Path, check: bool) -> None:
    """Write the generated pages into FOLDER."""
    from mockserver import limits
    from mockserver.conformance import option_table
    from mockserver.conformance.checks.all_rules import rules_by_fact
    from mockserver.contract.reference_pages import pages
    from mockserver.scenarios import library
    from mockserver.server.control.reference_pages import pages as control_pages
    from mockserver.worlds.audit import finding_kinds
    from mockserver.worlds.lint.reference_page import page as lint_page

    stale = []
    pages_by_name = {**pages(rules_by_fact()), **control_pages()}
    pages_by_name |= {"limits.md": limits.page(), "options.md": option_table.page()}
    pages_by_name |= {"lint.md": lint_page(), "audit.md": finding_kinds.page()}
    pages_by_name["scenarios.md"] = library.page()
    for name, text in pages_by_name.items():
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
