"""A node of Solana, as web3.js calls it by JSON-RPC.

Signatures, the blockhash and what a sender owns are checked. A transaction is read as one transfer,
of SOL or of a token, with a memo; what else is in it has no effect (A-512).
"""

from mockserver.worlds.node.solana.methods import CHANGING, METHODS
from mockserver.worlds.node.solana.subscriptions import SUBSCRIBING

__all__ = ["CHANGING", "METHODS", "SUBSCRIBING"]
