"""Recursive length prefix, the encoding of Ethereum transactions: byte strings and lists."""

from collections.abc import Sequence

Item = bytes | list["Item"]


class NotRlp(ValueError):
    """Bytes that are no single encoded item."""


def encoded(item: bytes | Sequence[Item]) -> bytes:
    """Return the encoding of a byte string, or of a list of items."""
    if isinstance(item, bytes):
        # Such a byte is its own encoding.
        if len(item) == 1 and item[0] < 0x80:
            return item
        return _head(0x80, len(item)) + item
    body = b"".join(map(encoded, item))
    return _head(0xC0, len(body)) + body


def decoded(raw: bytes) -> Item:
    """Return the item that bytes encode, and nothing after it. Raises `NotRlp`."""
    item, rest = _item(raw, 0)
    if rest:
        raise NotRlp(f"{len(rest)} bytes too many")
    # Other bytes would be the same transaction under another hash.
    if encoded(item) != raw:
        raise NotRlp("not the shortest encoding")
    return item


def number(value: int) -> bytes:
    """Return a number as the shortest big-endian byte string; zero is empty."""
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def _head(offset: int, length: int) -> bytes:
    if length < 56:
        return bytes([offset + length])
    size = number(length)
    return bytes([offset + 55 + len(size)]) + size


def _item(raw: bytes, depth: int) -> tuple[Item, bytes]:
    # Transactions nest four deep; what is sent to us must not end in a RecursionError.
    if not raw or depth > 8:
        raise NotRlp("nested too deep" if raw else "ends too early")
    first = raw[0]
    if first < 0x80:
        return raw[:1], raw[1:]
    body, rest = _body(raw, first - (0x80 if first < 0xC0 else 0xC0))
    if first < 0xC0:
        return body, rest
    items: list[Item] = []
    while body:
        item, body = _item(body, depth + 1)
        items.append(item)
    return items, rest


def _body(raw: bytes, head: int) -> tuple[bytes, bytes]:
    start, length = 1, head
    if head > 55:
        start = head - 54
        length = int.from_bytes(raw[1:start], "big")
    end = start + length
    if len(raw) < end:
        raise NotRlp("ends too early")
    return raw[start:end], raw[end:]
