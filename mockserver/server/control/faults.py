"""Control of faults: set, listed with their counts, and taken away."""

from mockserver.jsontext import Json
from mockserver.responders.faults import shown
from mockserver.responders.faults.registry import Tally
from mockserver.server.control.row import ControlRequest


def show(request: ControlRequest) -> Json:
    """Return the faults of a world in the order they are asked."""
    faults = request.hosted.faults
    return {"faults": [shown(fault, faults.tally(fault)) for fault in faults]}


def add(request: ControlRequest) -> Json:
    """Set a fault."""
    hosted = request.hosted
    fault = hosted.faults.add(request.body, hosted.contract, hosted.world.scenario)
    return shown(fault, hosted.faults.tally(fault))


def remove(request: ControlRequest) -> Json:
    """Take one fault away."""
    fault, tally = request.hosted.faults.remove(request.place["id"])
    return shown(fault, tally or Tally())


def clear(request: ControlRequest) -> Json:
    """Take all faults away."""
    return {"removed": request.hosted.faults.clear()}
