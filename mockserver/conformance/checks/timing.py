"""Rules about how long answers take."""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise

from mockserver.conformance.checks.evidence import said, sent, successes
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Sayings
from mockserver.conformance.requests.slower import again, is_far_slower
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, Trouble
from mockserver.conformance.verdict import Inconclusive
from mockserver.contract import Operation

_CONFIRMED = 3
"""How many late answers are no accident any more."""
GRACE_MS = 150
"""What the way there and back may take beside the request's own time-out, in milliseconds."""


def keeps_expire_time(context: RunContext, operation: Operation) -> Findings:
    every = [one for one in sent(context, operation) if _expires_ms(one) is not None]
    if not every:
        raise Inconclusive("no request with an expireTime was sent")
    late = [one for one in every if is_late(one)]
    if len(late) == 1:
        # A machine that was busy for a while explains it as well.
        raise Inconclusive(f"one of {len(every)} answers came late, and no other")
    if late:
        worst = max(late, key=_taken_ms)
        message = f"the answer took {_taken_ms(worst)} ms, expireTime is {_expires_ms(worst)} ms"
        yield Finding(message, (worst,), "headers.expireTime", cause="late")
    else:
        _check_answered(every)


def _taken_ms(exchange: Exchange) -> int:
    return exchange.answer.elapsed_ms


def _check_answered(every: Sequence[Exchange]) -> None:
    if not any(one.whole for one in every):
        raise Inconclusive(f"no request was answered: {said(every[0])}")


def is_late(exchange: Exchange) -> bool:
    """Tell whether an answer took longer than the `expireTime` of its request allows."""
    given = _expires_ms(exchange)
    return given is not None and exchange.takes_longer_than(given + GRACE_MS)


def _expires_ms(exchange: Exchange) -> int | None:
    text = exchange.request.headers.get("expireTime", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else None


def answers_in_time(context: RunContext, operation: Operation) -> Findings:
    every = sent(context, operation)
    slow = [one for one in every if one.takes_longer_than(context.slow_ms)]
    if not slow:
        _check_answered(every)
        return
    worst = max(slow, key=_taken_ms)
    many = f"{len(slow)} of {len(every)} answers took more than {context.slow_ms} ms"
    told = f"{many}, the longest {_taken_ms(worst)} ms"
    if not _is_confirmed(slow, every):
        # A machine that was busy for a while explains it as well.
        raise Inconclusive(f"{told}, and not each time that the same was asked")
    yield Finding(told, (worst,), cause="slow")


def _is_confirmed(slow: list[Exchange], every: tuple[Exchange, ...]) -> bool:
    """Tell whether half of an operation's answers came late, or all to one and the same request.

    Two in a row that never came are enough: a run asks for no more of them.
    """
    hung = [one.answer.trouble is Trouble.TIMED_OUT for one in every]
    if any(one and other for one, other in pairwise(hung)):
        return True
    if len(slow) >= _CONFIRMED and len(slow) * 2 >= len(every):
        return True
    asked, late = Counter(map(_wanted, every)), Counter(map(_wanted, slow))
    return any(asked[wanted] == times >= _CONFIRMED for wanted, times in late.items())


def _wanted(exchange: Exchange) -> Hashable:
    request = exchange.request
    return request.method, request.path, request.query, request.body


def answers_as_soon_as_its_kind(context: RunContext, operation: Operation) -> Sayings:
    if successes(context, operation):
        yield JUDGED
    for looks, usual_ms in again(context, operation.id):
        yield JUDGED
        if is_far_slower(looks, usual_ms):
            times = ", ".join(str(_taken_ms(one)) for one in looks)
            told = f"answers took {times} ms, while others of its kind took {usual_ms:.0f} ms"
            yield Finding(told, (looks[-1],), cause="slower than its kind")
            return
