"""Bodies in recording files: JSON where that gives the same bytes, else text, base64 or a file."""

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mockserver import limits, userfiles
from mockserver.documents import Document, FieldPath
from mockserver.errors import InvalidFile
from mockserver.jsontext import Json
from mockserver.recordings.layouts import LAYOUTS, encode, layout_of

FOLDER = "bodies"
"""Name of the folder beside a recording that holds large bodies."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

DEFAULT_LAYOUT = next(iter(LAYOUTS))


def shown(body: bytes) -> dict[str, Json]:
    """Return the members of a request or an answer that show a body, the most readable way."""
    if not body:
        return {}
    found = layout_of(body)
    if found is not None:
        layout, value = found
        return {"body": value} | ({} if layout == DEFAULT_LAYOUT else {"layout": layout})
    text = as_text(body)
    if text is not None:
        return {"bodyText": text}
    return {"bodyBase64": base64.b64encode(body).decode()}


def read(document: Document, place: FieldPath, part: Mapping[str, Any]) -> bytes:
    """Return the body that the members of a request or an answer show.

    Raises `InvalidFile` where a file that holds one is missing or is not what was recorded.
    """
    if "body" in part:
        return encode(part["body"], part.get("layout", DEFAULT_LAYOUT))
    if "bodyText" in part:
        return str(part["bodyText"]).encode()
    if "bodyBase64" in part:
        return base64.b64decode(part["bodyBase64"])
    if "bodyFile" in part:
        return _from_file(document, (*place, "bodyFile"), part["bodyFile"])
    return b""


def file_name(body: bytes, checksum: str) -> str:
    """Return the name of the file that holds a large body; it ends by what is in it."""
    kind = "json" if body[:1] in (b"{", b"[") else "txt" if as_text(body) is not None else "bin"
    return f"{checksum[:32]}.{kind}"


def checksum_of(body: bytes) -> str:
    """Return the SHA-256 of a body in hexadecimal digits."""
    return hashlib.sha256(body).hexdigest()


def _from_file(document: Document, place: FieldPath, named: Mapping[str, str]) -> bytes:
    file = Path(document.file).parent / FOLDER / named["name"]
    try:
        body = userfiles.read(file, limits.RECORDED_BODY)
    except userfiles.NotReadable as error:
        raise InvalidFile([document.problem(place, f"{file} {error}")]) from None
    if checksum_of(body) != named["sha256"]:
        raise InvalidFile([document.problem(place, f"{file} is not what was recorded")])
    return body


def as_text(body: bytes) -> str | None:
    """Return a body as text that YAML can carry, or None."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if _CONTROL.search(text) else text
