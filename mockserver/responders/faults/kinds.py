"""The kinds of faults: one frozen value and one short function each, and one table of all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from http import HTTPStatus
from types import MappingProxyType
from typing import Protocol

from mockserver import jsontext
from mockserver.contract import RefusalRule
from mockserver.contract.envelope import Saying
from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.responders.delivery import Cut, Delivery
from mockserver.responders.faults.mutation import mutated
from mockserver.responders.forms import (
    BadControl,
    duration_ms,
)
from mockserver.responders.refusing import JSON_TYPE, REFUSAL_HEADER
from mockserver.responders.responder import Call
from mockserver.validation import did_you_mean

LATEST_MS = 86_400_000
"""The most a fault delays an answer, in milliseconds: a day."""

_FINE = 10**12


@dataclass(frozen=True, slots=True)
class Struck:
    """A call that a fault strikes.

    `draw` returns a number of 256 bits that depends on the world's seed, the fault and the call.
    """

    call: Call
    draw: Callable[[str], int]


class Disturbance(Protocol):
    """What a kind of fault does to the sending of an answer."""

    def disturb(self, sending: Delivery, struck: Struck) -> Delivery:
        """Return the answer as the client will see it; delays are in the world's time."""


@dataclass(frozen=True, slots=True)
class Latency:
    """The answer comes late: by `delay_ms`, up to `spread_ms` more, or log-normally about it.

    `sigma` is the standard deviation of the logarithm; `delay_ms` is the median then.
    """

    delay_ms: int
    spread_ms: int = 0
    sigma: Decimal = Decimal(0)

    def disturb(self, sending: Delivery, struck: Struck) -> Delivery:
        """Add the delay."""
        late = self.delay_ms
        if self.spread_ms:
            late += struck.draw("delay") % (self.spread_ms + 1)
        if self.sigma:
            late = _lognormal(late, self.sigma, struck)
        return replace(sending, delay_ms=sending.delay_ms + min(late, LATEST_MS))


@dataclass(frozen=True, slots=True)
class HttpFault:
    """An HTTP status in place of the answer, with `Retry-After` in seconds where it is given."""

    status: int
    retry_after_s: int | None = None
    body: str = ""

    def disturb(self, sending: Delivery, struck: Struck) -> Delivery:
        """Put a plain error page, as a gateway would, in place of the answer."""
        return replace(sending, response=_page(self.status, self.retry_after_s, self.body))


@dataclass(frozen=True, slots=True)
class RefusalFault:
    """A refusal in the generation's envelope: one of the table by name, or any code and text."""

    name: str | None = None
    code: int = 0
    msg: str = ""

    def disturb(self, sending: Delivery, struck: Struck) -> Delivery:
        """Put the refusal in place of the answer."""
        generation, refuser = struck.call.operation.generation, struck.call.hosted.refuser
        if self.name is not None:
            return replace(
                sending, response=refuser.refuse(generation, self.name, "put in on purpose")
            )
        status = 1 if generation.id == "v1" else None
        saying = Saying(self.code, self.msg, status)
        rule = RefusalRule("injected", "a refusal put in on purpose", 200, {generation.id: saying})
        told = (REFUSAL_HEADER, "injected: put in on purpose")
        body = jsontext.encode(generation.refusal(rule, ""))
        return replace(sending, response=Response(200, (JSON_TYPE, told), body))


@dataclass(frozen=True, slots=True)
class CutFault:
    """The connection is reset or ends before the whole answer is there."""

    cut: Cut

    def disturb(self, sending: Delivery, struck: Struck) -> Delivery:
        """Cut the connection."""
        return replace(sending, cut=self.cut)


