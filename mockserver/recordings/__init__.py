"""Recordings: files of exchanges, read, written and matched against requests."""

from mockserver.recordings.files import (
    Source,
    digest,
    gather,
    load,
    load_folder,
    shipped_names,
    text_of,
)
from mockserver.recordings.folder import CannotKeep, FolderBusy, RecordingFolder
from mockserver.recordings.matching import (
    End,
    MatchRule,
    MatchRules,
    RequestForm,
    RequestParts,
    RequestReading,
    load_rules,
    read_request,
)
from mockserver.recordings.recording import RecordedExchange, Recording, StandIns

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
    "digest",
    "gather",
    "load",
    "load_folder",
    "load_rules",
    "read_request",
    "shipped_names",
    "text_of",
]
