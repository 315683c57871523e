"""Balances, prices and look-ups of 2.0 against their own requests."""

from decimal import Decimal

from mockserver.conformance.basis import basis_of_row
from mockserver.conformance.checks import needs
from mockserver.conformance.checks.evidence import require_answer
from mockserver.conformance.checks.quoting import DOLLARS, is_a_dollar, quotes, token_at
from mockserver.conformance.checks.rule import Finding, Findings
from mockserver.conformance.checks.tickets import entries
from mockserver.conformance.discovery import amounts, clocks
from mockserver.conformance.discovery.inventory import ListedToken, inventory_of
from mockserver.conformance.discovery.listing import folded, scalar, text
from mockserver.conformance.discovery.routes import is_stable
from mockserver.conformance.requests.planned import ORDER_STATUSES
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.names import ProbeName
from mockserver.conformance.verdict import Vacuous
from mockserver.contract import fact_basis, ids, shipped_facts

_PRICE_FACTOR = Decimal("1.25")
_OTHER_PRICE_FACTOR = Decimal(3)
# Clocks differ, but a price an hour ahead is wrong.
_AHEAD_S = 3600
# Further ahead it is a mock with a clock of its own (docs/decisions/what-no-rule-can-tell.md).
_ANOTHER_TIME_S = 7 * 86_400
UNKNOWN_STATUSES = shipped_facts().names["words"]["unknown"]


def balance_is_not_negative(exchange: Exchange) -> Findings:
    members = {name: exchange.data.get(name) for name in ("balance", "hrpBalance")}
    texts = {name: value for name, value in members.items() if isinstance(value, str)}
    needs.skip_unless(texts)
    for name, value in texts.items():
        number = amounts.number(value)
        if number is None or number < 0:
            message = f"{name} is {value[:80]!r}, expected a number that is not negative"
            yield Finding(message, place=f"data.{name}")


def readable_balance_is_the_balance(context: RunContext, exchange: Exchange) -> Findings:
    token = needs.value(_token_of(context, exchange))
    decimals = needs.value(token.decimals)
    units, in_tokens = needs.number(exchange, "balance"), needs.number(exchange, "hrpBalance")
    needs.skip_unless(units or in_tokens)
    fair = amounts.EXACT.scaleb(units, -decimals)
    if not amounts.within(fair, in_tokens, Decimal("1.001")):
        is_so = f"{fair:.6g} {token.symbol} with {decimals} decimals"
        yield Finding(f"hrpBalance is {in_tokens}, while balance {units} is {is_so}")


def balance_is_of_the_token(context: RunContext, first: Exchange, second: Exchange) -> Findings:
    tokens = _token_of(context, first), _token_of(context, second)
    if tokens[0] is None or tokens[1] is None or tokens[0].decimals == tokens[1].decimals:
        raise Vacuous("no two tokens with different decimals are listed on the chain")
    balances = first.text("balance"), second.text("balance")
    if not all(map(amounts.number, balances)):
        raise Vacuous("the address owns nothing of one of the tokens")
    readable = first.text("hrpBalance"), second.text("hrpBalance")
    if balances[0] == balances[1] and readable[0] == readable[1]:
        both = f"balance {balances[0][:60]} and hrpBalance {readable[0][:60]}"
        yield Finding(f"{both} are answered for {tokens[0].symbol} and for {tokens[1].symbol}")


def price_is_a_price(context: RunContext, exchange: Exchange) -> Findings:
    value = needs.text(exchange, "price")
    price, token = amounts.number(value), _token_of(context, exchange)
    if price is None or price <= 0:
        yield Finding(f"price is {value[:80]!r}, expected a decimal number above 0")
    elif token is not None and token.symbol in DOLLARS and not is_a_dollar(price):
        yield Finding(f"price of {token.symbol} is {price}, expected about 1 USD")


def price_is_of_the_token(
    context: RunContext, exchange: Exchange, second_exchange: Exchange
) -> Findings:
    first, second = _token_of(context, exchange), _token_of(context, second_exchange)
    if first is None or second is None or (is_stable(first) and is_stable(second)):
        raise Vacuous("no two tokens of different value were requested")
    prices = exchange.text("price"), second_exchange.text("price")
    if None in map(amounts.number, prices):
        raise Vacuous("price is no number in one of the two answers")
    rates = [
        amounts.EXACT.divide(quote.got, quote.put)
        for quote in quotes(context, ids.SWAP_QUOTE)
        if quote.got and quote.got > 0
        if quote.route.source.symbol == first.symbol and quote.route.target.symbol == second.symbol
    ]
    if not rates:
        raise Vacuous("no quote tells what the two tokens are worth to each other")
    if prices[0] == prices[1] and not amounts.within(rates[0], Decimal(1), Decimal(2)):
        both = f"{first.symbol} and {second.symbol} are both {prices[0][:40]} USD"
        yield Finding(f"{both}, while 1 {first.symbol} pays {rates[0]:.6g} {second.symbol}")


