"""Writes the mappings with which WireMock serves the measured operations, as far as it can.

It checks queries by patterns and the submission against its schema, does the arithmetic of a quote
in a template, and keeps no orders: it says the same of every id.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_SUCCESS = '{"code":0,"msg":"success","data":'
_TYPE = {"Content-Type": "application/json; charset=utf-8"}
_TEMPLATE = ["response-template"]
_GROSS = "request.query.amount"
_REFUSAL: dict[str, Any] = {
    "priority": 10,
    "request": {"method": "POST", "urlPath": "/v1/submitOrder"},
    "response": {
        "status": 200,
        "headers": _TYPE,
        "body": '{"code":2,"msg":"this is no order as the schema has it","data":{}}',
    },
}
"""What is answered where nothing else matches."""


def write(folder: Path, data: Mapping[str, Any]) -> None:
    """Write one file of mappings below a root folder of WireMock."""
    (folder / "mappings").mkdir(parents=True)
    names = "|".join(one["nickName"] for one in data["chains"]["list"])
    symbols = "|".join(one["symbol"] for one in data["assets"]["list"])
    patterns = {"amount": "[0-9]+", "symbol": symbols, "fromChain": names, "toChain": names}
    fee = f"{{{{math (math {_GROSS} '*' 6) '/' 10000}}}}"
    quote = (
        f'{{"price":"{data["price"]}","outAmount":"{{{{{_GROSS}}}}}",'
        f'"outAmountUsd":"{{{{math {_GROSS} \'/\' 1000000}}}}","serviceFee":"{fee}",'
        '"gasFee":"300000","serviceFeeRate":"6"}'
    )
    standing = '{"status":"Pending","timestamp":1,"execHash":"","reason":"","amountOut":"0"}'
    new = '{"id":"{{randomInt lower=1 upper=2000000000}}"}'
    submitted = {"matchesJsonSchema": json.dumps(data["submission"]), "schemaVersion": "V202012"}
    mappings = [
        _mapping("GET", "/v1/getChain", json.dumps(data["chains"])),
        _mapping("GET", "/v1/getBridgeQuote", quote, query=patterns, templated=True),
        _mapping("POST", "/v1/submitOrder", new, body=submitted, templated=True),
        _mapping("GET", "/v1/checkOrder", standing, query={"id": "[0-9]+"}),
        _REFUSAL,
    ]
    (folder / "mappings" / "all.json").write_text(json.dumps({"mappings": mappings}))


def _mapping(
    method: str,
    path: str,
    answer: str,
    *,
    query: Mapping[str, str] | None = None,
    body: Mapping[str, str] | None = None,
    templated: bool = False,
) -> dict[str, Any]:
    wanted: dict[str, Any] = {"method": method, "urlPath": path}
    if query:
        wanted["queryParameters"] = {name: {"matches": text} for name, text in query.items()}
    if body:
        wanted["bodyPatterns"] = [body]
    told: dict[str, Any] = {"status": 200, "headers": _TYPE, "body": f"{_SUCCESS}{answer}}}"}
    return {
        "request": wanted,
        "response": {**told, "transformers": _TEMPLATE} if templated else told,
    }
