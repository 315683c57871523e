"""The orders and quotes that a scenario gives: orders that are there, quotes to the last digit."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeVar

from mockserver.clock import check_beginning
from mockserver.engine import amounts
from mockserver.engine.catalog import Catalog, Placed
from mockserver.engine.hashes import derived_hash
from mockserver.engine.order_courses import Policy, course_problems
from mockserver.engine.orders import REFUND_MS, Order, OrderGeneration
from mockserver.engine.outages import OrderRoute
from mockserver.engine.refusal import Refusal
from mockserver.engine.scenario import FixedQuotes
from mockserver.engine.swap_quotes import AggregateQuote, QuoteKey, SwapKey, place_key
from mockserver.engine.transfer_quotes import BridgeKey, BridgeQuote, CrossChainKey, CrossChainQuote
from mockserver.file_formats import Complaint
from mockserver.jsontext import FieldPath, plain
from mockserver.scenarios.calendar_files import WorldStart
from mockserver.scenarios.scenario_values import KINDS, course
from mockserver.times_and_durations import ClockRefused, parse_duration

_COURSE = "as-known"

ScenarioItem = Mapping[str, Any]
_Key = TypeVar("_Key")
_FixedQuote = TypeVar("_FixedQuote")


# Orders that are there from the beginning


def known_orders(
    value: ScenarioItem, begin: WorldStart
) -> tuple[tuple[Order, ...], list[Complaint]]:
    """Return the orders of `orders.known`, and all that is wrong with them.

    Their times count from the start of the world.
    """
    complaints: list[Complaint] = []
    orders: dict[str, Order] = {}
    after = value.get("refunded_after")
    refund_ms = REFUND_MS if after is None else parse_duration(after)
    for number, item in enumerate(value.get("known", ())):
        place: FieldPath = ("orders", "known", number)
        problems = list(_order_problems(item, begin))
        if item["id"] in orders:
            problems.append((("id",), f"{item['id']!r} is the id of an earlier order"))
        complaints += [((*place, *path), text) for path, text in problems]
        # Only right ones, so that making an order needs no checks of its own.
        if not problems:
            orders[item["id"]] = _order(item, begin.catalog, begin.seed, refund_ms)
    return tuple(orders.values()), complaints


def _order_problems(item: ScenarioItem, begin: WorldStart) -> Iterator[Complaint]:
    for end in ("from", "to"):
        try:
            begin.catalog.token_on(item[end]["chain"], item[end]["token"])
        except Refusal as refusal:
            yield (end,), refusal.reason
    try:
        check_beginning(begin.start_ms - parse_duration(item["ago"]))
    except ClockRefused as error:
        yield ("ago",), str(error)
    for text in course_problems(course(_COURSE, item)):
        yield ("steps",), text


def _order(item: ScenarioItem, catalog: Catalog, seed: int, refund_ms: int) -> Order:
    ends = (catalog.token_on(item[end]["chain"], item[end]["token"]) for end in ("from", "to"))
    source, target = ends
    at_ms, amount, sn = -parse_duration(item["ago"]), int(item["amount"]), item.get("sn")
    return Order(
        id=item["id"],
        sn=sn,
        generation=OrderGeneration.V2 if sn is None else OrderGeneration.V1,
        kind=KINDS[item["kind"]],
        route=OrderRoute(
            source.chain.nickname, source.symbol, target.chain.nickname, target.symbol
        ),
        submitted_ms=at_ms,
        started_ms=at_ms,
        amount=amount,
        # What arrived is known, and not what of the difference was a fee.
        gross=int(item["out"]),
        service_fee=0,
        channel_fee=0,
        gas_fee=0,
        dust=0,
        # Nobody here had the deposit before.
        topup=amount,
        sender=item["sender"],
        recipient=item["recipient"],
        evm_address=item["sender"],
        cert_hash=item["hash"],
        exec_hash=item.get("exec_hash") or derived_hash(seed, "exec", item["id"]),
        back_hash=derived_hash(seed, "back", item["id"]),
        course=course(_COURSE, item),
        policy=Policy.TIME,
        refund_ms=refund_ms,
        fee_level=item.get("fee_level"),
    )


# Quotes that come out to the last digit for their requests


def fixed_quotes(value: ScenarioItem, catalog: Catalog) -> tuple[FixedQuotes, list[Complaint]]:
    """Return the quotes a scenario fixes, and all that is wrong with them."""
    complaints: list[Complaint] = []

    def table(
        name: str, read: Callable[[ScenarioItem, Catalog], tuple[_Key, _FixedQuote]]
    ) -> dict[_Key, _FixedQuote]:
        table: dict[_Key, _FixedQuote] = {}
        for number, item in enumerate(value.get(name, ())):
            place: FieldPath = ("quotes", name, number)
            try:
                key, quote = read(item, catalog)
            except _UnreadableAnswer as error:
                complaints.extend(((*place, *path), text) for path, text in error.complaints)
                continue
            if key in table:
                text = "another entry fixes the same request already; leave one of them"
                complaints.append((place, text))
            table.setdefault(key, quote)
        return table

    quotes = FixedQuotes(
        table("bridge", _bridge),
        table("aggregate", _aggregate),
        table("swaps", _swap),
        value.get("near_percent", 0),
        table("cross_chain", _cross_chain),
    )
    # A token that nobody knows is wrong at both ends, by the same field.
    return quotes, list(dict.fromkeys(complaints))


class _UnreadableAnswer(Exception):
    """A quote of which something is unknown, by the fields below its own place."""

    def __init__(self, complaints: Iterable[Complaint]) -> None:
        super().__init__("unknown names")
        self.complaints = list(complaints)


_OF_ONE_TOKEN = ("from", "token"), ("to", "token")
_OF_TWO_TOKENS = ("from.chain", "from.token"), ("to.chain", "to.token")
# Where a request names its two tokens: the chain and the symbol of each.
_ON_ONE_CHAIN = ("chain", "from"), ("chain", "to")


def _ends(
    item: ScenarioItem, catalog: Catalog, *places: tuple[str, str], also: str = ""
) -> tuple[Placed, Placed]:
    """Return two tokens, each by the dotted fields of its chain and its symbol.

    `also` is the field of another chain, which has to be known as well.
    """
    ends, complaints = [], []
    for chain, token in places:
        # What was read last when it failed is the field to blame.
        last = chain
        try:
            on = catalog.chain(_inside(item, chain))
            last = token
            ends.append(catalog.placed(on, catalog.token(_inside(item, token))))
        except Refusal as refusal:
            complaints.append((tuple(last.split(".")), refusal.reason))
    if also:
        try:
            catalog.chain(_inside(item, also))
        except Refusal as refusal:
            complaints.append((tuple(also.split(".")), refusal.reason))
    if complaints:
        raise _UnreadableAnswer(complaints)
    source, target = ends
    return source, target


def _inside(item: ScenarioItem, path: str) -> Any:
    for name in path.split("."):
        item = item[name]
    return item


def _bridge(item: ScenarioItem, catalog: Catalog) -> tuple[BridgeKey, BridgeQuote]:
    _, target = _ends(item, catalog, *_OF_ONE_TOKEN)
    gives = item["gives"]
    quote = BridgeQuote(
        price_text=plain(Decimal(gives["price"])),
        gross=int(gives["out"]),
        out_usd=gives["out_usd"],
        service_fee=int(gives["service_fee"]),
        gas_fee=int(gives["gas_fee"]),
        rate_bps=gives["rate_bps"],
        decimals=target.decimals,
    )
    channel = item.get("channel_bps", 0)
    return (item["token"], int(item["amount"]), item["from"], item["to"], channel), quote


def _cross_chain(item: ScenarioItem, catalog: Catalog) -> tuple[CrossChainKey, CrossChainQuote]:
    source, target = _ends(item, catalog, *_OF_ONE_TOKEN)
    amount, gives = Decimal(item["amount"]), item["gives"]
    try:
        units = amounts.units_exact(amount, source.decimals)
    except Refusal as refusal:
        raise _UnreadableAnswer([(("amount",), refusal.reason)]) from None
    out = Decimal(gives["out"])
    quote = CrossChainQuote(
        amount_in=amount,
        amount_out=out,
        fee=Decimal(gives["fee"]),
        gas=Decimal(gives["gas"]),
        symbol=item["token"],
        out_units=amounts.units_floor(out, target.decimals),
    )
    return (item["token"], units, item["from"], item["to"], item.get("fee_level", 0)), quote


def _aggregate(item: ScenarioItem, catalog: Catalog) -> tuple[QuoteKey, AggregateQuote]:
    gives = item["gives"]
    source, target = _ends(item, catalog, *_OF_TWO_TOKENS, also="gives.execution")
    execution = catalog.chain(gives["execution"])
    # Where the swap is carried out the token may have other decimals than at its target.
    there = target.token.contracts.get(execution.nickname, target.contract)
    quote = AggregateQuote(
        network=execution.network,
        decimals=there.decimals,
        aggregator=gives["aggregator"],
        gross=int(gives["out"]),
        out_usd=gives["out_usd"],
        service_fee=int(gives["service_fee"]),
        gas_fee=int(gives["gas_fee"]),
        rate_bps=gives["rate_bps"],
        slippage=Decimal(gives["slippage_percent"]),
        price_impact=Decimal(gives["price_impact_percent"]),
    )
    channel = item.get("channel_bps", 0)
    return (int(item["amount"]), *_key(source), *_key(target), channel), quote


def _swap(item: ScenarioItem, catalog: Catalog) -> tuple[SwapKey, int]:
    source, target = map(_key, _ends(item, catalog, *_ON_ONE_CHAIN))
    return (int(item["amount"]), *source, target[1]), int(item["out"])


def _key(placed: Placed) -> tuple[str, str]:
    return place_key(placed.chain, placed.contract.address)
