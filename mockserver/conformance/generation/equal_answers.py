"""Whether two answers say the same, whatever moves between two equal requests."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from mockserver.conformance.checks.judged_exchanges import in_words, quoted
from mockserver.conformance.checks.submission_timelines import is_over
from mockserver.conformance.discovery import amounts
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import ids
from mockserver.jsontext import Json
from mockserver.recordings.redaction.secret_names import Secrecy, secrecy

# As far as prices may move between two requests, as in the relations of requests.
_PRICE_FACTOR = Decimal("1.05")
# Gas moves more, from block to block.
_GAS_FACTOR = Decimal("1.5")
_MOVING = (*ids.QUOTES, ids.SWAP, ids.PRICE, ids.V1_TOKENS, ids.V1_DETAIL)
_OF_THE_MOMENT = ("updateTime", "timestamp")
# What a service may make anew for each request: call data has a deadline in it.
_MADE = ("raw", "routeSummary", "data")
# What is submitted goes on by itself; these members say what it is about.
_GOING_ON = (ids.CHECK, ids.CHECK_TICKET, ids.TICKETS, ids.V1_DETAIL)
_STAYING = ("ticketId", "address", "chain", "hash", "certHash", "sn", "fromAmount", "fromToken")
_SCALARS = (str, int, Decimal, bool, type(None))


class Sameness:
    """What all answers to one request have in common, held against another answer to it.

    `free` are the places whose words a service was seen to choose anew for an equal request: a
    quote's aggregator, for one; `made` are those of call data that it was seen to make anew. All
    requests of an operation share them.
    """

    def __init__(self, first: Exchange, free: set[str], made: set[str]) -> None:
        """Begin with an answer."""
        self.first = first
        self._free = free
        self._made = made
        self._keys: dict[str, str] = {}
        self._moving = first.operation.id in _MOVING
        self._goes_on = first.operation.id in _GOING_ON and not is_over(first)
        self._stable = dict(self._leaves(first.body))
        # Of these some may differ each time, which makes none of them new.
        self._places = self._stable.keys()
        # Lists of tickets grow while a run submits some.
        self._shape_stays = not self._goes_on

    def add(self, exchange: Exchange) -> None:
        """Take a further answer: what differs in it is not compared any more."""
        if exchange.succeeded != self.first.succeeded:
            return
        leaves = dict(self._leaves(exchange.body))
        self._shape_stays &= leaves.keys() == self._places
        before, self._stable = self._stable, {}
        for place, value in before.items():
            if _name(place) in _MADE and leaves.get(place, value) != value:
                self._made.add(place)
            if place in leaves and self._is_same(place, value, leaves[place]):
                self._stable[place] = value
            elif _are_words(value, leaves.get(place)):
                # Numbers are never free: those of another request would be excused with them.
                self._free.add(place)

    def difference(self, exchange: Exchange) -> str:
        """Return in what an answer differs; empty where it is the same."""
        if not exchange.has_answer:
            return f"no whole answer came: {in_words(exchange)}"
        if exchange.answer.status == 304:
            return "HTTP 304, which only says that a copy is right"
        if exchange.unreadable:
            return f"the body cannot be read: {exchange.unreadable}"
        if exchange.succeeded != self.first.succeeded:
            if exchange.succeeded:
                return "the answer is a success, and was a refusal before"
            return f"the request is refused ({in_words(exchange)}), and was taken before"
        # Words of refusals are for people, and may name the moment.
        return self._other_leaf(exchange) if exchange.succeeded else ""

    def is_answered_by(self, exchange: Exchange) -> bool:
        """Tell whether an answer, to whatever request, is one to this request."""
        return not self.difference(exchange)

    def _other_leaf(self, exchange: Exchange) -> str:
        leaves = dict(self._leaves(exchange.body))
        for place, value in self._stable.items():
            if place in self._free:
                continue
            if place not in leaves:
                return f"{place} is missing, and was {quoted(place, value)} before"
            if not self._is_same(place, value, leaves[place]):
                before, now = quoted(place, value), quoted(place, leaves[place])
                return f"{place} is {now}, and was {before} before"
        for place in leaves:
            # Items that a list gains; what an order gains as it goes on is no difference.
            if self._shape_stays and place not in self._places and "{" in place:
                return f"{place} is there, and was not before"
        return ""

    def _is_same(self, place: str, first: Json, second: Json) -> bool:
        if first == second and type(first) is type(second):
            return True
        name = _name(place)
        if name in _OF_THE_MOMENT:
            return type(first) is type(second)
        if place in self._made and type(first) is type(second):
            return name != "data" or len(str(first)) == len(str(second))
        if not self._moving or name in _MADE or type(first) is not type(second):
            return False
        before, now = amounts.number(first), amounts.number(second)
        if not before or not now or before < 0 or now < 0:
            return False
        return amounts.within(before, now, _GAS_FACTOR if "gas" in name.lower() else _PRICE_FACTOR)

    def _leaves(self, value: Json, place: str = "") -> Iterator[tuple[str, Json]]:
        match value:
            case Mapping():
                for name, member in value.items():
                    # Texts for people outside the data say nothing that a client acts on.
                    if place or name != "msg":
                        yield from self._leaves(member, f"{place}.{name}" if place else str(name))
            case list():
                yield from self._items(value, place)
            case _ if isinstance(value, _SCALARS):
                # Of what goes on, the rest changes as it does, which other rules follow.
                if not self._goes_on or _name(place) in _STAYING:
                    yield place, value

    def _items(self, items: list[Any], place: str) -> Iterator[tuple[str, Json]]:
        """Yield the leaves of items, each by what names it: lists come in any order."""
        if place not in self._keys:
            self._keys[place] = _key_of(items)
        key = self._keys[place]
        if not key:
            yield f"{place}.length", len(items)
            return
        for item in items:
            named = item.get(key) if isinstance(item, Mapping) else None
            yield from self._leaves(item, f"{place}{{{named}}}")


def _name(place: str) -> str:
    return place.rpartition(".")[2]


def _are_words(*values: Json) -> bool:
    return all(isinstance(value, str) and amounts.number(value) is None for value in values)


def _key_of(items: list[Any]) -> str:
    """Return the member by which items are told apart: the first text that all have, each once."""
    if not items or not all(isinstance(item, Mapping) for item in items):
        return ""
    for name in items[0]:
        if secrecy(str(name)) is Secrecy.CERTAIN:
            continue  # Places are shown.
        values = [item.get(name) for item in items]
        if all(isinstance(value, str) for value in values) and len({*values}) == len(values):
            return str(name)
    return ""
