"""The contract that strategies are derived from, and its operations by name."""

from mockserver.contract import Operation, load
from mockserver.errors import CrosschainMockError
from mockserver.violations import did_you_mean


class UnknownOperation(CrosschainMockError):
    """An operation or a generation that the dialect does not have."""


def operation_of(name: str, dialect: str) -> Operation:
    """Return an operation such as `v2.checkOrder`. Raises `UnknownOperation`, `UnknownDialect`."""
    contract = load(dialect)
    try:
        return contract.operation(name)
    except KeyError:
        known = [operation.id for operation in contract]
        raise UnknownOperation(
            f"the dialect {dialect!r} has no operation {name!r}{did_you_mean(name, known)}"
        ) from None
