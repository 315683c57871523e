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

    Raises `BadKeys` for a body that is not as the form `keys-given` says, and `SigningUnavailable`
    where wallets cannot be verified.
    """
    hosted.keys = _registered(hosted.keys, body)
    return described(hosted)


def forget(hosted: HostedWorld) -> Json:
    """Forget every developer key and take all signatures by their presence; return the keys."""
    hosted.keys = Keyring(clock=hosted.keys.clock)
    return described(hosted)


def _registered(keys: Keyring, body: Mapping[str, Json]) -> Keyring:
    odd = sorted(set(body) - {"appKey", "appSecret", "verifyWallets"})
    if odd or not body:
        told = f"unknown member {odd[0][:60]!r}" if odd else "nothing to register"
        raise BadKeys(f"{told}; give 'appKey' with 'appSecret', or 'verifyWallets'")
    if "verifyWallets" in body:
        verify = body["verifyWallets"]
        if not isinstance(verify, bool):
            raise BadKeys("'verifyWallets': expected true or false")
        if verify:
            curve.require()
        keys = keys.verifying_wallets(verify)
    if "appKey" in body or "appSecret" in body:
        app_key, secret = _text(body, "appKey"), _text(body, "appSecret")
        if app_key not in keys.developers and len(keys.developers) >= limits.KEYS.most:
            raise BadKeys(f"there are {limits.KEYS} already; forget them first")
        keys = keys.with_developer(app_key, secret)
    return keys


def _text(body: Mapping[str, Json], name: str) -> str:
    value = body.get(name)
    if isinstance(value, str) and value and len(value) <= 1000:
        return value
    # What came may be a secret under the wrong name, so it is not repeated.
    raise BadKeys(f"{name!r}: expected a text of 1 to 1000 characters; both go together")
