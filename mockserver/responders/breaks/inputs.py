"""Inputs as breaks take them, where that depends on the world or on the rest of the request.

Their names are those that the table of breaks uses. Each takes the context of the call, the value
that was given, or None for one that was left out, and what the table gives with its name.
"""

from mockserver.engine.catalog import Placed
from mockserver.jsontext import Json
from mockserver.responders.breaks.converters import times, whole
from mockserver.responders.breaks.mutations import MutationContext


def now(context: MutationContext, value: Json) -> Json:
    """Return the world's time in milliseconds, as a v1 header carries it, for any other time."""
    odd = value is not None and not str(value).isdecimal()
    return value if odd else str(context.call.hosted.world.now())


def same_as(context: MutationContext, value: Json, place: str) -> Json:
    """Return another input of the same request."""
    told = context.inputs.get(place)
    return told if isinstance(told, str) and isinstance(value, str) else value


def known(context: MutationContext, value: Json, kind: str) -> Json:
    """Return a `chain` of 2.0, a `v1-chain` or a `token` for a name that none of them has."""
    catalog = context.catalog
    if kind == "token":
        return value if value in [token.symbol for token in catalog.tokens] else "USDT"
    v1 = [chain.v1_name for chain in catalog.v1_chains()]
    names = v1 if kind == "v1-chain" else [chain.nickname for chain in catalog.chains]
    return value if value in names else "ETH"


def other_v1_chain(context: MutationContext, value: Json) -> Json:
    """Return a v1 chain that an order does not start from, since none may end there."""
    return "BSC" if context.inputs.body.get("fromChain") == "ETH" else "ETH"


def v2_name(context: MutationContext, value: Json) -> Json:
    """Return the nickname that 2.0 has for a v1 name."""
    catalog = context.catalog
    names = {one.v1_name: one.nickname for one in catalog.v1_chains()}
    known = {one.nickname for one in catalog.chains}
    return value if value in known else names.get(value, value)


def listed_decimals(context: MutationContext, value: Json, side: str) -> Json:
    """Return the listed decimals of the token on a side of a swap, whatever a request says."""
    placed = _placed(context, side, f"{side}TokenAddress")
    unlisted = "18" if value is None else value
    return unlisted if placed is None else str(placed.decimals)


def symbol_there(context: MutationContext, value: Json) -> Json:
    """Return the symbol of the token at the address of a request."""
    placed = _placed(context, "", "contractAddress")
    return "USDT" if placed is None else placed.symbol


def hundred_tokens(context: MutationContext, value: Json) -> Json:
    """Return a hundred tokens of what a bridge quote gives, in smallest units: above any fee."""
    query = context.inputs.query
    decimals = context.decimals(query.get("fromChain", ""), query.get("symbol", ""))
    return str(100 * 10**decimals) if value is None or whole(value) else value


def whole_tokens(context: MutationContext, value: Json) -> Json:
    """Read an amount as whole tokens of the source chain."""
    query = context.inputs.query
    decimals = context.decimals(query.get("fromChain", ""), query.get("symbol", ""))
    return times(value, f"1e{decimals}")


def two_tokens(context: MutationContext, value: Json) -> Json:
    """Swap two whole tokens, whichever amount was asked for."""
    decimals = whole(context.inputs.query.get("fromDecimal", ""))
    good = decimals is not None and decimals < 100
    return "2" + "0" * (decimals or 0) if good and str(value).isdecimal() else value


def _placed(context: MutationContext, side: str, address: str) -> Placed | None:
    """Return the token at an address of a request, on the chain that the request names."""
    query = context.inputs.query
    chain, wanted = query.get("chain") or query.get(f"{side}Chain"), query.get(address, "")
    for one in context.catalog.chains:
        if one.nickname == chain:
            found = context.catalog.tokens_on(one)
            fits = (placed for placed in found if placed.contract.address.lower() == wanted.lower())
            return next(fits, None)
    return None
