"""A state machine for the tests of a client: steps are calls to it, what must hold is ours."""

from mockserver.machine.crosschain import CrosschainMachine, Flow, Route, State, Transfer

__all__ = ["CrosschainMachine", "Flow", "Route", "State", "Transfer"]
