"""Edits of successful answers that need code, by the names that the table of breaks calls them.

Each is given the page, and what the table gives with its name.
"""

import re
from collections.abc import Sequence
from decimal import Decimal

from mockserver.engine import courses
from mockserver.jsontext import Json, plain
from mockserver.responders.breaks.answers import Page, bounded
from mockserver.responders.breaks.converters import EXACT, WORDS, is_integer, times, whole
from mockserver.responders.breaks.inputs import catalog_of, decimals_of

_FINAL = tuple(status.value for status in courses.FINAL)
_LISTS = ("list", "chains", "tokenVos")
_NEWEST = 10_000
_ANOTHER = 500_000
_TRANSFER = re.compile("(a9059cbb0{24})[0-9a-f]{40}")


def flat(page: Page) -> None:
    """Put the data beside the code instead of inside `data`."""
    data = page.body.pop("data")
    page.body.update({name: value for name, value in data.items() if name not in page.body})


# Quotes and calls


def output_in_units(page: Page, of: str) -> None:
    """Count the output in `whole` tokens, or in the decimals of the token on the `source` chain."""
    units = whole(page.data.get("outAmount"))
    if units is not None:
        scale = 10 ** _decimals(page, "fromChain") if of == "source" else 1
        page.data["outAmount"] = str(units * scale // 10 ** _decimals(page, "toChain"))


def output_falls(page: Page) -> None:
    """Let outputs fall as inputs rise: a thousand tokens squared over what it would be."""
    units = whole(page.data.get("outAmount"))
    if units:
        page.data["outAmount"] = str(10 ** (2 * _decimals(page, "toChain") + 6) // units)


def _decimals(page: Page, chain: str) -> int:
    query = page.asked.query
    return decimals_of(page.turn.call, query.get(chain, ""), query.get("symbol", ""))


def minimum_percent(page: Page, percent: int) -> None:
    """Give minOutAmount as percents of the output, and surely above it above a hundred."""
    units = whole(page.data.get("outAmount"))
    if units is not None:
        page.data["minOutAmount"] = str(units * percent // 100 + (percent > 100))


def decimals_of_source(page: Page) -> None:
    """Tell the decimals of the token given in place of those of the token got."""
    told = whole(page.asked.query.get("fromDecimal"))
    if told is not None and told < 1000:
        page.data["chainDecimal"] = 6 if told == page.data.get("chainDecimal") else told


def moving(page: Page) -> None:
    """Let prices swing within seven hundredths of a percent, from read to read."""
    basis = 10_000 + page.counted() % 8
    for name in ("price", "outAmountUsd"):
        if name in page.data:
            page.data[name] = times(page.data[name], f"{basis}e-4")
    if "aggregator" in page.data and "outAmount" in page.data:
        page.data["outAmount"] = WORDS["units-times"](page.data["outAmount"], (basis, 10_000))


def ends_swapped(page: Page) -> None:
    """Tell the two ends of a call the wrong way round."""
    if "from" in page.data and "to" in page.data:
        page.data["from"], page.data["to"] = page.data["to"], page.data["from"]


def value_for_all(page: Page) -> None:
    """Send the amount along, whether it is a coin or a token."""
    units = whole(page.asked.query.get("fromAmount"))
    if units is not None and "value" in page.data:
        page.data["value"] = str(units)


def slippage_gained(page: Page) -> None:
    """Add the slippage to what a call pays, which it may cost."""
    slippage = whole(page.asked.query.get("slippage"))
    if slippage is not None and slippage <= 10_000 and "amountOut" in page.data:
        ratio = (10_000 + slippage, 10_000)
        page.data["amountOut"] = WORDS["units-times"](page.data["amountOut"], ratio)


def call_for_tenfold(page: Page) -> None:
    """Give ten times the amount away in a call."""
    data, given = page.data.get("data"), whole(page.asked.query.get("fromAmount"))
    if isinstance(data, str) and given:
        page.data["data"] = data.replace(f"{given:064x}", f"{given * 10:064x}", 1)


def raw_to_nobody(page: Page) -> None:
    """Pay the tokens of a deposit to the zero address."""
    raw = page.data.get("raw")
    if isinstance(raw, str):
        page.data["raw"] = _TRANSFER.sub(rf"\g<1>{'0' * 40}", raw)


def no_fee(page: Page) -> None:
    """Pay out all that goes in."""
    for quote, name in page.places("crossChain.amountIn"):
        quote["amountOut"] = quote[name]


def scaled_wrongly(page: Page) -> None:
    """Show whole tokens as if every token had 18 decimals, and those with 18 as if they had 6."""
    units = whole(page.data.get("balance"))
    if units is None:
        return
    right = plain(EXACT.scaleb(Decimal(units), -18)) == page.data.get("hrpBalance")
    page.data["hrpBalance"] = plain(EXACT.scaleb(Decimal(units), -6 if right else -18))


# Lists


def richer_items(page: Page) -> None:
    """Give items of lists members that nobody speaks of."""
    for name in _LISTS:
        for place, item in enumerate(page.listed(name)):
            if isinstance(item, dict):
                item |= {"logo": f"https://icons.example/{place}.png", "tags": ["listed"]}


def other_decimals_too(page: Page) -> None:
    """List the last token again, with another count of decimals."""
    last = page.listed()[-1] if page.listed() else None
    if isinstance(last, dict):
        page.one_more("list", {"decimals": 6 if last.get("decimals") == 18 else 18})


def one_without_decimals(page: Page) -> None:
    """Leave the decimals of the last token out."""
    items = [item for item in page.listed() if isinstance(item, dict) and "decimals" in item]
    if items:
        del items[-1]["decimals"]


def non_evm_chain(page: Page) -> None:
    """List a chain of 2.0 that is not EVM among those of v1."""
    others = [one for one in catalog_of(page.turn.call).chains if not one.evm]
    name = others[0].nickname if others else "KAS"
    page.one_more("chains", {"id": 90, "name": name, "chainId": 0, "fullName": name})


def names_of_v2(page: Page) -> None:
    """Name the chains of v1 as 2.0 does."""
    names = {one.v1_name: one.nickname for one in catalog_of(page.turn.call).v1_chains()}
    for holder, key in page.places("chains[].name"):
        if isinstance(holder[key], str):
            holder[key] = names.get(holder[key], holder[key])


def version_counts(page: Page) -> None:
    """Raise the version with every read."""
    page.data["version"] = 1 + page.counted()


def version_goes_back(page: Page) -> None:
    """Lower the version with every read."""
    if "version" in page.data:
        page.data["version"] = max(0, _NEWEST - page.counted())


def list_shrinks(page: Page) -> None:
    """List one item less at every read."""
    read = page.counted() - 1
    page.data["list"] = page.listed()[: max(1, len(page.listed()) - read)]


# What was told before


def one_before(page: Page) -> None:
    """Answer what was asked before."""
    before = page.memory.get("before")
    page.memory["before"] = page.data
    if before is not None:
        page.body["data"] = before


def cached_by(page: Page, names: Sequence[str]) -> None:
    """Tell again what was told first for these parts of a query alone."""
    key = "|".join(str(page.asked.query.get(name))[:200] for name in names)
    page.body["data"] = page.memory.setdefault(f"for {key}", page.data)
    bounded(page.memory)


def that_of_the_first(page: Page, name: str) -> None:
    """Give everything the number that was given first."""
    told = page.data.get(name)
    if isinstance(told, str) or is_integer(told):
        page.data[name] = page.memory.setdefault(name, told)


def another_when_repeated(page: Page, name: str) -> None:
    """Give a new number whenever the same is submitted again."""
    told = page.data.get(name)
    if not isinstance(told, str) and not is_integer(told):
        return
    known = told[:100] if isinstance(told, str) else told % 10**40
    again = page.counted(f"{name} {known}") - 1
    if is_integer(told):
        page.data[name] = told + _ANOTHER * again
    elif whole(told) is not None:
        page.data[name] = str(int(told) + _ANOTHER * again)
    else:
        page.data[name] = f"{told}{'9' * again}"


def earlier_each_time(page: Page, name: str) -> None:
    """Show a time, in seconds, a minute earlier at every look."""
    seconds: Json = page.data.get(name)
    earlier = 60 * (page.counted(f"{name} {_order(page)}") - 1)
    if is_integer(seconds):
        page.data[name] = seconds - earlier
    elif whole(seconds) is not None:
        page.data[name] = str(max(0, int(seconds) - earlier))


# Orders


def ends_twice(page: Page) -> None:
    """Turn the end of an order into another one once it was told."""
    status = page.data.get("status")
    if status in _FINAL and page.counted(_order(page)) > 1:
        page.data["status"] = "Failed" if status == "Succeeded" else "Succeeded"


def reopens(page: Page, going_on: Sequence[Json]) -> None:
    """Let every second look at a finished order show another status, at a place."""
    place, status = going_on
    for order, name in page.places(place):
        ended = order[name] != status if is_integer(status) else order[name] in _FINAL
        if ended and page.counted(_order(page)) % 2 == 0:
            order[name] = status


def new_hash(page: Page) -> None:
    """Show another hash at every check of an order that has one."""
    shown = page.data.get("execHash")
    if isinstance(shown, str) and len(shown) > 8:
        page.data["execHash"] = f"{shown[:-4]}{page.counted(_order(page)) % 65_536:04x}"


def _order(page: Page) -> str:
    query = page.asked.query
    return f"order {query.get('id', query.get('hash', ''))[:200]}"
