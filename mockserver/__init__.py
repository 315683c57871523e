"""An offline stand-in for a cross-chain transfer and swap service, with contract tests."""

__version__ = "0.1.0"
