"""The one place where bytes leave: every request of every mode goes through `Transport.send`."""

import asyncio
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from typing import Any, Self, TypeVar

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from mockserver.clock import ticks_ms
from mockserver.conformance.session.exchange import Answer, NoAnswer
from mockserver.conformance.session.permit import Limits, Permit, Refusing, Spent
from mockserver.conformance.session.target import Target
from mockserver.exchange import Request
from mockserver.values import dataclass

_T = TypeVar("_T")
_CHUNK = 65_536
_HEAD = 65_536
# How many bytes are kept of an answer that is too large; only people read them.
_BEGINNING = 65_536


class Transport:
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
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._session: aiohttp.ClientSession | None = None
        self._is_kept = False
        self.sent: Counter[tuple[str, str]] = Counter()
        """How many requests left, by method and path."""

    def __enter__(self) -> Self:
        return self

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
        base = self._admitted(generation, request, leaving)
        answer = self._run(self._exchange(base, request))
        self._kept += len(answer.body)
        return answer

    def send_together(
        self, requests: Sequence[tuple[str, Request]], leaving: Callable[[int], None] | None = None
    ) -> list[Answer]:
        """Send requests, each with its generation, at the same time; return their answers in order.

        `leaving` is called with the number of each in turn. Raises as `send` does; then nothing
        has left.
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
        answers = self._run(self._exchange_together(admitted))
        self._kept += sum(len(answer.body) for answer in answers)
        return answers

    @contextmanager
    def kept_connection(self) -> Iterator[None]:
        """Send what follows, one after the other, on a connection that stays open."""
        self._session, usual = None, self._session
        self._is_kept = True
        try:
            yield
        finally:
            if self._session is not None:
                self._run(self._session.close())
            self._session, self._is_kept = usual, False

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
        if self._began is None:
            self._began = self._ticks()
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
            self._run(asyncio.sleep(wanted / 1000))

    def close(self) -> None:
        """Close the connections; the transport may not be used afterwards."""
        if self._loop is None or self._thread is None:
            return
        if self._session is not None:
            self._run(self._session.close())
        # A connection that is being made when the loop ends would leave its socket open.
        self._run(_end_other_tasks())
        self._run(_end_connections(self._loop))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = self._thread = self._session = None

    def _pause(self) -> None:
        """Keep the rate: requests leave no closer to each other than it allows."""
        gap = int(1000 / self._limits.rate)
        now = self._ticks()
        if now < self._due:
            self.wait(self._due - now)
        self._due = max(now, self._due) + gap

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        # An event loop of its own, in a thread, since the caller may have a running loop.
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="conformance-transport", daemon=True
            )
            self._thread.start()
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            # Nothing of this request may go on after the run has ended.
            future.cancel()
            raise

    async def _exchange_together(self, requests: Iterable[tuple[str, Request]]) -> list[Answer]:
        return await asyncio.gather(*(self._exchange(base, request) for base, request in requests))

    async def _exchange(self, base: str, request: Request) -> Answer:
        if self._session is None:
            self._session = _session(kept=self._is_kept, tls=self._tls)
        began = self._ticks()
        within = min(self._limits.request_ms, self.left_ms) / 1000
        part = _PartialAnswer()
        try:
            async with asyncio.timeout(within):
                await self._fetch(part, base, request)
        except TimeoutError:
            what = "the head" if not part.status else "the end of the answer"
            part.trouble = NoAnswer.TIMED_OUT
            part.reason = f"no answer within {within:g} s: {what} did not come"
        except (aiohttp.ClientError, ssl.SSLError, ValueError, OSError) as error:
            kinds = (trouble for kind, trouble in _TROUBLES if isinstance(error, kind))
            part.trouble = next(kinds, NoAnswer.BROKEN_HTTP)
            part.reason = self._reason(error)
        took_ms, body = self._ticks() - began, bytes(part.body)
        return Answer(part.status, part.headers, body, took_ms, part.trouble, part.reason)

    def _reason(self, error: Exception) -> str:
        told = str(error)
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            verdict = getattr(error.certificate_error, "verify_message", "")
            told = (
                f"its certificate is not trusted: {verdict}; the option cacert names one to trust"
            )
        elif self._tls is not None:
            # The library writes its place in memory, another one in each run.
            told = told.replace(repr(self._tls), "cacert")
        return " ".join(told.split())[:300] or type(error).__name__

    async def _fetch(self, part: "_PartialAnswer", base: str, request: Request) -> None:
        assert self._session is not None  # noqa: S101  # opened by the caller
        async with self._session.request(
            request.method,
            URL(base + request.target, encoded=True),
            headers=CIMultiDict(request.headers.items_sent),
            data=request.body or None,
            allow_redirects=False,
        ) as response:
            part.status = response.status
            part.headers = tuple(
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in response.raw_headers
            )
            async for chunk in response.content.iter_chunked(_CHUNK):
                part.body += chunk
                if len(part.body) > self._limits.most_bytes:
                    most = self._limits.most_bytes
                    del part.body[min(most, _BEGINNING) :]
                    part.trouble = NoAnswer.TOO_LARGE
                    part.reason = f"the answer has more than {most} bytes"
                    response.close()
                    return


@dataclass(slots=True)
class _PartialAnswer:
    """An answer as far as it has arrived."""

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytearray = field(default_factory=bytearray)
    trouble: NoAnswer | None = None
    reason: str = ""


def _session(*, kept: bool, tls: ssl.SSLContext | None) -> aiohttp.ClientSession:
    # A kept connection is the only one, so that each request follows the one before it there.
    connector = (
        aiohttp.TCPConnector(limit=1, ttl_dns_cache=300, ssl=tls or True)
        if kept
        else aiohttp.TCPConnector(force_close=True, ttl_dns_cache=300, ssl=tls or True)
    )
    session = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        trust_env=False,
        headers=_OWN_HEADERS,
        skip_auto_headers=("Content-Type",),
        max_line_size=_HEAD,
        max_field_size=_HEAD,
    )
    # The library would send a GET a second time where a connection drops, past every count; its own
    # test client switches that off in the same way. Connections are usually not kept, so that none
    # is lost for having been idle.
    session._retry_connection = False
    return session


_OWN_HEADERS: Mapping[str, str] = {
    "User-Agent": "crosschain-mock conform",
    "Accept": "application/json",
    # Compression is declined, so that a rule can report a service that compresses anyway.
    "Accept-Encoding": "identity",
}
# The trouble for each error of the library, the first that fits; else broken HTTP.
_TROUBLES = (
    (aiohttp.ClientSSLError, NoAnswer.TLS),
    (aiohttp.ClientConnectorError, NoAnswer.UNREACHABLE),
    (aiohttp.ClientPayloadError, NoAnswer.CUT),
    (aiohttp.ServerDisconnectedError, NoAnswer.CUT),
    (aiohttp.ClientOSError, NoAnswer.CUT),
)


async def _end_other_tasks() -> None:
    """Cancel what else runs in this loop, such as a request that was given up, and wait for it."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _end_connections(loop: asyncio.AbstractEventLoop) -> None:
    """Drop what still says goodbye: over TLS that waits for the service, which this loop cannot."""
    # asyncio has no public list of a loop's connections; a proactor, which has none, closes them.
    for connection in tuple(getattr(loop, "_transports", {}).values()):
        connection.abort()
        # The socket is closed in the loop's next turn.
        await asyncio.sleep(0)
