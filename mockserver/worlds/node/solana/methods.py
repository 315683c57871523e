"""The methods of a node of Solana by name: those of blocks, and all in one table."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mockserver.jsontext import Json
from mockserver.worlds.blocks import Block
from mockserver.worlds.node.json_rpc_calls import BAD_PARAMS, RpcCall, RpcError
from mockserver.worlds.node.solana.accounts import (
    account_info,
    accounts_of_owner,
    balance_of,
    least_lamports,
    several_accounts,
    supply,
    token_balance,
)
from mockserver.worlds.node.solana.programs import (
    LIFE,
    blockhash_of,
    is_usable,
    key_at,
    settings_at,
    with_context,
)
from mockserver.worlds.node.solana.sending import airdrop, fee_for, send, simulate
from mockserver.worlds.node.solana.transactions import (
    signature_of,
    signatures_for,
    statuses,
    transaction,
    transaction_json,
)

SolanaMethod = Callable[[RpcCall], Json]


def _slot(call: RpcCall) -> Json:
    return call.blocks.poll()


def _latest(call: RpcCall) -> Json:
    head = call.blocks.poll()
    value = {"blockhash": blockhash_of(call, head), "lastValidBlockHeight": head + LIFE}
    return with_context(call, value)


def _is_valid(call: RpcCall) -> Json:
    return with_context(call, is_usable(call, key_at(call, 0)))


def _numbered(call: RpcCall) -> Block | None:
    number = call.parameter(0)
    if type(number) is not int or number < 0:
        raise RpcError(BAD_PARAMS, "Invalid params: invalid type, expected u64")
    return call.blocks.numbered(number)


def _block(call: RpcCall) -> Json:
    block = _numbered(call)
    if block is None:
        raise RpcError(-32004, f"Block not available for slot {call.parameter(0)}")
    number = block.number
    shown: dict[str, Json] = {
        "blockhash": blockhash_of(call, number),
        "previousBlockhash": blockhash_of(call, max(0, number - 1)),
        "parentSlot": max(0, number - 1),
        "blockHeight": number,
        "blockTime": block.at_ms // 1000,
    }
    detail = settings_at(call, 1).get("transactionDetails", "full")
    if detail == "signatures":
        shown["signatures"] = [signature_of(block)] if block.tx_hash else []
    elif detail != "none":
        shown["transactions"] = [transaction_json(call, block)] if block.tx_hash else []
    return {**shown, "rewards": []}


def _time(call: RpcCall) -> Json:
    block = _numbered(call)
    return None if block is None else block.at_ms // 1000


def _epoch(call: RpcCall) -> Json:
    head, slots = call.blocks.head, 432_000
    return {
        "absoluteSlot": head,
        "blockHeight": head,
        "epoch": head // slots,
        "slotIndex": head % slots,
        "slotsInEpoch": slots,
        "transactionCount": call.blocks.head,
    }


def _genesis(call: RpcCall) -> Json:
    return blockhash_of(call, 0)


METHODS: Mapping[str, SolanaMethod] = MappingProxyType(
    {
        "getHealth": lambda _: "ok",
        "getVersion": lambda _: {"solana-core": "2.0.0", "feature-set": 0},
        "getGenesisHash": _genesis,
        "getEpochInfo": _epoch,
        "getSlot": _slot,
        "getBlockHeight": _slot,
        "getBlock": _block,
        "getBlockTime": _time,
        "getLatestBlockhash": _latest,
        "isBlockhashValid": _is_valid,
        "getFeeForMessage": fee_for,
        "getRecentPrioritizationFees": lambda _: [],
        "getMinimumBalanceForRentExemption": least_lamports,
        "getBalance": balance_of,
        "getAccountInfo": account_info,
        "getMultipleAccounts": several_accounts,
        "getTokenAccountBalance": token_balance,
        "getTokenAccountsByOwner": accounts_of_owner,
        "getTokenSupply": supply,
        "sendTransaction": send,
        "simulateTransaction": simulate,
        "requestAirdrop": airdrop,
        "getSignatureStatuses": statuses,
        "getTransaction": transaction,
        "getSignaturesForAddress": signatures_for,
    }
)
"""The methods by name."""

CHANGING = frozenset({"sendTransaction", "requestAirdrop"})
