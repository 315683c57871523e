"""Balances, prices and look-ups of 2.0 against their own requests."""

from collections.abc import Iterator
from decimal import Decimal

from mockserver.conformance import amounts
from mockserver.conformance.calibration import BRIDGE, SWAP_QUOTE, asked
from mockserver.conformance.clocks import (
    LEAST_S,
    MILLISECONDS,
    MOST_S,
    seconds_of,
    service_time,
)
from mockserver.conformance.comparing import quotes, token_at
from mockserver.conformance.exchange import Exchange
from mockserver.conformance.known import Token
from mockserver.conformance.listing import folded, text
from mockserver.conformance.pricing import DOLLARS, is_a_dollar
from mockserver.conformance.probes.comparisons import NOBODYS
from mockserver.conformance.probes.protocol import HOSTILE
from mockserver.conformance.routes import is_stable
from mockserver.conformance.seen import Seen
from mockserver.conformance.v1data import scalar
from mockserver.conformance.verdict import (
    Basis,
    Check,
    Finding,
    Inconclusive,
    Layer,
    Rule,
    Severity,
    Vacuous,
    assumed,
    documented,
    observed,
    rule,
)
from mockserver.contract import Operation

BALANCE, PRICE = "v2.getBalance", "v2.getPrice"
_BALANCES = (f"{BALANCE}/usual", f"{BALANCE}/other token", f"{BALANCE}/{NOBODYS}")
_PRICES = tuple(f"{PRICE}/{name}" for name in ("usual", "swap source", "swap target", "sampled"))
_AGREE = Decimal("1.25")
_UNLIKE = Decimal(3)
_AHEAD_S = 3600
_ANOTHER_TIME_S = 7 * 86_400
_UNKNOWN = ("", "unknown", "notfound", "notexist", "notexists", "nonexistent", "invalid", "none")
TIME = assumed("A-023", "updateTime is seconds since 1970")


