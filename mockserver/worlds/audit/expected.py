"""What a client was to bring about, held against what its orders have moved."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import OrderView
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import plain
from mockserver.wording import times
from mockserver.worlds.audit.finding import Finding, Money
from mockserver.worlds.audit.money_traffic import Evidence
from mockserver.worlds.claims_and_expectations import FIELDS, Expected

KIND = "not-as-expected"
# The share by which less may arrive, where nothing says how much: prices move (survive §3).
_TOLERANCE = Decimal("0.01")
# In how many fields a payment may differ and still be taken for what was meant by another.
_MOST_DIFFERENT = 2


@dataclass(frozen=True, slots=True)
class Moved:
    """What an order moves, and what has become of it at the end.

    Amounts are whole tokens; `arrived` and `returned` are 0 where nothing did; `reported` tells
    whether there is a ticket about it.
    """

    order: str
    token: str
    amount: Decimal
    source: str
    target: str
    bought: str
    recipient: str
    paid: Money
    arrived: Decimal
    returned: Decimal
    reported: bool

    def __str__(self) -> str:
        into = f" into {self.bought}" if self.bought != self.token else ""
        return (
            f"{self.paid} from {self.source} to {self.target}{into} for {self.recipient} "
            f"(order {self.order})"
        )


def moved_in(evidence: Evidence) -> tuple[Moved, ...]:
    """Return what the orders of a world move, in the order of submission."""
    return tuple(_moved(evidence, view) for view in evidence.ends if view.order.amount)


def expected_of(moved: Iterable[Moved]) -> tuple[Expected, ...]:
    """Return what another run has to do to do the same: every transfer that arrived."""
    counts: dict[Expected, int] = {}
    for done in moved:
        if done.arrived:
            fields: dict[str, Any] = {name: getattr(done, name) for name in FIELDS}
            same = Expected(**fields, arrives=done.arrived)
            counts[same] = counts.get(same, 0) + 1
    return tuple(replace(same, times=count) for same, count in counts.items())


def announced(evidence: Evidence) -> frozenset[str]:
    """Return the orders whose transfers somebody said are to happen, and how often."""
    expects = evidence.beliefs.expects
    if not expects:
        return frozenset()
    books = moved_in(evidence)
    wanted = [
        done for done in books if any(not expectation.differences(done) for expectation in expects)
    ]
    return frozenset(done.order for done in wanted)


def as_announced(evidence: Evidence) -> Iterator[Finding]:
    """Find what is otherwise than somebody said in the world; other transfers are left alone."""
    expects, count = evidence.beliefs.expects, evidence.inherited_expects
    if expects:
        left = (*_left(evidence, expects[:count]), *expects[count:])
        yield from not_as_expected(evidence, left, nothing_else=False)


def _left(evidence: Evidence, expects: Iterable[Expected]) -> Iterator[Expected]:
    """Yield what is left of expectations of before a fork, without what had happened by then."""
    books = [_moved(evidence, view) for view in evidence.inherited if view.order.amount]
    arrived = [done for done in books if done.arrived]
    for wanted in sorted(expects, key=_vagueness):
        done = [each for each in arrived if not wanted.differences(each)][: wanted.times]
        for each in done:
            arrived.remove(each)
        yield replace(wanted, times=wanted.times - len(done))


def not_as_expected(
    evidence: Evidence, expected: Sequence[Expected], *, nothing_else: bool
) -> Iterator[Finding]:
    """Find transfers that were to happen and did not, or happened otherwise or too often.

    With `nothing_else` any other transfer that arrives is a finding as well.
    """
    books = list(moved_in(evidence))
    missing: list[tuple[Expected, int]] = []
    # What says more is matched first, so that what says less does not take its transfers.
    for wanted in sorted(expected, key=_vagueness):
        fitting = [done for done in books if done.arrived and not wanted.differences(done)]
        for done in fitting[: wanted.times]:
            books.remove(done)
            yield from _less(evidence, wanted, done)
        if len(fitting) < wanted.times:
            missing.append((wanted, wanted.times - len(fitting)))
    for wanted, count in missing:
        for _ in range(count):
            yield _missing(evidence, wanted, books)
    for done in [done for done in books if done.arrived]:
        again = next((wanted for wanted in expected if not wanted.differences(done)), None)
        if again is not None:
            often = f"{again}: expected {times(again.times)}, and {done} arrives beyond that"
            yield _finding("times", often, evidence, done, (done.paid,))
        elif nothing_else:
            yield _finding("unexpected", f"{done} was not expected", evidence, done, (done.paid,))


def _missing(evidence: Evidence, wanted: Expected, books: list[Moved]) -> Finding:
    """Return why something expected is missing, and take what was done in its place."""
    same = next((done for done in books if not wanted.differences(done)), None)
    if same is not None:
        books.remove(same)
        if same.returned:
            return _finding("returned", f"{wanted}: expected, and {same} came back", evidence, same)
        if same.reported:
            text = f"{wanted}: expected, and {same} does not arrive; there is a ticket about it"
            return _finding("reported", text, evidence, same)
        text = f"{wanted}: expected, and {same} does not arrive"
        return _finding("lost", text, evidence, same, (same.paid,))
    arrived = [done for done in books if done.arrived]
    near = min(arrived, key=lambda done: len(wanted.differences(done)), default=None)
    if near is None or len(wanted.differences(near)) > _MOST_DIFFERENT:
        return Finding(
            KIND, f"{wanted}: expected, and nothing of the kind was paid", cause="missing"
        )
    books.remove(near)
    difference = " and ".join(wanted.differences(near))
    text = f"{wanted}: expected, and {near} arrives: another {difference}{_magnitude(wanted, near)}"
    return _finding("otherwise", text, evidence, near, (near.paid,))


def _magnitude(wanted: Expected, near: Moved) -> str:
    """Name a power of ten between two amounts, which is what a mistake of decimals makes."""
    if wanted.amount is None or not near.amount or wanted.amount == near.amount:
        return ""
    ratio = (
        near.amount / wanted.amount if near.amount > wanted.amount else wanted.amount / near.amount
    )
    digits, power = str(int(ratio)), len(str(int(ratio))) - 1
    if ratio != int(ratio) or digits != "1" + "0" * power:
        return ""
    return f", 10^{power} times {'too much' if near.amount > wanted.amount else 'too little'}"


def _less(evidence: Evidence, wanted: Expected, done: Moved) -> Iterator[Finding]:
    if wanted.arrives is None or done.arrived >= wanted.arrives * (1 - _TOLERANCE):
        return
    least, got = (f"{plain(amount)} {done.bought}" for amount in (wanted.arrives, done.arrived))
    text = f"{wanted}: {least} was expected to arrive, and {got} does (order {done.order})"
    yield _finding("less", text, evidence, done, (done.paid,))


def _finding(
    cause: str, text: str, evidence: Evidence, done: Moved, costs: Sequence[Money] = ()
) -> Finding:
    made = evidence.requests_of(done.order)
    return Finding(KIND, text, (done.order,), made, costs=costs, cause=cause)


def _moved(evidence: Evidence, end: OrderView) -> Moved:
    order, route = end.order, end.order.route
    source, target = evidence.source_of(order), evidence.target_of(order)
    paid = Money.of(order.amount, source)
    return Moved(
        order=order.id,
        token=route.source_token,
        amount=paid.whole_tokens,
        source=route.source_chain,
        target=route.target_chain,
        bought=route.target_token,
        recipient=order.recipient,
        paid=paid,
        arrived=Money.of(
            end.amount_out if end.status is Status.SUCCEEDED else 0, target
        ).whole_tokens,
        returned=Money.of(end.back_amount, source).whole_tokens,
        reported=order.ticket_ms is not None,
    )


def _vagueness(wanted: Expected) -> int:
    return sum(getattr(wanted, name) is None for name in FIELDS)
