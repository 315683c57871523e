"""The one place where bytes leave: every request of every mode goes through `Transport.send`."""

import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import field
from functools import partial
from threading import Barrier, BrokenBarrierError
from urllib.parse import SplitResult, urlsplit

from mockserver.clock import ticks_ms
from mockserver.conformance.session.exchange import Answer, NoAnswer
from mockserver.conformance.session.http_answer import (
    BrokenHttp,
    EndsEarly,
    OtherwisePacked,
    PartialAnswer,
    TooLarge,
    read_answer,
)
from mockserver.conformance.session.permit import Limits, Permit, Refusing, Spent
from mockserver.conformance.session.target import Target
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request

_PART = 65_536
# How many bytes are kept of an answer that is too large; only people read them.
_BEGINNING = 65_536
# How long what is due at once may take: an answer that stands behind another, or the end.
_SOON_MS = 3_000
_PORTS = {"http": 80, "https": 443}
_BODILESS = ("GET", "HEAD")


class Transport(AbstractContextManager["Transport"]):
    """Sends requests within limits, and only those that are permitted: one after the other, each on
    a connection of its own, unless told otherwise.

    It never follows a redirect, uses no proxy, keeps no cookie, and never raises for what the
    service does: that is in the answer.
    """

    def __init__(
        self,
        target: Target,
        permit: Permit,
        limits: Limits,
        *,
        tls: ssl.SSLContext | None = None,
        ticks: Callable[[], int] = ticks_ms,
    ) -> None:
        """Take what is allowed; nothing is opened before the first request.

        Without `tls` the certificates of the system are trusted.
        """
        self._target = target
        self._permit = permit
        self._limits = limits
        self._tls = tls
        self._ticks = ticks
        self._began: int | None = None
        self._due = 0
        self._kept = 0
        self._open: dict[socket.socket, str] = {}
        self._is_kept = False
        self.sent: Counter[tuple[str, str]] = Counter()
        """How many requests left, by method and path."""

    def __exit__(self, *raised: object) -> None:
        self.close()

    @property
    def left(self) -> int:
        """How many requests the budget has room for still."""
        return self._limits.budget - self.count

    @property
    def writes_left(self) -> int:
        """How many submissions may leave still."""
        return max(0, self._permit.arming.most - self._permit.writes_sent)

    @property
    def count(self) -> int:
        return self.sent.total()

    @property
    def generations(self) -> tuple[str, ...]:
        return tuple(self._target.bases)

    @property
    def left_ms(self) -> int:
        """How much wall time the run has left, in milliseconds."""
        if self._began is None:
            return self._limits.time_ms
        return max(0, self._began + self._limits.time_ms - self._ticks())

    def send(
        self, generation: str, request: Request, leaving: Callable[[], None] | None = None
    ) -> Answer:
        """Send a request to a generation's base address and return what came back.

        `leaving` is called when nothing keeps the request from leaving any more. Raises `Refusing`
        where it may not leave, `Spent` where budget or time is used up.
        """
        answer = self._exchange(self._admitted(generation, request, leaving), request)
        self._kept += len(answer.body)
        return answer

    def send_together(
        self,
        requests: Sequence[tuple[str, Request]],
        leaving: Callable[[int], None] | None = None,
        *,
        in_one_packet: bool = False,
    ) -> list[Answer]:
        """Send requests, each with its generation, at the same time; return their answers in order.

        With `in_one_packet` they leave in a row on one connection to the address of the first, the
        last of them with `Connection: close`. `leaving` is called with the number of each in turn.
        Raises as `send` does; then nothing has left.
        """
        if self.left < len(requests):
            raise Spent(f"the budget of {self._limits.budget} requests is used up")
        admitted: list[tuple[str, Request]] = []
        try:
            for number, (generation, request) in enumerate(requests):
                about = partial(leaving, number) if leaving else None
                admitted.append((self._admitted(generation, request, about), request))
        except (Refusing, Spent):
            # None of them leaves, so that none counts.
            for _, request in admitted:
                self.sent[request.method, request.path] -= 1
            raise
        answers = (self._in_a_row if in_one_packet else self._exchange_together)(admitted)
        self._kept += sum(len(answer.body) for answer in answers)
        return answers

    def send_and_leave(self, generation: str, request: Request) -> None:
        """Send a request, and close its connection without waiting. Raises as `send` does."""
        base = self._admitted(generation, request, None)
        due_ms, parts = ticks_ms() + min(self._limits.request_ms, self.left_ms), urlsplit(base)
        with suppress(OSError, BrokenHttp, _NotConnected):
            connection = self._connected(parts, due_ms)
            try:
                connection.sendall(_head_of(request, parts, keeps=True) + _body_of(request))
            finally:
                self._end(connection)

    @contextmanager
    def kept_connection(self) -> Iterator[None]:
        """Send what follows, one after the other, on a connection that stays open."""
        self._is_kept = True
        try:
            yield
        finally:
            self._is_kept = False
            for connection in tuple(self._open):
                self._end(connection)

    @contextmanager
    def beside_kept(self) -> Iterator[None]:
        """Send what follows on connections of its own, while the kept one stays open."""
        is_kept, self._is_kept = self._is_kept, False
        try:
            yield
        finally:
            self._is_kept = is_kept

    def _admitted(
        self, generation: str, request: Request, leaving: Callable[[], None] | None
    ) -> str:
        """Return where a request goes, once nothing keeps it from leaving. Raises as `send`."""
        reason = self._permit.refusal(request)
        if reason:
            raise Refusing(reason)
        base = self._target.bases.get(generation)
        if base is None:
            raise Refusing(f"no base address is given for {generation}")
        if self.count >= self._limits.budget:
            raise Spent(f"the budget of {self._limits.budget} requests is used up")
        for name, value in request.headers.items_sent:
            if not value.isprintable():
                # Names of chains travel in a header, and a service may name them as it likes.
                raise Refusing(f"header {name!r} cannot carry {value[:60]!a}")
        if self._kept >= self._limits.most_kept:
            raise Spent(f"the answers have {self._kept} bytes in all, and no more are kept")
        # From the first request, since a plan takes time to make.
        if self._began is None:
            self._began = self._ticks()
        # Last of all that may refuse: who is refused does not make others wait.
        self._pause()
        if self.left_ms <= 0:
            raise Spent(f"the time of {self._limits.time_ms} ms is used up")
        self._permit.note(request)
        if leaving is not None:
            leaving()
        self.sent[request.method, request.path] += 1
        return base

    def take_over(self, request: Request) -> None:
        """Count a submission, which an earlier part of the run sent, against the cap."""
        self._permit.note(request)

    def wait(self, ms: int) -> None:
        """Let wall time pass, no more than the run has left."""
        wanted = min(ms, self.left_ms)
        if wanted > 0:
            time.sleep(wanted / 1000)

    def close(self) -> None:
        """Close the connections; the transport may not be used afterwards."""
        for connection in tuple(self._open):
            self._end(connection)

    def _pause(self) -> None:
        """Keep the rate: requests leave no closer to each other than it allows."""
        gap = int(1000 / self._limits.rate)
        now = self._ticks()
        if now < self._due:
            self.wait(self._due - now)
        # From the due time, not from now: a late request would lower the rate for all behind it.
        self._due = max(now, self._due) + gap

    def _exchange_together(self, requests: Sequence[tuple[str, Request]]) -> list[Answer]:
        # Connecting takes longer than sending: nothing is sent before all are connected.
        ready = Barrier(max(1, len(requests)))
        with ThreadPoolExecutor(max(1, len(requests)), "conformance-transport") as senders:
            try:
                send = partial(self._exchange, ready=ready)
                return list(senders.map(send, *zip(*requests, strict=True)))
            except KeyboardInterrupt:
                # Nothing of these requests may go on after the run has ended.
                self.close()
                raise

    def _in_a_row(self, requests: Sequence[tuple[str, Request]]) -> list[Answer]:
        """Send requests in one packet, and read their answers as far as the connection goes.

        The first may take its time, and whatever is answered behind it comes soon.
        """
        row = _Row(urlsplit(requests[0][0]), [each for _, each in requests])
        answers = list[Answer]()
        try:
            for base, request in requests:
                fetch = partial(self._fetch_next, row, request)
                within_ms = self._limits.request_ms if not answers else _SOON_MS
                answers.append(self._exchange(base, request, fetch=fetch, most_ms=within_ms))
        finally:
            if row.connection is not None:
                self._end(row.connection)
        return answers

    def _fetch_next(
        self, row: "_Row", request: Request, answer: PartialAnswer, due_ms: int
    ) -> None:
        """Read the next answer of a row. After the last one the other end has to close."""
        if row.connection is None:
            row.connection = self._connected(row.parts, due_ms)
            self._open[row.connection] = ""
            row.connection.sendall(row.packet())
        connection, is_last = row.connection, request is row.requests[-1]
        receive = partial(_received, connection, due_ms)
        read_answer(answer, receive, request.method, self._limits.most_bytes, row.behind)
        if is_last and answer.stays_open:
            connection.settimeout(_SOON_MS / 1000)
            try:
                connection.recv(1)
            except TimeoutError:
                answer.note = f"its connection stays open for {_SOON_MS / 1000:g} s, though the "
                answer.note += "request says Connection: close"
            except OSError:
                pass

    def _exchange(
        self,
        base: str,
        request: Request,
        ready: Barrier | None = None,
        *,
        fetch: Callable[[PartialAnswer, int], None] | None = None,
        most_ms: int | None = None,
    ) -> Answer:
        began = self._ticks()
        within_ms = min(most_ms or self._limits.request_ms, self.left_ms)
        answer, trouble, reason = PartialAnswer(), None, ""
        try:
            fetch = fetch or partial(self._fetch, base=base, request=request, ready=ready)
            fetch(answer, ticks_ms() + within_ms)
        except OtherwisePacked as error:
            trouble, reason = NoAnswer.BROKEN_HTTP, str(error)
        except BrokenHttp as error:
            # What cannot be read as an answer is none, wherever its first fault is.
            answer, trouble, reason = PartialAnswer(), NoAnswer.BROKEN_HTTP, str(error)
        except TooLarge as error:
            del answer.body[min(self._limits.most_bytes, _BEGINNING) :]
            trouble, reason = NoAnswer.TOO_LARGE, str(error)
        except _NotConnected as error:
            trouble, reason = NoAnswer.UNREACHABLE, str(error)
        except TimeoutError:
            what = "the head" if not answer.status else "the end of the answer"
            trouble = NoAnswer.TIMED_OUT
            reason = f"no answer within {within_ms / 1000:g} s: {what} did not come"
        except ssl.SSLError as error:
            trouble, reason = NoAnswer.TLS, _reason(error)
        except (EndsEarly, OSError) as error:
            trouble, reason = NoAnswer.CUT, _reason(error)
        now, body, reason = self._ticks(), bytes(answer.body), reason or answer.note
        came = now - (self._began or now)
        return Answer(answer.status, answer.headers, body, now - began, trouble, reason, came)

    def _fetch(
        self,
        answer: PartialAnswer,
        due_ms: int,
        base: str,
        request: Request,
        ready: Barrier | None = None,
    ) -> None:
        """Send a request, and read its answer until `due_ms` of the steady clock.

        Requests that leave at the same time are `ready` together, unless one has no connection.
        """
        parts = urlsplit(base)
        connection = self._taken_again(base)
        try:
            head = _head_of(request, parts, keeps=self._is_kept)
            if connection is None:
                connection = self._connected(parts, due_ms)
        except BaseException:
            if ready is not None:
                ready.abort()
            raise
        self._open[connection] = base
        stays_open = False
        try:
            if ready is not None:
                with suppress(BrokenBarrierError):
                    ready.wait(_left_s(due_ms))
            # Who refuses a body may answer before it is read whole, and close.
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.settimeout(_left_s(due_ms))
                connection.sendall(head + _body_of(request))
            receive = partial(_received, connection, due_ms)
            read_answer(answer, receive, request.method, self._limits.most_bytes)
            stays_open = self._is_kept and answer.stays_open
        finally:
            if not stays_open:
                self._end(connection)

    def _taken_again(self, base: str) -> socket.socket | None:
        """Return a kept connection to an address, unless its other end has closed it."""
        for connection, known in tuple(self._open.items()) if self._is_kept else ():
            if known == base:
                # Without waiting: nothing to read means open, and an end is read at once.
                connection.settimeout(0)
                try:
                    connection.recv(1)
                except (BlockingIOError, ssl.SSLWantReadError):
                    return connection
                except OSError:
                    pass
            self._end(connection)
        return None

    def _connected(self, parts: SplitResult, due_ms: int) -> socket.socket:
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        try:
            connection = socket.create_connection((host, port), _left_s(due_ms))
        # Apart, though it is an `OSError`: the time-out of a request is told as such.
        except TimeoutError:
            raise
        except (OSError, UnicodeError) as error:
            raise _NotConnected(f"cannot connect to {host}:{port}: {_reason(error)}") from None
        if parts.scheme == "http":
            return connection
        try:
            if self._tls is None:
                self._tls = ssl.create_default_context()
            connection.settimeout(_left_s(due_ms))
            return self._tls.wrap_socket(connection, server_hostname=host)
        except BaseException:
            # Whatever it was: nobody else knows of this socket yet.
            connection.close()
            raise

    def _end(self, connection: socket.socket) -> None:
        self._open.pop(connection, None)
        with suppress(OSError):
            # Wakes up a thread that waits for its answer.
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()


