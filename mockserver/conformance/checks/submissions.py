"""What holds of everything that is submitted: known, numbered, made once, and settled once.

Which thing it is, the table of rules says.
"""

from mockserver.conformance.checks.comparing import says_it_is_away
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Sayings
from mockserver.conformance.checks.submitted import (
    KINDS,
    V1_ORDER,
    Property,
    Submitted,
    Timeline,
    breaking,
)
from mockserver.conformance.discovery.amount_units import V1_QUOTE
from mockserver.conformance.discovery.listing import text
from mockserver.conformance.requests.words import END
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive
from mockserver.contract import Operation


def is_known(context: RunContext, _: Operation, *, kind: str, cause: str = "") -> Sayings:
    what = KINDS[kind]
    for name, made in what.made(context).items():
        looks = [one for one in what.seen(context, name) if one.succeeded or one.refused]
        for number, look in enumerate(looks):
            yield JUDGED
            later = any(one.succeeded for one in looks[number + 1 :])
            # It was busy, or what was submitted took its time to show: not that it is unknown.
            if look.refused and not later and not says_it_is_away(look):
                _check_stamps(context, what, look)
                said = text(look.member("msg"))[:160]
                message = f"{what.called} {what.number(made)!r} was accepted, and is not known"
                message += f": {said!r}" if said else ""
                yield Finding(message, (made, look), what.key, cause=cause)
                break


def _check_stamps(context: RunContext, what: Submitted, look: Exchange) -> None:
    """Raise `Inconclusive` where a later refusal may be about the age of a v1 request's stamp."""
    if what is not V1_ORDER or look.probe.partition("/")[2] in what.looks:
        return
    if not any(control.succeeded for control in context.sent(f"{V1_QUOTE}/{END}")):
        raise Inconclusive("v1 no longer takes requests with these stamps, a quote neither")


def has_its_own_number(context: RunContext, _: Operation, *, kind: str, cause: str = "") -> Sayings:
    what = KINDS[kind]
    found: dict[str, Exchange] = {}
    called = what.place.rpartition(".")[2]
    for one in what.made(context).values():
        number = what.number(one).strip()
        before = found.setdefault(number, one) if number else None
        if before is None:
            if what.shown and isinstance(one.data.get(called), str):
                yield Finding(f"{called} is an empty text", (one,), what.place)
        elif before is not one:
            message = f"two {what.called}s have the {called} {number!r}"
            yield Finding(message, (before, one), what.place, cause=cause)
        elif len(found) > 1:
            yield JUDGED


def is_one(context: RunContext, _: Operation, *, kind: str) -> Findings:
    what = KINDS[kind]
    one = context.require_success(f"{what.operation_id}/usual")
    again = context.require(f"{what.operation_id}/same again")
    if not again.whole:
        reason = again.answer.reason
        raise Inconclusive(f"the second {what.submission} was not answered: {reason}")
    first, second = what.number(one), what.number(again)
    if again.succeeded and what.is_second(first, second):
        message = f"one {what.submission} makes the {what.called}s {first!r} and {second!r}"
        yield Finding(message, (one, again), what.place)


def keeps_its_end(context: RunContext, _: Operation, *, kind: str, cause: str = "") -> Sayings:
    what = KINDS[kind]
    for looks in what.lines(context):
        line = Timeline(what)
        for look in looks:
            change = breaking(line, look, Property.ENDS_ONCE)
            if change is not None:
                now = str(change.now)[:60]
                message = f"the {what.called} was {change.was!r}, and is {now!r} later"
                yield Finding(message, change.looks, what.status_place, cause=cause)
                break
            if what.is_over(look):
                yield JUDGED
