"""Requests that were answered far later than others of their kind, and how they are sent again.

A busy machine delays an answer now and then. So a late answer is reported only after its request
was sent again, in turn with a request of the same kind that had been answered at the usual time.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from statistics import median

from mockserver.conformance.requests.negative import is_negative
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.request_draft import Draft
from mockserver.contract import ids, shipped_facts
from mockserver.fast_dataclass import dataclass

KINDS = (
    shipped_facts().lists,
    (ids.BRIDGE,),
    (ids.SWAP_QUOTE, ids.SWAP),
    (ids.CHECK, ids.BALANCE, ids.PRICE, ids.TICKETS, ids.CHECK_TICKET),
)
"""Operations that do about the same work. Those whose requests are signed for one moment, and those
that change something, are not sent again."""
TIMES, MORE_MS = 10, 400
"""An answer is suspect from so many times the usual time on, if it is also so many ms above it."""
ROUNDS, FEWEST_ROUNDS = 4, 2
"""How often a request is sent again: where the budget has room, and at least."""
# Fewer answers do not show what is usual.
_FEWEST_ANSWERS = 5
_MOST_SUSPECTS = 2


@dataclass(frozen=True, slots=True)
class Suspect:
    """A late answer, by its number among those of its operation, and a usual one of its kind.

    Both are sent in turn, under names of their own in each round.
    """

    number: int
    late: Exchange
    typical: Exchange

    def probes(self, rounds: int) -> Iterator[tuple[str, Draft]]:
        late_id, typical_id = self.late.operation.id, self.typical.operation.id
        for turn in range(1, rounds + 1):
            yield _beside(typical_id, late_id, self.number, turn), _draft(self.typical)
            yield _again(late_id, self.number, turn), _draft(self.late)


def _again(late_id: str, number: int, turn: int) -> str:
    return f"{late_id}/slower than its kind, asked again: {late_id} {number}, {turn}"


def _beside(typical_id: str, late_id: str, number: int, turn: int) -> str:
    return f"{typical_id}/beside what is slower: {late_id} {number}, {turn}"


def _draft(exchange: Exchange) -> Draft:
    request = exchange.request
    return Draft(headers=dict(request.headers.items_sent), raw_query=request.query)


def suspects(context: RunContext) -> Iterator[Suspect]:
    """Yield late answers of each operation, but for those above the bound."""
    for kind in KINDS:
        taken = chain.from_iterable(map(context.successes, kind))
        every = [exchange for exchange in taken if not is_negative(exchange)]
        if len(every) < _FEWEST_ANSWERS:
            continue
        ordered = sorted(every, key=lambda exchange: exchange.answer.elapsed_ms)
        exchange = ordered[(len(ordered) - 1) // 2]
        bound = _bound(exchange.answer.elapsed_ms)
        by_request: dict[str, dict[str, Exchange]] = defaultdict(dict)
        for candidate in reversed(ordered):
            if bound <= candidate.answer.elapsed_ms <= context.slow_ms:
                by_request[candidate.operation.id].setdefault(candidate.request.query, candidate)
        for exchanges in by_request.values():
            for number, late in enumerate([*exchanges.values()][:_MOST_SUSPECTS], 1):
                yield Suspect(number, late, exchange)


def again(context: RunContext, operation_id: str) -> Iterator[tuple[Sequence[Exchange], float]]:
    """Yield the answers to each late request sent again, and the usual time of its kind, in ms."""
    kind = next((kind for kind in KINDS if operation_id in kind), ())
    for number in range(1, _MOST_SUSPECTS + 1):
        turns = range(1, ROUNDS + 1)
        late = context.sent(*(_again(operation_id, number, turn) for turn in turns))
        names = (_beside(each, operation_id, number, turn) for turn in turns for each in kind)
        beside = context.sent(*names)
        all_answered = all(exchange.has_answer for exchange in (*late, *beside))
        if all_answered and FEWEST_ROUNDS <= len(late) == len(beside):
            yield late, median(exchange.answer.elapsed_ms for exchange in beside)


def is_far_slower(looks: Sequence[Exchange], typical_ms: float) -> bool:
    """Tell whether each answer took far longer than what was sent in turn with it."""
    return min(exchange.answer.elapsed_ms for exchange in looks) >= _bound(typical_ms)


def _bound(typical_ms: float) -> float:
    return max(typical_ms * TIMES, typical_ms + MORE_MS)
