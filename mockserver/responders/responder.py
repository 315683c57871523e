"""What responders get: stubs, generated answers, recordings and the simulation."""

from collections.abc import Awaitable
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from mockserver.contract import Contract, Operation
from mockserver.engine.orders import OrderGeneration
from mockserver.engine.refusal import Naming
from mockserver.engine.world import World
from mockserver.fast_dataclass import dataclass, value_class
from mockserver.http_messages import Request, Response
from mockserver.responders.refusal_answers import Refuser
from mockserver.responders.replay.playback_state import PlaybackState
from mockserver.signing.keyring import Keyring

if TYPE_CHECKING:
    from mockserver.responders.replay.index import Replay


STUB, GENERATED, PLAYBACK, SIMULATION = "stub", "generated", "playback", "simulation"
UPSTREAM = "upstream"
"""The responders by their names in the journal, in the order in which they are tried."""


@dataclass(slots=True)
class CalledWorld:
    """What a call may use of the world it is made in.

    A hosted world also has stubs, faults and breaks. These get calls themselves, so they are left
    out here to avoid a circular import. `replay` are
    recordings that answer in this world, and `played` is how far they have been played.
    """

    key: str
    world: World
    contract: Contract
    refuser: Refuser
    replay: "Replay | None" = None
    played: PlaybackState = field(default_factory=PlaybackState)
    keys: Keyring = field(default_factory=Keyring)
    generated: "Answering | None" = None
    """Answers in place of the simulation; no snapshot, fork or dump has it."""
    began_ms: int = field(init=False)
    """The time of its world at its beginning."""


@value_class(frozen=True, slots=True)
class Call:
    """A request for an operation of the contract, in one world."""

    operation: Operation
    request: Request
    hosted: CalledWorld

    @property
    def naming(self) -> Naming:
        """What the generation of the operation calls chains, by their nicknames."""
        if self.operation.generation.id == OrderGeneration.V1:
            return self.hosted.world.scenario.catalog.v1_name
        return str


class PassingOn(Protocol):
    """The service behind a world, which gets the requests that no recording answers."""

    @property
    def why_not(self) -> str:
        """Why it gets none, as a sentence; empty where it does."""

    def answer(self, request: Request) -> Awaitable[Response]:
        """Return its answer to a request, whose path is that of the operation."""


class Answering(Protocol):
    """Something that may answer a call."""

    def respond(self, call: Call) -> Response | None:
        """Return the answer, or None to leave it to the next responder."""
