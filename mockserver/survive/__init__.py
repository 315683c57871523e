"""Which failure costs money? Runs a client again and again, and lets one thing go wrong each time.

`survive(flow)` searches a function; `crosschain-mock survive -- COMMAND` searches a program.
"""

from mockserver.errors import CannotStart
from mockserver.survive.api import FlowEnvironment, Survived, survive
from mockserver.survive.outcomes import RunOutcome, RunResult
from mockserver.survive.possible_failures import UnknownKind
from mockserver.survive.search import Defect, NotUsable, SearchReport

__all__ = [
    "CannotStart",
    "Defect",
    "FlowEnvironment",
    "NotUsable",
    "RunOutcome",
    "RunResult",
    "SearchReport",
    "Survived",
    "UnknownKind",
    "survive",
]
