"""Control of what answers beside the simulation: faults, stubs, and breaks.

The catalogue of breaks is imported when it is requested, since many servers have none; to be shown,
in another thread, since that takes long.
"""

from collections.abc import Iterator
from types import ModuleType

from mockserver import jsontext
from mockserver.jsontext import Json
from mockserver.responders import stubs
from mockserver.responders.faults import registry as faults
from mockserver.responders.faults.registry import Tally
from mockserver.server.control.route import ControlRequest
from mockserver.sliced_work import apart, in_slices


def show_faults(request: ControlRequest) -> Json:
    """Return the faults of a world in the order they are applied."""
    injector = request.hosted.faults
    return {"faults": [faults.fault_json(fault, injector.tally(fault)) for fault in injector]}


def add_fault(request: ControlRequest) -> Json:
    hosted = request.hosted
    fault = hosted.faults.add(request.body, hosted.contract, hosted.world.scenario)
    return faults.fault_json(fault, hosted.faults.tally(fault))


def remove_fault(request: ControlRequest) -> Json:
    fault, tally = request.hosted.faults.remove(request.place["id"])
    return faults.fault_json(fault, tally or Tally())


def clear_faults(request: ControlRequest) -> Json:
    return {"removed": request.hosted.faults.clear()}


def show_stubs(request: ControlRequest) -> Json:
    """Return the stubs of a world, oldest first; the newest that fits answers."""
    stub_list = request.hosted.stubs
    return {"stubs": [stubs.stub_json(stub, stub_list.used(stub)) for stub in stub_list]}


def add_stub(request: ControlRequest) -> Json:
    hosted = request.hosted
    return stubs.stub_json(hosted.stubs.add(request.body, hosted.contract, hosted.refuser), 0)


def remove_stub(request: ControlRequest) -> Json:
    stub, used = request.hosted.stubs.remove(request.place["id"])
    return stubs.stub_json(stub, used or 0)


def clear_stubs(request: ControlRequest) -> Json:
    return {"removed": request.hosted.stubs.clear()}


def show_breaks(request: ControlRequest) -> Iterator[bytes]:
    """Return all breaks that a world can have, and the names of those it has."""
    catalogue = yield from in_slices(apart(_catalogue))
    breaks = [catalogue.break_json(break_) for break_ in catalogue.BREAKS]
    yield jsontext.encode({"active": request.hosted.breaks.names, "breaks": breaks})


def put_breaks(request: ControlRequest) -> Json:
    """Have exactly these; an empty list makes the world whole again."""
    request.hosted.have_breaks(request.body["breaks"])
    return {"active": request.hosted.breaks.names}


def _catalogue() -> ModuleType:
    from mockserver.responders.breaks import catalogue  # noqa: PLC0415 - as said above

    return catalogue
