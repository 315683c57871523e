"""What a request asks for, and which template answers it: the part that learning shares.

A service says no for reasons that show in the request: an input is absent, a name is in no list, an
amount is low, an order is unknown. Each of these is a *condition*, and templates are kept by it.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from mockserver.contract import ids
from mockserver.http_messages import Request
from mockserver.jsontext import Json
from mockserver.recordings.matching import number_in
from mockserver.scenarios.template_names import ListedNames, NamedInputs, is_blank

RequestCondition = Mapping[str, str]
"""What is special about a request: one name such as `absent`, and what it is about."""

LOOKS = {
    ids.CHECK: ("order", "id"),
    ids.V1_DETAIL: ("order", "hash"),
    ids.CHECK_TICKET: ("ticket", "ticketId"),
}
"""Operations that look up what was submitted, with what that is and the input that names it."""

_MOST_PLACES = 100


def inputs_of(request: Request, header_names: Iterable[str]) -> dict[str, Json]:
    headers = {name: request.headers[name] for name in header_names if name in request.headers}
    body = {} if request.method == "GET" else request.members
    return {**headers, **request.parameters, **body}


def plain_number(text: str) -> Decimal | None:
    """Return the number that a text is, if it can be written out: 1E999999999 cannot."""
    number = number_in(text)
    return number if number is not None and abs(number.adjusted()) <= _MOST_PLACES else None


def named_amounts(inputs: NamedInputs) -> NamedInputs:
    return {name: value for name, value in inputs.items() if name.lower().endswith("amount")}


def amounts_in(inputs: NamedInputs) -> dict[str, Decimal]:
    numbers = {name: plain_number(str(value)) for name, value in named_amounts(inputs).items()}
    return {name: number for name, number in numbers.items() if number is not None}


def condition_of(
    inputs: NamedInputs, needs: Iterable[str], names: ListedNames, low: Mapping[str, str]
) -> RequestCondition:
    """Return what is special about a request, before anything that was submitted is looked up.

    `needs` are inputs without which it is refused, and `low` the highest amounts that are.
    """
    for name in needs:
        if is_blank(inputs.get(name)):
            return {"absent": name}
    if kind := names.unknown(inputs):
        return {"unknown": kind}
    for name, number in amounts_in(inputs).items():
        if name in low and number <= Decimal(low[name]):
            return {"low": name}
    for name in named_amounts(inputs).keys() - amounts_in(inputs).keys():
        return {"malformed": name}
    return {}
