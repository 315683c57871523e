"""Replay: recorded answers, found by what a request asks and at the pace they were recorded at."""

from mockserver.responders.replay.mode import BadMode, ReplayMode
from mockserver.responders.replay.played import Played

__all__ = ["BadMode", "Played", "ReplayMode"]
