"""How chains and tokens are shown, in both generations (facts §1; chains.json, assets.json)."""

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType

from mockserver import jsontext
from mockserver.engine.catalog import Chain, Placed, Token
from mockserver.engine.lists import ListedChain, ListedContract, ListedToken
from mockserver.jsontext import Json

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


def chain(listed: ListedChain) -> Json:
    """Return a chain as 2.0 lists it; what the chain does not have is left out."""
    one = listed.chain
    told = {member: getattr(one, name) for name, member in CHAIN_MEMBERS.items()}
    now = {"disabled": listed.disabled, "delisted": listed.delisted}
    return _present(**{**told, "noSwap": one.no_swap or None, **now})


def v1_chain(listed: ListedChain, coin: int | None) -> Json:
    """Return a chain as v1 lists it; `coin` is the index of its base coin (OAE)."""
    one = listed.chain
    return {
        "id": one.v1_id or 0,
        "name": one.v1_name,
        "chainId": int(one.network or 0),
        "fullName": one.full_name,
        "url": one.v1_icon or _v1_icon(coin, one.v1_name),
        "tokens": [],
        "isActive": listed.active,
    }


def asset(listed: ListedToken) -> Json:
    """Return a token as getAssets lists it; false flags of a contract are left out (DEMO)."""
    token = listed.token
    return _present(
        **_names(token),
        cmcid=token.cmcid,
        delisted=listed.delisted,
        visible=token.visible,
        contracts={name: _contract(contract) for name, contract in listed.contracts.items()},
    )


def asset_on_chain(listed: ListedContract) -> Json:
    """Return a token as getAssetsByChain lists it: flat, for one chain (DEMO)."""
    token, contract = listed.placed.token, listed.placed.contract
    return _present(
        **_names(token),
        decimals=contract.decimals,
        contractAddress=contract.address,
        cmcid=token.cmcid,
        burnable=contract.burnable or None,
        delisted=listed.delisted or None,
        disableBridge=listed.disable_bridge or None,
        krc20Tradeable=contract.krc20_tradeable,
    )


def v1_token(listed: ListedContract, price: str) -> Json:
    """Return a token as v1 lists it, with its USD price (ESS1)."""
    placed = listed.placed
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


def _contract(listed: ListedContract) -> Json:
    contract = listed.placed.contract
    return _present(
        address=contract.address,
        decimals=contract.decimals,
        burnable=contract.burnable or None,
        delisted=listed.delisted or None,
        disableBridge=listed.disable_bridge or None,
    )


def _names(token: Token) -> dict[str, Json]:
    return {"index": token.index, "name": token.name, "symbol": token.symbol}


def _present(**members: Json) -> dict[str, Json]:
    return {name: value for name, value in members.items() if value is not None}
