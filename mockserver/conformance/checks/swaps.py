"""The call data of a swap against its request and against the quote before it."""

import re
from collections.abc import Iterator
from decimal import Decimal

from mockserver.conformance.checks.comparing import Quote, out_of, quote_of, steady
from mockserver.conformance.checks.judging import JUDGED, Said
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import SWAP_QUOTE, usual_attempt
from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import Token
from mockserver.conformance.requests.words import OF_THE_COIN, SLIPPAGE_IS, label_of
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Vacuous
from mockserver.contract import Operation, assumed, observed
from mockserver.engine.abi import ONE_INCH_SWAP, SWAP_EXACT_TOKENS

SWAP = "v2.getAggregateSwap"
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]*")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_NUMBER = re.compile(r"[0-9]{1,150}|0x[0-9a-fA-F]{1,150}")
_WORD = 64
_PUBLISHED = {SWAP_EXACT_TOKENS.hex(): (0, 1, 3), ONE_INCH_SWAP.hex(): (5, 6, 4)}
"""The methods of published calls: the words that are amount, least output and recipient."""
_BPS = Decimal(10_000)
_NEAR = Decimal("1.02")
_CLOSE = Decimal("0.0005")
_DUST = 10**4
_SEVERAL, _MANY = Decimal(5), Decimal(20)
_LEAST_TIME, _MOST_TIME = 10**9, 10**10
_OF_COINS = tuple(f"{SWAP}/{name}" for name in ("usual", OF_THE_COIN, "tenfold"))
"""The calls for amounts of some worth, which may well be of the chain's coin."""

CALLS = observed("GB2-swap", "call data calls a function of a contract")


def call_data_is_hex(_: RunContext, exchange: Exchange) -> Iterator[Said]:
    data = exchange.data.get("data")
    if not isinstance(data, str):
        return
    yield JUDGED
    digits = data.removeprefix("0x")
    if not _HEX.fullmatch(data) or len(digits) % 2:
        how = "an odd number of hex digits" if _HEX.fullmatch(data) else "no hex"
        yield Finding(f"call data is {how}: {data[:40]!r}")
    elif not digits:
        yield Finding("call data is empty", basis=CALLS)
    elif not data.startswith("0x"):
        basis = observed("SDK2", "call data begins with 0x")
        yield Finding(f"call data has no 0x: {data[:20]!r}", basis=basis)
    elif len(digits) < 8:
        yield Finding(f"call data calls nothing: {data!r}", basis=CALLS)


def call_is_from_the_sender(_: RunContext, exchange: Exchange) -> Iterator[Said]:
    sender, to = exchange.data.get("from"), exchange.data.get("to")
    wanted = exchange.parameters.get("sender", "")
    if isinstance(sender, str) and wanted:
        yield JUDGED
        if sender.lower() != wanted.lower():
            message = f"from is {sender[:60]!r}, the sender is {wanted!r}"
            yield Finding(message, place="data.from")
    if isinstance(to, str) and _ADDRESS.fullmatch(wanted):
        yield JUDGED
        if not _ADDRESS.fullmatch(to) or not int(to, 16):
            yield Finding(f"to is {to[:60]!r}, no contract address", place="data.to")
    for name in ("gas", "value"):
        value = exchange.data.get(name)
        if isinstance(value, str) and not _NUMBER.fullmatch(value):
            expected = "a number that is not negative, in at most 150 digits"
            message = f"{name} is {value[:60]!r}, expected {expected}"
            yield Finding(message, place=f"data.{name}")


def value_is_sent_for_coins_only(context: RunContext, exchange: Exchange) -> Iterator[Said]:
    text = exchange.data.get("value")
    source = _token(context, exchange, "from")
    sent = exchange.parameters.get("fromAmount", "")
    if not isinstance(text, str) or not _NUMBER.fullmatch(text) or source is None:
        return
    if not source.is_native and not source.address.startswith("0x"):
        return
    yield JUDGED
    value = int(text, 16) if text.startswith("0x") else int(text)
    if not source.is_native and value:
        yield Finding(f"value is {text[:60]}, while {source.symbol} is no coin of its chain")
    elif source.is_native and sent.isdecimal() and value < int(sent):
        yield Finding(f"value is {text[:60]}, {sent} is given")
    elif source.is_native and exchange.probe in _OF_COINS and value * 2 > int(sent or 0) * 3:
        # Something may come on top of it, as a fee does; of a usual amount that is not half.
        yield Finding(f"value is {text[:60]}, only {sent} is given")


