"""Breaks of the books: orders refused for what is published, and what was refused kept."""

from typing import Any

from mockserver.jsontext import Json
from mockserver.responders.breaks.answers import Page, change, editing, succeeded
from mockserver.responders.breaks.operations import (
    SUBMIT_ORDER,
    SUBMIT_TICKET,
    TICKETS,
    V1_DETAIL,
    V1_SUBMIT,
)
from mockserver.responders.breaks.requests import asked_of, with_value
from mockserver.responders.breaks.taken import refusing
from mockserver.responders.breaks.values import Break, Layer, Turn, Verdict
from mockserver.responders.delivery import Delivery

_MOST_KEPT = 100
_NUMBERED_FROM = 700_000
_WHOLE_TOKENS_MORE = "1"


def _keeping_refused(turn: Turn) -> Delivery:
    """List reports that were refused as tickets all the same."""
    asked = asked_of(turn.call)
    if turn.call.operation.id == TICKETS:
        return editing(_with_refused)(turn)
    sent = turn.answer()
    told = asked.body.get("hash")
    if succeeded(turn, sent.response) is None and isinstance(told, str) and told:
        kept = turn.memory.setdefault("refused", [])
        if len(kept) < _MOST_KEPT:
            kept.append([told, str(asked.body.get("chain", ""))])
    return sent


def _with_refused(page: Page) -> None:
    for number, (told, chain) in enumerate(page.memory.get("refused", [])):
        item: dict[str, Any] = {
            "ticketId": _NUMBERED_FROM + number,
            "address": page.asked.query.get("address", ""),
            "chain": chain,
            "hash": told,
            "succeeded": False,
            "solution": "",
        }
        page.items.append(item)


def _only_transfers(turn: Turn) -> Delivery:
    """Take an order of type 2 for one of a type that there is not."""
    asked = asked_of(turn.call)
    if asked.body.get("orderType") != "2":
        return turn.answer()
    return turn.answer(with_value(asked, "body", "orderType", "3"))


def _one_number(page: Page) -> None:
    told = page.data.get("sn")
    if isinstance(told, str):
        page.data["sn"] = page.memory.setdefault("sn", told)


def _another_number(page: Page) -> None:
    """Give an order a new number whenever it is submitted again."""
    told = page.data.get("sn")
    if not isinstance(told, str):
        return
    known = page.memory.setdefault("told", {})
    if told in known:
        page.data["sn"] = f"{told}9"
    elif len(known) < _MOST_KEPT:
        known[told] = True


def _more(value: Json) -> Json:
    return (
        f"{_WHOLE_TOKENS_MORE}{value}" if isinstance(value, str) and value[:1].isdigit() else value
    )


BREAKS: tuple[Break, ...] = (
    Break(
        "order-wants-a-target-chain",
        Layer.EXCHANGE,
        "an order without the optional toChain is refused",
        "4.2",
        Verdict.VIOLATION,
        (SUBMIT_ORDER,),
        refusing(lambda asked: "toChain" not in asked.body, "toChain is missing"),
        needs_writes=True,
    ),
    Break(
        "aggregate-orders-refused",
        Layer.EXCHANGE,
        "orders of the published type 2 are refused",
        "4.2",
        Verdict.VIOLATION,
        (SUBMIT_ORDER,),
        _only_transfers,
        needs_writes=True,
    ),
    Break(
        "refused-tickets-kept",
        Layer.STATEFUL,
        "a report that was refused is listed as a ticket",
        "7",
        Verdict.VIOLATION,
        (SUBMIT_TICKET, TICKETS),
        _keeping_refused,
        needs_writes=True,
    ),
    Break(
        "v1-order-of-another-amount",
        Layer.STATEFUL,
        "a v1 order shows another amount than was submitted",
        "ESS1",
        Verdict.OBSERVED,
        (V1_DETAIL,),
        change("order.fromAmount", _more),
        needs_writes=True,
    ),
    Break(
        "v1-order-numbers-shared",
        Layer.STATEFUL,
        "every v1 order has the number of the first",
        "OAE",
        Verdict.OBSERVED,
        (V1_SUBMIT,),
        editing(_one_number),
        needs_writes=True,
    ),
    Break(
        "v1-order-made-twice",
        Layer.STATEFUL,
        "the same v1 deposit submitted again has another number",
        "A-152",
        Verdict.ASSUMED,
        (V1_SUBMIT,),
        editing(_another_number),
        needs_writes=True,
    ),
)
"""The breaks of the books."""
