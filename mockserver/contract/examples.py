"""Shipped exchanges as examples of an operation's requests and answers."""

from collections.abc import Mapping
from functools import cache

from mockserver import jsontext
from mockserver.contract.load import Contract
from mockserver.contract.operation import Operation
from mockserver.jsontext import Json
from mockserver.recordings import RecordedExchange, Source, gather
from mockserver.values import dataclass

_SHIPPED = ("v1", "v2", "observed", "published")


@dataclass(frozen=True, slots=True)
class Example:
    """An exchange that was shipped: where it stands, the body of its request, and its answer."""

    label: str
    request: Json
    answer: Json


@dataclass(frozen=True, slots=True)
class Examples:
    """The shortest success and the shortest refusal that are shipped; None where none is."""

    success: Example | None = None
    refusal: Example | None = None


def shipped_examples(contract: Contract) -> Mapping[str, Examples]:
    """Return examples by operation id, of exchanges that keep the contract in its dialect."""
    found: dict[tuple[str, bool], list[tuple[int, Example]]] = {}
    for source in _shipped():
        own = source.recording.dialect == contract.dialect.name
        for label, one in source.labelled():
            operation = contract.get(one.operation)
            example = None if operation is None else _example(label, one, operation)
            if operation is not None and example is not None:
                size = len(one.response.body) + (0 if own else 1_000_000)
                kind = operation.id, _succeeded(operation, example.answer)
                found.setdefault(kind, []).append((size, example))
    best = {kind: min(rows, key=lambda row: row[0])[1] for kind, rows in found.items()}
    names = dict.fromkeys(name for name, _ in found)
    return {name: Examples(best.get((name, True)), best.get((name, False))) for name in names}


@cache
def _shipped() -> tuple[Source, ...]:
    return gather(_SHIPPED)


def _example(label: str, one: RecordedExchange, operation: Operation) -> Example | None:
    """Return an exchange as an example; None where it breaks the contract or is no JSON."""
    try:
        answer = one.response_json()
        body = jsontext.decode(one.request.body) if one.request.body else None
    except jsontext.NotJson:
        return None
    if operation.response_violations(answer):
        return None
    if _succeeded(operation, answer) and operation.read(one.request).violations:
        return None
    return Example(label, body, answer)


def _succeeded(operation: Operation, answer: Json) -> bool:
    bare = isinstance(answer, dict) and not operation.enveloped and "code" not in answer
    return bare or operation.generation.succeeded(answer)
