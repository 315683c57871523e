"""What subscribers to a node of an EVM chain are told, in the forms of geth (`eth_subscribe`)."""

from collections.abc import Callable, Mapping
from typing import Protocol

from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.worlds.node import log_filters
from mockserver.worlds.node.blocks_and_receipts import block_json, mined_json
from mockserver.worlds.node.json_rpc_calls import (
    BAD_PARAMS,
    UNKNOWN_METHOD,
    RpcCall,
    RpcError,
    argument,
    bad_parameter,
)
from mockserver.worlds.node_state import Filter

MOST_HEADS = 100
"""Blocks that are told at once: after a jump of the clock, the newest are enough."""

# What a block has beside its header.
_BODY = ("size", "totalDifficulty", "transactions", "uncles")


class Subscription(Protocol):
    """What a client has subscribed to.

    `method` names its notifications. It has `ended` once there is nothing more to tell; one of
    `heads` waits for blocks, which polls bring on a clock that stands.
    """

    @property
    def method(self) -> str: ...

    @property
    def heads(self) -> bool: ...

    @property
    def ended(self) -> bool: ...

    def news(self, call: RpcCall) -> list[Json]:
        """Return what is new since the last time; `call` is one without parameters."""


@dataclass(slots=True)
class FilterWatch:
    """A filter that is read for its client; `shown` writes what it finds."""

    made: Filter
    shown: Callable[[RpcCall, Json], Json]
    method: str = "eth_subscription"
    ended: bool = False

    @property
    def heads(self) -> bool:
        return self.made.kind == log_filters.BLOCKS

    def news(self, call: RpcCall) -> list[Json]:
        self.made, found = log_filters.read_on(call, self.made, MOST_HEADS)
        return [self.shown(call, item) for item in found]


def subscribe(call: RpcCall) -> Subscription:
    """Return what `eth_subscribe` asks for. Raises `RpcError`."""
    name = call.parameter(0)
    if not isinstance(name, str):
        raise RpcError(BAD_PARAMS, "expected subscription name as first argument")
    if name == "newHeads":
        return FilterWatch(log_filters.begun(call, log_filters.BLOCKS), _header)
    if name == "logs":
        return FilterWatch(log_filters.begun(call, log_filters.LOGS, _query(call)), _as_it_is)
    if name == "newPendingTransactions":
        shown = _transaction if call.parameter(1) is True else _as_it_is
        return FilterWatch(log_filters.begun(call, log_filters.POOL), shown)
    raise RpcError(UNKNOWN_METHOD, f'no "{name[:60]}" subscription in eth namespace')


def _query(call: RpcCall) -> Mapping[str, Json]:
    given = call.parameter(1)
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise bad_parameter(argument(1), "an object", given)
    # A range of blocks says nothing of what is still to come.
    query = {name: given[name] for name in ("address", "topics") if name in given}
    log_filters.wanted_logs(query)
    return query


def _as_it_is(_: RpcCall, item: Json) -> Json:
    return item


def _header(call: RpcCall, block_hash: Json) -> Json:
    block = block_json(call, call.blocks.number_of(str(block_hash)))
    return {name: value for name, value in block.items() if name not in _BODY}


def _transaction(call: RpcCall, tx_hash: Json) -> Json:
    block = call.blocks.of_transaction(str(tx_hash))
    return tx_hash if block is None else mined_json(call, block)
