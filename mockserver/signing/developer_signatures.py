"""v1 developer signatures: HMAC-SHA256 over the body's members and three headers (facts §3.1).

Five public implementations agree (OAE, CSE, GB-sig, RUB, ESSAPI).
"""

import hmac
from hashlib import sha256

from mockserver.fast_dataclass import dataclass
from mockserver.signing import javascript

SIGNED = ("appKey", "expireTime", "timestamp")
HEADERS = (*SIGNED, "signature")
"""The headers of a developer account (section 5)."""
IN_LOWER_CASE = frozenset(map(str.lower, HEADERS))
"""Their names, as headers are compared."""

EXPIRE_MS = 15_000
"""How long a request is valid where nobody says so, in milliseconds."""


@dataclass(frozen=True, slots=True)
class DeveloperHeaders:
    """The headers that are signed, as they are sent: `expireTime` and `timestamp` in ms."""

    app_key: str
    expire_time: str
    timestamp: str

    def text(self) -> str:
        """Return their part of the signed text; their names are in order as they stand."""
        return f"appKey={self.app_key}expireTime={self.expire_time}timestamp={self.timestamp}"

    def signed(self, made: str) -> dict[str, str]:
        """Return them with their names, and with a signature."""
        sent = (self.app_key, self.expire_time, self.timestamp, made)
        return dict(zip(HEADERS, sent, strict=True))


def signed_text(body: bytes, headers: DeveloperHeaders, *, numbers_as_sent: bool = True) -> str:
    """Return the text to sign: the body's members by key, then the headers, nothing between.

    A GET has no body, and its query is not signed (OAE). Raises `NotJson` for a body that is no
    JSON object.
    """
    parts = (
        f"{key}={javascript.to_string(value, numbers_as_sent=numbers_as_sent)}"
        for key, value in javascript.in_key_order(javascript.members(body))
    )
    return "".join(parts) + headers.text()


def accepted_texts(body: bytes, headers: DeveloperHeaders) -> tuple[str, ...]:
    """Return the texts whose signatures are taken: numbers as sent, else as JavaScript reads them.

    The two differ only where a client writes a number in another form than JavaScript would.
    """
    forms = (signed_text(body, headers, numbers_as_sent=sent) for sent in (True, False))
    # Mostly both are the same text, which is then signed once.
    return tuple(dict.fromkeys(forms))


def signature(text: str, secret: str) -> str:
    """Return the signature of a text: 64 hex digits in lower case."""
    return hmac.new(javascript.utf8(secret), javascript.utf8(text), sha256).hexdigest()


def matches(came: str, body: bytes, headers: DeveloperHeaders, secret: str) -> bool:
    """Tell whether a signature is that of a request under a secret."""
    return any(
        # In constant time, as a service does; as bytes, since it takes no text beyond ASCII.
        hmac.compare_digest(signature(text, secret).encode(), came.encode("utf-8", "replace"))
        for text in accepted_texts(body, headers)
    )
