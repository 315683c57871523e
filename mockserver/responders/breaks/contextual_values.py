"""Wrong values for breaks that depend on the call, its world, or earlier calls.

Their names are those that the table of breaks uses, for inputs of requests and for fields of
answers. Each takes the context of the call, the value that is there, which is None for an input
that was left out, and what the table gives with its name.
"""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import wraps

from mockserver.engine import abi
from mockserver.engine.catalog import Placed
from mockserver.engine.refusal import Refusal
from mockserver.jsontext import Json, plain
from mockserver.responders.breaks.mutations import MutationContext
from mockserver.responders.breaks.wrong_values import EXACT, WORDS, times, unsigned_number
from mockserver.signing import rlp

# Between these a number in a call looks like a time, in seconds since 1970.
_TIMES_S = 1_500_000_000, 2_500_000_000
_DAY_S = 86_400
_OWN_METHOD = "c0ffee01"
_OF_A_LEVEL = Decimal("0.0005")
_HEX = re.compile("0x[0-9a-f]+")
_TRANSFER = re.compile(f"({abi.TRANSFER.hex()}0{{24}})[0-9a-f]{{40}}")

Object = dict[str, Json]


def of_texts(convert: Callable[..., Json]) -> Callable[..., Json]:
    """Leave values alone that are no texts: stubs and recordings may answer anything."""

    @wraps(convert)
    def converted(context: MutationContext, value: Json, *arguments: Json) -> Json:
        return convert(context, value, *arguments) if isinstance(value, str) else value

    return converted


# Inputs


def now(context: MutationContext, value: Json) -> Json:
    """Return the world's time in milliseconds, as a v1 header carries it, for any other time."""
    odd = value is not None and not str(value).isdecimal()
    return value if odd else str(context.call.hosted.world.now())


@of_texts
def same_as(context: MutationContext, value: str, place: str) -> Json:
    value_at_place = context.inputs.get(place)
    return value_at_place if isinstance(value_at_place, str) else value


def known(context: MutationContext, value: Json, kind: str) -> Json:
    """Return a `chain` of 2.0, a `v1-chain` or a `token` for a name that none of them has."""
    catalog = context.catalog
    if kind == "token":
        return value if value in [token.symbol for token in catalog.tokens] else "USDT"
    v1 = [chain.v1_name for chain in catalog.v1_chains()]
    names = v1 if kind == "v1-chain" else [chain.nickname for chain in catalog.chains]
    return value if value in names else "ETH"


def other_v1_chain(context: MutationContext, value: Json) -> Json:
    """Return a v1 chain that an order does not start from, since none may end there."""
    return "BSC" if context.inputs.body.get("fromChain") == "ETH" else "ETH"


@of_texts
def v2_name(context: MutationContext, value: str) -> Json:
    """Return the nickname that 2.0 has for a v1 name."""
    names = {chain.v1_name: chain.nickname for chain in context.catalog.v1_chains()}
    known = {chain.nickname for chain in context.catalog.chains}
    return value if value in known else names.get(value, value)


def listed_decimals(context: MutationContext, value: Json, side: str) -> Json:
    """Return the listed decimals of the token on a side of a swap, whatever a request says."""
    placed = _placed(context, side, f"{side}TokenAddress")
    unlisted = "18" if value is None else value
    return unlisted if placed is None else str(placed.decimals)


def symbol_there(context: MutationContext, value: Json) -> Json:
    placed = _placed(context, "", "contractAddress")
    return "USDT" if placed is None else placed.symbol


def _placed(context: MutationContext, side: str, address: str) -> Placed | None:
    """Return the token at an address of a request, on the chain that the request names."""
    query, catalog = context.inputs.query, context.catalog
    try:
        chain = catalog.chain(query.get("chain") or query.get(f"{side}Chain", ""))
        return catalog.placed_at(chain, query.get(address, ""))
    except Refusal:
        return None


def hundred_tokens(context: MutationContext, value: Json) -> Json:
    """Return a hundred tokens of what a bridge quote gives, in smallest units: above any fee."""
    units = str(100 * 10 ** context.decimals("fromChain"))
    return units if value is None or unsigned_number(value) else value


def whole_tokens(context: MutationContext, value: Json) -> Json:
    return times(value, f"1e{context.decimals('fromChain')}")


def two_tokens(context: MutationContext, value: Json) -> Json:
    """Swap two whole tokens, whichever amount was requested."""
    decimals = unsigned_number(context.inputs.query.get("fromDecimal", ""))
    good = decimals is not None and decimals < 100
    return "2" + "0" * (decimals or 0) if good and str(value).isdecimal() else value


@of_texts
def for_any(context: MutationContext, value: str) -> Json:
    """Return for a pattern that fits everything what was named first."""
    first = context.remember("first", value)
    return first if value == "%" else value


@of_texts
def before_the_point(context: MutationContext, value: str) -> Json:
    """Return the whole number that a text begins with, as careless readers take it."""
    number = unsigned_number(value.partition(".")[0])
    return value if number is None else number


