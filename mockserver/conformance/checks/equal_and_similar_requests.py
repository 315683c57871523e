"""Compares requests that mean the same, and requests that differ in one input alone."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import combinations, islice, pairwise

from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.answered_quotes import (
    AnsweredQuote,
    QuotePair,
    quote_of,
    quotes,
)
from mockserver.conformance.checks.check_decorators import counting, each
from mockserver.conformance.checks.judged_exchanges import (
    check_is_there,
    is_its_own,
    quoted,
    sent,
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
from mockserver.conformance.checks.shared_probes import V2_QUOTES
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.member_roles import scalar
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, ExchangePair
from mockserver.conformance.session.probe_names import EdgeKind, plain_probe
from mockserver.contract import Layer, Operation, fact_basis, ids
from mockserver.fast_dataclass import grouped
from mockserver.jsontext import Json
from mockserver.wording import counted

# How far numbers may be apart because prices move between two requests.
_PRICE_FACTOR = Decimal("1.05")
_TENTH = (Decimal("0.9"), Decimal("1.1"))
# How much less and more the whole may pay than its parts, for fixed fees and price impact.
_SHARE_OF_PARTS = {
    ids.BRIDGE: _TENTH,
    ids.V1_QUOTE: _TENTH,
    ids.SWAP_QUOTE: (Decimal("0.5"), Decimal("1.1")),
}
# A float keeps 17 digits, so that an exact amount of more equals its float only by chance.
_FLOAT_DIGITS = 24
_FEWEST_LONG_AMOUNTS = 2
# Prices move outputs by more, and no fee but those that are shown is as small a share.
_CUT_SHARE = 10**6
# Only several exact quotes tell that another should be.
_FEWEST_EXACT, _FEWEST_ZEROS = 5, 3
# Routes that differ from all others are few, and more than one pays all of as much of a token.
_FEW_OF, _FEWEST_ALIKE = 4, 2
# Where outputs of large amounts are answered, by operation.
_EXACT = {ids.BRIDGE: "outAmount", ids.CHECK: "amountOut"}
_FEWEST_REFUSALS = 2
# A line through two of fewer says nothing of the rest; prices may move a little meanwhile.
_FEWEST_LEVELS, _FEE_TOLERANCE = 5, Decimal("0.02")
# What a level costs is a third party's share, seen as 5 hundredths of a percent. Who takes several
# times that, or hardly anything, has another unit.
_SHARE_OF_A_LEVEL, _LEVEL_FACTOR = Decimal("0.0005"), Decimal(4)
_USUAL_CALLS = (EdgeKind.ONCE_MORE, EdgeKind.AFTERWARDS)
_CALLS_FOR_OTHERS = (EdgeKind.RECIPIENT, EdgeKind.SLIPPAGE)

_PACK = RulePack(Layer.CROSS, operations=(ids.SWAP,), every_exchange=True)


@_PACK.major(
    "requests.same-meaning",
    ids.BRIDGE,
    ids.SWAP_QUOTE,
    ids.SWAP,
    ids.BALANCE,
    ids.PRICE,
    ids.V1_RAW,
    ids.ORDER,
    ids.TICKET,
    ids.V1_QUOTE,
    ids.TICKETS,
)
@counting(vacuous="nothing was requested twice in forms that mean the same", requires=EDGES)
def same_meaning_same_answer(context: RunContext, operation: Operation) -> Judgements:
    """The order of parameters and the case of hex digits change nothing in an answer."""
    if operation.writes:
        yield from _taken_in_any_case(context, operation)
        return
    moved = required_members.value(_changed_meanwhile(context, operation))
    for base in _at(context, operation, EdgeKind.ONCE_MORE)[:1]:
        alike = _at(context, operation, EdgeKind.SAME_MEANING) if base.succeeded else ()
        for exchange in filter(is_its_own, alike):
            yield JUDGED
            apart = differences(context, base, exchange, _label(exchange))
            yield from (finding for finding in apart if finding.place not in moved)


def differences(context: RunContext, base: Exchange, exchange: Exchange, how: str) -> Findings:
    """Yield a finding for each difference in the answer to another form of the same request.

    Raises `Inconclusive` where a refusal may be due to an outage.
    """
    if not exchange.succeeded:
        what = f"the request is refused with {how}"
        yield wrongly_refused(context, exchange, what, base, cause=how)
        return
    for place, before, now in _differing_members(base.data, exchange.data, "data"):
        message = f"{place} is {quoted(place, before)}, and {quoted(place, now)} with {how}"
        yield Finding(message, (base, exchange), place, cause=how)


def calls_for_others(context: RunContext, operation: Operation) -> Iterator[ExchangePair]:
    """Yield each call for another recipient or slippage with the usual one before it."""
    # Prices move while a run goes on, so that the latest usual call counts.
    usual: Exchange | None = None
    for exchange in _at(context, operation, *_USUAL_CALLS, *_CALLS_FOR_OTHERS):
        edge = exchange.probe.edge
        if edge is None or not exchange.succeeded:
            continue
        if edge.kind in _USUAL_CALLS:
            usual = exchange
        elif usual is not None and is_its_own(exchange):
            yield usual, exchange


@_PACK.major("calls.anybody")
@each(
    calls_for_others,
    vacuous="no call was made for another recipient or with another slippage",
    requires=EDGES,
)
def output_is_the_same_for_anybody(_: RunContext, pair: ExchangePair) -> Findings:
    """What a swap pays depends neither on the recipient nor on the slippage."""
    base, exchange = pair
    return second_output(base, exchange, _label(exchange))


def second_output(base: Exchange, second: Exchange, how: str) -> Findings:
    """Yield a finding where a swap pays another amount for another recipient or slippage."""
    first, two = (amounts.number(each.data.get("amountOut")) for each in (base, second))
    if first and two and not amounts.within(first, two, _PRICE_FACTOR):
        message = f"amountOut is {first}, and {two} with {how}"
        yield Finding(message, (base, second), "data.amountOut", cause=how)


def ladders(context: RunContext, operation: Operation) -> Iterator[QuotePair]:
    """Yield the quotes of each route that follow each other by amount, far enough to compare."""
    # Others may have been requested at another time, and prices move.
    at_edges = [quote for quote in quotes(context, operation) if quote.exchange.probe.edge]
    paying = (quote for quote in at_edges if quote.got is not None)
    for route_quotes in grouped(paying, lambda quote: quote.route).values():
        rising = sorted(route_quotes, key=lambda quote: quote.put)
        for less, more in pairwise(rising):
            if more.put > less.put * 2:
                yield less, more


@_PACK.critical("quotes.more", *V2_QUOTES, ids.V1_QUOTE)
@each(ladders, vacuous="no larger quote was given for the route of a smaller one", requires=EDGES)
def more_never_pays_less(_: RunContext, pair: QuotePair) -> Findings:
    """On one route a larger amount pays no less than a smaller one."""
    return less_for_more(*pair)


def less_for_more(less: AnsweredQuote, more: AnsweredQuote) -> Findings:
    if less.got and more.got and more.got * _PRICE_FACTOR < less.got:
        message = f"{less.put} pay {less.got}, and {more.put} only {more.got}"
        yield Finding(message, (less.exchange, more.exchange), more.place)


def fees_by_level(
    context: RunContext, operation: Operation
) -> Iterator[dict[int, tuple[Decimal, AnsweredQuote]]]:
    """Yield the fees of each amount on each route that was quoted with several fee levels."""
    by_request: dict[tuple[Json, ...], dict[int, tuple[Decimal, AnsweredQuote]]] = {}
    for quote in quotes(context, operation):
        sent, fee = quote.exchange.members, scalar(quote.exchange.member("data"), "fee")
        level, number = sent.get("feeLevel"), amounts.number(fee)
        if isinstance(level, int) and number is not None and quote.exchange.probe.edge:
            key = (quote.put, *(sent.get(name) for name in ("fromChain", "toChain", "token")))
            by_request.setdefault(key, {})[level] = (number, quote)
    return (fees for fees in by_request.values() if len(fees) >= _FEWEST_LEVELS)


@_PACK.major("v1-quotes.fee-level", ids.V1_QUOTE)
@counting(not_shown="no amount was quoted with a fee for several fee levels", requires=EDGES)
def each_fee_level_costs_its_share(context: RunContext, operation: Operation) -> Judgements:
    """Where the fee grows by the same from one fee level to the next for most of them, that is
    about 0.05 % of the amount, no level between them costs otherwise, and none below or above them
    goes the other way.
    """
    for fees in fees_by_level(context, operation):
        near = max(abs(fee) for fee, _ in fees.values()) * _FEE_TOLERANCE
        lines = (_on_line(fees, near, *ends) for ends in combinations(sorted(fees), 2))
        most = max(lines, key=len)
        first, last = min(most), max(most)
        # Of tiers of two levels half are on a line.
        is_line = len(most) * 3 >= len(fees) * 2
        if not is_line or abs(fees[last][0] - fees[first][0]) <= near:
            continue
        yield JUDGED
        step = amounts.EXACT.divide(fees[last][0] - fees[first][0], Decimal(last - first))
        share = amounts.EXACT.divide(step, fees[last][1].put)
        if not amounts.within(share, _SHARE_OF_A_LEVEL, _LEVEL_FACTOR):
            message = f"each fee level costs {share * 100:.3g} % of the amount, expected about "
            message += f"{_SHARE_OF_A_LEVEL * 100:.3g} %"
            exchanges = tuple(fees[level][1].exchange for level in (first, last))
            yield Finding(message, exchanges, "body.feeLevel", cause="size of a level")
        odd = (level for level in sorted(fees.keys() - most) if _is_odd(level, fees, near, most))
        for level in islice(odd, 1):
            shown = ", ".join(f"{fees[each][0]} at level {each}" for each in (first, last, level))
            message = f"the fee of one amount is {shown}, where most levels cost one step more each"
            exchanges = tuple(fees[each][1].exchange for each in (first, last, level))
            yield Finding(message, exchanges, "body.feeLevel")


def _on_line(
    fees: Mapping[int, tuple[Decimal, AnsweredQuote]], near: Decimal, low: int, high: int
) -> set[int]:
    """Return the levels whose fees are on the line through those of two of them."""
    base, rise = fees[low][0], fees[high][0] - fees[low][0]
    return {
        level
        for level, (fee, _) in fees.items()
        if abs((fee - base) * (high - low) - rise * (level - low)) <= near * (high - low)
    }


def _is_odd(
    level: int, fees: Mapping[int, tuple[Decimal, AnsweredQuote]], near: Decimal, line: set[int]
) -> bool:
    """Tell whether the fee of a level that is not on the line is no minimum and no cap either."""
    first, last = min(line), max(line)
    if first < level < last:
        return True
    end = first if level < first else last
    rise, more = fees[last][0] - fees[first][0], fees[level][0] - fees[end][0]
    return abs(more) > near and more * rise * (level - end) < 0


def wholes(context: RunContext, operation: Operation) -> Iterator[tuple[AnsweredQuote, ...]]:
    """Yield the quote of an amount, and those of its parts, where all were given."""
    parts = _at(context, operation, EdgeKind.PART)
    edges = (*_at(context, operation, EdgeKind.SUM), *parts)
    quotes_at_edges = [quote for exchange in edges if (quote := quote_of(context, exchange))]
    if len(quotes_at_edges) > len(parts) > 1 and all(quote.got for quote in quotes_at_edges):
        yield tuple(quotes_at_edges)


@_PACK.major("quotes.more", *V2_QUOTES, ids.V1_QUOTE)
@each(wholes, vacuous="an amount and its parts were not quoted", requires=EDGES)
def parts_add_up(_: RunContext, quoted: tuple[AnsweredQuote, ...]) -> Findings:
    """An amount pays about what its two parts pay, apart from fixed fees and price impact."""
    return unlike_its_parts(*quoted)


def unlike_its_parts(all_at_once: AnsweredQuote, *parts: AnsweredQuote) -> Findings:
    paid = [part.got for part in parts if part.got]
    if not all_at_once.got or len(paid) < len(parts):
        return
    share = amounts.EXACT.divide(all_at_once.got, sum(paid, Decimal(0)))
    least, most = _SHARE_OF_PARTS[all_at_once.exchange.operation.id]
    if not least <= share <= most:
        message = f"an amount pays {all_at_once.got}, its parts {' and '.join(map(str, paid))}"
        exchanges = dict.fromkeys(quote.exchange for quote in (*parts, all_at_once))
        yield Finding(message, tuple(exchanges), all_at_once.place)


@_PACK.critical("quotes.exact", *_EXACT)
@counting(vacuous="no amounts of many digits were answered", requires=EDGES)
def amounts_are_reckoned_exactly(context: RunContext, operation: Operation) -> Judgements:
    """Amounts of many digits stay exact; a float would lose digits, and so does who cuts some."""
    if operation.id == ids.CHECK:
        context.require_success(plain_probe(ids.ORDER))
    name = _EXACT[operation.id]
    outputs = {
        out: exchange
        for exchange in context.successes(operation)
        if len(str(exchange.data.get(name))) >= _FLOAT_DIGITS
        if (out := amounts.units(exchange.data.get(name))) is not None
    }
    if len(outputs) < _FEWEST_LONG_AMOUNTS:
        return
    yield JUDGED
    if all(int(float(out)) == out for out in outputs):
        out, exchange = next(iter(outputs.items()))
        message = f"{name} {out}, like all of so many digits, is what a float makes of an amount"
        yield Finding(message, (exchange,), f"data.{name}")
    elif operation.id == ids.BRIDGE:
        yield from _cut_outputs(context)


def _cut_outputs(context: RunContext) -> Findings:
    """Yield a finding where outputs lack last digits, while others have all of theirs; or where a
    route takes a share that it does not show, while others pay all of as much of the same token.
    """
    exact, kept = 0, list[AnsweredQuote]()
    cut, short = list[tuple[AnsweredQuote, int, int]](), list[tuple[AnsweredQuote, int, int]]()
    for quote in quotes(context, ids.BRIDGE):
        paid = quote.units("outAmount")
        due = amounts.units_of(quote.put, quote.decimals)
        if paid is None or not due:
            continue
        fees = [quote.units(name) or 0 for name in ("serviceFee", "gasFee")]
        off = abs(paid - due)
        is_cut = off * _CUT_SHARE < due or off < _step_of(paid)
        # It may be rounded up.
        if off <= 1:
            # A round amount is exact wherever digits are cut.
            exact += not _step_of(due)
        if any(abs(due - paid - fee) <= 1 for fee in (0, *fees, sum(fees))):
            kept.append(quote)
        elif is_cut:
            cut.append((quote, paid, due))
        # A few units may be too little for any share.
        elif due > _CUT_SHARE:
            short.append((quote, paid, due))
    if cut and exact >= _FEWEST_EXACT:
        quote, paid, due = cut[0]
        message = f"outAmount is {paid}, where {exact} others are exact to the last digit:"
        shown = (quote.exchange,)
        yield Finding(f"{message} {due} here", shown, "data.outAmount", cause="last digits")
    for quote, paid, due in short if len(short) * _FEW_OF < len(kept) else ():
        # A service may pay less of more than it has.
        alike = [
            other.exchange
            for other in kept
            if other.route.source.symbol == quote.route.source.symbol and other.put >= quote.put
        ]
        if len(alike) >= _FEWEST_ALIKE:
            source, target = quote.route.source, quote.route.target
            message = (
                f"outAmount is {paid} from {source.chain} to {target.chain}, where {due} are due: "
                f"other chains pay all of as much {source.symbol}, but for the fees shown"
            )
            exchanges, basis = (alike[0], quote.exchange), fact_basis("units.transfers")
            yield Finding(message, exchanges, "data.outAmount", basis, cause="share")
            return


def _step_of(amount: int) -> int:
    """Return what an amount is rounded to, where that shows: a power of ten."""
    zeros = len(str(amount)) - len(str(amount).rstrip("0"))
    return 10**zeros if zeros >= _FEWEST_ZEROS and amount else 0


@_PACK.major("v2.get-aggregate-swap.aggregator")
@counting(vacuous="no combination of optional inputs was requested", requires=EDGES)
def optional_inputs_stand_alone(context: RunContext, operation: Operation) -> Judgements:
    """An optional input may be left out, whichever other ones are given."""
    for name, pairs in with_and_without(context, operation):
        refused = [pair for pair in pairs if pair[1].refused]
        yield from (JUDGED for _ in pairs[:1])
        if len(refused) < _FEWEST_REFUSALS:
            # A service that is busy now and then refuses one of many requests, whatever they are.
            continue
        for _, lacking in refused:
            check_is_there(context, lacking)
        (answer, lacking), what = refused[0], f"refused without {name}, and taken with it"
        place = f"query.{name}"
        yield wrongly_refused(context, lacking, what, answer, place=place, cause=name)


def with_and_without(
    context: RunContext, operation: Operation
) -> Iterator[tuple[str, list[ExchangePair]]]:
    """Yield each optional input with the requests that succeed with it, each with the same
    without it.
    """
    by_inputs = {
        frozenset(exchange.parameters.items()): exchange
        for exchange in _at(context, operation, EdgeKind.COMBINATION)
        if is_its_own(exchange)
    }
    for field in operation.fields:
        if not field.required:
            yield field.name, list(_lacking(by_inputs, field.name))


def _lacking(
    by_inputs: Mapping[frozenset[tuple[str, str]], Exchange], name: str
) -> Iterator[ExchangePair]:
    for inputs, complete in by_inputs.items():
        fewer = frozenset(pair for pair in inputs if pair[0] != name)
        lacking = by_inputs.get(fewer)
        if fewer != inputs and lacking is not None and complete.succeeded:
            yield complete, lacking


def _taken_in_any_case(context: RunContext, operation: Operation) -> Judgements:
    """Judge submissions, whose answers cannot be compared: all forms are accepted, or none."""
    every = sent(context, operation)
    base = next((each for each in every if each.succeeded and each.probe.edge), None)
    if base is None:
        return
    for exchange in filter(is_its_own, _at(context, operation, EdgeKind.SAME_MEANING)):
        yield JUDGED
        if exchange.refused:
            yield from differences(context, base, exchange, _label(exchange))


def _changed_meanwhile(context: RunContext, operation: Operation) -> frozenset[str] | None:
    """Return the places of the usual answer that changed between the first and the last form.

    None where it was not requested again. A balance falls while orders are submitted.
    """
    last = _at(context, operation, EdgeKind.AFTERWARDS)
    base = _at(context, operation, EdgeKind.ONCE_MORE)
    if not (last and base and last[0].succeeded):
        return None
    apart = _differing_members(base[0].data, last[0].data, "data")
    return frozenset(place for place, _, _ in apart)


def _at(context: RunContext, operation: Operation, *kinds: EdgeKind) -> list[Exchange]:
    edges = ((exchange.probe.edge, exchange) for exchange in context.of(operation))
    return [exchange for edge, exchange in edges if edge and edge.kind in kinds]


def _label(exchange: Exchange) -> str:
    return exchange.probe.edge.label if exchange.probe.edge else ""


def _differing_members(first: Json, second: Json, place: str) -> Iterator[tuple[str, Json, Json]]:
    """Yield the places where two values differ. Texts that are no numbers may differ.

    Of lists, only the number of items is compared.
    """
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for name in sorted({*first, *second}):
            if name not in first or name not in second:
                yield f"{place}.{name}", first.get(name), second.get(name)
            else:
                yield from _differing_members(first[name], second[name], f"{place}.{name}")
    elif isinstance(first, list) and isinstance(second, list):
        if len(first) != len(second):
            yield place, counted(len(first), "item"), counted(len(second), "item")
    elif _are_apart(amounts.number(first), amounts.number(second)):
        yield place, first, second


def _are_apart(before: Decimal | None, now: Decimal | None) -> bool:
    if before is None or now is None:
        return before is not now
    has_moved = before > 0 and now > 0 and not amounts.within(before, now, _PRICE_FACTOR)
    return bool(before) != bool(now) or has_moved
