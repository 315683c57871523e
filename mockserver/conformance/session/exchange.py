"""A request that was sent and what came back for it, read the way a strict client reads it."""

import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import field
from enum import StrEnum
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from mockserver import jsontext
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.contract import Inputs, Operation
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request
from mockserver.jsontext import Json
from mockserver.validation import Violation

_T = TypeVar("_T")
_P = ParamSpec("_P")
# Numbers, times and names with digits: what a message may repeat of its request.
_ECHO = re.compile(r"['\"`/\w.-]*\d[\w.'\"]*")
# Of long messages the beginning suffices, and regular expressions take time.
_MOST_READ, _COMPARED = 2_000, 200


class NoAnswer(StrEnum):
    """Why no whole answer came."""

    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIMED_OUT = "timed-out"
    CUT = "cut"
    TOO_LARGE = "too-large"
    BROKEN_HTTP = "broken-http"


_NOT_NOW = (429, 503)


class Cached:
    """Keeps values computed from it: an exchange for good, a run until another list comes."""

    def __init__(self) -> None:
        self._cached: dict[Hashable, Any] = {}

    def cached(self, what: Hashable, work_out: Callable[[], _T]) -> _T:
        """Return the value that is kept under a name, or compute and keep it."""
        if what not in self._cached:
            self._cached[what] = work_out()
        value: _T = self._cached[what]
        return value


_Of = TypeVar("_Of", bound=Cached)


def cached(function: Callable[Concatenate[_Of, _P], _T]) -> Callable[Concatenate[_Of, _P], _T]:
    """Keep what a function returns with its first argument, an exchange or a run."""

    @wraps(function)
    def kept(of: _Of, /, *others: _P.args, **named: _P.kwargs) -> _T:
        what = (function, others, *named.items())
        return of.cached(what, lambda: function(of, *others, **named))

    return kept


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: an HTTP answer, or the trouble that kept it away and its reason.

    Without a trouble `reason` is what is wrong with HTTP in an answer that can be read. With one
    `status` is 0 where not even the head arrived, and `body` is what did arrive. `elapsed_ms` is
    wall time in milliseconds from the first byte sent to the last one read, and `came_ms` from the
    first request of the run to that; 0 where another run sent it.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    elapsed_ms: int = 0
    trouble: NoAnswer | None = None
    reason: str = ""
    came_ms: int = field(default=0, compare=False)

    def header(self, name: str) -> str | None:
        """Return the first header of that name, in any case, or None."""
        wanted = name.lower()
        return next((value for sent, value in self.headers if sent.lower() == wanted), None)

    @property
    def media_type(self) -> str:
        """The media type in lower case, without parameters; empty where none is named."""
        return (self.header("Content-Type") or "").partition(";")[0].strip().lower()


class Exchange(Cached):
    """A request for an operation and its answer, under the name of its probe."""

    def __init__(
        self, number: int, probe: str, operation: Operation, request: Request, answer: Answer
    ) -> None:
        """Keep both sides; `number` counts what was sent, from 1. `request.path` is whole."""
        super().__init__()
        self.number = number
        self.probe = ProbeName(probe)
        self.operation = operation
        self.request = request
        self.answer = answer

    def __repr__(self) -> str:
        return f"<Exchange {self.number} {self.probe}: {self.answer.status}>"

    @cached_property
    def parameters(self) -> Mapping[str, str]:
        return self.request.parameters

    @cached_property
    def members(self) -> dict[str, Json]:
        """The members of the request's body; none where it is no JSON object."""
        return self.request.members

    @cached_property
    def reading(self) -> Inputs:
        """The request as the contract reads it, with what it breaks."""
        return self.operation.read(self.request)

    @property
    def has_answer(self) -> bool:
        """Whether an answer came, of whatever kind."""
        return self.answer.trouble is None

    def takes_longer_than(self, ms: int) -> bool:
        """Tell whether the answer took more than so many milliseconds, or did not come in time."""
        return self.answer.trouble in (None, NoAnswer.TIMED_OUT) and self.answer.elapsed_ms > ms

    @cached_property
    def _read(self) -> tuple[Json, str]:
        try:
            return jsontext.decode(self.answer.body), ""
        except jsontext.NotJson as error:
            return None, str(error)

    @property
    def unreadable(self) -> str:
        """Why the body is no strict JSON; empty where it is."""
        return self._read[1]

    @property
    def body(self) -> Json:
        """The body as JSON, strictly read; None where it is none (see `unreadable`)."""
        return self._read[0]

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """Where the body breaks the contract; nothing where it is no JSON."""
        return () if self.unreadable else self.operation.response_violations(self.body)

    def member(self, name: str) -> Json:
        body = self._read[0]
        return body.get(name) if isinstance(body, dict) else None

    @cached_property
    def code(self) -> int | None:
        """The envelope's `code`, where it is an integer."""
        code = self.member("code")
        return code if isinstance(code, int) and not isinstance(code, bool) else None

    @cached_property
    def succeeded(self) -> bool:
        """Whether it is a success: HTTP 2xx and the generation's success code."""
        if not self.has_answer or not 200 <= self.answer.status < 300:
            return False
        if not self.operation.enveloped and isinstance(self.body, Mapping):
            return "code" not in self.body or self.code == self.operation.generation.success_code
        return self.code == self.operation.generation.success_code

    @property
    def refused(self) -> bool:
        """Whether it is an orderly refusal: another code than that of success, or HTTP 4xx.

        HTTP 429 and 503 do not judge the request: it only came at a bad time.
        """
        if not self.has_answer or self.succeeded or self.answer.status in _NOT_NOW:
            return False
        return self.code is not None or 400 <= self.answer.status < 500

    @cached_property
    def data(self) -> Mapping[str, Json]:
        """The `data` of a success; an empty object where it is none or no object."""
        data = self.member("data") if self.operation.enveloped else self.body
        return data if self.succeeded and isinstance(data, Mapping) else {}

    def text(self, name: str) -> str:
        """Return a member of `data` where it is a text, else an empty one."""
        value = self.data.get(name)
        return value if isinstance(value, str) else ""

    def items(self, name: str = "list") -> tuple[Json, ...]:
        """Return a list in `data`; empty where it is none."""
        value = self.data.get(name)
        return tuple(value) if isinstance(value, list) else ()


ExchangePair = tuple[Exchange, Exchange]
"""Two exchanges that are compared."""


def refusal_of(exchange: Exchange) -> tuple[int, int | None, str]:
    """Return why an exchange was refused, for comparison: without echoes of the request."""
    message = exchange.member("msg")
    text = message if isinstance(message, str) else ""
    return (exchange.answer.status, exchange.code, _ECHO.sub("#", text[:_MOST_READ])[:_COMPARED])
