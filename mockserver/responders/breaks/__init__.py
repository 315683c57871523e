"""Breaks: ways to be wrong all the time, which users switch on to see who notices.

Their catalogue is imported when a break is requested: most servers have none.
"""

from mockserver.responders.breaks.active import BreakOutcome, Breaks, breaks_named
from mockserver.responders.breaks.mutations import Break, Mutation, MutationContext

__all__ = ["Break", "BreakOutcome", "Breaks", "Mutation", "MutationContext", "breaks_named"]
