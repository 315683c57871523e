"""The call data of a swap against its request and against the quote before it."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import product

from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.acceptance import FEWEST_REQUESTS
from mockserver.conformance.checks.answered_quotes import out_of, quote_of, steady
from mockserver.conformance.checks.check_decorators import answers_to, counting, each
from mockserver.conformance.checks.equal_and_similar_requests import with_and_without
from mockserver.conformance.checks.judged_exchanges import (
    is_plain,
    successes,
    wrongly_refused,
)
from mockserver.conformance.checks.rule import (
    EDGES,
    JUDGED,
    Finding,
    Findings,
    Judgements,
    RulePack,
)
from mockserver.conformance.checks.shared_probes import EVERY, SWAP_CALLS, probe, probes
from mockserver.conformance.discovery import amounts, service_clock
from mockserver.conformance.discovery.amount_units import plain_attempt
from mockserver.conformance.discovery.inventory import ListedToken, inventory_of
from mockserver.conformance.discovery.member_roles import text
from mockserver.conformance.requests.valid import COMPARED_SLIPPAGES
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, ExchangePair
from mockserver.conformance.session.probe_names import EdgeKind, plain_probe
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Vacuous
from mockserver.contract import Layer, Operation, fact_basis, ids
from mockserver.engine.abi import GAS_OF_ALL, ONE_INCH_SWAP, SWAP_EXACT_TOKENS, UNISWAP_V3_SWAP
from mockserver.fast_dataclass import dataclass

_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]*")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_NUMBER = re.compile(r"[0-9]{1,150}|0x[0-9a-fA-F]{1,150}")
_WORD_HEX = 64

# Calls whose amounts a fee for gas cannot outweigh.
_OF_SOME_WORTH = probes(ids.SWAP, "usual", "of the coin", "tenfold")
_PACK = RulePack(
    Layer.EXCHANGE, operations=(ids.SWAP,), needs=SWAP_CALLS, reads=(ids.PRICE, ids.SWAP_QUOTE)
)
# The published methods by selector: at which word each argument stands.
_PUBLISHED: Mapping[str, Mapping[str, int]] = {
    SWAP_EXACT_TOKENS.hex(): {"amount": 0, "least": 1, "path": 2, "payee": 3, "deadline": 4},
    ONE_INCH_SWAP.hex(): {"source": 1, "target": 2, "payee": 4, "amount": 5, "least": 6},
    UNISWAP_V3_SWAP.hex(): {"amount": 0, "least": 1},
}
# No route has more tokens: a larger count is not a path.
_LONGEST_PATH = 10
_BPS = Decimal(10_000)
# Prices move between the quote and the call.
_PRICE_FACTOR = Decimal("1.02")
# Without the aggregator of its quote a call may take another one, which is not half as good.
_OTHER_ROUTE_FACTOR = Decimal("1.5")
# How many times larger a cost is than what equal calls differ by.
_PLAINLY = 10
_SWAPPED = ("fromAmount", "fromTokenAddress", "toTokenAddress", "fromDecimal", "toDecimal")
# Twenty times finer than the usual slippage of 1 percent, and coarser than any rounding.
_SLIPPAGE_TOLERANCE = Decimal("0.0005")
# What is computed of an output differs by no more than this from what was computed exactly.
_EXACT_SHARE = Decimal("1e-6")
# Of no amount as much as a smallest unit, so that only rounding is left.
_LAST_DIGIT_SHARE = Decimal("1e-80")
# Smaller words are offsets, lengths and flags.
_DUST_UNITS = 10**4
_QUOTE_SPREAD_FACTOR, _CALL_SPREAD_FACTOR = Decimal(5), Decimal(20)
# Words between these may be times, and change from call to call.
_EARLIEST_S, _LATEST_S = 10**9, 10**10
_YEAR_2020_S = 1_577_836_800
_SLACK_S, _HOUR_S, _DAY_S = 60, 3_600, 86_400

# How many calls of one method and length have an argument in one word before others are held to it.
_FEWEST_ALIKE = 3
_LEAST, _SOLD, _BOUGHT = "the least output", "the token sold", "the token bought"
_NamedArgument = Callable[[RunContext, Exchange], int | None]

FUNCTION_CALLED = fact_basis("calls.function")


@_PACK.critical("swap.data")
@each(successes, "data.data", vacuous="data is a text in no call")
def call_data_is_hex(_: RunContext, exchange: Exchange) -> Findings:
    """Call data is hex of whole bytes; as observed, it begins with 0x and the four bytes of a
    function.
    """
    data = required_members.text(exchange, "data")
    digits = data.removeprefix("0x")
    if not _HEX.fullmatch(data) or len(digits) % 2:
        how = "an odd number of hex digits" if _HEX.fullmatch(data) else "no hex"
        yield Finding(f"call data is {how}: {data[:40]!r}")
    elif not digits:
        yield Finding("call data is empty", basis=FUNCTION_CALLED)
    elif not data.startswith("0x"):
        basis = fact_basis("calls.hex")
        yield Finding(f"call data has no 0x: {data[:20]!r}", basis=basis)
    elif len(digits) < 8:
        yield Finding(f"call data calls nothing: {data!r}", basis=FUNCTION_CALLED)


@_PACK.major("calls.members")
@each(successes, "data.from", vacuous="no call has a text as from or to")
def call_is_from_the_sender(_: RunContext, exchange: Exchange) -> Findings:
    """`from` is the sender, `to` a contract and no user, `gas` and `value` are numbers."""
    sender, to = exchange.data.get("from"), exchange.data.get("to")
    wanted = exchange.parameters.get("sender", "")
    tells_sender = isinstance(sender, str) and wanted
    tells_router = isinstance(to, str) and _ADDRESS.fullmatch(wanted)
    if tells_sender and str(sender).lower() != wanted.lower():
        yield Finding(f"from is {str(sender)[:60]!r}, the sender is {wanted!r}", place="data.from")
    users = {exchange.parameters.get(name, "").lower() for name in ("sender", "recipient")}
    if tells_router and (not _ADDRESS.fullmatch(str(to)) or not int(str(to), 16)):
        yield Finding(f"to is {str(to)[:60]!r}, no contract address", place="data.to")
    elif tells_router and str(to).lower() in users:
        yield Finding(f"to is {to}, a user and no contract", place="data.to", cause="user")
    for name in ("gas", "value"):
        value = exchange.data.get(name)
        if isinstance(value, str) and not _NUMBER.fullmatch(value):
            expected = "a number that is not negative, in at most 150 digits"
            message = f"{name} is {value[:60]!r}, expected {expected}"
            yield Finding(message, place=f"data.{name}")
        # Where it is 0, the wallet is to estimate it.
        elif name == "gas" and tells_router and 0 < _number(text(value)) < GAS_OF_ALL:
            message = f"gas is {value}, and no transaction costs less than {GAS_OF_ALL}"
            yield Finding(message, place="data.gas", cause="gas")
    required_members.skip_unless(tells_sender or tells_router)


@_PACK.critical("calls.value")
@each(successes, "data.value", vacuous="no call has a value that is a number")
def value_is_sent_for_coins_only(context: RunContext, exchange: Exchange) -> Findings:
    """A call sends the chain's own coin if that is what is given, and only then."""
    shown, parameters = required_members.text(exchange, "value"), exchange.parameters
    source = required_members.value(_token_given(context, exchange))
    required_members.skip_unless(
        _NUMBER.fullmatch(shown) and (source.is_native or source.address.startswith("0x"))
    )
    sent = parameters.get("fromAmount", "")
    value = _number(shown)
    if not source.is_native and value:
        yield Finding(f"value is {shown[:60]}, while {source.symbol} is no coin of its chain")
    elif source.is_native and sent.isdecimal() and value < int(sent):
        yield Finding(f"value is {shown[:60]}, {sent} is given")
    elif source.is_native and exchange.probe in _OF_SOME_WORTH and value * 2 > int(sent or 0) * 3:
        # A fee may come on top of it, but of a usual amount that is not half.
        yield Finding(f"value is {shown[:60]}, only {sent} is given")


