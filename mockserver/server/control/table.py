"""The one table of the control API: routing, checks, document and command follow from it."""

from mockserver.jsontext import Json
from mockserver.server.control import (
    about,
    audits,
    breaks,
    chains,
    clocks,
    events,
    faults,
    journals,
    money,
    orders,
    outages,
    stubs,
    worlds,
)
from mockserver.server.control.openapi import document
from mockserver.server.control.row import Asked, Row


def own_document(asked: Asked) -> Json:
    """Return the OpenAPI document of the control API."""
    return document(ROWS)


ROWS: tuple[Row, ...] = (
    *about.ROWS,
    *worlds.ROWS,
    *clocks.ROWS,
    *outages.ROWS,
    *orders.ROWS,
    *faults.ROWS,
    *breaks.ROWS,
    *stubs.ROWS,
    *journals.ROWS,
    *audits.ROWS,
    *events.ROWS,
    *money.ROWS,
    *chains.ROWS,
    Row(
        "GET",
        "/openapi",
        "Show the OpenAPI document of the control API",
        own_document,
        {"type": "object", "required": ["openapi", "paths"]},
    ),
)
