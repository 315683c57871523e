"""`sourceCerts` of 2.0 orders: what a client says of its deposit (facts §6)."""

import re
from collections.abc import Mapping
from operator import itemgetter

from mockserver import jsontext
from mockserver.contract import Inputs
from mockserver.engine.refusal import Refusal
from mockserver.jsontext import Json
from mockserver.values import value_class

STRICT = "deposit"
"""The dialect's word for taking the observed form only (E-35)."""

_TEXTS = ("fromChain", "fromAddr", "certHash")
_NEEDED = ("fromAmount", "fromIndex", *_TEXTS)
_ALL = (*_NEEDED, "fromPublicKey", "signature")
_NEEDED_SET, _ALL_SET = frozenset(_NEEDED), frozenset(_ALL)
_texts_of = itemgetter(*_TEXTS)
_DIGITS = re.compile(r"0|[1-9][0-9]{0,76}")
_PUBLIC_KEY = re.compile(r"(?:0x)?(?:[0-9a-fA-F]{64}|0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})?")


@value_class(frozen=True, slots=True)
class Certificate:
    """What a client says of the deposit: smallest units, token index, chain, address, hash."""

    amount: int
    index: int
    chain: str
    address: str
    cert_hash: str


def certificate(inputs: Inputs) -> Certificate | None:
    """Return the deposit that `sourceCerts` tells of, or None where it has another form.

    The description says no more than "order information as a hex string": there, hex of anything
    but the observed JSON object is an order whose deposit nobody here can read (A-035). Raises
    `Refusal` where the observed object lacks a key or a key has no usable value, and in the
    observed dialect for every other form as well.
    """
    return certificate_of(
        inputs.text("sourceCerts"), strict=inputs.reading("sourceCerts") == STRICT
    )


def certificate_of(text: str, *, strict: bool) -> Certificate | None:
    """Return the deposit that a hex text tells of; see `certificate`."""
    told = _decoded(text, strict=strict)
    if told is None:
        return None
    if not told.keys() >= (_ALL_SET if strict else _NEEDED_SET):
        if not strict and told.keys().isdisjoint(_NEEDED):
            return None
        missing = [key for key in (_ALL if strict else _NEEDED) if key not in told]
        raise _bad(f"the order information lacks {', '.join(map(repr, missing))}")
    if strict:
        _check_public_key(told["fromPublicKey"])
    amount, index = _number(told, "fromAmount"), _number(told, "fromIndex")
    chain, address, cert_hash = texts = _texts_of(told)
    if not type(chain) is type(address) is type(cert_hash) is str:
        key = next(key for key, text in zip(_TEXTS, texts, strict=True) if type(text) is not str)
        raise _bad(f"{key!r} is {ascii(told[key])[:60]}, expected text")
    return Certificate(amount, index, chain, address, cert_hash)


def _decoded(text: str, *, strict: bool) -> Mapping[str, Json] | None:
    try:
        value = jsontext.decode(bytes.fromhex(text.removeprefix("0x")))
    except jsontext.NotJson as error:
        if strict:
            raise _bad(f"the bytes behind the hex are no JSON: {error}") from None
        return None
    except ValueError:
        if strict:
            raise _bad("no hex of whole bytes") from None
        return None
    if isinstance(value, dict):
        return value
    if strict:
        raise _bad("the JSON behind the hex is no object")
    return None


def _check_public_key(value: Json) -> None:
    if not isinstance(value, str) or not _PUBLIC_KEY.fullmatch(value):
        raise _bad(
            f"'fromPublicKey' is {ascii(value)[:140]}, expected an empty text or a public key in "
            "hex, of 32, 33 or 65 bytes"
        )


def _number(told: Mapping[str, Json], key: str) -> int:
    value = told[key]
    if type(value) is str and _DIGITS.fullmatch(value):
        return int(value)
    if type(value) is int and _DIGITS.fullmatch(str(value)):
        return value
    raise _bad(f"{key!r} is {ascii(value)[:60]}, expected a whole number as text")


def _bad(reason: str) -> Refusal:
    return Refusal("bad-source-certs", reason, about="order information")