@_PACK.major("calls.value")
@each(successes, "data.value", once=True, vacuous="no call gives the coin of its chain")
def coins_are_sent_without_more(context: RunContext, exchange: Exchange) -> Findings:
    """A call that gives the coin of its chain sends the amount that is given, and no more."""
    given = required_members.value(amounts.units(exchange.parameters.get("fromAmount")) or None)
    source = required_members.value(_token_given(context, exchange))
    required_members.skip_unless(source.is_native)
    value = required_members.units(exchange, "value")
    # What is far more is no fee, and another rule's.
    if given < value and value * 2 <= given * 3:
        yield Finding(f"value is {value}, {value - given} above the {given} that are given")


def _number(shown: str) -> int:
    """Return a number of a call in digits or hex; 0 of an empty text."""
    return int(shown, 16) if shown.startswith("0x") else int(shown or 0)


def _token_given(context: RunContext, call: Exchange) -> ListedToken | None:
    address = call.parameters.get("fromTokenAddress", "").lower()
    here = inventory_of(context).on(call.parameters.get("chain", ""))
    return next((token for token in here if token.address.lower() == address), None)


@_PACK.critical("calls.published", needs=(*SWAP_CALLS, *probes(ids.PRICE, "usual")), reads=EVERY)
@each(successes, "data.data", not_shown="no call is of a published method")
def published_call_is_for_what_was_asked(context: RunContext, exchange: Exchange) -> Findings:
    """A call of a published method has the requested amount, tokens and recipient, and a fitting
    least output.

    Where it has a deadline, that lies ahead.
    """
    method = exchange.text("data").lower().removeprefix("0x")[:8]
    put = required_members.value(amounts.units(exchange.parameters.get("fromAmount")))
    places, words = required_members.value(_PUBLISHED.get(method)), _words(exchange)
    required_members.skip_unless(len(words) > max(places.values()))
    args = {role: words[place] for role, place in places.items()}
    amount, least = args["amount"], args["least"]
    called = exchange.text("to").lower()
    here = inventory_of(context).on(exchange.parameters.get("chain", ""))
    if any(token.address.lower() == called and not token.is_native for token in here):
        yield Finding(f"the call is made to {called}, a token", place="data.to", cause="token")
    named = exchange.parameters.get("recipient", "")
    if _ADDRESS.fullmatch(named) and args.get("payee") not in (None, int(named, 16)):
        yield Finding(f"the call pays 0x{args['payee']:040x}, {named} was named", cause="recipient")
    yield from _other_tokens(exchange, here, words, args)
    now = _time_of(context, exchange) if "deadline" in args else None
    if now is not None and args["deadline"] < now - _SLACK_S:
        message = f"the call has to be made by {args['deadline']}, and it is {now}"
        yield Finding(message, cause="deadline")
    if amount != put:
        yield Finding(f"the call gives {amount} smallest units, {put} were named", cause="amount")
    out, slippage = _output_and_slippage(exchange)
    if not out or slippage is None or slippage > _BPS:
        return
    if least > out:
        message = f"the least output of the call is {least}, more than amountOut, which is {out}"
        yield Finding(message, cause="minimum")
    # The quote may have been another a moment ago.
    elif Decimal(least + 1) * _PRICE_FACTOR < out * (1 - Decimal(slippage) / _BPS):
        message = f"the least output of the call is {least} of {out}, at a slippage of {slippage}"
        yield Finding(message, cause="minimum")


