"""The curve secp256k1, from a library of the extra `signing`: ECDSA, and Schnorr signatures.

Keys are 32 bytes and points 64 (x and y); `odd` tells whether a point's y is odd, as 0 or 1.
"""

from typing import TYPE_CHECKING

from mockserver.signing import wallet_libraries

if TYPE_CHECKING:
    from coincurve import PrivateKey, PublicKey


MOST_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
"""Half the order of the curve: of the two s of a signature chains take the smaller (EIP-2)."""


def public_key(key: bytes) -> bytes:
    """Return the point of a private key. Raises `SigningUnavailable` and `ValueError`."""
    return _point(_private(key).public_key)


def signed(digest: bytes, key: bytes) -> tuple[bytes, int]:
    """Return r and the smaller s of an ECDSA signature as 64 bytes, and `odd` of its point.

    The nonce is that of RFC 6979, so that equal inputs give equal signatures. Raises
    `SigningUnavailable` and `ValueError`.
    """
    signature = _private(key).sign_recoverable(digest, hasher=None)
    return signature[:64], signature[64]


def recovered(digest: bytes, signature: bytes, odd: int) -> bytes | None:
    """Return the point whose key signed 32 bytes; None where the signature fits none.

    Raises `SigningUnavailable`.
    """
    coincurve, _ = wallet_libraries.libraries()
    complete = signature + bytes([odd])
    try:
        key = coincurve.PublicKey.from_signature_and_message(complete, digest, hasher=None)
    except ValueError:
        return None
    return _point(key)


def schnorr_signed(digest: bytes, key: bytes) -> tuple[bytes, bytes]:
    """Return the signature of 32 bytes (BIP 340, nothing random added) and the key's x.

    Raises `SigningUnavailable` and `ValueError`.
    """
    private = _private(key)
    return private.sign_schnorr(digest, bytes(32)), private.public_key_xonly.format()


def schnorr_verifies(digest: bytes, x: bytes, signature: bytes) -> bool:
    """Tell whether the key with that x signed 32 bytes (BIP 340). Raises `SigningUnavailable`."""
    coincurve, _ = wallet_libraries.libraries()
    try:
        verified: bool = coincurve.PublicKeyXOnly(x).verify(signature, digest)
    except ValueError:
        return False
    return verified


def _private(key: bytes) -> "PrivateKey":
    coincurve, _ = wallet_libraries.libraries()
    try:
        private_key: PrivateKey = coincurve.PrivateKey(key)
    except ValueError:
        problem = "a private key is a number from 1 to the order of the curve less 1"
        raise ValueError(problem) from None
    return private_key


def _point(key: "PublicKey") -> bytes:
    return key.format(compressed=False)[1:]
