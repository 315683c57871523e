"""Submissions, and the reads that follow them; sent only where writes are armed."""

from dataclasses import replace

from mockserver import jsontext
from mockserver.conformance.discovery import settling
from mockserver.conformance.discovery.amount_units import (
    BRIDGE,
    SWAP_QUOTE,
    V1_QUOTE,
    Reading,
    accepted,
    amount_text,
    usual_attempt,
)
from mockserver.conformance.discovery.routes import usual_amount
from mockserver.conformance.requests.valid import (
    SLIPPAGE,
    filled,
    fresh_address,
    fresh_hash,
    order,
    order_id,
    order_route,
    ticket,
    tickets,
    v1_detail,
    v1_order,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import NotRun

ORDER, CHECK = settling.ORDER, settling.CHECK
TICKET, CHECK_TICKET = settling.TICKET, settling.CHECK_TICKET
TICKETS = "v2.getAllTicketByAddress"
V1_ORDER, DETAIL = settling.V1_ORDER, settling.DETAIL
FILTERS = ("Unknown", "Pending", "Succeeded")
POLLS = tuple(f"poll {number}" for number in range(1, 7))
"""The looks at the first order, each some time after the one before."""
FEW_POLLS = POLLS[:3]
END, END_AGAIN = "at the end", "at the end again"
EARLY, LATE = "early", "late"
ANOTHER = "another address"
AGGREGATE, NO_CHAIN = "aggregate", "without optional inputs"
OTHER_CHAIN = "another chain"


def check(context: RunContext, submission: str) -> Draft:
    """Check the order that a submission was answered with."""
    return filled(context, CHECK, {"id": order_id(context, submission)})


def second_order(context: RunContext) -> Draft:
    """Order three times as much, so that the two orders pay out differently."""
    amount = usual_amount(context, order_route(context).source) * 3
    return order(context, fresh_hash(context, "second order"), amount)


def impossible_order(context: RunContext) -> Draft:
    """Order with a least output that no quote can reach, in the observed form of `extra`."""
    draft = order(context, fresh_hash(context, "impossible order"))
    target = order_route(context).target
    least = 10 ** ((target.decimals or 0) + 12)
    wanted = f"1_{least};3_2;4_{least};5_{target.chain}"
    return draft.having("body", "extra", wanted)


def aggregate_order(context: RunContext, deposit: str) -> Draft:
    """Return an order of the second type: a swap on one chain, with one percent of slippage."""
    draft = order(context, deposit)
    route = usual_attempt(context, SWAP_QUOTE).route
    source, target = route.source, route.target
    if source.index is None or target.index is None:
        raise NotRun(f"no list shows the indexes of {source.symbol} and {target.symbol}")
    told = jsontext.decode(bytes.fromhex(str(draft.part("body").get("sourceCerts", ""))))
    amount = amount_text(usual_amount(context, source), source, Reading.UNITS)
    spent = {"fromAmount": amount, "fromIndex": source.index, "fromChain": source.chain}
    certs = jsontext.encode({**(told if isinstance(told, dict) else {}), **spent}).hex()
    changes = {
        "orderType": "2",
        "slippage": SLIPPAGE,
        "sourceCerts": certs,
        "toIndex": target.index,
        "toChain": target.chain,
    }
    return replace(draft, body={**draft.part("body"), **changes})


def usual_aggregate_order(context: RunContext) -> Draft:
    """Order a swap on one chain."""
    return aggregate_order(context, fresh_hash(context, "aggregate order"))


def order_without_chain(context: RunContext) -> Draft:
    """Order a swap on one chain without the target chain, which is optional (interface.md 4.2)."""
    draft = aggregate_order(context, fresh_hash(context, "order without chain"))
    return draft.without("body", "toChain")


def second_ticket(context: RunContext) -> Draft:
    """Report a transaction that paid for nothing."""
    return ticket(
        context, order_route(context).source.chain, fresh_hash(context, "unpaid transaction")
    )


def own_tickets(context: RunContext, status: str) -> Draft:
    """List the tickets of the caller of one status."""
    return tickets(context, context.caller.address, status)


def others_tickets(context: RunContext) -> Draft:
    """List the tickets of somebody else."""
    return tickets(context, fresh_address(context, "somebody else"), "Unknown")


def second_v1_order(context: RunContext) -> Draft:
    """Submit three times as much in v1."""
    amount = usual_amount(context, usual_attempt(context, V1_QUOTE).route.source) * 3
    return v1_order(context, fresh_hash(context, "second v1 order"), amount)


def second_detail(context: RunContext) -> Draft:
    """Look up the second order of v1."""
    context.require_success(f"{V1_ORDER}/second")
    return v1_detail(context, fresh_hash(context, "second v1 order"))


def others_detail(context: RunContext) -> Draft:
    """Look for the order of the caller in the name of somebody else."""
    context.require_success(f"{V1_ORDER}/usual")
    other = fresh_address(context, "somebody else")
    return v1_detail(context, fresh_hash(context, "usual v1 order"), other)


def detail_elsewhere(context: RunContext) -> Draft:
    """Look for the order of the caller on the chain that it goes to."""
    context.require_success(f"{V1_ORDER}/usual")
    chain = usual_attempt(context, V1_QUOTE).route.target.chain
    return v1_detail(context, fresh_hash(context, "usual v1 order")).having("query", "chain", chain)


def quoted_bridge(context: RunContext) -> str:
    """Return the probe of the quote that orders follow; empty where none was given."""
    found = accepted(context, BRIDGE)
    return "" if found is None else found.probe