def _other_tokens(
    exchange: Exchange, here: Iterable[ListedToken], words: list[int], args: Mapping[str, int]
) -> Findings:
    """Yield a finding where a call gives or pays another token than was requested."""
    # A coin stands in a call with the address of its wrapped token, so coins are not compared.
    start = args.get("path", 0) // 32
    count = words[start] if 0 < start < len(words) else 0
    path = words[start + 1 : start + 1 + count] if count <= _LONGEST_PATH else ()
    if len(path) < count <= _LONGEST_PATH:
        yield Finding(f"the call data ends after {len(path)} of {count} tokens", cause="path")
        return
    ends = {"source": path[0], "target": path[-1]} if path else args
    tokens = {token.address.lower(): token for token in here if not token.is_native}
    for role, name in (("source", "fromTokenAddress"), ("target", "toTokenAddress")):
        token = tokens.get(exchange.parameters.get(name, "").lower())
        is_there = token is not None and _ADDRESS.fullmatch(token.address)
        if token is not None and is_there and ends.get(role) not in (None, int(token.address, 16)):
            what = f"the {role} of the call is 0x{ends[role]:040x}"
            yield Finding(f"{what}, {token.symbol} is at {token.address}", cause=role)


@_PACK.critical("calls.times", needs=(*SWAP_CALLS, *probes(ids.PRICE, "usual")), reads=EVERY)
@each(
    answers_to("usual", "tenfold"),
    "data.data",
    not_shown="no call shows a time, or no price shows that of the service",
)
def call_can_still_be_made(context: RunContext, pair: tuple[Exchange, Exchange]) -> Findings:
    """A time in the call data of a swap is not more than a day ago."""
    first, second = pair
    now = required_members.value(_time_of(context, first))
    # A time hardly changes from one call to the next, and is no round number.
    pairs = zip(_words(first), _words(second), strict=False)
    times = [
        word
        for word, later in pairs
        if _YEAR_2020_S < word < _LATEST_S and word % 10**6 and abs(later - word) < _HOUR_S
    ]
    required_members.skip_unless(times)
    if max(times) < now - _DAY_S:
        yield Finding(f"the only time in the call is {max(times)}, and it is {now}")


def _time_of(context: RunContext, exchange: Exchange) -> int | None:
    """Return the earliest present time of the service; None where no price tells one."""
    # A mock may have a clock of its own, which only the times of its prices show.
    now = service_clock.service_time(context, exchange)
    prices = (text(exchange.data.get("updateTime")) for exchange in context.of(ids.PRICE))
    priced = [time for price in prices if (time := service_clock.seconds_of(price))]
    return min(now, *priced) if now is not None and priced else None


@_PACK.critical("calls.amount-out")
@counting(vacuous="amountOut is no number")
def call_pays_what_was_quoted(context: RunContext, _: Operation) -> Judgements:
    """`amountOut` of a call is about the output of the quote for the same swap."""
    quote = quote_of(context, _quote_before(context))
    call = context.require_success(plain_probe(ids.SWAP))
    if quote is None or quote.route.target.decimals is None:
        raise Vacuous("the decimals of the swapped tokens are not listed")
    again = context.get(probe(ids.SWAP_QUOTE, "again"))
    after = quote_of(context, again) if again is not None else None
    if after is not None and after.got:
        steady(out_of(quote), after.got, "the quote")
    paid = required_members.number(call, "amountOut")
    got = amounts.EXACT.scaleb(paid, -quote.route.target.decimals)
    yield JUDGED
    slippage = Decimal(call.parameters.get("slippage", "100"))
    least = out_of(quote) * (1 - slippage / _BPS) / _PRICE_FACTOR
    if not least <= got <= out_of(quote) * _PRICE_FACTOR:
        pays = f"{got:.6g} {quote.route.target.symbol}, the quote {out_of(quote):.6g}"
        yield Finding(f"the call pays {pays}", (quote.exchange, call), "data.amountOut")
    yield from _less_slippage(context)


