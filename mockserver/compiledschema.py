"""A schema compiled to a quick yes or no, by `jsonschema-rs`."""

import re
from collections.abc import Mapping
from typing import Any

from jsonschema_rs import Draft202012Validator as Compiled

__all__ = ["Compiled", "compiled"]

# A pattern that counts characters of one kind, and says nothing else.
_COUNTED = re.compile(r"\^(\[[^][\\]*(?:\\[trn][^][\\]*)*\])\{(\d+),(\d+)\}\$")


def compiled(schema: Mapping[str, Any]) -> Compiled:
    """Return a fast validator, which also finds where a value breaks the schema.

    It raises `ValueError` for half a surrogate pair, which is no text for `jsonschema-rs`.
    """
    return Compiled(_counting_apart(schema))


def _counting_apart(node: Any) -> Any:
    """Return an equal schema, with `minLength` and `maxLength` in place of counts in patterns."""
    # A pattern that counts to 1000 takes two megabytes, and is compiled for every part that has it.
    if isinstance(node, list | tuple):
        return [_counting_apart(part) for part in node]
    if not isinstance(node, Mapping):
        return node
    copy = {
        key: part if key in ("const", "enum") else _counting_apart(part)
        for key, part in node.items()
    }
    match = _COUNTED.fullmatch(pattern) if isinstance(pattern := copy.get("pattern"), str) else None
    if match is None or "minLength" in copy or "maxLength" in copy:
        return copy
    kind, least, most = match.groups()
    return {**copy, "pattern": f"^{kind}*$", "minLength": int(least), "maxLength": int(most)}
