"""What a name says of a value: a secret, perhaps a secret, or a value that the contract names."""

import json
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from enum import IntEnum
from functools import cache, lru_cache
from pathlib import Path

from mockserver import file_formats, resources
from mockserver.jsontext import Json, texts_in


class Secrecy(IntEnum):
    """How much a name says. A POSSIBLE one is a secret where its value looks like one."""

    NONE = 0
    POSSIBLE = 1
    CERTAIN = 2


_CERTAIN_PARTS = tuple(
    """
    password passwd passphrase passcode passwort secret privatekey privkey apikey appkey apitoken
    accesskey accesstoken authtoken authkey signingkey refreshtoken idtoken sessiontoken bearer
    mnemonic seedphrase recoveryphrase recoverykey credential authorisation authorization keystore
    keypair
    csrf xsrf jwt hmac cookie xprv signature encryptionkey sessionid sessionkey onetime twofactor
    verificationcode securitycode backupcode recoverycode confirmationcode activationcode smscode
    resetcode accesscode authcode jsessionid phpsessid ciphertext codeverifier userpass userpwd
    rawkey unlockaccount
    contrasena motdepasse senha parola wachtwoord kennwort haslo lozinka losenord
    """.split()
)
# The same in scripts without small and capital letters of ASCII.
_CERTAIN_ELSEWHERE = tuple(
    "密码 密碼 口令 私钥 私鑰 助记词 パスワード 秘密鍵 비밀번호 пароль סיסמה κωδικός".split()
)
_CERTAIN_WORDS = frozenset(
    """
    pwd pass pin pins otp otps totp hotp mfa 2fa wif sig cvv cvc jwt jws hmac csrf cred creds
    """.split()
)
_POSSIBLE_WORDS = frozenset(
    """
    token tokens key keys session sessions sid seed salt sk auth sign seeds words phrase assertion
    """.split()
)
# Letters of other scripts that look like those of ASCII.
_ALIKE = str.maketrans("аеорсухіѕјԁԝοακντ", "aeopcyxisjdwoakvt")
_PUBLIC_PARTS = ("publickey", "pubkey", "idempotency", "expiresin")
# Words of every day in which one of a secret occurs.
_ORDINARY_WORDS = re.compile("secretar(?:y|ies|iat)|(?:for|standard)bearer|bearershares?|desenh")
_PUBLIC_BEGINNINGS = frozenset("has is max min num required requires total".split())
_PUBLIC_ENDINGS = frozenset(
    """
    accepted address addresses alg algorithm amount at consent count decimal decimals digits domain
    enabled endpoint expires expiry fee figs format header headers index length limit method
    name names policy price rate remaining required scheme sent spender status supported symbol
    through ttl type types uri url valid version
    """.split()
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-zA-Z]{2})(?=[0-9]{2,})")
_APART = re.compile(r"[^a-z0-9]+")
_LONGEST = 80
_WORDS_OF_PHRASES = Path("foreign", "bip-39-english.txt")

FREE_TEXTS = frozenset(
    """
    channel description execstrategy extra memo msg name note reason routesummary solution source
    title
    """.split()
)
"""Members of the contract that hold any text: a secret may stand in it."""


@lru_cache(8192)
def secrecy(name: str) -> Secrecy:
    """Tell what the name of a member, a parameter, a header or an element says of its value."""
    if len(name) > _LONGEST:
        return Secrecy.NONE
    plain = unicodedata.normalize("NFKC", name)
    if not plain.isascii():
        if any(word in plain.lower() for word in _CERTAIN_ELSEWHERE):
            return Secrecy.CERTAIN
        # `contraseña` without its mark.
        plain = "".join(
            sign
            for sign in unicodedata.normalize("NFKD", plain).translate(_ALIKE)
            if not unicodedata.combining(sign)
        )
    words = [word for word in _APART.split(_CAMEL.sub(" ", plain).lower()) if word]
    joined = _ORDINARY_WORDS.sub("", "".join(words))
    if not words or any(part in joined for part in _PUBLIC_PARTS):
        return Secrecy.NONE
    if joined == "walletimportformat":
        return Secrecy.CERTAIN
    if words[-1] in _PUBLIC_ENDINGS or (len(words) > 1 and words[0] in _PUBLIC_BEGINNINGS):
        return Secrecy.NONE
    if any(part in joined for part in _CERTAIN_PARTS) or not _CERTAIN_WORDS.isdisjoint(
        (*words, joined)
    ):
        return Secrecy.CERTAIN
    return Secrecy.NONE if _POSSIBLE_WORDS.isdisjoint((*words, joined)) else Secrecy.POSSIBLE


@lru_cache(8192)
def is_kept(name: str) -> bool:
    """Tell whether the contract names a value so, does not call it secret, and says what it is."""
    lowered = name.lower()
    return (
        lowered in contract_names()
        and lowered not in FREE_TEXTS
        and secrecy(name) is not Secrecy.CERTAIN
    )


def read_contract() -> None:
    """Read the words of the contract and its examples, which the first masked text needs."""
    contract_words()
    published_examples()


@cache
def contract_names() -> frozenset[str]:
    """Return every name that the schemas declare, in lower case."""
    return frozenset(name.lower() for document in _documents() for name in _declared(document))


@cache
def contract_words() -> frozenset[str]:
    """Return the words of the contract, in lower case: names, and the values that it lists."""
    listed = {word.lower() for document in _documents() for word in _listed(document)}
    return frozenset(listed | contract_names() | {"success", "redacted"})


@cache
def phrase_words() -> frozenset[str]:
    """Return the words that mnemonic phrases are made of (BIP 39)."""
    return frozenset((resources.schemas() / _WORDS_OF_PHRASES).read_text("ascii").split())


@cache
def published_examples() -> frozenset[str]:
    """Return the texts of the requests that the contract shows as examples: no secrets."""
    path = resources.schemas() / "endpoints.yaml"
    document = file_formats.parse(path.read_text("utf-8"), path).value
    return frozenset(
        text for operation in document["operations"] for text in _texts(operation.get("example"))
    )


def _texts(value: Json) -> Iterator[str]:
    for text in texts_in(value):
        yield text
        with suppress(ValueError):
            # The certificate of an order is JSON in hexadecimal digits.
            yield from _texts(json.loads(bytes.fromhex(text.removeprefix("0x"))))


@cache
def _documents() -> tuple[Json, ...]:
    files = (
        file
        for part in ("v1", "v2", "common")
        for file in (resources.schemas() / part).glob("*.json")
    )
    return tuple(json.loads(file.read_bytes()) for file in files)


def _declared(schema: Json) -> Iterator[str]:
    for node in _nodes(schema):
        yield from node.get("properties") or ()


def _listed(schema: Json) -> Iterator[str]:
    for node in _nodes(schema):
        values = (*(node.get("enum") or ()), node.get("const"))
        yield from (value for value in values if isinstance(value, str))


def _nodes(schema: Json) -> Iterator[dict[str, Json]]:
    if isinstance(schema, dict):
        yield schema
        for member in schema.values():
            yield from _nodes(member)
    elif isinstance(schema, list):
        for member in schema:
            yield from _nodes(member)