def published_call_is_for_what_was_asked(_: RunContext, exchange: Exchange) -> Iterator[Said]:
    method = exchange.text("data").lower().removeprefix("0x")[:8]
    given, words = amounts.units(exchange.parameters.get("fromAmount")), _words(exchange)
    places = _PUBLISHED.get(method)
    if places is None or given is None or len(words) <= max(places):
        return
    yield JUDGED
    amount, least, payee = (words[place] for place in places)
    named = exchange.parameters.get("recipient", "")
    if _ADDRESS.fullmatch(named) and payee != int(named, 16):
        yield Finding(f"the call pays 0x{payee:040x}, {named} was named", cause="recipient")
    if amount != given:
        yield Finding(f"the call gives {amount} smallest units, {given} were named", cause="amount")
    out = amounts.units(exchange.data.get("amountOut"))
    slippage = amounts.units(exchange.parameters.get("slippage"))
    if not out or slippage is None or slippage > _BPS:
        return
    if least > out:
        yield Finding(f"the call asks for {least} at least, and pays {out}", cause="minimum")
    # The quote may have been another a moment ago.
    elif Decimal(least) * _NEAR < out * (1 - Decimal(slippage) / _BPS):
        message = f"the call is content with {least} of {out}, at a slippage of {slippage}"
        yield Finding(message, cause="minimum")


def call_pays_what_was_quoted(context: RunContext, operation: Operation) -> Iterator[Finding]:
    one = usual_attempt(context, SWAP_QUOTE)
    quote = quote_of(context, context.require_success(one.probe))
    call = context.require_success(f"{SWAP}/usual")
    if quote is None or quote.route.target.decimals is None:
        raise Vacuous("the decimals of the swapped tokens are not listed")
    again = context.get(f"{SWAP_QUOTE}/again")
    after = quote_of(context, again) if again is not None else None
    if after is not None and after.got:
        steady(out_of(quote), after.got, "the quote")
    paid = amounts.number(call.data.get("amountOut"))
    if paid is None:
        raise Vacuous("amountOut is no number")
    got = amounts.EXACT.scaleb(paid, -quote.route.target.decimals)
    least = out_of(quote) * (1 - Decimal(call.parameters.get("slippage", "100")) / _BPS) / _NEAR
    if not least <= got <= out_of(quote) * _NEAR:
        yield Finding(
            f"the call pays {got:.6g} {quote.route.target.symbol}, the quote {out_of(quote):.6g}",
            (quote.exchange, call),
            "data.amountOut",
        )


def call_is_for_the_amount(context: RunContext, operation: Operation) -> Iterator[Finding]:
    one = context.require_success(f"{SWAP}/usual")
    other = context.get(f"{SWAP}/tenfold")
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


def slippage_is_in_hundredths_of_a_percent(
    context: RunContext, operation: Operation
) -> Iterator[Finding]:
    one, other = context.require_each(f"{SWAP}/usual", f"{SWAP}/to another")
    for pair in ((one, other), *_with_other_slippages(context)):
        told = _told_of_slippage(context, *pair)
        if told is not None:
            yield from told
            return
    raise NotApplicable("nothing in the call data follows the slippage in a way that can be read")


def _with_other_slippages(context: RunContext) -> Iterator[tuple[Exchange, Exchange]]:
    """Yield two more calls for the usual amount, whose slippages are small and not very small."""
    named = {label_of(one.probe): one for one in context.of(SWAP) if one.succeeded}
    pair = named.get(f"{SLIPPAGE_IS}50"), named.get(f"{SLIPPAGE_IS}500")
    if pair[0] is not None and pair[1] is not None:
        yield pair[0], pair[1]


def _told_of_slippage(
    context: RunContext, one: Exchange, other: Exchange
) -> tuple[Finding, ...] | None:
    """Return what is wrong with the slippages of two calls; None where they show none."""
    moved = _moved(context, one, other)
    wanted = [Decimal(call.parameters.get("slippage", "0")) / _BPS for call in (one, other)]
    cuts = [pair for outs in _outputs(context, one, other) for pair in _cuts(one, other, outs)]
    told = [pair for pair in cuts if _follows(pair, moved) or min(pair) > max(wanted) + moved]
    if any(_fits(pair, wanted) for pair in cuts):
        return ()
    if not told:
        return None
    if moved * 2 > max(wanted):
        raise Inconclusive("prices move by more than the slippage between equal requests")
    return (
        Finding(
            f"slippage {wanted[0] * _BPS:.4g} leaves {(1 - told[0][0]) * 100:.4g} percent of the "
            f"output and {wanted[1] * _BPS:.4g} leaves {(1 - told[0][1]) * 100:.4g}, expected "
            f"{(1 - wanted[0]) * 100:.4g} and {(1 - wanted[1]) * 100:.4g}",
            (one, other),
            "query.slippage",
        ),
    )


def more_slippage_asks_for_less(
    context: RunContext, one: Exchange, other: Exchange
) -> Iterator[Finding]:
    first, second = (amounts.number(call.data.get("amountOut")) for call in (one, other))
    if first is None or second is None or first <= 0:
        raise Vacuous("amountOut is no number above zero in both calls")
    if second > first * _NEAR:
        if second <= first * (1 + _moved(context, one, other)):
            raise Inconclusive("equal quotes moved as far as amountOut did between the calls")
        yield Finding(f"amountOut rises from {first} to {second} as slippage rises from 100 to 500")


