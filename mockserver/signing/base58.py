"""Base 58, as Bitcoin wrote it first: how Tron shows addresses and Solana transactions."""

from hashlib import sha256

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def base58(raw: bytes) -> str:
    """Return bytes in base 58; each leading zero byte is a `1`."""
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = _ALPHABET[digit] + text
    return "1" * (len(raw) - len(raw.lstrip(b"\0"))) + text


def from_base58(text: str) -> bytes:
    """Return the bytes of base 58. Raises `ValueError` for any other text."""
    number = 0
    for char in text:
        number = number * 58 + _ALPHABET.index(char)
    body = number.to_bytes((number.bit_length() + 7) // 8, "big")
    # Leading zero bytes are digits of no value, so each is written as a `1`.
    return bytes(len(text) - len(text.lstrip("1"))) + body


def from_base58_checked(text: str) -> bytes:
    """Return the bytes before a right checksum. Raises `ValueError` for any other text."""
    raw = from_base58(text)
    if base58_checked(raw[:-4]) != text:
        raise ValueError("its checksum is wrong")
    return raw[:-4]


def base58_checked(raw: bytes) -> str:
    """Return bytes in base 58 with the four bytes of their checksum behind them."""
    return base58(raw + sha256(sha256(raw).digest()).digest()[:4])
