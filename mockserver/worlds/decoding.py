"""What is encoded in a request and its answer, put into words: deposits, order rules, call data."""

from collections.abc import Iterator, Mapping

from mockserver import jsontext
from mockserver.engine import abi
from mockserver.engine.refusal import Refusal
from mockserver.exchange import pairs_or
from mockserver.jsontext import Json
from mockserver.operations.rules import rules_of
from mockserver.worlds.journal import Entry

_MOST = 100
_MOST_TEXT = 200_000
_MOST_DEPTH = 12
_SELECTOR = 4


def decoded(entry: Entry) -> list[Json]:
    """Return what can be decoded in an exchange: where it is, what it is, and its value."""
    return [item for part in _parts(entry) for item in _found(*part, depth=0)][:_MOST]


def _parts(entry: Entry) -> Iterator[tuple[str, str, Json]]:
    for name, value in pairs_or(entry.request.query):
        yield f"query {name}", name, value
    yield "request", "", jsontext.decode_or(entry.request.body)
    yield "answer", "", jsontext.decode_or(entry.response.body)


def _found(where: str, name: str, value: Json, *, depth: int) -> Iterator[Json]:
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _found(f"{where} {key}", str(key), inner, depth=depth + 1)
    elif isinstance(value, list):
        for place, inner in enumerate(value[:_MOST]):
            yield from _found(f"{where} {place}", name, inner, depth=depth + 1)
    elif isinstance(value, str) and len(value) <= _MOST_TEXT:
        yield from _text(where, name, value)


def _text(where: str, name: str, text: str) -> Iterator[Json]:
    if name == "sourceCerts":
        yield {"at": where, "is": "deposit", "value": _json_in_hex(text)}
    elif name == "extra" and text:
        yield {"at": where, "is": "order rules", "value": _rules(text)}
    elif (raw := _hex(text)) is not None:
        method = abi.METHODS.get(raw[:_SELECTOR].hex())
        if method is not None:
            yield {"at": where, "is": f"call of {method.name}", "value": _call(method, raw)}


def _json_in_hex(text: str) -> Json:
    try:
        return jsontext.decode(bytes.fromhex(text.removeprefix("0x")))
    except jsontext.NotJson as error:
        return f"no JSON behind the hex: {error}"
    except ValueError:
        return "no hex of whole bytes"


def _rules(text: str) -> Json:
    try:
        rules = rules_of(text)
    except Refusal as refusal:
        return refusal.reason
    told = {
        "expected": rules.expected,
        "channelFeeBps": rules.channel_bps,
        "version": rules.version,
        "minimum": rules.minimum,
        "execution": rules.execution,
    }
    # As text: a page reads JSON numbers as floats, and these amounts are larger.
    return {name: str(value) for name, value in told.items() if value is not None}


def _hex(text: str) -> bytes | None:
    if len(text) < 2 + 2 * _SELECTOR or text[:2].lower() != "0x":
        return None
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        return None


def _call(method: abi.Method, raw: bytes) -> Json:
    try:
        found = abi.arguments(method, raw[_SELECTOR:])
    except abi.NotThisCall as error:
        return f"not its arguments: {error}"
    shown = {name: _shown(value) for name, value in found.items()}
    if isinstance(found.get("order"), str):
        order = bytes.fromhex(str(found["order"])[2:])
        shown["order"] = order.decode("utf-8", "backslashreplace")
    inner = _hex(str(found.get("data", "")))
    if inner is not None and inner[:_SELECTOR].hex() in abi.METHODS:
        called = abi.METHODS[inner[:_SELECTOR].hex()]
        shown["data"] = {f"call of {called.name}": _call(called, inner)}
    return shown


def _shown(value: abi.Value) -> Json:
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
