"""The operations of 2.0: one short function each, from wire names to the world and back."""

from typing import Any

from mockserver.contract import Inputs
from mockserver.engine.catalog import Placed, checked_address
from mockserver.engine.orders import OrderGeneration, OrderKind
from mockserver.engine.refusal import Refusal
from mockserver.engine.submission import OpaqueOrderRequest, OrderRequest
from mockserver.engine.swap_quotes import SwapRequest
from mockserver.engine.tickets import TicketStatus, TicketView
from mockserver.engine.world import World
from mockserver.jsontext import Json, plain
from mockserver.operations import token_lists
from mockserver.operations.deposit_transactions import refuse_used
from mockserver.operations.deposits_and_order_rules import (
    STRICT_RULES,
    certificate,
    order_rules,
    rules_of,
)
from mockserver.operations.token_lists import held_tokens, token_info

_ENDS = {"source": "from", "target": "to"}
# Looking up a member of an enumeration takes longer than a global name.
_V2 = OrderGeneration.V2
_KINDS = {kind.value: kind for kind in OrderKind}


def get_chain(world: World, inputs: Inputs) -> Json:
    listing = world.lists.chains()
    return {
        "version": listing.version,
        "list": [token_lists.chain(chain) for chain in listing.items],
    }


def get_assets(world: World, inputs: Inputs) -> Json:
    listing = world.lists.tokens()
    return {
        "version": listing.version,
        "list": [token_lists.asset(token) for token in listing.items],
    }


def get_assets_by_chain(world: World, inputs: Inputs) -> Json:
    listing = world.lists.tokens_on(world.scenario.catalog.chain(inputs.text("chain")))
    items = [token_lists.asset_on_chain(placed) for placed in listing.items]
    return {"version": listing.version, "list": items}


def get_bridge_quote(world: World, inputs: Inputs) -> Json:
    """Quote the transfer of one token between chains; amounts in smallest units."""
    source, target = world.scenario.catalog.ends(
        inputs["symbol"], inputs["fromChain"], inputs["toChain"]
    )
    gross, fee, gas, rate, price = world.quotes.charged(
        int(inputs["amount"]), source, target, _channel_bps(inputs)
    )
    return {
        "price": price.price_text,
        "outAmount": str(gross),
        "outAmountUsd": price.worth(gross),
        "serviceFee": str(fee),
        "gasFee": str(gas),
        "serviceFeeRate": str(rate),
    }


def get_aggregate_quote(world: World, inputs: Inputs) -> Json:
    """Quote a swap through an aggregator; amounts in smallest units with `chainDecimal`."""
    quote = world.quotes.aggregate(
        inputs.integer("fromAmount"),
        _token(world, inputs, "source", "fromChain"),
        _token(world, inputs, "target", "toChain"),
        _channel_bps(inputs),
    )
    data = {
        "chain": quote.network,
        "chainDecimal": quote.decimals,
        "aggregator": quote.aggregator,
        "outAmount": str(quote.gross),
        "outAmountUsd": quote.out_usd,
        "minOutAmount": "",
        "serviceFee": str(quote.service_fee),
        "gasFee": str(quote.gas_fee),
        "priceImpact": plain(quote.price_impact),
        "serviceFeeRate": str(quote.rate_bps),
        "slippage": plain(quote.slippage),
    }
    if quote.route_summary is not None:
        data["routeSummary"] = quote.route_summary
    return data


def get_aggregate_swap(world: World, inputs: Inputs) -> Json:
    """Return the call data of a swap on one chain, for the user to sign and send."""
    call = world.quotes.swap(
        _token(world, inputs, "source", "chain"),
        _token(world, inputs, "target", "chain"),
        SwapRequest(
            amount=inputs.integer("fromAmount"),
            sender=inputs.text("sender"),
            recipient=inputs.text("recipient"),
            slippage_bps=inputs.integer("slippage"),
            aggregator=inputs.optional("aggregator") or None,
            partial_fill=inputs.flag("allowPartialFill"),
            route_summary=inputs.optional("routeSummary"),
        ),
    )
    return {
        "amountOut": str(call.amount_out),
        "from": call.sender,
        "to": call.to,
        "gas": call.gas,
        "value": str(call.value),
        "data": call.data,
    }


