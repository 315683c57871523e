"""References inside a document: followed, or told where they lead nowhere."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from mockserver.errors import InvalidFile, Problem
from mockserver.validation import shown
from mockserver.values import dataclass

_NOTHING = object()


@dataclass(frozen=True, slots=True)
class References:
    """The document that local references are looked up in."""

    document: Any
    file: PurePath | str

    def target(self, reference: object, place: str) -> Any:
        """Return what a reference names. Raises `InvalidFile` where it leads nowhere."""
        if not isinstance(reference, str):
            raise self.broken(place, f"expected a reference as text, got {shown(reference)}")
        if reference != "#" and not reference.startswith("#/"):
            text = f"the reference {shown(reference)} is not followed; expected one such as '#/...'"
            raise self.broken(place, f"{text} inside the document")
        found = self.document
        for part in reference.split("/")[1:]:
            found = _member(found, unquote(part).replace("~1", "/").replace("~0", "~"))
            if found is _NOTHING:
                raise self.broken(place, f"the reference {shown(reference)} leads nowhere")
        return found

    def followed(self, value: Any, place: str) -> Any:
        """Return a value, or what it refers to. Raises `InvalidFile` for a circle of references."""
        seen: set[str] = set()
        while isinstance(value, Mapping) and "$ref" in value:
            reference = value["$ref"]
            value = self.target(reference, place)
            if reference in seen:
                raise self.broken(place, f"the reference {shown(reference)} leads back to itself")
            seen.add(reference)
        return value

    def broken(self, place: str, message: str) -> InvalidFile:
        """Return the error that says what is wrong at a place of the document."""
        return InvalidFile([Problem(self.file, None, place, message)])


def _member(container: Any, name: str) -> Any:
    if isinstance(container, Mapping):
        return container.get(name, _NOTHING)
    if isinstance(container, list) and name.isdecimal() and name.isascii() and len(name) < 9:
        return container[int(name)] if int(name) < len(container) else _NOTHING
    return _NOTHING
