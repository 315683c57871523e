"""What a responder is given and what it returns."""

from typing import TYPE_CHECKING, Protocol

from mockserver.contract import Contract, Operation
from mockserver.engine.world import World
from mockserver.exchange import Request, Response
from mockserver.responders.refusing import Refuser
from mockserver.responders.replay.played import Played
from mockserver.signing.keyring import Keyring
from mockserver.values import value_class

if TYPE_CHECKING:
    from mockserver.responders.replay.tape import Replay


class CalledWorld(Protocol):
    """What a call may use of the world it is made in.

    The world as it is hosted has stubs, faults and breaks, which are themselves given calls; that
    they are not all named here keeps them from importing each other in a circle.
    """

    @property
    def world(self) -> World:
        """The engine's world."""

    @property
    def contract(self) -> Contract:
        """The contract in the dialect that the world speaks."""

    @property
    def refuser(self) -> Refuser:
        """Makes the answers that say no."""

    @property
    def keys(self) -> Keyring:
        """The keys that are registered with the world."""

    @property
    def replay(self) -> "Replay | None":
        """The recordings that answer in this world; None where none do."""

    @property
    def played(self) -> Played:
        """How far they have been played."""

    @property
    def stubs(self) -> "Stubbed":
        """The answers that a test has set."""

    @property
    def generated(self) -> "Responder | None":
        """Answers with what was generated, where a test wants that."""

    def in_front(self) -> bool:
        """Tell whether anything may answer in front of the simulation."""

    def undisturbed(self) -> "CalledWorld":
        """Return a world as this one would be if no outage had ever been."""


class Stubbed(Protocol):
    """Answers that were set for calls, each for as often as it was set."""

    def take(self, call: "Call") -> Response | None:
        """Return the answer that is set for a call, and count it; None where none is."""


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
