"""Faults: disturbances of an answer on its way to the client, set on purpose."""
