"""Logs by their address and topics, and filters that show what is new (EIP-1474)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mockserver.jsontext import Json
from mockserver.worlds.node import contract_logs
from mockserver.worlds.node.json_rpc_calls import (
    ADDRESS,
    BAD_PARAMS,
    FILTER_ID,
    HASH,
    REFUSED,
    RpcCall,
    RpcError,
    argument,
    bad_parameter,
    block_number,
    checked,
)
from mockserver.worlds.node_state import Filter

# What a place of a filter allows, in lower case; empty allows any.
_Wanted = list[list[str]]

LOGS, BLOCKS, POOL = "logs", "blocks", "pool"
"""The kinds of filters."""

# A log has no more.
_MOST_TOPICS = 4
MOST_BLOCKS = 1_000
"""Blocks that a filter shows in one answer."""


def matching_logs(call: RpcCall) -> Json:
    return _matching(call, call.members)


def new_log_filter(call: RpcCall) -> Json:
    query = call.members
    # A wrong filter is refused when it is made, not when it is first read.
    wanted_logs(query)
    _span(call, query)
    return _made(call, LOGS, query)


def new_block_filter(call: RpcCall) -> Json:
    return _made(call, BLOCKS)


def new_pool_filter(call: RpcCall) -> Json:
    return _made(call, POOL)


def uninstall(call: RpcCall) -> Json:
    return call.hosted.node.filters.pop(_id(call), None) is not None


def all_logs(call: RpcCall) -> Json:
    """Return all logs of a filter of logs, whatever of it was shown before."""
    made = _known(call)
    if made.kind != LOGS:
        raise RpcError(REFUSED, "filter not found")
    return _matching(call, made.query)


def changes(call: RpcCall) -> Json:
    """Return what is new to a filter since it was last read."""
    read, news = read_on(call, _known(call))
    call.hosted.node.filters[_id(call)] = read
    return news


def read_on(call: RpcCall, made: Filter, most: int = MOST_BLOCKS) -> tuple[Filter, list[Json]]:
    """Return a filter as it is once read, and what is new to it, of blocks the newest `most`."""
    blocks = call.blocks
    if made.kind == POOL:
        since = call.hosted.transactions.since(made.seen)
        sent = [tx.hash for tx in since if tx.chain == call.chain.nickname and tx.raw]
        return replace(made, seen=len(call.hosted.transactions)), sent
    read = replace(made, seen=blocks.head, forks=blocks.forks)
    least = min([made.seen, *blocks.forked_since(made.forks)]) + 1
    if made.kind == BLOCKS:
        # After a long time without reading, the newest are enough.
        first = max(least, blocks.head + 1 - most)
        return read, [blocks.hash_of(number) for number in range(first, blocks.head + 1)]
    wanted, span = wanted_logs(made.query), _span(call, made.query, filtered=True)
    removed = []
    if blocks.forks > made.forks:
        # What was shown of blocks that are gone is taken back, and shown again where it is now.
        removed = [
            log
            for block in blocks.between(least, blocks.head)
            if block.number_before(made.forks) <= made.seen
            for log in contract_logs.shown(
                call.hosted, call.chain, blocks, block.before(made.forks), made.forks
            )
        ]
    fresh = _logs_between(call, max(span[0], least), min(span[1], blocks.head))
    return read, [log for log in (*removed, *fresh) if _fits(log, wanted)]


def begun(call: RpcCall, kind: str, query: Mapping[str, Json] | None = None) -> Filter:
    """Return a filter to which nothing is new."""
    blocks = call.blocks
    seen = len(call.hosted.transactions) if kind == POOL else blocks.head
    return Filter(call.chain.nickname, kind, seen, blocks.forks, dict(query or {}))


def _made(call: RpcCall, kind: str, query: Mapping[str, Json] | None = None) -> str:
    return call.hosted.node.add_filter(begun(call, kind, query))


def _id(call: RpcCall) -> str:
    return f"0x{int(call.text(FILTER_ID), 16):032x}"


def _known(call: RpcCall) -> Filter:
    made = call.hosted.node.filters.get(_id(call))
    if made is None or made.chain != call.chain.nickname:
        raise RpcError(REFUSED, "filter not found")
    return made


def _matching(call: RpcCall, query: Mapping[str, Json]) -> Json:
    wanted = wanted_logs(query)
    least, most = _span(call, query)
    return [log for log in _logs_between(call, least, most) if _fits(log, wanted)]


def _logs_between(call: RpcCall, least: int, most: int) -> Iterator[dict[str, Json]]:
    blocks = call.blocks
    for block in blocks.between(least, most):
        yield from contract_logs.shown(call.hosted, call.chain, blocks, block)


def _span(call: RpcCall, query: Mapping[str, Json], *, filtered: bool = False) -> tuple[int, int]:
    """Return the first and the last block that a query is about, by default the newest.

    A `filtered` one goes on without end.
    """
    blocks, ends = call.blocks, ("fromBlock", "toBlock")
    if query.get("blockHash") is not None:
        text = checked(query["blockHash"], f"{argument(0)}: 'blockHash'", HASH)
        if any(query.get(name) is not None for name in ends):
            raise RpcError(
                BAD_PARAMS,
                f"{argument(0)}: cannot specify both BlockHash and FromBlock/ToBlock, choose one "
                "or the other",
            )
        number = blocks.number_of(text)
        if number < 0:
            raise RpcError(REFUSED, "unknown block")
        return number, number
    named = [query.get(name) for name in ends]
    least, most = (
        block_number(blocks, value, f"{argument(0)}: {name!r}")
        for name, value in zip(ends, named, strict=True)
    )
    if filtered:
        fixed = isinstance(named[1], str) and named[1].startswith("0x")
        first = isinstance(named[0], str) and named[0].startswith("0x")
        return least if first else 0, most if fixed else blocks.head
    if least > most and all(value is not None for value in named):
        raise RpcError(BAD_PARAMS, "invalid block range params")
    return least, most


def wanted_logs(query: Mapping[str, Json]) -> _Wanted:
    """Return what logs have to have, from a query. Raises `RpcError` for a wrong one."""
    topics = query.get("topics") or []
    if not isinstance(topics, Sequence) or isinstance(topics, str):
        raise bad_parameter(f"{argument(0)}: 'topics'", "an array", topics)
    if len(topics) > _MOST_TOPICS:
        raise RpcError(BAD_PARAMS, "exceed max topics")
    wanted = [_any_of(query.get("address"), f"{argument(0)}: 'address'", named=True)]
    return wanted + [_any_of(topic, f"{argument(0)}: 'topics'") for topic in topics]


def _any_of(value: Json, where: str, *, named: bool = False) -> list[str]:
    many = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    form = ADDRESS if named else HASH
    return [checked(wanted, where, form).lower() for wanted in many if wanted is not None]


def _fits(log: Mapping[str, Json], wanted: _Wanted) -> bool:
    own = (log["address"], *log["topics"])
    return len(wanted) <= len(own) and all(
        not any_of or str(text).lower() in any_of for text, any_of in zip(own, wanted, strict=False)
    )
