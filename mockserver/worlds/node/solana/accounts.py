"""Accounts of Solana: of wallets, of tokens, mints and programs."""

from base64 import b64encode

from mockserver.engine.amounts import whole_tokens
from mockserver.engine.catalog import Placed
from mockserver.jsontext import Json, plain
from mockserver.signing import solana_transactions
from mockserver.signing.base58 import base58
from mockserver.worlds.node.json_rpc_calls import BAD_PARAMS, RpcCall, RpcError
from mockserver.worlds.node.solana.programs import (
    PROGRAMS,
    SYSTEM,
    TOKEN,
    holder_of,
    key_at,
    mint_at,
    raw_key,
    settings_at,
    token_account,
    tokens_on,
    with_context,
)
from mockserver.worlds.smart_contracts import coins_of, holding
from mockserver.worlds.token_movements import vault_of

ACCOUNT_BYTES = 165
"""Bytes of an account of a token."""

# What an account needs to be kept, in lamports.
_RENT_BYTE, _RENT_BASE = 6_960, 128


def balance_of(call: RpcCall) -> Json:
    owner = base58(key_at(call, 0))
    return with_context(call, coins_of(call.hosted, call.chain, owner))


def account_info(call: RpcCall) -> Json:
    return with_context(call, _account_json(call, key_at(call, 0), _encoding(call, 1)))


def several_accounts(call: RpcCall) -> Json:
    keys, encoding = call.parameter(0), _encoding(call, 1)
    if not isinstance(keys, list) or len(keys) > 100:
        raise RpcError(BAD_PARAMS, "Invalid params: expected at most 100 addresses")
    parts = [RpcCall(call.hosted, call.chain, [key]) for key in keys]
    return with_context(call, [_account_json(part, key_at(part, 0), encoding) for part in parts])


def _encoding(call: RpcCall, place: int) -> str:
    return str(settings_at(call, place).get("encoding", "base64"))


def _account_json(call: RpcCall, key: bytes, encoding: str) -> Json:
    """Return an account: of a wallet, of a token, a mint or a program; None where there is none."""
    if key in PROGRAMS:
        return _account_of(b"", 1, "NativeLoader1111111111111111111111111111111", executable=True)
    mint = mint_at(call, key)
    if mint is not None:
        return _token_data(_mint_data(mint), _mint_parsed(mint), encoding)
    holder = holder_of(call, key)
    if holder is not None:
        owner, placed = holder
        return _token_data(_data(call, owner, placed), _parsed(call, owner, placed), encoding)
    if not solana_transactions.is_on_curve(key) and base58(key) != vault_of(call.chain):
        # Nobody has a key of it, so that it is no wallet; a token's account that was not made.
        return None
    lamports = coins_of(call.hosted, call.chain, base58(key))
    return _account_of(b"", lamports, base58(SYSTEM)) if lamports else None


def _account_of(data: bytes, lamports: int, program: str, *, executable: bool = False) -> Json:
    return {
        "data": [b64encode(data).decode(), "base64"],
        "executable": executable,
        "lamports": lamports,
        "owner": program,
        "rentEpoch": 0,
        "space": len(data),
    }


def _token_data(data: bytes, parsed: Json, encoding: str) -> Json:
    account = _account_of(data, rent_of(len(data)), base58(TOKEN))
    if encoding == "jsonParsed":
        account["data"] = {"program": "spl-token", "parsed": parsed, "space": len(data)}
    elif encoding == "base58":
        account["data"] = [base58(data), "base58"]
    return account


def _data(call: RpcCall, owner: str, placed: Placed) -> bytes:
    units = holding(call.hosted, placed, owner)
    data = raw_key(placed.contract.address) + raw_key(owner) + units.to_bytes(8, "little")
    # No delegate, initialised, not native, nothing delegated, nobody may close it.
    return data + bytes(36) + b"\1" + bytes(ACCOUNT_BYTES - len(data) - 37)


def _supply_of(placed: Placed) -> int:
    """Return how many smallest units of a token there are: a million millions, if they fit."""
    supply: int = 10 ** (12 + placed.decimals)
    return min(2**64 - 1, supply)


def _mint_data(placed: Placed) -> bytes:
    return (
        bytes(36)
        + _supply_of(placed).to_bytes(8, "little")
        + bytes([placed.decimals, 1])
        + bytes(36)
    )


def _mint_parsed(placed: Placed) -> Json:
    supply = str(_supply_of(placed))
    info = {"decimals": placed.decimals, "supply": supply, "isInitialized": True}
    return {"type": "mint", "info": {**info, "freezeAuthority": None, "mintAuthority": None}}


def _parsed(call: RpcCall, owner: str, placed: Placed) -> Json:
    info = {
        "isNative": False,
        "mint": placed.contract.address,
        "owner": owner,
        "state": "initialized",
        "tokenAmount": amount_json(holding(call.hosted, placed, owner), placed),
    }
    return {"type": "account", "info": info}


def amount_json(units: int, placed: Placed) -> Json:
    tokens = whole_tokens(units, placed.decimals)
    return {
        "amount": str(units),
        "decimals": placed.decimals,
        "uiAmount": tokens,
        "uiAmountString": plain(tokens),
    }


def rent_of(size: int) -> int:
    return (_RENT_BASE + size) * _RENT_BYTE


def least_lamports(call: RpcCall) -> Json:
    size = call.parameter(0)
    if type(size) is not int or size < 0:
        raise RpcError(BAD_PARAMS, "Invalid params: invalid type, expected usize")
    return rent_of(min(size, 10_485_760))


def token_balance(call: RpcCall) -> Json:
    holder = holder_of(call, key_at(call, 0))
    if holder is None:
        raise RpcError(BAD_PARAMS, "Invalid param: could not find account")
    owner, placed = holder
    return with_context(call, amount_json(holding(call.hosted, placed, owner), placed))


def supply(call: RpcCall) -> Json:
    placed = mint_at(call, key_at(call, 0))
    if placed is None:
        raise RpcError(BAD_PARAMS, "Invalid param: not a Token mint")
    return with_context(call, amount_json(_supply_of(placed), placed))


def accounts_of_owner(call: RpcCall) -> Json:
    """Return the accounts of tokens of an owner: of one mint, or all that have something."""
    key, named, encoding = key_at(call, 0), settings_at(call, 1), _encoding(call, 2)
    owner = base58(key)
    if "mint" in named:
        placed = mint_at(call, raw_key(str(named["mint"])))
        if placed is None:
            raise RpcError(BAD_PARAMS, "Invalid param: could not find mint")
        tokens = [placed]
    else:
        tokens = tokens_on(call) if named.get("programId") == base58(TOKEN) else []
    held = [each for each in tokens if holding(call.hosted, each, owner)]
    listed = [
        {
            "pubkey": base58(token_account(key, raw_key(each.contract.address))),
            "account": _token_data(_data(call, owner, each), _parsed(call, owner, each), encoding),
        }
        for each in held
    ]
    return with_context(call, listed)
