"""One caller at a time: the loop that answers clients, and a test that looks at its world."""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import update_wrapper
from typing import Any, TypeVar

from mockserver.engine.refusal import Refusal
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import Request, Response
from mockserver.mock_headers import CONTROL_PATH
from mockserver.responders.answer_delivery import Conversation, Delivery
from mockserver.responders.control_forms import BadControl
from mockserver.server.service import Service
from mockserver.testing.argument_checks import ArgumentCheck, check_of
from mockserver.testing.near_misses import near_miss
from mockserver.testing.options import NAMES, WrongWord, in_python
from mockserver.wording import times
from mockserver.worlds.hosted import DEFAULT_WORLD, HostedWorld
from mockserver.worlds.journal import Entry

# Requests to the control API after which nobody can say any more what a client has done.
_FORGETS = re.compile(rf"{CONTROL_PATH}/(reset|load|journal|worlds/[^/]+)/?$")


class LockedConversation:
    """A conversation that holds a lock while it works on the worlds."""

    def __init__(self, conversation: Conversation, lock: AbstractContextManager[object]) -> None:
        self._conversation = conversation
        self._lock = lock

    def over(self) -> str:
        with self._lock:
            return self._conversation.over()

    def answer(self, message: bytes) -> bytes | None:
        with self._lock:
            return self._conversation.answer(message)

    def settled(self, message: bytes, response: Response) -> bytes | None:
        return self._conversation.settled(message, response)

    def behind(self) -> bool:
        with self._lock:
            return self._conversation.behind()

    def news(self, *, poll: bool) -> list[bytes]:
        with self._lock:
            return self._conversation.news(poll=poll)

    def close(self) -> None:
        with self._lock:
            self._conversation.close()


class LockedService:
    """A service behind a lock. Answers take less than a millisecond, so nobody waits long."""

    def __init__(self, service: Service) -> None:
        """Guard a service; `lock` is held while anybody works on its worlds.

        `made` are the keys of the worlds that tests have made, also of those that are closed.
        """
        self.service = service
        self.lock = threading.RLock()
        self.made: set[str] = set()
        self.judged_apart: set[str] = set()
        """The keys of worlds that were made with a word on their audit, and report themselves."""
        self.witnesses: list[Callable[[], None]] = []
        """What notes the findings of audits before requests are forgotten."""
        self.open: set[str] = set()
        """The keys of worlds that a test has open."""
        self.default_used = False
        """Whether the test uses the default world or the address of the server itself."""
        self._strays: list[str] = []
        self._last_default_entry = service.worlds.get(DEFAULT_WORLD).journal.last_sequence
        self._holders = 0
        """How often the thread that has the lock holds it, to write once at the end."""

    def respond(self, request: Request) -> Response | Delivery:
        """Return the answer to a request, or its `Delivery` where it is not sent at once."""
        with self.lock:
            worlds = self.service.worlds
            # Before it is carried out: afterwards the evidence is gone.
            if request.method in ("POST", "DELETE") and _FORGETS.search(request.path):
                self.bear_witness()
            before = len(worlds)
            answer = self.service.respond(request)
            if len(worlds) > before and CONTROL_PATH not in request.path:
                self._note_stray(list(worlds)[-1].key, request)
        # An answer that is held back settles later, in the loop, and needs the lock again then.
        if isinstance(answer, Delivery) and answer.pending is not None:
            return replace(answer, pending=replace(answer.pending, settle=self._locked(answer)))
        if isinstance(answer, Delivery) and answer.conversation is not None:
            return replace(answer, conversation=LockedConversation(answer.conversation, self.lock))
        return answer

    def bear_witness(self) -> None:
        """Have the findings noted whose requests are about to be forgotten."""
        for note in list(self.witnesses):
            note()

    def _locked(self, delivery: Delivery) -> Callable[[Response], Response]:
        """Return what settles a pending answer, with the lock held."""
        assert delivery.pending is not None  # noqa: S101  # as the caller has seen
        settle = delivery.pending.settle

        def settle_alone(response: Response) -> Response:
            with self.lock:
                return settle(response)

        return settle_alone

    def most_bytes(self, request: Request) -> int:
        """Return how many bytes the body of a request may have, of which the head has come."""
        with self.lock:
            return self.service.most_bytes(request)

    def prepared(self, request: Request) -> Request:
        """Return a request with what is made of its long body; this touches no world."""
        return self.service.prepared(request)

    def strays(self) -> list[str]:
        """Return sentences about requests to worlds that no test has made, each once."""
        with self.lock:
            strays, self._strays = self._strays, []
            journal = self.service.worlds.get(DEFAULT_WORLD).journal
            came = journal.since(self._last_default_entry)
            self._last_default_entry = journal.last_sequence
        if came and not self.default_used:
            strays.append(_requests_without_world(came))
        return strays

    def _note_stray(self, key: str, request: Request) -> None:
        """Note a request that has created a world, unless it came late for a closed world."""
        if key in self.made:
            return
        # The longest: `w1` and `w10` both begin the key of a request to `w10`.
        meant = max((made for made in self.made if key.startswith(made)), key=len, default="")
        right = (
            "a slash is missing behind the base address: write base_url_v2 + "
            f"'/{key.removeprefix(meant)}/…'"
            if meant
            else "make it with `crosschain_mock_server.world(…)`, or use the base address of yours"
        )
        self._strays.append(
            f"a request came to world {key!r}, which nobody made: "
            f"{request.method} {request.path}\n  {right}"
        )

    def hold(self) -> None:
        """Take the lock, to look at a world or to change it; `let_go` follows."""
        self.lock.acquire()
        self._holders += 1

    def let_go(self, key: str) -> None:
        """Release the lock; where worlds are kept on a disk, what has changed is there by then.

        Raises `NotKept` where it cannot be written.
        """
        try:
            self._holders -= 1
            if not self._holders:
                self._write(key)
        finally:
            self.lock.release()

    def _write(self, key: str) -> None:
        keeper, worlds = self.service.keeper, self.service.worlds
        if keeper is None or key not in worlds:
            return
        if keeper.settle(worlds.get(key)):
            keeper.writes.begin()
            keeper.writes.finish()

    def refuse(self, request: Request, name: str, reason: str) -> Response:
        """Return the refusal of a request that could not be read."""
        with self.lock:
            return self.service.refuse(request, name, reason)