def _less_slippage(context: RunContext) -> Findings:
    """Yield a finding where each amountOut is what the quote says less the slippage."""
    quotes, following = _quotes_within_chains(context), dict[Decimal, tuple[Exchange, Exchange]]()
    for call in context.successes(ids.SWAP):
        quote = quotes.get(_swap_asked(call, "chain"))
        slippage = amounts.units(call.parameters.get("slippage"))
        quoted = amounts.units(quote.data.get("outAmount")) if quote else None
        paid = amounts.units(call.data.get("amountOut"))
        if quote is None or not slippage or not quoted or paid is None:
            continue
        share = Decimal(slippage) / _BPS
        # Prices may have moved as far as a single slippage.
        if abs(1 - Decimal(paid) / quoted - share) > _SLIPPAGE_TOLERANCE:
            return
        following[share] = quote, call
    if len(following) > 1 and max(following) - min(following) > _SLIPPAGE_TOLERANCE * 2:
        least, most = following[min(following)], following[max(following)]
        shown = " and ".join(
            f"{call.text('amountOut')} with slippage {call.parameters['slippage']}"
            for _, call in (least, most)
        )
        message = f"amountOut is {shown}, each what the quote says less the slippage"
        yield Finding(message, (*least, most[1]), "data.amountOut", cause="less slippage")


@_PACK.critical("calls.amount-out", layer=Layer.CROSS, every_exchange=True)
@counting(vacuous="no call was made with an optional input and without it", requires=EDGES)
def call_without_an_option_pays_what_was_quoted(
    context: RunContext, operation: Operation
) -> Judgements:
    """Without an optional input a call pays about what was quoted, where it does so with it; and
    with one that its quote names no less than was quoted, where it does so without it.
    """
    quotes = _quotes_within_chains(context)
    for name, pairs in with_and_without(context, operation):
        odd, shares, of_quotes = [], list[tuple[Decimal, Decimal]](), list[ExchangePair]()
        for complete, lacking in pairs:
            calls = (complete, lacking)
            paid, less = (amounts.number(call.data.get("amountOut")) for call in calls)
            quote = quotes.get(_swap_asked(complete, "chain"))
            quoted = amounts.number(quote.data.get("outAmount")) if quote else None
            if quote is None or not quoted or paid is None or less is None:
                continue
            yield JUDGED
            if complete.parameters[name] == quote.text(name):
                shares.append((paid / quoted, less / quoted))
                of_quotes.append(calls)
            is_other = not amounts.within(quoted, less, _OTHER_ROUTE_FACTOR)
            if is_other and amounts.within(quoted, paid, _PRICE_FACTOR):
                odd.append((complete, lacking))
        # A price that jumps between two calls jumps for one of the pairs.
        if len(odd) > 1:
            paid_text, less_text = (call.data.get("amountOut") for call in odd[0])
            message = f"amountOut is {paid_text}, as quoted, and {less_text} without {name}"
            yield Finding(message, odd[0], "data.amountOut", cause=f"without {name}")
        if len(shares) > 1 and _costs(shares):
            paid_text, less_text = (call.data.get("amountOut") for call in of_quotes[0])
            message = f"amountOut is {paid_text} with the {name} that the quote names, and "
            message += f"{less_text}, as quoted, without it"
            yield Finding(message, of_quotes[0], "data.amountOut", cause=f"with {name}")


def _costs(shares: Iterable[tuple[Decimal, Decimal]]) -> bool:
    """Tell whether calls with an option all pay the same share of the quote less, by far more than
    those without it differ from the quote: no price moves so.
    """
    with_it, without = zip(*shares, strict=True)
    cost = 1 - max(with_it)
    apart = max(max(with_it) - min(with_it), *(abs(1 - share) for share in without))
    return bool(cost > _SLIPPAGE_TOLERANCE and apart * _PLAINLY < cost)


@_PACK.major("v2.get-aggregate-swap.aggregator", layer=Layer.CROSS, every_exchange=True)
@counting(vacuous="no call has the aggregator that the quote of its swap names")
def calls_take_the_aggregators_of_quotes(context: RunContext, _: Operation) -> Judgements:
    """A call takes the aggregator that the quote of the same swap names."""
    quotes, by_name = _quotes_within_chains(context), defaultdict[str, list[Exchange]](list)
    for call in context.of(ids.SWAP):
        quote, name = quotes.get(_swap_asked(call, "chain")), call.parameters.get("aggregator")
        if quote is not None and name and quote.text("aggregator") == name and is_plain(call):
            by_name[name].append(call)
    served = {call.parameters.get("chain") for call in context.of(ids.SWAP) if call.succeeded}
    for name, calls in by_name.items():
        refused = [call for call in calls if call.refused and call.parameters["chain"] in served]
        yield JUDGED
        # A service that is busy now and then refuses a request, whatever it is.
        if len(refused) == len(calls) >= FEWEST_REQUESTS:
            quote = quotes[_swap_asked(refused[0], "chain")]
            what = f"aggregator {name[:60]!r} is refused, which the quote of the same swap names"
            yield wrongly_refused(context, refused[0], what, quote, place="query.aggregator")
            return


def _quotes_within_chains(context: RunContext) -> dict[Hashable, Exchange]:
    """Return the quotes that were given within chains, by what they are of."""
    return {
        _swap_asked(quote, "fromChain"): quote
        for quote in context.successes(ids.SWAP_QUOTE)
        if quote.parameters.get("fromChain") == quote.parameters.get("toChain")
    }


