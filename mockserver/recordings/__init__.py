"""Recordings: files of exchanges, read, written and matched against requests."""

from mockserver.recordings.files import load, load_folder, text_of
from mockserver.recordings.folder import CannotKeep, FolderBusy, RecordingFolder
from mockserver.recordings.matching import (
    RequestForm,
    RequestParts,
    RequestReading,
    read_request,
)
from mockserver.recordings.recording import RecordedExchange, Recording, StandIns
from mockserver.recordings.rules import End, MatchRule, MatchRules, load_rules
from mockserver.recordings.sources import Source, gather, shipped_names

__all__ = [
    "CannotKeep",
    "End",
    "FolderBusy",
    "MatchRule",
    "MatchRules",
    "RecordedExchange",
    "Recording",
    "RecordingFolder",
    "RequestForm",
    "RequestParts",
    "RequestReading",
    "Source",
    "StandIns",
    "gather",
    "load",
    "load_folder",
    "load_rules",
    "read_request",
    "shipped_names",
    "text_of",
]
