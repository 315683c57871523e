"""The call data of a swap against its request and against the quote before it."""

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import partial

from mockserver.conformance import amounts
from mockserver.conformance.calibration import SWAP_QUOTE, asked
from mockserver.conformance.comparing import Quote, out_of, quote_of, steady
from mockserver.conformance.exchange import Exchange
from mockserver.conformance.known import Token
from mockserver.conformance.probes.comparisons import OF_THE_COIN
from mockserver.conformance.seen import Seen
from mockserver.conformance.usual import quoted_try
from mockserver.conformance.verdict import (
    Finding,
    Inconclusive,
    Layer,
    Rule,
    Severity,
    Vacuous,
    documented,
    observed,
    rule,
)
from mockserver.contract import Operation

SWAP = "v2.getAggregateSwap"
_PROBES = (
    f"{SWAP}/usual",
    f"{SWAP}/to another",
    f"{SWAP}/{OF_THE_COIN}",
    f"{SWAP}/tenfold",
    f"{SWAP_QUOTE}/usual",
    f"{SWAP_QUOTE}/again",
)
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]*")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-fA-F]+")
_WORD = 64
_BPS = Decimal(10_000)
_NEAR = Decimal("1.02")
_CLOSE = Decimal("0.0005")
_DUST = 10**4
_SEVERAL, _MANY = Decimal(5), Decimal(20)
_LEAST_TIME, _MOST_TIME = 10**9, 10**10

CALL = documented("2.3", "data is hex-encoded call data")
SLIPPAGE = documented("4.2 row 6", "slippage counts hundredths of a percent: 100 means 1%")
RECIPIENT = documented("4.2 row 6", "recipient is the address that receives")


