"""What a responder is given and what it returns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mockserver.contract import Operation
from mockserver.exchange import Request, Response

if TYPE_CHECKING:
    from mockserver.responders.hosted import HostedWorld


@dataclass(frozen=True, slots=True)
class Call:
    """A request for an operation of the contract, in one world."""

    operation: Operation
    request: Request
    hosted: "HostedWorld"


class Responder(Protocol):
    """Something that may answer a call."""

    @property
    def name(self) -> str:
        """How the journal calls it."""

    def respond(self, call: Call) -> Response | None:
        """Return the answer, or None to leave it to the next responder."""
