"""Operations: wire names on one side, meaning on the other; nothing is parsed or wrapped here."""

from mockserver.operations.mapping import OPERATIONS, OperationFunction, field_about

__all__ = ["OPERATIONS", "OperationFunction", "field_about"]
