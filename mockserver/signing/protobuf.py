"""The wire format of protocol buffers, as far as transactions of Tron use it."""

from collections.abc import Iterable

ProtobufValue = int | bytes

_VARINT, _BYTES = 0, 2
_MOST_SHIFT = 63


class NotProtobuf(ValueError):
    """Bytes that are no message, or one with a kind of field that no transaction has."""


def fields(raw: bytes) -> dict[int, list[ProtobufValue]]:
    """Return the values of a message by field number, each in its order. Raises `NotProtobuf`."""
    values: dict[int, list[ProtobufValue]] = {}
    place = 0
    while place < len(raw):
        key, place = _varint(raw, place)
        number, kind = key >> 3, key & 7
        value: ProtobufValue
        value, place = _varint(raw, place)
        if kind == _BYTES:
            end = place + value
            if end > len(raw):
                raise NotProtobuf("the bytes end too early")
            value, place = raw[place:end], end
        elif kind != _VARINT:
            raise NotProtobuf(f"field {number} is of kind {kind}")
        values.setdefault(number, []).append(value)
    return values


def encoded(members: Iterable[tuple[int, ProtobufValue]]) -> bytes:
    """Return a message of numbered fields; as everywhere, zeros and empty bytes are left out."""
    raw = b""
    for number, value in members:
        if not value:
            continue
        if isinstance(value, bytes):
            raw += _packed(number << 3 | _BYTES) + _packed(len(value)) + value
        else:
            raw += _packed(number << 3 | _VARINT) + _packed(value)
    return raw


def _varint(raw: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        # More than ten bytes are no number of 64 bits, and could be sent without end.
        if place >= len(raw) or shift > _MOST_SHIFT:
            raise NotProtobuf("the bytes end too early")
        byte = raw[place]
        number |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if not byte & 0x80:
            return number, place


def _packed(number: int) -> bytes:
    raw = bytearray()
    while number > 0x7F:
        raw.append(number & 0x7F | 0x80)
        number >>= 7
    raw.append(number)
    return bytes(raw)
