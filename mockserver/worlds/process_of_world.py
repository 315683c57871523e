"""Which of several processes has a world: its name alone decides."""

from functools import lru_cache
from hashlib import blake2b


@lru_cache(maxsize=4_096)
def home_of(key: str, workers: int) -> int:
    """Return the number of the worker, from 0, that has the world of a key."""
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) % workers
