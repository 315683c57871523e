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
from mockserver.responders.breaks.values import MutationContext, inputs_of
from mockserver.responders.delivery import Delivery


def _odd_input(context: MutationContext, sent: Delivery) -> bool:
    """The request breaks the contract."""
    reading = context.call.operation.read(context.call.request)
    return bool(reading.refusal or reading.violations)


def _above(context: MutationContext, sent: Delivery, place_and_most: tuple[str, int]) -> bool:
    """The request has a larger whole number."""
    place, most = place_and_most
    units = whole(_given(context, place))
    return units is not None and units > most


def _matching(context: MutationContext, sent: Delivery, place_and_pattern: tuple[str, str]) -> bool:
    """The request has a text of this form, or a number written so; none is an empty text."""
    place, pattern = place_and_pattern
    value = _given(context, place)
    text = jsontext.plain(Decimal(value)) if is_number(value) else str(value or "")
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def _of_odd_index(context: MutationContext, sent: Delivery) -> bool:
    """The request is about one of the half of the tokens whose index is odd."""
    indexes = {one.symbol: one.index for one in catalog_of(context.call).tokens}
    return bool(indexes.get(str(_given(context, "query.symbol")), 0) % 2)


def _behind_a_refusal(context: MutationContext, sent: Delivery) -> bool:
    """The request before was refused."""
    before = bool(context.memory.pop("refused", False))
    if refused(sent.response):
        context.memory["refused"] = True
    return before


def _is_told(
    context: MutationContext, sent: Delivery, member_and_value: tuple[str, Json]
) -> bool | None:
    """Whether a success has this value of a member; None where it is no success."""
    body, (name, value) = succeeded(context, sent.response), member_and_value
    return None if body is None else bool(body["data"].get(name) == value)


def _given(context: MutationContext, place: str) -> Json:
    return inputs_of(context.call).get(place)


def _succeeded(context: MutationContext, sent: Delivery) -> bool:
    return succeeded(context, sent.response) is not None


WORDS: Mapping[str, Callable[..., bool]] = MappingProxyType(
    {
        # An answer says all is well and has data; or this server has refused the request.
        "success": _succeeded,
        "refusal": lambda context, sent: refused(sent.response),
        "odd-input": _odd_input,
        # The request leaves an input out, or gives an empty text for it.
        "without": lambda context, sent, place: _given(context, place) in (None, ""),
        "above": _above,
        "matching": _matching,
        "of-odd-index": _of_odd_index,
        # The answer is a success with this value of a member, or with another one.
        "told": lambda context, sent, what: _is_told(context, sent, what) is True,
        "told-otherwise": lambda context, sent, what: _is_told(context, sent, what) is False,
        # The same was asked before.
        "asked-before": lambda context, sent: (
            counted(context.memory, f"quote {context.call.request.query[-300:]}") > 1
        ),
        # It is the third success, or the sixth, and so on.
        "every-third": lambda context, sent: (
            _succeeded(context, sent) and counted(context.memory) % 3 == 0
        ),
        # An order was checked twice before.
        "from-the-third-check": lambda context, sent: (
            _succeeded(context, sent)
            and counted(context.memory, f"order {str(_given(context, 'query.id'))[:200]}") > 2
        ),
        "behind-a-refusal": _behind_a_refusal,
    }
)
"""The conditions by word."""
