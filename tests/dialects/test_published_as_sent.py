"""What was published is sent as it stands, and answered as published, or the table says why not.

Likewise what the OpenAPI documents show.
"""

import json
from pathlib import Path

import pytest
import yaml

from mockserver.clock import wall_ms
from mockserver.contract import load
from mockserver.contract.flat_openapi import flat
from mockserver.contract.openapi import document, shipped_examples
from mockserver.server.assembly import Settings
from tests.conftest import Client, running

EXAMPLES = yaml.safe_load(Path(__file__).with_name("published.yaml").read_text("utf-8"))
SERVERS = {
    "documented": Settings(check_answers=True),
    "default": Settings(check_answers=True, dialect="observed"),
    "examples": Settings(check_answers=True, dialect="observed", scenario="published-examples"),
}


@pytest.fixture(scope="module")
def servers():
    opened = {name: running(settings) for name, settings in SERVERS.items()}
    yield {name: context.__enter__().client for name, context in opened.items()}
    for context in opened.values():
        context.__exit__(None, None, None)


def sent(client: Client, example):
    """Send an example as it stands; what is stamped gets the time of now."""
    method = "GET" if "get" in example else "POST"
    path, _, query = example[method.lower()].partition("?")
    headers, body = example.get("headers", {}), example.get("body")
    if example.get("stamped"):
        headers = {"appKey": "k", "expireTime": "15000", "timestamp": str(wall_ms())}
        headers["signature"] = "ab" * 32
    if isinstance(body, dict) and "sourceCerts" in body:
        certificate = json.dumps(body["sourceCerts"], separators=(",", ":")).encode().hex()
        body = {**body, "sourceCerts": certificate}
    raw = None if body is None else json.dumps(body).encode()
    return client.call(method, path, query=query, headers=headers, body=raw)


def lacking(answer, example):
    """Return what an answer has otherwise than was published."""
    told = json.loads(answer.raw)
    success = 200 if "/open/" in str(example) else 0
    wanted = {"code": example.get("code", success)}
    wanted |= {"msg": example["msg"]} if "msg" in example else {}
    wrong = {name: told.get(name) for name, value in wanted.items() if told.get(name) != value}
    data = told.get("data") or {}
    for path, value in example.get("gives", {}).items():
        place = data
        for name in path.split("."):
            place = place.get(name) if isinstance(place, dict) else None
        if place != value:
            wrong[path] = place
    if item := example.get("holds"):
        listed = next((value for value in data.values() if isinstance(value, list)), [])
        if not any(item.items() <= one.items() for one in listed if isinstance(one, dict)):
            wrong["list"] = f"no item has {item}"
    return {**wrong, "refusal": answer.headers.get("x-mock-refusal")} if wrong else {}


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["id"] for example in EXAMPLES])
def test_a_published_example_is_answered_as_published(servers, example):
    wrong = lacking(sent(servers[example["server"]], example), example)
    assert bool(wrong) is ("not" in example), wrong


# The order number of this one holds the moment of an order that there is not.
WITHOUT_ORDER = ["/open/v1/order/getOrderDetail"]


def shown(described):
    """Yield what a document shows as a request of an operation: headers, query, body."""
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    for parameter in described.get("parameters", []):
        if "example" in parameter:
            text = parameter["example"]
            place = query if parameter["in"] == "query" else headers
            place[parameter["name"]] = str(text).lower() if isinstance(text, bool) else str(text)
    content = described.get("requestBody", {}).get("content", {}).get("application/json", {})
    bodies = [value["value"] for value in content.get("examples", {}).values()]
    bodies += [content["example"]] if "example" in content else []
    for body in bodies or [None]:
        yield headers, query, body


@pytest.mark.parametrize("dialect", ["documented", "observed"])
@pytest.mark.parametrize("for_generators", [False, True])
def test_what_an_openapi_document_shows_is_answered_on_every_day(dialect, for_generators):
    contract = load(dialect)
    refused = []
    for generation in ("v1", "v2"):
        made = document(contract, generation, version="1", examples=shipped_examples(contract))
        made = flat(made) if for_generators else made
        with running(Settings(dialect=dialect, check_answers=True)) as server:
            requests = [
                (method.upper(), path, *request)
                for path, item in made["paths"].items()
                for method, described in item.items()
                for request in shown(described)
            ]
            # An order is looked up that was submitted.
            for method, path, headers, query, body in sorted(
                requests, key=lambda request: "submit" not in request[1]
            ):
                answer = server.client.call(method, path, query=query, headers=headers, body=body)
                # Of two bodies for one order the second has been submitted.
                if answer.refusal and not answer.refusal.startswith("hash-already-used"):
                    refused.append(path)
    assert refused == (WITHOUT_ORDER if dialect == "observed" else [])


def test_only_the_example_itself_has_no_age(serve):
    client = serve(dialect="observed", start_ms=1_767_225_600_000).client
    operation = load("observed").operation("v1.getCrossChainQuote")
    shown = operation.row["example"]
    headers = {name: str(text) for name, text in shown["headers"].items()}
    client.control("POST", "/clock", {"advance": "1h"})

    def refusal(**changes):
        return client.call(
            operation.method, operation.path, headers={**headers, **changes}, body=shown["body"]
        ).refusal

    assert refusal() == ""
    assert refusal(signature="ab" * 32).startswith("expired")
    assert refusal(appKey="mine").startswith("expired")
    assert refusal(timestamp="1767225600001").startswith("expired")
    client.control("POST", "/keys", {"appKey": "mine", "appSecret": "secret"})
    assert refusal().startswith("unknown-app-key")