@dataclass(slots=True)
class _Row:
    """Requests in a row on one connection, which is there once they have left; `behind` is what
    came behind the last answer that was read.
    """

    parts: SplitResult
    requests: Sequence[Request]
    connection: socket.socket | None = None
    behind: bytearray = field(default_factory=bytearray)

    def packet(self) -> bytes:
        """Return them as they travel. Raises `BrokenHttp`."""
        return b"".join(
            _head_of(each, self.parts, keeps=each is not self.requests[-1]) + _body_of(each)
            for each in self.requests
        )


class _NotConnected(Exception):
    """There is no connection, and why."""


def _received(connection: socket.socket, due_ms: int) -> bytes:
    """Return the next bytes, none at the end. Raises `TimeoutError`, and what sockets raise."""
    connection.settimeout(_left_s(due_ms))
    return connection.recv(_PART)


def _left_s(due_ms: int) -> float:
    """Return the seconds until a time of the steady clock. Raises `TimeoutError`."""
    left_ms = due_ms - ticks_ms()
    if left_ms <= 0:
        raise TimeoutError
    return left_ms / 1000


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        told = error.verify_message
        return f"its certificate is not trusted: {told}; the option cacert names one to trust"
    told = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    return " ".join(told.split())[:300]


def _in_chunks(request: Request) -> bool:
    return str(request.headers.get("Transfer-Encoding", "")).lower() == "chunked"


