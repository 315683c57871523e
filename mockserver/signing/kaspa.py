"""Kaspa's personal messages: Schnorr signatures over secp256k1 (BIP 340) of a keyed BLAKE2b hash.

Clients sign with their wallet's `signMessage` (GB2-kas, GHOST); how that one works is the chain's
own convention, not the service's (A-073). Verified in plain Python: a few milliseconds each.
"""

from hashlib import blake2b, sha256

from mockserver.signing.secp256k1 import G, N, P, combined, lifted, public_key

_MESSAGE_KEY = b"PersonalMessageSigningHash"
_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_CHECKSUM = 8


def verifies(message: str, public_key: str, signature: str) -> bool:
    """Tell whether a signature (64 bytes in hex) of a message is by a public key in hex."""
    try:
        key, raw = x_only(public_key), bytes.fromhex(signature.removeprefix("0x"))
    except ValueError:
        return False
    return len(raw) == 64 and _schnorr_verifies(_digest(message), key, raw)


def signature(message: str, private_key: bytes) -> tuple[str, str]:
    """Return the signature of a message and the public key, both in hex, for test wallets.

    No randomness is added, so that equal inputs give equal signatures.
    """
    secret = int.from_bytes(private_key, "big")
    point = public_key(secret)
    secret = secret if point[1] % 2 == 0 else N - secret
    key = point[0].to_bytes(32, "big")
    digest = _digest(message)
    mask = int.from_bytes(_tagged("BIP0340/aux", bytes(32)), "big")
    seed = (secret ^ mask).to_bytes(32, "big")
    nonce = int.from_bytes(_tagged("BIP0340/nonce", seed + key + digest), "big") % N
    shared = public_key(nonce)
    nonce = nonce if shared[1] % 2 == 0 else N - nonce
    head = shared[0].to_bytes(32, "big")
    answer = (nonce + _challenge(head, key, digest) * secret) % N
    return (head + answer.to_bytes(32, "big")).hex(), key.hex()


def x_only(public_key: str) -> bytes:
    """Return the 32 bytes of a key given x-only, compressed or whole. Raises `ValueError`."""
    raw = bytes.fromhex(public_key.removeprefix("0x"))
    if len(raw) == 32:
        return raw
    if (len(raw) == 33 and raw[0] in (2, 3)) or (len(raw) == 65 and raw[0] == 4):
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


def _schnorr_verifies(digest: bytes, key: bytes, raw: bytes) -> bool:
    point = lifted(int.from_bytes(key, "big"))
    head, answer = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    if point is None or head >= P or answer >= N:
        return False
    challenge = _challenge(raw[:32], key, digest)
    found = combined((G, answer), (point, N - challenge))
    return found is not None and found[1] % 2 == 0 and found[0] == head


def _challenge(head: bytes, key: bytes, digest: bytes) -> int:
    return int.from_bytes(_tagged("BIP0340/challenge", head + key + digest), "big") % N


def _tagged(tag: str, message: bytes) -> bytes:
    prefix = sha256(tag.encode()).digest()
    return sha256(prefix + prefix + message).digest()
