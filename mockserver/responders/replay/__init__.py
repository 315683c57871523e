"""Replay: recorded answers, found by what a request asks and at the pace they were recorded at."""

from mockserver.responders.replay.mode import BadMode, ReplayMode
from mockserver.responders.replay.played import Played
from mockserver.responders.replay.tape import Replay, Tape, Usable

__all__ = ["BadMode", "Played", "Replay", "ReplayMode", "Tape", "Usable"]
