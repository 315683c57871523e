"""OpenAPI documents for generators of clients: named objects, and no conditions.

The documents of `openapi.py` say all that is known, in keywords that generators do not read:
conditions, `allOf` around single fields, envelopes whose `data` depends on their `code`. These say
less, in forms that generators turn into types.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mockserver import jsontext
from mockserver.jsontext import Schema

_REFERENCE = "#/components/schemas/"
_METHODS = ("get", "put", "post", "delete", "patch")
_DROPPED = frozenset(
    {
        *("$schema", "allOf", "contains", "dependentRequired", "dependentSchemas", "else", "if"),
        *("maxContains", "minContains", "minProperties", "not", "patternProperties"),
        *("propertyNames", "then", "title", "unevaluatedItems", "unevaluatedProperties"),
    }
)
_SCALARS: list[dict[str, Any]] = [
    {"type": kind} for kind in ("string", "number", "boolean", "null")
]
_MOST_NESTED_ARRAYS = 3
_PAST_INT64 = 2**63


def flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with the same operations, whose objects are named components.

    An answer that is a success or a refusal becomes one of two named objects. Whatever the flat
    document excludes the precise one excludes as well, never the other way round: a generated
    client takes every right answer.
    """
    names = _Names()
    components = document.get("components", {})
    shared = components.get("schemas", {})
    for name, schema in shared.items():
        names.add(name, _simple(schema, name, names))
    paths = {
        path: {
            method: _operation(described, names) if method in _METHODS else described
            for method, described in item.items()
        }
        for path, item in document["paths"].items()
    }
    about = {key: value for key, value in document.items() if key not in ("paths", "components")}
    schemas = dict(sorted(names.schemas.items()))
    return {**_plain(about), "paths": paths, "components": {**components, "schemas": schemas}}


def _any_value(nested_arrays: int) -> dict[str, Any]:
    """Return the schema of any JSON value, in which arrays stand in arrays so many times."""
    # An object may contain itself in every generator, an alternative of a union only in some.
    parts = [*_SCALARS, {"$ref": f"{_REFERENCE}JsonObject"}]
    if nested_arrays:
        parts.append({"type": "array", "items": _any_value(nested_arrays - 1)})
    return {"oneOf": parts}


# Where any JSON is right, its type says so by name.
_JSON: Mapping[str, Any] = {
    "JsonValue": {"description": "any JSON value", **_any_value(_MOST_NESTED_ARRAYS)},
    "JsonObject": {
        "description": "any JSON object",
        "type": "object",
        "additionalProperties": _any_value(_MOST_NESTED_ARRAYS),
    },
}


class _Names:
    """The named objects of a document; the same object has one name wherever it stands."""

    def __init__(self) -> None:
        self.schemas: dict[str, Any] = {}
        self._by_content: dict[str, str] = {}

    def add(self, name: str, schema: Schema) -> dict[str, str]:
        """Return a reference to an object under a name, or under the one that it has already."""
        described = {key: value for key, value in schema.items() if key != "description"}
        content = jsontext.canonical(described)
        known = self._by_content.get(content)
        if known is None:
            known, number = name, 2
            # Numbered, since another object may have this name: generators want each name once.
            while known in self.schemas:
                known, number = f"{name}{number}", number + 1
            self._by_content[content] = known
            self.schemas[known] = dict(schema)
        return {"$ref": _REFERENCE + known}

    def any_json(self, name: str, schema: Schema) -> dict[str, Any]:
        """Return a reference to the type of any JSON value or object, with what it is for."""
        self.schemas |= _JSON
        described = {"description": schema["description"]} if "description" in schema else {}
        return {"$ref": _REFERENCE + name, **described}


def _operation(operation: Schema, names: _Names) -> dict[str, Any]:
    name = _capital(operation["operationId"])
    described = _plain(operation)
    if "parameters" in operation:
        described["parameters"] = [
            {**_plain(parameter), "schema": _parameter(parameter, name, names)}
            for parameter in operation["parameters"]
        ]
    if "requestBody" in operation:
        described["requestBody"] = _content(operation["requestBody"], f"{name}Request", names)
    described["responses"] = {
        status: _content(answer, _answer_name(name, status), names)
        for status, answer in operation["responses"].items()
    }
    return described


