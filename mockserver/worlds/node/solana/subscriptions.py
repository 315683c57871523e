"""What subscribers to a node of Solana are told, in the forms of its RPC over WebSocket."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.signing.base58 import base58, from_base58
from mockserver.worlds.node.evm_subscriptions import MOST_HEADS, Subscription
from mockserver.worlds.node.json_rpc_calls import BAD_PARAMS, RpcCall, RpcError
from mockserver.worlds.node.solana.accounts import account_info
from mockserver.worlds.node.solana.programs import FINAL, SYSTEM, settings_at, with_context
from mockserver.worlds.node.solana.transactions import error_of

# How many blocks have to stand on a transaction. web3.js still takes the older words.
_DEPTH: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("processed", "recent"), 0),
        **dict.fromkeys(("confirmed", "single", "singleGossip"), 1),
        **dict.fromkeys(("finalized", "max", "root"), FINAL + 1),
    }
)
# Bytes of a signature, and how many characters they take in base 58 at most.
_SIGNATURE, _LONGEST = 64, 88
_NOBODY = {
    "data": ["", "base64"],
    "executable": False,
    "lamports": 0,
    "owner": base58(SYSTEM),
    "rentEpoch": 0,
    "space": 0,
}


@dataclass(slots=True)
class SlotWatch:
    """Tells of each slot, up to `seen`."""

    seen: int
    method: str = "slotNotification"
    heads: bool = True
    ended: bool = False

    def news(self, call: RpcCall) -> list[Json]:
        head = call.blocks.head
        first = max(self.seen + 1, head + 1 - MOST_HEADS)
        self.seen = max(self.seen, head)
        return [
            {"parent": slot - 1, "root": max(0, slot - 1 - FINAL), "slot": slot}
            for slot in range(first, head + 1)
        ]


@dataclass(slots=True)
class SignatureWatch:
    """Tells once that so many blocks stand on a transaction."""

    signature: str
    depth: int
    method: str = "signatureNotification"
    heads: bool = True
    ended: bool = False

    def news(self, call: RpcCall) -> list[Json]:
        block = call.blocks.of_transaction(self.signature)
        if block is None or call.blocks.head - block.number < self.depth:
            return []
        self.ended = True
        return [with_context(call, {"err": error_of(block)})]


@dataclass(slots=True)
class AccountWatch:
    """Tells of an account whenever it changes; `params` are those of `getAccountInfo`."""

    params: Sequence[Json]
    shown: Json
    state: object
    method: str = "accountNotification"
    heads: bool = False
    ended: bool = False

    def news(self, call: RpcCall) -> list[Json]:
        state = _state(call)
        if state == self.state:
            # To find the holder of an account takes long, and only blocks with something move it.
            return []
        self.state = state
        account = _account(call, self.params)
        if account == self.shown:
            return []
        self.shown = account
        return [with_context(call, account)]


def _state(call: RpcCall) -> object:
    hosted = call.hosted
    return len(hosted.transactions), hosted.blocks.paid, call.blocks.forks


def _account(call: RpcCall, params: Sequence[Json]) -> Json:
    asked = RpcCall(call.hosted, call.chain, params)
    account = account_info(asked)["value"]
    return dict(_NOBODY) if account is None else account


def _slots(call: RpcCall) -> Subscription:
    return SlotWatch(call.blocks.head)


def _signature(call: RpcCall) -> Subscription:
    signature, commitment = call.parameter(0), settings_at(call, 1).get("commitment", "finalized")
    if not _is_signature(signature):
        raise RpcError(BAD_PARAMS, "Invalid param: Invalid")
    depth = _DEPTH.get(commitment) if isinstance(commitment, str) else None
    if depth is None:
        raise RpcError(BAD_PARAMS, f"Invalid params: 'commitment' is one of {', '.join(_DEPTH)}")
    return SignatureWatch(signature, depth)


def _is_signature(value: Json) -> bool:
    with suppress(ValueError):
        if isinstance(value, str) and len(value) <= _LONGEST:
            return len(from_base58(value)) == _SIGNATURE
    return False


def _accounts(call: RpcCall) -> Subscription:
    return AccountWatch(call.params, _account(call, call.params), _state(call))


SUBSCRIBING: Mapping[str, Callable[[RpcCall], Subscription]] = MappingProxyType(
    {"slotSubscribe": _slots, "signatureSubscribe": _signature, "accountSubscribe": _accounts}
)
"""The methods that subscribe, by name."""
