"""2.0 wallet signatures: a personal message over the keccak-256 of the body's text (facts §3.2).

Keccak and the curve come from `eth-account`, the field's own library, which the extra `signing`
installs; nothing here is needed unless a world verifies wallets or somebody signs.
"""

import re
from collections.abc import Mapping
from typing import Any

from mockserver.errors import CrosschainMockError
from mockserver.signing import javascript

EVM_PREFIX = "EvmAddress"
"""The prefix of the text, spelled so whatever the spelling of the header (GB2-ticket)."""
OTHER_PREFIX = "Address"
"""The prefix of texts signed on other chains (GB2-kas, GHOST)."""

_SIGNATURE = re.compile(r"(?:0x)?([0-9a-fA-F]{130})")


class SigningUnavailable(CrosschainMockError):
    """Wallet signatures were asked for, and the library behind them is not installed."""


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
    pairs = [f"{key}={javascript.shown(value)}" for key, value in javascript.in_key_order(kept)]
    return "&".join([f"{prefix}={address}", *pairs])


def digest(text: str) -> str:
    """Return the keccak-256 of a text as `0x` and 64 hex digits. Raises `SigningUnavailable`."""
    _, utils = libraries()
    return f"0x{utils.keccak(javascript.utf8(text)).hex()}"


def signature(text: str, key: str, *, as_bytes: bool = False) -> str:
    """Return the signature of a text's hash by a private key, 130 hex digits without `0x`.

    The vendor's code signs the 66 characters of the hash; with `as_bytes` its 32 bytes are signed.
    Raises `SigningUnavailable`, and `ValueError` for a key that is none.
    """
    account, _ = libraries()
    signed = account.Account.sign_message(_message(digest(text), as_bytes=as_bytes), key)
    return str(signed.signature.hex()).removeprefix("0x")


def address_of(key: str) -> str:
    """Return the EVM address of a private key. Raises `SigningUnavailable` and `ValueError`."""
    account, _ = libraries()
    return str(account.Account.from_key(key).address)


def signers(text: str, came: str) -> tuple[str, ...]:
    """Return the addresses that may have signed a text's hash: as text first, then as 32 bytes.

    None where the signature has another form or fits no key. Raises `SigningUnavailable`.
    """
    account, _ = libraries()
    found = _SIGNATURE.fullmatch(came)
    if found is None:
        return ()
    try:
        return tuple(
            str(
                account.Account.recover_message(
                    _message(digest(text), as_bytes=as_bytes), signature="0x" + found[1]
                )
            )
            for as_bytes in (False, True)
        )
    except (ValueError, _bad_signature()):
        return ()


def well_formed(came: str) -> bool:
    """Tell whether a signature has the form of an EVM wallet's: 65 bytes in hex."""
    return _SIGNATURE.fullmatch(came) is not None


def require() -> None:
    """Raise `SigningUnavailable` where the library is not installed."""
    libraries()


def libraries() -> tuple[Any, Any]:
    """Return the modules `eth_account` and `eth_utils`. Raises `SigningUnavailable`."""
    try:
        import eth_account
        import eth_utils
    except ImportError:
        raise SigningUnavailable(
            "wallet signatures need the library 'eth-account'; "
            "install the extra: pip install 'crosschain-mock[signing]'"
        ) from None
    return eth_account, eth_utils


def _message(hashed: str, *, as_bytes: bool) -> Any:
    from eth_account.messages import encode_defunct

    return encode_defunct(hexstr=hashed) if as_bytes else encode_defunct(text=hashed)


def _bad_signature() -> type[Exception]:
    from eth_keys.exceptions import BadSignature

    return BadSignature
