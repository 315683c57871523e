"""What a break is: one way in which a re-implementation of the service is wrong all the time."""

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

from mockserver.contract import Layer, Operation
from mockserver.exchange import Request
from mockserver.jsontext import Json
from mockserver.responders.delivery import Delivery
from mockserver.responders.responder import Call
from mockserver.values import dataclass


class Verdict(StrEnum):
    """What a good contract test says of it."""

    VIOLATION = "violation"
    OBSERVED = "differs-from-observed"
    ASSUMED = "differs-from-assumption"
    EXTRA = "undocumented-extra"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Turn:
    """One call on its way through a break.

    `memory` is what the break has kept in this world, plain data that is kept and dumped with it;
    `below` answers a call as it would be answered without the break.
    """

    call: Call
    memory: dict[str, Json]
    below: Callable[[Call], Delivery]

    def answer(self, request: Request | None = None) -> Delivery:
        """Return the answer to the request of the call, or to another one in its place."""
        if request is None:
            return self.below(self.call)
        return self.below(replace(self.call, request=request))

    def refuse(self, kind: str, why: str) -> Delivery:
        """Return a refusal in the envelope of the operation's generation."""
        generation = self.call.operation.generation
        return Delivery(self.call.hosted.refuser.refuse(generation, kind, why))


Act = Callable[[Turn], Delivery]
"""What a break does with a call; delays of what it returns are wall time in milliseconds."""


@dataclass(frozen=True, slots=True)
class Break:
    """A way to be wrong, or, as a `control`, another way to be right.

    `fact` is what is contradicted: the id of a documented fact, the cite key of an observation, or
    an assumption; of a control it is what allows it, and `because` tells why. `section` is the
    fact's section, and for the others the same as `fact`. `operations` are the only ones it
    touches; with `methods` it answers these on their paths as well, with `longer_paths` paths that
    begin like theirs. `needs_writes` tells that only a submission brings it to light.
    """

    name: str
    layer: Layer
    summary: str
    fact: str
    section: str
    verdict: Verdict
    operations: tuple[str, ...]
    act: Act
    control: bool = False
    needs_writes: bool = False
    because: str = ""
    methods: tuple[str, ...] = ()
    longer_paths: bool = False

    def reaches(self, operation: Operation, method: str, path: str) -> bool:
        """Tell whether it lets a request reach an operation that would not reach it otherwise."""
        if operation.id not in self.operations:
            return False
        if path == operation.path:
            return method in self.methods
        goes_on = self.longer_paths and path.startswith(operation.path)
        return goes_on and method == operation.method
