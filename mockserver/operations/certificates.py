"""`sourceCerts` and `extra` of 2.0 orders, read in the observed forms (facts §6)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mockserver import jsontext
from mockserver.contract import Inputs
from mockserver.engine.refusal import Refusal
from mockserver.jsontext import Json

_KEYS = ("fromAmount", "fromIndex", "fromChain", "fromAddr", "certHash")
_DIGITS = re.compile(r"[0-9]{1,78}")
_RULE = re.compile(r"([1-5])_(.+)")


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a client says of the deposit: smallest units, token index, chain, address, hash."""

    amount: int
    index: int
    chain: str
    address: str
    cert_hash: str


@dataclass(frozen=True, slots=True)
class Extra:
    """The rules of `extra`: amounts in smallest units of the token out, the channel's fee in bps.

    Rule 1 is what the client expects, 2 the third party's fee, 4 the least it accepts.
    """

    expected: int | None = None
    channel_bps: int = 0
    minimum: int | None = None


def certificate(inputs: Inputs) -> Certificate | None:
    """Return the deposit that `sourceCerts` tells of, or None where it has another form.

    The description says no more than "order information as a hex string"; hex of anything but the
    observed JSON object is an order whose deposit nobody here can read (A-035). Raises `Refusal`
    where the observed object lacks a key or a key has no usable value.
    """
    told = _decoded(inputs.text("sourceCerts"))
    if told is None or not set(_KEYS) & set(told):
        return None
    missing = [key for key in _KEYS if key not in told]
    if missing:
        raise _bad(f"the order information lacks {', '.join(map(repr, missing))}")
    return Certificate(
        amount=_number(told, "fromAmount"),
        index=_number(told, "fromIndex"),
        chain=_text(told, "fromChain"),
        address=_text(told, "fromAddr"),
        cert_hash=_text(told, "certHash"),
    )


def extra(inputs: Inputs) -> Extra:
    """Return the rules of `extra`; text in another form has no rules."""
    rules: dict[str, str] = {}
    for part in inputs.text("extra").split(";"):
        rule = _RULE.fullmatch(part)
        if rule is None or rule[1] in rules:
            return Extra()
        rules[rule[1]] = rule[2]
    return Extra(
        expected=_amount(rules, "1"),
        channel_bps=_amount(rules, "2") or 0,
        minimum=_amount(rules, "4"),
    )


def _decoded(text: str) -> Mapping[str, Json] | None:
    try:
        value = jsontext.decode(bytes.fromhex(text.removeprefix("0x")))
    except ValueError:
        return None
    return value if isinstance(value, Mapping) else None


def _amount(rules: Mapping[str, str], rule: str) -> int | None:
    text = rules.get(rule)
    return int(text) if text is not None and _DIGITS.fullmatch(text) else None


def _number(told: Mapping[str, Json], key: str) -> int:
    value = told[key]
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(text, str) and _DIGITS.fullmatch(text):
        return int(text)
    raise _bad(f"{key!r} is {ascii(value)[:60]}, expected a whole number as text")


def _text(told: Mapping[str, Json], key: str) -> str:
    value = told[key]
    if isinstance(value, str):
        return value
    raise _bad(f"{key!r} is {ascii(value)[:60]}, expected text")


def _bad(reason: str) -> Refusal:
    return Refusal("bad-source-certs", reason, about="order information")
