"""An offline stand-in for a cross-chain transfer and swap service, with contract tests."""

import logging

__version__ = "0.1.0"

# Whoever imports the package decides where its log goes; the commands write it to stderr.
logging.getLogger(__name__).addHandler(logging.NullHandler())
