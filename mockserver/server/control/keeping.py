"""Requests of a journal, kept as a recording that can be served again."""

from collections.abc import Iterable
from dataclasses import replace

from mockserver.clock import iso
from mockserver.exchange import Headers
from mockserver.recordings import RecordedExchange, Recording, text_of
from mockserver.recordings.redaction import Redactor
from mockserver.responders.forms import BadControl
from mockserver.responders.hosted import HostedWorld
from mockserver.responders.journal import Entry
from mockserver.server.recorder.keeper import unpacked

_SIMULATION = "simulation"


def recorded(hosted: HostedWorld, entries: Iterable[Entry], title: str) -> tuple[str, int]:
    """Return the text of a recording of some entries, and how many exchanges it has.

    Preflights and requests that no operation answers are left out, and so is every secret. Raises
    `BadControl` where nothing is left.
    """
    kept = [entry for entry in entries if entry.operation is not None]
    if not kept:
        raise BadControl("none of these requests is one of an operation, so none can be kept")
    redactor = Redactor()
    exchanges = []
    before = kept[0].at_ms
    for entry in kept:
        exchanges.append(redactor.exchange(_exchange(entry, before)))
        before = entry.at_ms
    recording = Recording(
        title=title,
        origin=_SIMULATION,
        exchanges=tuple(exchanges),
        dialect=hosted.contract.dialect.name,
        scenario=hosted.world.scenario.name,
        start=iso(kept[0].at_ms),
    )
    return text_of(recording), len(kept)


def _exchange(entry: Entry, before_ms: int) -> RecordedExchange:
    # Without the prefix of the world: a recording is served from any.
    request = replace(entry.request, path=entry.path, headers=_plain(entry.request.headers))
    made = RecordedExchange(
        name=f"request-{entry.sequence}",
        operation=entry.operation or "",
        request=request,
        response=entry.response,
        origin=_SIMULATION,
        advance_ms=max(0, entry.at_ms - before_ms),
        note="" if entry.responder == _SIMULATION else f"answered by {entry.responder}",
    )
    return unpacked(made)


def _plain(headers: Headers) -> Headers:
    """Return headers whose names are plain texts, and not those of the HTTP library.

    Bodies in a journal are unpacked already, so that what names their packing goes.
    """
    sent = ((str(name), str(value)) for name, value in headers.items_sent)
    return Headers(tuple(pair for pair in sent if pair[0].lower() != "content-encoding"))
