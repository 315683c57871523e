"""Control of breaks: the catalogue, and which of it a world has."""

from mockserver.jsontext import Json
from mockserver.server.control.row import ControlRequest


def show(request: ControlRequest) -> Json:
    """Return all that a world can have, and the names of those it has."""
    from mockserver.responders.breaks.catalogue import CATALOGUE, shown  # noqa: PLC0415 - as said

    return {
        "active": request.hosted.breaks.names,
        "breaks": [shown(one) for one in CATALOGUE.values()],
    }


def put(request: ControlRequest) -> Json:
    """Have exactly these; an empty list makes the world whole again."""
    request.hosted.breaks.set(request.body["breaks"])
    return {"active": request.hosted.breaks.names}
