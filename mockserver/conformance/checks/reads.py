"""Balances, prices and look-ups of 2.0 against their own requests."""

from collections.abc import Iterator
from decimal import Decimal

from mockserver.conformance.basis import basis_of_row
from mockserver.conformance.checks.comparing import quotes, token_at
from mockserver.conformance.checks.judging import JUDGED, Said
from mockserver.conformance.checks.pricing import DOLLARS, is_a_dollar
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import BRIDGE, SWAP_QUOTE
from mockserver.conformance.discovery.clocks import (
    LEAST_S,
    MILLISECONDS,
    MOST_S,
    looks_like_a_time,
    seconds_of,
    service_time,
)
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import Token
from mockserver.conformance.discovery.listing import folded, text
from mockserver.conformance.discovery.routes import is_stable
from mockserver.conformance.discovery.v1_data import scalar
from mockserver.conformance.requests.protocol import HOSTILE
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive, Vacuous
from mockserver.contract import Operation, documented, shipped_facts

BALANCE, PRICE = "v2.getBalance", "v2.getPrice"
_AGREE = Decimal("1.25")
_UNLIKE = Decimal(3)
_AHEAD_S = 3600
_ANOTHER_TIME_S = 7 * 86_400
_UNKNOWN = shipped_facts().names["words"]["unknown"]


def balance_is_not_negative(_: RunContext, exchange: Exchange) -> Iterator[Said]:
    for name in ("balance", "hrpBalance"):
        value = exchange.data.get(name)
        if not isinstance(value, str):
            continue
        yield JUDGED
        number = amounts.number(value)
        if number is None or number < 0:
            message = f"{name} is {value[:80]!r}, expected a number that is not negative"
            yield Finding(message, place=f"data.{name}")


def readable_balance_is_the_balance(context: RunContext, exchange: Exchange) -> Iterator[Said]:
    token = _asked_token(context, exchange)
    units = amounts.number(exchange.data.get("balance"))
    whole = amounts.number(exchange.data.get("hrpBalance"))
    if token is None or token.decimals is None or units is None or whole is None:
        return
    if not units and not whole:
        return
    yield JUDGED
    fair = amounts.EXACT.scaleb(units, -token.decimals)
    if not amounts.within(fair, whole, Decimal("1.001")):
        yield Finding(
            f"hrpBalance is {whole}, while balance {units} is {fair:.6g} {token.symbol} with "
            f"{token.decimals} decimals"
        )


def balance_is_of_the_token(
    context: RunContext, one: Exchange, other: Exchange
) -> Iterator[Finding]:
    tokens = _asked_token(context, one), _asked_token(context, other)
    balances = one.text("balance"), other.text("balance")
    if tokens[0] is None or tokens[1] is None or tokens[0].decimals == tokens[1].decimals:
        raise Vacuous("no two tokens of other decimals are listed on the chain")
    if not amounts.number(balances[0]) or not amounts.number(balances[1]):
        raise Vacuous("the address owns nothing of one of the tokens")
    same = balances[0] == balances[1] and one.text("hrpBalance") == other.text("hrpBalance")
    if same:
        yield Finding(
            f"balance {balances[0][:60]} and hrpBalance {one.text('hrpBalance')[:60]} are told of "
            f"{tokens[0].symbol} and of {tokens[1].symbol} alike"
        )


def price_is_a_price(context: RunContext, exchange: Exchange) -> Iterator[Said]:
    value = exchange.data.get("price")
    if not isinstance(value, str):
        return
    yield JUDGED
    price, token = amounts.number(value), _asked_token(context, exchange)
    if price is None or price <= 0:
        yield Finding(f"price is {value[:80]!r}, expected a decimal number above 0")
    elif token is not None and token.symbol in DOLLARS and not is_a_dollar(price):
        yield Finding(f"price of {token.symbol} is {price}, expected about 1 USD")


def price_is_of_the_token(context: RunContext, one: Exchange, other: Exchange) -> Iterator[Finding]:
    tokens = _asked_token(context, one), _asked_token(context, other)
    if tokens[0] is None or tokens[1] is None or all(map(is_stable, filter(None, tokens))):
        raise Vacuous("no two tokens of different value were asked about")
    rates = [
        amounts.EXACT.divide(quote.got, quote.put)
        for quote in quotes(context, SWAP_QUOTE)
        if quote.got
        and quote.got > 0
        and (quote.route.source.symbol, quote.route.target.symbol)
        == (tokens[0].symbol, tokens[1].symbol)
    ]
    prices = one.text("price"), other.text("price")
    if None in map(amounts.number, prices):
        raise Vacuous("price is no number in one of the two answers")
    if not rates:
        raise Vacuous("no quote tells what the two tokens are worth to each other")
    if prices[0] == prices[1] and not amounts.within(rates[0], Decimal(1), Decimal(2)):
        yield Finding(
            f"{tokens[0].symbol} and {tokens[1].symbol} are both {prices[0][:40]} USD, while 1 "
            f"{tokens[0].symbol} pays {rates[0]:.6g} {tokens[1].symbol}"
        )


