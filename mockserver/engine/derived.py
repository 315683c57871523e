"""Numbers that look random and are not: derived from a world's seed and a name by hashing."""

from hashlib import sha256


def derived_int(seed: int, *parts: object) -> int:
    """Return a number of 256 bits that depends on the seed and the parts alone."""
    text = "\x1f".join(map(str, (seed, *parts)))
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")


def derived_hash(seed: int, *parts: object) -> str:
    """Return a transaction hash: `0x` and 64 hexadecimal digits."""
    return f"0x{derived_int(seed, *parts):064x}"
