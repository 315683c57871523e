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
    for index, recorded_exchange in enumerate(recording.exchanges):
        operation = contract.get(recorded_exchange.operation)
        if operation is None:
            dialect = contract.dialect.name
            message = f"the dialect {dialect!r} has no operation {recorded_exchange.operation!r}"
            yield index, recorded_exchange.name, "operation", message
            continue
        for part, message in _of(recorded_exchange, operation):
            yield index, recorded_exchange.name, part, message


def _of(recorded_exchange: RecordedExchange, operation: Operation) -> Iterator[tuple[str, str]]:
    if recorded_exchange.response_omitted:
        return
    try:
        body = recorded_exchange.response_json()
    except jsontext.NotJson as error:
        yield "response", f"the answer is no JSON: {error}"
        return
    for violation in operation.response_violations(body):
        yield "response", str(violation)
    if not operation.generation.succeeded(body) or recorded_exchange.request_omitted:
        return
    removed = recorded_exchange.hidden("request")
    for violation in operation.read(recorded_exchange.request).violations:
        if not any(str(part).lower() in removed for part in violation.path):
            yield "request", f"was taken although {violation}"
