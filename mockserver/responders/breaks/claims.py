"""Breaks of claims: what lists, quotes, calls and reads say of amounts, names and ends."""

import re
from decimal import Decimal

from mockserver.exchange import Request
from mockserver.jsontext import Json, plain
from mockserver.responders.breaks.amounts import (
    EXACT,
    decimals_at,
    negative,
    on_whole,
    times,
    whole,
)
from mockserver.responders.breaks.answers import (
    Page,
    answering,
    change,
    editing,
    one_more,
    places,
    refused,
    success,
)
from mockserver.responders.breaks.operations import (
    AGGREGATE_QUOTE,
    ASSETS,
    ASSETS_BY_CHAIN,
    BALANCE,
    BRIDGE_QUOTE,
    CHECK_ORDER,
    CHECK_TICKET,
    PRICE,
    SUBMIT_ORDER,
    SUBMIT_TICKET,
    SWAP,
    TICKETS,
    V1_DETAIL,
    V1_RAW,
    V1_SUBMIT,
)
from mockserver.responders.breaks.requests import (
    Asked,
    all_of,
    asked_of,
    asking,
    correcting,
    with_value,
)
from mockserver.responders.breaks.schema import empty
from mockserver.responders.breaks.stateful import bounded, counted
from mockserver.responders.breaks.values import Break, Layer, Turn, Verdict
from mockserver.responders.delivery import Delivery
from mockserver.responders.responder import Call

_HASH = "0x" + "0" * 64
_NO_MORE = {
    **dict.fromkeys(("feeToAddress", "feeToChain", "feeToHash", "feeToToken")),
    **dict.fromkeys(("backAddress", "backChain", "backHash", "backToken")),
    "feeLevel": "0",
    "feeToAmount": "0",
    "backAmount": "0",
}
"""What a v1 order shows that has neither a part paid in coin nor a refund (ESS1)."""
_SIGNED = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?", re.ASCII)


def _no_addresses(page: Page) -> None:
    """Leave out where the contracts of tokens are, in the lists of all and of one chain."""
    for item in page.items:
        if not isinstance(item, dict):
            continue
        item.pop("contractAddress", None)
        contracts = item.get("contracts")
        for one in contracts.values() if isinstance(contracts, dict) else ():
            if isinstance(one, dict):
                one.pop("address", None)


def _other_decimals_too(page: Page) -> None:
    last = page.items[-1] if page.items else None
    if isinstance(last, dict):
        one_more(page, "list", decimals=6 if last.get("decimals") == 18 else 18)


def _as_whole_tokens(turn: Turn, asked: Asked) -> Request:
    """Read the amount of a request as whole tokens of the source chain."""
    given = asked.query.get("amount")
    if given is None:
        return asked.request
    decimals = decimals_at(
        turn.call, asked.query.get("fromChain", ""), asked.query.get("symbol", "")
    )
    told = times(f"1e{decimals}")(given)
    return asked.request if told == given else with_value(asked, "query", "amount", told)


def _what_is_left(value: Json) -> Json:
    """Return how many percent are left for how many are lost, which begins with a minus."""
    if not isinstance(value, str) or len(value) > 40 or not _SIGNED.fullmatch(value):
        return value
    return plain(EXACT.add(Decimal(100), Decimal(value)))


def _from_the_router(page: Page) -> None:
    """Tell the two ends of the call the wrong way round."""
    if "from" in page.data and "to" in page.data:
        page.data["from"], page.data["to"] = page.data["to"], page.data["from"]


def _value_for_all(page: Page) -> None:
    """Send the amount along, whether it is a coin or a token."""
    units = whole(page.asked.query.get("fromAmount"))
    if units is not None and "value" in page.data:
        page.data["value"] = str(units)


