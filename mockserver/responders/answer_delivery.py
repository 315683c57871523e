"""How an answer reaches the client: at once and whole, or disturbed on purpose."""

import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from enum import StrEnum
from typing import Protocol

from mockserver.clock import ClockMode
from mockserver.engine.world import World
from mockserver.fast_dataclass import value_class
from mockserver.http_messages import Response
from mockserver.mock_headers import ELAPSED_HEADER

"""How much of the world's time an answer took, in milliseconds."""


class Cut(StrEnum):
    """A disturbance of the connection itself."""

    RESET_BEFORE = "reset-before-headers"
    RESET_AFTER = "reset-after-headers"
    EMPTY = "empty-answer"
    TRUNCATED = "truncated-body"


class Gate:
    """Holds an answer back until it is opened; anybody may open it, from any thread.

    `due_ms` is the time of the world at which it opens, None where it waits for something else.
    `longest_ms` is how long it holds at most, in wall time, so that nothing hangs.
    """

    __slots__ = ("_called", "_lock", "due_ms", "is_open", "longest_ms")

    def __init__(self, longest_ms: int, due_ms: int | None = None) -> None:
        self.longest_ms = longest_ms
        self.due_ms = due_ms
        self.is_open = False
        self._called: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def open(self) -> None:
        with self._lock:
            self.is_open, called = True, self._called
            self._called = []
        for call in called:
            call()

    def when_open(self, call: Callable[[], None]) -> None:
        """Have something called once it is open, perhaps at once."""
        with self._lock:
            if not self.is_open:
                self._called.append(call)
                return
        call()


class Stream(Protocol):
    """A body without end: polled for new bytes until the client leaves."""

    more: bool
    """Whether there is more than others should wait for: it is polled again at once then."""

    def pull(self) -> bytes:
        """Return what is new, as bytes to send; empty where nothing is."""

    def close(self) -> None:
        """Note that the client is gone."""


class Conversation(Protocol):
    """What a WebSocket is for: messages come and are answered, and there are news between them."""

    def over(self) -> str:
        """Return why it has to end; empty while it goes on."""

    def answer(self, message: bytes) -> bytes | None:
        """Return the answer to a message that needs no request; None for every other one."""

    def settled(self, message: bytes, response: Response) -> bytes | None:
        """Return what is told of the answer to a message that was sent as a request."""

    def behind(self) -> bool:
        """Work on what news need; tell if more is left, so that others have their turn."""

    def news(self, *, poll: bool) -> list[bytes]:
        """Return what is new. `poll` is set once a second, as often as a client might ask."""

    def close(self) -> None:
        """Note that the client is gone."""


@value_class(frozen=True, slots=True)
class Pending:
    """An answer that another service still has to give.

    `fetch` gets it, and `settle` returns it as it is sent, once the world has noted it.
    """

    fetch: Callable[[], Awaitable[Response]]
    settle: Callable[[Response], Response]


@value_class(frozen=True, slots=True)
class Commit:
    """A commit that an answer waits for, by its number; `refused` answers if it fails, and why."""

    number: int
    refused: Callable[[str], Response]


@value_class(frozen=True, slots=True)
class Delivery:
    """An answer and how to send it.

    `delay_ms` is wall time to wait before it, and `gate` holds it until it is opened; `cut` is what
    happens to the connection. What `stream` gives, or the pieces of `parts`, follow the headers of
    the response, whose body is empty then; others are answered between the pieces, some of which
    are empty for that. A response among the pieces, the first that is not empty, says the status
    and is the last. The answer of `pending` takes the place of the response. Nothing is sent
    before its `commit`. With a `conversation` the connection becomes a WebSocket.
    """

    response: Response
    delay_ms: int = 0
    cut: Cut | None = None
    stream: Stream | None = None
    parts: "Iterator[bytes | Response] | None" = None
    gate: Gate | None = None
    pending: Pending | None = None
    commit: Commit | None = None
    conversation: Conversation | None = None

    def with_body(self, body: bytes) -> "Delivery":
        return replace(self, response=self.response.with_body(body))

    @property
    def at_once(self) -> bool:
        """Whether the response is sent as it is, without waiting for anything."""
        return self.commit is None and self.once_kept

    @property
    def once_kept(self) -> bool:
        """Whether the response is sent as it is once its commit, if it has one, is on the disk."""
        bare = self.stream is None and self.parts is None and self.pending is None
        bare = bare and self.conversation is None
        free = self.gate is None and not self.delay_ms
        return self.cut is None and bare and free

    def complete(self) -> Response:
        """Return the response with all of its body, which is made at once."""
        if self.parts is None:
            return self.response
        return joined(self.response, self.parts)


def joined(response: Response, parts: "Iterable[bytes | Response]") -> Response:
    """Return a response with a body of parts, one of which may be a response in its place."""
    body = []
    for part in parts:
        if isinstance(part, Response):
            return replace(response, status=part.status, body=part.body)
        body.append(part)
    return replace(response, body=b"".join(body))


def delivery_of(answer: Response | Delivery) -> Delivery:
    """Return an answer as a delivery: a bare response is sent at once."""
    return Delivery(answer) if isinstance(answer, Response) else answer


def charged(delivery: Delivery, world: World) -> Delivery:
    """Return a delivery whose delay, given in the world's time, is paid for on the world's clock.

    Where the clock stands still (frozen, auto) it is moved and nobody waits; a running clock passes
    the delay by itself, a scaled one in `rate` times less wall time. `X-Mock-Virtual-Elapsed` has
    the delay in milliseconds of the world.
    """
    if not delivery.delay_ms:
        return delivery
    clock = world.time.clock
    response = delivery.response.with_headers((ELAPSED_HEADER, str(delivery.delay_ms)))
    if clock.mode in (ClockMode.FROZEN, ClockMode.AUTO):
        world.time.advance(delivery.delay_ms)
        return replace(delivery, response=response, delay_ms=0)
    context = Context(prec=40)
    wall = context.divide(context.create_decimal(delivery.delay_ms), clock.rate)
    waited = int(wall.to_integral_value(ROUND_CEILING, context))
    return replace(delivery, response=response, delay_ms=waited)
