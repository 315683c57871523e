"""Requests that are odd as HTTP: other methods and paths, broken bodies, hostile texts."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from mockserver import jsontext
from mockserver.conformance.requests.negative import Kind, NegativeCase
from mockserver.conformance.session.caching import cached
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import Operation, documented
from mockserver.exchange import BadEncoding, query_pairs

WRONG_METHOD = "wrong method"
UNKNOWN_PATH = "unknown path"
OTHER_CASE = "headers in another case"
SHORT_TIME = "short expireTime"
HOSTILE = "hostile text"
AGAIN = "again after refusals"
SHORT_MS = 1_500
"""The `expireTime` of requests that tell whether it is kept, in milliseconds."""

_LONG = 4_000
_HOSTILE_INPUTS = {
    "v1.getTransferToMinterRaw": "token",
    "v2.getBridgeQuote": "symbol",
    "v2.checkOrder": "id",
    "v2.checkTicket": "ticketId",
}
_LONG_TEXT = "A" * 2048
_FOREIGN_TEXT = "\u6f22\u5b57 \u0645\u0631\u062d\u0628\u0627 \U0001f600"
_HOSTILE_TEXTS = (
    "A" * 8192,
    "a\x00b",
    "%s%n%00%zz",
    "'; DROP TABLE orders; --",
    "\r\nX-Injected: yes",
    "${jndi:ldap://127.0.0.1/x}<script>",
    "../../../etc/passwd",
)


def odd_as_http(operation: Operation) -> tuple[NegativeCase, ...]:
    """Return how requests of an operation are made odd as HTTP."""
    return _ODD.get(operation.id, ())


def broken_bodies(operation: Operation) -> tuple[NegativeCase, ...]:
    """Return how the body of a v1 request is made no JSON object."""
    if operation.id == "v1.getCrossChainQuote":
        return (_body("truncated", "cut in the middle", _cut),)
    if operation.id == "v1.getTransferToMinterRaw":
        return (_body("array", "an array", _array),)
    return ()


@cached
def is_beneath(exchange: Exchange) -> bool:
    """Tell whether a request is none that the interface speaks of: what answers it is HTTP's.

    Its path or method is another, it is too long for many a server, or it cannot be read at all.
    """
    operation, request = exchange.operation, exchange.request
    if (request.method, request.path) != (operation.method, operation.path):
        return True
    if len(request.query) > _LONG:
        return True
    # What else is wrong with it is dear to tell, and not asked here.
    try:
        query_pairs(request.query)
        if "body" not in operation.request_schema.get("properties", {}):
            return False
        return not isinstance(jsontext.decode(request.body), dict)
    except (BadEncoding, jsontext.NotJson):
        return True


def _body(words: str, told: str, made: Callable[[bytes], bytes]) -> NegativeCase:
    def change(draft: Draft, _: RunContext) -> Draft:
        return replace(draft, raw_body=made(jsontext.encode(draft.body or {})))

    return NegativeCase(
        words=f"body {words}",
        kind=Kind.BODY,
        place="body",
        told=f"the body is {told}",
        change=change,
        basis=documented("interface.inputs"),
    )


def _cut(body: bytes) -> bytes:
    return body[: len(body) // 2]


def _array(body: bytes) -> bytes:
    return b"[" + body + b"]"


def _wrong_method(draft: Draft, _: RunContext) -> Draft:
    return replace(draft, method="GET")


def _unknown_path(draft: Draft, context: RunContext) -> Draft:
    return replace(draft, path=f"{context.contract.operation('v2.getChain').path}Nowhere")


def _other_case(draft: Draft, _: RunContext) -> Draft:
    return replace(draft, headers={name.upper(): v for name, v in draft.headers.items()})


def _short_time(draft: Draft, _: RunContext) -> Draft:
    return draft.having("headers", "expireTime", str(SHORT_MS))


def _as_it_is(draft: Draft, _: RunContext) -> Draft:
    return draft


def _hostile(operation_id: str, *after: str) -> NegativeCase:
    def change(draft: Draft, context: RunContext) -> Draft:
        chance = context.draw("hostile texts")
        # Two that careless services do fall over are sent always, to reads of 2.0.
        sure = [_LONG_TEXT, _FOREIGN_TEXT]
        chance.shuffle(sure)
        texts = [chance.choice(_HOSTILE_TEXTS), *sure, chance.choice(_HOSTILE_TEXTS)]
        text = texts[list(_HOSTILE_INPUTS).index(operation_id)]
        fields = context.contract.operation(operation_id).fields
        field = next(one for one in fields if one.role == _HOSTILE_INPUTS[operation_id])
        return draft.having(field.location, field.name, text)

    return NegativeCase(HOSTILE, change, after=after)


_ODD: Mapping[str, tuple[NegativeCase, ...]] = {
    **{one: (_hostile(one),) for one in _HOSTILE_INPUTS},
    "v2.getChain": (NegativeCase(UNKNOWN_PATH, _unknown_path),),
    "v1.getSupportTokens": (NegativeCase(OTHER_CASE, _other_case),),
    "v1.getCrossChainQuote": (
        NegativeCase(WRONG_METHOD, _wrong_method),
        NegativeCase(SHORT_TIME, _short_time),
    ),
    "v2.getBridgeQuote": (
        _hostile("v2.getBridgeQuote"),
        NegativeCase(AGAIN, _as_it_is),
    ),
    # It is asked where there is a ticket that it might be taken for; orders stand for both else.
    "v2.checkTicket": (_hostile("v2.checkTicket", "v2.submitTicket/usual"),),
}
