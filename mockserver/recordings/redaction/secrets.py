"""What may be kept of a message, and how known secrets are masked wherever they stand.

Headers are kept by an allow list, members and parameters unless they are named as secrets are.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from html.entities import codepoint2name

REQUEST_HEADERS = frozenset(
    """
    accept address chain content-type evmaddress expiretime publickey timestamp
    """.split()
)
"""Headers of requests that are kept, in lower case: those that select the answer."""

RESPONSE_HEADERS = frozenset(
    """
    cache-control content-language content-type date location retry-after x-mock-refusal
    """.split()
)
"""Headers of answers that are kept, in lower case."""

_PLAIN_HEADERS = frozenset(
    """
    accept-encoding accept-language accept-ranges age alt-svc connection content-encoding
    content-length expect host keep-alive origin pragma sec-fetch-dest sec-fetch-mode
    sec-fetch-site server strict-transport-security te transfer-encoding user-agent vary
    x-content-type-options
    """.split()
)
"""Headers that are left out as well, but whose values are no secrets that may stand elsewhere."""

_SECRET_MEMBERS = frozenset(
    """
    accesskey accesstoken apikey apisecret apitoken appkey appsecret auth authkey
    authorisation authorization authtoken bearer clientsecret cookie cookies credential
    credentials idtoken jwt mnemonic passphrase passwd password privatekey refreshtoken secret
    secretkey seedphrase session sessionid sessiontoken setcookie sig sign signature
    signingkey xapikey
    """.split()
)

_APART = re.compile(r"[^a-z0-9]")


@lru_cache(4096)
def is_secret_member(name: str) -> bool:
    """Tell whether a member, a parameter or a cookie of this name holds a secret."""
    plain = _APART.sub("", name.lower())
    return plain in _SECRET_MEMBERS or plain.removeprefix("x") in _SECRET_MEMBERS


def may_hold_secret(header: str) -> bool:
    """Tell whether the value of a header may be a secret, which may stand elsewhere as well."""
    name = header.lower()
    return name not in _PLAIN_HEADERS | REQUEST_HEADERS | RESPONSE_HEADERS


MASK = b"redacted"
SHORTEST = 6
"""A shorter value is not searched elsewhere: it would match unrelated text."""

_FEWEST_CHARACTERS = 4


def mask_of(length: int) -> bytes:
    """Return the mask of so many bytes."""
    return (MASK * (length // len(MASK) + 1))[:length]


def is_distinctive(value: bytes) -> bool:
    """Tell whether a value is long and varied enough to be searched elsewhere."""
    return len(value) >= SHORTEST and len(set(value)) >= _FEWEST_CHARACTERS


def parts_of(header: str, value: str) -> Iterator[str]:
    """Yield what of a header's value is a secret of its own: the whole, and each part of it."""
    yield value
    if header.lower() in ("cookie", "set-cookie"):
        for pair in value.split(";"):
            yield pair.partition("=")[2].strip().strip('"')
            if header.lower() == "set-cookie":
                return
    scheme, _, rest = value.partition(" ")
    if rest and scheme.isalnum():
        yield rest.strip()
        if scheme.lower() == "basic":
            yield from _basic(rest.strip())


def masked(raw: bytes, secrets: Iterable[bytes]) -> bytes:
    """Return bytes in which no secret stands any more, in whatever form.

    These are: as it is, in UTF-16, hex or base64, or with characters escaped for an address, JSON
    or HTML. The mask has the length and the form of what it covers, so that hex stays hex, and
    base64 that holds a JSON text still does.
    """
    for secret in occurring(raw, secrets):
        raw = _escapes(secret).sub(lambda found: mask_of(len(found[0])), raw)
        raw = raw.replace(_wide(secret), _wide(mask_of(len(secret))))
        raw = _hex(raw, secret)
        raw = _base64(raw, secret)
    return raw


def occurring(raw: bytes, secrets: Iterable[bytes]) -> list[bytes]:
    """Return the secrets that stand somewhere in bytes, in whatever form; the order stays."""
    lowered = raw.lower()
    return [secret for secret in secrets if _occurs(raw, lowered, secret)]


def _occurs(raw: bytes, lowered: bytes, secret: bytes) -> bool:
    # A plain search takes a tenth of the time of the expression, and mostly finds nothing.
    if _longest_word(secret) in lowered and _escapes(secret).search(raw):
        return True
    if secret.hex().encode() in lowered or (b"\0" in raw and _wide(secret) in raw):
        return True
    cores = [core for _, core in _cores(secret)]
    return any(core in raw or core.translate(_TO_URL) in raw for core in cores)


def _basic(text: str) -> Iterator[str]:
    try:
        pair = base64.b64decode(text, validate=True).decode()
    except (ValueError, UnicodeDecodeError):
        return
    yield pair
    yield pair.partition(":")[2]


