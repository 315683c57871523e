"""Playback: answers taken from recorded exchanges."""

from collections.abc import Iterable

from mockserver import jsontext
from mockserver.contract import Contract
from mockserver.exchange import Response
from mockserver.recordings import Recording, Shelf, form_of
from mockserver.responders.refusing import JSON_TYPE
from mockserver.responders.responder import Call

SOURCE_HEADER = "X-Mock-Source"


class Playback:
    """Answers what was recorded; asked again, equal requests get the recorded answers in order.

    Strictly it refuses everything else, naming the nearest recording; otherwise it leaves the rest
    to the next responder.
    """

    name = "playback"

    def __init__(
        self, recordings: Iterable[Recording], contract: Contract, *, strict: bool
    ) -> None:
        """Index recordings; `contract` tells which headers belong to a request."""
        self._headers = {
            operation.id: tuple(
                field.name for field in operation.fields if field.location == "headers"
            )
            for operation in contract
        }
        exchanges = [exchange for recording in recordings for exchange in recording.exchanges]
        self._shelf = Shelf(exchanges, self._headers)
        self._strict = strict

    def respond(self, call: Call) -> Response | None:
        """Return the recorded answer to a call."""
        operation = call.operation
        form = form_of(operation.id, self._headers.get(operation.id, ()), call.request)
        seen = call.hosted.played.get(form, 0)
        found = self._shelf.find(form, seen)
        if found is None and not self._strict:
            return None
        if found is None:
            reason = self._shelf.miss(form).sentence(operation.id)
            return call.hosted.refuser.refuse(operation.generation, "not-recorded", reason)
        call.hosted.played[form] = seen + 1
        headers = (JSON_TYPE, *found.response_headers.items(), (SOURCE_HEADER, found.name))
        return Response(found.status, headers, jsontext.encode(found.response_body))
