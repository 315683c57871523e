"""The frame around checks: it counts what they judged, so that they say only what is wrong."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from mockserver.conformance.checks import needs
from mockserver.conformance.checks.evidence import check_edges_are_asked
from mockserver.conformance.checks.rule import JUDGED, Check, Finding, Findings, Sayings
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Unjudged
from mockserver.contract import Operation

Judging = Callable[[RunContext, Operation], Sayings]
"""A check that says what it judged. It raises what every check may raise, and `Untold`."""


def each(
    check: Callable[[RunContext, Any], Findings],
    things: Callable[[RunContext, Operation], Iterable[Any]],
    place: str,
) -> Judging:
    """Make a check of one that judges a thing at a time: an exchange, or what has one.

    A finding that names no exchange is shown by that of the thing, and one that names no place is
    at `place`. A thing that does not tell what the check needs is passed over.
    """

    def judged(context: RunContext, operation: Operation) -> Sayings:
        for thing in things(context, operation):
            exchange = thing if isinstance(thing, Exchange) else thing.exchange
            try:
                for found in check(context, thing):
                    yield _placed(found, (exchange,), place)
            except needs.Untold:
                continue
            yield JUDGED

    return judged


def paired(
    check: Callable[[RunContext, Exchange, Exchange], Findings], names: Sequence[str], place: str
) -> Judging:
    """Make a check of one that judges two answers together, of probes that both succeeded.

    `names` are those of the probes behind their operation. A finding that names no exchange is
    shown by both, and one that names no place is at `place`.
    """

    def judged(context: RunContext, operation: Operation) -> Sayings:
        one, other = context.require_each(*(f"{operation.id}/{name}" for name in names))
        for found in check(context, one, other):
            yield _placed(found, (one, other), place)
        yield JUDGED

    return judged


def _placed(found: Finding, exchanges: tuple[Exchange, ...], place: str) -> Finding:
    return replace(found, exchanges=found.exchanges or exchanges, place=found.place or place)


def once(check: Judging) -> Judging:
    """Let a check tell of each cause at each place once, by what shows it first."""

    def told(context: RunContext, operation: Operation) -> Sayings:
        before: set[tuple[str, str]] = set()
        for said in check(context, operation):
            key = (said.place, said.cause) if isinstance(said, Finding) else None
            if key not in before:
                yield said
            if key is not None:
                before.add(key)

    return told


def counted(check: Judging, nothing: Unjudged | None, requires: Sequence[str] = ()) -> Check:
    """Make a check of one that says what it judged.

    Where it judged nothing, `nothing` is raised: there was nothing, or the description does not
    show what was looked for. A better reason is that one of the probes in `requires` was not sent,
    or did not succeed; or that there were to be none at the `edges` of inputs.
    """

    def counting(context: RunContext, operation: Operation) -> Findings:
        judged = 0
        try:
            for said in check(context, operation):
                judged += 1
                if isinstance(said, Finding):
                    yield said
        except needs.Untold:
            if nothing is None:
                raise
        if judged == 0 and nothing is not None:
            for one in requires:
                check_edges_are_asked(context) if one == "edges" else context.require_success(one)
            raise type(nothing)(*nothing.args)

    return counting


def named(_: RunContext, exchange: Exchange, *, member: str) -> Findings:
    if not needs.text(exchange, member).strip():
        yield Finding(f"{member} is an empty text")
