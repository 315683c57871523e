"""Where recorded exchanges break the contract."""

from collections.abc import Iterator

from mockserver import jsontext
from mockserver.contract import Contract, Operation
from mockserver.recordings import RecordedExchange, Recording

Breach = tuple[int, str, str, str]
"""An exchange's place and name, `request` or `response`, and what breaks the contract."""


def breaches(recording: Recording, contract: Contract) -> Iterator[Breach]:
    """Yield where exchanges break the contract.

    A request counts where the service accepted it: to refuse a wrong one keeps the contract. Parts
    that a recorder has removed do not count.
    """
    for index, one in enumerate(recording.exchanges):
        operation = contract.get(one.operation)
        if operation is None:
            dialect = contract.dialect.name
            message = f"the dialect {dialect!r} has no operation {one.operation!r}"
            yield index, one.name, "operation", message
            continue
        for part, message in _of(one, operation):
            yield index, one.name, part, message


def _of(one: RecordedExchange, operation: Operation) -> Iterator[tuple[str, str]]:
    if one.response_omitted:
        return
    try:
        body = one.response_json()
    except jsontext.NotJson as error:
        yield "response", f"the answer is no JSON: {error}"
        return
    for violation in operation.response_violations(body):
        yield "response", str(violation)
    if not operation.generation.succeeded(body) or one.request_omitted:
        return
    removed = {name.lower() for name in one.removed}
    for violation in operation.read(one.request).violations:
        if not any(str(part).lower() in removed for part in violation.path):
            yield "request", f"was taken although {violation}"
