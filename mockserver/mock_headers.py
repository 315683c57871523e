"""What travels that is of the mock and not of the service: headers, the path of its control API."""

import base64
import hashlib

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
"""The methods that change nothing, and may be sent again (RFC 9110)."""
CONTROL_PATH = "/__mock"
"""What the paths of the control API begin with."""
WORLD_HEADER = "X-Mock-World"
EPOCH_HEADER = "X-Mock-Epoch"
"""Tells a world from an earlier one of its name; a control request may say which it expects."""
TOKEN_HEADER = "X-Mock-Token"  # noqa: S105 (the name of a header)
REFUSAL_HEADER = "X-Mock-Refusal"
SOURCE_HEADER = "X-Mock-Source"
ELAPSED_HEADER = "X-Mock-Virtual-Elapsed"
FAULT_HEADER = "X-Mock-Fault"
MUTATED_HEADER = "X-Mock-Mutated"
ANSWER_HEADERS = (
    *(REFUSAL_HEADER, WORLD_HEADER, EPOCH_HEADER, SOURCE_HEADER),
    *(ELAPSED_HEADER, FAULT_HEADER, MUTATED_HEADER),
)
"""The headers that answers have beside those of the service."""


def policy_hash(text: str) -> str:
    """Return what a Content-Security-Policy calls the one text of a script or style it allows."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
