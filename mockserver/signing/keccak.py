"""Keccak-256, the hash of Ethereum and Tron, from a library of the extra `signing`."""

from mockserver.signing import wallet_libraries


def keccak256(data: bytes) -> bytes:
    """Return the 32 bytes of the hash. Raises `SigningUnavailable`."""
    _, keccak = wallet_libraries.libraries()
    digest: bytes = keccak.new(data=data, digest_bits=256).digest()
    return digest
