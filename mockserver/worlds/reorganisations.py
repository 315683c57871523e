"""Blocks by command: empty ones, and reorganisations."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from mockserver import limits
from mockserver.engine.catalog import Chain
from mockserver.engine.refusal import Refusal
from mockserver.engine.world_state import hash_key
from mockserver.jsontext import Json
from mockserver.responders.control_forms import BadControl
from mockserver.worlds import announced_transactions as chain_transactions
from mockserver.worlds import mempool
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.node_state import Mark
from mockserver.worlds.smart_contracts import units_held
from mockserver.worlds.token_movements import ZERO
from mockserver.worlds.transaction_store import ChainTransaction


def mine(hosted: HostedWorld, chain: Chain, count: int) -> None:
    """Make empty blocks on a chain. Raises `BadControl` for too many."""
    if not 0 < count <= limits.MINED.most:
        raise BadControl(f"expected 1 to {limits.MINED}, got {count}")
    if chain.evm:
        mempool.settle_all(hosted, chain)
    _add(hosted, chain, mined=count)


def reorganise(hosted: HostedWorld, chain: Chain, depth: int, lose: str = "") -> None:
    """Replace the newest blocks of a chain; what was in them comes a block later.

    With `lose` the transactions on which nothing rests are gone: for good where that is `all`, and
    in the pool of the node where it is `pool` (A-514). Raises `BadControl`.
    """
    blocks = hosted.blocks.of(hosted, chain.nickname)
    if not 0 < depth <= blocks.head:
        raise BadControl(
            f"'reorganise': the chain has {blocks.head} blocks to replace, got {depth}"
        )
    if lose == "pool" and not chain.evm:
        raise BadControl(f"'lose': nodes of {chain.nickname!r} have no pool here; give 'all'")
    lost = tuple(_losable(hosted, chain, blocks.head - depth)) if lose else ()
    _add(hosted, chain, reorganised=depth, lost=tuple([tx.hash for tx in lost]))
    # The blocks of before are worked out with the transactions as they were.
    hosted.blocks.of(hosted, chain.nickname)
    for tx in lost:
        chain_transactions.lose(hosted, tx)
    for tx in reversed(lost) if lose == "pool" else ():
        mempool.wait_again(hosted, chain, tx)


def _losable(hosted: HostedWorld, chain: Chain, fork: int) -> Iterator[ChainTransaction]:
    """Yield transactions above a block, the newest first, without which all others are right."""
    # Orders go on, so that what they were paid with stays, and so does what its sender has sent
    # before; a receiver that has spent what it got keeps it.
    kept: set[str] = set()
    spent: Counter[tuple[str, str]] = Counter()
    catalog = hosted.world.scenario.catalog
    for block in hosted.blocks.of(hosted, chain.nickname).newest_first():
        if block.number <= fork:
            return
        tx = block.tx
        if tx is None:
            continue
        moves = [(token, payer, to, units) for token, payer, to, units in block.movements(catalog)]
        ordered = hosted.world.orders.paid_by(hash_key(tx.chain, tx.hash)) is not None
        taken = Counter(spent)
        for token, payer, receiver, units in moves:
            taken[token, payer] -= units
            taken[token, receiver] += units
        poor = any(
            units_held(hosted, catalog.placed_at(chain, token), receiver) < taken[token, receiver]
            for token, _, receiver, _ in moves
            if receiver != ZERO
        )
        if ordered or poor or tx.sender in kept or tx.sender == ZERO:
            kept.add(tx.sender)
            continue
        spent = taken
        yield tx


def _add(hosted: HostedWorld, chain: Chain, **what: Any) -> None:
    node = hosted.node
    if len(node.marks) >= limits.MARKS.most:
        raise BadControl(f"there are {limits.MARKS} already; reset the world")
    hosted.blocks.of(hosted, chain.nickname)
    done = len(hosted.transactions), hosted.blocks.paid
    node.marks = (*node.marks, Mark(chain.nickname, hosted.world.now(), *done, **what))


def change(hosted: HostedWorld, nickname: str, body: Json) -> Json:
    """Make or replace blocks as a control request asks, and return where the chain stands."""
    try:
        chain = hosted.world.scenario.catalog.chain(nickname)
    except Refusal as refusal:
        raise BadControl(f"'chain': {refusal.reason}") from None
    if not chain.has_node:
        raise BadControl(f"'chain': {nickname!r} has no node here")
    if "mine" in body:
        mine(hosted, chain, body["mine"])
    if "lose" in body and "reorganise" not in body:
        raise BadControl("'lose': goes with 'reorganise', and only with it")
    if "reorganise" in body:
        reorganise(hosted, chain, body["reorganise"], body.get("lose", ""))
    blocks = hosted.blocks.of(hosted, nickname)
    return {"chain": nickname, "height": blocks.head, "hash": blocks.hash_of(blocks.head)}
