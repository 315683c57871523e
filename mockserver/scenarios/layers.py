"""A file and the files it extends, as one value that still knows where each field stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mockserver.documents import Document, FieldPath, read
from mockserver.errors import InvalidFile, Problem
from mockserver.jsontext import Json
from mockserver.scenarios.library import located


@dataclass(frozen=True, slots=True)
class Layers:
    """Documents of which the first extends the second and so on, with their merged value.

    Maps are merged key by key, to any depth; lists and single values replace what they extend.
    """

    documents: Sequence[Document]
    value: Mapping[str, Json]

    def problem(self, path: FieldPath, message: str) -> Problem:
        """Return a problem at a field, placed in the file that the field's value comes from."""
        return self.owner(path).problem(path, message)

    def owner(self, path: FieldPath) -> Document:
        """Return the file that gives the value at a path, or the nearest that encloses it."""
        found = [(document, document.value) for document in self.documents]
        for part in path:
            inside = [(document, value[part]) for document, value in found if _has(value, part)]
            if not inside:
                break
            # What is not a map replaces all that it extends.
            found = inside if isinstance(inside[0][1], Mapping) else inside[:1]
        return found[0][0]


def layered(document: Document) -> Layers:
    """Return a scenario's document with all that it extends.

    Raises `InvalidFile` where one of them cannot be read or extends itself.
    """
    documents = [document]
    while (name := documents[-1].value.get("extends")) is not None:
        documents.append(_extended(documents, name))
    value: dict[str, Any] = {}
    for layer in reversed(documents):
        value = _merged(value, layer.value)
    return Layers(documents, value)


def _extended(documents: Sequence[Document], name: str) -> Document:
    last = documents[-1]
    try:
        file = located("scenarios", name, last.file.parent)
    except InvalidFile as error:
        text = error.problems[0].message
        raise InvalidFile([last.problem(("extends",), text)]) from None
    seen = [document.file.resolve() for document in documents]
    if file.resolve() in seen:
        way = " -> ".join(document.file.name for document in documents)
        text = f"a scenario cannot extend itself: {way} -> {file.name}"
        raise InvalidFile([last.problem(("extends",), text)])
    return read(file, "scenario")


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = _merged(old, value)
        else:
            merged[key] = value
    return merged


def _has(value: Json, part: str | int) -> bool:
    if isinstance(value, Mapping):
        return part in value
    return isinstance(value, list) and isinstance(part, int) and part < len(value)
