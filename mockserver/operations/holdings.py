"""What is known of a token, and what an address holds: two answers the description lacks."""

from decimal import Decimal
from fractions import Fraction

from mockserver.engine import amounts
from mockserver.engine.catalog import Chain, Placed
from mockserver.engine.refusal import Refusal
from mockserver.engine.world import World
from mockserver.jsontext import Json, plain
from mockserver.operations.lists import icon

_HOUR_MS, _DAY_HOURS = 3_600_000, 24


def token_info(world: World, placed: Placed) -> Json:
    """Return the facts of a token; figures that no world has are empty texts (A-070)."""
    token = placed.token
    return {
        "chain": placed.chain.nickname,
        "tokenAddress": placed.contract.address,
        "name": token.name,
        "symbol": token.symbol,
        "decimals": str(placed.decimals),
        "cmcid": "" if token.cmcid is None else str(token.cmcid),
        "cmcRank": "",
        **_day(world, token.symbol),
        "volume24h": "",
        "marketCap": "",
        "fullyDilutedMarketCap": "",
        "circulatingSupply": "",
        "totalSupply": "",
        "maxSupply": "",
        "iconURI": icon(placed),
        "website": [],
        "docs": [],
        "twitter": [],
        "telegram": None,
    }


def held_tokens(world: World, chain: Chain, address: str) -> Json:
    """Return the tokens of which an address has more than nothing, with their worth in USD.

    Amounts are whole tokens (A-034); values are rounded down to cents.
    """
    found = []
    for placed in world.lists.tokens_on(chain.nickname).items:
        balance = world.balances.of_placed(placed, address)
        if balance.units > 0:
            found.append(_held(world, placed, balance.whole))
    return {"TokenList": found, "TokenAddress": address, "ChangeVal24H": "0"}


def _held(world: World, placed: Placed, whole: Decimal) -> Json:
    usd = _usd(world, placed.symbol)
    cents = amounts.floor(Fraction(whole) * Fraction(usd) * 100)
    return {
        "Name": placed.token.name,
        "Symbol": placed.symbol,
        "Decimals": placed.decimals,
        "TokenAddress": placed.contract.address,
        "Amount": plain(whole),
        "Price": plain(usd),
        "Value": plain(Decimal(cents).scaleb(-2)),
        "LogoUrl": icon(placed),
    }


def _day(world: World, symbol: str) -> dict[str, Json]:
    """Return highest and lowest price of the last day, hour by hour, and the change in percent."""
    prices, now = world.scenario.prices, world.now()
    try:
        seen = [prices.of(symbol, now - hour * _HOUR_MS).usd for hour in range(_DAY_HOURS + 1)]
    except Refusal:
        return {"high": "", "low": "", "priceChange24h": ""}
    change = Fraction(seen[0] - seen[-1]) / Fraction(seen[-1]) * 100
    return {
        "high": plain(max(seen)),
        "low": plain(min(seen)),
        "priceChange24h": plain(Decimal(amounts.floor(change * 100)).scaleb(-2)),
    }


def _usd(world: World, symbol: str) -> Decimal:
    try:
        return world.quotes.price(symbol).usd
    except Refusal:
        return Decimal(0)
