"""The nineteen operations as a table: where they are, and what they need."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of sections 4.1 and 4.2."""

    name: str
    method: str
    path: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()

    @property
    def generation(self) -> str:
        """v1 or v2."""
        return self.name.partition(".")[0]


_AUTH = ("appKey", "expireTime", "signature", "timestamp")
_SWAP = ("fromAmount", "fromTokenAddress", "fromDecimal", "toTokenAddress", "toDecimal", "chain")

OPERATIONS: tuple[Operation, ...] = (
    Operation("v1.getSupportChains", "GET", "/open/v1/base/getSupportChains"),
    Operation("v1.getSupportTokens", "GET", "/open/v1/base/getSupportTokens", ("chain",)),
    Operation(
        "v1.getCrossChainQuote",
        "POST",
        "/open/v1/order/getCrossChainQuote",
        ("amount", "fromChain", "toChain", "token", "feeLevel"),
        headers=_AUTH,
    ),
    Operation(
        "v1.getTransferToMinterRaw",
        "POST",
        "/open/v1/order/getTransferToMinterRaw",
        ("amount", "chain", "evmAddress", "token", "fromAddress"),
        headers=_AUTH,
    ),
    Operation(
        "v1.submitCrossChain",
        "POST",
        "/open/v1/order/submitCrossChain",
        (
            "fromAmount",
            "fromChain",
            "evmAddres",
            "fromToken",
            "fromAddress",
            "certHash",
            "toChain",
            "feeLevel",
        ),
        headers=_AUTH,
    ),
    Operation(
        "v1.getOrderDetail",
        "GET",
        "/open/v1/order/getOrderDetailByHashAndEvmAddress",
        ("chain", "hash", "evmAddress"),
        headers=_AUTH,
    ),
    Operation("v2.getChain", "GET", "/v1/getChain"),
    Operation("v2.getAssets", "GET", "/v1/getAssets"),
    Operation("v2.getAssetsByChain", "GET", "/v1/getAssetsByChain", ("chain",)),
    Operation(
        "v2.getBridgeQuote",
        "GET",
        "/v1/getBridgeQuote",
        ("amount", "symbol", "fromChain", "toChain"),
    ),
    Operation(
        "v2.getAggregateQuote",
        "GET",
        "/v1/getAggregateQuote",
        (*_SWAP[:5], "fromChain", "toChain"),
    ),
    Operation(
        "v2.getAggregateSwap",
        "GET",
        "/v1/getAggregateSwap",
        (*_SWAP, "sender", "recipient", "slippage", "allowPartialFill"),
        ("aggregator", "routeSummary"),
    ),
    Operation(
        "v2.submitOrder",
        "POST",
        "/v1/submitOrder",
        (
            "channel",
            "execStrategy",
            "extra",
            "orderType",
            "slippage",
            "sourceCerts",
            "timeout",
            "toAddr",
            "toIndex",
            "triggerPrice",
        ),
        ("toChain",),
        ("Evmaddress", "Signature"),
    ),
    Operation("v2.checkOrder", "GET", "/v1/checkOrder", ("id",)),
    Operation("v2.getBalance", "GET", "/v1/getBalance", ("chain", "contractAddress", "address")),
    Operation("v2.getPrice", "GET", "/v1/getPrice", ("chain", "contractAddress", "symbol")),
    Operation(
        "v2.submitTicket",
        "POST",
        "/v1/submitTicket",
        ("hash", "chain"),
        headers=("Evmaddress", "Signature"),
    ),
    Operation(
        "v2.getAllTicketByAddress", "GET", "/v1/getAllTicketByAddress", ("address", "filter")
    ),
    Operation("v2.checkTicket", "GET", "/v1/checkTicket", ("ticketId",)),
)

BY_NAME = {operation.name: operation for operation in OPERATIONS}
BY_PATH = {operation.path: operation for operation in OPERATIONS}
ALL = tuple(BY_NAME)
V1 = tuple(name for name in ALL if name.startswith("v1."))
V2 = tuple(name for name in ALL if name.startswith("v2."))
MAY_BE_EMPTY = frozenset({"execStrategy", "extra"})
