"""What a responder is given and what it returns."""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Protocol, Self

from mockserver.contract import Contract, Operation
from mockserver.engine.world import World
from mockserver.exchange import Request, Response
from mockserver.responders.refusing import Refuser
from mockserver.responders.replay.state import PlaybackState
from mockserver.signing.keyring import Keyring
from mockserver.values import dataclass, value_class

if TYPE_CHECKING:
    from mockserver.responders.replay.index import Replay


class Stubbed(Protocol):
    """Answers that were set for calls, each for as often as it was set."""

    @property
    def items(self) -> Sequence[object]:
        """What was set."""

    def take(self, call: "Call") -> Response | None:
        """Return the answer that is set for a call, and count it; None where none is."""


@dataclass(slots=True)
class CalledWorld:
    """What a call may use of the world it is made in.

    The world as it is hosted has faults and breaks besides, which are themselves given calls; that
    they are not here keeps them from importing each other in a circle. `replay` are recordings that
    answer in this world, and `played` is how far they have been played.
    """

    key: str
    world: World
    contract: Contract
    refuser: Refuser
    replay: "Replay | None" = None
    played: PlaybackState = field(default_factory=PlaybackState)
    keys: Keyring = field(default_factory=Keyring)
    generated: "Responder | None" = None
    """Answers in place of the simulation; no snapshot, fork or dump has it."""
    stubs: Stubbed = field(init=False)

    def in_front(self) -> bool:
        """Tell whether anything may answer in front of the simulation."""
        return bool(self.stubs.items or self.generated or self.replay)

    def undisturbed(self) -> Self:
        """Return a world as this one would be if no outage had ever been."""
        return replace(self, world=self.world.undisturbed())


@value_class(frozen=True, slots=True)
class Call:
    """A request for an operation of the contract, in one world."""

    operation: Operation
    request: Request
    hosted: CalledWorld


class Responder(Protocol):
    """Something that may answer a call."""

    @property
    def name(self) -> str:
        """How the journal calls it."""

    def respond(self, call: Call) -> Response | None:
        """Return the answer, or None to leave it to the next responder."""


class GeneratedAnswers:
    """Answers with what was generated for the world, if anything was."""

    name = "generated"

    def respond(self, call: Call) -> Response | None:
        """Return a generated answer, or None where none was made for the call."""
        generated = call.hosted.generated
        return None if generated is None else generated.respond(call)
