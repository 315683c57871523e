"""The kinds of faults: what each does to an answer, by its options, and one table of all."""

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Context, Decimal
from types import MappingProxyType
from typing import Any

from mockserver import jsontext
from mockserver.contract import Operation, RefusalRule
from mockserver.contract.operation import RefusalWords, refusal_near
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import PHRASES, Response
from mockserver.jsontext import Json
from mockserver.mock_headers import MUTATED_HEADER, REFUSAL_HEADER
from mockserver.responders.answer_delivery import Cut, Delivery
from mockserver.responders.control_forms import BadControl, duration_ms
from mockserver.responders.refusal_answers import JSON_TYPE
from mockserver.responders.responder import Call
from mockserver.validation import dotted

MemberPath = tuple[str | int, ...]
_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_MISSING = object()
_CHANGES: dict[str, tuple[Any, ...]] = {
    "type": ({"mutated": True}, ["mutated"], "mutated", 0),
    "null": (None,),
    "missing": (_MISSING,),
}
CHANGES = (*_CHANGES, "any")
"""What may be done to a field: another type, null, left out, or whichever breaks the contract."""


def mutated(
    response: Response, operation: Operation, *, field: str | None, change: str, draw: int
) -> tuple[Response, str]:
    """Return an answer with one field broken, and the field's path; empty where none could be.

    Without a `field` the number `draw` chooses one of the data. A field is only touched where the
    answer breaks its schema afterwards and did not before.
    """
    body = jsontext.decode_or(response.body, _MISSING)
    if body is _MISSING or operation.response_violations(body):
        return response, ""
    for path in _candidates(body, operation, field, draw):
        for broken in _broken(body, path, change):
            if operation.response_violations(broken):
                return response.with_body(jsontext.encode(broken)), dotted(path)
    return response, ""


def parts(field: str) -> MemberPath:
    """Return the path that people write as `list[0].symbol`."""
    return tuple(int(index) if index else name for name, index in _PART.findall(field))


def _candidates(
    body: Json, operation: Operation, field: str | None, draw: int
) -> Iterator[MemberPath]:
    base: MemberPath = ("data",) if operation.enveloped else ()
    if field is not None:
        named = parts(field)
        yield (*base, *named)
        yield named
        return
    data = body.get("data") if base and isinstance(body, dict) else body
    paths = [(*base, *path) for path in _leaves(data, ())] or [("code",)]
    start = draw % len(paths)
    yield from (*paths[start:], *paths[:start])


def _leaves(value: Json, path: MemberPath) -> Iterator[MemberPath]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    elif path:
        yield path


