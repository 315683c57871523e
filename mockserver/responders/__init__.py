"""Whoever may answer a request: stubs, recordings, the simulation, tried in this order.

`simulation.py` is the usual one. `faults/` disturbs answers for a while, `breaks/` makes them wrong
for good, `replay/` answers from recordings. The order is set in `server/assembly.py`.
"""
