"""What the server says of itself: readiness, version, reserved values, assumptions, counters."""

from mockserver import __version__, jsontext
from mockserver.contract.openapi import document
from mockserver.engine.reserved import RESERVED
from mockserver.jsontext import Json
from mockserver.server.control import openapi
from mockserver.server.control.row import Asked


def ready(asked: Asked) -> Json:
    """Tell whether everything is loaded; the status is 503 until then."""
    return {"ready": asked.house.ready}


def live(asked: Asked) -> Json:
    """Tell that the process answers."""
    return {"live": True}


def version(asked: Asked) -> Json:
    """Return the version of the server, and what this world is."""
    return {
        "version": __version__,
        "dialect": asked.hosted.contract.dialect.name,
        "scenario": asked.hosted.world.scenario.name,
        "world": asked.hosted.key,
    }


def reserved(asked: Asked) -> Json:
    """Return the values that steer an order or a fault from inside a request."""
    return {
        "reserved": [
            {
                **jsontext.members_of(one),
                "amount": str(one.amount),
                "address": one.address,
                "hash": one.hash,
            }
            for one in RESERVED
        ]
    }


def assumptions(asked: Asked) -> Json:
    """Return what nobody shows and the mock had to choose."""
    return {
        "assumptions": [
            jsontext.members_of(one, "alternatives", "concerns")
            for one in asked.hosted.contract.assumptions
        ]
    }


def contract(asked: Asked) -> Json:
    """Return the OpenAPI document of the operations that clients of this world call."""
    return document(asked.hosted.contract, None, version=__version__)


def metrics(asked: Asked) -> Json:
    """Return the counters of the server, and how long this world has run on its own clock."""
    counters, hosted = asked.house.counters, asked.hosted
    return {
        "requests": dict(sorted(counters.requests.items())),
        "refusals": dict(sorted(counters.refusals.items())),
        "faults": dict(sorted(counters.faults.items())),
        "control": counters.control,
        "worlds": len(asked.house.worlds),
        "world": hosted.key,
        "uptimeMs": hosted.world.now() - hosted.began_ms,
    }


def own_document(asked: Asked) -> Json:
    """Return the OpenAPI document of the control API."""
    from mockserver.server.control.table import ROWS  # noqa: PLC0415 - it names this function

    return openapi.document(ROWS)
