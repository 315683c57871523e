"""Replay: recorded answers, found by what a request asks and at the pace they were recorded at."""

from mockserver.responders.replay.state import BadMode, PlaybackState, ReplayMode

__all__ = ["BadMode", "PlaybackState", "ReplayMode"]