def _swap_asked(exchange: Exchange, chain: str) -> tuple[str | None, ...]:
    """Return which amount of which tokens a quote or a call is about, and on which chain."""
    return tuple(exchange.parameters.get(name) for name in (chain, *_SWAPPED))


@_PACK.critical("v2.get-aggregate-swap")
@counting(vacuous="amountOut is no number")
def call_is_for_the_amount(context: RunContext, operation: Operation) -> Judgements:
    """A call for another amount has another output, and another least output."""
    first = context.require_success(plain_probe(ids.SWAP))
    second = context.get(probe(operation, "tenfold"))
    if second is None or not second.succeeded:
        raise NotApplicable("no call was given for a larger amount")
    paid = required_members.number(first, "amountOut")
    paid_more = required_members.number(second, "amountOut")
    yield JUDGED
    both, least = (first, second), _least_of(first)
    kept = [place for place, word in enumerate(_words(second)) if least.get(place) == word]
    if amounts.within(paid, paid_more, _PRICE_FACTOR):
        pays = f"{paid:.6g} for an amount, and {paid_more:.6g} for ten times as much"
        yield Finding(f"amountOut is {pays}", both, "query.fromAmount")
    elif _call_without_times(first) == _call_without_times(second):
        message = "the call for ten times the amount is the same, apart from times"
        yield Finding(message, both, "data.data", cause="same call")
    elif kept and not _least_of(second):
        message = f"the call for ten times the amount has {least[kept[0]]} as its least output too"
        yield Finding(message, both, "data.data", cause="least output")


def _output_and_slippage(call: Exchange) -> tuple[int | None, int | None]:
    return amounts.units(call.data.get("amountOut")), amounts.units(call.parameters.get("slippage"))


def _least_of(call: Exchange) -> dict[int, int]:
    """Return the words of a call, by place, that equal its output less the slippage."""
    out, slippage = _output_and_slippage(call)
    wanted = out * (1 - Decimal(slippage) / _BPS) if out and slippage else Decimal(0)
    near = wanted * _SLIPPAGE_TOLERANCE
    words = enumerate(_words(call))
    return {at: word for at, word in words if word > _DUST_UNITS and abs(word - wanted) <= near}


def _call_without_times(call: Exchange) -> tuple[str, ...]:
    data = call.text("data").lower().removeprefix("0x")
    words = [data[:8], *(data[at : at + _WORD_HEX] for at in range(8, len(data), _WORD_HEX))]
    times = {f"{word:064x}" for word in _words(call) if _EARLIEST_S < word < _LATEST_S}
    return (call.text("value"), *(word for word in words if word not in times))


@_PACK.critical("v2.get-aggregate-swap.slippage")
@counting(not_shown="nothing in the call data follows the slippage in a way that can be read")
def slippage_is_in_hundredths_of_a_percent(context: RunContext, operation: Operation) -> Judgements:
    """The least output in the call data is the output minus the slippage, where 100 means 1 %."""
    calls = context.require_each(*probes(operation, "usual", "to another"))
    named = {
        call.parameters.get("slippage"): call
        for call in context.successes(ids.SWAP)
        if call.probe.edge and call.probe.edge.kind is EdgeKind.SLIPPAGE
    }
    # A run with edges has two more calls for the usual amount, with a small and a large slippage.
    more = [named[slippage] for slippage in COMPARED_SLIPPAGES if slippage in named]
    for first, second in (calls, more) if len(more) == len(COMPARED_SLIPPAGES) else (calls,):
        judgements = list(_slippage_judgements(context, first, second))
        yield from judgements
        if judgements:
            return


def _slippage_judgements(
    context: RunContext, first_call: Exchange, second_call: Exchange
) -> Judgements:
    """Judge the slippages of two calls, where their least outputs can be found."""
    moved = _price_movement(context, first_call, second_call)
    calls = (first_call, second_call)
    wanted = [Decimal(call.parameters.get("slippage", "0")) / _BPS for call in calls]
    cuts = [pair for outs in _outputs(context, *calls) for pair in _cuts(*calls, outs)]
    # A word follows the slippage where it changes by more than prices may have moved.
    most = max(wanted) + moved
    following = [cut for cut in cuts if abs(cut[0] - cut[1]) > moved or min(cut) > most]
    apart = (max(abs(cut[0] - wanted[0]), abs(cut[1] - wanted[1])) for cut in cuts)
    if any(difference <= _SLIPPAGE_TOLERANCE for difference in apart):
        yield JUDGED
    elif following and moved * 2 > max(wanted):
        raise Inconclusive("prices move by more than the slippage between equal requests")
    elif following:
        left = [f"{(1 - share) * 100:.4g}" for share in (*following[0], *wanted)]
        first, second = (f"{share * _BPS:.4g}" for share in wanted)
        leaves = f"{first} leaves {left[0]} percent of the output and {second} leaves {left[1]}"
        message = f"slippage {leaves}, expected {left[2]} and {left[3]}"
        yield Finding(message, calls, "query.slippage")
    elif moved * 2 < abs(wanted[0] - wanted[1]) and (kept := _kept_share(*calls, moved)):
        slippages = " and ".join(f"{share * _BPS:.4g}" for share in wanted)
        asks = f"{kept * 100:.4g} percent of the output, for slippages {slippages}"
        yield Finding(f"the call asks for {asks}", calls, "query.slippage", cause="ignored")


