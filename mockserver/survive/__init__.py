"""Which failure costs money? Runs a client again and again, and lets one thing go wrong each time.

`survive(flow)` searches a function; `crosschain-mock survive -- COMMAND` searches a program.
"""

from mockserver.survive.api import Service, Survived, survive
from mockserver.survive.flows import CannotStart
from mockserver.survive.outcomes import Outcome, Result
from mockserver.survive.search import Defect, Found, NotUsable
from mockserver.survive.space import UnknownKind

__all__ = [
    "CannotStart",
    "Defect",
    "Found",
    "NotUsable",
    "Outcome",
    "Result",
    "Service",
    "Survived",
    "UnknownKind",
    "survive",
]
