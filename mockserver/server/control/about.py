"""Information about the server: readiness, version, reserved values, assumptions, counters."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence

from mockserver import __version__, jsontext
from mockserver.contract.openapi import document
from mockserver.engine.reserved_values import RESERVED
from mockserver.http_messages import Response
from mockserver.jsontext import Json
from mockserver.server.control import openapi
from mockserver.server.control.prometheus import TEXT_TYPE, exposed, wants_text
from mockserver.server.control.route import ControlRequest, ServerState, WorkerState
from mockserver.worlds.hosted import HostedWorld

_COUNTED = ("requests", "refusals", "faults")


def ready(request: ControlRequest) -> Json:
    """Tell whether everything is loaded; the status is 503 until then."""
    return {"ready": request.server.ready}


def live(request: ControlRequest) -> Json:
    return {"live": True}


def version(request: ControlRequest) -> Json:
    """Return the version of the server, and what this world is."""
    return {
        "version": __version__,
        "dialect": request.hosted.contract.dialect.name,
        "scenario": request.hosted.world.scenario.name,
        "world": request.hosted.key,
    }


def reserved(request: ControlRequest) -> Json:
    """Return the values that steer an order or a fault from inside a request."""
    return {
        "reserved": [
            {
                **jsontext.members_of(known),
                "amount": str(known.amount),
                "address": known.address,
                "hash": known.hash,
            }
            for known in RESERVED
        ]
    }


def assumptions(request: ControlRequest) -> Json:
    """Return the assumptions: what is not published and had to be chosen."""
    return {
        "assumptions": [
            jsontext.members_of(assumption, "alternatives", "concerns")
            for assumption in request.hosted.contract.assumptions
        ]
    }


def contract(request: ControlRequest) -> Json:
    """Return the OpenAPI document of the operations that clients of this world call."""
    return document(request.hosted.contract, None, version=__version__)


def metrics(request: ControlRequest) -> Json | Response:
    """Return the counters of the server, and how long this world has run on its own clock."""
    counts = metrics_of([counts_of(request.server)], request.hosted)
    if not wants_text(request.query, request.headers):
        return counts
    return Response(200, (TEXT_TYPE,), exposed(counts).encode("utf-8", "replace"))


def counts_of(server: ServerState) -> dict[str, Json]:
    """Return the counters of one process of a server."""
    counters = server.counters
    return {
        **{name: dict(getattr(counters, name)) for name in _COUNTED},
        "control": counters.control,
        "worlds": len(server.worlds),
    }


def metrics_of(counts: Sequence[Mapping[str, Json]], hosted: HostedWorld) -> dict[str, Json]:
    """Return the sums of the counters of all processes, with what a world is."""
    counted: dict[str, Json] = {
        name: dict(sorted(sum((Counter(part[name]) for part in counts), Counter[str]()).items()))
        for name in _COUNTED
    }
    return {
        **counted,
        **{name: sum(part[name] for part in counts) for name in ("control", "worlds")},
        "world": hosted.key,
        "uptimeMs": hosted.world.now() - hosted.began_ms,
    }


def workers(request: ControlRequest) -> Json:
    """Return how each process of the server is, and how many of them answer."""
    server = request.server
    if server.processes is None:
        rows: Sequence[WorkerState] = [WorkerState(1, os.getpid(), "", len(server.worlds), 0)]
    else:
        rows = server.processes()
    return {
        "answering": sum(not row.why for row in rows),
        "workers": [{**jsontext.members_of(row), "up": not row.why} for row in rows],
    }


def own_document(request: ControlRequest) -> Json:
    from mockserver.server.control.route_table import ROWS  # noqa: PLC0415 - it names this function

    return openapi.document(ROWS)
