"""The kinds of findings: what is wrong with money, in the words of wallet developers."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from mockserver.values import dataclass
from mockserver.worlds.audit.claimed import not_as_claimed
from mockserver.worlds.audit.doubled import doubled
from mockserver.worlds.audit.evidence import Evidence
from mockserver.worlds.audit.expected import as_announced
from mockserver.worlds.audit.finding import Finding
from mockserver.worlds.audit.followed import (
    left_underway,
    not_followed,
    not_noticed,
    not_reported,
    tickets_not_followed,
    unknown_ids,
)
from mockserver.worlds.audit.lost import lost_deposits
from mockserver.worlds.audit.paid import misdirected
from mockserver.worlds.audit.quoted import misquoted
from mockserver.worlds.audit.received import short


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding: what it is, and how it is found."""

    summary: str
    find: Callable[[Evidence], Iterator[Finding | None]]
    """None stands for a step without a finding, after which others may have their turn."""


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "two-orders": Kind("two orders for one intent", doubled),
        "deposit-without-order": Kind("a deposit of which no order was made", lost_deposits),
        "paid-otherwise": Kind("a payment that is other than what was ordered", misdirected),
        "short": Kind("less arrived than was quoted", short),
        "order-not-followed": Kind("an order nobody looked at to its end", not_followed),
        "left-underway": Kind("an order that never ends, given up without a ticket", left_underway),
        "refund-not-noticed": Kind("a refund nobody noticed", not_noticed),
        "drop-not-reported": Kind("a dropped order without the ticket that lifts it", not_reported),
        "ticket-not-followed": Kind("a resolved ticket nobody looked at", tickets_not_followed),
        "unknown-id": Kind("an order nobody looks up, beside an id no answer had", unknown_ids),
        "other-quote": Kind("no quote, or one older or other than what was paid", misquoted),
        "not-as-claimed": Kind(
            "an order of which somebody believes what is not so", not_as_claimed
        ),
        "not-as-expected": Kind("a transfer that was to happen, and did not", as_announced),
    }
)
"""The kinds of findings by name."""
