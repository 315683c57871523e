"""The envelope of JSON-RPC: calls, batches of them, and errors."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType, ModuleType

from mockserver import limits
from mockserver.engine.catalog import EVM_FAMILY, KASPA_FAMILY, SOLANA_FAMILY, TRON_FAMILY, Chain
from mockserver.engine.refusal import Refusal
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import Response
from mockserver.jsontext import Json
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.node import kaspa, solana, tron
from mockserver.worlds.node.evm_methods import CHANGING, METHODS, RpcMethod
from mockserver.worlds.node.json_rpc_calls import (
    BAD_PARAMS,
    INVALID,
    REFUSED,
    UNKNOWN_METHOD,
    UNREADABLE,
    RpcCall,
    RpcError,
)
from mockserver.worlds.node.rest_calls import RestCall, refusal


def answer(
    hosted: HostedWorld, nickname: str, body: Json, more: Mapping[str, RpcMethod] | None = None
) -> Json:
    """Return the JSON-RPC answer to a call, or to a batch of them; None for what wants none.

    A single call may be of the methods in `more` as well.
    """
    try:
        chain = hosted.world.scenario.catalog.chain(nickname)
    except Refusal as refusal:
        return _error(None, RpcError(INVALID, refusal.reason))
    if isinstance(body, Sequence) and not isinstance(body, str):
        if not body:
            return _error(None, RpcError(INVALID, "empty batch"))
        if len(body) > limits.BATCH.most:
            text = f"batch too large: at most {limits.BATCH}, got {len(body)}"
            return _error(None, RpcError(INVALID, text))
        answers = [_answer_to_call(hosted, chain, call) for call in body]
        return [each for each in answers if each is not None] or None
    return _answer_to_call(hosted, chain, body, more)


def unreadable(reason: str) -> Json:
    """Return the answer to a text that is no JSON."""
    return _error(None, RpcError(UNREADABLE, reason))


def refused(body: Json, reason: str) -> Json:
    """Return the answer to a call, or a batch of them, that was not carried out."""
    number = body.get("id") if isinstance(body, Mapping) else None
    return _error(number, RpcError(INVALID, reason))


def changes(body: Json) -> bool:
    """Whether a call, or one of a batch, changes more than how far somebody has read."""
    calls = body if isinstance(body, list) else [body]
    named = [call.get("method") for call in calls if isinstance(call, Mapping)]
    return any(isinstance(name, str) and name in _CHANGING for name in named)


def rest(call: RestCall) -> Json | Response:
    """Return the answer of a node that is asked over HTTP by paths, as those of Tron are.

    Raises `BadTransaction` and `SigningUnavailable`.
    """
    node = _REST.get(call.chain.family)
    if node is None:
        name = call.chain.nickname
        return refusal(404, {"error": f"{name!r} has no node that answers at paths here"})
    return node.answer(call)


def changes_at(call: RestCall) -> bool:
    """Whether a call over HTTP changes more than how far somebody has read."""
    node = _REST.get(call.chain.family)
    return node is not None and call.path[-1] in node.CHANGING


_METHODS: Mapping[int, Mapping[str, RpcMethod]] = MappingProxyType(
    {EVM_FAMILY: METHODS, SOLANA_FAMILY: solana.METHODS}
)
_CHANGING = CHANGING | solana.CHANGING

_REST: Mapping[int, ModuleType] = MappingProxyType({TRON_FAMILY: tron, KASPA_FAMILY: kaspa})


def _answer_to_call(
    hosted: HostedWorld, chain: Chain, call: Json, more: Mapping[str, RpcMethod] | None = None
) -> Json:
    number: Json = None
    try:
        if not isinstance(call, Mapping) or not isinstance(call.get("method"), str):
            raise RpcError(INVALID, "invalid request: expected an object with 'method'")
        call_id, params = call.get("id"), call.get("params")
        if isinstance(call_id, bool) or not isinstance(call_id, str | int | Decimal | None):
            raise RpcError(INVALID, "invalid request: 'id': expected text, a number or null")
        number = call_id
        if call.get("jsonrpc") != "2.0":
            raise RpcError(INVALID, "invalid request: 'jsonrpc': expected '2.0'")
        methods = _METHODS.get(chain.family)
        if methods is None:
            raise RpcError(REFUSED, f"{chain.nickname!r} has no node with JSON-RPC here")
        method = (more or {}).get(call["method"]) or methods.get(call["method"])
        if method is None and not chain.evm:
            raise RpcError(UNKNOWN_METHOD, "Method not found")
        if method is None:
            # Libraries fall back by these very words, which are those of geth.
            name = call["method"][:60]
            text = f"the method {name} does not exist/is not available"
            raise RpcError(UNKNOWN_METHOD, text)
        if not isinstance(params, Sequence | None) or isinstance(params, str):
            raise RpcError(BAD_PARAMS, "non-array args: 'params': expected an array")
        answer = {
            "jsonrpc": "2.0",
            "id": number,
            "result": method(RpcCall(hosted, chain, params or ())),
        }
    except RpcError as error:
        answer = _error(number, error)
    except Refusal as refusal:
        answer = _error(number, RpcError(REFUSED, refusal.reason))
    except CrosschainMockError as error:
        answer = _error(number, RpcError(REFUSED, str(error)))
    return None if _wants_none(call) else answer


def _wants_none(call: Json) -> bool:
    """Tell whether a call is a notification, which is carried out and never answered."""
    return (
        isinstance(call, Mapping)
        and "id" not in call
        and call.get("jsonrpc") == "2.0"
        and isinstance(call.get("method"), str)
    )


def _error(number: Json, error: RpcError) -> Json:
    error_json: dict[str, Json] = {"code": error.code, "message": str(error)}
    if error.data is not None:
        error_json["data"] = error.data
    return {"jsonrpc": "2.0", "id": number, "error": error_json}
