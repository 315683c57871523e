"""Calls of the flat documents: what their examples say is sent, operation by operation."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from mockserver import jsontext
from mockserver.contract import load
from mockserver.contract.flat_openapi import flat
from mockserver.contract.openapi import document, shipped_examples
from mockserver.server.control import ROWS
from mockserver.server.control.openapi import document as control_document

SMALL_ADDRESS = "0x" + "f4240".rjust(40, "0")
"""An address that JavaScript can write as a number, as v1 publishes `fromAddress`."""


@dataclass(frozen=True)
class Call:
    """A request of one operation in typed parts, and where generated code has it."""

    document: str
    operation: str
    method: str
    path: str
    tag: str
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    body: Any = None
    refused: bool = False

    def but(self, location: str, name: str, value: Any) -> "Call":
        """Return the call with another value of an input; it is to be refused."""
        if location == "body":
            return replace(self, body={**self.body, name: value}, refused=True)
        values = {**self.inputs[location], name: value}
        return replace(self, inputs={**self.inputs, location: values}, refused=True)

    @property
    def answer(self) -> str:
        """The name of the operation's module in Python."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.operation).lower()


@cache
def flat_document(name: str) -> dict[str, Any]:
    """Return the flat document `v1`, `v2` or `control`, as the command prints it."""
    if name == "control":
        made = control_document(ROWS)
    else:
        contract = load()
        made = document(contract, name, version="1", examples=shipped_examples(contract))
    value: dict[str, Any] = json.loads(jsontext.pretty(flat(made)))
    return value


def write_documents(folder: Path) -> None:
    for name in ("v1", "v2", "control"):
        (folder / f"{name}.json").write_text(json.dumps(flat_document(name)))


def examples_of(name: str) -> Iterator[Call]:
    """Yield the example of each operation of a document, in its order."""
    for path, item in flat_document(name)["paths"].items():
        for method, operation in item.items():
            inputs: dict[str, dict[str, Any]] = {}
            for parameter in operation.get("parameters", ()):
                if "example" in parameter:
                    inputs.setdefault(parameter["in"], {})[parameter["name"]] = parameter["example"]
            content = (
                operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            )
            body = content.get(
                "example", content.get("examples", {}).get("default", {}).get("value")
            )
            yield Call(
                name,
                operation["operationId"],
                method.upper(),
                path,
                operation["tags"][0],
                inputs,
                body,
            )


STEPS = (
    *(
        "postWorlds",
        "getClock",
        "postClock",
        "postOutages",
        "getOutages",
        "postFaults",
        "getFaults",
    ),
    *("postStubs", "postAt", "getOrders", "getJournal", "getCheck", "getAudit", "getBalances"),
)
"""Control calls whose examples need nothing before them."""


def _small(call: Call) -> Call:
    """Return a call of v1 for a user whose address is a number that JavaScript has."""
    if call.operation == "submitCrossChain":
        return replace(call, body={**call.body, "evmAddres": SMALL_ADDRESS, "fromAddress": 1000000})
    if call.operation == "getOrderDetailByHashAndEvmAddress":
        query = {**call.inputs["query"], "evmAddress": SMALL_ADDRESS}
        return replace(call, inputs={**call.inputs, "query": query})
    return call


def calls() -> list[Call]:
    """Return all operations of both generations, refused ones, and control calls."""
    v1 = [_small(call) for call in examples_of("v1")]
    v2 = list(examples_of("v2"))
    by_name = {call.operation: call for call in v2}
    refused = [
        by_name["getBridgeQuote"].but("query", "symbol", "USDTT"),
        by_name["checkOrder"].but("query", "id", "39999999999"),
        by_name["submitOrder"].but("body", "toChain", "NOWHERE"),
        next(call for call in v1 if call.operation == "getCrossChainQuote").but(
            "body", "fromChain", "NOWHERE"
        ),
    ]
    control = {call.operation: call for call in examples_of("control")}
    wrong = control["postOutages"].but("body", "chain", "NOWHERE")
    return [*v1, *v2, *refused, *(control[name] for name in STEPS), wrong]


def expected(call: Call) -> tuple[str, bool]:
    return call.operation, not call.refused
