"""Which headers are kept in a file, and what the others tell of secrets."""

import base64
import re
from collections.abc import Iterator

from mockserver.recordings.redaction.secret_names import Secrecy, secrecy
from mockserver.recordings.redaction.secret_values import is_random, looks_secret

REQUEST_HEADERS = frozenset(
    "accept address chain content-type evmaddress expiretime publickey timestamp".split()
)
"""Headers of requests that are kept, in lower case: those that select the answer."""

RESPONSE_HEADERS = frozenset(
    "cache-control content-language content-type date location retry-after x-mock-refusal".split()
)
"""Headers of answers that are kept, in lower case."""

_OF_EVERY_MESSAGE = frozenset(
    """
    accept-encoding accept-language accept-ranges age alt-svc connection content-encoding
    content-length expect host keep-alive origin pragma sec-fetch-dest sec-fetch-mode
    sec-fetch-site server strict-transport-security te transfer-encoding user-agent vary
    x-content-type-options
    """.split()
)
# Every message has these two as well, and an address or a program may carry a token in them.
_OF_NO_TEXT = _OF_EVERY_MESSAGE - {"origin", "user-agent"}
_APART = re.compile(r"[\s,;=&\"<>?#/:()]+")


def is_noted(name: str) -> bool:
    """Tell whether a header that is left out is named: not one that every message has."""
    return name.lower() not in _OF_EVERY_MESSAGE


def may_tell(name: str) -> bool:
    """Tell whether a header that is not kept may have a secret in it."""
    lowered = name.lower()
    return (
        lowered not in _OF_NO_TEXT
        and lowered not in REQUEST_HEADERS
        and lowered not in RESPONSE_HEADERS
    )


def secrets_of(name: str, value: str) -> Iterator[str]:
    """Yield what is a secret in the value of a header that is not kept, and each part of it."""
    if name.lower() in ("cookie", "set-cookie"):
        pairs = (pair.partition("=") for pair in value.split(";"))
        yield from (
            text.strip(' "')
            for key, _, text in pairs
            if secrecy(key.strip()) or looks_secret(text.strip(' "'))
        )
        return
    said = secrecy(name)
    if said is Secrecy.CERTAIN:
        yield value
        yield from _credentials(value)
    parts = [part for part in _APART.split(value) if part]
    if said is Secrecy.NONE:
        yield from filter(is_random, parts)
    else:
        is_token = "token" in name.lower()
        yield from (part for part in (value, *parts) if looks_secret(part, is_token=is_token))


def _credentials(value: str) -> Iterator[str]:
    scheme, _, rest = value.partition(" ")
    if not rest or not scheme.isalnum():
        return
    yield rest.strip()
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(rest.strip(), validate=True).decode()
        except (ValueError, UnicodeDecodeError):
            return
        yield pair
        yield pair.partition(":")[2]
