"""Base 58, as Bitcoin wrote it first: how Tron shows addresses and Solana transactions."""

from hashlib import sha256

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def encoded(raw: bytes) -> str:
    """Return bytes in base 58; each leading zero byte is a `1`."""
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = _ALPHABET[digit] + text
    return "1" * (len(raw) - len(raw.lstrip(b"\0"))) + text


def checked(raw: bytes) -> str:
    """Return bytes in base 58 with the four bytes of their checksum behind them."""
    return encoded(raw + sha256(sha256(raw).digest()).digest()[:4])