def submit_order(world: World, inputs: Inputs) -> Json:
    """Accept an order; the deposit is in `sourceCerts` (facts §6)."""
    deposit, rules = certificate(inputs), order_rules(inputs)
    catalog, kind = world.scenario.catalog, _KINDS[inputs.integer("orderType")]
    if "signerChain" in inputs:
        catalog.chain(inputs.text("signerChain"), "signer chain")
    if rules.execution is not None and inputs.reading("extra") == STRICT_RULES:
        catalog.chain(rules.execution, "order rules")
    if deposit is None:
        opaque = OpaqueOrderRequest(
            kind=kind,
            sender=inputs.text("userAddress" if inputs.has("userAddress") else "signerAddress"),
            target_index=inputs.integer("toIndex"),
            recipient=inputs.text("toAddr"),
            deposit=inputs.text("sourceCerts").removeprefix("0x").lower(),
            target_chain=inputs.optional("toChain"),
            slippage_bps=inputs.integer("slippage"),
            channel=inputs.text("channel"),
        )
        return {"id": world.orders.submit_opaque(opaque).order.id}
    # Before names are looked up: whoever repeats a deposit hears of that first.
    if inputs.once("sourceCerts"):
        refuse_used(world, OrderGeneration.V2, deposit.chain, deposit.cert_hash)
    source, target = catalog.ends_by_index(
        deposit.chain, deposit.index, inputs.optional("toChain"), inputs.integer("toIndex")
    )
    # Field by field, as `engine.submission` makes its orders, and for the same reason.
    order: Any = OrderRequest.__new__(OrderRequest)
    order.generation = _V2
    order.kind = kind
    order.source = source
    order.target = target
    order.amount = deposit.amount
    order.sender = deposit.address
    order.recipient = inputs["toAddr"]
    order.cert_hash = deposit.cert_hash
    order.slippage_bps = inputs.integer("slippage")
    order.channel = inputs["channel"]
    order.channel_bps = rules.channel_bps
    order.expected = rules.expected
    order.minimum = rules.minimum
    order.fee_level, order.covered = None, False
    return {"id": world.orders.accept(order).id}


def check_order(world: World, inputs: Inputs) -> Json:
    """Return the status of an order; `timestamp` in seconds, of the last change (DR)."""
    view = world.orders.poll(inputs.text("id"))
    return order_members(view.status, view.since_ms, view.reason, view.exec_hash, view.amount_out)


def get_balance(world: World, inputs: Inputs) -> Json:
    """Return what an address owns: smallest units, and whole tokens for people (A-022)."""
    balance = world.balances.of(
        inputs.text("chain"), inputs.text("contractAddress"), inputs.text("address")
    )
    return {"balance": str(balance.units), "hrpBalance": plain(balance.whole_tokens)}