@lru_cache(512)
def _longest_word(secret: bytes) -> bytes:
    """Return the longest part, in lower case, that is written the same in every text form."""
    return max(re.split(rb"[^a-z0-9]+", secret.lower()), key=len)


@lru_cache(512)
def _escapes(secret: bytes) -> re.Pattern[bytes]:
    """Return an expression of a secret as it is, or with characters escaped."""
    # Whoever reads hexadecimal digits may write them in the other case.
    flags = re.IGNORECASE if re.fullmatch(rb"(?:0x)?[0-9a-fA-F]{16,}", secret) else 0
    return re.compile(b"".join(map(_escapes_of, secret)), flags)


def _escapes_of(code: int) -> bytes:
    """Return an expression of one byte: as it is, in an address, JSON or HTML, also repeatedly."""
    character = bytes([code])
    if character.isalnum():
        return character
    forms = [rb"\\*" + re.escape(character), rb"%%(?:25)*(?i:%02x)" % code]
    if code in _SHORT:
        forms.append(rb"\\+" + _SHORT[code])
    if code < _NOT_ASCII:
        forms.append(rb"\\+u00(?i:%02x)" % code)
        forms.append(rb"&(?:amp;)*(?:#0*%d|#[xX]0*(?i:%x)|%b);" % (code, code, _entity(code)))
    if character == b" ":
        forms.append(rb"\+")
    return b"(?:" + b"|".join(forms) + b")"


_NOT_ASCII = 0x80
_SHORT = {8: b"b", 9: b"t", 10: b"n", 12: b"f", 13: b"r"}
"""The letters by which JSON escapes control characters."""


def _entity(code: int) -> bytes:
    """Return the name that HTML has for a character, `amp`, or what is no name."""
    return codepoint2name.get(code, "apos" if code == ord("'") else "-").encode()


def _wide(text: bytes) -> bytes:
    """Return the bytes that UTF-16 has in common in both orders."""
    return b"\0".join(bytes([code]) for code in text)


def _hex(raw: bytes, secret: bytes) -> bytes:
    wanted = secret.hex().encode()
    hidden = mask_of(len(secret)).hex().encode()
    if wanted in raw:
        raw = raw.replace(wanted, hidden)
    if wanted.upper() in raw:
        raw = raw.replace(wanted.upper(), hidden.upper())
    # Digits of both cases are rare; only then the whole is looked at in lower case.
    lowered = raw.lower()
    at = lowered.find(wanted)
    while at >= 0:
        raw = raw[:at] + hidden + raw[at + len(wanted) :]
        at = lowered.find(wanted, at + len(wanted))
    return raw


@lru_cache(512)
def _cores(secret: bytes) -> tuple[tuple[int, bytes], ...]:
    """Return what base64 makes of a secret wherever it stands, by how many bytes precede it."""
    found = []
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + secret)
        # Characters that also hold bits of a neighbour are left out at both ends.
        begin = -(-shift * 8 // 6)
        end = (shift + len(secret)) * 8 // 6
        found.append((begin, coded[begin:end]))
    return tuple(found)


def _base64(raw: bytes, secret: bytes) -> bytes:
    for shift, (begin, core) in enumerate(_cores(secret)):
        for spelled in dict.fromkeys((core, core.translate(_TO_URL))):
            at = raw.find(spelled)
            while at >= 0:
                raw = _covered(raw, secret, at - begin, shift, spelled != core)
                at = raw.find(spelled, at + 1)
    return raw


_TO_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_", b"+/")
_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def _covered(raw: bytes, secret: bytes, start: int, shift: int, url: bool) -> bytes:
    """Return bytes with the mask in a base64 text, whose group of four begins at `start`."""
    length = -(-(shift + len(secret)) * 8 // 6)
    end = start + -(-length // 4) * 4
    piece = raw[max(start, 0) : end].translate(_FROM_URL)
    inside = 0
    while inside < len(piece) and piece[inside] in _ALPHABET:
        inside += 1
    piece = piece[:inside]
    try:
        if start < 0:
            raise ValueError
        plain = bytearray(base64.b64decode(piece + b"=" * (-len(piece) % 4)))
    except (ValueError, binascii.Error):
        # No whole base64: the stretch itself is covered.
        start = max(start, 0)
        return raw[:start] + mask_of(length) + raw[start + length :]
    plain[shift : shift + len(secret)] = mask_of(len(secret))
    coded = base64.b64encode(bytes(plain)).rstrip(b"=")[: len(piece)]
    coded = coded.translate(_TO_URL) if url else coded
    return raw[:start] + coded + raw[start + len(coded) :]