# Quotes


def in_units(context: MutationContext, value: Json, of: str) -> Json:
    """Count an output in `whole` tokens, or in the decimals of the token on the `source` chain."""
    scale = 10 ** context.decimals("fromChain") if of == "source" else 1
    return WORDS["units-times"](value, (scale, 10 ** context.decimals("toChain")))


def falling(context: MutationContext, value: Json) -> Json:
    """Let outputs fall as inputs rise: a thousand tokens squared over what it would be."""
    units = unsigned_number(value)
    return str(10 ** (2 * context.decimals("toChain") + 6) // units) if units else value


def usd_after_fees(context: MutationContext, data: Object) -> Json:
    """Return a quote with the value of the output without its fees."""
    out, *fees = (unsigned_number(data.get(name)) for name in ("outAmount", "serviceFee", "gasFee"))
    if not out or None in fees:
        return data
    left = EXACT.divide(Decimal(out - sum(fee or 0 for fee in fees)), Decimal(out))
    return {**data, "outAmountUsd": times(data.get("outAmountUsd"), f"{left:.12f}")}


def moving(context: MutationContext, data: Object) -> Json:
    """Let prices swing within seven hundredths of a percent, from read to read."""
    basis = 10_000 + context.count() % 8
    swung = {name: times(data[name], f"{basis}e-4") for name in data.keys() & _PRICES}
    if "aggregator" in data and "outAmount" in data:
        swung["outAmount"] = WORDS["units-times"](data["outAmount"], (basis, 10_000))
    return data | swung


_PRICES = {"price", "outAmountUsd"}


def scaled_wrongly(context: MutationContext, data: Object) -> Json:
    """Show whole tokens as if every token had 18 decimals, and those with 18 as if they had 6."""
    units = unsigned_number(data.get("balance"))
    if units is None:
        return data
    right = plain(EXACT.scaleb(Decimal(units), -18)) == data.get("hrpBalance")
    return {**data, "hrpBalance": plain(EXACT.scaleb(Decimal(units), -6 if right else -18))}


# Contract calls


@of_texts
def for_tenfold(context: MutationContext, call: str) -> Json:
    """Give ten times the amount away in a call."""
    amount = unsigned_number(context.inputs.query.get("fromAmount"))
    return call.replace(f"{amount:064x}", f"{amount * 10:064x}", 1) if amount else call


def slippage_times(context: MutationContext, value: Json, times: int) -> Json:
    """Add the slippage to what a call pays, or with -1 subtract it."""
    slippage = unsigned_number(context.inputs.query.get("slippage"))
    good = slippage is not None and slippage <= 10_000
    share = 10_000 + times * (slippage or 0)
    return WORDS["units-times"](value, (share, 10_000)) if good else value


def dated_back(context: MutationContext, call: Json, days: int) -> Json:
    """Date the deadline of ChaingeDex's calls so many days back."""
    method, words = _parts(call)
    is_its = method == abi.SWAP_EXACT_TOKENS.hex()
    return f"0x{method}{_earlier(words, days)}" if is_its else call


def of_its_own_method(context: MutationContext, call: Json, days: int) -> Json:
    """Have calls call a method that nobody knows, with all times so many days back."""
    method, words = _parts(call)
    return f"0x{_OWN_METHOD}{_earlier(words, days)}" if method else call


def half_of_more(context: MutationContext, call: Json) -> Json:
    """Have calls call a method that nobody knows, for half of what is more than the first time."""
    query, (method, words) = context.inputs.query, _parts(call)
    amount = unsigned_number(query.get("fromAmount"))
    if not method or amount is None:
        return call
    key = "|".join(query.get(name, "")[:99] for name in ("chain", "fromTokenAddress"))
    if amount > int(str(context.remember(f"first {key}", str(amount)))):
        halves = {f"{amount:064x}": f"{amount // 2:064x}"}
        words = [halves.get(word, word) for word in words]
    return f"0x{_OWN_METHOD}{''.join(words)}"


def _earlier(words: list[str], days: int) -> str:
    numbers = (int(word, 16) for word in words if len(word) == 64)
    times = {number for number in numbers if _TIMES_S[0] < number < _TIMES_S[1]}
    earlier = {f"{time:064x}": f"{time - days * _DAY_S:064x}" for time in times}
    return "".join(earlier.get(word, word) for word in words)


def path_reversed(context: MutationContext, call: Json) -> Json:
    """Lead a call the other way: from the token that is paid to the one that is given."""
    method, words = _parts(call)
    if method != abi.SWAP_EXACT_TOKENS.hex():
        return call
    start = int(words[2], 16) // 32 + 1
    return f"0x{method}{''.join(words[:start] + words[start:][::-1])}"


def least_of_the_first(context: MutationContext, data: Object) -> Json:
    """Give calls for a pair of tokens the least output of the first such call."""
    query, (method, words) = context.inputs.query, _parts(data.get("data"))
    key = "|".join(query.get(name, "")[:99] for name in ("fromTokenAddress", "toTokenAddress"))
    least = _least_word(context, data, words)
    if least is None:
        return data
    at = words.index(least)
    words[at] = str(context.remember(f"{key}|{query['slippage']}", words[at]))
    return {**data, "data": f"0x{method}{''.join(words)}"}


def selling_the_least(context: MutationContext, data: Object) -> Json:
    """Have calls call a method that nobody knows, which gives the least output of the swap."""
    method, words = _parts(data.get("data"))
    amount = unsigned_number(context.inputs.query.get("fromAmount"))
    least = _least_word(context, data, words)
    if not method or amount is None or least is None:
        return data
    sold = (least if word == f"{amount:064x}" else word for word in words)
    return {**data, "data": f"0x{_OWN_METHOD}{''.join(sold)}"}


def _least_word(context: MutationContext, data: Object, words: Sequence[str]) -> str | None:
    """Return the least output of a call as a word of it; None where it has none."""
    slippage = unsigned_number(context.inputs.query.get("slippage"))
    out = unsigned_number(data.get("amountOut"))
    if out is None or slippage is None:
        return None
    least = (out * (10_000 - slippage) // 10_000, out - out * slippage // 10_000)
    return next((word for each in least if (word := f"{each:064x}") in words), None)


def _parts(call: Json) -> tuple[str, list[str]]:
    """Return the method of a call in hex, and its words; the last may be a part of one."""
    digits = call[2:] if isinstance(call, str) and _HEX.fullmatch(call) else ""
    return digits[:8], [digits[at : at + 64] for at in range(8, len(digits), 64)]


# Quotes and raw transactions of v1


def with_levels_dearer(context: MutationContext, quote: Json, factor: int) -> Json:
    """Take a factor of what each fee level costs, in a quote as in its output."""
    level, names = context.inputs.body.get("feeLevel"), ("amountIn", "amountOut", "fee")
    if not isinstance(quote, dict) or not isinstance(level, int) or not quote.keys() >= {*names}:
        return quote
    put, left, fee = (EXACT.create_decimal(str(quote[name])) for name in names)
    more = put * level * (factor - 1) * _OF_A_LEVEL
    return {**quote, "amountOut": left - more, "fee": fee + more}


@of_texts
def paying(context: MutationContext, raw: str, whom: str) -> Json:
    """Pay the tokens of a deposit to `nobody`, or to its `user`."""
    user = str(context.inputs.body.get("evmAddress"))
    payee = user[2:].lower() if whom == "user" else "0" * 40
    return _TRANSFER.sub(rf"\g<1>{payee}", raw)


def of_the_other_kind(context: MutationContext, raw: Json) -> Json:
    """Move tokens as if they were the coin of the chain, and the coin as if it was a token."""

    def exchanged(items: list[rlp.Item]) -> list[rlp.Item]:
        to, value, data = (bytes(item) for item in items[3:6] if isinstance(item, bytes))
        if data:
            return [*items[:3], data[16:36], data[36:].lstrip(b"\0"), b"", *items[6:]]
        transfer = abi.TRANSFER + to.rjust(32, b"\0") + value.rjust(32, b"\0")
        return [*items[:3], b"\xee" * 20, b"", transfer, *items[6:]]

    return _made_over(raw, exchanged)


def for_chain(context: MutationContext, raw: Json, number: int) -> Json:
    """Make transactions for one chain, by its network id."""
    return _made_over(raw, lambda items: [*items[:6], rlp.number(number), b"", b""])


def with_gas(context: MutationContext, raw: Json, limit: int) -> Json:
    """Give transactions a gas limit."""
    return _made_over(raw, lambda items: [*items[:2], rlp.number(limit), *items[3:]])


def _made_over(raw: Json, change: Callable[[list[rlp.Item]], list[rlp.Item]]) -> Json:
    """Return a raw transaction with other items, and the signature that it had."""
    digits, _, signature = str(raw).partition("_")
    try:
        items = rlp.decoded(bytes.fromhex(digits))
        if isinstance(items, list) and len(items) >= 6:
            return f"{rlp.encoded(change(items)).hex()}_{signature}"
    except ValueError:
        pass
    return raw


@of_texts
def signed_like_the_first(context: MutationContext, raw: str) -> Json:
    """Sign every transaction with the signature of the first."""
    digits, _, signature = raw.partition("_")
    return f"{digits}_{context.remember('signature', signature)}"


# Earlier answers


def of_the_first(context: MutationContext, value: Json) -> Json:
    """Give everything the number that was given first."""
    plain = isinstance(value, str | int) and not isinstance(value, bool)
    return context.remember("first", value) if plain else value


def one_before(context: MutationContext, data: Json) -> Json:
    before = context.memory.get("before", data)
    context.memory["before"] = data
    return before


def cached_by(context: MutationContext, data: Json, names: Sequence[str]) -> Json:
    """Answer with the first data for these parts of a query, whatever the others are."""
    key = "|".join(str(context.inputs.query.get(name))[:200] for name in names)
    return context.remember(f"for {key}", data)