def call_data_is_hex(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """Call data is 0x and whole bytes in hex, at least the four that choose a function."""
    judged = False
    for exchange in _calls(seen):
        data = exchange.data.get("data")
        if not isinstance(data, str):
            continue
        judged = True
        digits = data.removeprefix("0x")
        if not _HEX.fullmatch(data) or len(digits) % 2:
            how = "an odd number of hex digits" if _HEX.fullmatch(data) else "no hex"
            yield Finding(f"call data is {how}: {data[:40]!r}", (exchange,), "data.data")
        elif not digits:
            yield Finding("call data is empty", (exchange,), "data.data")
        elif not data.startswith("0x"):
            basis = observed("SDK2", "call data begins with 0x")
            yield Finding(f"call data has no 0x: {data[:20]!r}", (exchange,), "data.data", basis)
        elif len(digits) < 8:
            basis = observed("GB2-swap", "call data calls a function of a contract")
            yield Finding(f"call data calls nothing: {data!r}", (exchange,), "data.data", basis)
    _need(judged, "data is a text in no call")


def call_is_from_the_sender(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """`from` is the sender, `to` a contract, `gas` and `value` are numbers."""
    judged = False
    for exchange in _calls(seen):
        sender, to = exchange.data.get("from"), exchange.data.get("to")
        wanted = asked(exchange).get("sender", "")
        if isinstance(sender, str) and wanted:
            judged = True
            if sender.lower() != wanted.lower():
                message = f"from is {sender[:60]!r}, the sender is {wanted!r}"
                yield Finding(message, (exchange,), "data.from")
        if isinstance(to, str) and _ADDRESS.fullmatch(wanted):
            judged = True
            if not _ADDRESS.fullmatch(to) or not int(to, 16):
                yield Finding(f"to is {to[:60]!r}, no contract address", (exchange,), "data.to")
        for name in ("gas", "value"):
            value = exchange.data.get(name)
            if isinstance(value, str) and not _NUMBER.fullmatch(value):
                message = f"{name} is {value[:60]!r}, expected a number that is not negative"
                yield Finding(message, (exchange,), f"data.{name}")
    _need(judged, "no call has a text as from or to")


def value_is_sent_for_coins_only(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A call sends coins along where the chain's own coin is given, and only then."""
    judged = False
    for exchange in _calls(seen):
        text = exchange.data.get("value")
        source = _token(seen, exchange, "from")
        sent = asked(exchange).get("fromAmount", "")
        if not isinstance(text, str) or not _NUMBER.fullmatch(text) or source is None:
            continue
        if not source.is_native and not source.address.startswith("0x"):
            continue
        judged = True
        value = int(text, 16) if text.startswith("0x") else int(text)
        if not source.is_native and value:
            message = f"value is {text[:60]}, while {source.symbol} is no coin of its chain"
            yield Finding(message, (exchange,), "data.value")
        elif source.is_native and sent.isdecimal() and value < int(sent):
            yield Finding(f"value is {text[:60]}, {sent} is given", (exchange,), "data.value")
    _need(judged, "no call has a value that is a number")


def call_pays_what_was_quoted(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """AmountOut of a call is about the output of the quote for the same swap."""
    one = quoted_try(seen)
    quote = quote_of(seen, seen.success(one.probe))
    call = seen.success(f"{SWAP}/usual")
    if quote is None or quote.route.target.decimals is None:
        raise Vacuous("the decimals of the swapped tokens are not listed")
    again = seen.maybe(f"{SWAP_QUOTE}/again")
    after = quote_of(seen, again) if again is not None else None
    if after is not None and after.got:
        steady(out_of(quote), after.got, "the quote")
    paid = amounts.number(call.data.get("amountOut"))
    if paid is None:
        raise Vacuous("amountOut is no number")
    got = amounts.EXACT.scaleb(paid, -quote.route.target.decimals)
    least = out_of(quote) * (1 - Decimal(asked(call).get("slippage", "100")) / _BPS) / _NEAR
    if not least <= got <= out_of(quote) * _NEAR:
        yield Finding(
            f"the call pays {got:.6g} {quote.route.target.symbol}, the quote {out_of(quote):.6g}",
            (quote.exchange, call),
            "data.amountOut",
        )


def call_is_for_the_amount(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The call for another amount pays another output."""
    one = seen.success(f"{SWAP}/usual")
    other = seen.maybe(f"{SWAP}/tenfold")
    if other is None:
        # It is asked only where the usual call does not pay what was quoted for its amount.
        if amounts.number(one.data.get("amountOut")) is None:
            raise Vacuous("amountOut is no number")
        return
    if not other.succeeded:
        raise Inconclusive("the call for a larger amount was not given")
    paid = [amounts.number(call.data.get("amountOut")) for call in (one, other)]
    if paid[0] is None or paid[1] is None:
        raise Vacuous("amountOut is no number in both calls")
    if amounts.within(paid[0], paid[1], _NEAR):
        yield Finding(
            f"amountOut is {paid[0]:.6g} for an amount, and {paid[1]:.6g} for ten times as much",
            (one, other),
            "query.fromAmount",
        )


def slippage_is_in_hundredths_of_a_percent(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The least output in the call data is the output less the slippage, 100 being 1%."""
    one, other = seen.success(f"{SWAP}/usual"), seen.success(f"{SWAP}/to another")
    moved = _moved(seen, one, other)
    wanted = [Decimal(asked(call).get("slippage", "0")) / _BPS for call in (one, other)]
    cuts = [pair for outs in _outputs(seen, one, other) for pair in _cuts(one, other, outs)]
    told = [pair for pair in cuts if _follows(pair, moved) or min(pair) > max(wanted) + moved]
    if any(_fits(pair, wanted) for pair in cuts):
        return
    if not told:
        raise Vacuous("nothing in the call data follows the slippage in a way that can be read")
    if moved * 2 > max(wanted):
        raise Inconclusive("prices move by more than the slippage between equal requests")
    yield Finding(
        f"slippage {wanted[0] * _BPS:.4g} leaves {(1 - told[0][0]) * 100:.4g} percent of the "
        f"output and {wanted[1] * _BPS:.4g} leaves {(1 - told[0][1]) * 100:.4g}, expected "
        f"{(1 - wanted[0]) * 100:.4g} and {(1 - wanted[1]) * 100:.4g}",
        (one, other),
        "query.slippage",
    )


def more_slippage_asks_for_less(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """A larger slippage never raises what a call pays."""
    one, other = seen.success(f"{SWAP}/usual"), seen.success(f"{SWAP}/to another")
    first, second = (amounts.number(call.data.get("amountOut")) for call in (one, other))
    if first is None or second is None or first <= 0:
        raise Vacuous("amountOut is no number above zero in both calls")
    if second > first * _NEAR:
        if second <= first * (1 + _moved(seen, one, other)):
            raise Inconclusive("equal quotes moved as far as amountOut did between the calls")
        yield Finding(
            f"amountOut rises from {first} to {second} as slippage rises from 100 to 500",
            (one, other),
            "data.amountOut",
        )


def call_pays_the_recipient(seen: Seen, operation: Operation) -> Iterator[Finding]:
    """The call data of a swap pays the recipient that was named, not the sender."""
    one, other = seen.success(f"{SWAP}/usual"), seen.success(f"{SWAP}/to another")
    usual, another = (
        _bare(asked(one).get("recipient", "")),
        _bare(asked(other).get("recipient", "")),
    )
    data = str(one.data.get("data", "")).lower(), str(other.data.get("data", "")).lower()
    if usual not in data[0]:
        if another in data[1]:
            return
        raise Vacuous("the call data does not show whom it pays")
    if another not in data[1]:
        kept = " and still names the sender" if usual in data[1] else ""
        yield Finding(
            f"the call data does not name the recipient 0x{another}{kept}",
            (one, other),
            "query.recipient",
        )


def _outputs(seen: Seen, one: Exchange, other: Exchange) -> Iterator[tuple[int, int]]:
    """Yield what the two calls may pay: what they say themselves, and what the quote said."""
    own = [amounts.units(call.data.get("amountOut")) for call in (one, other)]
    if own[0] and own[1]:
        yield own[0], own[1]
    quoted = amounts.units(seen.success(quoted_try(seen).probe).data.get("outAmount"))
    if quoted:
        yield quoted, quoted


def _cuts(
    one: Exchange, other: Exchange, outs: tuple[int, int]
) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield what share of the output is cut off in words of the calls that can be its least."""
    words = _words(one), _words(other)
    given = asked(one).get("fromAmount", "")
    if len(words[0]) != len(words[1]) or asked(one).get("slippage") == asked(other).get("slippage"):
        return
    for pair in zip(*words, strict=True):
        # The amount given, a deadline and the recipient are no part of the output.
        if str(pair[0]) == given or any(_LEAST_TIME < word < _MOST_TIME for word in pair):
            continue
        cuts = Decimal(outs[0] - pair[0]) / outs[0], Decimal(outs[1] - pair[1]) / outs[1]
        in_range = all(Decimal("-0.001") <= cut <= Decimal("0.99") for cut in cuts)
        gone = 0 in pair and max(pair) * 100 > outs[0] and max(cuts) <= 1 and min(cuts) > -1
        if (in_range and max(pair) > _DUST) or gone:
            yield cuts


def _moved(seen: Seen, one: Exchange, other: Exchange) -> Decimal:
    """Return what share prices may have moved by between two calls, as equal requests show.

    What two equal quotes differ by may well be less than what lies between two calls, so it counts
    several times; what the calls themselves say they pay counts as it is, where they say so.
    """
    outs = [amounts.units(quote.exchange.data.get("outAmount")) for quote in _equal_quotes(seen)]
    seen_outs = [Decimal(out) for out in outs if out]
    if len(seen_outs) < 2 or len(set(seen_outs)) == 1:
        return Decimal(0)
    spread = amounts.EXACT.divide(max(seen_outs) - min(seen_outs), min(seen_outs))
    own = [amounts.units(call.data.get("amountOut")) for call in (one, other)]
    apart = Decimal(0)
    if own[0] and own[1]:
        apart = amounts.EXACT.divide(Decimal(abs(own[0] - own[1])), Decimal(min(own[0], own[1])))
    return max(spread * _SEVERAL, min(apart, spread * _MANY))


def _equal_quotes(seen: Seen) -> Iterator[Quote]:
    """Yield the quotes that asked for the same as the one that the calls follow."""
    wanted = seen.success(quoted_try(seen).probe).request.query
    for exchange in seen.of(SWAP_QUOTE):
        if exchange.request.query == wanted:
            quote = quote_of(seen, exchange)
            if quote is not None:
                yield quote


def _follows(cuts: tuple[Decimal, Decimal], moved: Decimal) -> bool:
    """Tell whether a word changes from call to call by more than prices may have moved."""
    return abs(cuts[0] - cuts[1]) > moved


def _fits(cuts: tuple[Decimal, Decimal], wanted: list[Decimal]) -> bool:
    return all(abs(cut - share) <= _CLOSE for cut, share in zip(cuts, wanted, strict=True))


def _words(call: Exchange) -> list[int]:
    """Return the arguments of a call: words of 32 bytes behind the four that choose a function."""
    data = str(call.data.get("data", "")).removeprefix("0x")
    if not _HEX.fullmatch(data):
        return []
    digits = data[8:]
    whole = len(digits) // _WORD * _WORD
    return [int(digits[at : at + _WORD], 16) for at in range(0, min(whole, 100 * _WORD), _WORD)]


def _calls(seen: Seen) -> Iterator[Exchange]:
    seen.success(f"{SWAP}/usual")
    for exchange in seen.of(SWAP):
        if exchange.succeeded:
            yield exchange


def _token(seen: Seen, exchange: Exchange, side: str) -> Token | None:
    sent = asked(exchange)
    address = sent.get(f"{side}TokenAddress", "").lower()
    found = (t for t in seen.known.on(sent.get("chain", "")) if t.address.lower() == address)
    return next(found, None)


def _bare(address: str) -> str:
    if not _ADDRESS.fullmatch(address):
        raise Inconclusive(f"{address!r} is no address whose form is known")
    return address[2:].lower()


def _need(judged: bool, reason: str) -> None:
    if not judged:
        raise Vacuous(reason)


_rule = partial(rule, layer=Layer.EXCHANGE, operations=(SWAP,), probes=_PROBES)


EXCHANGE_SWAPS: tuple[Rule, ...] = (
    _rule(call_data_is_hex, Severity.CRITICAL, CALL),
    _rule(
        call_is_from_the_sender,
        Severity.MAJOR,
        observed("GB2-swap", "from is the sender, to a router, gas and value are numbers"),
    ),
    _rule(
        value_is_sent_for_coins_only,
        Severity.CRITICAL,
        observed("GB2-swap", "value is the amount given for a coin, and 0 for a token"),
    ),
    _rule(
        call_pays_what_was_quoted,
        Severity.CRITICAL,
        observed("SDK2", "amountOut of the call is the output of the quote"),
    ),
    _rule(
        call_is_for_the_amount,
        Severity.CRITICAL,
        documented("4.2 row 6", "fromAmount is what is swapped"),
    ),
    _rule(slippage_is_in_hundredths_of_a_percent, Severity.CRITICAL, SLIPPAGE),
    _rule(more_slippage_asks_for_less, Severity.MAJOR, SLIPPAGE),
    _rule(call_pays_the_recipient, Severity.CRITICAL, RECIPIENT),
)
"""The rules of the call data of swaps."""
