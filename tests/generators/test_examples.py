"""Each example of each document is answered as a success by a server as it starts by default."""

import json
import urllib.error
import urllib.parse
import urllib.request

import pytest

from mockserver import jsontext
from mockserver.contract import load
from mockserver.contract.openapi import document, shipped_examples
from mockserver.server.control import ROWS
from mockserver.testing import running
from tests.generators.calls import examples_of, flat_document


def send(address, method, path, inputs, body):
    query = {
        name: json.dumps(value) if isinstance(value, bool) else str(value)
        for name, value in inputs.get("query", {}).items()
    }
    for name, value in inputs.get("path", {}).items():
        path = path.replace(f"{{{name}}}", value)
    headers = {name: str(value) for name, value in inputs.get("header", {}).items()}
    raw = None if body is None else jsontext.encode(body)
    target = f"{address}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
    request = urllib.request.Request(target, raw, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


def operations(generation, dialect):
    contract = load(dialect)
    examples = shipped_examples(contract)
    made = json.loads(
        jsontext.pretty(document(contract, generation, version="1", examples=examples))
    )
    for path, item in made["paths"].items():
        for method, operation in item.items():
            needs = contract.operation(f"{generation}.{operation['operationId']}").row.get(
                "example_needs"
            )
            yield (path, method.upper(), operation), needs


def bodies(operation):
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if not content:
        return [None]
    shown = [content["example"]] if "example" in content else []
    return [*shown, *(example["value"] for example in content.get("examples", {}).values())]


@pytest.mark.parametrize("dialect", ["documented", "observed"])
@pytest.mark.parametrize("generation", ["v1", "v2"])
def test_operations(generation, dialect):
    count = 0
    # Observed services take no time-out above 20 s, so that no example holds for long.
    clock = "real" if dialect == "documented" else "frozen"
    shown = {
        operation[2]["operationId"]: (operation, needs)
        for operation, needs in operations(generation, dialect)
    }
    with running(clock=clock, dialect=dialect) as server:
        for name, (operation, needs) in shown.items():
            for body in bodies(operation[2]):
                address = f"{server.url}/w/{name}-{count}"
                if needs is not None:
                    earlier = shown[needs.partition(".")[2]][0]
                    assert succeeded(address, earlier, bodies(earlier[2])[0])
                assert succeeded(address, operation, body)
                count += 1
    assert count > 6


def succeeded(address, operation, body):
    path, method, described = operation
    inputs: dict[str, dict[str, object]] = {}
    for parameter in described.get("parameters", ()):
        if "example" in parameter:
            inputs.setdefault(parameter["in"], {})[parameter["name"]] = parameter["example"]
    answer = json.loads(send(address, method, path, inputs, body))
    assert answer.get("code", 0) in (0, 200), (described["operationId"], answer)
    return True


def test_control_calls():
    rows = {(row.method, f"/__mock{row.path}"): row for row in ROWS}
    headers = {"EvmAddress": "0x" + "1" * 40, "Signature": "ab" * 65}
    with running(clock="real") as server:
        for number, call in enumerate(examples_of("control")):
            if call.operation == "getEvents":
                continue  # it goes on for ever
            if call.path == "/__mock/chains/{chain}/{area}":
                continue  # a transaction that is taken is signed, and spends what this world has
            row = rows[call.method, call.path]
            address = f"{server.url}/w/example-{number}"
            body = call.body
            for line, earlier in row.example.before:
                method, _, path = line.partition(" ")
                from_root = server.url if path.startswith("/w/") else address
                send(from_root, method, path, {"header": headers}, earlier)
            if row.example.body_from:
                method, _, path = row.example.body_from.partition(" ")
                body = json.loads(send(address, method, path, {}, None))
            assert json.loads(send(address, call.method, call.path, call.inputs, body)) is not None
            # An app key belongs to one world, where the call has made any.
            worlds = json.loads(send(server.url, "GET", "/__mock/worlds", {}, None))["worlds"]
            if any(world["key"] == f"example-{number}" for world in worlds):
                send(server.url, "DELETE", f"/__mock/worlds/example-{number}", {}, None)
            if row.example.before:
                assert "Before the example" in summary_of(call)


def summary_of(call):
    return flat_document("control")["paths"][call.path][call.method.lower()]["description"]
