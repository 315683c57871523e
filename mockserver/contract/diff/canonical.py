"""JSON values and schemas as texts that are equal where the values are."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from mockserver import jsontext
from mockserver.contract.diff.references import References
from mockserver.contract.diff.values import CannotCompare
from mockserver.contract.diff.wellformed import MAPS
from mockserver.jsontext import Json, type_of
from mockserver.validation import shown

_MOST_NODES = 50_000


def canonical(value: Json) -> str:
    """Return the text of a JSON value that is equal for equal values, whatever their order."""
    return jsontext.encode(_sorted(value)).decode("ascii")


def kind(value: Json) -> str:
    """Return the type of a value, where numbers are `integer` or `fraction`."""
    found = type_of(value)
    if found == "number":
        return "integer" if value == int(value) else "fraction"
    return found


def comparable(value: Any, references: References) -> str:
    """Return a text that is equal for equal schemas: references followed, words left out.

    Raises `CannotCompare` where a schema grows too large by its references.
    """
    return canonical(_Expansion(references).expanded(value, ()))


def in_words(test: Any) -> str:
    """Return a condition as people say it: `where orderType is '1'`."""
    told = [
        f"{name} is {' or '.join(map(shown, values))}"
        for name, node in _keys(_keys(test).get("properties")).items()
        if (values := [node["const"]] if "const" in _keys(node) else _keys(node).get("enum"))
    ]
    return f"where {' and '.join(told)}" if told else f"where {shown(canonical(test))} is met"


class _Expansion:
    """Writes a raw schema out, so that it can be compared as a whole."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._left = _MOST_NODES

    def expanded(self, value: Any, above: tuple[str, ...]) -> Any:
        self._left -= 1
        if self._left < 0:
            raise CannotCompare(
                f"{self._references.file}: a schema grows beyond {_MOST_NODES} nodes "
                "where its references are followed"
            )
        if isinstance(value, list):
            return [self.expanded(one, above) for one in value]
        if not isinstance(value, Mapping):
            return value
        reference = value.get("$ref")
        if isinstance(reference, str):
            if reference in above:
                # How many levels up, not by which name: names may differ.
                return {"circle": len(above) - above.index(reference)}
            inner = self.expanded(self._references.target(reference, ""), (*above, reference))
            beside = {key: one for key, one in value.items() if key != "$ref"}
            return [inner, self.expanded(beside, above)] if _stated(beside) else inner
        return {
            key: self._member(key, one, above)
            for key, one in value.items()
            if not _is_word(key, one)
        }

    def _member(self, key: str, value: Any, above: tuple[str, ...]) -> Any:
        if key == "required" and isinstance(value, list):
            return sorted(value, key=str)
        if key in MAPS and isinstance(value, Mapping):
            # The keys are names of fields here, which may look like keywords.
            return {name: self.expanded(one, above) for name, one in value.items()}
        return self.expanded(value, above)


def _sorted(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {str(key): _sorted(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_sorted(one) for one in value]
    return Decimal(repr(value)) if isinstance(value, float) else value


def _keys(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_word(key: str, value: Any) -> bool:
    if key in ("title", "description", "$comment", "example", "examples"):
        # A field may have such a name; then a schema stands below it.
        return not isinstance(value, Mapping)
    return key.startswith("x-")


def _stated(beside: Mapping[str, Any]) -> bool:
    return any(not _is_word(key, value) for key, value in beside.items())
