"""Faults: disturbances put in on purpose, on the way of an answer to the client."""

from mockserver.responders.faults.kinds import KINDS
from mockserver.responders.faults.registry import FAULT_HEADER, FORM, Fault, Faults, Strike, shown
from mockserver.responders.faults.reserved import may_reserve, reserved_strike

__all__ = [
    "FAULT_HEADER",
    "FORM",
    "KINDS",
    "Fault",
    "Faults",
    "Strike",
    "may_reserve",
    "reserved_strike",
    "shown",
]