def _body_of(request: Request) -> bytes:
    """Return the body as it travels: in two chunks where the request says that it is chunked."""
    body = request.body
    if not _in_chunks(request):
        return body
    middle = len(body) // 2
    parts = [part for part in (body[:middle], body[middle:]) if part]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (*parts, b""))


def _head_of(request: Request, parts: SplitResult, *, keeps: bool) -> bytes:
    """Return a request up to its body, as it stands on the wire.

    Headers of the request stand in place of our own, of which an empty one is left out. Raises
    `BrokenHttp` where there is none.
    """
    sent = request.headers
    host = parts.netloc.lower().removesuffix(f":{_PORTS[parts.scheme]}").encode("idna").decode()
    added = {"Host": host, **_OWN_HEADERS}
    is_sized = request.body or request.method not in _BODILESS
    if is_sized and not _in_chunks(request):
        added["Content-Length"] = str(len(request.body))
    if not keeps:
        added["Connection"] = "close"
    before = f"{parts.scheme}://{host}" if request.is_absolute else ""
    lines = [f"{request.method} {before}{parts.path}{request.target} HTTP/{request.version}"]
    lines += [f"{name}: {value}" for name, value in added.items() if name not in sent]
    lines += [
        f"{name}: {value}" for name, value in sent.items_sent if value or name not in _OWN_HEADERS
    ]
    # A blank or a line break would begin another part of the request.
    if " " in request.target or not all(map(str.isprintable, lines)):
        raise BrokenHttp(f"no request can have this target or these headers: {lines[0]!a}")
    return "\r\n".join((*lines, "", "")).encode()


_OWN_HEADERS: Mapping[str, str] = {
    "User-Agent": "crosschain-mock conform",
    "Accept": "application/json",
    # Compression is declined, so that a rule can report a service that compresses anyway.
    "Accept-Encoding": "identity",
}