def _kept_share(first: Exchange, second: Exchange, moved: Decimal) -> Decimal | None:
    """Return the share of the output that two calls ask for alike, where that can be read.

    It can in a published method, and where all of the output stands in two calls that differ in
    nothing else.
    """
    if _asks_for_all(first) and _asks_for_all(second) and _same_but_for_outputs(first, second):
        return Decimal(1)
    shares = []
    for call in (first, second):
        places = _PUBLISHED.get(call.text("data").lower().removeprefix("0x")[:8])
        out, words = amounts.units(call.data.get("amountOut")), _words(call)
        if not places or not out or out < _DUST_UNITS or len(words) <= places["least"]:
            return None
        shares.append(Decimal(words[places["least"]]) / out)
    return shares[0] if abs(shares[0] - shares[1]) <= moved + _SLIPPAGE_TOLERANCE else None


def _asks_for_all(call: Exchange) -> bool:
    out = amounts.units(call.data.get("amountOut"))
    return bool(out and out > _DUST_UNITS and out in _words(call))


def _same_but_for_outputs(first: Exchange, second: Exchange) -> bool:
    """Tell whether two calls differ in their outputs and times alone."""
    rest = []
    for call in (first, second):
        out = amounts.units(call.data.get("amountOut")) or 0
        rest.append([word.replace(f"{out:064x}", "out") for word in _call_without_times(call)])
    return rest[0] == rest[1]


@_PACK.major("v2.get-aggregate-swap.slippage")
@each(
    answers_to("usual", "to another"),
    "data.amountOut",
    vacuous="amountOut is no number above zero in both calls",
)
def more_slippage_asks_for_less(context: RunContext, pair: tuple[Exchange, Exchange]) -> Findings:
    """A larger slippage never raises what a call pays."""
    first, second = (required_members.number(call, "amountOut") for call in pair)
    required_members.skip_unless(first > 0)
    if second > first * _PRICE_FACTOR:
        if second <= first * (1 + _price_movement(context, *pair)):
            raise Inconclusive("equal quotes moved as far as amountOut did between the calls")
        yield Finding(f"amountOut rises from {first} to {second} as slippage rises from 100 to 500")


@_PACK.critical("v2.get-aggregate-swap.recipient")
@each(answers_to("usual", "to another"), "query.recipient", vacuous="data is no text in both calls")
def call_pays_the_recipient(_: RunContext, pair: tuple[Exchange, Exchange]) -> Findings:
    """The call data of a swap pays the recipient of the request, not the sender."""
    first, second = pair
    named = [call.parameters.get("recipient", "") for call in (first, second)]
    for address in named:
        if not _ADDRESS.fullmatch(address):
            raise Inconclusive(f"{address!r} is no address whose form is known")
    sender, another = (address[2:].lower() for address in named)
    data = [required_members.text(call, "data").lower() for call in (first, second)]
    if sender in data[0]:
        if another not in data[1]:
            kept = " and still names the sender" if sender in data[1] else ""
            yield Finding(f"the call data does not name the recipient 0x{another}{kept}")
    elif another not in data[1]:
        if data[0] == data[1]:
            message, cause = "is the same, and names neither", "same call"
            basis = fact_basis("calls.recipient")
        elif sender in data[1]:
            message, cause = "names the sender, and not who is paid", "sender alone"
            basis = fact_basis("calls.payee")
        else:
            raise NotApplicable("the call data does not show whom it pays")
        yield Finding(f"the call data for another recipient {message}", basis=basis, cause=cause)


def _amount_named(_: RunContext, call: Exchange) -> int | None:
    amount = amounts.units(call.parameters.get("fromAmount"))
    return amount if amount and amount > _DUST_UNITS else None


def _recipient_named(_: RunContext, call: Exchange) -> int | None:
    named = call.parameters.get("recipient", "")
    return int(named, 16) if _ADDRESS.fullmatch(named) else None


def _token_named(role: str) -> _NamedArgument:
    def named(context: RunContext, call: Exchange) -> int | None:
        address = call.parameters.get(role, "").lower()
        here = inventory_of(context).on(call.parameters.get("chain", ""))
        # A coin stands in a call with the address of its wrapped token, so coins are not compared.
        is_token = any(token.address.lower() == address and not token.is_native for token in here)
        return int(address, 16) if is_token and _ADDRESS.fullmatch(address) else None

    return named


def _least_due(_: RunContext, call: Exchange) -> int | None:
    out, slippage = _output_and_slippage(call)
    if not out or out <= _DUST_UNITS or slippage is None or slippage > _BPS:
        return None
    return out * (int(_BPS) - slippage) // int(_BPS)


# What a call carries of its request, and the fact that says so.
_ARGUMENTS: Mapping[str, tuple[_NamedArgument, str]] = {
    "the amount": (_amount_named, "v2.get-aggregate-swap"),
    "the recipient": (_recipient_named, "v2.get-aggregate-swap.recipient"),
    _LEAST: (_least_due, "v2.get-aggregate-swap.slippage"),
    _SOLD: (_token_named("fromTokenAddress"), "v2.get-aggregate-swap"),
    _BOUGHT: (_token_named("toTokenAddress"), "v2.get-aggregate-swap"),
}
# A token that is sold by one request may well be bought by another.
_OF_ONE_REQUEST = ("the amount", "the recipient")
# How a least output is rounded is not shown; where most are exact, the others are as well.
_SHARES = {_LEAST: (_LAST_DIGIT_SHARE, _EXACT_SHARE, _SLIPPAGE_TOLERANCE)}


