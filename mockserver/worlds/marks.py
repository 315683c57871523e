"""Blocks by command: empty ones, and reorganisations."""

from mockserver import limits
from mockserver.engine.catalog import Chain
from mockserver.engine.refusal import Refusal
from mockserver.jsontext import Json
from mockserver.responders.forms import BadControl
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.nodestate import Mark


def mine(hosted: HostedWorld, chain: Chain, count: int) -> None:
    """Make empty blocks on a chain. Raises `BadControl` for too many."""
    if not 0 < count <= limits.MINED.most:
        raise BadControl(f"expected 1 to {limits.MINED}, got {count}")
    _add(hosted, chain, mined=count)


def reorganise(hosted: HostedWorld, chain: Chain, depth: int) -> None:
    """Replace the newest blocks of a chain; what was in them comes a block later."""
    head = hosted.blocks.of(hosted, chain.nickname).head
    if not 0 < depth <= head:
        raise BadControl(f"'reorganise': the chain has {head} blocks to replace, got {depth}")
    _add(hosted, chain, reorganised=depth)


def _add(hosted: HostedWorld, chain: Chain, **what: int) -> None:
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
    if not chain.evm:
        raise BadControl(f"'chain': {nickname!r} has no node here")
    if "mine" in body:
        mine(hosted, chain, body["mine"])
    if "reorganise" in body:
        reorganise(hosted, chain, body["reorganise"])
    blocks = hosted.blocks.of(hosted, nickname)
    return {"chain": nickname, "height": blocks.head, "hash": blocks.hash_of(blocks.head)}
