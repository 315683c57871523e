"""Recordings: files of exchanges, read, written and matched against requests."""

from mockserver.recordings.files import load, load_folder, text_of
from mockserver.recordings.matching import Miss, RequestForm, Shelf, form_of
from mockserver.recordings.recording import RecordedExchange, Recording

__all__ = [
    "Miss",
    "RecordedExchange",
    "Recording",
    "RequestForm",
    "Shelf",
    "form_of",
    "load",
    "load_folder",
    "text_of",
]
