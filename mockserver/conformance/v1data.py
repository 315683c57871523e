"""The `data` of v1 answers, whose form is not documented (interface.md 2.1): found by role."""

from collections.abc import Iterator, Mapping

from mockserver.conformance.listing import folded
from mockserver.jsontext import Json

ROLES: Mapping[str, tuple[str, ...]] = {
    "amountIn": ("amountIn", "fromAmount", "inAmount", "amount", "inputAmount"),
    "amountOut": (
        "amountOut",
        "toAmount",
        "outAmount",
        "receiveAmount",
        "outputAmount",
        "receive",
        "out",
        "expectedAmount",
    ),
    "fee": ("fee", "serviceFee", "feeAmount"),
    "gas": ("gas", "gasFee", "networkFee"),
    "tokenIn": ("tokenIn", "token", "fromToken", "symbol"),
    "raw": ("raw", "rawTransaction", "rawTx", "tx", "transaction", "data", "unsigned"),
    "number": ("sn", "orderId", "id", "orderNo", "orderSn", "order"),
    "status": ("status", "orderStatus", "state"),
    "hash": ("certHash", "hash", "fromHash", "txHash", "sourceHash"),
    "fromAddress": ("fromAddress", "evmAddress", "evmAddres", "address", "user", "sender"),
    "fromChain": ("fromChain", "chain", "sourceChain"),
    "toChain": ("toChain", "targetChain", "destinationChain", "destChain"),
    "fromToken": ("fromToken", "token", "symbol", "tokenIn"),
    "fromAmount": ("fromAmount", "amount", "amountIn"),
}
"""The member names that may play a role, the observed ones first (OAE, ESS1)."""

_DEEPEST = 4
_MOST = 200


def scalar(data: Json, role: str) -> Json:
    """Return the text or number that plays a role, wherever in `data` it stands; None without."""
    found: dict[str, Json] = {}
    for name, value in _scalars(data, 0):
        found.setdefault(folded(name), value)
    return next((found[one] for one in map(folded, ROLES[role]) if one in found), None)


def holds(data: Json, wanted: str) -> bool:
    """Tell whether some text in `data` is the wanted one, in any case."""
    return any(
        isinstance(value, str) and value.lower() == wanted.lower() for _, value in _scalars(data, 0)
    )


def _scalars(data: Json, depth: int) -> Iterator[tuple[str, Json]]:
    """Yield names and values of texts and numbers, outer ones first."""
    if depth > _DEEPEST:
        return
    pairs = list(data.items()) if isinstance(data, Mapping) else []
    if isinstance(data, list):
        pairs = [("", value) for value in data]
    inner: list[Json] = []
    for name, value in pairs[:_MOST]:
        if isinstance(value, Mapping | list):
            inner.append(value)
        elif value is not None and not isinstance(value, bool):
            yield name, value
    for value in inner:
        yield from _scalars(value, depth + 1)
