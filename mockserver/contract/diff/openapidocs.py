"""OpenAPI 3.1 documents read into the neutral form; what is broken is told with its place."""

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from mockserver.contract.basis import Basis
from mockserver.contract.diff.canonical import canonical
from mockserver.contract.diff.envelopes import answer
from mockserver.contract.diff.nodes import Part
from mockserver.contract.diff.references import References
from mockserver.contract.diff.sides import Answer, Body, Input, Side, SideOperation
from mockserver.contract.diff.values import DOCUMENTED
from mockserver.contract.diff.wellformed import problems
from mockserver.errors import InvalidFile, Problem
from mockserver.validation import kind_of, shown

_METHODS = ("delete", "get", "head", "options", "patch", "post", "put", "trace")
_LOCATIONS = ("cookie", "header", "path", "query")
_FORMS = ("allowEmptyValue", "allowReserved", "explode", "style")
_WORDS = ("summary", "description")


def read_document(document: Any, file: PurePath | str, label: str) -> Side:
    """Return a document as one version. Raises `InvalidFile` with every problem of its schemas."""
    references = References(document, file)
    paths = _checked(document, references)
    reader = _Reader(references)
    operations = tuple(reader.operations(paths))
    reader.complain()
    return Side(label, references, operations)


def _checked(document: Any, references: References) -> Mapping[str, Any]:
    if not isinstance(document, Mapping) or not {"openapi", "swagger"} & set(document):
        text = "expected an OpenAPI 3.1 document, as `crosschain-mock openapi` writes it"
        raise references.broken("", text)
    version = document.get("openapi", document.get("swagger"))
    if not isinstance(version, str) or not version.startswith("3.1"):
        raise references.broken("openapi", f"expected version 3.1, got {shown(version)}")
    return _mapping(document.get("paths"), "paths", references)


class _Reader:
    """Reads the operations of one document, noting what is broken on the way."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._problems: list[Problem] = []
        self._checked: set[int] = set()

    def complain(self) -> None:
        """Raise `InvalidFile` where a schema is broken."""
        components = self._references.document.get("components", {})
        schemas = components.get("schemas", {}) if isinstance(components, Mapping) else {}
        for name, schema in _mapping(schemas, "components.schemas", self._references).items():
            self._look_over(schema, f"components.schemas.{name}")
        if self._problems:
            raise InvalidFile(self._problems)

    def operations(self, paths: Mapping[str, Any]) -> Iterator[SideOperation]:
        """Yield the operations in the order of the document."""
        for path, raw in paths.items():
            place = f"paths.{path}"
            item = self._mapping(raw, place)
            for method, operation in item.items():
                if method in _METHODS:
                    yield self._operation(path, method, operation, item)

    def _operation(
        self, path: str, method: str, raw: Any, item: Mapping[str, Any]
    ) -> SideOperation:
        place = f"paths.{path}.{method}"
        row = self._mapping(raw, place)
        basis = DOCUMENTED.below(row)
        name = str(row.get("operationId", f"{method.upper()} {path}"))
        generation = name.partition(".")[0] if name.startswith(("v1.", "v2.")) else ""
        given = [*_list(item.get("parameters", []), place, self._references)]
        given += _list(row.get("parameters", []), place, self._references)
        inputs = {
            (one.location, one.name.lower()): one
            for index, parameter in enumerate(given)
            for one in [self._input(parameter, f"{place}.parameters[{index}]", basis)]
        }
        return SideOperation(
            id=name,
            generation=generation,
            method=method.upper(),
            path=path,
            section=basis,
            inputs=tuple(inputs.values()),
            body=self._body(row.get("requestBody"), place, basis),
            answers=self._answers(row.get("responses", {}), place, basis),
            words={key: str(row[key]) for key in _WORDS if key in row},
            deprecated=row.get("deprecated") is True,
            auth=self._auth(row),
            basis=basis,
        )

    def _input(self, raw: Any, place: str, basis: Basis) -> Input:
        row = self._mapping(raw, place)
        name, location = row.get("name"), row.get("in")
        if not isinstance(name, str) or location not in _LOCATIONS:
            text = f"expected a name, and in: one of {', '.join(_LOCATIONS)}"
            raise self._references.broken(place, text)
        schema = row.get("schema")
        if schema is None:
            media = self._media(row.get("content", {}), place)
            schema = next(iter(media.values()), {})
        else:
            self._look_over(schema, f"{place}.schema")
        words = {"description": row["description"]} if "description" in row else {}
        role = schema.get("x-role", "") if isinstance(schema, Mapping) else ""
        basis = basis.below(row)
        return Input(
            location,
            name,
            row.get("required") is True,
            (*((Part(words, basis),) if words else ()), Part(schema, basis)),
            str(role),
            canonical({key: row[key] for key in _FORMS if key in row}),
            row.get("deprecated") is True,
        )

    def _body(self, raw: Any, place: str, basis: Basis) -> Body | None:
        if raw is None:
            return None
        row = self._mapping(raw, f"{place}.requestBody")
        media = self._media(row.get("content", {}), f"{place}.requestBody")
        parts = {name: (Part(schema, basis),) for name, schema in media.items()}
        return Body(row.get("required") is True, parts)

    def _answers(self, raw: Any, place: str, basis: Basis) -> dict[str, Answer]:
        found = {}
        for status, response in self._mapping(raw, f"{place}.responses").items():
            at = f"{place}.responses.{status}"
            row = self._mapping(response, at)
            media = self._media(row.get("content", {}), at)
            if not self._problems:
                found[str(status)] = answer(media, basis, self._references)
        return found

    def _media(self, raw: Any, place: str) -> dict[str, Any]:
        found = {}
        for name, value in self._mapping(raw, f"{place}.content").items():
            at = f"{place}.content.{name}"
            schema = self._mapping(value, at).get("schema", {})
            self._look_over(schema, f"{at}.schema")
            found[name.partition(";")[0].strip().lower()] = schema
        return found

    def _auth(self, row: Mapping[str, Any]) -> frozenset[str] | None:
        document = self._references.document
        given = row.get("security", document.get("security"))
        if given is None:
            return None
        components = document.get("components", {})
        schemes = components.get("securitySchemes", {}) if isinstance(components, Mapping) else {}
        found = set()
        for one in _list(given, "security", self._references):
            named = self._mapping(one, "security")
            found.add(" and ".join(sorted(_scheme(name, schemes) for name in named)) or "none")
        return frozenset(found or {"none"})

    def _mapping(self, value: Any, place: str) -> Mapping[str, Any]:
        followed = self._references.followed(value, place)
        return _mapping(followed, place, self._references)

    def _look_over(self, schema: Any, place: str) -> None:
        self._problems.extend(problems(schema, self._references, place, self._checked))


def _scheme(name: str, schemes: Any) -> str:
    row = schemes.get(name) if isinstance(schemes, Mapping) else None
    if not isinstance(row, Mapping):
        return name
    told = [str(row[key]) for key in ("type", "scheme", "in", "name") if key in row]
    return f"{name} ({' '.join(told)})"


def _mapping(value: Any, place: str, references: References) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise references.broken(place, f"expected an object, got {kind_of(value)}")
    return value


def _list(value: Any, place: str, references: References) -> list[Any]:
    if not isinstance(value, list):
        raise references.broken(place, f"expected a list, got {kind_of(value)}")
    return value
