"""Files of other tools become recordings on the way that recorded exchanges take."""

from collections.abc import Iterator
from dataclasses import replace

from mockserver.contract import Contract
from mockserver.exchange import Request
from mockserver.recordings.formats import ForeignExchange, ForeignRecording, Skipped
from mockserver.server.recorder.keeper import Keeper, passed

_MOST_PREFIX = 6


def keep_all(found: ForeignRecording, keeper: Keeper) -> list[Skipped]:
    """Keep the exchanges of a file that are of an operation; return what was left out, and why.

    What a service answered is redacted like everything that is recorded. Raises `CannotKeep`.
    """
    left_out = list(found.skipped)
    for one, advance_ms in _with_advances(found):
        request = _below_prefix(one.request, keeper.contract)
        came = passed(request, one.response, one.time_ms, one.duration_ms, one.omitted)
        if not keeper.keep(replace(came, advance_ms=advance_ms)):
            sentence = f"{request.method} {one.request.path} is no operation of the service"
            left_out.append(Skipped(one.place, sentence))
    return left_out


def _with_advances(found: ForeignRecording) -> Iterator[tuple[ForeignExchange, int]]:
    """Yield the exchanges, each with how far the clock of a simulation moved before it."""
    before: int | None = None
    for one in found.exchanges:
        moved = 0
        if found.origin == "simulation" and one.time_ms is not None:
            moved = max(0, one.time_ms - before) if before is not None else 0
            before = one.time_ms
        yield one, moved


def _below_prefix(request: Request, contract: Contract) -> Request:
    """Return the request with the path that operations have: without what a gateway puts before."""
    path = request.path
    for _ in range(_MOST_PREFIX):
        if contract.find(request.method, path) is not None:
            return replace(request, path=path)
        _, slash, rest = path.removeprefix("/").partition("/")
        if not slash:
            break
        path = f"/{rest}"
    return request
