"""Rules about amounts: their size, their digits, and what they were quoted as."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from decimal import Decimal
from math import gcd

from mockserver.contract import Inputs, ids
from mockserver.contract.input_fields import AMOUNT_ROLES
from mockserver.engine import amounts
from mockserver.engine.catalog import Placed
from mockserver.engine.orders import OrderKind
from mockserver.engine.outages import OrderRoute
from mockserver.engine.refusal import Refusal
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import plain
from mockserver.operations.money_traces import TracedTransfer
from mockserver.worlds.audit.finding import Money
from mockserver.worlds.lint.finding import Remark
from mockserver.worlds.lint.traffic import ClientCall, QuoteCall, SubmitCall, Traffic

_LEAST_USD = Decimal("0.01")
# Digits of a double that are sure to survive; an integer with more of them was seldom meant.
_DOUBLE_BITS, _DOUBLE_DIGITS = 53, 17
# Those that a double prints as they were typed, and how many fewer a typed amount has.
_SUM_DIGITS, _SPARE_DIGITS = 15, 5
# Bits beyond a double's at which an integer that is exactly a double is one in a thousand.
_SURE_BITS = 10
# A random amount is next to a round one at most once in so many.
_RARE = 5_000
# Decimals that differ by less are seldom mistaken for each other.
_FAR = 4
# Widths of integers, how often an amount may have gone round one, and the digits of what was meant:
# so that a random amount is taken for such a one at most once in `_RARE`.
_WIDTHS = ((64, 5_000, 2), (32, 20, 0))
# How many quotes a payment on another route is compared with.
_NEWEST = 200
# How much of an amount that cannot be read is shown.
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class _Amount:
    """An amount that a client named, in smallest units of a token."""

    call: ClientCall
    units: int
    placed: Placed

    def __str__(self) -> str:
        return str(Money.of(self.units, self.placed))


def _amounts(traffic: Traffic) -> Iterator[_Amount]:
    """Yield the amounts of quotes and submissions, also of refused ones."""
    for call in traffic.calls:
        if call.operation.id in ids.QUOTES or call.operation.id in (ids.SWAP, ids.V1_SWAP_QUOTE):
            quoted = _quoted_amount(traffic, call)
            if quoted is not None:
                yield quoted
    called = (paid for paid in traffic.first_submissions.values() if paid.by_contract)
    for submission in (*traffic.submissions, *called):
        yield _Amount(submission.call, submission.paid.amount, submission.paid.placed)


def _quoted_amount(traffic: Traffic, call: ClientCall) -> _Amount | None:
    inputs, catalog = call.inputs, traffic.catalog
    try:
        if call.operation.generation.id == "v1":
            token = inputs.text("token" if inputs.has("token") else "fromToken")
            chain = catalog.chain_v1(inputs.text("fromChain"))
            placed = catalog.placed(chain, catalog.token(token))
            sent = inputs.decimal("amount" if inputs.has("amount") else "fromAmount")
            return _Amount(call, amounts.units_exact(sent, placed.decimals), placed)
        if call.operation.id == ids.BRIDGE:
            placed = catalog.token_on(inputs.text("fromChain"), inputs.text("symbol"))
            return _Amount(call, inputs.integer("amount"), placed)
        chain = catalog.chain(_source_chain(inputs))
        placed = catalog.placed_at(chain, inputs.text("fromTokenAddress"))
        return _Amount(call, inputs.integer("fromAmount"), placed)
    except (Refusal, ArithmeticError, KeyError, TypeError, ValueError):
        return None


def _source_chain(inputs: Inputs) -> str:
    return inputs.text("fromChain" if inputs.has("fromChain") else "chain")


def magnitude(traffic: Traffic, most: int) -> Iterator[Remark]:
    """Find amounts whose value nobody means."""
    yield from _fractions(traffic)
    reported: set[tuple[str, str, int]] = set()
    for amount in _amounts(traffic):
        key = amount.placed.chain.nickname, amount.placed.symbol, amount.units
        value = _usd(traffic, amount)
        # The quote and the submission of one transfer name the same amount: it counts once.
        if value is None or _LEAST_USD <= value <= most or key in reported or not amount.units:
            continue
        reported.add(key)
        size = "more than" if value > most else "less than"
        limit = f"{most:,} USD" if value > most else f"{_LEAST_USD} USD"
        unit = _unit_hint(amount, most)
        text = f"{amount} on {amount.placed.chain.nickname} is worth {size} {limit}{unit}"
        yield Remark(text, [amount.call])


def _fractions(traffic: Traffic) -> Iterator[Remark]:
    """Find amounts of 2.0 in whole tokens, which show by their point."""
    for call, sent in _written(traffic, re.compile(r"[0-9]*\.[0-9]+")):
        text = f"{sent} is no number of smallest units, which 2.0 counts; v1 has whole tokens"
        yield Remark(text, [call])


def _written(traffic: Traffic, form: re.Pattern[str]) -> Iterator[tuple[ClientCall, str]]:
    """Yield the amounts of 2.0 that are written in a form, each once."""
    reported: set[str] = set()
    for call in traffic.calls:
        for role in AMOUNT_ROLES if call.operation.generation.id == "v2" else ():
            sent = call.text(role)[:_LONGEST]
            if form.fullmatch(sent) and sent not in reported:
                reported.add(sent)
                yield call, sent


def _usd(traffic: Traffic, amount: _Amount) -> Decimal | None:
    try:
        price = traffic.world.quotes.price(amount.placed.symbol).usd
    except Refusal:
        return None
    return amounts.whole_tokens(amount.units, amount.placed.decimals) * price


def _unit_hint(amount: _Amount, most: int) -> str:
    """Return with which decimals the amount would be one that people send."""
    own, symbol = amount.placed.decimals, amount.placed.symbol
    if amount.call.operation.generation.id == "v1":
        tokens = amounts.whole_tokens(amount.units, own).scaleb(-own)
        if _LEAST_USD <= tokens < most:
            return f"; v1 takes whole tokens (section 2.2), and {plain(tokens)} were meant"
        return ""
    contracts = amount.placed.token.contracts.values()
    for decimals in sorted({contract.decimals for contract in contracts} | {6, 18}):
        fits = Decimal(amount.units).scaleb(-decimals)
        if abs(decimals - own) >= _FAR and _LEAST_USD <= fits < most:
            return (
                f"; with {decimals} decimals in place of {own} it would be {plain(fits)} {symbol}"
            )
    return f"; {symbol} has {own} decimals there"


def through_float(traffic: Traffic, _: int) -> Iterator[Remark]:
    """Find amounts that show the mark of a binary fraction: rounded, cut, or cut off."""
    yield from _sums(traffic)
    for call, sent in _written(traffic, re.compile(r"[0-9.]+[eE][+-]?[0-9]+")):
        yield Remark(f"{sent} is how a double is printed", [call])
    told = sorted(_told_amounts(traffic))
    reported: set[tuple[str, int]] = set()
    for amount in _amounts(traffic):
        key = amount.placed.symbol, amount.units
        # What did not fit into an integer ends in zero bits as well, and has a rule of its own.
        if key in reported or _before_overflow(amount) is not None:
            continue
        near = _beside_round(amount) or _beside_told(amount, told) or _double(amount)
        if near:
            reported.add(key)
            # The digits themselves are what is wrong: people search their code and logs for them.
            text = f"{amount} ({amount.units} smallest units) {near}"
            yield Remark(text, [amount.call])


def _sums(traffic: Traffic) -> Iterator[Remark]:
    """Find amounts of v1, which are decimals, that end in what a sum of doubles leaves."""
    reported: set[Decimal] = set()
    for call in traffic.calls:
        if call.operation.generation.id != "v1":
            continue
        for role in AMOUNT_ROLES:
            try:
                sent = call.inputs.decimal(role) if call.inputs.has(role) else Decimal(0)
            except (Refusal, ArithmeticError, TypeError, ValueError):
                continue
            meant = Decimal(f"{sent:.{_SUM_DIGITS}g}")
            digits = [len(number.normalize().as_tuple().digits) for number in (sent, meant)]
            if digits[0] > _SUM_DIGITS >= digits[1] + _SPARE_DIGITS and sent not in reported:
                reported.add(sent)
                yield Remark(
                    f"{plain(sent)} is what a sum of doubles makes of {plain(meant)}", [call]
                )


def _beside_round(amount: _Amount) -> str:
    # Twice the spacing of doubles there: a product of two roundings misses by no more.
    slack = max(1, amount.units >> (_DOUBLE_BITS - 2))
    # The coarsest digits that a person would have typed, given how near is near.
    step = 1
    while step < 2 * slack * _RARE:
        step *= 10
    if step > 10**amount.placed.decimals:
        return ""
    nearest = (amount.units + step // 2) // step * step
    if not 0 < abs(nearest - amount.units) <= slack or nearest == 0:
        return ""
    return f"is {abs(nearest - amount.units)} beside {Money.of(nearest, amount.placed)}"


def _told_amounts(traffic: Traffic) -> Iterator[tuple[int, int]]:
    """Yield large whole numbers of answers, each before the number of its request."""
    for call in traffic.calls:
        if call.operation.generation.id == "v2" and isinstance(call.data, dict):
            for value in call.data.values():
                if isinstance(value, str) and value.isascii() and value.isdigit():
                    number = int(value) if len(value) < 90 else 0
                    if number.bit_length() > _DOUBLE_BITS:
                        yield number, call.sequence


def _beside_told(amount: _Amount, told: list[tuple[int, int]]) -> str:
    """Tell which number of an answer an amount misses by what a double cannot hold."""
    slack = amount.units >> (_DOUBLE_BITS - 2)
    for number, sequence in told[bisect_left(told, (amount.units - slack, 0)) :]:
        # Sorted by number: nothing beyond is near any more.
        if number > amount.units + slack:
            break
        if sequence < amount.call.sequence and number != amount.units:
            return f"is {abs(number - amount.units)} beside {number}, which answer {sequence} has"
    return ""


def _double(amount: _Amount) -> str:
    """Tell whether a long amount is what a double holds, or what is printed of one."""
    spare = amount.units.bit_length() - _DOUBLE_BITS
    if spare < _SURE_BITS:
        return ""
    digits = len(str(amount.units).rstrip("0"))
    if digits > _DOUBLE_DIGITS and not amount.units % (1 << spare):
        return f"has {digits} digits and is exactly a double"
    # Whoever rounds keeps few digits; 16 or 17 and then zeros are what a double prints as.
    printed = Decimal(repr(float(amount.units))) == amount.units
    if digits >= _DOUBLE_DIGITS - 1 and printed:
        return f"has {digits} digits and then zeros, as a double is printed"
    return ""


def overflowed(traffic: Traffic, _: int) -> Iterator[Remark]:
    """Find amounts that are what an integer of 64 or 32 bits keeps of a round one."""
    reported: set[tuple[str, int]] = set()
    for amount in _amounts(traffic):
        key = amount.placed.symbol, amount.units
        meant = None if key in reported else _before_overflow(amount)
        if meant is not None:
            reported.add(key)
            bits, units = meant
            text = (
                f"{amount} ({amount.units} smallest units) is what {bits} bits keep of "
                f"{Money.of(units, amount.placed)}"
            )
            yield Remark(text, [amount.call])


def _before_overflow(amount: _Amount) -> tuple[int, int] | None:
    """Return the width of an integer, and the round amount that it cannot hold."""
    decimals, units = amount.placed.decimals, amount.units
    for bits, most, digits in _WIDTHS:
        step = 10 ** max(0, decimals - digits)
        # In so few smallest units too many amounts are round, and a round amount was meant.
        if units >> bits or step < most * _RARE or not units % step:
            continue
        # Most amounts are told apart at once: what is added has these factors, and so has the sum.
        if units % gcd(step, 1 << bits):
            continue
        rounds = range(1, most + 1)
        times = next((times for times in rounds if not (units + (times << bits)) % step), None)
        if times is not None:
            return bits, units + (times << bits)
    return None


def paid_otherwise(traffic: Traffic, _: int) -> Iterator[Remark | None]:
    """Find deposits for which nobody asked a price, beside quotes for something like it."""
    for submission in traffic.first_submissions.values():
        yield None
        transfer = submission.transfer
        # A quote that was dropped, or got in another world, may have been the right one.
        if transfer is None or traffic.lost or traffic.inherited:
            continue
        before = submission.before
        on_route = traffic.quotes_on(transfer, before)
        if any(quote.transfer.amount == transfer.amount for quote in on_route):
            continue
        paid = _money(traffic, transfer)
        if on_route:
            quote = on_route[-1]
            text = f"{paid} was paid, and {_money(traffic, quote.transfer)} was quoted"
            yield Remark(text, [quote.call, submission.call])
        elif alike := _alike(transfer, traffic.quotes[-_NEWEST:], before):
            quoted = alike[-1].transfer
            text = (
                f"{paid} from {transfer.route.source_chain} to {_to(transfer.route)} was paid, and "
                f"{_money(traffic, quoted)} from {quoted.route.source_chain} to "
                f"{_to(quoted.route)} was quoted"
            )
            yield Remark(text, [alike[-1].call, submission.call])


def _alike(transfer: TracedTransfer, quotes: Sequence[QuoteCall], before: int) -> list[QuoteCall]:
    """Return earlier quotes for the same amount that differ from a payment in one end alone."""
    return [
        quote
        for quote in quotes
        if quote.call.sequence < before
        and quote.transfer.amount == transfer.amount
        and _shares(quote.transfer.route, transfer.route)
    ]


def _shares(first: OrderRoute, second: OrderRoute) -> bool:
    """Tell whether two routes begin or end alike, or go between the same chains."""
    chains = first.source_chain == second.source_chain, first.target_chain == second.target_chain
    tokens = first.source_token == second.source_token, first.target_token == second.target_token
    return all(chains) or (chains[0] and tokens[0]) or (chains[1] and tokens[1])


def _to(route: OrderRoute) -> str:
    return f"{route.target_token} on {route.target_chain}"


def _money(traffic: Traffic, transfer: TracedTransfer) -> str:
    source, _ = traffic.ends(transfer.route)
    return str(Money.of(transfer.amount, source))


def other_decimals(traffic: Traffic, _: int) -> Iterator[Remark]:
    """Find decimals in a request that are not those of the token there."""
    for call in traffic.of((ids.SWAP_QUOTE, ids.SWAP)):
        for side in ("from", "to"):
            placed = _named_token(traffic, call, side)
            sent = call.text(f"{side}Decimal")
            if placed is not None and sent and sent != str(placed.decimals):
                text = (
                    f"{side}Decimal is {sent[:20]}, and the list has {placed.decimals} for "
                    f"{placed.symbol} on {placed.chain.nickname}"
                )
                yield Remark(text, [call])


def _named_token(traffic: Traffic, call: ClientCall, side: str) -> Placed | None:
    chain = call.text(f"{side}Chain") or call.text("chain")
    try:
        return traffic.catalog.placed_at(
            traffic.catalog.chain(chain), call.text(f"{side}TokenAddress")
        )
    except Refusal:
        return None


def percent(traffic: Traffic, least: int) -> Iterator[Remark]:
    """Find tolerances that look like percent."""
    reported: set[str] = set()
    for call in _with_slippage(traffic):
        sent = call.text("slippage")
        try:
            value = Decimal(sent.strip(" %"))
        except ArithmeticError:
            continue
        if 0 < value < least and sent not in reported:
            reported.add(sent)
            text = f"slippage {sent} is {plain(value / 100)} %"
            advice = f"for {plain(value)} % write {plain(value * 100)}: 100 means 1 %"
            yield Remark(text, [call], advice)


def _with_slippage(traffic: Traffic) -> Iterator[ClientCall]:
    for call in traffic.of((ids.SWAP, *ids.SUBMITTED_ORDERS)):
        if call.inputs.has("slippage") and call.text("orderType") != "1":
            yield call


def no_minimum(traffic: Traffic, most: int) -> Iterator[Remark]:
    """Find swaps that take nearly any price."""
    for submission in traffic.first_submissions.values():
        transfer = submission.transfer
        if transfer is None or transfer.kind is not OrderKind.AGGREGATE or submission.by_contract:
            continue
        why = _unbounded(traffic, submission, transfer, most)
        if why:
            yield Remark(f"{_money(traffic, transfer)} is swapped {why}", [submission.call])
    for call in traffic.of((ids.SWAP,)):
        sent = call.text("slippage")
        if sent.isdecimal() and int(sent) > most:
            yield Remark(f"call data was asked for with {_tolerance(sent)}", [call])


def _unbounded(
    traffic: Traffic, submission: SubmitCall, transfer: TracedTransfer, most: int
) -> str:
    rules, sent = submission.rules, submission.call.text("slippage")
    if rules is None or rules.minimum is None:
        if not sent.isdecimal() or 0 < int(sent) <= most:
            return ""
        return f"with {_tolerance(sent)} and no minimum of its own (rule 4 of extra)"
    expected = rules.expected
    if expected is None:
        quotes = traffic.quotes_on(transfer, submission.call.sequence)
        same = [quote.quoted.net for quote in quotes if quote.transfer.amount == transfer.amount]
        expected = same[-1] if same else None
    # A minimum far below what is expected bounds nothing.
    if expected is None or rules.minimum * 10_000 >= expected * (10_000 - most):
        return ""
    bought = traffic.ends(transfer.route)[1]
    least, rest = Money.of(rules.minimum, bought), Money.of(expected, bought)
    return f"with a minimum of {least} where {rest} are expected"


def _tolerance(sent: str) -> str:
    return f"a slippage of {plain(Decimal(sent) / 100)} %"