def _broken(body: Json, path: MemberPath, change: str) -> Iterator[Json]:
    kinds = _CHANGES if change == "any" else (change,)
    for value in (value for kind in kinds for value in _CHANGES[kind]):
        changed = copy.deepcopy(body)
        holder = changed
        try:
            for part in path[:-1]:
                holder = holder[part]
            if value is _MISSING:
                del holder[path[-1]]
            else:
                holder[path[-1]]
                holder[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            return
        yield changed


NOTHING = "nothing"
"""What `X-Mock-Mutated` names where no field was broken."""

LATEST_MS = 86_400_000
"""The most a fault delays an answer, in milliseconds: a day."""

# Integers, so that drawn delays are the same on every machine.
_FRACTIONS = 10**12


@dataclass(frozen=True, slots=True)
class FaultedCall:
    """A call that a fault strikes.

    `draw` returns a number of 256 bits that depends on the world's seed, the fault and the call.
    """

    call: Call
    draw: Callable[[str], int]


OptionValues = Mapping[str, Json]
"""The options of a fault, of the form that its kind has, and checked."""
Disturb = Callable[[Delivery, FaultedCall], Delivery]
"""Returns the answer as the client will see it; delays are in the world's time."""


@dataclass(frozen=True, slots=True)
class Quota:
    """At most `limit` calls in each window of the world's clock; `refuse` answers the others.

    The registry counts them, and knows when the window ends.
    """

    limit: int
    window_ms: int
    refuse: Disturb

    def __call__(self, sending: Delivery, faulted: FaultedCall) -> Delivery:
        return self.refuse(sending, faulted)


@dataclass(frozen=True, slots=True)
class FaultDefinition:
    """A kind of fault: what it does, and how that is made of its options.

    `done` tells whether the effect of a call happens unless the test says otherwise; `answers`
    whether a real answer is needed to disturb.
    """

    summary: str
    make: Callable[[OptionValues], Disturb]
    done: bool = True
    answers: bool = True


# For kinds without an effect of the call, which need no answer.
_NOTHING = (False, False)


def rule_name(name: str, known: Mapping[str, RefusalRule]) -> str:
    """Return the name of a refusal of the table. Raises `BadControl` for any other."""
    if name in known:
        return name
    near = refusal_near(name, known) or "; `docs/reference/refusals.md` lists all"
    raise BadControl(f"body field 'refusal': {name!r} is no refusal{near}")


def _latency(options: OptionValues) -> Disturb:
    """Be late by `delay`, by up to `until`, or log-normally about it.

    `sigma` is the standard deviation of the logarithm; `delay` is the median then.
    """
    shape = options.get("distribution", "fixed")
    delay = _delay(options, "delay")
    extra = sorted({"until", "sigma"} & options.keys())
    wanted = {"fixed": [], "uniform": ["until"], "log-normal": ["sigma"]}[shape]
    if extra != wanted:
        need = f"takes {wanted[0]!r}" if wanted else "takes neither 'until' nor 'sigma'"
        raise BadControl(f"body field 'distribution': {shape!r} {need} beside 'delay'")
    spread = _delay(options, "until") - delay if shape == "uniform" else 0
    if spread < 0:
        raise BadControl("body field 'until': shorter than 'delay', expected at least as long")
    sigma = Decimal(options.get("sigma", 0))

    def disturb(sending: Delivery, faulted: FaultedCall) -> Delivery:
        late = delay
        if spread:
            late += faulted.draw("delay") % (spread + 1)
        if sigma:
            late = _lognormal(late, sigma, faulted)
        return replace(sending, delay_ms=sending.delay_ms + min(late, LATEST_MS))

    return disturb


def _delay(options: Mapping[str, Json], name: str) -> int:
    delay_ms = duration_ms(options[name])
    if delay_ms > LATEST_MS:
        raise BadControl(
            f"body field {name!r}: {options[name]!r} is more than a day; '1d' is the most"
        )
    return delay_ms


def _status(options: OptionValues) -> Disturb:
    """Put a plain error page, as a gateway would, in place of the answer."""
    page = _page(options["status"], options.get("retryAfter"), options.get("body", ""))
    return lambda sending, faulted: replace(sending, response=page)


def _refusal(options: OptionValues) -> Disturb:
    """Put a refusal in place of the answer: one of the table by name, or any code and text."""
    if ("refusal" in options) == ("code" in options):
        raise BadControl("body: give either 'refusal', a name of the table, or 'code' with 'msg'")

    def disturb(sending: Delivery, faulted: FaultedCall) -> Delivery:
        generation, refuser = faulted.call.operation.generation, faulted.call.hosted.refuser
        if "refusal" in options:
            # Without a reason: a client sees the words of the refusal that is played, no others.
            bare = refuser.refuse(generation, options["refusal"], "")
            why = (REFUSAL_HEADER, f"{options['refusal']}: put in on purpose")
            refused = Response(bare.status, (JSON_TYPE, why), bare.body)
            return replace(sending, response=refused)
        status = 1 if generation.id == "v1" else None
        played = refuser.words_of(generation, options["code"])
        words = RefusalWords(options["code"], options.get("msg", played), status)
        rule = RefusalRule("injected", "a refusal put in on purpose", 200, {generation.id: words})
        why = (REFUSAL_HEADER, "injected: put in on purpose")
        body = jsontext.encode(generation.refusal(rule, ""))
        return replace(sending, response=Response(refuser.status, (JSON_TYPE, why), body))

    return disturb


def _quota(options: OptionValues) -> Disturb:
    window = duration_ms(options["window"])
    if window < 1:
        raise BadControl("body field 'window': expected a duration above 0")
    refuse = _refusal if "refusal" in options else _status
    return Quota(options["limit"], window, refuse({"status": 429, **options}))


def _broken_json(options: OptionValues) -> Disturb:
    """Cut the last third off the body, which is whole as far as HTTP can tell, inside a text."""

    def disturb(sending: Delivery, faulted: FaultedCall) -> Delivery:
        body = sending.response.body
        kept = body[: len(body) * 2 // 3] + b'"'
        # A text or a number that is cut short may still be JSON.
        while jsontext.decode_or(kept, faulted) is not faulted:
            kept += b"{"
        return sending.with_body(kept)

    return disturb


def _wrong_type(options: OptionValues) -> Disturb:
    """Send another media type; without a named one, HTML in the body as well."""
    page = b"<html><body>service</body></html>" if "contentType" not in options else None
    named = ("Content-Type", options.get("contentType", "text/html; charset=utf-8"))

    def disturb(sending: Delivery, faulted: FaultedCall) -> Delivery:
        response = sending.response
        kept = tuple(item for item in response.headers if item[0].lower() != "content-type")
        body = response.body if page is None else page
        return replace(sending, response=Response(response.status, (named, *kept), body))

    return disturb


def _mutation(options: OptionValues) -> Disturb:
    """Break a field, the named one or one drawn by the seed, and name it in `X-Mock-Mutated`."""

    def disturb(sending: Delivery, faulted: FaultedCall) -> Delivery:
        response, field = mutated(
            sending.response,
            faulted.call.operation,
            field=options.get("field"),
            change=options.get("change", "any"),
            draw=faulted.draw("field"),
        )
        # A field's name is the client's own text, and headers are ASCII.
        name = ascii(field)[1:-1][:200] or NOTHING
        return replace(sending, response=response.with_headers((MUTATED_HEADER, name)))

    return disturb


def _cutting(cut: Cut) -> Callable[[OptionValues], Disturb]:
    return lambda options: lambda sending, faulted: replace(sending, cut=cut)


KINDS: Mapping[str, FaultDefinition] = MappingProxyType(
    {
        "latency": FaultDefinition("the answer comes late, on the world's clock", _latency),
        "http-status": FaultDefinition("an HTTP error in place of the answer", _status, *_NOTHING),
        "refusal": FaultDefinition("a refusal inside the envelope", _refusal, *_NOTHING),
        # A call that was never answered had no effect either.
        "reset-before-headers": FaultDefinition(
            "the connection is reset before anything was sent",
            _cutting(Cut.RESET_BEFORE),
            *_NOTHING,
        ),
        "reset-after-headers": FaultDefinition(
            "the connection is reset when only the headers were sent", _cutting(Cut.RESET_AFTER)
        ),
        "empty-answer": FaultDefinition(
            "the connection is closed without an answer", _cutting(Cut.EMPTY), *_NOTHING
        ),
        "truncated-body": FaultDefinition(
            "the connection is closed in the middle of the body", _cutting(Cut.TRUNCATED)
        ),
        "broken-json": FaultDefinition("a body that is no JSON", _broken_json),
        "wrong-content-type": FaultDefinition(
            "another media type; without a name of one an HTML page", _wrong_type
        ),
        "mutation": FaultDefinition("one field breaks its schema", _mutation),
        "quota": FaultDefinition(
            "no more than so many calls in each window of the world's clock", _quota, *_NOTHING
        ),
        # The answer is unchanged; false is that the call had no effect.
        "false-success": FaultDefinition(
            "answered as a success, although nothing was done",
            lambda options: lambda sending, faulted: sending,
            done=False,
        ),
    }
)
"""Every kind of fault by its name."""


def _page(status: int, retry_after_s: int | None, body: str) -> Response:
    text = body or f"{status} {PHRASES.get(status, 'Error')}"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/plain; charset=utf-8"),)
    if retry_after_s is not None:
        headers = (*headers, ("Retry-After", str(retry_after_s)))
    return Response(status, headers, text.encode("utf-8", "backslashreplace"))


def _lognormal(median_ms: int, sigma: Decimal, faulted: FaultedCall) -> int:
    """Return a log-normal delay in whole milliseconds, the same on every machine."""
    context = Context(prec=30)
    # Twelve even draws less six are normal enough, and need no function that differs by platform.
    total = sum(faulted.draw(f"normal {number}") % _FRACTIONS for number in range(12))
    normal = context.subtract(context.divide(Decimal(total), Decimal(_FRACTIONS)), Decimal(6))
    factor = context.exp(context.multiply(sigma, normal))
    return int(context.multiply(Decimal(median_ms), factor))
