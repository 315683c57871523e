"""The contract as data: the endpoint table and JSON Schemas, loaded and ready to validate messages.

`load.py` reads `schemas/`, `dialect.py` applies errata, `request_reading.py` validates requests,
`answer_writing.py` writes answers. `openapi.py` and `reference_pages.py` make documents.
"""

from mockserver.contract.dialect import Dialect, Erratum, UnknownDialect
from mockserver.contract.facts import (
    Basis,
    BasisKind,
    Fact,
    FactRegister,
    Layer,
    UnknownFact,
    Verdict,
    fact_basis,
    shipped_facts,
)
from mockserver.contract.input_fields import Field, Inputs, describe, sentence
from mockserver.contract.load import Assumption, Contract, ContractSource, load
from mockserver.contract.operation import Generation, Operation, RefusalRule

__all__ = [
    "Assumption",
    "Basis",
    "BasisKind",
    "Contract",
    "ContractSource",
    "Dialect",
    "Erratum",
    "Fact",
    "FactRegister",
    "Field",
    "Generation",
    "Inputs",
    "Layer",
    "Operation",
    "RefusalRule",
    "UnknownDialect",
    "UnknownFact",
    "Verdict",
    "describe",
    "fact_basis",
    "load",
    "sentence",
    "shipped_facts",
]
