"""Keccak-256 and secp256k1 from the libraries of the extra `signing`, loaded on first use.

Keys are 32 bytes and points 64 (x and y); `odd` tells whether a point's y is odd, as 0 or 1.
"""

from types import ModuleType
from typing import TYPE_CHECKING

from mockserver.errors import CrosschainMockError

if TYPE_CHECKING:
    from coincurve import PrivateKey, PublicKey


MOST_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
"""Half the order of the curve: of the two s of a signature chains take the smaller (EIP-2)."""


class SigningUnavailable(CrosschainMockError):
    """Signatures of wallets are needed, but their libraries are not installed."""


def require() -> None:
    """Load the libraries, so that the first signature need not. Raises `SigningUnavailable`."""
    _libraries()


def keccak256(data: bytes) -> bytes:
    """Return the 32 bytes of the hash. Raises `SigningUnavailable`."""
    _, keccak = _libraries()
    digest: bytes = keccak.new(data=data, digest_bits=256).digest()
    return digest


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
    coincurve, _ = _libraries()
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
    coincurve, _ = _libraries()
    try:
        verified: bool = coincurve.PublicKeyXOnly(x).verify(signature, digest)
    except ValueError:
        return False
    return verified


def _private(key: bytes) -> "PrivateKey":
    coincurve, _ = _libraries()
    try:
        private_key: PrivateKey = coincurve.PrivateKey(key)
    except ValueError:
        problem = "a private key is a number from 1 to the order of the curve less 1"
        raise ValueError(problem) from None
    return private_key


def _point(key: "PublicKey") -> bytes:
    return key.format(compressed=False)[1:]


def _libraries() -> tuple[ModuleType, ModuleType]:
    # Here and not at the import: a server without wallets needs neither library.
    try:
        import coincurve
        from Crypto.Hash import keccak
    except ImportError:
        raise SigningUnavailable(
            "wallet signatures need the libraries 'coincurve' and 'pycryptodome'; "
            "install the extra: pip install 'crosschain-mock[signing]'"
        ) from None
    return coincurve, keccak
