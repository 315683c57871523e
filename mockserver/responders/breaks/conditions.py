"""When a break acts, by the names that the table of breaks calls the conditions."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType

from mockserver import jsontext
from mockserver.jsontext import Json
from mockserver.responders.breaks.answers import counted, refused, succeeded
from mockserver.responders.breaks.converters import is_number, whole
from mockserver.responders.breaks.inputs import catalog_of
from mockserver.responders.breaks.values import Turn, asked_of
from mockserver.responders.delivery import Delivery


def _odd_input(turn: Turn, sent: Delivery) -> bool:
    """The request breaks the contract."""
    reading = turn.call.operation.read(turn.call.request)
    return bool(reading.refusal or reading.violations)


def _above(turn: Turn, sent: Delivery, place_and_most: tuple[str, int]) -> bool:
    """The request has a larger whole number."""
    place, most = place_and_most
    units = whole(_given(turn, place))
    return units is not None and units > most


def _matching(turn: Turn, sent: Delivery, place_and_pattern: tuple[str, str]) -> bool:
    """The request has a text of this form, or a number written so; none is an empty text."""
    place, pattern = place_and_pattern
    value = _given(turn, place)
    text = jsontext.plain(Decimal(value)) if is_number(value) else str(value or "")
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def _of_odd_index(turn: Turn, sent: Delivery) -> bool:
    """The request is about one of the half of the tokens whose index is odd."""
    indexes = {one.symbol: one.index for one in catalog_of(turn.call).tokens}
    return bool(indexes.get(str(_given(turn, "query.symbol")), 0) % 2)


def _behind_a_refusal(turn: Turn, sent: Delivery) -> bool:
    """The request before was refused."""
    before = bool(turn.memory.pop("refused", False))
    if refused(sent.response):
        turn.memory["refused"] = True
    return before


def _is_told(turn: Turn, sent: Delivery, member_and_value: tuple[str, Json]) -> bool | None:
    """Whether a success has this value of a member; None where it is no success."""
    body, (name, value) = succeeded(turn, sent.response), member_and_value
    return None if body is None else bool(body["data"].get(name) == value)


def _given(turn: Turn, place: str) -> Json:
    return asked_of(turn.call).get(place)


def _succeeded(turn: Turn, sent: Delivery) -> bool:
    return succeeded(turn, sent.response) is not None


WORDS: Mapping[str, Callable[..., bool]] = MappingProxyType(
    {
        # An answer says all is well and has data; or this server has refused the request.
        "success": _succeeded,
        "refusal": lambda turn, sent: refused(sent.response),
        "odd-input": _odd_input,
        # The request leaves an input out, or gives an empty text for it.
        "without": lambda turn, sent, place: _given(turn, place) in (None, ""),
        "above": _above,
        "matching": _matching,
        "of-odd-index": _of_odd_index,
        # The answer is a success with this value of a member, or with another one.
        "told": lambda turn, sent, what: _is_told(turn, sent, what) is True,
        "told-otherwise": lambda turn, sent, what: _is_told(turn, sent, what) is False,
        # The same was asked before.
        "asked-before": lambda turn, sent: (
            counted(turn.memory, f"quote {turn.call.request.query[-300:]}") > 1
        ),
        # It is the third success, or the sixth, and so on.
        "every-third": lambda turn, sent: _succeeded(turn, sent) and counted(turn.memory) % 3 == 0,
        # An order was checked twice before.
        "from-the-third-check": lambda turn, sent: (
            _succeeded(turn, sent)
            and counted(turn.memory, f"order {str(_given(turn, 'query.id'))[:200]}") > 2
        ),
        "behind-a-refusal": _behind_a_refusal,
    }
)
"""The conditions by word."""
