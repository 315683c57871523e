"""Requests that are unusual as HTTP: other methods, paths and headers, and hostile texts."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mockserver import jsontext
from mockserver.conformance.requests.negative import DraftChange, NegativeCase
from mockserver.conformance.requests.probe import Probe
from mockserver.conformance.requests.variations import VARIATIONS, filled
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, cached
from mockserver.conformance.session.probe_names import plain_probe
from mockserver.conformance.session.request_draft import Draft
from mockserver.contract import Contract, ids
from mockserver.http_messages import BadEncoding, query_pairs

WRONG_METHOD = "wrong method"
UNKNOWN_PATH = "unknown path"
OTHER_CASE = "headers in another case"
SHORT_TIME = "short expireTime"
HOSTILE = "hostile text"
AGAIN = "again after refusals"
SHORT_MS = 1_500
"""The `expireTime` of requests that test whether it is kept, in milliseconds."""

# Servers limit the request line, often to 8 KiB and some to 4 KiB.
_LONGEST_QUERY = 4_000
# The input that takes a hostile text, by operation.
_HOSTILE_INPUTS = {
    ids.V1_RAW: "token",
    ids.BRIDGE: "symbol",
    ids.CHECK: "id",
    ids.CHECK_TICKET: "ticketId",
}


def http_probes(contract: Contract) -> Iterator[Probe]:
    """Yield the probes of requests that are unusual as HTTP, in the order of sending."""
    for operation in contract:
        for words, change in _CHANGES.get(operation.id, {}).items():
            # A hostile id is sent once there is a ticket that it could be confused with.
            after = (plain_probe(ids.TICKET),) if operation.id == ids.CHECK_TICKET else ()
            yield NegativeCase(words, change, after=after).probe(operation)


def is_hostile(exchange: Exchange) -> bool:
    return exchange.probe.words == HOSTILE


@cached
def is_outside_the_contract(exchange: Exchange) -> bool:
    """Tell whether a request is outside the interface, so that the HTTP server may answer it.

    Its path or method is another, it is too long for many servers, or it cannot be read at all.
    """
    operation, request = exchange.operation, exchange.request
    is_elsewhere = (request.method, request.path) != (operation.method, operation.path)
    if is_elsewhere or len(request.query) > _LONGEST_QUERY:
        return True
    # To find everything else that is wrong with it would cost too much here.
    try:
        query_pairs(request.query)
        if "body" not in operation.request_schema.get("properties", {}):
            return False
        return not isinstance(jsontext.decode(request.body), dict)
    except (BadEncoding, jsontext.NotJson):
        return True


def _hostile(operation_id: str) -> DraftChange:
    def change(draft: Draft, context: RunContext) -> Draft:
        chance = context.draw("hostile texts")
        # The two that crash careless services most often are always sent, to reads of 2.0.
        hostile, sure = (list(VARIATIONS[name].puts) for name in ("hostile", "hostile to many"))
        chance.shuffle(sure)
        texts = [chance.choice(hostile), *sure, chance.choice(hostile)]
        text = texts[list(_HOSTILE_INPUTS).index(operation_id)]
        fields = context.contract.operation(operation_id).fields
        field = next(field for field in fields if field.role == _HOSTILE_INPUTS[operation_id])
        return draft.having(field.location, field.name, filled(text, ""))

    return change


# How the usual request of an operation is changed, by the words of the probe.
_CHANGES: Mapping[str, Mapping[str, DraftChange]] = {
    **{hostile_input: {HOSTILE: _hostile(hostile_input)} for hostile_input in _HOSTILE_INPUTS},
    ids.CHAINS: {
        UNKNOWN_PATH: lambda draft, context: replace(
            draft, path=f"{context.contract.operation(ids.CHAINS).path}Nowhere"
        )
    },
    ids.V1_TOKENS: {
        OTHER_CASE: lambda draft, _: replace(
            draft, headers={name.upper(): value for name, value in draft.headers.items()}
        )
    },
    ids.V1_QUOTE: {
        WRONG_METHOD: lambda draft, _: replace(draft, method="GET"),
        SHORT_TIME: lambda draft, _: draft.having("headers", "expireTime", str(SHORT_MS)),
    },
    ids.BRIDGE: {HOSTILE: _hostile(ids.BRIDGE), AGAIN: lambda draft, _: draft},
}
