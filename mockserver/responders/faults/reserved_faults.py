"""Faults that a client chooses by reserved values, without reaching the control API."""

import re
from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from itertools import takewhile
from types import MappingProxyType

from mockserver.contract import Inputs, Operation
from mockserver.engine.catalog import Catalog
from mockserver.engine.refusal import Refusal
from mockserver.engine.reserved_values import RESERVED, Effect, Reserved, in_amount, in_hex
from mockserver.http_messages import Request
from mockserver.limits import AMOUNT_DIGITS
from mockserver.responders.faults.kinds import KINDS, FaultedCall, OptionValues
from mockserver.responders.faults.registry import Fault, FaultTrigger, Strike
from mockserver.responders.request_subjects import deposit_of
from mockserver.responders.responder import Call

# The fault of each reserved name: its kind, its options, and whether the effect happens.
_FAULTS: Mapping[str, tuple[str, OptionValues, bool]] = MappingProxyType(
    {
        "http-500": ("http-status", {"status": 500}, False),
        "http-503": ("http-status", {"status": 503, "retryAfter": 30}, False),
        "http-429": ("http-status", {"status": 429, "retryAfter": 1}, False),
        "latency": ("latency", {"delay": "30s"}, True),
        "reset-before": ("reset-before-headers", {}, False),
        "accepted-reset": ("reset-before-headers", {}, True),
        "accepted-500": ("http-status", {"status": 500}, True),
        "broken-json": ("broken-json", {}, True),
    }
)

_CODES = [reserved.code for reserved in RESERVED if reserved.effect is Effect.FAULT]
# What all codes begin with.
_COMMON = "".join(
    [
        places[0]
        for places in takewhile(lambda entry: len(set(entry)) == 1, zip(*_CODES, strict=True))
    ]
)
_COMMON_BYTES, _COMMON_HEX = _COMMON.encode(), _COMMON.encode().hex().encode()
_RESTS = "|".join(code.removeprefix(_COMMON) for code in _CODES)
_REST_HEXES = "|".join(rest.encode().hex() for rest in _RESTS.split("|"))
# A pattern that begins with plain text is found several times as fast as one of alternatives.
# Behind a code come zeros at most, and then no digit of a number, an address or a hash.
_HINT = re.compile(f"{_COMMON}(?:{_RESTS})0*(?![0-9a-dA-DfF])")
_HINT_BYTES = re.compile(_HINT.pattern.encode())
_HINT_HEX = re.compile(_COMMON_HEX + f"(?:{_REST_HEXES})(?:30)*(?!3[0-9])".encode())

_EXACT = Context(prec=500)


def reserved_strike(call: Call) -> Strike | None:
    """Return what a reserved value in a request does to it, or None.

    Amounts, addresses and hashes of a request that keeps the contract are looked at, and those
    inside the `sourceCerts` of an order.
    """
    inputs = call.operation.read(call.request)
    if inputs.refusal or inputs.violations:
        return None
    catalog = call.hosted.world.scenario.catalog
    for reserved in _reserved(call.operation, inputs, catalog):
        if reserved.effect is Effect.FAULT:
            return _strike(reserved, call)
    return None


def may_reserve(request: Request) -> bool:
    """Tell whether a request has a text that looks as if it reserved a fault."""
    # Nearly every request ends here, since one search is faster than reading each value. From the
    # end: there a search compares the first digit first, which is rarer than the zeros behind it.
    raw, body = request.raw, request.body
    if raw and raw.rfind(_COMMON_BYTES) < 0 and (not body or body.rfind(_COMMON_HEX) < 0):
        return False
    query = request.query
    # Not `in`, which first tries bytes as a number, and raises inside.
    if body and body.find(_COMMON_BYTES) >= 0 and _HINT_BYTES.search(body):
        return True
    if body and body.find(_COMMON_HEX) >= 0 and _HINT_HEX.search(body):
        return True
    if _COMMON in query and _HINT.search(query):
        return True
    values = request.headers.values_sent()
    if _COMMON not in "".join(values):
        return False
    return any(value[:2] == "0x" and _HINT.search(value) for value in values)


def _strike(reserved: Reserved, call: Call) -> Strike:
    kind, options, done = _FAULTS[reserved.name]
    fault = Fault(
        f"reserved {reserved.code}", kind, FaultTrigger(), KINDS[kind].make(options), done, {}
    )
    return Strike((fault,), {fault.id: FaultedCall(call, lambda what: 0)})


def _reserved(operation: Operation, inputs: Inputs, catalog: Catalog) -> Iterator[Reserved]:
    deposit = deposit_of(inputs)
    if operation.amount and inputs.has(operation.amount.role):
        yield from _of_amount(operation, inputs, operation.amount.role, catalog)
    if deposit is not None:
        yield from _of_deposit(deposit.amount, deposit.chain, deposit.index, catalog)
    texts = [inputs.text(field.role) for field in operation.fields if inputs.has(field.role)]
    texts += [deposit.address, deposit.cert_hash] if deposit else []
    yield from filter(None, map(in_hex, texts))


def _of_amount(
    operation: Operation, inputs: Inputs, role: str, catalog: Catalog
) -> Iterator[Reserved]:
    if operation.generation.id == "v1":
        yield from filter(None, [_in_tokens(inputs.decimal(role))])
        return
    decimals = _decimals(inputs, catalog)
    if decimals is not None:
        yield from filter(None, [in_amount(inputs.integer(role), decimals)])


def _in_tokens(amount: Decimal) -> Reserved | None:
    """Return what an amount of whole tokens reserves; only four decimals may be set."""
    scaled = amount.scaleb(4, _EXACT)
    if scaled.adjusted() > AMOUNT_DIGITS or scaled != scaled.to_integral_value():
        return None
    return in_amount(int(scaled), 4)


def _decimals(inputs: Inputs, catalog: Catalog) -> int | None:
    if inputs.has("fromDecimal"):
        decimals = inputs.integer("fromDecimal")
        return decimals if 0 <= decimals <= AMOUNT_DIGITS else None
    try:
        return catalog.token_on(inputs.text("fromChain"), inputs.text("symbol")).decimals
    except (Refusal, KeyError):
        return None


def _of_deposit(units: int, chain: str, index: int, catalog: Catalog) -> Iterator[Reserved]:
    try:
        token = catalog.token_by_index(index)
        placed = catalog.placed(catalog.chain(chain), token)
    except Refusal:
        return
    yield from filter(None, [in_amount(units, placed.decimals)])