@dataclass(frozen=True, slots=True)
class BrokenJson:
    """The answer is whole as far as HTTP can tell, but its body is no JSON."""

    def disturb(self, sending: Delivery, struck: Struck) -> Delivery:
        """Cut the last third off the body and let it end inside a text."""
        body = sending.response.body
        kept = body[: len(body) * 2 // 3] + b'"'
        # An odd quote inside the text would close it; what is left must not be readable by chance.
        while jsontext.decode_or(kept, struck) is not struck:
            kept += b"{"
        return sending.with_body(kept)


@dataclass(frozen=True, slots=True)
class WrongType:
    """The answer says that it is of another media type; `page` puts HTML in it as well."""

    content_type: str = "text/html; charset=utf-8"
    page: bool = True

    def disturb(self, sending: Delivery, struck: Struck) -> Delivery:
        """Change the type, and the body where a page is asked for."""
        response = sending.response
        kept = tuple(item for item in response.headers if item[0].lower() != "content-type")
        body = b"<html><body>service</body></html>" if self.page else response.body
        headers = (("Content-Type", self.content_type), *kept)
        return replace(sending, response=Response(response.status, headers, body))


@dataclass(frozen=True, slots=True)
class Mutation:
    """One field of the answer breaks its schema: the named one, or one drawn by the seed."""

    field: str | None = None
    change: str = "any"

    def disturb(self, sending: Delivery, struck: Struck) -> Delivery:
        """Break the field and name it in `X-Mock-Mutated`."""
        response, field = mutated(
            sending.response,
            struck.call.operation,
            field=self.field,
            change=self.change,
            draw=struck.draw("field"),
        )
        told = ascii(field)[1:-1][:200] or "nothing"
        return replace(sending, response=response.with_headers(("X-Mock-Mutated", told)))


@dataclass(frozen=True, slots=True)
class FalseSuccess:
    """The answer that a call would have got, although nothing was done."""

    def disturb(self, sending: Delivery, struck: Struck) -> Delivery:
        """Leave the answer as it is: false is only that nothing was done."""
        return sending


@dataclass(frozen=True, slots=True)
class Quota:
    """At most `limit` calls in each window of the world's clock; the others get an HTTP status.

    `refusal` names a refusal of the table that takes the status's place.
    """

    limit: int
    window_ms: int
    status: int = 429
    refusal: str | None = None

    def disturb(self, sending: Delivery, struck: Struck) -> Delivery:
        """Refuse the call; the registry has counted it and knows when the window ends."""
        if self.refusal is not None:
            return RefusalFault(self.refusal).disturb(sending, struck)
        return HttpFault(self.status).disturb(sending, struck)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault: what it does, and how it is made of its options.

    `done` tells whether the effect happens although the answer is disturbed, where the request to
    set the fault does not say; `answers` whether the disturbed answer is made of a real one.
    """

    summary: str
    make: Callable[[Mapping[str, Json]], Disturbance]
    done: bool
    answers: bool


def rule_name(name: str, known: Mapping[str, RefusalRule]) -> str:
    """Return the name of a refusal of the table. Raises `BadControl` for any other."""
    if name in known:
        return name
    near = did_you_mean(name, list(known))
    raise BadControl(f"body field 'refusal': {name!r} is no refusal{near or _listed(known)}")


def _latency(told: Mapping[str, Json]) -> Disturbance:
    shape = told.get("distribution", "fixed")
    delay = _delay(told, "delay")
    extra = sorted({"until", "sigma"} & told.keys())
    wanted = {"fixed": [], "uniform": ["until"], "log-normal": ["sigma"]}[shape]
    if extra != wanted:
        need = f"takes {wanted[0]!r}" if wanted else "takes neither 'until' nor 'sigma'"
        raise BadControl(f"body field 'distribution': {shape!r} {need} beside 'delay'")
    if shape == "uniform":
        spread = _delay(told, "until") - delay
        if spread < 0:
            raise BadControl("body field 'until': shorter than 'delay', expected at least as long")
        return Latency(delay, spread_ms=spread)
    return Latency(delay, sigma=Decimal(told.get("sigma", 0)))


def _delay(told: Mapping[str, Json], name: str) -> int:
    found = duration_ms(told[name])
    if found > LATEST_MS:
        raise BadControl(
            f"body field {name!r}: {told[name]!r} is more than a day; '1d' is the most"
        )
    return found


def _status(told: Mapping[str, Json]) -> Disturbance:
    return HttpFault(told["status"], told.get("retryAfter"), told.get("body", ""))


def _refusal(told: Mapping[str, Json]) -> Disturbance:
    if ("refusal" in told) == ("code" in told):
        raise BadControl("body: give either 'refusal', a name of the table, or 'code' with 'msg'")
    return RefusalFault(told.get("refusal"), told.get("code", 0), told.get("msg", "injected"))


def _quota(told: Mapping[str, Json]) -> Disturbance:
    window = duration_ms(told["window"])
    if window < 1:
        raise BadControl("body field 'window': expected a duration above 0")
    return Quota(told["limit"], window, told.get("status", 429), told.get("refusal"))


def _wrong_type(told: Mapping[str, Json]) -> Disturbance:
    if "contentType" not in told:
        return WrongType()
    return WrongType(told["contentType"], page=False)


def _cutting(summary: str, cut: Cut, *, answers: bool) -> Kind:
    """Return a kind that cuts the connection: what was never answered was not done either."""
    return Kind(summary, lambda told: CutFault(cut), done=answers, answers=answers)


_WHOLE = {"done": True, "answers": True}
_NOTHING = {"done": False, "answers": False}

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "latency": Kind("the answer comes late, on the world's clock", _latency, **_WHOLE),
        "http-status": Kind("an HTTP error in place of the answer", _status, **_NOTHING),
        "refusal": Kind("a refusal inside the envelope", _refusal, **_NOTHING),
        "reset-before-headers": _cutting(
            "the connection is reset before anything was sent", Cut.RESET_BEFORE, answers=False
        ),
        "reset-after-headers": _cutting(
            "the connection is reset when only the headers were sent", Cut.RESET_AFTER, answers=True
        ),
        "empty-answer": _cutting(
            "the connection is closed without an answer", Cut.EMPTY, answers=False
        ),
        "truncated-body": _cutting(
            "the connection is closed in the middle of the body", Cut.TRUNCATED, answers=True
        ),
        "broken-json": Kind("a body that is no JSON", lambda told: BrokenJson(), **_WHOLE),
        "wrong-content-type": Kind(
            "another media type; without a name of one an HTML page", _wrong_type, **_WHOLE
        ),
        "mutation": Kind(
            "one field breaks its schema",
            lambda told: Mutation(told.get("field"), told.get("change", "any")),
            **_WHOLE,
        ),
        "quota": Kind(
            "no more than so many calls in each window of the world's clock", _quota, **_NOTHING
        ),
        "false-success": Kind(
            "answered as a success, although nothing was done",
            lambda told: FalseSuccess(),
            done=False,
            answers=True,
        ),
    }
)
"""Every kind of fault by its name."""


def _page(status: int, retry_after_s: int | None, body: str) -> Response:
    text = body or f"{status} {HTTPStatus(status).phrase if status in _KNOWN else 'Error'}"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/plain; charset=utf-8"),)
    if retry_after_s is not None:
        headers = (*headers, ("Retry-After", str(retry_after_s)))
    return Response(status, headers, text.encode("utf-8", "backslashreplace"))


def _lognormal(median_ms: int, sigma: Decimal, struck: Struck) -> int:
    """Return a log-normal delay in whole milliseconds, the same on every machine."""
    context = Context(prec=30)
    # Twelve even draws less six are normal enough, and need no function that differs by platform.
    total = sum(struck.draw(f"normal {number}") % _FINE for number in range(12))
    normal = context.subtract(context.divide(Decimal(total), Decimal(_FINE)), Decimal(6))
    factor = context.exp(context.multiply(sigma, normal))
    return int(context.multiply(Decimal(median_ms), factor))


def _listed(known: Mapping[str, RefusalRule]) -> str:
    return f"; there are {', '.join(known)}"


_KNOWN = frozenset(int(status) for status in HTTPStatus)
