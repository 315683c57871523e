"""The contract as data: the endpoint table and JSON Schemas, loaded and ready to judge messages."""

from mockserver.contract.contract import Assumption, Contract
from mockserver.contract.dialect import Dialect, Erratum, UnknownDialect
from mockserver.contract.envelope import Generation, RefusalRule
from mockserver.contract.load import ContractSource, load
from mockserver.contract.operation import Operation
from mockserver.contract.reading import Field, Inputs, Reading, describe, sentence

__all__ = [
    "Assumption",
    "Contract",
    "ContractSource",
    "Dialect",
    "Erratum",
    "Field",
    "Generation",
    "Inputs",
    "Operation",
    "Reading",
    "RefusalRule",
    "UnknownDialect",
    "describe",
    "load",
    "sentence",
]