def balance_is_not_negative(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A balance is a number that is not negative, also of an address that nobody uses."""
    judged = False
    for exchange in _answered(seen, BALANCE):
        for name in ("balance", "hrpBalance"):
            value = exchange.data.get(name)
            if not isinstance(value, str):
                continue
            judged = True
            number = amounts.number(value)
            if number is None or number < 0:
                message = f"{name} is {value[:80]!r}, expected a number that is not negative"
                yield Finding(message, (exchange,), f"data.{name}")
    _need(judged, "balance is a text in no answer")


def readable_balance_is_the_balance(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """HrpBalance is the balance in whole tokens, by the decimals of the token."""
    judged = False
    for exchange in _answered(seen, BALANCE):
        token = _asked_token(seen, exchange)
        units = amounts.number(exchange.data.get("balance"))
        whole = amounts.number(exchange.data.get("hrpBalance"))
        if token is None or token.decimals is None or units is None or whole is None:
            continue
        if not units and not whole:
            continue
        judged = True
        fair = amounts.EXACT.scaleb(units, -token.decimals)
        if not amounts.within(fair, whole, Decimal("1.001")):
            yield Finding(
                f"hrpBalance is {whole}, while balance {units} is {fair:.6g} {token.symbol} with "
                f"{token.decimals} decimals",
                (exchange,),
                "data.hrpBalance",
            )
    _need(judged, "no balance above zero was told of a token whose decimals are listed")


def balance_is_of_the_token(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """Two tokens with different decimals do not have the same balance in both of its forms."""
    one, other = seen.success(f"{BALANCE}/usual"), seen.success(f"{BALANCE}/other token")
    tokens = _asked_token(seen, one), _asked_token(seen, other)
    balances = one.text("balance"), other.text("balance")
    if tokens[0] is None or tokens[1] is None or tokens[0].decimals == tokens[1].decimals:
        raise Vacuous("no two tokens of other decimals are listed on the chain")
    if not amounts.number(balances[0]) or not amounts.number(balances[1]):
        raise Vacuous("the address owns nothing of one of the tokens")
    same = balances[0] == balances[1] and one.text("hrpBalance") == other.text("hrpBalance")
    if same:
        yield Finding(
            f"balance {balances[0][:60]} and hrpBalance {one.text('hrpBalance')[:60]} are told of "
            f"{tokens[0].symbol} and of {tokens[1].symbol} alike",
            (one, other),
            "query.contractAddress",
        )


def price_is_a_price(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A price is a decimal number above zero; that of a stable coin is near 1 USD."""
    judged = False
    for exchange in _answered(seen, PRICE):
        value = exchange.data.get("price")
        if not isinstance(value, str):
            continue
        judged = True
        price = amounts.number(value)
        token = _asked_token(seen, exchange)
        if price is None or price <= 0:
            message = f"price is {value[:80]!r}, expected a decimal number above 0"
            yield Finding(message, (exchange,), "data.price")
        elif token is not None and token.symbol in DOLLARS and not is_a_dollar(price):
            message = f"price of {token.symbol} is {price}, expected about 1 USD"
            yield Finding(message, (exchange,), "data.price")
    _need(judged, "price is a text in no answer")


def price_is_of_the_token(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The price is that of the token asked about, and not of another one."""
    one, other = seen.success(f"{PRICE}/swap source"), seen.success(f"{PRICE}/swap target")
    tokens = _asked_token(seen, one), _asked_token(seen, other)
    if tokens[0] is None or tokens[1] is None or all(map(is_stable, filter(None, tokens))):
        raise Vacuous("no two tokens of different value were asked about")
    rates = [
        amounts.EXACT.divide(quote.got, quote.put)
        for quote in quotes(seen, SWAP_QUOTE)
        if quote.got
        and quote.got > 0
        and (quote.route.source.symbol, quote.route.target.symbol)
        == (tokens[0].symbol, tokens[1].symbol)
    ]
    prices = one.text("price"), other.text("price")
    if not rates:
        raise Vacuous("no quote tells what the two tokens are worth to each other")
    if prices[0] == prices[1] and not amounts.within(rates[0], Decimal(1), Decimal(2)):
        yield Finding(
            f"{tokens[0].symbol} and {tokens[1].symbol} are both {prices[0][:40]} USD, while 1 "
            f"{tokens[0].symbol} pays {rates[0]:.6g} {tokens[1].symbol}",
            (one, other),
            "query.contractAddress",
        )


def price_agrees_with_quotes(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The price of a token is what the USD value of quotes says of it."""
    judged = False
    for exchange in _answered(seen, PRICE):
        price, token = amounts.number(exchange.data.get("price")), _asked_token(seen, exchange)
        if price is None or price <= 0 or token is None:
            continue
        for quote in (*quotes(seen, BRIDGE), *quotes(seen, SWAP_QUOTE)):
            usd = amounts.number(quote.exchange.data.get("outAmountUsd"))
            if quote.route.target.symbol != token.symbol or not usd or not quote.got:
                continue
            if usd <= 0 or quote.got <= 0:
                continue
            judged = True
            implied = amounts.EXACT.divide(usd, quote.got)
            unlike = not amounts.within(price, implied, _UNLIKE)
            if unlike and _quotes_agree(seen, token, implied):
                yield Finding(
                    f"price of {token.symbol} is {price}, while quotes count {implied:.6g} USD",
                    (quote.exchange, exchange),
                    "data.price",
                )
                break
    _need(judged, "no quote tells the USD value of a token whose price was asked")


def update_time_is_a_time(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """UpdateTime is the text of a time: of this century, and not ahead of the service's clock."""
    judged = False
    for exchange in _answered(seen, PRICE):
        value = text(exchange.data.get("updateTime"))
        if not value:
            continue
        judged = True
        seconds = seconds_of(value)
        if seconds is None:
            basis = documented("2.3", "updateTime is a timestamp text")
            message = f"updateTime is {value[:60]!r}, no time that can be read"
            yield Finding(message, (exchange,), "data.updateTime", basis)
            continue
        shown = repr(value[:60])
        now = service_time(seen, exchange)
        if not LEAST_S <= seconds <= MOST_S:
            message = f"updateTime is {shown}, a time outside of this century"
            yield Finding(message, (exchange,), "data.updateTime", cause="century")
        elif value.isdecimal() and int(value) >= MILLISECONDS:
            message = f"updateTime is {shown}, milliseconds instead of seconds"
            yield Finding(message, (exchange,), "data.updateTime", cause="unit")
        elif now is not None and _AHEAD_S < seconds - now < _ANOTHER_TIME_S:
            ahead = (seconds - now) // 3600
            message = f"updateTime is {shown}, {ahead} hours ahead of the service's own time"
            yield Finding(message, (exchange,), "data.updateTime", cause="ahead")
    _need(judged, "no answer has an updateTime")


def update_time_never_goes_back(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The price of a token asked again is not older than before."""
    one, again = seen.success(f"{PRICE}/usual"), seen.success(f"{PRICE}/again")
    told = [text(answer.data.get("updateTime")) for answer in (one, again)]
    times = seconds_of(told[0]), seconds_of(told[1])
    if times[0] is None or times[1] is None:
        raise Vacuous("updateTime is no time that can be read")
    if times[1] < times[0]:
        yield Finding(
            f"updateTime goes back from {told[0]} to {told[1]}",
            (one, again),
            "data.updateTime",
        )


def price_source_is_named(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The price names its provider."""
    judged = False
    for exchange in _answered(seen, PRICE):
        source = exchange.data.get("source")
        if isinstance(source, str):
            judged = True
            if not source.strip():
                yield Finding("source is an empty text", (exchange,), "data.source")
    _need(judged, "source is a text in no answer")


def tickets_are_of_the_address(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The tickets listed for an address are its own."""
    judged = False
    for exchange in seen.of(operation):
        wanted = asked(exchange).get("address", "")
        if not exchange.succeeded or not wanted:
            continue
        judged = True
        for item in exchange.items():
            address = item.get("address") if isinstance(item, dict) else None
            if isinstance(address, str) and address.lower() != wanted.lower():
                message = f"a ticket of {address[:60]!r} is listed for {wanted!r}"
                yield Finding(message, (exchange,), "data.list[].address")
                break
    if not judged:
        seen.success("v2.getAllTicketByAddress/usual")


def unknown_is_not_succeeded(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """What was never submitted has not succeeded."""
    exchange = seen.exchange(f"{operation.id}/unknown")
    if not exchange.whole:
        seen.success(f"{operation.id}/unknown")
    # The hostile text is asked for when there are submissions that it might be taken for.
    later = seen.maybe(f"{operation.id}/{HOSTILE}")
    for look in (exchange, *filter(None, (later,))):
        if look.succeeded:
            yield from _told_of(look)


def _told_of(exchange: Exchange) -> Iterator[Finding]:
    operation = exchange.operation
    status, done = exchange.data.get("status"), exchange.data.get("succeeded")
    if status == "Succeeded" or done is True:
        name = "id" if operation.id == "v2.checkOrder" else "ticketId"
        yield Finding(
            f"an id that nobody submitted is told to have succeeded: {exchange.request.query[:80]}",
            (exchange,),
            "data.status" if status == "Succeeded" else "data.succeeded",
            documented(operation.section, f"{name} is that of something submitted"),
        )
    elif done is False or (isinstance(status, str) and folded(status) not in _UNKNOWN):
        yield Finding(
            f"an id that nobody submitted is told of like one that was: "
            f"{exchange.request.query[:80]}",
            (exchange,),
            "data.status" if isinstance(status, str) else "data.succeeded",
            cause="told of",
        )


def unknown_v1_order_is_not_shown(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The transaction of no order shows no order."""
    exchange = seen.exchange(f"{operation.id}/unknown")
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


def _quotes_agree(seen: Seen, token: Token, implied: Decimal) -> bool:
    """Tell whether the price in a quote, or nothing, stands beside the USD value of quotes."""
    told = [
        price
        for quote in quotes(seen, BRIDGE)
        if quote.route.source.symbol == token.symbol
        and (price := amounts.number(quote.exchange.data.get("price"))) is not None
        and price > 0
    ]
    return not told or any(amounts.within(price, implied, _AGREE) for price in told)


def _answered(seen: Seen, operation_id: str) -> Iterator[Exchange]:
    seen.success(f"{operation_id}/usual")
    for exchange in seen.of(operation_id):
        if exchange.succeeded and not exchange.operation.read(exchange.request).violations:
            yield exchange


def _asked_token(seen: Seen, exchange: Exchange) -> Token | None:
    sent = asked(exchange)
    address = sent.get("contractAddress", "")
    return token_at(seen.known.tokens, sent.get("chain", ""), address=address)


def _need(judged: bool, reason: str) -> None:
    if not judged:
        raise Vacuous(reason)


def _rule(
    check: Check,
    severity: Severity,
    basis: Basis,
    probes: tuple[str, ...],
    layer: Layer = Layer.EXCHANGE,
    name: str = "",
) -> Rule:
    """Return the rule that judges the operation of its first probe."""
    judged = (probes[0].partition("/")[0],)
    return rule(check, severity, basis, layer=layer, operations=judged, probes=probes, name=name)


_QUOTES = (f"{BRIDGE}/usual", f"{SWAP_QUOTE}/usual", f"{SWAP_QUOTE}/back")
NEVER = assumed("A-232", "what was never submitted is unknown")

EXCHANGE_READS: tuple[Rule, ...] = (
    _rule(
        balance_is_not_negative,
        Severity.MAJOR,
        assumed("A-022", "balance and hrpBalance are amounts"),
        _BALANCES,
    ),
    _rule(
        readable_balance_is_the_balance,
        Severity.MAJOR,
        assumed("A-022", "hrpBalance is the balance in whole tokens"),
        _BALANCES,
        layer=Layer.CROSS,
    ),
    _rule(
        balance_is_of_the_token,
        Severity.CRITICAL,
        documented("4.2 row 9", "the balance is that of the contract asked for"),
        _BALANCES,
        layer=Layer.CROSS,
    ),
    _rule(
        price_is_a_price,
        Severity.MAJOR,
        observed("GHOST", "price is USD for a whole token"),
        _PRICES,
    ),
    _rule(
        price_is_of_the_token,
        Severity.MAJOR,
        documented("4.2 row 10", "the price is that of the token asked for"),
        (*_PRICES, f"{SWAP_QUOTE}/usual"),
        layer=Layer.CROSS,
    ),
    _rule(
        price_agrees_with_quotes,
        Severity.MAJOR,
        observed("GHOST", "price is USD for a whole token"),
        (*_PRICES, *_QUOTES),
        layer=Layer.CROSS,
    ),
    _rule(update_time_is_a_time, Severity.MINOR, TIME, _PRICES),
    _rule(
        update_time_never_goes_back,
        Severity.MINOR,
        TIME,
        (f"{PRICE}/usual", f"{PRICE}/again"),
        layer=Layer.TIMING,
    ),
    _rule(
        price_source_is_named,
        Severity.MINOR,
        documented("2.3", "source is the price provider"),
        _PRICES,
    ),
    _rule(
        tickets_are_of_the_address,
        Severity.MAJOR,
        documented("4.2 row 12", "tickets are asked for by address"),
        ("v2.getAllTicketByAddress/usual",),
    ),
    _rule(
        unknown_is_not_succeeded,
        Severity.CRITICAL,
        NEVER,
        ("v2.checkOrder/unknown", f"v2.checkOrder/{HOSTILE}"),
        name="unknown-order-is-not-succeeded",
    ),
    _rule(
        unknown_is_not_succeeded,
        Severity.MAJOR,
        NEVER,
        ("v2.checkTicket/unknown", f"v2.checkTicket/{HOSTILE}"),
        name="unknown-ticket-is-not-succeeded",
    ),
    _rule(
        unknown_v1_order_is_not_shown,
        Severity.CRITICAL,
        NEVER,
        ("v1.getOrderDetailByHashAndEvmAddress/unknown",),
    ),
)
"""The rules of balances, prices and look-ups."""
