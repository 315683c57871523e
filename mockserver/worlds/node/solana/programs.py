"""What nodes of Solana know of programs, addresses and blocks, and the parameters of calls."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from itertools import islice

from mockserver.engine.catalog import Placed
from mockserver.jsontext import Json
from mockserver.signing import solana_transactions
from mockserver.signing.base58 import base58, from_base58
from mockserver.signing.solana_transactions import SolanaTransaction
from mockserver.worlds.node.json_rpc_calls import BAD_PARAMS, RpcCall, RpcError
from mockserver.worlds.token_movements import vault_of

LAMPORTS = 5_000
"""What each signature costs (A-512)."""

SYSTEM = bytes(32)
TOKEN = from_base58("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
ASSOCIATED = from_base58("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
BUDGET = from_base58("ComputeBudget111111111111111111111111111111")
MEMOS = tuple(
    map(
        from_base58,
        (
            "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
            "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo",
        ),
    )
)
PROGRAMS = (SYSTEM, TOKEN, ASSOCIATED, BUDGET, *MEMOS)
NAMES = {SYSTEM: "system", TOKEN: "spl-token", **dict.fromkeys(MEMOS, "spl-memo")}
TRANSFER, TRANSFER_CHECKED = 3, 12
SYSTEM_TRANSFER = 2

# How many blocks a blockhash is good for, and after how many a block is final: the chain's own.
LIFE, FINAL = 150, 31
# Owners whose accounts of tokens are known without being named, so that a look-up stays quick.
_MOST_OWNERS = 200

# Of a signature, which is the longest text in base 58 here.
_MOST_DIGITS = 88


def key_at(call: RpcCall, place: int) -> bytes:
    """Return a parameter that is an address. Raises `RpcError`."""
    value = call.parameter(place)
    if value is None:
        raise RpcError(BAD_PARAMS, "`params` should have at least 1 argument(s)")
    return bytes_in(value, solana_transactions.KEY)


def bytes_in(value: Json, size: int) -> bytes:
    """Return so many bytes of base58, as an address or a signature has. Raises `RpcError`."""
    with suppress(ValueError):
        if isinstance(value, str) and len(value) <= _MOST_DIGITS:
            raw = from_base58(value)
            if len(raw) == size:
                return raw
            raise RpcError(BAD_PARAMS, "Invalid param: WrongSize")
    raise RpcError(BAD_PARAMS, "Invalid param: Invalid")


def raw_key(address: str) -> bytes:
    """Return the bytes of an address; one that is none of this chain gets some of its own."""
    with suppress(ValueError):
        raw = from_base58(address)
        if len(raw) == solana_transactions.KEY:
            return raw
    return sha256(address.encode()).digest()


@lru_cache(maxsize=4_096)
def token_account(owner: bytes, mint: bytes) -> bytes:
    """Return the account of a token that wallets derive for an owner."""
    return solana_transactions.derived_address(ASSOCIATED, owner, TOKEN, mint)


def tokens_on(call: RpcCall) -> list[Placed]:
    placed = call.hosted.world.scenario.catalog.tokens_on(call.chain)
    return [each for each in placed if not each.contract.native]


def mint_at(call: RpcCall, key: bytes) -> Placed | None:
    return next((each for each in tokens_on(call) if raw_key(each.contract.address) == key), None)


def _owners(call: RpcCall) -> Iterator[str]:
    """Yield who was seen on the chain, the vault first and the newest before others."""
    yield vault_of(call.chain)
    for block in call.blocks.newest_first():
        if block.payout is not None:
            yield block.payout.recipient
        elif block.tx is not None:
            yield block.tx.sender
            yield block.tx.to
            if block.tx.raw:
                yield from created_in(solana_transactions.decoded(block.tx.raw))


def created_in(signed: SolanaTransaction) -> Iterator[str]:
    """Yield for whom a transaction makes accounts of tokens."""
    for instruction in signed.instructions:
        if instruction.program == ASSOCIATED and len(instruction.accounts) > 3:
            yield base58(instruction.accounts[2])


def holder_of(call: RpcCall, account: bytes, *first: str) -> tuple[str, Placed] | None:
    """Return whose account of which token this is, as far as its owner was seen; else None."""
    tokens = tokens_on(call)
    for owner in (*first, *islice(dict.fromkeys(_owners(call)), _MOST_OWNERS)):
        for placed in tokens if owner else ():
            if token_account(raw_key(owner), raw_key(placed.contract.address)) == account:
                return owner, placed
    return None


def settings_at(call: RpcCall, place: int) -> Mapping[str, Json]:
    value = call.parameter(place)
    return value if isinstance(value, Mapping) else {}


def blockhash_of(call: RpcCall, number: int) -> str:
    return base58(bytes.fromhex(call.blocks.hash_of(number)[2:]))


def _number_of(call: RpcCall, blockhash: bytes) -> int:
    return call.blocks.number_of(f"0x{blockhash.hex()}")


def with_context(call: RpcCall, value: Json) -> Json:
    return {"context": {"apiVersion": "2.0.0", "slot": call.blocks.head}, "value": value}


def is_usable(call: RpcCall, blockhash: bytes) -> bool:
    number, head = _number_of(call, blockhash), call.blocks.head
    return number >= 0 and head - number <= LIFE