@_PACK.critical("v2.get-aggregate-swap", every_exchange=True)
@counting(not_shown="nothing in the call data follows the requests in a way that can be read")
def each_call_carries_its_request(context: RunContext, operation: Operation) -> Judgements:
    """Where the call data of other swaps has the amount, the recipient, the tokens or the least
    output, it has those of each: on each chain, for each amount and slippage.
    """
    every = context.successes(operation)
    calls = [(call, words) for call in every if len(words := _words(call)) > 1]
    places: defaultdict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    for role, (argument, fact) in _ARGUMENTS.items():
        by_method: defaultdict[tuple[str, int], list[_Argument]] = defaultdict(list)
        for call, words in calls:
            wanted = argument(context, call)
            if wanted is not None and not _outgrows_words(call):
                by_method[_method_of(call)].append(_Argument(call, words, wanted))
        for key, alike in by_method.items():
            known = _place_of(alike, role)
            if known is None:
                yield from _of_other_requests(alike, role)
                continue
            yield JUDGED
            place, share = known
            places[key][role] = place
            odd = next((each for each in alike if not each.is_at(place, share)), None)
            if odd is not None:
                before = next(each.call for each in alike if each.is_at(place, share))
                message = (
                    f"the call has {odd.words[place]} where {role} stands in "
                    f"{len(alike)} calls of its method, and should have {odd.wanted}"
                )
                # A float loses last digits alone.
                is_float = share == _LAST_DIGIT_SHARE and odd.is_at(place, _EXACT_SHARE)
                basis = fact_basis("quotes.exact" if is_float else fact)
                yield Finding(message, (before, odd.call), "data.data", basis, cause=role)
    yield from _least_in_place_of_amount(context, calls, places)
    for call, words in calls:
        sold, bought = map(places[_method_of(call)].get, (_SOLD, _BOUGHT))
        # Nothing stands there for an address that is none of EVM, and the wrapped coin both for
        # itself and for the coin.
        if sold is None or bought is None or not words[sold] or _unwraps(context, call):
            continue
        if words[sold] == words[bought]:
            message = f"the call sells 0x{words[sold]:040x} for itself"
            basis = fact_basis(_ARGUMENTS[_SOLD][1])
            yield Finding(message, (call,), "data.data", basis, cause=_SOLD)
            break
    yield from _same_for_another(context, operation)


def _least_in_place_of_amount(
    context: RunContext,
    calls: Iterable[tuple[Exchange, list[int]]],
    places: Mapping[tuple[str, int], Mapping[str, int]],
) -> Findings:
    """Yield a finding where calls have their least output twice, and nowhere the amount."""
    for call, words in calls:
        least, amount = _least_due(context, call), _amount_named(context, call)
        method = _method_of(call)
        if least is None or amount is None or "the amount" in places[method] or amount in words:
            continue
        at = [place for place, word in enumerate(words) if abs(word - least) <= 1]
        # Published methods have a rule of their own.
        published = _PUBLISHED.get(method[0], {"": len(words)})
        if places[method].get(_LEAST) in at[:-1] and max(published.values()) >= len(words):
            message = f"the call has its least output {least} twice, and not the amount {amount}"
            basis = fact_basis(_ARGUMENTS["the amount"][1])
            yield Finding(message, (call,), "data.data", basis, cause="the amount")
            return


def _unwraps(context: RunContext, call: Exchange) -> bool:
    """Tell whether a call is about one token twice, or about a coin and its wrapped token."""
    here = inventory_of(context).on(call.parameters.get("chain", ""))
    names = ("fromTokenAddress", "toTokenAddress")
    ends = {call.parameters.get(name, "").lower() for name in names}
    known = (token.symbol.upper() for token in here if token.address.lower() in ends)
    symbols = sorted(known, key=len)
    return len(ends) < 2 or len(symbols) < 2 or symbols[-1].endswith(symbols[0])


def _method_of(call: Exchange) -> tuple[str, int]:
    """Return the selector of a call and its length: of calls of other lengths, and of those whose
    arguments are no whole words, the places are other ones.
    """
    data = call.text("data").lower().removeprefix("0x")
    return data[:8], len(data)


def _same_for_another(context: RunContext, operation: Operation) -> Findings:
    """Yield a finding where calls that differ in their recipient alone have the same data.

    Where another slippage changes nothing either, another rule compares them.
    """
    usual, other = (context.get(probe(operation, words)) for words in ("usual", "to another"))
    data = usual.text("data") if usual is not None else ""
    if usual is None or not data or (other is not None and other.text("data") == data):
        return
    for call in context.successes(operation):
        edge = call.probe.edge
        if edge and edge.kind is EdgeKind.RECIPIENT and call.text("data") == data:
            message, basis = "the call is the same for another recipient", "calls.recipient"
            place, cause = "query.recipient", "same call"
            yield Finding(message, (usual, call), place, fact_basis(basis), cause=cause)


