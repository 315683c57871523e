"""The kinds of faults: what each does to an answer, by its options, and one table of all."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Context, Decimal
from http import HTTPStatus
from types import MappingProxyType

from mockserver import jsontext
from mockserver.contract import RefusalRule
from mockserver.contract.envelope import Saying
from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.responders.delivery import Cut, Delivery
from mockserver.responders.faults.mutation import mutated
from mockserver.responders.forms import BadControl, duration_ms
from mockserver.responders.refusing import JSON_TYPE, REFUSAL_HEADER
from mockserver.responders.responder import Call
from mockserver.validation import did_you_mean
from mockserver.values import dataclass

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


Options = Mapping[str, Json]
"""The options of a fault, of the form that its kind has, and checked."""
Disturb = Callable[[Delivery, Struck], Delivery]
"""Returns the answer as the client will see it; delays are in the world's time."""


@dataclass(frozen=True, slots=True)
class Quota:
    """At most `limit` calls in each window of the world's clock; `refuse` answers the others.

    The registry counts them, and knows when the window ends.
    """

    limit: int
    window_ms: int
    refuse: Disturb

    def __call__(self, sending: Delivery, struck: Struck) -> Delivery:
        """Refuse the call."""
        return self.refuse(sending, struck)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault: what it does, and how that is made of its options.

    `done` tells whether the effect of a call happens unless the test says otherwise; `answers`
    whether a real answer is needed to disturb.
    """

    summary: str
    make: Callable[[Options], Disturb]
    done: bool
    answers: bool


def rule_name(name: str, known: Mapping[str, RefusalRule]) -> str:
    """Return the name of a refusal of the table. Raises `BadControl` for any other."""
    if name in known:
        return name
    near = did_you_mean(name, list(known)) or f"; there are {', '.join(known)}"
    raise BadControl(f"body field 'refusal': {name!r} is no refusal{near}")


def _latency(told: Options) -> Disturb:
    """Be late by `delay`, by up to `until`, or log-normally about it.

    `sigma` is the standard deviation of the logarithm; `delay` is the median then.
    """
    shape = told.get("distribution", "fixed")
    delay = _delay(told, "delay")
    extra = sorted({"until", "sigma"} & told.keys())
    wanted = {"fixed": [], "uniform": ["until"], "log-normal": ["sigma"]}[shape]
    if extra != wanted:
        need = f"takes {wanted[0]!r}" if wanted else "takes neither 'until' nor 'sigma'"
        raise BadControl(f"body field 'distribution': {shape!r} {need} beside 'delay'")
    spread = _delay(told, "until") - delay if shape == "uniform" else 0
    if spread < 0:
        raise BadControl("body field 'until': shorter than 'delay', expected at least as long")
    sigma = Decimal(told.get("sigma", 0))

    def disturb(sending: Delivery, struck: Struck) -> Delivery:
        late = delay
        if spread:
            late += struck.draw("delay") % (spread + 1)
        if sigma:
            late = _lognormal(late, sigma, struck)
        return replace(sending, delay_ms=sending.delay_ms + min(late, LATEST_MS))

    return disturb


def _delay(told: Mapping[str, Json], name: str) -> int:
    found = duration_ms(told[name])
    if found > LATEST_MS:
        raise BadControl(
            f"body field {name!r}: {told[name]!r} is more than a day; '1d' is the most"
        )
    return found


def _status(told: Options) -> Disturb:
    """Put a plain error page, as a gateway would, in place of the answer."""
    page = _page(told["status"], told.get("retryAfter"), told.get("body", ""))
    return lambda sending, struck: replace(sending, response=page)


def _refusal(told: Options) -> Disturb:
    """Put a refusal in place of the answer: one of the table by name, or any code and text."""
    if ("refusal" in told) == ("code" in told):
        raise BadControl("body: give either 'refusal', a name of the table, or 'code' with 'msg'")

    def disturb(sending: Delivery, struck: Struck) -> Delivery:
        generation, refuser = struck.call.operation.generation, struck.call.hosted.refuser
        if "refusal" in told:
            refused = refuser.refuse(generation, told["refusal"], "put in on purpose")
            return replace(sending, response=refused)
        status = 1 if generation.id == "v1" else None
        saying = Saying(told["code"], told.get("msg", "injected"), status)
        rule = RefusalRule("injected", "a refusal put in on purpose", 200, {generation.id: saying})
        why = (REFUSAL_HEADER, "injected: put in on purpose")
        body = jsontext.encode(generation.refusal(rule, ""))
        return replace(sending, response=Response(200, (JSON_TYPE, why), body))

    return disturb


def _quota(told: Options) -> Disturb:
    window = duration_ms(told["window"])
    if window < 1:
        raise BadControl("body field 'window': expected a duration above 0")
    refuse = _refusal if "refusal" in told else _status
    return Quota(told["limit"], window, refuse({"status": 429, **told}))


def _broken_json(told: Options) -> Disturb:
    """Cut the last third off the body, which is whole as far as HTTP can tell, inside a text."""

    def disturb(sending: Delivery, struck: Struck) -> Delivery:
        body = sending.response.body
        kept = body[: len(body) * 2 // 3] + b'"'
        # A text or a number that is cut short may still be JSON.
        while jsontext.decode_or(kept, struck) is not struck:
            kept += b"{"
        return sending.with_body(kept)

    return disturb


def _wrong_type(told: Options) -> Disturb:
    """Say another media type; where none is named, put HTML in the body as well."""
    page = b"<html><body>service</body></html>" if "contentType" not in told else None
    named = ("Content-Type", told.get("contentType", "text/html; charset=utf-8"))

    def disturb(sending: Delivery, struck: Struck) -> Delivery:
        response = sending.response
        kept = tuple(item for item in response.headers if item[0].lower() != "content-type")
        body = response.body if page is None else page
        return replace(sending, response=Response(response.status, (named, *kept), body))

    return disturb


def _mutation(told: Options) -> Disturb:
    """Break a field, the named one or one drawn by the seed, and name it in `X-Mock-Mutated`."""

    def disturb(sending: Delivery, struck: Struck) -> Delivery:
        response, field = mutated(
            sending.response,
            struck.call.operation,
            field=told.get("field"),
            change=told.get("change", "any"),
            draw=struck.draw("field"),
        )
        # A field's name is the client's own text, and headers are ASCII.
        shown = ascii(field)[1:-1][:200] or "nothing"
        return replace(sending, response=response.with_headers(("X-Mock-Mutated", shown)))

    return disturb


def _as_it_is(told: Options) -> Disturb:
    """Leave the answer as it is: a false success is false only in that nothing was done."""
    return lambda sending, struck: sending


def _cutting(summary: str, cut: Cut, *, answers: bool) -> Kind:
    """Return a kind that cuts the connection: what was never answered was not done either."""
    return Kind(
        summary,
        lambda told: lambda sending, struck: replace(sending, cut=cut),
        done=answers,
        answers=answers,
    )


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
        "broken-json": Kind("a body that is no JSON", _broken_json, **_WHOLE),
        "wrong-content-type": Kind(
            "another media type; without a name of one an HTML page", _wrong_type, **_WHOLE
        ),
        "mutation": Kind("one field breaks its schema", _mutation, **_WHOLE),
        "quota": Kind(
            "no more than so many calls in each window of the world's clock", _quota, **_NOTHING
        ),
        "false-success": Kind(
            "answered as a success, although nothing was done",
            _as_it_is,
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


_KNOWN = frozenset(int(status) for status in HTTPStatus)
