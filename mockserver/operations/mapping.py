"""Which function gives an operation its meaning, and which input a refusal of the world blames."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mockserver.contract import Inputs
from mockserver.engine.world import World
from mockserver.jsontext import Json
from mockserver.operations import v1, v2

OperationFunction = Callable[[World, Inputs], Json]

OPERATIONS: Mapping[str, OperationFunction] = MappingProxyType(
    {
        "v1.getSupportChains": v1.get_support_chains,
        "v1.getSupportTokens": v1.get_support_tokens,
        "v1.getCrossChainQuote": v1.get_cross_chain_quote,
        "v1.getTransferToMinterRaw": v1.get_transfer_to_minter_raw,
        "v1.submitCrossChain": v1.submit_cross_chain,
        "v1.getOrderDetailByHashAndEvmAddress": v1.get_order_detail_by_hash_and_evm_address,
        "v1.getOrderDetail": v1.get_order_detail,
        "v1.getAggregateQuote": v1.get_aggregate_quote,
        "v1.submitAggregate": v1.submit_aggregate,
        "v1.getTokenPrice": v1.get_token_price,
        "v2.getChain": v2.get_chain,
        "v2.getAssets": v2.get_assets,
        "v2.getAssetsByChain": v2.get_assets_by_chain,
        "v2.getBridgeQuote": v2.get_bridge_quote,
        "v2.getAggregateQuote": v2.get_aggregate_quote,
        "v2.getAggregateSwap": v2.get_aggregate_swap,
        "v2.submitOrder": v2.submit_order,
        "v2.checkOrder": v2.check_order,
        "v2.getBalance": v2.get_balance,
        "v2.getPrice": v2.get_price,
        "v2.submitTicket": v2.submit_ticket,
        "v2.getAllTicketByAddress": v2.get_all_ticket_by_address,
        "v2.checkTicket": v2.check_ticket,
        "v2.getVaultAddress": v2.get_vault_address,
        "v2.getOrderIdByHash": v2.get_order_id_by_hash,
        "v2.getChainGasUsd": v2.get_chain_gas_usd,
        "v2.getTokenInfo": v2.get_token_info,
        "v2.getUserTokens": v2.get_user_tokens,
    }
)
"""Meaning by operation id."""

_INPUTS_ABOUT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "chain": ("chain",),
        "source chain": ("fromChain", "chain", "sourceCerts"),
        "target chain": ("toChain", "chain"),
        "token": ("token", "symbol", "fromToken"),
        "token address": ("contractAddress", "tokenAddress"),
        "source token": ("fromTokenAddress", "fromToken", "sourceCerts", "token", "symbol"),
        "target token": ("toTokenAddress", "toToken", "toIndex", "token", "symbol"),
        "source token address": ("fromTokenAddress",),
        "target token address": ("toTokenAddress",),
        "source decimals": ("fromDecimal",),
        "target decimals": ("toDecimal",),
        "amount": ("amount", "fromAmount", "sourceCerts"),
        "fee level": ("feeLevel",),
        "channel fee": ("channelFeeRate", "extra"),
        "slippage": ("slippage",),
        "aggregator": ("aggregator",),
        "partial fill": ("allowPartialFill",),
        "sender": ("sender", "fromAddress", "sourceCerts", "evmAddress", "userAddress"),
        "source address": ("fromAddress",),
        "recipient": ("recipient", "toAddr", "toAddress", "evmAddress"),
        "user address": ("evmAddress", "userAddress", "address"),
        "address": ("address",),
        "order": ("id",),
        "order number": ("sn",),
        "order information": ("sourceCerts",),
        "order rules": ("extra",),
        "signer chain": ("signerChain",),
        "transaction hash": ("certHash", "hash", "sourceCerts"),
        "ticket": ("ticketId",),
    }
)


def field_about(about: str | None, inputs: Inputs) -> str:
    """Return how the client calls what a refusal is about; empty where no input is to blame."""
    for role in _INPUTS_ABOUT.get(about or "", ()):
        if inputs.has(role):
            return inputs.wire_name(role)
    return ""
