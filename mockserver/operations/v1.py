"""The operations of v1: one short function each, from wire names to the world and back."""

from collections.abc import Sequence
from decimal import Decimal

from mockserver.contract import Inputs
from mockserver.engine import amounts
from mockserver.engine.catalog import Placed
from mockserver.engine.order_statuses import V1Status
from mockserver.engine.orders import OrderGeneration, OrderKind, OrderView
from mockserver.engine.outage_calendar import Phase
from mockserver.engine.refusal import Refusal
from mockserver.engine.submission import OrderRequest
from mockserver.engine.world import World
from mockserver.jsontext import Json, plain
from mockserver.operations import token_lists
from mockserver.operations.deposit_transactions import deposit_transaction, refuse_used
from mockserver.signing.v1_deposit_transactions import signed_raw

_PAYMENT = ("Address", "Amount", "Chain", "Token")
_MOVEMENT = ("Address", "Amount", "Chain", "Hash", "Token")
REFUNDED = {f"from{name}": f"back{name}" for name in _PAYMENT}
"""What a refund gives back, by what was paid."""
_BACK = tuple(f"back{name}" for name in _MOVEMENT)
_RECEIVED = tuple(f"to{name}" for name in _MOVEMENT)
_FEE = tuple(f"feeTo{name}" for name in _MOVEMENT)
NOTHING: Sequence[Json] = (None, "0", None, None, None)
"""A movement of money that an order has not made."""


def get_support_chains(world: World, inputs: Inputs) -> Json:
    """List the chains v1 offers."""
    listing = world.lists.v1_chains()
    coins = {token.symbol: token.index for token in world.scenario.catalog.tokens}
    chains = [token_lists.v1_chain(chain, coins.get(chain.base_coin)) for chain in listing.items]
    return {"chains": chains, "version": listing.version}


def get_support_tokens(world: World, inputs: Inputs) -> Json:
    """List the tokens of a chain; without a chain, which only real clients leave out, of all."""
    names = [chain.v1_name for chain in world.lists.v1_chains().items if chain.v1_name is not None]
    names = [inputs.text("chain")] if inputs.has("chain") else names
    prices, chains = world.quotes, map(world.scenario.catalog.chain_v1, names)
    listings = [world.lists.tokens_on(chain) for chain in chains]
    own = listings[0] if inputs.has("chain") else world.lists.tokens()
    return {
        "tokenVos": [
            token_lists.v1_token(placed, plain(prices.price(placed.symbol).usd))
            for listing in listings
            for placed in listing.items
        ],
        "version": own.version,
    }


def get_cross_chain_quote(world: World, inputs: Inputs) -> Json:
    """Quote a transfer; amounts in whole tokens of the token in (ESS1)."""
    source, target = _ends(world, inputs, "token", "token", "token")
    quote = world.quotes.cross_chain(
        inputs.decimal("amount"), source, target, inputs.integer("feeLevel")
    )
    return {
        "crossChain": {
            "amountIn": quote.amount_in,
            "amountOut": quote.amount_out,
            "fee": quote.fee,
            "gas": quote.gas,
            "tokenIn": quote.symbol,
        }
    }


def get_transfer_to_minter_raw(world: World, inputs: Inputs) -> Json:
    """Return the deposit as an unsigned legacy transaction with the mock's signature (OAE)."""
    _same_address(inputs)
    quotes = world.quotes
    placed = quotes.v1_placed(inputs.text("token"), inputs.text("chain"), "source chain", "token")
    quotes.admit(placed, placed, Phase.QUOTE)
    units = amounts.units_exact(inputs.decimal("amount"), placed.decimals)
    return {"raw": signed_raw(deposit_transaction(world, placed, units, inputs.text("evmAddress")))}


def submit_cross_chain(world: World, inputs: Inputs) -> Json:
    """Start what a deposit transaction pays for: a swap where a second token is named (OAE)."""
    if inputs.once("certHash"):
        chain = world.scenario.catalog.chain_v1(inputs.text("fromChain"), "source chain")
        refuse_used(world, OrderGeneration.V1, chain.nickname, inputs.text("certHash"))
    _same_address(inputs)
    swap, user = inputs.has("toToken"), inputs.text("evmAddress")
    source, target = _ends(world, inputs, "fromToken", "toToken" if swap else "fromToken")
    view = world.orders.submit(
        OrderRequest(
            generation=OrderGeneration.V1,
            kind=OrderKind.AGGREGATE if swap else OrderKind.BRIDGE,
            source=source,
            target=target,
            amount=amounts.units_exact(inputs.decimal("fromAmount"), source.decimals),
            # v1 offers EVM chains only, where it is the source address, too (section 2.2).
            sender=user,
            recipient=inputs.optional("toAddress") or user,
            cert_hash=inputs.text("certHash"),
            fee_level=inputs.integer("feeLevel"),
        )
    )
    number = view.order.name_in(OrderGeneration.V1)
    return {"sn": number, "status": int(view.v1_status)}


submit_aggregate = submit_cross_chain


