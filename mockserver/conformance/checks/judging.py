"""The frame around checks: it counts what they judged, so that they say only what is wrong."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

from mockserver.conformance.checks.evidence import check_edges_are_asked
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


def each(
    check: Callable[[RunContext, Any], Iterator[Said]],
    things: Callable[[RunContext, Operation], Iterable[Any]],
    place: str,
) -> Judging:
    """Make a check of one that judges a thing at a time: an exchange, or a quote.

    A finding that names no exchange is shown by that of the thing, and one that names no place is
    at `place`.
    """

    def judged(context: RunContext, operation: Operation) -> Iterator[Said]:
        for thing in things(context, operation):
            exchange = thing if isinstance(thing, Exchange) else thing.exchange
            for said in check(context, thing):
                yield _placed(said, (exchange,), place) if isinstance(said, Finding) else said

    return judged


def paired(
    check: Callable[[RunContext, Exchange, Exchange], Iterator[Finding]],
    names: Sequence[str],
    place: str,
) -> Check:
    """Make a check of one that judges two answers together, of probes that both succeeded.

    `names` are those of the probes behind their operation. A finding that names no exchange is
    shown by both, and one that names no place is at `place`.
    """

    def judged(context: RunContext, operation: Operation) -> Iterator[Finding]:
        one, other = context.require_each(*(f"{operation.id}/{name}" for name in names))
        for found in check(context, one, other):
            yield _placed(found, (one, other), place)

    return judged


def _placed(found: Finding, exchanges: tuple[Exchange, ...], place: str) -> Finding:
    return replace(found, exchanges=found.exchanges or exchanges, place=found.place or place)


def counted(
    check: Judging, kind: type[Vacuous | NotApplicable], reason: str, requires: Sequence[str] = ()
) -> Check:
    """Make a check of one that says what it judged.

    Where it judged nothing, `kind` is raised with the reason: there was nothing, or the description
    does not show what was looked for. A better reason is that one of the probes in `requires` was
    not sent, or did not succeed; or that there were to be none at the `edges` of inputs.
    """

    def counting(context: RunContext, operation: Operation) -> Iterator[Finding]:
        judged = 0
        for said in check(context, operation):
            judged += 1
            if isinstance(said, Finding):
                yield said
        if judged == 0:
            for one in requires:
                check_edges_are_asked(context) if one == "edges" else context.require_success(one)
            raise kind(reason)

    return counting


def named(context: RunContext, exchange: Exchange, *, member: str) -> Iterator[Said]:
    name = exchange.data.get(member)
    if isinstance(name, str):
        yield JUDGED
        if not name.strip():
            yield Finding(f"{member} is an empty text")
