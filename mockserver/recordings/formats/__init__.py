"""Recordings of other tools: HAR, cassettes of VCR.py, WireMock mappings and journals."""

from mockserver.recordings.formats.har import har_text
from mockserver.recordings.formats.importing import (
    FORMATS,
    ForeignRecording,
    read_entries,
    read_foreign,
)
from mockserver.recordings.formats.wiremock import wiremock_text

__all__ = [
    "FORMATS",
    "ForeignRecording",
    "har_text",
    "read_entries",
    "read_foreign",
    "wiremock_text",
]
