"""Programs in Python that make calls with what a generator made of the documents."""

import builtins
import re
from collections.abc import Iterable
from typing import Any

from tests.generators.calls import Call, flat_document


def _snake(name: str) -> str:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.replace("-", "_")).lower()
    return f"{snake}_" if hasattr(builtins, snake) and snake not in ("id", "type") else snake


def _enumerated(call: Call, location: str, name: str) -> bool:
    operation = flat_document(call.document)["paths"][call.path][call.method.lower()]
    return any(
        "enum" in parameter["schema"]
        for parameter in operation["parameters"]
        if (parameter["in"], parameter["name"]) == (location, name)
    )


def _schema_name(call: Call, part: str) -> str:
    operation = flat_document(call.document)["paths"][call.path][call.method.lower()]
    content = operation[part] if part == "requestBody" else operation["responses"]["200"]
    schema = content["content"]["application/json"]["schema"]
    if "oneOf" in schema and part == "requestBody":
        chosen = schema["discriminator"]["mapping"][
            call.body[schema["discriminator"]["propertyName"]]
        ]
        return str(chosen).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(item["$ref"].rpartition("/")[2] for item in schema["anyOf"])
    return str(schema["$ref"]).rpartition("/")[2]


def client_program(calls: Iterable[Call]) -> str:
    """Return a program for the packages of openapi-python-client."""
    calls = list(calls)
    imports, lines = set(), []
    for number, call in enumerate(calls):
        module = f"{call.document}_{call.answer}"
        imports.add(f"from {call.document}.api.{_snake(call.tag)} import {call.answer} as {module}")
        arguments: dict[str, str] = {}
        for location, values in call.inputs.items():
            for name, value in values.items():
                arguments[_snake(name)] = repr(value)
                if _enumerated(call, location, name):
                    words = call.operation[0].upper() + call.operation[1:]
                    enum = f"{words}{name[0].upper()}{name[1:]}"
                    imports.add(f"from {call.document}.models import {enum}")
                    arguments[_snake(name)] = f"{enum}({value!r})"
        if call.body is not None:
            model = _schema_name(call, "requestBody")
            imports.add(f"from {call.document}.models import {model}")
            arguments["body"] = f"{model}.from_dict({call.body!r})"
        given = "".join(f", {name}={value}" for name, value in arguments.items())
        lines.append(f"r{number} = {module}.sync_detailed(client={call.document}_client{given})")
        if call.document == "control":
            lines.append(
                f"report({call.operation!r}, r{number}.status_code == 200, r{number}.parsed)"
            )
        else:
            # The attribute `code` is there in every alternative of the type.
            lines.append(f"assert r{number}.parsed is not None")
            fine = f"int(r{number}.parsed.code) == 0"
            lines.append(f"report({call.operation!r}, {fine}, r{number}.parsed)")
    clients = [
        f"from {name} import Client as {name.title()}Client\n"
        f"{name}_client = {name.title()}Client(base_url=sys.argv[1])"
        for name in ("v1", "v2", "control")
    ]
    helper = (
        "def report(name: str, fine: bool, parsed: object) -> None:\n"
        "    assert parsed is not None, name\n"
        "    print(json.dumps([name, fine]))\n"
    )
    return "\n".join(["import json", "import sys", *sorted(imports), *clients, helper, *lines, ""])


def model_program(calls: Iterable[Call]) -> str:
    """Return a program for the models of datamodel-code-generator; urllib sends."""
    lines = []
    for number, call in enumerate(calls):
        answer = " | ".join(
            f"{call.document}.{name}" for name in _schema_name(call, "answer").split(" | ")
        )
        if call.document == "control":
            answer += f" | {call.document}.Error"
        body = "None"
        if call.body is not None:
            body = (
                f"{call.document}.{_schema_name(call, 'requestBody')}.model_validate({call.body!r})"
            )
        lines.append(f"a{number}: {answer} = TypeAdapter[{answer}]({answer}).validate_json(")
        inputs: dict[str, Any] = {key: dict(values) for key, values in call.inputs.items()}
        lines.append(f"    send({call.method!r}, {call.path!r}, {inputs!r}, {body})")
        lines.append(")")
        if call.document == "control":
            fine = f"not isinstance(a{number}, control.Error)"
        else:
            # Literals are members of an enumeration, or plain numbers.
            fine = f"int(getattr(a{number}.code, 'value', a{number}.code)) == 0"
        lines.append(f"print(json.dumps([{call.operation!r}, {fine}]))")
    return _MODEL_HEAD + "\n".join([*lines, ""])


_MODEL_HEAD = """import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping

import control
import v1
import v2
from pydantic import BaseModel, TypeAdapter


def send(
    method: str, path: str, inputs: Mapping[str, Mapping[str, object]], body: BaseModel | None
) -> bytes:
    query = {
        name: json.dumps(value) if isinstance(value, bool) else str(value)
        for name, value in inputs.get("query", {}).items()
    }
    headers = {name: str(value) for name, value in inputs.get("header", {}).items()}
    raw = None if body is None else body.model_dump_json(by_alias=True, exclude_unset=True).encode()
    address = sys.argv[1] + path + ("?" + urllib.parse.urlencode(query) if query else "")
    request = urllib.request.Request(address, raw, headers, method=method)
    if raw is not None:
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        return bytes(error.read())


"""
