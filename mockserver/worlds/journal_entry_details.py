"""What a journal entry means: its codes in words, and the nearest valid form of a refused one."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from urllib.parse import urlencode

from mockserver import jsontext
from mockserver.contract import Contract, Operation
from mockserver.engine import abi
from mockserver.engine.catalog import Catalog
from mockserver.engine.refusal import Refusal
from mockserver.http_messages import Headers, Request, pairs_or
from mockserver.jsontext import Json, plain
from mockserver.operations.deposits_and_order_rules import rules_of
from mockserver.responders.authentication import REFUSED_FOR_TIME
from mockserver.worlds.journal import Entry

_MOST = 100
_MOST_TEXT = 200_000
_MOST_DEPTH = 12
_SELECTOR = 4


def decoded(entry: Entry) -> list[Json]:
    """Return what can be decoded in an exchange: where it is, what it is, and its value."""
    items = [item for part in _parts(entry) for item in _named_values(*part, depth=0)][:_MOST]
    masker = entry.masker()
    shown = [masker.json(item) for item in items]
    # A sentence quotes a value cut short, which may be the beginning of a packed secret.
    return [
        {
            name: masker.memory.without_beginnings(text) if isinstance(text, str) else text
            for name, text in item.items()
        }
        if isinstance(item, dict)
        else item
        for item in shown
    ]


def _parts(entry: Entry) -> Iterator[tuple[str, str, Json]]:
    for name, value in pairs_or(entry.request.query):
        yield f"query {name}", name, value
    yield "request", "", jsontext.decode_or(entry.request.body)
    yield "answer", "", jsontext.decode_or(entry.response.body)


def _named_values(where: str, name: str, value: Json, *, depth: int) -> Iterator[Json]:
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _named_values(f"{where} {key}", str(key), inner, depth=depth + 1)
    elif isinstance(value, list):
        # Bounded, as depth and size are: bodies come from clients.
        for place, inner in enumerate(value[:_MOST]):
            yield from _named_values(f"{where} {place}", name, inner, depth=depth + 1)
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
    members = {
        "expected": rules.expected,
        "channelFeeBps": rules.channel_bps,
        "version": rules.version,
        "minimum": rules.minimum,
        "execution": rules.execution,
    }
    # As text: a page reads JSON numbers as floats, and these amounts are larger.
    return {name: str(value) for name, value in members.items() if value is not None}


def _hex(text: str) -> bytes | None:
    if len(text) < 2 + 2 * _SELECTOR or text[:2].lower() != "0x":
        return None
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        return None


def _call(method: abi.Method, raw: bytes) -> Json:
    try:
        by_name = abi.arguments(method, raw[_SELECTOR:])
    except abi.NotThisCall as error:
        return f"not its arguments: {error}"
    arguments = {name: _value_json(value) for name, value in by_name.items()}
    if isinstance(by_name.get("order"), str):
        order = bytes.fromhex(str(by_name["order"])[2:])
        arguments["order"] = order.decode("utf-8", "backslashreplace")
    inner = _hex(str(by_name.get("data", "")))
    if inner is not None and inner[:_SELECTOR].hex() in abi.METHODS:
        called = abi.METHODS[inner[:_SELECTOR].hex()]
        arguments["data"] = {f"call of {called.name}": _call(called, inner)}
    return arguments


def _value_json(value: abi.AbiValue) -> Json:
    if isinstance(value, list):
        return [_value_json(item) for item in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_BLAMED = re.compile(r"(header|query parameter|body field) '([^']+)'")
_SUGGESTED = re.compile(r"did you mean '([^']+)'")
# Refusals of what only the world, its keys or its clock know: no example would put them right.
_OF_THE_WORLD = (
    # Of another request it may say nothing: that one would not be recorded either.
    "not-recorded",
    *("unknown-order", "unknown-ticket", "unknown-app-key"),
    *("bad-signature", *REFUSED_FOR_TIME),
)
_LOCATIONS = {"header": "headers", "query parameter": "query", "body field": "body"}

# Inputs that name a token, those that name its chain, and the one that has its decimals.
_TOKEN_INPUTS = {
    "contractAddress": (("chain",), ""),
    "fromTokenAddress": (("fromChain", "chain"), "fromDecimal"),
    "toTokenAddress": (("toChain", "chain"), "toDecimal"),
}

Parts = dict[str, dict[str, Json]]
"""A request's own headers, query parameters and body, by name."""


