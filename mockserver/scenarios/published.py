"""Reads the published quotes of a scenario, which come out to the last digit for their requests."""

from collections.abc import Callable, Mapping
from dataclasses import field
from decimal import Decimal
from typing import Any, TypeVar

from mockserver.documents import FieldPath
from mockserver.engine import amounts
from mockserver.engine.aggregates import AggregateQuote, QuoteKey, SwapKey, place_key
from mockserver.engine.catalog import Catalog, Placed
from mockserver.engine.quotes import BridgeKey, BridgeQuote, CrossChainKey, CrossChainQuote
from mockserver.engine.refusal import Refusal
from mockserver.engine.scenario import FixedQuotes
from mockserver.jsontext import plain
from mockserver.values import dataclass

Complaint = tuple[FieldPath, str]
_Key = TypeVar("_Key")
_Quote = TypeVar("_Quote")

_OF_ONE_TOKEN = ("from", "token"), ("to", "token")
_OF_TWO_TOKENS = ("from.chain", "from.token"), ("to.chain", "to.token")
_ON_ONE_CHAIN = ("chain", "from"), ("chain", "to")
"""Where a request names its two tokens: the chain and the symbol of each."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """Looks names up in the catalog and notes where one is unknown."""

    catalog: Catalog
    complaints: list[Complaint] = field(default_factory=list)

    def ends(
        self, item: Mapping[str, Any], at: FieldPath, *places: tuple[str, str]
    ) -> tuple[Placed, Placed] | None:
        """Return two tokens, each by the dotted fields of its chain and its symbol."""
        found = [self._placed(item, at, chain, token) for chain, token in places]
        source, target = found
        return None if source is None or target is None else (source, target)

    def _placed(
        self, item: Mapping[str, Any], at: FieldPath, chain: str, token: str
    ) -> Placed | None:
        last = chain
        try:
            on = self.catalog.chain(_inside(item, chain))
            last = token
            return self.catalog.placed(on, self.catalog.token(_inside(item, token)))
        except Refusal as refusal:
            self.complaints.append(((*at, *last.split(".")), refusal.reason))
            return None

    def table(
        self,
        name: str,
        items: list[Mapping[str, Any]],
        read: Callable[[Mapping[str, Any], FieldPath], tuple[_Key, _Quote] | None],
    ) -> dict[_Key, _Quote]:
        """Return the quotes of a list by their keys, noting those that are there twice."""
        found: dict[_Key, _Quote] = {}
        for number, item in enumerate(items):
            place: FieldPath = ("quotes", name, number)
            pair = read(item, place)
            if pair is None:
                continue
            if pair[0] in found:
                text = "another entry fixes the same request already; leave one of them"
                self.complaints.append((place, text))
            found.setdefault(*pair)
        return found

    def bridge(
        self, item: Mapping[str, Any], at: FieldPath
    ) -> tuple[BridgeKey, BridgeQuote] | None:
        """Return a bridge quote by its request."""
        ends = self.ends(item, at, *_OF_ONE_TOKEN)
        if ends is None:
            return None
        target, gives = ends[1], item["gives"]
        quote = BridgeQuote(
            price=Decimal(gives["price"]),
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

    def cross_chain(
        self, item: Mapping[str, Any], at: FieldPath
    ) -> tuple[CrossChainKey, CrossChainQuote] | None:
        """Return a v1 quote by its request."""
        ends = self.ends(item, at, *_OF_ONE_TOKEN)
        if ends is None:
            return None
        source, target = ends
        amount, gives = Decimal(item["amount"]), item["gives"]
        try:
            units = amounts.units_exact(amount, source.decimals)
        except Refusal as refusal:
            self.complaints.append(((*at, "amount"), refusal.reason))
            return None
        out = Decimal(gives["out"])
        quote = CrossChainQuote(
            amount_in=amount,
            amount_out=out,
            fee=Decimal(gives["fee"]),
            gas=Decimal(gives["gas"]),
            symbol=item["token"],
            out_units=amounts.units_floor(out, target.decimals),
        )
        level = item.get("fee_level", 0)
        return (item["token"], units, item["from"], item["to"], level), quote

    def aggregate(
        self, item: Mapping[str, Any], at: FieldPath
    ) -> tuple[QuoteKey, AggregateQuote] | None:
        """Return an aggregate quote by its request."""
        ends, gives = self.ends(item, at, *_OF_TWO_TOKENS), item["gives"]
        try:
            execution = self.catalog.chain(gives["execution"])
        except Refusal as refusal:
            self.complaints.append(((*at, "gives", "execution"), refusal.reason))
            return None
        if ends is None:
            return None
        source, target = ends
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
        return (
            int(item["amount"]),
            *_key(source),
            *_key(target),
            item.get("channel_bps", 0),
        ), quote

    def swap(self, item: Mapping[str, Any], at: FieldPath) -> tuple[SwapKey, int] | None:
        """Return the amount out of swap call data by its request."""
        ends = self.ends(item, at, *_ON_ONE_CHAIN)
        if ends is None:
            return None
        source, target = map(_key, ends)
        return (int(item["amount"]), *source, target[1]), int(item["out"])


def published_quotes(
    value: Mapping[str, Any], catalog: Catalog
) -> tuple[FixedQuotes, list[Complaint]]:
    """Return the quotes a scenario fixes, and all that is wrong with them."""
    reader = _Reader(catalog)
    quotes = FixedQuotes(
        reader.table("bridge", value.get("bridge", []), reader.bridge),
        reader.table("aggregate", value.get("aggregate", []), reader.aggregate),
        reader.table("swaps", value.get("swaps", []), reader.swap),
        value.get("near_percent", 0),
        reader.table("cross_chain", value.get("cross_chain", []), reader.cross_chain),
    )
    return quotes, list(dict.fromkeys(reader.complaints))


def _key(placed: Placed) -> tuple[str, str]:
    return place_key(placed.chain, placed.contract.address)


def _inside(item: Mapping[str, Any], path: str) -> Any:
    for name in path.split("."):
        item = item[name]
    return item
