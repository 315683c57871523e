"""What a client may ask: requests that keep the contract, and such that break it in one input."""

from collections.abc import Mapping

from hypothesis.strategies import SearchStrategy

from mockserver import jsontext
from mockserver.conformance.generation.strategies import Requests, any_of
from mockserver.conformance.generation.values import smallest_units
from mockserver.conformance.session.context import RunContext
from mockserver.contract import Basis, load
from mockserver.exchange import Request
from mockserver.jsontext import Json
from mockserver.strategies.contracts import operation_of
from mockserver.values import dataclass

_MOST_DECIMALS = 76


@dataclass(frozen=True, slots=True)
class InvalidRequest:
    """A request with exactly one input broken.

    `place` is that input, such as `query.amount`; `kind` is how it is broken: `missing`,
    `unknown-name`, `forbidden`, `condition`, or the keyword of the schema that it breaks; `reason`
    says so in words, and `basis` what says that it is wrong.
    """

    request: Request
    place: str
    kind: str
    reason: str
    basis: Basis


def requests(operation: str, *, dialect: str = "documented") -> SearchStrategy[Request]:
    """Return requests of an operation such as `v2.getBridgeQuote` that keep its contract.

    Every input has whatever the contract allows, so most name chains and tokens that nobody has; a
    service may refuse them, and may not fail. `path` and `query` are ready to be put behind a base
    address, v1 requests are signed with the demo key. Raises `UnknownOperation`, `UnknownDialect`.
    """
    found = operation_of(operation, dialect)
    drafts = Requests(found, RunContext(load(dialect)), is_free=True).valid()
    return drafts.map(lambda draft: draft.request(found))


def invalid_requests(
    operation: str, *, dialect: str = "documented"
) -> SearchStrategy[InvalidRequest]:
    """Return requests that break the contract of an operation in one input, and say in which.

    Nothing is generated where an operation has no input to break. Raises as `requests` does.
    """
    found = operation_of(operation, dialect)
    ways = any_of(Requests(found, RunContext(load(dialect)), is_free=True).ways())
    return ways.map(
        lambda one: InvalidRequest(
            one.draft.request(found), one.place, one.kind, one.label, one.basis
        )
    )


def orders(*, dialect: str = "documented") -> SearchStrategy[Mapping[str, Json]]:
    """Return bodies of `v2.submitOrder` that keep the contract. Raises `UnknownDialect`."""
    return requests("v2.submitOrder", dialect=dialect).map(
        lambda request: dict(jsontext.decode(request.body))
    )


def amounts(token: int | Mapping[str, Json] = 18) -> SearchStrategy[str]:
    """Return amounts of a token in smallest units, as the digits that 2.0 takes and gives.

    `token` is a count of decimals from 0 to 76, or an item of an asset list that has `decimals`.
    The smallest unit, one token and both its neighbours, and 77 digits are among them. Raises
    `ValueError` for other decimals.
    """
    decimals = token["decimals"] if isinstance(token, Mapping) else token
    is_count = isinstance(decimals, int) and not isinstance(decimals, bool)
    if not is_count or not 0 <= decimals <= _MOST_DECIMALS:
        raise ValueError(f"decimals: expected 0 to {_MOST_DECIMALS}, got {decimals!r}")
    return smallest_units(decimals)