def _slippage_gained(page: Page) -> None:
    """Add the slippage to what a call pays, which it may cost."""
    slippage = whole(page.asked.query.get("slippage"))
    if slippage is not None and slippage <= 10_000:
        for holder, key in places(page, "amountOut"):
            holder[key] = on_whole(lambda units: units * (10_000 + slippage) // 10_000)(holder[key])


def _all_done(turn: Turn, sent: Delivery) -> Delivery:
    """Tell of the success of whatever is asked about and nobody knows."""
    query = asked_of(turn.call).query
    name = "id" if turn.call.operation.id == CHECK_ORDER else "ticketId"
    if not refused(sent.response) or whole(query.get(name)) is None:
        return sent
    return Delivery(success(turn, _done(turn.call)))


def _some_v1_order(turn: Turn) -> Delivery:
    """Show an order for whatever transaction is asked about and nobody has submitted."""
    call, sent, asked = turn.call, turn.answer(), asked_of(turn.call)
    if call.operation.id == V1_SUBMIT:
        turn.memory[str(asked.body.get("certHash"))] = True
        bounded(turn.memory)
        return sent
    chain, transaction, user = (asked.query.get(name) for name in ("chain", "hash", "evmAddress"))
    sound = not call.operation.read(call.request).violations
    if not refused(sent.response) or not sound or transaction in turn.memory:
        return sent
    ends = {"fromChain": chain, "fromToken": "USDT", "fromAmount": "100", "fromAddress": user}
    goal = {"toChain": "ETH", "toToken": "USDT", "toAmount": "0", "toAddress": user, "toHash": ""}
    order = {"sn": "CC1160520260101000009999", "status": 1, "type": 1, "certHash": transaction}
    return Delivery(success(turn, {"order": {**_NO_MORE, **order, **ends, **goal}}))


def _done(call: Call) -> Json:
    if call.operation.id == CHECK_TICKET:
        return {"succeeded": True, "solution": "completed"}
    ended = {"status": "Succeeded", "timestamp": call.hosted.world.now() // 1000}
    return {**ended, "execHash": _HASH, "reason": "", "amountOut": "1000000"}


def _one_token(call: Call, value: Json) -> Json:
    good = isinstance(value, int | Decimal) and not isinstance(value, bool) and value > 0
    return 1 if good else value


def _another_order(page: Page) -> None:
    """Give an order a new id whenever it is submitted again."""
    told = page.data.get("id")
    units = whole(told)
    times_told = counted(page.memory, f"order {str(told)[:100]}")
    if units is not None and times_told > 1:
        page.data["id"] = str(units + 500_000 * (times_told - 1))


def _another_ticket(page: Page) -> None:
    """Make a new ticket of a report whenever it is submitted again."""
    told = page.data.get("ticketId")
    if not isinstance(told, int) or isinstance(told, bool):
        return
    times_told = counted(page.memory, f"ticket {told % 10**40}")
    page.data["ticketId"] = told + 500_000 * (times_told - 1)


def _first_ticket(page: Page) -> None:
    told = page.data.get("ticketId")
    if isinstance(told, int) and not isinstance(told, bool):
        page.data["ticketId"] = page.memory.setdefault("ticketId", told)


def _cut_hash(value: Json) -> Json:
    """Return a hash as it fits a column that is too narrow."""
    return value[:60] if isinstance(value, str) else value


_VIOLATION, _OBSERVED, _ASSUMED = Verdict.VIOLATION, Verdict.OBSERVED, Verdict.ASSUMED

BREAKS: tuple[Break, ...] = (
    Break(
        "token-addresses-not-listed",
        Layer.EXCHANGE,
        "no list of tokens shows their contract addresses",
        "2.3",
        _VIOLATION,
        (ASSETS, ASSETS_BY_CHAIN),
        editing(_no_addresses),
    ),
    Break(
        "token-with-two-decimals",
        Layer.EXCHANGE,
        "one token of a chain is listed twice, with two decimal counts",
        "2.3",
        _VIOLATION,
        (ASSETS_BY_CHAIN,),
        editing(_other_decimals_too),
    ),
    Break(
        "bridge-amount-in-whole-tokens",
        Layer.EXCHANGE,
        "amount of a transfer's quote is read as whole tokens",
        "DEMO",
        _OBSERVED,
        (BRIDGE_QUOTE,),
        asking(_as_whole_tokens),
    ),
    Break(
        "bridge-pays-more-than-it-gets",
        Layer.CROSS,
        "a transfer pays one and a half percent more than is put in",
        "A-231",
        _ASSUMED,
        (BRIDGE_QUOTE,),
        change("outAmount", on_whole(lambda units: units * 1015 // 1000)),
    ),
    Break(
        "aggregator-unnamed",
        Layer.EXCHANGE,
        "aggregator of a quote is empty",
        "2.3",
        _VIOLATION,
        (AGGREGATE_QUOTE,),
        change("aggregator", empty),
    ),
    Break(
        "aggregate-impact-is-what-is-left",
        Layer.EXCHANGE,
        "priceImpact tells how many percent are left, not how many are lost",
        "DEMO",
        _OBSERVED,
        (AGGREGATE_QUOTE,),
        change("priceImpact", _what_is_left),
    ),
    Break(
        "swap-from-the-router",
        Layer.EXCHANGE,
        "from and to of a call are the wrong way round",
        "GB2-swap",
        _OBSERVED,
        (SWAP,),
        editing(_from_the_router),
    ),
    Break(
        "swap-value-for-tokens",
        Layer.EXCHANGE,
        "value of a call is the amount given, also of tokens that are no coin",
        "GB2-swap",
        _OBSERVED,
        (SWAP,),
        editing(_value_for_all),
    ),
    Break(
        "swap-coin-sends-nothing",
        Layer.EXCHANGE,
        "value of a call is 0, also where the coin of the chain is given",
        "GB2-swap",
        _OBSERVED,
        (SWAP,),
        change("value", lambda _: "0"),
    ),
    Break(
        "swap-slippage-gained",
        Layer.EXCHANGE,
        "slippage is added to what a call pays",
        "4.2 row 6",
        _VIOLATION,
        (SWAP,),
        editing(_slippage_gained),
    ),
    Break(
        "balance-negative",
        Layer.EXCHANGE,
        "balances are negative",
        "A-022",
        _ASSUMED,
        (BALANCE,),
        all_of(change("balance", negative), change("hrpBalance", negative)),
    ),
    Break(
        "price-source-unnamed",
        Layer.EXCHANGE,
        "source of a price is empty",
        "2.3",
        _VIOLATION,
        (PRICE,),
        change("source", empty),
    ),
    Break(
        "unknown-is-succeeded",
        Layer.EXCHANGE,
        "orders and tickets that nobody submitted have succeeded",
        "4.2 row 8",
        _VIOLATION,
        (CHECK_ORDER, CHECK_TICKET),
        answering(_all_done),
    ),
    Break(
        "v1-unknown-is-shown",
        Layer.EXCHANGE,
        "the look-up of a v1 order shows one for a transaction that nobody submitted",
        "A-232",
        _ASSUMED,
        (V1_SUBMIT, V1_DETAIL),
        _some_v1_order,
    ),
    Break(
        "v1-raw-of-one-token",
        Layer.GENERATION,
        "the raw transaction moves one token whatever the amount",
        "OAE",
        Verdict.OBSERVED,
        (V1_RAW,),
        correcting("body", "amount", _one_token),
    ),
    Break(
        "order-made-twice",
        Layer.STATEFUL,
        "the same order submitted again has another id",
        "A-152",
        _ASSUMED,
        (SUBMIT_ORDER,),
        editing(_another_order),
        needs_writes=True,
    ),
    Break(
        "ticket-made-twice",
        Layer.STATEFUL,
        "the same problem reported again has another ticket",
        "A-235",
        _ASSUMED,
        (SUBMIT_TICKET,),
        editing(_another_ticket),
        needs_writes=True,
    ),
    Break(
        "ticket-ids-reused",
        Layer.STATEFUL,
        "every ticket has the id of the first",
        "2.3",
        _VIOLATION,
        (SUBMIT_TICKET,),
        editing(_first_ticket),
        needs_writes=True,
    ),
    Break(
        "ticket-hash-cut-off",
        Layer.STATEFUL,
        "listed tickets have the first 60 characters of the hash",
        "2.3",
        _VIOLATION,
        (TICKETS,),
        change("list[].hash", _cut_hash),
        needs_writes=True,
    ),
)
"""Breaks of claims, of several layers."""