def call_pays_the_recipient(_: RunContext, one: Exchange, other: Exchange) -> Iterator[Finding]:
    usual, another = (
        _bare(one.parameters.get("recipient", "")),
        _bare(other.parameters.get("recipient", "")),
    )
    if not all(isinstance(call.data.get("data"), str) for call in (one, other)):
        raise Vacuous("data is no text in both calls")
    data = one.text("data").lower(), other.text("data").lower()
    if usual not in data[0]:
        if another in data[1]:
            return
        if data[0] == data[1]:
            message = "the call data for another recipient is the same, and names neither"
            basis = assumed("A-277", "a call that pays another recipient is another call")
            yield Finding(message, basis=basis, cause="same call")
            return
        if usual in data[1]:
            message = "the call data for another recipient names the sender, and not who is paid"
            basis = assumed("A-277", "a call that names who pays names who is paid as well")
            yield Finding(message, basis=basis, cause="sender alone")
            return
        raise NotApplicable("the call data does not show whom it pays")
    if another not in data[1]:
        kept = " and still names the sender" if usual in data[1] else ""
        yield Finding(f"the call data does not name the recipient 0x{another}{kept}")


def _outputs(context: RunContext, one: Exchange, other: Exchange) -> Iterator[tuple[int, int]]:
    """Yield what the two calls may pay: what they say themselves, and what the quote said."""
    own = [amounts.units(call.data.get("amountOut")) for call in (one, other)]
    if own[0] and own[1]:
        yield own[0], own[1]
    quoted = amounts.units(
        context.require_success(usual_attempt(context, SWAP_QUOTE).probe).data.get("outAmount")
    )
    if quoted:
        yield quoted, quoted


def _cuts(
    one: Exchange, other: Exchange, outs: tuple[int, int]
) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield what share of the output is cut off in words of the calls that can be its least."""
    words = _words(one), _words(other)
    given = one.parameters.get("fromAmount", "")
    if len(words[0]) != len(words[1]) or one.parameters.get("slippage") == other.parameters.get(
        "slippage"
    ):
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


def _moved(context: RunContext, one: Exchange, other: Exchange) -> Decimal:
    """Return what share prices may have moved by between two calls, as equal requests show.

    What two equal quotes differ by may well be less than what lies between two calls, so it counts
    several times; what the calls themselves say they pay counts as it is, where they say so.
    """
    outs = [amounts.units(quote.exchange.data.get("outAmount")) for quote in _equal_quotes(context)]
    seen_outs = [Decimal(out) for out in outs if out]
    if len(seen_outs) < 2 or len(set(seen_outs)) == 1:
        return Decimal(0)
    spread = amounts.EXACT.divide(max(seen_outs) - min(seen_outs), min(seen_outs))
    own = [amounts.units(call.data.get("amountOut")) for call in (one, other)]
    apart = Decimal(0)
    if own[0] and own[1]:
        apart = amounts.EXACT.divide(Decimal(abs(own[0] - own[1])), Decimal(min(own[0], own[1])))
    return max(spread * _SEVERAL, min(apart, spread * _MANY))


def _equal_quotes(context: RunContext) -> Iterator[Quote]:
    """Yield the quotes that asked for the same as the one that the calls follow."""
    wanted = context.require_success(usual_attempt(context, SWAP_QUOTE).probe).request.query
    for exchange in context.of(SWAP_QUOTE):
        if exchange.request.query == wanted:
            quote = quote_of(context, exchange)
            if quote is not None:
                yield quote


def _follows(cuts: tuple[Decimal, Decimal], moved: Decimal) -> bool:
    """Tell whether a word changes from call to call by more than prices may have moved."""
    return abs(cuts[0] - cuts[1]) > moved


def _fits(cuts: tuple[Decimal, Decimal], wanted: list[Decimal]) -> bool:
    return all(abs(cut - share) <= _CLOSE for cut, share in zip(cuts, wanted, strict=True))


def _words(call: Exchange) -> list[int]:
    """Return the arguments of a call: words of 32 bytes behind the four that choose a function."""
    data = call.text("data").removeprefix("0x")
    if not _HEX.fullmatch(data):
        return []
    digits = data[8:]
    whole = len(digits) // _WORD * _WORD
    return [int(digits[at : at + _WORD], 16) for at in range(0, min(whole, 100 * _WORD), _WORD)]


def _token(context: RunContext, exchange: Exchange, side: str) -> Token | None:
    sent = exchange.parameters
    address = sent.get(f"{side}TokenAddress", "").lower()
    found = (
        t for t in inventory_of(context).on(sent.get("chain", "")) if t.address.lower() == address
    )
    return next(found, None)


def _bare(address: str) -> str:
    if not _ADDRESS.fullmatch(address):
        raise Inconclusive(f"{address!r} is no address whose form is known")
    return address[2:].lower()