def get_order_detail_by_hash_and_evm_address(world: World, inputs: Inputs) -> Json:
    order_id = world.orders.id_of_v1_hash(
        inputs.text("chain"), inputs.text("hash"), inputs.text("evmAddress")
    )
    return {"order": _order(world, world.orders.poll(order_id))}


def get_order_detail(world: World, inputs: Inputs) -> Json:
    """Return the order of a number (observed only, OAE)."""
    order_id = world.orders.id_of_sn(inputs.text("sn"))
    return {"order": _order(world, world.orders.poll(order_id))}


def get_aggregate_quote(world: World, inputs: Inputs) -> Json:
    """Quote a swap; amounts in whole tokens (observed only, GB-v1, ESS1)."""
    source, target = _ends(world, inputs, "fromToken", "toToken")
    level = inputs.integer("feeLevel") if inputs.has("feeLevel") else 0
    quote = world.quotes.aggregate_v1(inputs.decimal("fromAmount"), source, target, level)
    return {
        "aggregate": {
            "amountIn": quote.amount_in,
            "amountOut": quote.amount_out,
            "fee": quote.fee,
            "gas": quote.gas,
            "slippage": quote.slippage,
            "tokenIn": quote.symbol_in,
            "tokeOut": quote.symbol_out,
            "tokenOut": quote.symbol_out,
        }
    }


def get_token_price(world: World, inputs: Inputs) -> Json:
    """Return a token's USD price (observed only, DAO)."""
    return {"price": plain(world.quotes.price(inputs.text("token")).usd)}


def _ends(
    world: World, inputs: Inputs, token: str, target_token: str, about: str = "target token"
) -> tuple[Placed, Placed]:
    """Return the tokens on their chains, by the inputs that name them; `about` is the second."""
    placed = world.quotes.v1_placed
    source = placed(inputs.text(token), inputs.text("fromChain"), "source chain", "token")
    return source, placed(inputs.text(target_token), inputs.text("toChain"), "target chain", about)


def _order(world: World, view: OrderView) -> Json:
    """Return an order as v1 shows it: whole tokens as text, refunds in `back*` (ESS1)."""
    # Whom the third party's fee goes to is set by a call whose path nobody shows, so that its
    # address and hash stay empty.
    order, catalog = view.order, world.scenario.catalog
    route = order.route
    source = catalog.token_on(route.source_chain, route.source_token)
    target = catalog.token_on(route.target_chain, route.target_token)
    start, goal = source.chain.v1_name, target.chain.v1_name
    third = order.delivered.channel_fee if view.amount_out else 0
    fee, out = _in_tokens(third, target.decimals), _in_tokens(view.amount_out, target.decimals)
    back = _in_tokens(view.back_amount, source.decimals)
    return order_members(
        (order.name_in(OrderGeneration.V1), view.v1_status, order.kind, order.cert_hash),
        (order.sender, _in_tokens(order.amount, source.decimals), start, route.source_token),
        (order.recipient, out, goal, view.exec_hash, route.target_token),
        None if order.fee_level is None else str(order.fee_level),
        (None, fee, goal, None, target.symbol) if third else NOTHING,
        (order.sender, back, start, view.back_hash, route.source_token)
        if view.back_amount
        else NOTHING,
    )


def order_members(
    about: tuple[str, V1Status, OrderKind, str],
    paid: Sequence[Json],
    received: Sequence[Json],
    fee_level: str | None,
    fee: Sequence[Json] = NOTHING,
    back: Sequence[Json] = NOTHING,
) -> dict[str, Json]:
    """Return an order by the members of v1; `about` is number, status, kind and the deposit's hash.

    Each movement of money has its values in the order of their names.
    """
    number, status, kind, cert_hash = about
    return {
        "sn": number,
        "status": int(status),
        "type": int(kind),
        "certHash": cert_hash,
        **dict(zip(REFUNDED, paid, strict=True)),
        **dict(zip(_RECEIVED, received, strict=True)),
        "feeLevel": fee_level,
        **dict(zip(_FEE, fee, strict=True)),
        **dict(zip(_BACK, back, strict=True)),
    }


def _same_address(inputs: Inputs) -> None:
    """Refuse a source address that is not the user's own on an EVM chain (section 2.2)."""
    # Where an integer is published it is the address read as a number.
    source, user = inputs.text("fromAddress"), inputs.text("evmAddress")
    as_number = source.isdecimal()
    same = str(int(user, 16)) if as_number else user.lower()
    if source.lower() != same:
        right = f"; send the digits {same}" if as_number else ""
        # As JavaScript compares: equal as doubles means that only digits beyond 53 bits differ.
        if as_number and float(source) == float(same):
            right = (
                f"; its last digits were lost, since JSON.stringify and others write numbers of 53 "
                f"bits: write the digits {same} into the JSON text"
            )
        raise Refusal(
            "bad-address",
            f"{source!r} differs from {inputs.wire_name('evmAddress')} {user!r}; on an EVM chain "
            f"both are the same{right}",
            about="source address",
            nearest=(same if as_number else user,),
        )


def _in_tokens(units: int, decimals: int) -> str:
    return plain(Decimal(amounts.whole_tokens(units, decimals)))
