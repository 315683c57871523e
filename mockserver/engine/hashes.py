"""Hashes: of transactions in one normal form by kind of chain, and numbers that only look random.

The normal form is what makes a deposit one order (A-080). Whatever looks random in a world is
derived from its seed and a name by hashing.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType

from mockserver.engine.catalog import EVM_FAMILY, SOLANA_FAMILY, TRON_FAMILY, Chain
from mockserver.engine.refusal import Refusal, excerpt
from mockserver.fast_dataclass import dataclass
from mockserver.signing.base58 import base58


@dataclass(frozen=True, slots=True)
class HashForm:
    """How a kind of chain writes hashes.

    `prefix` is what the normal form of a hexadecimal hash begins with; where it is None, the text
    is its own normal form.
    """

    pattern: re.Pattern[str]
    words: str
    prefix: str | None = None

    def normal(self, text: str) -> str | None:
        if not self.pattern.fullmatch(text):
            return None
        return text if self.prefix is None else self.prefix + text[-64:].lower()


_PREFIXED = HashForm(re.compile("0x[0-9a-fA-F]{64}"), "'0x' and 64 hexadecimal digits", "0x")
_BARE = HashForm(re.compile("(?:0x)?[0-9a-fA-F]{64}"), "64 hexadecimal digits", "")
_BASE58 = HashForm(re.compile("[1-9A-HJ-NP-Za-km-z]{64,88}"), "64 to 88 characters of base 58")
_OTHER_CHAINS = HashForm(
    re.compile("[!-~]{16,128}"), "16 to 128 printable characters without blanks"
)

# EVM, UTXO, Tron, Kaspa, Solana and Aptos (KF); every other family has the widest form.
_BY_FAMILY: Mapping[int, HashForm] = MappingProxyType(
    {
        EVM_FAMILY: _PREFIXED,
        2: _BARE,
        TRON_FAMILY: _BARE,
        6: _BARE,
        SOLANA_FAMILY: _BASE58,
        8: _PREFIXED,
    }
)


def derived_int(seed: int, *parts: object) -> int:
    """Return a number of 256 bits that depends on the seed and the parts alone."""
    return int(_digits((seed, *parts)), 16)


def derived_hash(seed: int, *parts: object) -> str:
    """Return a transaction hash: `0x` and 64 hexadecimal digits."""
    return f"0x{_digits((seed, *parts))}"


def _digits(parts: tuple[object, ...]) -> str:
    text = "\x1f".join(map(str, parts))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash_form(chain: Chain) -> HashForm:
    return _BY_FAMILY.get(chain.family, _OTHER_CHAINS)


def made_up_hash(chain: Chain, seed: int, *parts: object) -> str:
    if hash_form(chain) is _BASE58:
        # A transaction of Solana is a signature of 64 bytes, twice as long as a hash.
        halves = (derived_int(seed, half, *parts).to_bytes(32, "big") for half in range(2))
        return base58(b"".join(halves))
    text = derived_hash(seed, *parts)
    return hash_form(chain).normal(text) or text


def known_hash(chain: Chain, text: str) -> str:
    """Return the normal form of a hash that is looked up; another text stays, and finds nothing."""
    return hash_form(chain).normal(text) or text


def checked_hash(chain: Chain, text: str) -> str:
    """Return the normal form of a hash that is to be kept. Raises `Refusal` for any other text."""
    form = hash_form(chain)
    normal = form.normal(text)
    if normal is not None:
        return normal
    bare = text.strip()
    near = form.normal(bare) or form.normal(f"0x{bare}")
    raise Refusal(
        "bad-hash",
        lambda named: (
            f"transaction hash {excerpt(text)} is none of {named(chain.nickname)!r}; "
            f"send {form.words}{f', here {near!r}' if near else ''}"
        ),
        about="transaction hash",
        nearest=(near,) if near else (),
    )