def get_price(world: World, inputs: Inputs) -> Json:
    """Return a token's price in USD."""
    price = world.quotes.price_at(
        inputs.text("chain"), inputs.text("contractAddress"), inputs.text("symbol")
    )
    return {
        "price": plain(price.usd),
        "updateTime": str(price.updated_ms // 1000),
        "source": price.source,
    }


def submit_ticket(world: World, inputs: Inputs) -> Json:
    """Accept a problem report about a transaction."""
    ticket_view = world.tickets.submit(
        inputs.text("chain"), inputs.text("hash"), inputs.text("userAddress")
    )
    return {"ticketId": ticket_view.ticket.id}


def get_all_ticket_by_address(world: World, inputs: Inputs) -> Json:
    status = TicketStatus(inputs.text("filter"))
    ticket_views = world.tickets.of(inputs.text("address"), status)
    return {"list": [ticket_members(ticket_view) for ticket_view in ticket_views]}


def check_ticket(world: World, inputs: Inputs) -> Json:
    return status_members(world.tickets.check(inputs.integer("ticketId")))


def order_members(
    status: str, since_ms: int, reason: str, exec_hash: str = "", amount_out: int = 0
) -> dict[str, Json]:
    """Return how an order stands, as checkOrder tells it."""
    return {
        "status": status,
        "timestamp": since_ms // 1000,
        "execHash": exec_hash,
        "reason": reason,
        "amountOut": str(amount_out),
    }


def ticket_members(view: TicketView) -> Json:
    ticket = view.ticket
    return {
        "ticketId": ticket.id,
        "address": ticket.address,
        "chain": ticket.chain,
        "hash": ticket.hash,
        **status_members(view),
    }


def status_members(view: TicketView) -> dict[str, Json]:
    """Return how a ticket stands, as checkTicket tells it."""
    return {"succeeded": view.succeeded, "solution": view.solution}


def get_vault_address(world: World, inputs: Inputs) -> Json:
    """Return the deposit addresses of chains without contracts (observed only, SDK2)."""
    chains = world.lists.chains().items
    return {"list": {chain.nickname: chain.vault for chain in chains if chain.vault}}


def get_order_id_by_hash(world: World, inputs: Inputs) -> Json:
    """Return the order a transaction pays for (observed only, SDK2)."""
    return {"id": world.orders.id_of_hash(inputs.text("chain"), inputs.text("hash"))}


def get_chain_gas_usd(world: World, inputs: Inputs) -> Json:
    """Return what execution costs on each chain, in USD (observed only, ESS2)."""
    gas = world.scenario.rates.gas
    return [
        {
            "chain": chain.nickname,
            "chainId": chain.network,
            "basecoin": gas(chain),
            "token": gas(chain),
            "dex": gas(chain),
        }
        for chain in world.lists.chains().items
    ]


def get_token_info(world: World, inputs: Inputs) -> Json:
    """Return what is known about a token (observed only, SDK2)."""
    catalog = world.scenario.catalog
    placed = catalog.placed_at(catalog.chain(inputs.text("chain")), inputs.text("tokenAddress"))
    return token_info(world, placed)


def get_user_tokens(world: World, inputs: Inputs) -> Json:
    """Return the tokens an address holds on a chain (observed only, DEMO)."""
    chain = world.scenario.catalog.chain(inputs.text("chain"))
    return held_tokens(world, chain, checked_address(chain, inputs.text("address")))


def _token(world: World, inputs: Inputs, end: str, chain: str) -> Placed:
    """Return a token as it is named; decimals that were left out are the list's own (E-18)."""
    word = _ENDS[end]
    claimed = f"{word}Decimal"
    decimals = inputs.integer(claimed) if inputs.has(claimed) else None
    address = inputs.text(f"{word}TokenAddress")
    return world.quotes.placed(inputs.text(chain), address, decimals, end)


def _channel_bps(inputs: Inputs) -> int:
    """Return the third party's fee in bps: `channelFeeRate`, or rule 2 of `extra` (DEMO).

    The order sends the same rule, so that it charges what its quote did. Raises `Refusal` for rules
    that cannot be read and for two fees that differ.
    """
    if "extra" not in inputs and "channelFeeRate" not in inputs:
        return 0
    extra = inputs.optional("extra")
    of_rules = rules_of(extra).channel_bps if extra else 0
    if not inputs.has("channelFeeRate"):
        return of_rules
    rate = inputs.integer("channelFeeRate")
    # Both may be sent; a client that names two fees is told, and not charged one of them.
    if of_rules not in (0, rate):
        raise Refusal(
            "bad-extra",
            f"the third party's fee (rule 2) is {of_rules}, while 'channelFeeRate' is {rate}; "
            "send one of them, or the same in both",
            about="order rules",
        )
    return rate
