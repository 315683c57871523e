"""Orders and tickets that somebody has named, or that a list shows: known, and told alike."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from mockserver.conformance.checks import submitted
from mockserver.conformance.checks.comparing import says_it_is_away
from mockserver.conformance.checks.evidence import said
from mockserver.conformance.checks.judging import JUDGED, Said, judging
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery.listing import text
from mockserver.conformance.discovery.v1_data import scalar
from mockserver.conformance.requests.named import LISTED, LOOKS, NAMED, READ
from mockserver.conformance.requests.writes import CHECK, CHECK_TICKET, DETAIL, FILTERS, TICKETS
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import NotApplicable
from mockserver.contract import Operation, assumed
from mockserver.exchange import query_pairs
from mockserver.jsontext import Json

_LOOKS = {CHECK: (NAMED, LOOKS), DETAIL: (NAMED, LOOKS), CHECK_TICKET: (LISTED, LOOKS[:2])}
_LISTS = tuple(f"{TICKETS}/{READ} {kind}" for kind in FILTERS)
_ECHOED = {"hash": "hash", "fromChain": "chain"}
_NOBODY = "no order or ticket was named (--order, --ticket, --hash, --address)"


def _looks(context: RunContext, operation_id: str) -> Iterator[list[Exchange]]:
    """Yield the looks at each thing that was named, in the order of time."""
    names, times = _LOOKS[operation_id]
    for name in names:
        asked = [context.get(f"{operation_id}/{name}{look}") for look in times]
        found = [one for one in asked if one is not None and one.whole]
        if found:
            yield found


@judging(_NOBODY, raising=NotApplicable)
def what_was_named_is_known(context: RunContext, operation: Operation) -> Iterator[Said]:
    for looks in _looks(context, operation.id):
        yield JUDGED
        refused = [one for one in looks if one.refused and not says_it_is_away(one)]
        if refused:
            wanted = dict(query_pairs(refused[0].request.query))
            lists = [one for name in _LISTS if (one := context.get(name)) is not None]
            before = [one for one in looks if one.succeeded][:1] or lists
            yield Finding(
                f"{' '.join(map(str, wanted.values()))[:120]} is not known: {said(refused[0])}",
                (*(before if operation.id == CHECK_TICKET else before[:1]), refused[0]),
                "query",
                cause="not known",
            )
            return


@judging(_NOBODY, raising=NotApplicable)
def listed_tickets_are_told_alike(context: RunContext, operation: Operation) -> Iterator[Said]:
    listed = dict(_listed(context))
    for looks in _looks(context, CHECK_TICKET):
        told = [one for one in looks if one.succeeded]
        if not told:
            continue
        yield JUDGED
        first, last = told[0], told[-1]
        if first.data.get("succeeded") is True and last.data.get("succeeded") is False:
            basis = assumed("A-241", "a ticket that has succeeded stays so")
            message = "a ticket that had succeeded has not any more"
            yield Finding(message, (first, last), "data.succeeded", basis, cause="unsolved")
        wanted = dict(query_pairs(first.request.query)).get("ticketId", "")
        if wanted in listed and first.data == last.data:
            yield from _unlike(*listed[wanted], first)


def _listed(context: RunContext) -> Iterator[tuple[str, tuple[Exchange, Mapping[str, Json]]]]:
    for name in _LISTS:
        look = context.get(name)
        if look is not None and look.succeeded:
            for item in look.items():
                if isinstance(item, Mapping):
                    yield text(item.get("ticketId")), (look, item)


def _unlike(look: Exchange, item: Mapping[str, Json], check: Exchange) -> Iterator[Finding]:
    for name in ("succeeded", "solution"):
        here, there = check.data.get(name), item.get(name)
        if name in check.data and name in item and here != there:
            yield Finding(
                f"{name} is {str(here)[:60]!r} in checkTicket, {str(there)[:60]!r} in the list",
                (look, check),
                f"data.{name}",
                cause=name,
            )


@judging(_NOBODY, raising=NotApplicable)
def named_v1_orders_are_told_alike(context: RunContext, operation: Operation) -> Iterator[Said]:
    for looks in _looks(context, DETAIL):
        told = [one for one in looks if one.succeeded]
        for look in told[:1]:
            yield JUDGED
            yield from _of_another(look)
        for one, other in pairwise(told):
            over = submitted.V1_ORDER.is_over(one) and submitted.V1_ORDER.is_over(other)
            if over and one.data != other.data:
                message = "an order that has come to its end is told otherwise when asked again"
                yield Finding(message, (one, other), "data", SETTLED, cause="changed")
                break


def _of_another(look: Exchange) -> Iterator[Finding]:
    asked = dict(query_pairs(look.request.query))
    for role, name in _ECHOED.items():
        told = scalar(look.member("data"), role)
        if isinstance(told, str) and told and told.lower() != asked.get(name, "").lower():
            message = f"{name} of the order is {told[:80]!r}, asked was {asked.get(name)!r}"
            yield Finding(message, (look,), f"query.{name}")


SETTLED = assumed("A-241", "what has come to its end is told the same way each time")


PROBES: Mapping[str, tuple[str, ...]] = {
    **{
        f"named-{what}": tuple(f"{one}/{name}{look}" for look in times for name in names)
        for what, (one, (names, times)) in zip(
            ("orders", "v1-orders", "tickets"), _LOOKS.items(), strict=True
        )
    },
    "read-tickets": _LISTS,
}
"""The looks at what was named, and at the lists of its account."""
