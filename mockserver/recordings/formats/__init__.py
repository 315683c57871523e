"""Recordings of other tools: HAR, cassettes of VCR.py, WireMock mappings and journals."""

from mockserver.recordings.formats.exporting import EXPORTS, Exported, exported
from mockserver.recordings.formats.importing import (
    FORMATS,
    ForeignRecording,
    read_entries,
    read_foreign,
)
from mockserver.recordings.formats.wiremock import ComparedHeaders

__all__ = [
    "EXPORTS",
    "FORMATS",
    "ComparedHeaders",
    "Exported",
    "ForeignRecording",
    "exported",
    "read_entries",
    "read_foreign",
]
