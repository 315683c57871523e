"""OpenAPI 3.1 documents read into the neutral form; what is broken is reported with its place."""

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from mockserver.contract.diff.changes import DOCUMENTED
from mockserver.contract.diff.nodes import Part, Parts
from mockserver.contract.diff.references import References, problems
from mockserver.contract.diff.sides import Answer, Body, Input, Side, SideOperation
from mockserver.contract.facts import Basis
from mockserver.errors import InvalidFile, Problem
from mockserver.jsontext import Json, canonical
from mockserver.validation import excerpt

_METHODS = ("delete", "get", "head", "options", "patch", "post", "put", "trace")
_LOCATIONS = ("cookie", "header", "path", "query")
_STYLES = ("allowEmptyValue", "allowReserved", "explode", "style")
_JSON = "application/json"
_MOST_BRANCHES = 1000


def read_document(document: Any, file: PurePath | str, label: str) -> Side:
    """Return a document as one version. Raises `InvalidFile` with every problem of its schemas."""
    references = References(document, file)
    if not isinstance(document, Mapping) or not {"openapi", "swagger"} & set(document):
        text = "expected an OpenAPI 3.1 document, as `crosschain-mock openapi` writes it"
        raise references.broken("", text)
    version = document.get("openapi", document.get("swagger"))
    if not isinstance(version, str) or not version.startswith("3.1"):
        raise references.broken("openapi", f"expected version 3.1, got {excerpt(version)}")
    return Side(label, references, tuple(_Reader(references).operations()))