def nearest_form(contract: Contract, entry: Entry, catalog: Catalog) -> Json:
    """Return a request like the refused one that keeps the contract, or None where none is near.

    What the client sent is kept where it is right, and respelled where that is enough; the rest
    is what the refusal suggests, or comes from the operation's example, with a token that is on the
    chain. `changed` lists what differs.
    """
    if entry.refusal is None:
        return None
    operation = _operation_of(contract, entry)
    # To repair a long request takes long, and nobody reads it.
    if operation is None or entry.refusal.startswith(_OF_THE_WORLD) or entry.is_long:
        return None
    example = operation.row.get("example", {})
    request, sent_values = entry.request, entry.request.headers
    headers = {name: sent_values[name] for name in operation.header_names if name in sent_values}
    sent: Parts = {"headers": headers, "query": request.parameters, "body": request.members}
    kept = _repaired(operation, sent)
    _correct(kept, sent, example, entry.refusal)
    for field in operation.fields:
        sent_values = example.get(field.location, {})
        if field.required and field.name in sent_values:
            kept[field.location].setdefault(field.name, sent_values[field.name])
    _put_on_chain(kept["query"], request.parameters, catalog)
    reading = operation.read(_encoded(operation, kept))
    # What still breaks the contract would send the reader from one refusal to the next.
    if reading.refusal or reading.violations:
        return None
    mask = entry.masker().value
    return {
        "operation": operation.id,
        "method": operation.method,
        "path": operation.path,
        "query": {name: mask(name, _as_text(value)) for name, value in kept["query"].items()},
        "headers": {name: mask(name, _as_text(value)) for name, value in kept["headers"].items()},
        "body": entry.masker().json(kept["body"]) if operation.method == "POST" else None,
        "changed": _changes(operation, sent, kept, entry),
    }


def _put_on_chain(query: dict[str, Json], sent: Mapping[str, Json], catalog: Catalog) -> None:
    """Replace addresses of an example that the client's own chain does not have."""
    for name, (chain_names, decimals) in _TOKEN_INPUTS.items():
        named = next((str(query[key]) for key in chain_names if key in query), "")
        chain = catalog.named(named)
        if chain is None or name not in query or query[name] == sent.get(name):
            continue
        tokens = catalog.tokens_on(chain)
        if any(token.contract.address == query[name] for token in tokens):
            continue
        # The first is as good as any where the client does not name a symbol.
        of_symbol = [token for token in tokens if token.symbol == query.get("symbol")]
        for token in (of_symbol or tokens)[:1]:
            query[name] = token.contract.address
            facts = {decimals: str(token.decimals), "symbol": token.symbol}
            query.update((key, fact) for key, fact in facts.items() if key in query)
    chain = catalog.named(str(query.get("chain", "")))
    taken = query.get("address") != sent.get("address")
    if chain is not None and not chain.evm and chain.vault and taken:
        # An account of the example is one of EVM chains; the vault has the form of its chain.
        query["address"] = chain.vault


def _operation_of(contract: Contract, entry: Entry) -> Operation | None:
    if entry.operation is not None:
        return contract.operation(entry.operation)
    methods = contract.methods(entry.path)
    if methods:
        return contract.find(methods[0], entry.path)
    return contract.nearest(entry.path)


