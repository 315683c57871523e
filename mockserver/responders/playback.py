"""Playback: answers taken from recorded exchanges."""

from collections.abc import Iterable

from mockserver import jsontext
from mockserver.contract import Contract, Operation
from mockserver.exchange import Response
from mockserver.recordings import RecordedExchange, Recording, Shelf, form_of
from mockserver.responders.refusing import JSON_TYPE
from mockserver.responders.responder import Call

SOURCE_HEADER = "X-Mock-Source"


class Playback:
    """Answers what was recorded; asked again, equal requests get the recorded answers in order.

    Strictly it refuses everything else, naming the nearest recording; otherwise it leaves the rest
    to the next responder.
    """

    name = "playback"

    def __init__(self, recordings: Iterable[Recording], *, strict: bool) -> None:
        """Keep recordings by the dialect in which they were made."""
        self._exchanges: dict[str, list[RecordedExchange]] = {}
        for recording in recordings:
            self._exchanges.setdefault(recording.dialect, []).extend(recording.exchanges)
        self._shelves: dict[str, Shelf] = {}
        self._strict = strict

    def respond(self, call: Call) -> Response | None:
        """Return the recorded answer to a call."""
        operation = call.operation
        shelf = self._shelf(call.hosted.contract)
        form = form_of(operation.id, _headers(operation), call.request)
        seen = call.hosted.played.get(form, 0)
        found = shelf.find(form, seen)
        if found is None and not self._strict:
            return None
        if found is None:
            reason = shelf.miss(form).sentence(operation.id)
            return call.hosted.refuser.refuse(operation.generation, "not-recorded", reason)
        call.hosted.played[form] = seen + 1
        headers = (JSON_TYPE, *found.response_headers.items(), (SOURCE_HEADER, found.name))
        return Response(found.status, headers, jsontext.encode(found.response_body))

    def _shelf(self, contract: Contract) -> Shelf:
        """Return the exchanges of the dialect a world speaks: those of another one break it."""
        name = contract.dialect.name
        if name not in self._shelves:
            headers = {operation.id: _headers(operation) for operation in contract}
            self._shelves[name] = Shelf(self._exchanges.get(name, ()), headers)
        return self._shelves[name]


def _headers(operation: Operation) -> tuple[str, ...]:
    """Return the headers that belong to a request."""
    return tuple(field.name for field in operation.fields if field.location == "headers")
