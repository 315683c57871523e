"""All that looks for evidence."""

from collections.abc import Callable

from mockserver.contract import Contract
from mockserver.learning.evidence import envelopes, orders, quotes, requests, token_lists
from mockserver.learning.evidence.observation import Observations, ServiceCalls

Witness = Callable[[ServiceCalls], Observations]

_WITNESSES: tuple[Witness, ...] = (
    requests.types,
    requests.v1_times,
    requests.address_numbers,
    requests.recipients,
    requests.unlisted_names,
    requests.decimals,
    envelopes.v1_success,
    envelopes.refusals,
    envelopes.unreadable_requests,
    envelopes.after_a_refusal,
    envelopes.http,
    envelopes.integers,
    token_lists.items,
    token_lists.versions,
    token_lists.v1_lists,
    token_lists.generations,
    token_lists.offers,
    quotes.balances,
    quotes.prices,
    quotes.members,
    quotes.relations,
    orders.statuses,
    orders.transitions,
    orders.v1_details,
    orders.deposits,
    orders.reports,
    orders.tickets,
)


def witnesses(contract: Contract) -> tuple[Witness, ...]:
    """Return the functions that yield what exchanges show of assumptions."""
    return (
        requests.forms(contract.assumptions),
        envelopes.codes_of_refusals(contract.refusals.values()),
        *_WITNESSES,
    )
