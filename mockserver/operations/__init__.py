"""Operations: wire names on one side, meaning on the other; nothing is parsed or wrapped here.

`OPERATIONS` has the function of each, `field_about` the input that a refusal of the world blames.
"""

from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, MappingProxyType, ModuleType

from mockserver.contract import Inputs
from mockserver.engine.world import World
from mockserver.jsontext import Json
from mockserver.operations import v1, v2

__all__ = ["OPERATIONS", "OperationFunction", "field_about"]

OperationFunction = Callable[[World, Inputs], Json]


def _named(generation: str, module: ModuleType) -> Iterator[tuple[str, OperationFunction]]:
    """Yield the functions of a file by the operations that they are called after."""
    for name, value in vars(module).items():
        # Not what the file imports, which is of another module.
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            first, *rest = name.split("_")
            # The parts of several operations begin with an underscore.
            if first:
                yield f"{generation}.{first}{''.join(map(str.capitalize, rest))}", value


OPERATIONS: Mapping[str, OperationFunction] = MappingProxyType(
    {**dict(_named("v1", v1)), **dict(_named("v2", v2))}
)
"""Meaning by operation id: `v2.getChain` is what `get_chain` in `v2.py` says."""

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
