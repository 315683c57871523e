"""2.0 wallet signatures: a personal message over the keccak-256 of the body's text (GB2-order).

Keccak and the curve come with the extra `signing`, which is needed only where a
world verifies wallets, or for signing. Without it, hashing and signing raise `SigningUnavailable`.
"""

import re
from collections.abc import Mapping

from mockserver.signing import javascript, keccak, secp256k1

EVM_PREFIX = "EvmAddress"
"""The prefix of the text, spelled so whatever the spelling of the header (GB2-ticket)."""
OTHER_PREFIX = "Address"
"""The prefix of texts signed on other chains (GB2-kas, GHOST)."""

_SIGNATURE = re.compile(r"(?:0x)?([0-9a-fA-F]{130})")
_KEY = re.compile(r"(?:0x)?([0-9a-fA-F]{64})")
# From which `v` on a signature names a chain, too (EIP-155).
_WITH_CHAIN = 35


def signed_text(
    body: bytes,
    address: str,
    *,
    prefix: str = EVM_PREFIX,
    renamed: Mapping[str, str] | None = None,
) -> str:
    """Return the text that is hashed: the prefix with the address, then the body's members by key.

    Members that JavaScript takes for false are left out. `renamed` gives members other names in
    the text, as the published ticket vector has it. Raises `NotJson`.
    """
    names = renamed or {}
    kept = {
        names.get(key, key): value
        for key, value in javascript.members(body).items()
        if javascript.truthy(value)
    }
    pairs = [f"{key}={javascript.to_string(value)}" for key, value in javascript.in_key_order(kept)]
    return "&".join([f"{prefix}={address}", *pairs])


def digest(text: str) -> str:
    """Return the keccak-256 of a text as `0x` and 64 hex digits."""
    return f"0x{keccak.keccak256(javascript.utf8(text)).hex()}"


def signature(text: str, key: str, *, as_bytes: bool = False) -> str:
    """Return the signature of a text's hash by a private key, 130 hex digits without `0x`.

    The vendor's code signs the 66 characters of the hash; with `as_bytes` its 32 bytes are signed.
    Raises `ValueError` for a key that is none.
    """
    raw, odd = secp256k1.signed(_personal(digest(text), as_bytes=as_bytes), _secret(key))
    return f"{raw.hex()}{27 + odd:02x}"


def address_of(key: str) -> str:
    """Return the EVM address of a private key. Raises `ValueError` for a key that is none."""
    return address_at(secp256k1.public_key(_secret(key)))


def address_at(point: bytes) -> str:
    """Return the EVM address of a public key, with the capitals that check it (EIP-55)."""
    plain = keccak.keccak256(point)[12:].hex()
    check = keccak.keccak256(plain.encode()).hex()
    pairs = zip(plain, check, strict=False)
    return "0x" + "".join(char.upper() if mark > "7" else char for char, mark in pairs)


def signers(text: str, came: str) -> tuple[str, ...]:
    """Return the addresses that may have signed a text's hash: as text first, then as 32 bytes.

    None where the signature has another form or fits no key.
    """
    form = _SIGNATURE.fullmatch(came)
    odd = None if form is None else parity(int(form[1][128:], 16))
    if form is None or odd is None:
        return ()
    raw, hashed = bytes.fromhex(form[1][:128]), digest(text)
    messages = (_personal(hashed, as_bytes=as_bytes) for as_bytes in (False, True))
    points = [secp256k1.recovered(message, raw, odd) for message in messages]
    return tuple(address_at(point) for point in points if point is not None)


def parity(v: int) -> int | None:
    """Return the 0 or 1 that the `v` of a signature stands for; None where it stands for none."""
    if v in (0, 1):
        return v
    # Both are odd offsets: 27, and 35 with twice the chain id, keep the parity of `v - 27`.
    if v in (27, 28) or v >= _WITH_CHAIN:
        return (v - 27) % 2
    return None


def well_formed(came: str) -> bool:
    """Tell whether a signature has the form of an EVM wallet's: 65 bytes in hex."""
    return _SIGNATURE.fullmatch(came) is not None


def _secret(key: str) -> bytes:
    match = _KEY.fullmatch(key)
    if match is None:
        raise ValueError("a private key has 32 bytes, 64 hex digits")
    return bytes.fromhex(match[1])


def _personal(hashed: str, *, as_bytes: bool) -> bytes:
    """Return the hash of a personal message (EIP-191): the text of a hash, or its bytes."""
    message = bytes.fromhex(hashed[2:]) if as_bytes else hashed.encode()
    return keccak.keccak256(b"\x19Ethereum Signed Message:\n%d" % len(message) + message)
