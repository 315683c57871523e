"""Whoever may answer a request: stubs, recordings, the simulation, in this order."""