class _Reader:
    """Reads the operations of one document, noting what is broken on the way."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._problems: list[Problem] = []
        self._checked: set[int] = set()
        self._components = references.document.get("components", {})

    def operations(self) -> list[SideOperation]:
        """Return the operations in the order of the document, or raise with what is broken."""
        paths = self._references.mapping(self._references.document.get("paths"), "paths")
        found = []
        for path, raw in paths.items():
            item = self._references.mapping(raw, f"paths.{path}")
            found += [
                self._operation(path, method, operation, item)
                for method, operation in item.items()
                if method in _METHODS
            ]
        schemas = self._references.mapping(self._component("schemas"), "components.schemas")
        for name, schema in schemas.items():
            self._check(schema, f"components.schemas.{name}")
        if self._problems:
            raise InvalidFile(self._problems)
        return found

    def _component(self, name: str) -> Any:
        return self._components.get(name, {}) if isinstance(self._components, Mapping) else {}

    def _check(self, schema: Any, place: str) -> None:
        self._problems.extend(problems(schema, self._references, place, self._checked))

    def _operation(
        self, path: str, method: str, raw: Any, item: Mapping[str, Any]
    ) -> SideOperation:
        place = f"paths.{path}.{method}"
        row = self._references.mapping(raw, place)
        basis = DOCUMENTED.below(row)
        name = str(row.get("operationId", f"{method.upper()} {path}"))
        lists = [self._references.list(one.get("parameters", []), place) for one in (item, row)]
        inputs = {
            (one.location, one.name.lower()): one
            for index, parameter in enumerate([*lists[0], *lists[1]])
            for one in [self._input(parameter, f"{place}.parameters[{index}]", basis)]
        }
        return SideOperation(
            id=name,
            generation=name[:2] if name.startswith(("v1.", "v2.")) else "",
            method=method.upper(),
            path=path,
            section=basis,
            inputs=tuple(inputs.values()),
            body=self._body(row.get("requestBody"), f"{place}.requestBody", basis),
            answers=self._answers(row.get("responses", {}), f"{place}.responses", basis),
            words={key: str(row[key]) for key in ("summary", "description") if key in row},
            deprecated=row.get("deprecated") is True,
            auth=self._auth(row),
            basis=basis,
        )

    def _input(self, raw: Any, place: str, basis: Basis) -> Input:
        row = self._references.mapping(raw, place)
        name, location = row.get("name"), row.get("in")
        if not isinstance(name, str) or location not in _LOCATIONS:
            text = f"expected a name, and in: one of {', '.join(_LOCATIONS)}"
            raise self._references.broken(place, text)
        schema = row.get("schema")
        if schema is None:
            schema = next(iter(self._media(row, place).values()), {})
        else:
            self._check(schema, f"{place}.schema")
        basis = basis.below(row)
        words = [Part({"description": row["description"]}, basis)] if "description" in row else []
        return Input(
            location,
            name,
            row.get("required") is True,
            (*words, Part(schema, basis)),
            str(schema.get("x-role", "") if isinstance(schema, Mapping) else ""),
            canonical({key: row[key] for key in _STYLES if key in row}),
            row.get("deprecated") is True,
        )

    def _body(self, raw: Any, place: str, basis: Basis) -> Body | None:
        if raw is None:
            return None
        row = self._references.mapping(raw, place)
        media = self._media(row, place)
        parts = {name: (Part(schema, basis),) for name, schema in media.items()}
        return Body(row.get("required") is True, parts)

    def _answers(self, raw: Any, place: str, basis: Basis) -> dict[str, Answer]:
        found = {}
        for status, response in self._references.mapping(raw, place).items():
            at = f"{place}.{status}"
            media = self._media(self._references.mapping(response, at), at)
            if not self._problems:
                found[str(status)] = _answer(media, basis, self._references)
        return found

    def _media(self, row: Mapping[str, Any], place: str) -> dict[str, Any]:
        found, place = {}, f"{place}.content"
        for name, value in self._references.mapping(row.get("content", {}), place).items():
            at = f"{place}.{name}"
            schema = self._references.mapping(value, at).get("schema", {})
            self._check(schema, f"{at}.schema")
            found[name.partition(";")[0].strip().lower()] = schema
        return found

    def _auth(self, row: Mapping[str, Any]) -> frozenset[str] | None:
        given = row.get("security", self._references.document.get("security"))
        if given is None:
            return None
        schemes, found = self._component("securitySchemes"), set()
        for one in self._references.list(given, "security"):
            named = self._references.mapping(one, "security")
            found.add(" and ".join(sorted(_scheme(name, schemes) for name in named)) or "none")
        return frozenset(found or {"none"})


def _scheme(name: str, schemes: Any) -> str:
    row = schemes.get(name) if isinstance(schemes, Mapping) else None
    if not isinstance(row, Mapping):
        return name
    words = [str(row[key]) for key in ("type", "scheme", "in", "name") if key in row]
    return f"{name} ({' '.join(words)})"


def _answer(media: Mapping[str, Any], basis: Basis, references: References) -> Answer:
    """Return the answer of one status, whose envelope is known by a condition on its `code`."""
    whole = {name: (Part(schema, basis),) for name, schema in media.items()}
    schema = media.get(_JSON)
    if not isinstance(schema, Mapping):
        return Answer(whole)
    if schema.get("if") == {"required": ["code"]} and "else" in schema:
        # A success comes without an envelope, and a refusal in one.
        refused = schema.get("then", {})
        code = _success_code(_codes(refused, references))
        refusal = _decided(refused, basis, references, code, success=False)
        return Answer({**whole, _JSON: (Part(schema["else"], basis),)}, code, False, refusal)
    codes = _codes(schema, references)
    code = _success_code(codes)
    stated = [keyword for one, _ in codes for keyword in one]
    if code is None and "not" not in stated:
        return Answer(whole)
    held = _decided(schema, basis, references, code, success=code is not None)
    if code is not None and "const" not in stated and any("const" in one for _, one in codes):
        refusal = _decided(schema, basis, references, code, success=False)
        return Answer({**whole, _JSON: held}, code, True, refusal)
    return Answer({**whole, _JSON: held}, code)


Codes = list[tuple[Mapping[str, Any], Mapping[str, Any]]]
"""What each branch of an answer states of its `code`, and what its condition asks of it."""


def _codes(schema: Any, references: References) -> Codes:
    branches = _branches(schema, references)
    return [(_code_of(one) or {}, _code_of(one.get("if")) or {}) for one in branches]


def _branches(schema: Any, references: References) -> Iterator[Mapping[str, Any]]:
    """Yield the schemas that hold at the root of an answer."""
    waiting, seen = [schema], set[int]()
    while waiting and len(seen) < _MOST_BRANCHES:
        node = waiting.pop(0)
        if not isinstance(node, Mapping) or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if "$ref" in node:
            waiting.append(references.followed(node, ""))
        waiting.extend(node.get("allOf", ()))


def _code_of(node: Any) -> Mapping[str, Any] | None:
    properties = node.get("properties") if isinstance(node, Mapping) else None
    code = properties.get("code") if isinstance(properties, Mapping) else None
    return code if isinstance(code, Mapping) else None


def _success_code(codes: Codes) -> Json:
    """Return the code of success, from a constant or from the condition of what a success has."""
    return next((one["const"] for pair in codes for one in pair if "const" in one), None)


def _decided(
    schema: Any, basis: Basis, references: References, code: Json, *, success: bool
) -> Parts:
    """Return the parts that hold for a success or a refusal, their conditions on `code` decided."""
    parts: list[Part] = []
    waiting = [(schema, basis)]
    while waiting and len(parts) < _MOST_BRANCHES:
        node, inherited = waiting.pop(0)
        if not isinstance(node, Mapping):
            parts.append(Part(node, inherited))
            continue
        if set(node) == {"$ref"}:
            waiting.insert(0, (references.followed(node, ""), inherited))
            continue
        more, left = list(node.get("allOf", ())), {"allOf"}
        tested = _code_of(node.get("if")) or {}
        if "const" in tested and code in (None, tested["const"]):
            branch = "then" if success else "else"
            more += [node[branch]] if branch in node else []
            left |= {"if", "then", "else"}
        kept = {key: value for key, value in node.items() if key not in left}
        parts.append(Part(_with_open_code(kept, code), inherited))
        waiting[:0] = [(one, inherited.below(node)) for one in more]
    return tuple(parts)


def _with_open_code(node: dict[str, Any], success: Json) -> dict[str, Any]:
    """Return a node whose `code` is no longer held to the value that decided the branch."""
    code = _code_of(node)
    if code is None:
        return node
    decided = set()
    if "const" in code and code["const"] == success:
        decided.add("const")
    refused = code.get("not")
    if isinstance(refused, Mapping) and set(refused) == {"const"}:
        decided |= {"not"} if success in (None, refused["const"]) else set()
    free = {key: value for key, value in code.items() if key not in decided}
    return {**node, "properties": {**node["properties"], "code": free}} if decided else node