def _answer_name(name: str, status: str) -> str:
    return f"{name}Answer" if status == "200" else f"{name}Answer{status}"


def _parameter(parameter: Schema, name: str, names: _Names) -> Any:
    schema = _simple(parameter["schema"], f"{name}{_capital(parameter['name'])}", names)
    return schema if "$ref" in schema or "type" in schema else {**schema, "type": "string"}


def _content(part: Schema, name: str, names: _Names) -> dict[str, Any]:
    content = {
        media: {**_plain(shown), "schema": _either(shown["schema"], name, names)}
        for media, shown in part["content"].items()
    }
    return {**_plain(part), "content": content}


def _either(schema: Schema, name: str, names: _Names) -> Any:
    """Return the schema of a body; an envelope becomes a success or a refusal."""
    if "if" not in schema or "then" not in schema:
        return _simple(schema, name, names)
    branch = {key: value for key, value in schema.items() if key not in ("if", "then", "else")}
    if "properties" not in branch:
        # An answer that has an envelope only where it is refused.
        parts = [_either(schema[key], name, names) for key in ("else", "then") if key in schema]
        return {"anyOf": [variant for part in parts for variant in part.get("anyOf", [part])]}
    success = _merged({**branch, "allOf": [*_conditions(branch, schema["if"]), schema["then"]]})
    # The condition itself comes last: its `const` is what tells a success from a refusal.
    success = _merged({"allOf": [success, schema["if"]]})
    success.pop("description", None)
    data = _merged(success["properties"]["data"])
    # openapi-generator tries alternatives by their names: that of a success goes before `Refusal`.
    named = f"Accepted{data.get('x-name', name).removesuffix('Data').removesuffix('Answer')}"
    # A refusal has no result, whatever stands in its `data`.
    members = {key: part for key, part in branch["properties"].items() if key != "data"}
    refusal = {**branch, "properties": members, "description": "the service says no"}
    # Not `oneOf`: a success has all that a refusal has, so both fit it. Readers take the first.
    return {"anyOf": [_simple(success, named, names), _simple(refusal, "Refusal", names)]}


def _conditions(schema: Schema, condition: Schema) -> list[Schema]:
    """Return what else holds under a condition, and the parts of `allOf` that have none."""
    parts = schema.get("allOf", ())
    return [part.get("then", part) for part in parts if "if" not in part or part["if"] == condition]


def _merged(schema: Schema) -> dict[str, Any]:
    """Return a schema with its `allOf` taken into it; what it says itself goes first."""
    merged: dict[str, Any] = dict(schema)
    # Popped, and not kept beside: generators read `allOf` as inheritance.
    for part in merged.pop("allOf", ()):
        for keyword, value in _merged(part).items():
            merged[keyword] = _joined(keyword, merged.get(keyword), value)
    return merged


def _joined(keyword: str, first: Any, second: Any) -> Any:
    """Return what a keyword says where two schemas hold together."""
    if first is None:
        return second
    match keyword:
        case "required":
            return list(dict.fromkeys([*first, *second]))
        case "properties":
            return {
                name: _merged(
                    {"allOf": [part for part in (first.get(name), second.get(name)) if part]}
                )
                for name in dict.fromkeys([*first, *second])
            }
        case "items":
            return _merged({"allOf": [first, second]})
        case "description":
            return first if second in first else f"{first}; {second}"
        case "enum":
            return [item for item in first if item in second]
        case "const" | "pattern":
            # The later part says it more exactly.
            return second
        case _:
            return first


