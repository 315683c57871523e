"""When a break acts, by the names that the table of breaks calls the conditions."""

import re
from decimal import Decimal

from mockserver import jsontext
from mockserver.jsontext import Json
from mockserver.responders.breaks.answers import counted, refused, succeeded
from mockserver.responders.breaks.converters import is_number, whole
from mockserver.responders.breaks.inputs import catalog_of
from mockserver.responders.breaks.requests import asked_of
from mockserver.responders.breaks.values import Turn
from mockserver.responders.delivery import Delivery


def success(turn: Turn, sent: Delivery) -> bool:
    """An answer says all is well and has data."""
    return succeeded(turn, sent.response) is not None


def refusal(turn: Turn, sent: Delivery) -> bool:
    """This server has refused the request."""
    return refused(sent.response)


def odd_input(turn: Turn, sent: Delivery) -> bool:
    """The request breaks the contract."""
    reading = turn.call.operation.read(turn.call.request)
    return bool(reading.refusal or reading.violations)


def without(turn: Turn, sent: Delivery, place: str) -> bool:
    """The request leaves an input out, or gives an empty text for it."""
    return _given(turn, place) in (None, "")


def above(turn: Turn, sent: Delivery, place_and_most: tuple[str, int]) -> bool:
    """The request has a larger whole number."""
    place, most = place_and_most
    units = whole(_given(turn, place))
    return units is not None and units > most


def matching(turn: Turn, sent: Delivery, place_and_pattern: tuple[str, str]) -> bool:
    """The request has a text of this form, or a number written so; none is an empty text."""
    place, pattern = place_and_pattern
    value = _given(turn, place)
    text = jsontext.plain(Decimal(value)) if is_number(value) else str(value or "")
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def of_odd_index(turn: Turn, sent: Delivery) -> bool:
    """The request is about one of the half of the tokens whose index is odd."""
    indexes = {one.symbol: one.index for one in catalog_of(turn.call).tokens}
    return bool(indexes.get(str(_given(turn, "query.symbol")), 0) % 2)


def first(turn: Turn, sent: Delivery) -> bool:
    """Nothing was asked before."""
    return counted(turn.memory) == 1


def asked_before(turn: Turn, sent: Delivery) -> bool:
    """The same was asked before."""
    return counted(turn.memory, f"quote {turn.call.request.query[-300:]}") > 1


def every_third(turn: Turn, sent: Delivery) -> bool:
    """It is the third success, or the sixth, and so on."""
    return success(turn, sent) and counted(turn.memory) % 3 == 0


def from_the_third_check(turn: Turn, sent: Delivery) -> bool:
    """An order was checked twice before."""
    order = f"order {str(_given(turn, 'query.id'))[:200]}"
    return success(turn, sent) and counted(turn.memory, order) > 2


def behind_a_refusal(turn: Turn, sent: Delivery) -> bool:
    """The request before was refused."""
    before = bool(turn.memory.pop("refused", False))
    if refused(sent.response):
        turn.memory["refused"] = True
    return before


def _given(turn: Turn, place: str) -> Json:
    return asked_of(turn.call).get(place)