def _outgrows_words(call: Exchange) -> bool:
    values = (call.parameters.get("fromAmount"), call.data.get("amountOut"))
    return any((amounts.units(value) or 0) >= 2**256 for value in values)


@dataclass(frozen=True, slots=True)
class _Argument:
    """A call with its words, and what one of them should be."""

    call: Exchange
    words: list[int]
    wanted: int

    def is_at(self, place: int, share: Decimal) -> bool:
        """Tell whether it is in a word, which may be off by a share of it and be rounded."""
        most = self.wanted * share + 1 if share else 0
        return abs(self.words[place] - self.wanted) <= most


def _of_other_requests(alike: Sequence[_Argument], role: str) -> Findings:
    """Yield a finding where a word of most calls is the argument of some other request."""
    first = {each.wanted: each.call for each in reversed(alike)}
    for place in range(len(alike[0].words)) if role in _OF_ONE_REQUEST else ():
        known = [each for each in alike if each.words[place] in first]
        foreign = [each for each in known if each.words[place] != each.wanted]
        several = len({each.words[place] for each in foreign}) >= _FEWEST_ALIKE
        if several and len(known) * 3 > len(alike) * 2:
            odd = foreign[0]
            message = f"the call has {odd.words[place]}, {role} of another request"
            exchanges, basis = (first[odd.words[place]], odd.call), fact_basis(_ARGUMENTS[role][1])
            yield Finding(message, exchanges, "data.data", basis, cause=role)
            return


def _place_of(alike: Sequence[_Argument], role: str) -> tuple[int, Decimal] | None:
    """Return the word that most calls of a method have an argument in, for several values of it.

    With it comes the share by which the argument may be off there.
    """
    for share, place in product(_SHARES.get(role, (Decimal(0),)), range(len(alike[0].words))):
        keeping = [each for each in alike if each.is_at(place, share)]
        several = len({each.wanted for each in keeping}) > 1
        if several and len(keeping) >= _FEWEST_ALIKE and len(keeping) * 3 > len(alike) * 2:
            return place, share
    return None


def _quote_before(context: RunContext) -> Exchange:
    return context.require_success(plain_attempt(context, ids.SWAP_QUOTE).probe)


def _outputs(context: RunContext, first: Exchange, second: Exchange) -> Iterator[tuple[int, int]]:
    """Yield the outputs of the two calls: by their own amountOut, and by the quote."""
    own = [amounts.units(call.data.get("amountOut")) for call in (first, second)]
    if own[0] and own[1]:
        yield own[0], own[1]
    quoted = amounts.units(_quote_before(context).data.get("outAmount"))
    if quoted:
        yield quoted, quoted


def _cuts(
    first: Exchange, second: Exchange, outs: tuple[int, int]
) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield what share of the output is missing in each word that may be the least output."""
    words, amount_text = (_words(first), _words(second)), first.parameters.get("fromAmount", "")
    slippages = [call.parameters.get("slippage") for call in (first, second)]
    if len(words[0]) != len(words[1]) or slippages[0] == slippages[1]:
        return
    for pair in zip(*words, strict=True):
        # The given amount and a deadline are numbers as well, and no outputs.
        if str(pair[0]) == amount_text or any(_EARLIEST_S < word < _LATEST_S for word in pair):
            continue
        cuts = Decimal(outs[0] - pair[0]) / outs[0], Decimal(outs[1] - pair[1]) / outs[1]
        in_range = all(Decimal("-0.001") <= cut <= Decimal("0.99") for cut in cuts)
        gone = 0 in pair and max(pair) * 100 > outs[0] and max(cuts) <= 1 and min(cuts) > -1
        if (in_range and max(pair) > _DUST_UNITS) or gone:
            yield cuts


def _price_movement(context: RunContext, first: Exchange, second: Exchange) -> Decimal:
    """Return by what share prices may have moved between two calls, as equal quotes show."""
    # More time may lie between the calls than between the quotes, so the spread of these counts
    # several times; that of the calls' own amountOut counts as it is.
    wanted = _quote_before(context).request.query
    equal = [quote for quote in context.of(ids.SWAP_QUOTE) if quote.request.query == wanted]
    known = [quote for quote in equal if quote_of(context, quote)]
    quoted = [amounts.units(quote.data.get("outAmount")) for quote in known]
    spread = _spread(out for out in quoted if out)
    if not spread:
        return Decimal(0)
    own = [amounts.units(call.data.get("amountOut")) for call in (first, second)]
    apart = _spread(out or 0 for out in own) if all(own) else Decimal(0)
    return max(spread * _QUOTE_SPREAD_FACTOR, min(apart, spread * _CALL_SPREAD_FACTOR))


def _spread(outs: Iterable[int]) -> Decimal:
    known = [Decimal(out) for out in outs] or [Decimal(1)]
    return amounts.EXACT.divide(max(known) - min(known), min(known))


def _words(call: Exchange) -> list[int]:
    """Return the arguments of a call: words of 32 bytes after the four bytes of the selector."""
    data = call.text("data").removeprefix("0x")
    if not _HEX.fullmatch(data):
        return []
    digits = data[8:]
    ends = range(_WORD_HEX, min(len(digits), 100 * _WORD_HEX) + 1, _WORD_HEX)
    return [int(digits[end - _WORD_HEX : end], 16) for end in ends]
