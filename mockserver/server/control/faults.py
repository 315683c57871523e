"""Control of faults: set, listed with their counts, and taken away."""

from mockserver.jsontext import Json
from mockserver.responders.faults import shown
from mockserver.responders.faults.registry import Tally
from mockserver.server.control.row import Asked


def show(asked: Asked) -> Json:
    """Return the faults of a world in the order they are asked."""
    faults = asked.hosted.faults
    return {"faults": [shown(fault, faults.tally(fault)) for fault in faults]}


def add(asked: Asked) -> Json:
    """Set a fault."""
    hosted = asked.hosted
    fault = hosted.faults.add(asked.body, hosted.contract, hosted.world.scenario)
    return shown(fault, hosted.faults.tally(fault))


def remove(asked: Asked) -> Json:
    """Take one fault away."""
    fault, tally = asked.hosted.faults.remove(asked.place["id"])
    return shown(fault, tally or Tally())


def clear(asked: Asked) -> Json:
    """Take all faults away."""
    return {"removed": asked.hosted.faults.clear()}
