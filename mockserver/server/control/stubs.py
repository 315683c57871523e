"""Control of stubs: set, listed with their counts, and taken away."""

from mockserver.jsontext import Json
from mockserver.responders.stubs import shown
from mockserver.server.control.row import Asked


def show(asked: Asked) -> Json:
    """Return the stubs of a world, oldest first; the newest that fits answers."""
    stubs = asked.hosted.stubs
    return {"stubs": [shown(stub, stubs.used(stub)) for stub in stubs]}


def add(asked: Asked) -> Json:
    """Set a stub."""
    hosted = asked.hosted
    return shown(hosted.stubs.add(asked.body, hosted.contract, hosted.refuser), 0)


def remove(asked: Asked) -> Json:
    """Take one stub away."""
    stub, used = asked.hosted.stubs.remove(asked.place["id"])
    return shown(stub, used or 0)


def clear(asked: Asked) -> Json:
    """Take all stubs away."""
    return {"removed": asked.hosted.stubs.clear()}
