"""Nodes of EVM chains, as wallet libraries call them by JSON-RPC.

No bytecode runs here: calls are answered from the world's lists, its balances and the transactions
on its chains, by the rules of `mockserver.worlds.contracts`.
"""

from mockserver.worlds.node.answering import answer, changes
from mockserver.worlds.node.methods import METHODS

__all__ = ["METHODS", "answer", "changes"]
