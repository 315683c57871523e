"""A state machine for the tests of a client: steps are calls to the client, what must hold is ours.

Needs Hypothesis, which the extra `conformance` brings; without it the import says so.
"""

from importlib.util import find_spec

if find_spec("hypothesis") is None:
    raise ImportError("mockserver.machine needs Hypothesis; install 'crosschain-mock[conformance]'")

from mockserver.machine.crosschain import CrosschainMachine, Flow, Route, State, Transfer

__all__ = ["CrosschainMachine", "Flow", "Route", "State", "Transfer"]
