"""When a break acts, by the names that the table of breaks calls the conditions."""

from decimal import Decimal

from mockserver.jsontext import Json
from mockserver.responders.breaks.answers import counted, refused, succeeded
from mockserver.responders.breaks.converters import whole
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


def fractional(turn: Turn, sent: Delivery, place: str) -> bool:
    """The request has a number with a part behind the point."""
    value = _given(turn, place)
    return isinstance(value, Decimal) and value != value.to_integral_value()


def of_a_coin(turn: Turn, sent: Delivery) -> bool:
    """The request is about the coin of a chain, whose address is all e."""
    address = _given(turn, "query.contractAddress")
    return set(str(address or "")[2:].lower()) <= {"e"}


def of_a_token(turn: Turn, sent: Delivery) -> bool:
    """The request is about a token on an EVM chain other than the chain's own coin."""
    return not of_a_coin(turn, sent) and not off_evm(turn, sent)


def off_evm(turn: Turn, sent: Delivery) -> bool:
    """The request is about a token whose address is not that of an EVM chain."""
    return not str(_given(turn, "query.contractAddress") or "").startswith("0x")


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
