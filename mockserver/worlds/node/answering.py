"""The envelope of JSON-RPC: calls, batches of them, and errors."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from mockserver import limits
from mockserver.engine.catalog import Chain
from mockserver.engine.refusal import Refusal
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.node.methods import CHANGING, METHODS
from mockserver.worlds.node.rpc import (
    BAD_PARAMS,
    INVALID,
    REFUSED,
    UNKNOWN_METHOD,
    RpcCall,
    RpcError,
)


def answer(hosted: HostedWorld, nickname: str, body: Json) -> Json:
    """Return the JSON-RPC answer to a call, or to a batch of them."""
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
        return [_answer_to_call(hosted, chain, call) for call in body]
    return _answer_to_call(hosted, chain, body)


def changes(body: Json) -> bool:
    """Whether a call, or one of a batch, changes more than how far somebody has read."""
    calls = body if isinstance(body, list) else [body]
    named = [call.get("method") for call in calls if isinstance(call, Mapping)]
    return any(isinstance(name, str) and name in CHANGING for name in named)


def _answer_to_call(hosted: HostedWorld, chain: Chain, call: Json) -> Json:
    number: Json = None
    try:
        if not isinstance(call, Mapping) or not isinstance(call.get("method"), str):
            raise RpcError(INVALID, "no JSON-RPC call: expected an object with 'method'")
        call_id, params = call.get("id"), call.get("params", [])
        if isinstance(call_id, bool) or not isinstance(call_id, str | int | Decimal | None):
            raise RpcError(INVALID, "'id': expected text, a number or null")
        number = call_id
        method = METHODS.get(call["method"])
        if method is None:
            # Libraries fall back by these very words, which are those of geth.
            name = call["method"][:60]
            text = f"the method {name} does not exist/is not available"
            raise RpcError(UNKNOWN_METHOD, text)
        if not isinstance(params, Sequence) or isinstance(params, str):
            raise RpcError(BAD_PARAMS, "'params': expected an array")
        if not chain.evm:
            raise RpcError(REFUSED, f"{chain.nickname!r} is no EVM chain")
        result = method(RpcCall(hosted, chain, params))
    except RpcError as error:
        return _error(number, error)
    except Refusal as refusal:
        return _error(number, RpcError(REFUSED, refusal.reason))
    except CrosschainMockError as error:
        return _error(number, RpcError(REFUSED, str(error)))
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: Json, error: RpcError) -> Json:
    error_json: dict[str, Json] = {"code": error.code, "message": str(error)}
    if error.data is not None:
        error_json["data"] = error.data
    return {"jsonrpc": "2.0", "id": number, "error": error_json}
