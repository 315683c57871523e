"""Breaks of what is published: good requests refused, and lists that lack what requests take."""

import copy
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.responders.breaks.answers import Page, change, editing, succeeded
from mockserver.responders.breaks.operations import (
    AGGREGATE_QUOTE,
    ASSETS,
    ASSETS_BY_CHAIN,
    SUBMIT_ORDER,
    SWAP,
    TICKETS,
    V1_DETAIL,
    V1_QUOTE,
    V1_SUBMIT,
)
from mockserver.responders.breaks.requests import Asked, asked_of, correcting, with_value
from mockserver.responders.breaks.values import Act, Break, Layer, Turn, Verdict
from mockserver.responders.delivery import Delivery
from mockserver.responders.responder import Call

_MOST_PERCENT = 50
_MILLION = Decimal(10) ** 6
_MOST_KEPT = 100
_NOT_ALLOWED = 405


def refusing(wrong: Callable[[Asked], bool], why: str) -> Act:
    """Refuse good requests of a kind; those without the input are refused for that anyway."""

    def act(turn: Turn) -> Delivery:
        sent = turn.answer()
        if succeeded(turn, sent.response) is None or not wrong(asked_of(turn.call)):
            return sent
        generation, refuser = turn.call.operation.generation, turn.call.hosted.refuser
        return replace(sent, response=refuser.refuse(generation, "contract-violation", why))

    return act


def _above_percent(asked: Asked) -> bool:
    text = asked.query.get("slippage", "")
    return text.isascii() and text.isdecimal() and len(text) < 9 and int(text) > _MOST_PERCENT


def _has_fraction(asked: Asked) -> bool:
    amount = asked.body.get("amount")
    return isinstance(amount, Decimal) and amount != amount.to_integral_value()


def _not_allowed(turn: Turn) -> Delivery:
    """Answer a GET as a server does that has the path for another method only."""
    sent = turn.answer()
    generation, refuser = turn.call.operation.generation, turn.call.hosted.refuser
    said = refuser.refuse(generation, "contract-violation", "method not allowed")
    return replace(sent, response=Response(_NOT_ALLOWED, said.headers, said.body))


def _two_tokens(call: Call, value: Json) -> Json:
    """Swap two whole tokens, whichever amount was asked for."""
    decimals = asked_of(call).query.get("fromDecimal", "")
    good = decimals.isascii() and decimals.isdecimal() and len(decimals) < 3
    return "2" + "0" * int(decimals) if good and str(value).isdecimal() else value


def _millionths(call: Call, value: Json) -> Json:
    good = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return Decimal(value) / _MILLION if good and 0 < value < 10**20 else value


def _one_without_decimals(page: Page) -> None:
    items = [item for item in page.items if isinstance(item, dict) and "decimals" in item]
    if items:
        del items[-1]["decimals"]


def _even(value: Json) -> Json:
    return value // 2 * 2 if isinstance(value, int) and not isinstance(value, bool) else value


def _listed_twice(page: Page) -> None:
    page.data["list"] = [copy.deepcopy(item) for item in page.items for _ in range(2)]


def _on_any_chain(turn: Turn) -> Delivery:
    """Find an order under every chain: its source is put in place of the one asked for."""
    asked = asked_of(turn.call)
    if turn.call.operation.id == V1_SUBMIT:
        sent = turn.answer()
        if succeeded(turn, sent.response) is not None and len(turn.memory) < _MOST_KEPT:
            turn.memory[str(asked.body.get("certHash"))] = asked.body.get("fromChain")
        return sent
    source = turn.memory.get(asked.query.get("hash", ""))
    if source is None or not asked.query.get("chain"):
        return turn.answer()
    return turn.answer(with_value(asked, "query", "chain", source))


def _break(  # noqa: PLR0913 (one parameter a fact)
    name: str,
    layer: Layer,
    summary: str,
    section: str,
    operations: tuple[str, ...],
    act: Act,
    *,
    needs_writes: bool = False,
    verdict: Verdict = Verdict.VIOLATION,
) -> Break:
    return Break(
        name,
        layer,
        summary,
        section,
        verdict,
        operations,
        act,
        needs_writes=needs_writes,
    )


BREAKS: tuple[Break, ...] = (
    _break(
        "swap-slippage-of-100-refused",
        Layer.EXCHANGE,
        "slippage is read as percent, so that 100 is refused",
        "4.2 row 6",
        (SWAP,),
        refusing(_above_percent, "slippage is at most 50"),
    ),
    _break(
        "swap-wants-route-summary",
        Layer.EXCHANGE,
        "a swap without the optional routeSummary is refused",
        "4.2 row 6",
        (SWAP,),
        refusing(lambda asked: not asked.query.get("routeSummary"), "no routeSummary"),
    ),
    _break(
        "swap-of-two-tokens",
        Layer.CROSS,
        "the call is for two tokens, whatever amount is asked for",
        "4.2 row 6",
        (SWAP,),
        correcting("query", "fromAmount", _two_tokens),
    ),
    _break(
        "aggregate-quote-not-for-get",
        Layer.PROTOCOL,
        "the quote is served for another method than the published one",
        "4.2 row 5",
        (AGGREGATE_QUOTE,),
        _not_allowed,
    ),
    _break(
        "v1-amount-without-fraction",
        Layer.EXCHANGE,
        "an amount with a fraction is refused",
        "2.2",
        (V1_QUOTE,),
        refusing(_has_fraction, "amount is no integer"),
    ),
    _break(
        "v1-amount-in-millionths",
        Layer.GENERATION,
        "the amount is read as millionths of a token",
        "2.2",
        (V1_QUOTE,),
        correcting("body", "amount", _millionths),
    ),
    _break(
        "chain-token-without-decimals",
        Layer.CROSS,
        "one token of a chain lacks its decimals",
        "2.3",
        (ASSETS_BY_CHAIN,),
        editing(_one_without_decimals),
    ),
    _break(
        "token-indexes-shared",
        Layer.CROSS,
        "two tokens have one index",
        "4.2",
        (ASSETS, ASSETS_BY_CHAIN),
        change("list[].index", _even),
    ),
    _break(
        "order-wants-extra",
        Layer.EXCHANGE,
        "an empty extra, which is the default, is refused",
        "4.2",
        (SUBMIT_ORDER,),
        refusing(lambda asked: asked.body.get("extra") == "", "extra is empty"),
        needs_writes=True,
    ),
    _break(
        "ticket-listed-twice",
        Layer.STATEFUL,
        "each ticket is listed twice",
        "A-263",
        (TICKETS,),
        editing(_listed_twice),
        needs_writes=True,
        verdict=Verdict.ASSUMED,
    ),
    _break(
        "v1-order-on-any-chain",
        Layer.STATEFUL,
        "a v1 order is found under any chain",
        "2.2",
        (V1_SUBMIT, V1_DETAIL),
        _on_any_chain,
        needs_writes=True,
    ),
)
"""The breaks of what is published."""
