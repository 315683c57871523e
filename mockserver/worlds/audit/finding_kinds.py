"""The kinds of findings: what is wrong with money, in the words of wallet developers."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from mockserver import markdown
from mockserver.fast_dataclass import dataclass
from mockserver.worlds.audit.claimed import not_as_claimed
from mockserver.worlds.audit.doubled import doubled
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
from mockserver.worlds.audit.money_traffic import Evidence
from mockserver.worlds.audit.paid import misdirected
from mockserver.worlds.audit.received_less_than_quoted import short
from mockserver.worlds.audit.uses_of_quotes import misquoted

_ABOUT = """\
What `crosschain-mock audit` reports. Names choose kinds: `audit two-orders`, `--without short`,
or `audit="two-orders,other-quote"` on the marker. How to use it says
[Find money that is doubled, lost or stuck](../how-to/audit.md)."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding: what it is, and how it is found."""

    summary: str
    find: Callable[[Evidence], Iterator[Finding | None]]
    """None stands for a step without a finding, after which others may have their turn."""


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "two-orders": Kind(
            "a transfer was paid for twice: the answer to the first submission was lost, there "
            "was one quote for both, or the first was late",
            doubled,
        ),
        "deposit-without-order": Kind(
            "a deposit was submitted, or sent to the service on a chain, and there is no order "
            "for it, nor a ticket that can help",
            lost_deposits,
        ),
        "paid-otherwise": Kind(
            "the transaction of a deposit pays somebody else, another token or another amount "
            "than was submitted, or nothing; or one deposit was submitted for two orders",
            misdirected,
        ),
        "short": Kind(
            "less arrived than was quoted: a swap was filled in part, the order's own rule 1 "
            "expected too little, or its recipient is nobody",
            short,
        ),
        "order-not-followed": Kind(
            "an order has a final status, or comes to a bad end, and no client knows",
            not_followed,
        ),
        "left-underway": Kind(
            "an order never ends by itself, and nobody has filed a ticket, whoever has looked",
            left_underway,
        ),
        "refund-not-noticed": Kind("the deposit was refunded, and no client knows", not_noticed),
        "drop-not-reported": Kind(
            "a client knows that its order was dropped, and opened no ticket, without which the "
            "money is not refunded",
            not_reported,
        ),
        "ticket-not-followed": Kind(
            "a ticket was resolved, and nobody has ever looked at it", tickets_not_followed
        ),
        "unknown-id": Kind(
            "nobody looks an order up, while an id was looked up that no answer had", unknown_ids
        ),
        "other-quote": Kind(
            "an order was paid without a quote, with an old one, or with another expected amount "
            "than the newest quote",
            misquoted,
        ),
        "not-as-claimed": Kind("somebody believes of an order what is not so", not_as_claimed),
        "not-as-expected": Kind(
            "a transfer that was to happen did not, or too often, or otherwise", as_announced
        ),
    }
)
"""The kinds of findings by name."""


def page() -> str:
    """Return the reference page of the kinds."""
    rows = ((f"`{name}`", kind.summary) for name, kind in KINDS.items())
    return markdown.page("Findings of the audit", _ABOUT, markdown.table(("kind", "means"), rows))
