"""Control of breaks: the catalogue, and which of it a world has."""

from mockserver.jsontext import Json
from mockserver.responders.breaks.active import NAMES
from mockserver.responders.forms import members
from mockserver.server.control.row import Asked, Row, listed, told, with_members

_ONE = told(
    name="string",
    layer="string",
    verdict="string",
    control="boolean",
    needsWrites="boolean",
    fact="string",
    section="string",
    summary="string",
    because="string?",
    operations="array",
)
_SHOWN = with_members(told(active="array", breaks="array"), breaks=listed(_ONE))


def show(asked: Asked) -> Json:
    """Return all that a world can have, and the names of those it has."""
    from mockserver.responders.breaks.catalogue import CATALOGUE  # noqa: PLC0415 - see the package
    from mockserver.responders.breaks.pages import shown  # noqa: PLC0415

    return {
        "active": asked.hosted.breaks.names,
        "breaks": [shown(one) for one in CATALOGUE.values()],
    }


def put(asked: Asked) -> Json:
    """Have exactly these; an empty list makes the world whole again."""
    asked.hosted.breaks.set(asked.body["breaks"])
    return {"active": asked.hosted.breaks.names}


ROWS = (
    Row("GET", "/breaks", "List the breaks there are, and those of a world", show, _SHOWN),
    Row(
        "PUT",
        "/breaks",
        "Set the breaks of a world",
        put,
        told(active="array"),
        members({"breaks": NAMES}, "breaks"),
    ),
)
