"""The token of one world: whoever has it may steer that world, and no other."""

from hashlib import blake2b
from hmac import compare_digest
from secrets import token_hex

from mockserver.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class WorldToken:
    """A token of which a salted digest is kept alone, so that nothing can print it."""

    salt: str
    digest: str

    @classmethod
    def of(cls, text: str) -> "WorldToken":
        salt = token_hex(8)
        return cls(salt, _digest(salt, text))

    def opens(self, sent: str) -> bool:
        """Tell whether what was sent is the token, in a time that says nothing about it."""
        return compare_digest(_digest(self.salt, sent), self.digest)


def _digest(salt: str, text: str) -> str:
    # Surrogates stand for bytes that are no UTF-8; no token has any.
    raw = text.encode("utf-8", "surrogatepass")
    return blake2b(raw, salt=bytes.fromhex(salt), digest_size=32).hexdigest()
