"""Breaks of manners: paths, bodies, headers and codes taken or given otherwise than published."""

import re
from dataclasses import replace

from mockserver import jsontext
from mockserver.exchange import Headers, Request
from mockserver.responders.breaks.answers import Page, answering, change, editing, places, rewritten
from mockserver.responders.breaks.operations import (
    ASSETS,
    BALANCE,
    BRIDGE_QUOTE,
    CHAINS,
    PRICE,
    SWAP,
    V1_CHAINS,
    V1_RAW,
    V1_TOKENS,
)
from mockserver.responders.breaks.requests import Asked, asked_of, asking
from mockserver.responders.breaks.schema import number
from mockserver.responders.breaks.stateful import counted
from mockserver.responders.breaks.values import Break, Layer, Turn, Verdict
from mockserver.responders.delivery import Delivery

_COLD_MS = 3_050
"""How late the first answer of a service is that has to warm up, in milliseconds of wall time."""

_NEWEST = 10_000


def _with_point(body: bytes) -> bytes:
    """Write a version as languages without integers do: 1.0."""
    return re.sub(rb'("version":[0-9]+)(?=[,}])', rb"\1.0", body, count=1)


def _numbers_when_cached(page: Page) -> None:
    """Answer what was asked before from a cache that knows numbers only."""
    if counted(page.memory, f"quote {page.asked.request.query[-300:]}") == 1:
        return
    for holder, key in (*places(page, "price"), *places(page, "outAmountUsd")):
        holder[key] = number(holder[key])


def _older_each_time(page: Page) -> None:
    if "version" in page.data:
        page.data["version"] = max(0, _NEWEST - counted(page.memory))


def _first_of_array(turn: Turn, asked: Asked) -> Request:
    """Take the only item of an array for the body itself."""
    try:
        found = jsontext.decode(asked.request.body)
    except jsontext.NotJson:
        return asked.request
    if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], dict):
        return asked.request
    return replace(asked.request, body=jsontext.encode(found[0]))


def _exact_header(turn: Turn) -> Delivery:
    """Know the header `chain` in this spelling only."""
    request = turn.call.request
    sent = request.headers.items_sent
    known = [item for item in sent if item[0] == "chain" or item[0].lower() != "chain"]
    if len(known) == len(sent):
        return turn.answer()
    return turn.answer(replace(request, headers=Headers(tuple(known))))


def _demands_aggregator(turn: Turn) -> Delivery:
    """Refuse a swap that leaves the choice of the aggregator to the service."""
    if asked_of(turn.call).query.get("aggregator"):
        return turn.answer()
    hosted, generation = turn.call.hosted, turn.call.operation.generation
    told = "query parameter 'aggregator' is missing"
    return Delivery(hosted.refuser.refuse(generation, "contract-violation", told))


def _without_tail(turn: Turn) -> Delivery:
    """Take a path only as far as an operation has it."""
    request, path = turn.call.request, turn.call.operation.path
    before, found, tail = request.path.partition(path)
    return turn.answer(replace(request, path=before + found)) if tail else turn.answer()


def _cold(turn: Turn, sent: Delivery) -> Delivery:
    if counted(turn.memory) > 1:
        return sent
    return replace(sent, delay_ms=sent.delay_ms + _COLD_MS)


BREAKS: tuple[Break, ...] = (
    Break(
        "success-code-is-200",
        Layer.SCHEMA,
        "code of a success is 200, as in HTTP",
        "2.1",
        Verdict.VIOLATION,
        (BALANCE, PRICE),
        change("$.code", lambda value: 200),
    ),
    Break(
        "version-with-a-point",
        Layer.SCHEMA,
        "version of a list is written 1.0",
        "A-215",
        Verdict.ASSUMED,
        (CHAINS, ASSETS),
        rewritten(_with_point),
    ),
    Break(
        "numbers-when-cached",
        Layer.PROTOCOL,
        "a quote that was asked before has price and outAmountUsd as numbers",
        "2.3",
        Verdict.VIOLATION,
        (BRIDGE_QUOTE,),
        editing(_numbers_when_cached),
    ),
    Break(
        "longer-path-taken",
        Layer.PROTOCOL,
        "whatever path begins like that of the chains is answered with them",
        "4.2",
        Verdict.EXTRA,
        (CHAINS,),
        _without_tail,
        longer_paths=True,
    ),
    Break(
        "v1-array-body-taken",
        Layer.PROTOCOL,
        "a body that is an array is taken for the object in it",
        "4.1 row 4",
        Verdict.VIOLATION,
        (V1_RAW,),
        asking(_first_of_array),
    ),
    Break(
        "v1-chain-header-in-one-case",
        Layer.PROTOCOL,
        "the header chain is not known as CHAIN",
        "A-214",
        Verdict.ASSUMED,
        (V1_TOKENS,),
        _exact_header,
    ),
    Break(
        "swap-demands-an-aggregator",
        Layer.EXCHANGE,
        "a swap is refused without the optional aggregator",
        "4.2 row 6",
        Verdict.VIOLATION,
        (SWAP,),
        _demands_aggregator,
    ),
    Break(
        "cold-start",
        Layer.TIMING,
        "the first list of tokens takes three seconds",
        "A-218",
        Verdict.ASSUMED,
        (ASSETS,),
        answering(_cold),
    ),
    Break(
        "v1-version-goes-back",
        Layer.STATEFUL,
        "version of the v1 lists is less at every read although the lists stay",
        "A-018",
        Verdict.ASSUMED,
        (V1_CHAINS, V1_TOKENS),
        editing(_older_each_time),
    ),
)
"""Breaks of manners, of several layers."""
