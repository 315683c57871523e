"""The one table of the control API, as `schemas/control.yaml` has it.

Routing, checks, document, page and examples follow from its rows. Functions and forms are looked up
by name when it is read, so that a wrong name is reported with its line.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mockserver import file_formats, limits, resources, tables
from mockserver.jsontext import Json
from mockserver.responders.control_forms import FormTable, filled, named_code, shipped_forms
from mockserver.server.control.route import SAVED_DEPTH, ControlExample, Row


def read(file: Path) -> Iterator[Row]:
    """Yield the rows of a file. Raises `InvalidFile` for a name that nothing has."""
    document = file_formats.read(file, "control")
    table = document.value
    # A table may leave the shipped forms out and name them all the same.
    form_table = FormTable({**shipped_forms().named, **table["forms"]})
    for line, members in table["rows"].items():
        with tables.row(document, "rows", line):
            row = _row(line, members, form_table, table["requests"])
        yield row


def _row(
    line: str, row: Mapping[str, Json], form_table: "FormTable", requests: Mapping[str, Json]
) -> Row:
    method, _, path = line.partition(" ")
    example = dict(row.get("example", {}))
    before = example.pop("before", ())
    return Row(
        method=method,
        path=path,
        summary=row["is"],
        action=_action(row["does"]),
        answer=form_table.message(row["answer"], form_table.answer),
        body=form_table.message(row["body"], form_table.taken) if "body" in row else None,
        query=form_table.fields(row.get("query", {})),
        example=ControlExample(
            target=example.get("target", path),
            body=example.get("body"),
            before=tuple(
                (requests[member]["line"], requests[member].get("body")) for member in before
            ),
            body_from=example.get("body-from", ""),
            depth=example.get("depth", 6),
        ),
        open=row.get("open", False),
        adds=row.get("adds", False),
        most=filled(row.get("most", limits.BODY.most)),
        depth=filled(row.get("depth", SAVED_DEPTH)),
        streams=row.get("streams", False),
        open_query=row.get("open-query", False),
        asks=row.get("asks", False),
        server=row.get("server", False),
        prepare=_action(row["prepares"]) if "prepares" in row else None,
    )


def _action(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(".")
    action: Callable[..., Any] = named_code(f"server.control.{module}:{function}")
    return action


ROWS: tuple[Row, ...] = tuple(read(resources.schemas() / "control.yaml"))
"""The rows, in the order of the document."""