def price_agrees_with_quotes(context: RunContext, exchange: Exchange) -> Findings:
    price, token = needs.number(exchange, "price"), needs.value(_token_of(context, exchange))
    implied = {
        quote.exchange: amounts.EXACT.divide(usd, quote.got)
        for quote in (*quotes(context, ids.BRIDGE), *quotes(context, ids.SWAP_QUOTE))
        if quote.route.target.symbol == token.symbol
        if (usd := quote.number("outAmountUsd")) and usd > 0 and quote.got and quote.got > 0
    }
    needs.skip_unless(price > 0 and implied)
    for quote, usd in implied.items():
        if not amounts.within(price, usd, _OTHER_PRICE_FACTOR) and _quotes_agree(
            context, token, usd
        ):
            message = f"price of {token.symbol} is {price}, while quotes count {usd:.6g} USD"
            yield Finding(message, (quote, exchange))
            return


def _quotes_agree(context: RunContext, token: ListedToken, implied: Decimal) -> bool:
    """Tell whether the prices in quotes of a token, if any, support the price that is implied."""
    of_token = [
        quote for quote in quotes(context, ids.BRIDGE) if quote.route.source.symbol == token.symbol
    ]
    prices = [price for quote in of_token if (price := quote.number("price")) and price > 0]
    return not prices or any(amounts.within(price, implied, _PRICE_FACTOR) for price in prices)


def update_time_is_a_time(context: RunContext, exchange: Exchange) -> Findings:
    value = text(exchange.data.get("updateTime"))
    seconds, what = clocks.seconds_of(value), f"updateTime is {value[:60]!r}"
    needs.skip_unless(value and (seconds is not None or not clocks.looks_like_a_time(value)))
    if seconds is None:
        yield Finding(f"{what}, no time that can be read", basis=fact_basis("price.update-time"))
        return
    now = clocks.service_time(context, exchange)
    if not clocks.LEAST_S <= seconds <= clocks.MOST_S:
        yield Finding(f"{what}, a time outside of this century", cause="century")
    elif value.isdecimal() and int(value) >= clocks.MILLISECONDS:
        yield Finding(f"{what}, milliseconds instead of seconds", cause="unit")
    elif now is not None and _AHEAD_S < seconds - now < _ANOTHER_TIME_S:
        ahead = (seconds - now) // 3600
        yield Finding(f"{what}, {ahead} hours ahead of the service's own time", cause="ahead")


def update_time_never_goes_back(exchange: Exchange, again: Exchange) -> Findings:
    times = [text(answer.data.get("updateTime")) for answer in (exchange, again)]
    before, now = (needs.value(clocks.seconds_of(value)) for value in times)
    if now < before:
        yield Finding(f"updateTime goes back from {times[0]} to {times[1]}")


def tickets_are_of_the_address(exchange: Exchange) -> Findings:
    wanted = exchange.parameters.get("address", "")
    needs.skip_unless(wanted)
    for entry in [entry for entry in entries([exchange]) if not entry.is_of(wanted)][:1]:
        address = str(entry.item["address"])
        yield Finding(f"a ticket of {address[:60]!r} is listed for {wanted!r}")


def unknown_is_not_succeeded(
    context: RunContext, unknown: ProbeName, hostile: ProbeName
) -> Findings:
    exchange = require_answer(context, unknown)
    # The hostile text is sent as an id only where it might be mistaken for a submission.
    for look_up in (exchange, *context.sent(hostile)):
        # What is no success has no data.
        status, done = look_up.data.get("status"), look_up.data.get("succeeded")
        what, query = "an id that nobody submitted is reported", look_up.request.query[:80]
        if (is_paid := status == ORDER_STATUSES.paid) or done is True:
            place = "data.status" if is_paid else "data.succeeded"
            basis = basis_of_row(look_up.operation)
            yield Finding(f"{what} as succeeded: {query}", (look_up,), place, basis)
        elif done is False or (isinstance(status, str) and folded(status) not in UNKNOWN_STATUSES):
            place = "data.status" if isinstance(status, str) else "data.succeeded"
            yield Finding(f"{what} like one that was: {query}", (look_up,), place, cause="told of")


def unknown_v1_order_is_not_shown(context: RunContext, unknown: ProbeName) -> Findings:
    exchange = require_answer(context, unknown)
    data = exchange.member("data")
    members = [text(scalar(data, role)) for role in ("number", "fromToken", "fromAmount")]
    if exchange.succeeded and any(members):
        values = ", ".join(filter(None, members))[:120]
        message = f"a transaction that nobody submitted shows an order: {values}"
        yield Finding(message, (exchange,), "data")


def _token_of(context: RunContext, exchange: Exchange) -> ListedToken | None:
    sent = exchange.parameters
    address = sent.get("contractAddress", "")
    return token_at(inventory_of(context).tokens, sent.get("chain", ""), address=address)
