"""Nodes of chains, as wallet libraries call them: by JSON-RPC, and over HTTP by paths.

No bytecode runs here: calls are answered from the world's lists, its balances and the transactions
on its chains, by the rules of `mockserver.worlds.smart_contracts`.
"""

from mockserver.worlds.node.evm_methods import METHODS
from mockserver.worlds.node.json_rpc_envelope import (
    answer,
    changes,
    changes_at,
    refused,
    rest,
    unreadable,
)
from mockserver.worlds.node.rest_calls import RestCall
from mockserver.worlds.node.subscriptions import Subscriptions, has_subscriptions

__all__ = [
    "METHODS",
    "RestCall",
    "Subscriptions",
    "answer",
    "changes",
    "changes_at",
    "has_subscriptions",
    "refused",
    "rest",
    "unreadable",
]
