"""Two answers to the same request, compared from the outside in."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mockserver.conformance.comparison.bodies import Reading, differences
from mockserver.conformance.comparison.difference import NOTHING, Difference, Kind, shown
from mockserver.conformance.session.exchange import Exchange, Trouble
from mockserver.exchange import Request, pairs_or
from mockserver.jsontext import Json

_NEVER_CAME = (Trouble.UNREACHABLE, Trouble.TLS, Trouble.TIMED_OUT)


def missing_answer(left: Exchange, right: Exchange) -> str:
    """Return why two exchanges cannot be compared; empty where they can."""
    for name, one in (("left", left), ("right", right)):
        if one.answer.trouble in _NEVER_CAME:
            return f"the {name} side did not answer: {one.answer.reason or one.answer.trouble}"
    return ""


def compared(left: Exchange, right: Exchange, reading: Reading) -> Iterator[Difference]:
    """Yield where two answers differ."""
    troubles = [_trouble(one) for one in (left, right)]
    if any(troubles):
        if troubles[0] != troubles[1]:
            yield Difference(Kind.NO_ANSWER, (), *(text or "an answer" for text in troubles))
        return
    if left.answer.status != right.answer.status:
        yield Difference(Kind.STATUS, (), str(left.answer.status), str(right.answer.status))
    outcomes = [_outcome(one) for one in (left, right)]
    if outcomes[0] != outcomes[1]:
        yield Difference(Kind.OUTCOME, (), *map(_told, (left, right)))
        return
    media = [_media_type(one) for one in (left, right)]
    if media[0] != media[1]:
        yield Difference(Kind.MEDIA_TYPE, ("Content-Type",), *media)
    if bool(left.unreadable) is not bool(right.unreadable):
        texts = (one.unreadable or "JSON" for one in (left, right))
        yield Difference(Kind.NO_JSON, (), *texts)
        return
    yield from _bodies(left, right, reading)


def _bodies(left: Exchange, right: Exchange, reading: Reading) -> Iterator[Difference]:
    refused, echoes = not left.succeeded, (inputs_of(left.request), inputs_of(right.request))
    one, other = left.body, right.body
    if refused and isinstance(one, Mapping) and isinstance(other, Mapping):
        if left.code != right.code:
            codes = (shown(body.get("code", NOTHING)) for body in (one, other))
            yield Difference(Kind.CODE, ("code",), *codes)
        one, other = (_without_code(body) for body in (one, other))
    yield from differences(one, other, replace(reading, refused=refused, echoes=echoes))


def inputs_of(request: Request) -> frozenset[str]:
    """Return the texts that a request carries as inputs, in lower case."""
    found = [value for _, value in pairs_or(request.query)]
    found += [value for value in request.members.values() if isinstance(value, str)]
    return frozenset(text.lower() for text in found if text)


def _without_code(body: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in body.items() if name != "code"}


def _trouble(exchange: Exchange) -> str:
    return str(exchange.answer.trouble) if exchange.answer.trouble else ""


def _outcome(exchange: Exchange) -> str:
    if exchange.succeeded:
        return "success"
    return "refusal" if exchange.refused else "neither"


def _told(exchange: Exchange) -> str:
    code = f", code {exchange.code}" if exchange.code is not None else ""
    said = exchange.member("msg")
    words = f": {said[:100]}" if isinstance(said, str) and not exchange.succeeded else ""
    return f"{_outcome(exchange)} (HTTP {exchange.answer.status}{code}){words}"


def _media_type(exchange: Exchange) -> str:
    text = exchange.answer.header("Content-Type") or "none"
    return text.partition(";")[0].strip().lower()
