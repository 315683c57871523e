"""Balances and prices of 2.0 against their own requests."""

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.answered_quotes import (
    is_a_dollar,
    prices_quoted,
    quotes,
    token_at,
)
from mockserver.conformance.checks.check_decorators import answers_to, counting, each
from mockserver.conformance.checks.equal_and_similar_requests import differences
from mockserver.conformance.checks.judged_exchanges import answers, is_named
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, RulePack
from mockserver.conformance.checks.shared_probes import EVERY, PRICES, V2_QUOTES, probes
from mockserver.conformance.discovery import amounts, service_clock
from mockserver.conformance.discovery.inventory import ListedToken, inventory_of
from mockserver.conformance.discovery.member_roles import text
from mockserver.conformance.discovery.token_routes import STABLE_COINS, is_stable
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Vacuous
from mockserver.contract import Layer, Operation, fact_basis, ids

_PRICE_FACTOR = Decimal("1.25")
_OTHER_PRICE_FACTOR = Decimal(3)
# Clocks differ, but a price an hour ahead is wrong.
_AHEAD_S = 3600
# Further ahead it is a mock with a clock of its own (docs/decisions/what-no-rule-can-tell.md).
_ANOTHER_TIME_S = 7 * 86_400
# A readable balance may be cut to so much of it, and computed no more precisely than so.
_ROUNDED, _INEXACT = Decimal("0.001"), Decimal("0.0001")

# So many prices that are so far apart were not all updated within a second.
_FEWEST_PRICES, _APART_S, _MINUTE_S = 4, 2, 60

_PACK = RulePack(Layer.EXCHANGE, operations=(ids.PRICE,), needs=PRICES)


@_PACK.major("balances.amounts", ids.BALANCE, each=("usual", "other token", "of nobody"))
@each(answers, "data.balance", vacuous="balance is a text in no answer")
def balance_is_not_negative(_: RunContext, exchange: Exchange) -> Findings:
    """A balance is a number of zero or more, also for an address that nobody uses."""
    members = {name: exchange.data.get(name) for name in ("balance", "hrpBalance")}
    texts = {name: value for name, value in members.items() if isinstance(value, str)}
    required_members.skip_unless(texts)
    for name, value in texts.items():
        number = amounts.number(value)
        if number is None or number < 0:
            message = f"{name} is {value[:80]!r}, expected a number that is not negative"
            yield Finding(message, place=f"data.{name}")


@_PACK.major(
    "balances.readable", ids.BALANCE, layer=Layer.CROSS, each=("usual", "other token", "of nobody")
)
@each(
    answers,
    "data.hrpBalance",
    vacuous="no token whose decimals are listed has a balance above zero",
)
def readable_balance_is_the_balance(context: RunContext, exchange: Exchange) -> Findings:
    """`hrpBalance` is the balance in whole tokens, by the decimals of the token."""
    token = required_members.value(_token_of(context, exchange))
    decimals = required_members.value(token.decimals)
    units = required_members.number(exchange, "balance")
    in_tokens = required_members.number(exchange, "hrpBalance")
    required_members.skip_unless(units or in_tokens)
    fair = amounts.EXACT.scaleb(units, -decimals)
    # A number may be rounded where it ends, and not where it goes on.
    rounding = min(Decimal(1).scaleb(int(in_tokens.as_tuple().exponent)), fair * _ROUNDED)
    if abs(fair - in_tokens) > max(rounding, fair * _INEXACT):
        is_so = f"{fair:.6g} {token.symbol} with {decimals} decimals"
        yield Finding(f"hrpBalance is {in_tokens}, while balance {units} is {is_so}")


@_PACK.critical(
    "v2.get-balance", ids.BALANCE, layer=Layer.CROSS, each=("usual", "other token", "of nobody")
)
@each(answers_to("usual", "other token"), "query.contractAddress")
def balance_is_of_the_token(context: RunContext, pair: tuple[Exchange, Exchange]) -> Findings:
    """Two tokens with different decimals do not have the same balance in both of its forms."""
    first, second = pair
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


@_PACK.major("requests.same-meaning", ids.BALANCE, each=("of nobody", "of nobody again"))
@each(answers_to("of nobody", "of nobody again"), "data.balance")
def balance_of_nobody_stays(context: RunContext, pair: tuple[Exchange, Exchange]) -> Findings:
    """The balance of an address that nobody uses is the same when it is requested again."""
    return differences(context, *pair, "nothing changed")


@_PACK.major("prices.usd")
@each(answers, "data.price", vacuous="price is a text in no answer")
def price_is_a_price(context: RunContext, exchange: Exchange) -> Findings:
    """A price is a decimal number above zero; that of a stable coin is near 1 USD."""
    value = required_members.text(exchange, "price")
    price, token = amounts.number(value), _token_of(context, exchange)
    if price is None or price <= 0:
        yield Finding(f"price is {value[:80]!r}, expected a decimal number above 0")
    elif token is not None and token.symbol in STABLE_COINS and not is_a_dollar(price):
        yield Finding(f"price of {token.symbol} is {price}, expected about 1 USD")


@_PACK.major(
    "v2.get-price",
    layer=Layer.CROSS,
    needs=(
        *PRICES,
        *probes(ids.SWAP_QUOTE, "usual", "other reading", "second route", "third route"),
    ),
    reads=V2_QUOTES,
)
@each(answers_to("swap source", "swap target"), "query.contractAddress")
def price_is_of_the_token(context: RunContext, pair: tuple[Exchange, Exchange]) -> Findings:
    """The price is that of the requested token, and not of another one."""
    exchange, second_exchange = pair
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