def _simple(schema: Any, name: str, names: _Names) -> Any:
    """Return a schema in the keywords that generators read; objects become references."""
    if isinstance(schema, bool) or "$ref" in schema:
        return schema
    merged = _merged(schema)
    if "x-client" in merged:
        return _simple(merged["x-client"], name, names)
    named = merged.get("x-name", name)
    if named in _JSON:
        return names.any_json(named, merged)
    simple = {
        key: value
        for key, value in merged.items()
        if key not in _DROPPED and not key.startswith("x-")
    }
    for keyword in ("oneOf", "anyOf"):
        if keyword in simple:
            return _variants(simple, keyword, named, names)
    _with_type(simple)
    if "type" not in simple:
        return names.any_json("JsonValue", simple)
    _with_width(simple)
    if simple["type"] == "object" and not simple.keys() & {"properties", "additionalProperties"}:
        return names.any_json("JsonObject", simple)
    if simple["type"] == "array" and "items" not in simple:
        simple["items"] = names.any_json("JsonValue", {})
    if "items" in simple:
        simple["items"] = _simple(simple["items"], _singular(named), names)
    if isinstance(simple.get("additionalProperties"), Mapping):
        inner = _simple(simple["additionalProperties"], _singular(named), names)
        simple["additionalProperties"] = inner
    if not simple.get("properties"):
        simple.pop("properties", None)
        return simple
    simple["properties"] = {
        key: _simple(part, f"{named}{_capital(key)}", names)
        for key, part in simple["properties"].items()
    }
    return names.add(named, simple)


def _variants(simple: dict[str, Any], keyword: str, name: str, names: _Names) -> Any:
    """Return alternatives, each named by its title; what stands around them goes into each."""
    around = {key: value for key, value in simple.items() if key not in (keyword, "discriminator")}
    parts = [
        _simple(
            _merged({**part, "allOf": [*part.get("allOf", ()), around]}),
            f"{name}{_capital(str(part.get('title', number)))}",
            names,
        )
        for number, part in enumerate(simple[keyword], start=1)
    ]
    described = {"description": around["description"]} if "description" in around else {}
    unique = [part for number, part in enumerate(parts) if part not in parts[:number]]
    if len(unique) == 1:
        return unique[0]
    if all("$ref" in part for part in unique):
        return {**described, keyword: unique, **_discriminator(simple, unique)}
    return {**described, keyword: unique}


def _discriminator(simple: Schema, parts: Iterable[Schema]) -> dict[str, Any]:
    if "discriminator" not in simple:
        return {}
    # From the schema before it was made plain: the constant is a list of one value afterwards.
    values = [part["properties"] for part in simple["oneOf"]]
    member = simple["discriminator"]["propertyName"]
    mapping = {
        properties[member]["const"]: part["$ref"]
        for properties, part in zip(values, parts, strict=True)
    }
    return {"discriminator": {"propertyName": member, "mapping": mapping}}


def _with_type(simple: dict[str, Any]) -> None:
    if "const" in simple:
        # Generators read a list of one value, and not all of them the keyword for it.
        simple["enum"] = [simple.pop("const")]
    if "type" in simple:
        return
    if "properties" in simple or "additionalProperties" in simple:
        simple["type"] = "object"
    elif "items" in simple:
        simple["type"] = "array"
    # Before lengths and patterns: an enumeration may be of numbers.
    elif "enum" in simple:
        kinds = dict.fromkeys(jsontext.type_of(item) for item in simple["enum"])
        simple["type"] = next(iter(kinds)) if len(kinds) == 1 else list(kinds)
    elif "pattern" in simple or "maxLength" in simple:
        simple["type"] = "string"


def _with_width(simple: dict[str, Any]) -> None:
    """Say how wide a number is, or typed languages take 32 bits: too few for a time in ms."""
    # An integer that needs more than 64 bits, such as an address as a number, gets no width.
    kinds = [simple["type"]] if isinstance(simple["type"], str) else simple["type"]
    if "integer" in kinds and simple.get("maximum", 0) < _PAST_INT64:
        simple.setdefault("format", "int64")
    elif "number" in kinds:
        simple.setdefault("format", "double")


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a document without the keywords of this project."""
    return {key: part for key, part in value.items() if not key.startswith("x-")}


def _capital(name: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", name)
    return "".join(word[0].upper() + word[1:] for word in words)


def _singular(name: str) -> str:
    """Return a name for an item of what has a name: `Tokens` has a `Token`, `List` an item."""
    if name.endswith("s") and not name.endswith(("as", "is", "ss", "us")):
        return name[:-1]
    return f"{name}Item"
