"""How long answers take: against `expireTime`, against others of their kind, throughout a run."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from statistics import median

from mockserver.conformance.checks.check_decorators import counting
from mockserver.conformance.checks.judged_exchanges import any_successes, check_answered, sent
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, RulePack
from mockserver.conformance.checks.shared_probes import EVERY, LISTS, V1_ORDERS, V2_QUOTES, probes
from mockserver.conformance.requests.late_answer_retries import again, is_far_slower
from mockserver.conformance.requests.probe import PLAIN
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, NoAnswer
from mockserver.conformance.verdict import Inconclusive
from mockserver.contract import Layer, Operation, ids
from mockserver.fast_dataclass import grouped

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
    """Tell whether half of an operation's answers came late, or all to one and the same request."""
    # Two in a row that never came are enough: the run sends no more of them.
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


# So many answers show a pattern, in so many parts of a run, or of the answers of an operation.
_FEWEST_ANSWERS, _PARTS = 200, 10
_FEWEST_OF_OPERATION, _PARTS_OF_OPERATION, _FEWEST_KINDS = 40, 4, 4
_LATE_TIMES, _LATE_MS = 10, 100
_LEAST_LATE_SHARE, _MOST_LATE_SHARE = 0.03, 0.4
# A busy machine delays answers by whatever it has to do, and of all operations; what waits on
# purpose waits alike.
_MOST_LATE_SPREAD, _MOST_LATE_ELSEWHERE = 2, 0.2
# The quickest answers of each part show what a service takes at least, however busy the machine is.
_QUICKEST = 0.1
_RISE_TIMES, _RISE_MS = 3, 60
# How far each step may be from an even one: what rises all at once has another reason.
_LEAST_STEP, _MOST_STEP = 0.3, 2.2


@_PACK.minor("http.steady", ids.CHAINS, needs=(PLAIN,), reads=EVERY)
@counting(vacuous="too few answers came to show a pattern")
def answers_take_as_long_throughout_a_run(context: RunContext, _: Operation) -> Judgements:
    """Neither is each so many answers late, nor does each take longer than the one before."""
    every = [exchange for exchange in context.exchanges if exchange.has_answer]
    if len(every) < _FEWEST_ANSWERS:
        return
    yield JUDGED
    for of, answers, late in _late_again_and_again(every):
        times = f"{_taken_ms(late[0])} to {_taken_ms(late[-1])} ms"
        usual = f"the usual ones {_usual_ms(answers):.0f} ms"
        message = f"{len(late)} of {len(answers)} answers{of} took {times}, {usual}"
        yield Finding(message, (late[-1],), cause="late again and again")
        break
    rising = _rising(every)
    if rising:
        first, last = rising
        message = f"the quickest answers took {first} ms at first and {last} ms at last, ever more"
        yield Finding(message, (every[-1],), cause="ever later")


def _usual_ms(every: Sequence[Exchange]) -> float:
    return median(map(_taken_ms, every))


def _late_again_and_again(
    every: Sequence[Exchange],
) -> Iterator[tuple[str, Sequence[Exchange], list[Exchange]]]:
    """Yield the late answers, by their time, among all that read, or those of one operation."""
    # Submissions come in a row, and are few operations: what is read may be late, and they not.
    reads = [each for each in every if not each.operation.writes]
    late = _late_among(reads, _PARTS)
    if len({each.operation.id for each in late}) >= _FEWEST_KINDS:
        yield "", reads, late
    for operation_id, mine in grouped(every, lambda each: each.operation.id).items():
        late = _late_among(mine, _PARTS_OF_OPERATION) if len(mine) >= _FEWEST_OF_OPERATION else []
        others = [each for each in every if each.operation.id != operation_id]
        if late and others:
            bound = _taken_ms(late[0]) / _MOST_LATE_SPREAD
            elsewhere = sum(_taken_ms(each) >= bound for each in others) / len(others)
            if elsewhere <= _MOST_LATE_ELSEWHERE * len(late) / len(mine):
                yield f" of {operation_id}", mine, late


def _late_among(every: Sequence[Exchange], count: int) -> list[Exchange]:
    """Return the late answers, by their time, where some come in each of so many parts alike."""
    usual = _usual_ms(every)
    bound = max(usual * _LATE_TIMES, usual + _LATE_MS)
    late = sorted((each for each in every if _taken_ms(each) >= bound), key=_taken_ms)
    if not _LEAST_LATE_SHARE * len(every) <= len(late) <= _MOST_LATE_SHARE * len(every):
        return []
    shortest, longest = (_taken_ms(late[len(late) * tenth // 10]) for tenth in (1, 9))
    numbers = {each.number for each in late}
    in_each = all(any(each.number in numbers for each in part) for part in _parts(every, count))
    return late if in_each and longest <= shortest * _MOST_LATE_SPREAD else []


def _parts(every: Sequence[Exchange], count: int) -> list[Sequence[Exchange]]:
    size = len(every) // count
    return [every[start : start + size] for start in range(0, size * count, size)]


def _rising(every: Sequence[Exchange]) -> tuple[int, int] | None:
    """Return the times of the quickest answers at first and at last where these rise evenly."""
    parts = [sorted(map(_taken_ms, part)) for part in _parts(every, _PARTS)]
    quickest = [times[int(len(times) * _QUICKEST)] for times in parts]
    first, last = quickest[0], quickest[-1]
    even = (last - first) / (_PARTS - 1)
    if last - first < _RISE_MS or last < first * _RISE_TIMES:
        return None
    steps = [later - earlier for earlier, later in pairwise(quickest)]
    is_even = all(_LEAST_STEP * even <= step <= _MOST_STEP * even for step in steps)
    return (first, last) if is_even else None