@_PACK.major(
    "prices.usd",
    layer=Layer.CROSS,
    needs=(
        *PRICES,
        *probes(ids.BRIDGE, "usual", "sampled 1"),
        *probes(ids.SWAP_QUOTE, "usual", "back"),
    ),
    reads=V2_QUOTES,
)
@each(
    answers, "data.price", vacuous="no quote has the USD value of a token whose price was requested"
)
def price_agrees_with_quotes(context: RunContext, exchange: Exchange) -> Findings:
    """The price of a token agrees with the USD values of quotes."""
    price = required_members.number(exchange, "price")
    token = required_members.value(_token_of(context, exchange))
    implied = {
        quote.exchange: amounts.EXACT.divide(usd, quote.got)
        for quote in (*quotes(context, ids.BRIDGE), *quotes(context, ids.SWAP_QUOTE))
        if quote.route.target.symbol == token.symbol
        if (usd := quote.number("outAmountUsd")) and usd > 0 and quote.got and quote.got > 0
    }
    required_members.skip_unless(price > 0 and implied)
    for quote, usd in implied.items():
        apart = not amounts.within(price, usd, _OTHER_PRICE_FACTOR)
        if apart and _quotes_agree(context, token, usd):
            message = f"price of {token.symbol} is {price}, while quotes count {usd:.6g} USD"
            yield Finding(message, (quote, exchange))
            return


def _quotes_agree(context: RunContext, token: ListedToken, implied: Decimal) -> bool:
    """Tell whether the prices in quotes of a token, if any, support the price that is implied."""
    prices = list(prices_quoted(context, token))
    return not prices or any(amounts.within(price, implied, _PRICE_FACTOR) for price in prices)


@_PACK.minor(
    "prices.update-time",
    # Which time it is there shows by the stamps that v1 takes.
    needs=(*PRICES, *probes(ids.V1_QUOTE, "usual", service_clock.STALE)),
    reads=EVERY,
)
@each(answers, "data.updateTime", vacuous="no answer has an updateTime")
def update_time_is_a_time(context: RunContext, exchange: Exchange) -> Findings:
    """`updateTime` is a time of this century, as text, and not ahead of the service's clock."""
    value = text(exchange.data.get("updateTime"))
    seconds, what = service_clock.seconds_of(value), f"updateTime is {value[:60]!r}"
    required_members.skip_unless(value)
    if seconds is None:
        required_members.skip_unless(not service_clock.looks_like_a_time(value))
        yield Finding(f"{what}, no time that can be read", basis=fact_basis("price.update-time"))
        return
    now = service_clock.service_time(context, exchange)
    if not service_clock.LEAST_S <= seconds <= service_clock.MOST_S:
        yield Finding(f"{what}, a time outside of this century", cause="century")
    elif now is not None and _AHEAD_S < seconds - now < _ANOTHER_TIME_S:
        ahead = (seconds - now) // 3600
        yield Finding(f"{what}, {ahead} hours ahead of the service's own time", cause="ahead")


@_PACK.minor("prices.update-time", layer=Layer.TIMING, each=("usual", "again"), every_exchange=True)
@counting(vacuous="updateTime is no time that can be read")
def update_time_never_goes_back(context: RunContext, operation: Operation) -> Judgements:
    """A price that is requested again is not older than before, and one that moves gets another
    time.
    """
    pair = context.require_each(*probes(operation, "usual", "again"))
    times = [text(answer.data.get("updateTime")) for answer in pair]
    before, now = (required_members.value(service_clock.seconds_of(value)) for value in times)
    yield JUDGED
    if now < before:
        message = f"updateTime goes back from {times[0]} to {times[1]}"
        yield Finding(message, pair, "data.updateTime")
    yield from moved_under_one_time(context)


def moving_under_one_time(context: RunContext) -> Iterator[tuple[str, list[Exchange]]]:
    """Yield each updateTime with the prices of one token that have it, where these differ more
    often than those of some replicas: the first, and those which differ from it.
    """
    by_time = defaultdict[tuple[str, ...], list[Exchange]](list)
    for exchange in context.successes(ids.PRICE):
        when, sent = text(exchange.data.get("updateTime")), exchange.parameters
        about = [sent.get(name, "").lower() for name in ("chain", "contractAddress", "symbol")]
        # Times may be cut to minutes.
        if (service_clock.seconds_of(when) or 0) % _MINUTE_S:
            key = (when, exchange.text("source"), *about)
            by_time[key].append(exchange)
    for (when, *_), (first, *others) in by_time.items():
        moved = [each for each in others if each.data.get("price") != first.data.get("price")]
        if len({each.text("price") for each in moved}) >= _FEWEST_PRICES - 1:
            yield when, [first, *moved]


def moved_under_one_time(context: RunContext) -> Findings:
    for when, prices in moving_under_one_time(context):
        ends = prices[0], prices[-1]
        apart = service_clock.seconds_between(*(end.answer.header("Date") for end in ends))
        # Prices of one second may have the same time.
        if apart is not None and apart >= _APART_S:
            count = len({each.text("price") for each in prices})
            message = f"{count} prices of one token have the updateTime {when}"
            basis = fact_basis("prices.update-time")
            yield Finding(message, ends, "data.updateTime", basis, cause="moved")
            return


@_PACK.minor("price.source-named")
@each(answers, "data.source", vacuous="source is a text in no answer")
def price_source_is_named(_: RunContext, exchange: Exchange) -> Findings:
    """The price names its provider."""
    return is_named(exchange, "source")


def _token_of(context: RunContext, exchange: Exchange) -> ListedToken | None:
    sent = exchange.parameters
    address = sent.get("contractAddress", "")
    return token_at(inventory_of(context).tokens, sent.get("chain", ""), address=address)
