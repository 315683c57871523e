"""Envelopes told apart: what a success is made of, and what a refusal."""

from collections.abc import Iterator, Mapping
from typing import Any

from mockserver.contract.basis import Basis
from mockserver.contract.diff.nodes import Part, Parts
from mockserver.contract.diff.references import References
from mockserver.contract.diff.sides import Answer
from mockserver.jsontext import Json

_CODE = "code"
_MOST_BRANCHES = 1000


def answer(media: Mapping[str, Any], basis: Basis, references: References) -> Answer:
    """Return the answer of one status, whose envelope is known by a condition on its `code`."""
    whole = {name: (Part(schema, basis),) for name, schema in media.items()}
    schema = media.get("application/json")
    if not isinstance(schema, Mapping):
        return Answer(whole)
    bare = _without_envelope(schema)
    if bare is not None:
        enveloped, plain = bare
        code = _code(enveloped, references)
        told = _taken_apart(enveloped, basis, references, code, success=False)
        return Answer({**whole, "application/json": (Part(plain, basis),)}, code, False, told)
    code = _code(schema, references)
    if code is None:
        if _tells(schema, references, "not"):
            parts = _taken_apart(schema, basis, references, None, success=False)
            return Answer({**whole, "application/json": parts})
        return Answer(whole)
    success = _taken_apart(schema, basis, references, code, success=True)
    refusal = None
    decides = _tells(schema, references, "const", tested=True)
    if decides and not _tells(schema, references, "const"):
        refusal = _taken_apart(schema, basis, references, code, success=False)
    return Answer({**whole, "application/json": success}, code, True, refusal)


def _without_envelope(schema: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """Return the two forms of an operation whose success comes without an envelope."""
    test = schema.get("if")
    if isinstance(test, Mapping) and dict(test) == {"required": [_CODE]} and "else" in schema:
        return schema.get("then", {}), schema["else"]
    return None


def _code(schema: Any, references: References) -> Json:
    """Return the code of success, from a constant or from the condition of what a success has."""
    for branch in _branches(schema, references):
        for node in (branch, branch.get("if")):
            found = _code_node(node)
            if found is not None and "const" in found:
                return found["const"]
    return None


def _tells(schema: Any, references: References, keyword: str, *, tested: bool = False) -> bool:
    """Tell whether an answer says something of its code, or `tested` some condition does."""
    branches = _branches(schema, references)
    nodes = (_code_node(one.get("if") if tested else one) for one in branches)
    return any(node is not None and keyword in node for node in nodes)


def _taken_apart(
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
        below = inherited.below(node)
        more = list(node.get("allOf", ()))
        tested = _code_node(node.get("if"))
        left = set()
        if tested is not None and "const" in tested and (code is None or tested["const"] == code):
            branch = "then" if success else "else"
            more += [node[branch]] if branch in node else []
            left = {"if", "then", "else"}
        kept = {key: value for key, value in node.items() if key not in {"allOf", *left}}
        parts.append(Part(_code_opened(kept, code), inherited))
        waiting[:0] = [(one, below) for one in more]
    return tuple(parts)


def _code_opened(node: dict[str, Any], success: Json) -> dict[str, Any]:
    """Return a node whose `code` is no longer held to the value that decided the branch."""
    code = _code_node(node)
    decided = (
        () if code is None else [key for key in ("const", "not") if _decides(code, key, success)]
    )
    if code is None or not decided:
        return node
    free = {key: value for key, value in code.items() if key not in decided}
    return {**node, "properties": {**node["properties"], _CODE: free}}


def _decides(code: Mapping[str, Any], key: str, success: Json) -> bool:
    if key not in code:
        return False
    if key == "const":
        return bool(code["const"] == success)
    refused = code["not"]
    alone = isinstance(refused, Mapping) and set(refused) == {"const"}
    return alone and (success is None or bool(refused["const"] == success))


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


def _code_node(node: Any) -> Mapping[str, Any] | None:
    properties = node.get("properties") if isinstance(node, Mapping) else None
    code = properties.get(_CODE) if isinstance(properties, Mapping) else None
    return code if isinstance(code, Mapping) else None
