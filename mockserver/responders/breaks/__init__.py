"""Breaks: ways to be wrong all the time, which users switch on to see who notices."""

from mockserver.responders.breaks.active import Breaks, Outcome, breaks_named
from mockserver.responders.breaks.catalogue import CATALOGUE
from mockserver.responders.breaks.values import Act, Break, Layer, Turn, Verdict

__all__ = [
    "CATALOGUE",
    "Act",
    "Break",
    "Breaks",
    "Layer",
    "Outcome",
    "Turn",
    "Verdict",
    "breaks_named",
]