def price_agrees_with_quotes(context: RunContext, exchange: Exchange) -> Iterator[Said]:
    price, token = amounts.number(exchange.data.get("price")), _asked_token(context, exchange)
    if price is None or price <= 0 or token is None:
        return
    for quote in (*quotes(context, BRIDGE), *quotes(context, SWAP_QUOTE)):
        usd = quote.number("outAmountUsd")
        if quote.route.target.symbol != token.symbol or not usd or not quote.got:
            continue
        if usd <= 0 or quote.got <= 0:
            continue
        yield JUDGED
        implied = amounts.EXACT.divide(usd, quote.got)
        unlike = not amounts.within(price, implied, _UNLIKE)
        if unlike and _quotes_agree(context, token, implied):
            message = f"price of {token.symbol} is {price}, while quotes count {implied:.6g} USD"
            yield Finding(message, (quote.exchange, exchange))
            return


def update_time_is_a_time(context: RunContext, exchange: Exchange) -> Iterator[Said]:
    value = text(exchange.data.get("updateTime"))
    if not value:
        return
    seconds, shown = seconds_of(value), f"updateTime is {value[:60]!r}"
    if seconds is None and looks_like_a_time(value):
        return
    yield JUDGED
    if seconds is None:
        yield Finding(f"{shown}, no time that can be read", basis=documented("price.update-time"))
        return
    now = service_time(context, exchange)
    if not LEAST_S <= seconds <= MOST_S:
        yield Finding(f"{shown}, a time outside of this century", cause="century")
    elif value.isdecimal() and int(value) >= MILLISECONDS:
        yield Finding(f"{shown}, milliseconds instead of seconds", cause="unit")
    elif now is not None and _AHEAD_S < seconds - now < _ANOTHER_TIME_S:
        ahead = (seconds - now) // 3600
        yield Finding(f"{shown}, {ahead} hours ahead of the service's own time", cause="ahead")


def update_time_never_goes_back(_: RunContext, one: Exchange, again: Exchange) -> Iterator[Finding]:
    told = [text(answer.data.get("updateTime")) for answer in (one, again)]
    times = seconds_of(told[0]), seconds_of(told[1])
    if times[0] is None or times[1] is None:
        raise Vacuous("updateTime is no time that can be read")
    if times[1] < times[0]:
        yield Finding(f"updateTime goes back from {told[0]} to {told[1]}")


def tickets_are_of_the_address(_: RunContext, exchange: Exchange) -> Iterator[Said]:
    wanted = exchange.parameters.get("address", "")
    if not wanted:
        return
    yield JUDGED
    for item in exchange.items():
        address = item.get("address") if isinstance(item, dict) else None
        if isinstance(address, str) and address.lower() != wanted.lower():
            yield Finding(f"a ticket of {address[:60]!r} is listed for {wanted!r}")
            return


def unknown_is_not_succeeded(context: RunContext, operation: Operation) -> Iterator[Finding]:
    exchange = context.require(f"{operation.id}/unknown")
    if not exchange.whole:
        context.require_success(f"{operation.id}/unknown")
    # The hostile text is asked for when there are submissions that it might be taken for.
    later = context.get(f"{operation.id}/{HOSTILE}")
    for look in (exchange, *filter(None, (later,))):
        if look.succeeded:
            yield from _told_of(look)


def _told_of(exchange: Exchange) -> Iterator[Finding]:
    operation = exchange.operation
    status, done = exchange.data.get("status"), exchange.data.get("succeeded")
    if status == "Succeeded" or done is True:
        yield Finding(
            f"an id that nobody submitted is told to have succeeded: {exchange.request.query[:80]}",
            (exchange,),
            "data.status" if status == "Succeeded" else "data.succeeded",
            basis_of_row(operation),
        )
    elif done is False or (isinstance(status, str) and folded(status) not in _UNKNOWN):
        yield Finding(
            f"an id that nobody submitted is told of like one that was: "
            f"{exchange.request.query[:80]}",
            (exchange,),
            "data.status" if isinstance(status, str) else "data.succeeded",
            cause="told of",
        )


def unknown_v1_order_is_not_shown(context: RunContext, operation: Operation) -> Iterator[Finding]:
    exchange = context.require(f"{operation.id}/unknown")
    if not exchange.whole:
        raise Inconclusive(f"the look-up was not answered: {exchange.answer.reason}")
    data = exchange.member("data")
    told = [text(scalar(data, role)) for role in ("number", "fromToken", "fromAmount")]
    if exchange.succeeded and any(told):
        shown = ", ".join(filter(None, told))
        yield Finding(
            f"a transaction that nobody submitted shows an order: {shown[:120]}",
            (exchange,),
            "data",
        )


def _quotes_agree(context: RunContext, token: Token, implied: Decimal) -> bool:
    """Tell whether the price in a quote, or nothing, stands beside the USD value of quotes."""
    told = [
        price
        for quote in quotes(context, BRIDGE)
        if quote.route.source.symbol == token.symbol
        and (price := amounts.number(quote.exchange.data.get("price"))) is not None
        and price > 0
    ]
    return not told or any(amounts.within(price, implied, _AGREE) for price in told)


def _asked_token(context: RunContext, exchange: Exchange) -> Token | None:
    sent = exchange.parameters
    address = sent.get("contractAddress", "")
    return token_at(inventory_of(context).tokens, sent.get("chain", ""), address=address)
