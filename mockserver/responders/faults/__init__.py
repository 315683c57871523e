"""Faults: disturbances put in on purpose, on the way of an answer to the client."""

from mockserver.responders.faults.kinds import KINDS
from mockserver.responders.faults.registry import (
    FAULT_HEADER,
    Fault,
    Faults,
    Strike,
    form_of_faults,
    shown,
)
from mockserver.responders.faults.reserved import may_reserve, reserved_strike

__all__ = [
    "FAULT_HEADER",
    "KINDS",
    "Fault",
    "Faults",
    "Strike",
    "form_of_faults",
    "may_reserve",
    "reserved_strike",
    "shown",
]
