"""The operations by their ids: the one place in code that spells them.

A test checks that each is in `schemas/endpoints.yaml`, or added to it by an erratum.
"""

CHAINS, ASSETS, OF_CHAIN = "v2.getChain", "v2.getAssets", "v2.getAssetsByChain"
BRIDGE, SWAP_QUOTE, SWAP = "v2.getBridgeQuote", "v2.getAggregateQuote", "v2.getAggregateSwap"
BALANCE, PRICE = "v2.getBalance", "v2.getPrice"
ORDER, CHECK = "v2.submitOrder", "v2.checkOrder"
TICKET, CHECK_TICKET, TICKETS = "v2.submitTicket", "v2.checkTicket", "v2.getAllTicketByAddress"
V1_CHAINS, V1_TOKENS = "v1.getSupportChains", "v1.getSupportTokens"
V1_QUOTE, V1_RAW = "v1.getCrossChainQuote", "v1.getTransferToMinterRaw"
V1_ORDER, V1_DETAIL = "v1.submitCrossChain", "v1.getOrderDetailByHashAndEvmAddress"

# Errata add these.
V1_SWAP_QUOTE, V1_SWAP_ORDER = "v1.getAggregateQuote", "v1.submitAggregate"
V1_TOKEN_PRICE, USER_TOKENS = "v1.getTokenPrice", "v2.getUserTokens"
V1_DETAIL_BY_NUMBER, V1_SIGN = "v1.getOrderDetail", "v1.getSign"

TOKEN_LISTS = (ASSETS, OF_CHAIN, V1_TOKENS)
"""The lists of tokens of both generations."""
LISTS = (CHAINS, V1_CHAINS, *TOKEN_LISTS)
"""The lists of chains and of tokens of both generations."""
QUOTES = (BRIDGE, SWAP_QUOTE, V1_QUOTE)
"""The quotes of the description."""
WRITES = (ORDER, V1_ORDER, TICKET)
"""The operations of the description that submit something."""
SUBMITTED_ORDERS = (ORDER, V1_ORDER, V1_SWAP_ORDER)
"""The operations that take an order."""
V1_DETAILS = (V1_DETAIL, V1_DETAIL_BY_NUMBER)
"""The operations that return the status of a v1 order."""
FLOWS = {"v1": (V1_ORDER, V1_DETAIL), "v2": (ORDER, CHECK)}
"""Of each generation the operation that takes an order, and the one that returns its status."""
