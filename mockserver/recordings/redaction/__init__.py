"""Redaction: no secret reaches a file, and values can be replaced by stand-ins of the same form."""

from mockserver.recordings.redaction.masker import Masker
from mockserver.recordings.redaction.redactor import Redactor, log_line
from mockserver.recordings.redaction.secret_names import read_contract
from mockserver.recordings.redaction.standins import KINDS, new_salt

__all__ = ["KINDS", "Masker", "Redactor", "log_line", "new_salt", "read_contract"]