def _repaired(operation: Operation, sent: Parts) -> Parts:
    """Return what the client sent, respelled or left out where it breaks the contract."""
    kept = {location: dict(values) for location, values in sent.items()}
    if operation.method != "POST":
        kept["body"] = {}
    # Each by itself: one fault must not hide whether another form of an input is right.
    for location, name in _broken(operation, kept):
        for form in _respelled(kept[location].pop(name, None)):
            tried = {**kept, location: {**kept[location], name: form}}
            if (location, name) not in _broken(operation, tried):
                kept = tried
                break
    return kept


# Digits before or behind the point beyond which nobody means a number.
_MOST_PLACES = 100


def _respelled(value: Json) -> Iterator[Json]:
    """Return the same value in other forms: without blanks, as a text, a number or a boolean."""
    # Clients format: Python's `True` arrives as the text `True`, its `1e7` as `10000000.0`. No form
    # means another amount or another answer than what came.
    if isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, int | Decimal):
        yield from reversed(list(_number_forms(Decimal(value))))
    elif isinstance(value, str):
        bare = value.strip()
        yield bare
        if bare.lower() in ("true", "false"):
            yield bare.lower()
            yield bare.lower() == "true"
        try:
            yield from _number_forms(Decimal(bare))
        except InvalidOperation:
            return


def _number_forms(number: Decimal) -> Iterator[Json]:
    """Return a number as a text and as JSON has it, a whole one without a point."""
    if not number.is_finite() or abs(number.adjusted()) > _MOST_PLACES:
        return
    yield plain(number)
    yield int(number) if number == number.to_integral_value() else number


def _broken(operation: Operation, parts: Parts) -> set[tuple[str, str]]:
    violations = operation.read(_encoded(operation, parts)).violations
    return {
        (str(violation.path[0]), str(violation.path[1]))
        for violation in violations
        if len(violation.path) > 1
    }


def _correct(kept: Parts, sent: Parts, example: Mapping[str, Json], refusal: str) -> None:
    """Put the blamed input of a refusal right: by what it suggests, else by the example."""
    blamed = _BLAMED.search(refusal)
    if blamed is None:
        return
    location, name = _LOCATIONS[blamed[1]], blamed[2]
    # It was put right already by its form.
    if name not in kept[location] or kept[location][name] != sent[location][name]:
        return
    suggested = _SUGGESTED.search(refusal)
    if suggested:
        text = isinstance(kept[location][name], str)
        kept[location][name] = suggested[1] if text else Decimal(suggested[1])
    elif name in example.get(location, {}):
        kept[location][name] = example[location][name]


def _encoded(operation: Operation, parts: Parts) -> Request:
    headers = Headers([(name, _as_text(value)) for name, value in parts["headers"].items()])
    query = urlencode({name: _as_text(value) for name, value in parts["query"].items()})
    body = jsontext.encode(parts["body"]) if operation.method == "POST" else b""
    return Request(operation.method, operation.path, query, headers, body)


def _changes(operation: Operation, sent: Parts, kept: Parts, entry: Entry) -> list[str]:
    changes, masker = [], entry.masker()
    if (entry.request.method, entry.path) != (operation.method, operation.path):
        changes.append(f"{operation.method} {operation.path}")
    words = {location: word for word, location in _LOCATIONS.items()}
    for location, values in kept.items():
        for name in sorted({*values, *sent[location]}):
            before, after = sent[location].get(name), values.get(name)
            if name not in values:
                changes.append(f"{words[location]} {name!r}: left out")
            elif before != after:
                shown = [masker.json({name: value})[name] for value in (after, before)]
                texts = [
                    _short(value if location == "body" or value is None else _as_text(value))
                    for value in shown
                ]
                changes.append(f"{words[location]} {name!r}: {' instead of '.join(texts)}")
    return changes


def _as_text(value: Json) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else jsontext.encode(value).decode()


def _short(value: Json) -> str:
    text = (
        "nothing" if value is None else ascii(value) if isinstance(value, str) else _as_text(value)
    )
    return text if len(text) <= 60 else f"{text[:57]}..."