def _requests_without_world(came: list[Entry]) -> str:
    return (
        f"{times(len(came))} a request came to the default world, which is no test's own; "
        f"the first: {came[0].request_line}\n"
        "  the base address lost its path /w/…, as with urljoin and aiohttp's base_url: write "
        f"base_url + {came[0].path!r}; for the default world use crosschain_mock_server.url"
    )


class Holding:
    """The lock of a service, held for one world; who holds it may hold it again."""

    def __init__(self, locked: LockedService, key: str) -> None:
        self._locked, self._key = locked, key

    def __enter__(self) -> None:
        self._locked.hold()

    def __exit__(self, *raised: object) -> None:
        self._locked.let_go(self._key)


class WorldClosed(CrosschainMockError):
    """A world whose test has ended."""


class WorldHandle:
    """One world of a service. Looked up each time: loading a dump puts another one in its place."""

    def __init__(self, locked: LockedService, key: str) -> None:
        """Give access to the world under a key, until it is closed."""
        self.key = key
        self.lock = Holding(locked, key)
        """Held by whoever looks at the world or changes it."""
        self.views: Mapping[str, type] = {}
        """The classes through which a test sees the world, by their path from the fixture."""
        self._service = locked
        self._closed = False
        worlds = locked.service.worlds
        self._before = {hosted.key: hosted.journal.last_sequence for hosted in worlds}

    @property
    def hosted(self) -> HostedWorld:
        """The world, for whoever holds the lock. Raises `WorldClosed`."""
        if self._closed:
            raise WorldClosed(f"world {self.key!r} is closed, its test has ended; make a fresh one")
        return self._service.service.worlds.get(self.key)

    def beside(self) -> Iterator[tuple[HostedWorld, int]]:
        """Yield other worlds with the number of their newest request when this one was made.

        Those are left out that report themselves, and that got none since.
        """
        for hosted in self._service.service.worlds:
            since = self._before.get(hosted.key, 0)
            is_other = hosted.key not in (self.key, *self._service.judged_apart)
            if is_other and hosted.journal.last_sequence > since:
                yield hosted, since

    def witness(self, note: Callable[[], None]) -> Callable[[], None]:
        """Have findings noted before requests are forgotten; return what ends that."""
        self._service.witnesses.append(note)
        return lambda: self._service.witnesses.remove(note)

    def strays(self) -> list[str]:
        """Return sentences about requests to worlds of the server that no test has made."""
        return self._service.strays()

    def close(self) -> None:
        """Forget the world; a later request for its key makes a new one.

        One that is kept on a disk stays there, and the next test of its name goes on with it.
        """
        if not self._closed:
            self._closed = True
            self._service.bear_witness()
            self._service.judged_apart.discard(self.key)
            self._service.open.discard(self.key)
            if self._service.service.keeper is None:
                # Worlds on a disk stay: the next session goes on with them.
                self._service.service.worlds.drop(self.key, for_good=True)


_Class = TypeVar("_Class", bound=type)


def public_api(made: _Class) -> _Class:
    """Let the public methods of a class hold its `_lock`, and raise one family of errors.

    Arguments are checked against annotations. Errors of the engine and the control API become a
    `CrosschainMockError` in Python's spelling, whose traceback ends in the calling line of the
    test.
    """
    for name, value in list(vars(made).items()):
        if name.startswith("_") and name not in ("__getitem__", "__iter__", "__len__"):
            continue
        if isinstance(value, property) and value.fget is not None:
            setattr(made, name, property(_public(value.fget), doc=value.__doc__))
        elif callable(value) and not hasattr(value, "__wrapped__"):
            setattr(made, name, _public(value))
    # Set here and not in the classes, where type checkers would take any attribute for one that is.
    if "__getattr__" not in vars(made):
        made.__getattr__ = _missing  # type: ignore[attr-defined]
    return made


def _missing(view: Any, name: str) -> Any:
    __tracebackhide__ = True
    # Copying and pickling ask for private names before there is a handle.
    if name.startswith("_"):
        raise AttributeError(f"{type(view).__name__!r} object has no attribute {name!r}")
    views = view._handle.views
    path = next((path for path, made in views.items() if made is type(view)), "")
    raise AttributeError(near_miss(path, name, views))


def _public(function: Callable[..., Any]) -> Callable[..., Any]:
    check: ArgumentCheck | None = None

    def called(*args: Any, **options: Any) -> Any:
        nonlocal check
        __tracebackhide__ = True
        try:
            if len(args) > 1 or options:
                # On first use: reading the annotations of all methods would slow each start of
                # pytest.
                check = check or check_of(function)
                check(args[1:], options)
            with args[0]._lock:
                return function(*args, **options)
        except Refusal as refusal:
            raised: CrosschainMockError = BadControl(refusal.reason)
        except WrongWord as error:
            raised = error
        except BadControl as error:
            raised = type(error)(in_python(str(error), NAMES))
        except CrosschainMockError as error:
            raised = error
        # Without our own frames, which say nothing to a test.
        raise raised.with_traceback(None) from None

    return update_wrapper(called, function)
