"""The keys of a world, as the control API shows and registers them; a secret is never shown."""

from base64 import b64encode
from collections.abc import Mapping

from mockserver import limits
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.responders.hosted import HostedWorld
from mockserver.signing import curve, raw
from mockserver.signing.keyring import Keyring


class BadKeys(CrosschainMockError):
    """Keys that cannot be registered; nothing has changed."""


def described(hosted: HostedWorld) -> Json:
    """Return the keys of a world: the public half of its own, and which strategies are on."""
    keys = hosted.keys
    return {
        "raw": {
            "algorithm": "SHA256withRSA",
            "modulus": f"{raw.MODULUS:x}",
            "exponent": raw.EXPONENT,
            "spki": b64encode(raw.public_key()).decode("ascii"),
            "pem": raw.public_pem(),
        },
        "developers": list(keys.developers),
        "verifySignatures": bool(keys.developers),
        "verifyWallets": keys.wallets,
        "hostedSigner": keys.hosted_signer[0],
    }


def register(hosted: HostedWorld, body: Mapping[str, Json]) -> Json:
    """Register a developer key, or switch the verification of wallets; return the keys.

    The body was held to the form `keys-given`. Raises `BadKeys` where there are too many keys, and
    `SigningUnavailable` where wallets cannot be verified.
    """
    keys = hosted.keys
    if "verifyWallets" in body:
        if body["verifyWallets"]:
            curve.require()
        keys = keys.verifying_wallets(body["verifyWallets"])
    if "appKey" in body:
        if body["appKey"] not in keys.developers and len(keys.developers) >= limits.KEYS.most:
            raise BadKeys(f"there are {limits.KEYS} already; forget them first")
        keys = keys.with_developer(body["appKey"], body["appSecret"])
    hosted.keys = keys
    return described(hosted)


def forget(hosted: HostedWorld) -> Json:
    """Forget every developer key and take all signatures by their presence; return the keys."""
    hosted.keys = Keyring(clock=hosted.keys.clock)
    return described(hosted)
