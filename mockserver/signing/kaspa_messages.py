"""Kaspa's personal messages: Schnorr signatures over secp256k1 (BIP 340) of a keyed BLAKE2b hash.

Clients sign with their wallet's `signMessage` (GB2-kas, GHOST); how that one works is the chain's
own convention, not the service's (A-073).
"""

from hashlib import blake2b

from mockserver.signing import secp256k1

_MESSAGE_KEY = b"PersonalMessageSigningHash"
_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_CHECKSUM = 8


def verifies(message: str, public_key: str, signature: str) -> bool:
    """Tell whether a signature (64 bytes in hex) of a message is by a public key in hex.

    Raises `SigningUnavailable`.
    """
    try:
        key, raw = x_only(public_key), bytes.fromhex(signature.removeprefix("0x"))
    except ValueError:
        return False
    return len(raw) == 64 and secp256k1.schnorr_verifies(_digest(message), key, raw)


def signature(message: str, private_key: bytes) -> tuple[str, str]:
    """Return the signature of a message and the public key, both in hex, for test wallets.

    No randomness is added, so that equal inputs give equal signatures. Raises
    `SigningUnavailable`, and `ValueError` for a key that is none.
    """
    raw, key = secp256k1.schnorr_signed(_digest(message), private_key)
    return raw.hex(), key.hex()


def x_only(public_key: str) -> bytes:
    """Return the 32 bytes of a key given x-only, compressed or whole. Raises `ValueError`."""
    raw = bytes.fromhex(public_key.removeprefix("0x"))
    if len(raw) == 32:
        return raw
    if (len(raw) == 33 and raw[0] in (2, 3)) or (len(raw) == 65 and raw[0] == 4):
        # The first byte tells of y, which Schnorr signatures do not use.
        return raw[1:33]
    raise ValueError("a public key has 32, 33 or 65 bytes")


def key_of_address(address: str) -> bytes | None:
    """Return the public key that a Kaspa address is made of; None where it has another form."""
    payload = address.rpartition(":")[2]
    if any(char not in _ALPHABET for char in payload) or len(payload) <= _CHECKSUM:
        return None
    bits = "".join(f"{_ALPHABET.index(char):05b}" for char in payload[:-_CHECKSUM])
    # Groups of five bits end in padding; what fills no byte is not part of the address.
    size = len(bits) // 8
    raw = int(bits[: size * 8] or "0", 2).to_bytes(size, "big")
    return raw[1:] if len(raw) == 33 and raw[0] == 0 else None


def _digest(message: str) -> bytes:
    return blake2b(message.encode("utf-8", "replace"), digest_size=32, key=_MESSAGE_KEY).digest()
