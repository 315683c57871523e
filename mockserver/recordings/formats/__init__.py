"""Recordings of other tools: HAR, cassettes of VCR.py, WireMock mappings and journals."""

from mockserver.recordings.formats.foreign import ForeignExchange, ForeignRecording, Skipped
from mockserver.recordings.formats.har import har_text
from mockserver.recordings.formats.reading import FORMATS, read_foreign
from mockserver.recordings.formats.wiremock import wiremock_text

__all__ = [
    "FORMATS",
    "ForeignExchange",
    "ForeignRecording",
    "Skipped",
    "har_text",
    "read_foreign",
    "wiremock_text",
]
