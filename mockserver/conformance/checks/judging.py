"""The frame around checks: it counts what they judged, so that they say only what is wrong."""

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import wraps

from mockserver.conformance.checks.rule import Check, Finding
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import NotApplicable, Vacuous
from mockserver.contract import Operation


class Judged(Enum):
    """Says that there was something to judge; what is wrong with it follows as findings."""

    ONE = "one"


JUDGED = Judged.ONE
"""Yielded for each thing that a check looked at and could have found fault with."""

Said = Finding | Judged
Judging = Callable[[RunContext, Operation], Iterator[Said]]
"""A check that says what it judged. It raises what every check may raise."""


def judging(
    otherwise: str,
    *,
    first: Callable[[RunContext], object] | None = None,
    raising: type[Vacuous | NotApplicable] = Vacuous,
) -> Callable[[Judging], Check]:
    """Make a check of one that says what it judged.

    Where it judged nothing the outcome is vacuous, and `otherwise` is the reason; `raising` is
    `NotApplicable` where the description does not show what was looked for. Before that `first` may
    raise a better one: that a request was not sent, or not answered.
    """

    def framed(check: Judging) -> Check:
        @wraps(check)
        def counted(context: RunContext, operation: Operation) -> Iterator[Finding]:
            judged = 0
            for said in check(context, operation):
                judged += 1
                if isinstance(said, Finding):
                    yield said
            if judged == 0:
                if first is not None:
                    first(context)
                raise raising(otherwise)

        return counted

    return framed


def named(exchanges: Iterable[Exchange], member: str) -> Iterator[Said]:
    """Judge the answers that have a text in a member of their data: it is not empty."""
    for exchange in exchanges:
        name = exchange.data.get(member)
        if isinstance(name, str):
            yield JUDGED
            if not name.strip():
                yield Finding(f"{member} is an empty text", (exchange,), f"data.{member}")
