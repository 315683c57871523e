"""The ids of the operations that rules are about, as interface.md 4 lists them."""

V1_LISTS = ("v1.getSupportChains", "v1.getSupportTokens")
V1_ORDERS = (
    "v1.getCrossChainQuote",
    "v1.getTransferToMinterRaw",
    "v1.submitCrossChain",
    "v1.getOrderDetailByHashAndEvmAddress",
)
V1 = (*V1_LISTS, *V1_ORDERS)
V2 = (
    "v2.getChain",
    "v2.getAssets",
    "v2.getAssetsByChain",
    "v2.getBridgeQuote",
    "v2.getAggregateQuote",
    "v2.getAggregateSwap",
    "v2.submitOrder",
    "v2.checkOrder",
    "v2.getBalance",
    "v2.getPrice",
    "v2.submitTicket",
    "v2.getAllTicketByAddress",
    "v2.checkTicket",
)
EVERY = (*V1, *V2)
OPEN = (
    *V1_LISTS,
    *(operation for operation in V2 if not operation.startswith("v2.submit")),
)
"""Those for which no authentication is published (interface.md 5)."""
