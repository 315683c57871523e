"""A mock of a cross-chain transfer and swap service, with contract tests.

Where to look for what: `docs/explanation/where-to-look.md`. For tests in Python see
`mockserver.testing` and the pytest plugin; for tests of a service `mockserver.conformance`.
"""

import logging

__version__ = "0.1.0"

# Whoever imports the package decides where its log goes; the commands write it to stderr.
logging.getLogger(__name__).addHandler(logging.NullHandler())
