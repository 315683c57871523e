"""Chains as a wallet sees them: JSON-RPC calls, and transactions that it broadcasts."""
