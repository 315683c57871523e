"""The money of a world: balances, a quote on demand, and what is wrong with it."""

from collections.abc import Iterator
from decimal import Decimal

from mockserver.engine import amounts
from mockserver.engine.catalog import Catalog, Placed
from mockserver.engine.ledger import AccountKey
from mockserver.engine.swap_quotes import AggregateQuote
from mockserver.engine.world import World
from mockserver.jsontext import Json
from mockserver.responders.control_forms import BadControl, duration_ms
from mockserver.server.control.route import ControlRequest
from mockserver.wording import times
from mockserver.worlds import audit as audits
from mockserver.worlds.judgement import rendered

_MOST = 200
_PRICED = ("from", "to", "token", "amount")


def balances(request: ControlRequest) -> Json:
    """Return what the accounts own that orders have used, or an address on one chain."""
    world, query = request.hosted.world, request.query
    if "chain" in query and "address" not in query:
        raise BadControl("query parameter 'chain': goes with 'address', whose tokens are shown")
    keys = _on_chain(world, query) if "chain" in query else _used(world, query.get("address"))
    # Orders and transfers are not used in the same sequence again when a dump is loaded.
    shown = keys[:_MOST] if "chain" in query else sorted(keys[:_MOST])
    return {"balances": [_balance(world, key) for key in shown], "total": len(keys)}


def quote(request: ControlRequest) -> Json:
    """Return what a transfer or a swap would give now; a suspended chain is mentioned."""
    world, query = request.hosted.world, request.query
    missing = [name for name in _PRICED if name not in query]
    if missing:
        raise BadControl(f"query parameter {missing[0]!r}: missing; give {', '.join(_PRICED)}")
    source = _placed(world.scenario.catalog, query["from"], query["token"], "source")
    wanted = query.get("targetToken", query["token"])
    target = _placed(world.scenario.catalog, query["to"], wanted, "target")
    units = amounts.units_exact(Decimal(query["amount"]), source.decimals)
    quoted = world.quotes.bridge if source.symbol == target.symbol else world.quotes.aggregate
    aggregate_quote = quoted(units, source, target)
    return {
        "amount": str(units),
        "amountDecimals": source.decimals,
        "gross": str(aggregate_quote.gross),
        "net": str(aggregate_quote.net),
        "decimals": aggregate_quote.decimals,
        "serviceFee": str(aggregate_quote.service_fee),
        "gasFee": str(aggregate_quote.gas_fee),
        "aggregator": aggregate_quote.aggregator
        if isinstance(aggregate_quote, AggregateQuote)
        else None,
    }


def _used(world: World, address: str | None) -> list[AccountKey]:
    keys = world.balances.accounts()
    return [key for key in keys if address is None or address.lower() in key[2].lower()]


def _on_chain(world: World, query: Json) -> list[AccountKey]:
    catalog = world.scenario.catalog
    chain = catalog.chain(query["chain"])
    return [
        (chain.nickname, placed.symbol, query["address"]) for placed in catalog.tokens_on(chain)
    ]


def _balance(world: World, key: AccountKey) -> Json:
    chain, token, address = key
    placed = _placed(world.scenario.catalog, chain, token, "")
    owned = world.balances.of_placed(placed, address)
    return {
        "chain": chain,
        "token": token,
        "address": address,
        "units": str(owned.units),
        "decimals": owned.decimals,
    }


def _placed(catalog: Catalog, chain: str, token: str, end: str) -> Placed:
    about = (f"{end} chain", f"{end} token")
    return catalog.placed(catalog.chain(chain, about[0]), catalog.token(token, about[1]), about[1])


def audit(request: ControlRequest) -> Iterator[bytes]:
    """Return what is wrong with the money of a world, by the requests of its clients."""
    query = request.query
    age = duration_ms(query["quoteAge"]) if "quoteAge" in query else audits.QUOTE_AGE_MS
    steps = audits.judge_in_steps(
        request.hosted,
        audits.kinds_named(query.get("kinds", "all")),
        quote_age_ms=age,
        as_is=query.get("asIs", False),
        exit_claims=query.get("exitClaims", False),
        others=request.server.worlds,
    )
    return rendered(steps, request.hosted, "audit")


def claims(request: ControlRequest) -> Json:
    """Return what clients have claimed, what transfers are to happen, and what nobody has read."""
    beliefs = request.hosted.beliefs
    return {
        "claims": list(map(str, beliefs.claims)),
        "expects": [f"{times(expected.times)} {expected}" for expected in beliefs.expects],
        "unread": sorted(beliefs.unread),
    }


def claim(request: ControlRequest) -> Json:
    """Note what a client believes of its orders, or what transfers are to happen."""
    body, hosted = request.body, request.hosted
    beliefs = hosted.beliefs
    for said in body.get("claims", ()):
        beliefs = beliefs.claimed(audits.Claim.of(said["order"], said["state"], said.get("amount")))
    for wanted in body.get("expects", ()):
        beliefs = beliefs.expecting(audits.Expected.of(wanted))
    if body.get("died"):
        beliefs = beliefs.died(hosted.journal.last_sequence)
    hosted.beliefs = beliefs
    return {
        "claims": len(beliefs.claims),
        "expects": len(beliefs.expects),
        "unread": len(beliefs.unread),
    }
