"""Faults: disturbances put in on purpose, on the way of an answer to the client."""
