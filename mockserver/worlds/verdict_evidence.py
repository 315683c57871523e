"""What a verdict on a world rests on: how many requests, since when, and what is missing."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.responders.responder import GENERATED, PLAYBACK, STUB, UPSTREAM
from mockserver.times_and_durations import iso
from mockserver.wording import counted
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import StoredEntry, response_of, was_refused

_MADE_UP = {
    STUB: "stubs",
    PLAYBACK: "recordings",
    GENERATED: "generated answers",
    UPSTREAM: "another service",
}


@dataclass(frozen=True, slots=True)
class Ground:
    """The ground of a verdict. `holes` are sentences on what is missing; `epoch` is the world's.

    `requests` are those of an operation that are still there to be judged, `since_ms` is the time
    of the first.
    """

    world: str
    epoch: str
    requests: int
    since_ms: int | None
    holes: tuple[str, ...]

    @property
    def missing(self) -> str:
        """Why there is nothing to judge; empty where there is."""
        if self.requests:
            return ""
        why = "; ".join(self.holes)
        text = f"there is nothing to judge: world {self.world!r} has no request of an operation"
        return f"{text} ({why})" if why else f"{text}, so that nothing is known to be well"

    def render(self) -> dict[str, Json]:
        """Return the ground as JSON for the control API."""
        return {
            "world": self.world,
            "epoch": self.epoch,
            "requests": self.requests,
            "since": None if self.since_ms is None else iso(self.since_ms),
            "holes": list(self.holes),
            "missing": self.missing or None,
        }


def ground_of(hosted: HostedWorld, others: Iterable[HostedWorld] = ()) -> Ground:
    """Return what a verdict on a world rests on; `others` are the other worlds of its server."""
    undone = hosted.horizon.has_undone if hosted.horizon.undone else None
    # As they are stored, and once: every verdict takes this look at up to 1000 requests.
    kept = [
        stored
        for number, stored in hosted.journal.numbered()
        if undone is None or not undone(number)
    ]
    judged = [stored for stored in kept if stored[1] is not None]
    since = judged[0][0] if judged else None
    holes = (
        *_holes(hosted, len(hosted.journal) - len(kept)),
        *_unanswered(len(kept), judged),
        *_elsewhere(hosted, others),
    )
    return Ground(hosted.key, hosted.epoch, len(judged), since, holes)


def _unanswered(came: int, judged: Sequence[StoredEntry]) -> Iterator[str]:
    """Yield what is missing in these calls of operations, of so many requests that came."""
    beside = came - len(judged)
    if beside:
        yield f"{counted(beside, 'request')} that no operation answers"
    # A client that was turned away all along has shown nothing of what it does with money.
    if judged and all(was_refused(call) or response_of(call).status >= 400 for call in judged):
        yield f"every answer was a refusal or a failure: {counted(len(judged), 'request')}"


def _holes(hosted: HostedWorld, undone: int) -> Iterator[str]:
    horizon = hosted.horizon
    if horizon.former:
        yield f"{counted(horizon.former, 'request')} to an earlier world of this name"
    if hosted.lost:
        yield f"{counted(hosted.lost, 'request')} lost with a server that was killed"
    # What was lost is among the dropped ones, and a reader counts it once.
    dropped = hosted.dropped - hosted.lost
    if dropped:
        yield f"{counted(dropped, 'older request')} no longer in the journal"
    if horizon.sequence:
        yield f"{counted(horizon.sequence, 'request')} before a reset of the world"
    if undone:
        yield f"{counted(undone, 'request')} undone by a revert"
    if horizon.inherited_ms is not None:
        yield f"it began at {iso(horizon.inherited_ms)} with orders or transactions of before"
    answers = Counter([stored[4] for _, stored in hosted.journal.numbered()])
    for responder, name in _MADE_UP.items():
        if count := answers[responder]:
            yield f"{counted(count, 'answer')} by {name}, of which the world knows nothing"


def _elsewhere(hosted: HostedWorld, others: Iterable[HostedWorld]) -> Iterator[str]:
    busy = [other for other in others if other.key != hosted.key and other.requests]
    if busy:
        requests = sum(other.requests for other in busy)
        # A few names: whoever looks into the wrong world needs one of them.
        names = ", ".join(repr(other.key) for other in busy[:3])
        more = f" and {len(busy) - 3} more" if len(busy) > 3 else ""
        noun = "another world" if len(busy) == 1 else "other worlds"
        yield f"{counted(requests, 'request')} in {noun}: {names}{more}"
