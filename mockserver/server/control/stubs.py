"""Control of stubs: set, listed with their counts, and taken away."""

from mockserver.jsontext import Json
from mockserver.responders.stubs import shown
from mockserver.server.control.row import ControlRequest


def show(request: ControlRequest) -> Json:
    """Return the stubs of a world, oldest first; the newest that fits answers."""
    stubs = request.hosted.stubs
    return {"stubs": [shown(stub, stubs.used(stub)) for stub in stubs]}


def add(request: ControlRequest) -> Json:
    """Set a stub."""
    hosted = request.hosted
    return shown(hosted.stubs.add(request.body, hosted.contract, hosted.refuser), 0)


def remove(request: ControlRequest) -> Json:
    """Take one stub away."""
    stub, used = request.hosted.stubs.remove(request.place["id"])
    return shown(stub, used or 0)


def clear(request: ControlRequest) -> Json:
    """Take all stubs away."""
    return {"removed": request.hosted.stubs.clear()}
