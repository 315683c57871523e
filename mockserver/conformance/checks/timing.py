"""Rules about HTTP and JSON: statuses, connections, bodies as bytes, and how long answers take."""

from collections import Counter
from collections.abc import Hashable
from itertools import pairwise

from mockserver.conformance.checks.evidence import (
    any_successes,
    check_answered,
    sent,
)
from mockserver.conformance.checks.frame import counting
from mockserver.conformance.checks.probes import EVERY, LISTS, V1_ORDERS, V2_QUOTES, probes
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, RulePack
from mockserver.conformance.requests.late_answers import again, is_far_slower
from mockserver.conformance.requests.probe import PLAIN
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, NoAnswer
from mockserver.conformance.verdict import Inconclusive
from mockserver.contract import Layer, Operation, ids

# Fewer late answers may be an accident.
_FEWEST_LATE_ANSWERS = 3
GRACE_MS = 150
"""What the network may take on top of the request's own time-out, in milliseconds."""

_PACK = RulePack(Layer.TIMING, every_exchange=True)


@_PACK.major(
    "limits.expire-time",
    *V1_ORDERS,
    needs=(
        *probes(ids.V1_QUOTE, "usual", "short expireTime"),
        *probes(ids.V1_RAW, "usual"),
        *probes(ids.V1_ORDER, "usual"),
        *probes(ids.V1_DETAIL, "usual"),
    ),
)
def keeps_expire_time(context: RunContext, operation: Operation) -> Findings:
    """A v1 request is answered within the time that its `expireTime` gives."""
    every = [exchange for exchange in sent(context, operation) if _expires_ms(exchange) is not None]
    if not every:
        raise Inconclusive("no request with an expireTime was sent")
    late = [exchange for exchange in every if is_late(exchange)]
    if len(late) == 1:
        # A machine that was busy for a while explains it as well.
        raise Inconclusive(f"one of {len(every)} answers came late, and no other")
    if late:
        worst = max(late, key=_taken_ms)
        message = f"the answer took {_taken_ms(worst)} ms, expireTime is {_expires_ms(worst)} ms"
        yield Finding(message, (worst,), "headers.expireTime", cause="late")
    else:
        check_answered(every)


def _taken_ms(exchange: Exchange) -> int:
    return exchange.answer.elapsed_ms


def is_late(exchange: Exchange) -> bool:
    """Tell whether an answer took longer than the `expireTime` of its request allows."""
    expires_ms = _expires_ms(exchange)
    return expires_ms is not None and exchange.takes_longer_than(expires_ms + GRACE_MS)


def _expires_ms(exchange: Exchange) -> int | None:
    text = exchange.request.headers.get("expireTime", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else None


@_PACK.minor("http.time", *EVERY, needs=(PLAIN,))
def answers_in_time(context: RunContext, operation: Operation) -> Findings:
    """Answers arrive within three seconds, or the time that `--set slow` gives."""
    every = sent(context, operation)
    slow = [exchange for exchange in every if exchange.takes_longer_than(context.slow_ms)]
    if not slow:
        check_answered(every)
        return
    worst = max(slow, key=_taken_ms)
    many = f"{len(slow)} of {len(every)} answers took more than {context.slow_ms} ms"
    times = f"{many}, the longest {_taken_ms(worst)} ms"
    if not _is_confirmed(slow, every):
        # A machine that was busy for a while explains it as well.
        raise Inconclusive(f"{times}, and not each time that the same was requested")
    yield Finding(times, (worst,), cause="slow")


def _is_confirmed(slow: list[Exchange], every: tuple[Exchange, ...]) -> bool:
    """Tell whether half of an operation's answers came late, or all to one and the same request.

    Two in a row that never came are enough: the run sends no more of them.
    """
    hung = [exchange.answer.trouble is NoAnswer.TIMED_OUT for exchange in every]
    if any(first and second for first, second in pairwise(hung)):
        return True
    if len(slow) >= _FEWEST_LATE_ANSWERS and len(slow) * 2 >= len(every):
        return True
    counts, late = Counter(map(_request_key, every)), Counter(map(_request_key, slow))
    return any(counts[request] == times >= _FEWEST_LATE_ANSWERS for request, times in late.items())


def _request_key(exchange: Exchange) -> Hashable:
    request = exchange.request
    return request.method, request.path, request.query, request.body


@_PACK.minor(
    "http.kind",
    *LISTS,
    *V2_QUOTES,
    ids.SWAP,
    ids.CHECK,
    ids.BALANCE,
    ids.PRICE,
    ids.TICKETS,
    ids.CHECK_TICKET,
    needs=(PLAIN,),
)
@counting(not_shown="no operation of its kind was answered often enough")
def answers_as_soon_as_its_kind(context: RunContext, operation: Operation) -> Judgements:
    """No answer repeatedly takes ten times as long as other answers of its kind."""
    if any_successes(context, operation):
        yield JUDGED
    for looks, typical_ms in again(context, operation.id):
        yield JUDGED
        if is_far_slower(looks, typical_ms):
            times = ", ".join(str(_taken_ms(exchange)) for exchange in looks)
            message = f"answers took {times} ms, while others of its kind took {typical_ms:.0f} ms"
            yield Finding(message, (looks[-1],), cause="slower than its kind")
            return
