"""How chains and tokens are shown, in both generations (facts §1; chains.json, assets.json)."""

from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from mockserver import jsontext
from mockserver.engine import amounts
from mockserver.engine.catalog import Chain, Placed, Token, TokenContract
from mockserver.engine.refusal import Refusal
from mockserver.engine.world import World
from mockserver.jsontext import Json, plain

CHAIN_MEMBERS: Mapping[str, str] = MappingProxyType(
    {
        **{
            field.name: jsontext.camel(field.name)
            for field in fields(Chain)
            if field.name != "minter" and not field.name.startswith(("v1_", "vault"))
        },
        "index": "chainIndex",
        "nickname": "nickName",
        "minter_proxy": "builtInMinterProxy",
        "minter_proxy_v2": "builtInMinterProxyV2",
        "swap_proxy": "builtInSwapProxy",
    }
)
"""How 2.0 calls what is known of a chain."""


def chain(listed: Chain) -> Json:
    """Return a chain as 2.0 lists it; what the chain does not have is left out."""
    members = {member: getattr(listed, name) for name, member in CHAIN_MEMBERS.items()}
    return _present(**{**members, "noSwap": listed.no_swap or None})


def v1_chain(listed: Chain, coin: int | None) -> Json:
    """Return a chain as v1 lists it; `coin` is the index of its base coin (OAE)."""
    return {
        "id": listed.v1_id or 0,
        "name": listed.v1_name,
        "chainId": listed.chain_id,
        "fullName": listed.full_name,
        "url": listed.v1_icon or _v1_icon(coin, listed.v1_name),
        "tokens": [],
        "isActive": listed.active,
    }


def asset(token: Token) -> Json:
    """Return a token as getAssets lists it; false flags of a contract are left out (DEMO)."""
    return _present(
        **_names(token),
        cmcid=token.cmcid or 0,
        delisted=token.delisted,
        visible=token.visible,
        contracts={name: _contract(contract) for name, contract in token.contracts.items()},
    )


def asset_on_chain(placed: Placed) -> Json:
    """Return a token as getAssetsByChain lists it: flat, for one chain (DEMO)."""
    token, contract = placed.token, placed.contract
    return _present(
        **_names(token),
        decimals=contract.decimals,
        contractAddress=contract.address,
        cmcid=token.cmcid or 0,
        burnable=contract.burnable or None,
        delisted=contract.delisted or None,
        disableBridge=contract.disable_bridge or None,
        krc20Tradeable=contract.krc20_tradeable,
    )


def v1_token(placed: Placed, price: str) -> Json:
    """Return a token as v1 lists it, with its USD price (ESS1)."""
    return {
        "address": placed.contract.address,
        "chain": placed.chain.v1_name,
        "decimals": placed.decimals,
        "name": placed.token.name,
        "price": price,
        "symbol": placed.symbol,
        "url": _v1_icon(placed.token.index, placed.symbol),
    }


def icon(placed: Placed) -> str:
    """Return the address of a token's icon (SDK2)."""
    return f"https://icon.chainge.finance/{placed.token.index}_{placed.symbol}_color.png"


def _v1_icon(index: int | None, name: str | None) -> str:
    """Return the address of an icon as v1 gives it, where the number is the token's (OAE, ESS1)."""
    if index is None:
        return ""
    return f"https://chainge.oss-cn-hongkong.aliyuncs.com/icon/{index}_{name}_color.png"


def _contract(contract: TokenContract) -> Json:
    return _present(
        address=contract.address,
        decimals=contract.decimals,
        burnable=contract.burnable or None,
        delisted=contract.delisted or None,
        disableBridge=contract.disable_bridge or None,
    )


def _names(token: Token) -> dict[str, Json]:
    return {"index": token.index, "name": token.name, "symbol": token.symbol}


def _present(**members: Json) -> dict[str, Json]:
    return {name: value for name, value in members.items() if value is not None}


_HOUR_MS, _DAY_HOURS = 3_600_000, 24
_DAY = ("high", "low", "priceChange24h")


def token_info(world: World, placed: Placed) -> Json:
    """Return the facts of a token; figures that no world has are empty texts (A-070)."""
    token = placed.token
    return {
        "chain": placed.chain.nickname,
        "tokenAddress": placed.contract.address,
        "name": token.name,
        "symbol": token.symbol,
        "decimals": str(placed.decimals),
        "cmcid": str(token.cmcid or ""),
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
    held = []
    for placed in world.lists.tokens_on(chain).items:
        balance = world.balances.of_placed(placed, address)
        if balance.units > 0:
            held.append(_held(world, placed, balance.whole_tokens))
    return {"TokenList": held, "TokenAddress": address, "ChangeVal24H": "0"}


def _held(world: World, placed: Placed, tokens: Decimal) -> Json:
    usd = _usd(world, placed.symbol)
    # Down to cents: what is shown as owned must not be more than is there.
    cents = amounts.floor(Fraction(tokens) * Fraction(usd) * 100)
    return {
        "Name": placed.token.name,
        "Symbol": placed.symbol,
        "Decimals": placed.decimals,
        "TokenAddress": placed.contract.address,
        "Amount": plain(tokens),
        "Price": plain(usd),
        "Value": plain(Decimal(cents).scaleb(-2)),
        "LogoUrl": icon(placed),
    }


def _day(world: World, symbol: str) -> dict[str, Json]:
    """Return highest and lowest price of the last day, hour by hour, and the change in percent."""
    prices, now = world.scenario.prices, world.now()
    try:
        # Computed and not recorded: prices are a function of the moment.
        hourly = [prices.of(symbol, now - hour * _HOUR_MS).usd for hour in range(_DAY_HOURS + 1)]
    except Refusal:
        return dict.fromkeys(_DAY, "")
    change = Fraction(hourly[0] - hourly[-1]) / Fraction(hourly[-1]) * 100
    percent = Decimal(amounts.floor(change * 100)).scaleb(-2)
    return dict(zip(_DAY, map(plain, (max(hourly), min(hourly), percent)), strict=True))


def _usd(world: World, symbol: str) -> Decimal:
    try:
        return world.quotes.price(symbol).usd
    except Refusal:
        return Decimal(0)
