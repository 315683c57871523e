"""Numbers that look random and are not: derived from a world's seed and a name by hashing."""

from hashlib import sha256


def derived_int(seed: int, *parts: object) -> int:
    """Return a number of 256 bits that depends on the seed and the parts alone."""
    return int(_digits((seed, *parts)), 16)


def derived_hash(seed: int, *parts: object) -> str:
    """Return a transaction hash: `0x` and 64 hexadecimal digits."""
    return f"0x{_digits((seed, *parts))}"


def _digits(parts: tuple[object, ...]) -> str:
    text = "\x1f".join(map(str, parts))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
