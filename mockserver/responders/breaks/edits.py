"""Edits of successful answers that need code, by the names that the table of breaks calls them.

Each is given the answer, and what the table gives with its name.
"""

import re
from collections.abc import Sequence
from decimal import Decimal

from mockserver.engine import abi, courses
from mockserver.jsontext import Json, plain
from mockserver.responders.breaks.converters import EXACT, WORDS, is_integer, times, whole
from mockserver.responders.breaks.mutations import EditableAnswer, bounded
from mockserver.signing import rlp

_FINAL = tuple(status.value for status in courses.FINAL)
_LISTS = ("list", "chains", "tokenVos")
_NEWEST = 10_000
_ANOTHER = 500_000
_TIMES = 1_500_000_000, 2_500_000_000
_DAY_S = 86_400
_OWN_METHOD = "c0ffee01"
_HEX = re.compile("0x[0-9a-f]+")
_TRANSFER = re.compile(f"({abi.TRANSFER.hex()}0{{24}})[0-9a-f]{{40}}")


def flat(answer: EditableAnswer) -> None:
    """Put the data beside the code instead of inside `data`."""
    data = answer.body.pop("data")
    answer.body.update({name: value for name, value in data.items() if name not in answer.body})


# Quotes and calls


def output_in_units(answer: EditableAnswer, of: str) -> None:
    """Count the output in `whole` tokens, or in the decimals of the token on the `source` chain."""
    units = whole(answer.data.get("outAmount"))
    if units is not None:
        scale = 10 ** _decimals(answer, "fromChain") if of == "source" else 1
        answer.data["outAmount"] = str(units * scale // 10 ** _decimals(answer, "toChain"))


def output_falls(answer: EditableAnswer) -> None:
    """Let outputs fall as inputs rise: a thousand tokens squared over what it would be."""
    units = whole(answer.data.get("outAmount"))
    if units:
        answer.data["outAmount"] = str(10 ** (2 * _decimals(answer, "toChain") + 6) // units)


def _decimals(answer: EditableAnswer, chain: str) -> int:
    query = answer.inputs.query
    return answer.context.decimals(query.get(chain, ""), query.get("symbol", ""))


def gas_fee_of(answer: EditableAnswer, parts: int) -> None:
    """Take one of so many parts of the output for gas."""
    units = whole(answer.data.get("outAmount"))
    if units is not None:
        answer.data["gasFee"] = str(units // parts)


def usd_after_fees(answer: EditableAnswer) -> None:
    """Tell the value of the output without its fees."""
    out, *fees = (whole(answer.data.get(name)) for name in ("outAmount", "serviceFee", "gasFee"))
    if out and None not in fees:
        left = EXACT.divide(Decimal(out - sum(fee or 0 for fee in fees)), Decimal(out))
        answer.data["outAmountUsd"] = times(answer.data.get("outAmountUsd"), f"{left:.12f}")


def minimum_percent(answer: EditableAnswer, percent: int) -> None:
    """Give minOutAmount as percents of the output, and surely above it above a hundred."""
    units = whole(answer.data.get("outAmount"))
    if units is not None:
        answer.data["minOutAmount"] = str(units * percent // 100 + (percent > 100))


def decimals_of_source(answer: EditableAnswer) -> None:
    """Tell the decimals of the token given in place of those of the token got."""
    told = whole(answer.inputs.query.get("fromDecimal"))
    if told is not None and told < 1000:
        answer.data["chainDecimal"] = 6 if told == answer.data.get("chainDecimal") else told


def moving(answer: EditableAnswer) -> None:
    """Let prices swing within seven hundredths of a percent, from read to read."""
    basis = 10_000 + answer.counted() % 8
    for name in ("price", "outAmountUsd"):
        if name in answer.data:
            answer.data[name] = times(answer.data[name], f"{basis}e-4")
    if "aggregator" in answer.data and "outAmount" in answer.data:
        answer.data["outAmount"] = WORDS["units-times"](answer.data["outAmount"], (basis, 10_000))


def ends_swapped(answer: EditableAnswer) -> None:
    """Tell the two ends of a call the wrong way round."""
    if "from" in answer.data and "to" in answer.data:
        answer.data["from"], answer.data["to"] = answer.data["to"], answer.data["from"]


def value_for_all(answer: EditableAnswer) -> None:
    """Send the amount along, whether it is a coin or a token."""
    units = whole(answer.inputs.query.get("fromAmount"))
    if units is not None and "value" in answer.data:
        answer.data["value"] = str(units)


def slippage_gained(answer: EditableAnswer) -> None:
    """Add the slippage to what a call pays, which it may cost."""
    slippage = whole(answer.inputs.query.get("slippage"))
    if slippage is not None and slippage <= 10_000 and "amountOut" in answer.data:
        ratio = (10_000 + slippage, 10_000)
        answer.data["amountOut"] = WORDS["units-times"](answer.data["amountOut"], ratio)


def call_for_tenfold(answer: EditableAnswer) -> None:
    """Give ten times the amount away in a call."""
    data, given = answer.data.get("data"), whole(answer.inputs.query.get("fromAmount"))
    if isinstance(data, str) and given:
        answer.data["data"] = data.replace(f"{given:064x}", f"{given * 10:064x}", 1)


def called_at_the_user(answer: EditableAnswer) -> None:
    """Have a call made to whom it pays."""
    if "to" in answer.data:
        answer.data["to"] = answer.inputs.query.get("recipient", "")


def dated_back(answer: EditableAnswer, days: int) -> None:
    """Date the deadline of ChaingeDex's calls so many days back."""
    method, words = _call(answer)
    if method == abi.SWAP_EXACT_TOKENS.hex():
        answer.data["data"] = f"0x{method}{_earlier(words, days)}"


def of_its_own_method(answer: EditableAnswer, days: int) -> None:
    """Have calls call a method that nobody knows, with all times so many days back."""
    method, words = _call(answer)
    if method:
        answer.data["data"] = f"0x{_OWN_METHOD}{_earlier(words, days)}"


def _earlier(words: list[str], days: int) -> str:
    numbers = (int(word, 16) for word in words if len(word) == 64)
    times = {number for number in numbers if _TIMES[0] < number < _TIMES[1]}
    earlier = {f"{time:064x}": f"{time - days * _DAY_S:064x}" for time in times}
    return "".join(earlier.get(word, word) for word in words)


def path_reversed(answer: EditableAnswer) -> None:
    """Lead a call the other way: from the token that is paid to the one that is given."""
    method, words = _call(answer)
    if method == abi.SWAP_EXACT_TOKENS.hex():
        start = int(words[2], 16) // 32 + 1
        answer.data["data"] = f"0x{method}{''.join(words[:start] + words[start:][::-1])}"


def least_of_the_first(answer: EditableAnswer) -> None:
    """Let calls of a pair of tokens be content with the least output of the first of them."""
    asked, (method, words) = answer.inputs.query, _call(answer)
    out, slippage = whole(answer.data.get("amountOut")), whole(asked.get("slippage"))
    if out is None or slippage is None:
        return
    key = "|".join(asked.get(name, "")[:99] for name in ("fromTokenAddress", "toTokenAddress"))
    for least in (out * (10_000 - slippage) // 10_000, out - out * slippage // 10_000):
        if f"{least:064x}" in words:
            at = words.index(f"{least:064x}")
            words[at] = str(answer.memory.setdefault(f"{key}|{slippage}", words[at]))
            answer.data["data"] = f"0x{method}{''.join(words)}"
            bounded(answer.memory)
            return


def _call(answer: EditableAnswer) -> tuple[str, list[str]]:
    """Return the method of a call in hex, and its words; the last may be a part of one."""
    data = answer.data.get("data")
    digits = data[2:] if isinstance(data, str) and _HEX.fullmatch(data) else ""
    return digits[:8], [digits[at : at + 64] for at in range(8, len(digits), 64)]


def raw_to(answer: EditableAnswer, whom: str) -> None:
    """Pay the tokens of a deposit to `nobody`, or to its `user`."""
    raw, user = answer.data.get("raw"), str(answer.inputs.body.get("evmAddress"))
    if isinstance(raw, str):
        payee = user[2:].lower() if whom == "user" else "0" * 40
        answer.data["raw"] = _TRANSFER.sub(rf"\g<1>{payee}", raw)


def raw_of_the_other_kind(answer: EditableAnswer) -> None:
    """Move tokens as if they were the coin of the chain, and the coin as if it was a token."""
    items = _raw_items(answer)
    if items is None:
        return
    to, value, data = (bytes(item) for item in items[3:6] if isinstance(item, bytes))
    if data:
        items[3:6] = [data[16:36], data[36:].lstrip(b"\0"), b""]
    else:
        transfer = abi.TRANSFER + to.rjust(32, b"\0") + value.rjust(32, b"\0")
        items[3:6] = [b"\xee" * 20, b"", transfer]
    _put_raw(answer, items)


def raw_for_chain(answer: EditableAnswer, number: int) -> None:
    """Make transactions for one chain, by its network id."""
    items = _raw_items(answer)
    if items is not None:
        _put_raw(answer, [*items[:6], rlp.number(number), b"", b""])


def _raw_items(answer: EditableAnswer) -> list[rlp.Item] | None:
    digits = str(answer.data.get("raw")).partition("_")[0]
    try:
        items = rlp.decoded(bytes.fromhex(digits))
    except ValueError:
        return None
    return items if isinstance(items, list) and len(items) >= 6 else None


def _put_raw(answer: EditableAnswer, items: list[rlp.Item]) -> None:
    signature = str(answer.data.get("raw")).partition("_")[2]
    answer.data["raw"] = f"{rlp.encoded(items).hex()}_{signature}"


def signed_like_the_first(answer: EditableAnswer) -> None:
    """Sign every transaction with the signature of the first."""
    raw = answer.data.get("raw")
    if isinstance(raw, str):
        digits, _, signature = raw.partition("_")
        answer.data["raw"] = f"{digits}_{answer.memory.setdefault('signature', signature)}"


def no_fee(answer: EditableAnswer) -> None:
    """Pay out all that goes in."""
    for quote, name in answer.places("crossChain.amountIn"):
        quote["amountOut"] = quote[name]


def scaled_wrongly(answer: EditableAnswer) -> None:
    """Show whole tokens as if every token had 18 decimals, and those with 18 as if they had 6."""
    units = whole(answer.data.get("balance"))
    if units is None:
        return
    right = plain(EXACT.scaleb(Decimal(units), -18)) == answer.data.get("hrpBalance")
    answer.data["hrpBalance"] = plain(EXACT.scaleb(Decimal(units), -6 if right else -18))


# Lists


def richer_items(answer: EditableAnswer) -> None:
    """Give items of lists members that nobody speaks of."""
    for name in _LISTS:
        for place, item in enumerate(answer.listed(name)):
            if isinstance(item, dict):
                item |= {"logo": f"https://icons.example/{place}.png", "tags": ["listed"]}


def other_decimals_too(answer: EditableAnswer) -> None:
    """List the last token again, with another count of decimals."""
    last = answer.listed()[-1] if answer.listed() else None
    if isinstance(last, dict):
        answer.one_more("list", {"decimals": 6 if last.get("decimals") == 18 else 18})


def one_without_decimals(answer: EditableAnswer) -> None:
    """Leave the decimals of the last token out."""
    items = [item for item in answer.listed() if isinstance(item, dict) and "decimals" in item]
    if items:
        del items[-1]["decimals"]


def non_evm_chain(answer: EditableAnswer) -> None:
    """List a chain of 2.0 that is not EVM among those of v1."""
    others = [one for one in answer.context.catalog.chains if not one.evm]
    name = others[0].nickname if others else "KAS"
    answer.one_more("chains", {"id": 90, "name": name, "chainId": 0, "fullName": name})


def names_of_v2(answer: EditableAnswer) -> None:
    """Name the chains of v1 as 2.0 does."""
    names = {one.v1_name: one.nickname for one in answer.context.catalog.v1_chains()}
    for holder, key in answer.places("chains[].name"):
        if isinstance(holder[key], str):
            holder[key] = names.get(holder[key], holder[key])


def version_counts(answer: EditableAnswer) -> None:
    """Raise the version with every read."""
    answer.data["version"] = 1 + answer.counted()


def version_goes_back(answer: EditableAnswer) -> None:
    """Lower the version with every read."""
    if "version" in answer.data:
        answer.data["version"] = max(0, _NEWEST - answer.counted())


def list_shrinks(answer: EditableAnswer) -> None:
    """List one item less at every read."""
    read = answer.counted() - 1
    answer.data["list"] = answer.listed()[: max(1, len(answer.listed()) - read)]


# What was told before


def one_before(answer: EditableAnswer) -> None:
    """Answer what was asked before."""
    before = answer.memory.get("before")
    answer.memory["before"] = answer.data
    if before is not None:
        answer.body["data"] = before


def cached_by(answer: EditableAnswer, names: Sequence[str]) -> None:
    """Tell again what was told first for these parts of a query alone."""
    key = "|".join(str(answer.inputs.query.get(name))[:200] for name in names)
    answer.body["data"] = answer.memory.setdefault(f"for {key}", answer.data)
    bounded(answer.memory)


def that_of_the_first(answer: EditableAnswer, name: str) -> None:
    """Give everything the number that was given first."""
    told = answer.data.get(name)
    if isinstance(told, str) or is_integer(told):
        answer.data[name] = answer.memory.setdefault(name, told)


def another_when_repeated(answer: EditableAnswer, name: str) -> None:
    """Give a new number whenever the same is submitted again."""
    told = answer.data.get(name)
    if not isinstance(told, str) and not is_integer(told):
        return
    known = told[:100] if isinstance(told, str) else told % 10**40
    again = answer.counted(f"{name} {known}") - 1
    if is_integer(told):
        answer.data[name] = told + _ANOTHER * again
    elif whole(told) is not None:
        answer.data[name] = str(int(told) + _ANOTHER * again)
    else:
        answer.data[name] = f"{told}{'9' * again}"


def earlier_each_time(answer: EditableAnswer, name: str) -> None:
    """Show a time, in seconds, a minute earlier at every look."""
    seconds: Json = answer.data.get(name)
    earlier = 60 * (answer.counted(f"{name} {_order(answer)}") - 1)
    if is_integer(seconds):
        answer.data[name] = seconds - earlier
    elif whole(seconds) is not None:
        answer.data[name] = str(max(0, int(seconds) - earlier))


# Orders


def ends_twice(answer: EditableAnswer) -> None:
    """Change the end of an order into another one once it was told."""
    status = answer.data.get("status")
    if status in _FINAL and answer.counted(_order(answer)) > 1:
        answer.data["status"] = "Failed" if status == "Succeeded" else "Succeeded"


def reopens(answer: EditableAnswer, going_on: Sequence[Json]) -> None:
    """Let every second look at a finished order show another status, at a place."""
    place, status = going_on
    for order, name in answer.places(place):
        ended = order[name] != status if is_integer(status) else order[name] in _FINAL
        if ended and answer.counted(_order(answer)) % 2 == 0:
            order[name] = status


def new_hash(answer: EditableAnswer) -> None:
    """Show another hash at every check of an order that has one."""
    shown = answer.data.get("execHash")
    if isinstance(shown, str) and len(shown) > 8:
        answer.data["execHash"] = f"{shown[:-4]}{answer.counted(_order(answer)) % 65_536:04x}"


def _order(answer: EditableAnswer) -> str:
    query = answer.inputs.query
    return f"order {query.get('id', query.get('hash', ''))[:200]}"
