"""Submissions, and the reads that follow them; sent only where writes are armed."""

from dataclasses import replace

from mockserver import jsontext
from mockserver.conformance.discovery.amount_units import (
    ATTEMPT_NAMES,
    BRIDGE,
    SWAP_QUOTE,
    V1_QUOTE,
    Reading,
    accepted,
    amount_text,
)
from mockserver.conformance.discovery.routes import usual_amount
from mockserver.conformance.discovery.settling import orders_settled, tickets_settled
from mockserver.conformance.requests.probe import Build, Probe, Stage
from mockserver.conformance.requests.reads import LISTS
from mockserver.conformance.requests.v1_reads import V1_ATTEMPTS, V1_LISTS
from mockserver.conformance.requests.valid import (
    SLIPPAGE,
    filled,
    fresh_address,
    fresh_hash,
    order,
    order_id,
    order_route,
    quoted_attempt,
    ticket,
    tickets,
    v1_attempt,
    v1_detail,
    v1_order,
    valid_request,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import NotRun

ORDER, CHECK = "v2.submitOrder", "v2.checkOrder"
TICKET, TICKETS, CHECK_TICKET = "v2.submitTicket", "v2.getAllTicketByAddress", "v2.checkTicket"
V1_ORDER, DETAIL = "v1.submitCrossChain", "v1.getOrderDetailByHashAndEvmAddress"
FILTERS = ("Unknown", "Pending", "Succeeded")
POLLS = tuple(f"poll {number}" for number in range(1, 7))
"""The looks at the first order, each some time after the one before."""
FEW_POLLS = POLLS[:3]
END, END_AGAIN = "at the end", "at the end again"
EARLY, LATE = "early", "late"
ANOTHER = "another address"
AGGREGATE, NO_CHAIN = "aggregate", "without optional inputs"
OTHER_CHAIN = "another chain"
_WAIT_MS, _LONG_WAIT_MS = 1000, 60_000
_QUOTES = (*LISTS, *(f"{BRIDGE}/{name}" for name in ATTEMPT_NAMES))
_SWAPS = (*_QUOTES, *(f"{SWAP_QUOTE}/{name}" for name in ATTEMPT_NAMES))
_V1_QUOTES = (*V1_LISTS, *(f"{V1_QUOTE}/{name}" for name in V1_ATTEMPTS))


def write_probes() -> tuple[Probe, ...]:
    """Return the probes of submissions and of what they leave behind."""
    return (*_orders(), *_tickets(), *_v1_orders(), *_later())


def _orders() -> tuple[Probe, ...]:
    return (
        _probe(f"{ORDER}/usual", _usual(ORDER), *_QUOTES),
        _probe(f"{CHECK}/usual", _usual(CHECK), f"{ORDER}/usual"),
        _probe(f"{ORDER}/second", _second_order, *_QUOTES),
        _probe(f"{CHECK}/second", _check(f"{ORDER}/second"), f"{ORDER}/second"),
        _probe(f"{ORDER}/same again", _usual(ORDER), f"{ORDER}/usual"),
        _probe(f"{ORDER}/impossible", _impossible_order, *_QUOTES),
        _probe(f"{ORDER}/{AGGREGATE}", _aggregate_order, *_SWAPS),
        _probe(f"{ORDER}/{NO_CHAIN}", _order_without_chain, *_SWAPS),
    )


def _tickets() -> tuple[Probe, ...]:
    return (
        _probe(f"{TICKET}/usual", _usual(TICKET), f"{ORDER}/usual"),
        _probe(f"{CHECK_TICKET}/usual", _usual(CHECK_TICKET), f"{TICKET}/usual"),
        _probe(f"{TICKET}/second", _second_ticket, *_QUOTES),
        _probe(f"{TICKET}/same again", _usual(TICKET), f"{TICKET}/usual"),
        *_listings(EARLY),
        _probe(f"{TICKETS}/{ANOTHER}", _others_tickets, f"{TICKET}/usual"),
    )


def _v1_orders() -> tuple[Probe, ...]:
    return (
        _probe(f"{V1_ORDER}/usual", _usual(V1_ORDER), *_V1_QUOTES),
        _probe(f"{DETAIL}/usual", _usual(DETAIL), f"{V1_ORDER}/usual"),
        _probe(f"{V1_ORDER}/second", _second_v1_order, *_V1_QUOTES),
        _probe(f"{DETAIL}/second", _second_detail, f"{V1_ORDER}/second"),
        _probe(f"{V1_ORDER}/same again", _usual(V1_ORDER), f"{V1_ORDER}/usual"),
        _probe(f"{DETAIL}/{ANOTHER}", _others_detail, f"{V1_ORDER}/usual"),
        _probe(f"{DETAIL}/{OTHER_CHAIN}", _detail_elsewhere, f"{V1_ORDER}/usual"),
    )


def _later() -> tuple[Probe, ...]:
    """Return the looks that follow when some time has passed."""
    polls = [
        one
        for number, name in enumerate(POLLS)
        for one in (
            replace(
                _probe(f"{CHECK}/{name}", _usual(CHECK), f"{ORDER}/usual"),
                wait_ms=_WAIT_MS,
                settled=orders_settled,
            ),
            *(
                (
                    _probe(f"{CHECK}/second {name}", _check(f"{ORDER}/second"), f"{ORDER}/second"),
                    _probe(
                        f"{CHECK}/impossible {name}",
                        _check(f"{ORDER}/impossible"),
                        f"{ORDER}/impossible",
                    ),
                    # An order of 2.0 tells the time by which v1 requests are stamped.
                    _probe(
                        f"{DETAIL}/{name}", _usual(DETAIL), f"{V1_ORDER}/usual", f"{CHECK}/{name}"
                    ),
                )
                if number < len(FEW_POLLS)
                else ()
            ),
        )
    ]
    ends = [
        _probe(f"{CHECK}/{END}", _usual(CHECK), f"{ORDER}/usual"),
        _probe(f"{CHECK}/impossible {END}", _check(f"{ORDER}/impossible"), f"{ORDER}/impossible"),
        _probe(f"{CHECK}/second {END}", _check(f"{ORDER}/second"), f"{ORDER}/second"),
        _probe(f"{DETAIL}/{END}", _usual(DETAIL), f"{V1_ORDER}/usual", f"{CHECK}/{END}"),
        _probe(f"{DETAIL}/second {END}", _second_detail, f"{V1_ORDER}/second"),
        _probe(f"{V1_QUOTE}/{END}", _v1_quote_again, f"{V1_ORDER}/usual"),
        _probe(f"{CHECK}/{END_AGAIN}", _usual(CHECK), f"{ORDER}/usual"),
        _probe(
            f"{DETAIL}/{END_AGAIN}", _usual(DETAIL), f"{V1_ORDER}/usual", f"{CHECK}/{END_AGAIN}"
        ),
        # After the reports that should be refused, so that it shows which of them were kept.
        _last(f"{CHECK_TICKET}/{END}", _usual(CHECK_TICKET), f"{TICKET}/usual"),
        *(
            replace(
                _last(f"{TICKETS}/{LATE} {kind}", _own_tickets(kind), f"{TICKET}/usual"),
                wait_ms=0 if number else _LONG_WAIT_MS,
                settled=tickets_settled,
            )
            for number, kind in enumerate(FILTERS)
        ),
        _last(f"{CHECK_TICKET}/{END_AGAIN}", _usual(CHECK_TICKET), f"{TICKET}/usual"),
    ]
    return (*polls, *ends)


def _listings(when: str) -> tuple[Probe, ...]:
    return tuple(
        _probe(f"{TICKETS}/{when} {kind}", _own_tickets(kind), f"{TICKET}/usual")
        for kind in FILTERS
    )


def _probe(name: str, build: Build, *after: str) -> Probe:
    return Probe(name, build, Stage.WRITES, after)


def _last(name: str, build: Build, *after: str) -> Probe:
    return Probe(name, build, Stage.LAST_LOOK, after)


def _usual(operation_id: str) -> Build:
    return lambda context: valid_request(context, operation_id)


def _check(submission: str) -> Build:
    return lambda context: filled(context, CHECK, {"id": order_id(context, submission)})


def _second_order(context: RunContext) -> Draft:
    """Order three times as much, so that the two orders pay out differently."""
    amount = usual_amount(context, order_route(context).source) * 3
    return order(context, fresh_hash(context, "second order"), amount)


def _impossible_order(context: RunContext) -> Draft:
    """Order with a least output that no quote can reach, in the observed form of `extra`."""
    draft = order(context, fresh_hash(context, "impossible order"))
    target = order_route(context).target
    least = 10 ** ((target.decimals or 0) + 12)
    wanted = f"1_{least};3_2;4_{least};5_{target.chain}"
    return draft.having("body", "extra", wanted)


def aggregate_order(context: RunContext, deposit: str) -> Draft:
    """Return an order of the second type: a swap on one chain, with one percent of slippage."""
    draft = order(context, deposit)
    route = quoted_attempt(context).route
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


def _aggregate_order(context: RunContext) -> Draft:
    return aggregate_order(context, fresh_hash(context, "aggregate order"))


def _order_without_chain(context: RunContext) -> Draft:
    """Order a swap on one chain without the target chain, which is optional (interface.md 4.2)."""
    draft = aggregate_order(context, fresh_hash(context, "order without chain"))
    return draft.without("body", "toChain")


def _second_ticket(context: RunContext) -> Draft:
    """Report a transaction that paid for nothing."""
    return ticket(
        context, order_route(context).source.chain, fresh_hash(context, "unpaid transaction")
    )


def _own_tickets(kind: str) -> Build:
    return lambda context: tickets(context, context.caller.address, kind)


def _others_tickets(context: RunContext) -> Draft:
    return tickets(context, fresh_address(context, "somebody else"), "Unknown")


def _second_v1_order(context: RunContext) -> Draft:
    amount = usual_amount(context, v1_attempt(context).route.source) * 3
    return v1_order(context, fresh_hash(context, "second v1 order"), amount)


def _second_detail(context: RunContext) -> Draft:
    context.require_success(f"{V1_ORDER}/second")
    return v1_detail(context, fresh_hash(context, "second v1 order"))


def _v1_quote_again(context: RunContext) -> Draft:
    """Quote once more, to see whether v1 still takes the stamps of the caller at all."""
    return valid_request(context, V1_QUOTE)


def _others_detail(context: RunContext) -> Draft:
    """Look for the order of the caller in the name of somebody else."""
    context.require_success(f"{V1_ORDER}/usual")
    other = fresh_address(context, "somebody else")
    return v1_detail(context, fresh_hash(context, "usual v1 order"), other)


def _detail_elsewhere(context: RunContext) -> Draft:
    """Look for the order of the caller on the chain that it goes to."""
    context.require_success(f"{V1_ORDER}/usual")
    chain = v1_attempt(context).route.target.chain
    return v1_detail(context, fresh_hash(context, "usual v1 order")).having("query", "chain", chain)


def quoted_bridge(context: RunContext) -> str:
    """Return the probe of the quote that orders follow; empty where none was given."""
    found = accepted(context, BRIDGE)
    return "" if found is None else found.probe
