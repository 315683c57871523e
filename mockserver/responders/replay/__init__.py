"""Replay: recorded answers, found by the request, and at the pace of the recording."""

from mockserver.responders.replay.playback_state import BadMode, PlaybackState, ReplayMode

__all__ = ["BadMode", "PlaybackState", "ReplayMode"]
