"""The texts within a 2.0 order: its deposit in `sourceCerts`, its rules in `extra`.

Rules are `type_value`, joined by a semicolon (GB2-order; facts §6).
"""

import re
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from mockserver import jsontext
from mockserver.contract import Inputs
from mockserver.engine.refusal import Refusal
from mockserver.fast_dataclass import value_class
from mockserver.jsontext import Json
from mockserver.limits import AMOUNT_DIGITS

STRICT_DEPOSIT, STRICT_RULES = "deposit", "order-rules"
"""The dialect's words for taking the observed form alone (E-35, E-14)."""

_TEXTS = ("fromChain", "fromAddr", "certHash")
_NEEDED = ("fromAmount", "fromIndex", *_TEXTS)
_ALL = (*_NEEDED, "fromPublicKey", "signature")
_ALL_SET = frozenset(_ALL)
_values_of = itemgetter(*_NEEDED)
_UNITS = re.compile(rf"[1-9][0-9]{{0,{AMOUNT_DIGITS - 1}}}")
_DIGITS = re.compile(f"0|{_UNITS.pattern}")
_PUBLIC_KEY = re.compile(r"(?:0x)?(?:[0-9a-fA-F]{64}|0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})?")


@value_class(frozen=True, slots=True)
class Certificate:
    """The deposit by the client: smallest units, token index, chain, address, hash."""

    amount: int
    index: int
    chain: str
    address: str
    cert_hash: str


def certificate(inputs: Inputs) -> Certificate | None:
    """Return the deposit in `sourceCerts`, or None where that has another form.

    The description says no more than "order information as a hex string": there, hex of anything
    but the observed JSON object is an order whose deposit cannot be read (A-035). Raises
    `Refusal` where the observed object lacks a key or a key has no usable value, and in the
    observed dialect for every other form as well.
    """
    strict = inputs.reading("sourceCerts") == STRICT_DEPOSIT
    decoded = _decoded(inputs.text("sourceCerts"), strict=strict)
    if decoded is None:
        return None
    try:
        amount, index, chain, address, cert_hash = _values_of(decoded)
    except KeyError:
        is_whole = False
    else:
        is_whole = not strict or decoded.keys() >= _ALL_SET
    if not is_whole:
        # With none of the members it is another form; with some it is this one, and wrong.
        if not strict and decoded.keys().isdisjoint(_NEEDED):
            return None
        missing = [key for key in (_ALL if strict else _NEEDED) if key not in decoded]
        raise _bad_certificate(f"the order information lacks {', '.join(map(repr, missing))}")
    if strict:
        _check_public_key(decoded["fromPublicKey"])
    # Field by field, and the texts in a row: this is on the hot path of orders.
    deposit: Any = Certificate.__new__(Certificate)
    deposit.amount, deposit.index = _number("fromAmount", amount), _number("fromIndex", index)
    if not type(chain) is type(address) is type(cert_hash) is str:
        key = next(key for key in _TEXTS if type(decoded[key]) is not str)
        raise _bad_certificate(f"{key!r} is {ascii(decoded[key])[:60]}, expected text")
    deposit.chain, deposit.address, deposit.cert_hash = chain, address, cert_hash
    read: Certificate = deposit
    return read


def _decoded(text: str, *, strict: bool) -> Mapping[str, Json] | None:
    try:
        value = jsontext.decode(bytes.fromhex(text.removeprefix("0x")))
    except jsontext.NotJson as error:
        if strict:
            raise _bad_certificate(f"the bytes behind the hex are no JSON: {error}") from None
        return None
    except ValueError:
        if strict:
            raise _bad_certificate("no hex of whole bytes") from None
        return None
    if isinstance(value, dict):
        return value
    if strict:
        raise _bad_certificate("the JSON behind the hex is no object")
    return None


def _check_public_key(value: Json) -> None:
    if not isinstance(value, str) or not _PUBLIC_KEY.fullmatch(value):
        raise _bad_certificate(
            f"'fromPublicKey' is {ascii(value)[:140]}, expected an empty text or a public key in "
            "hex, of 32, 33 or 65 bytes"
        )


def _number(key: str, value: Json) -> int:
    if type(value) is str and _DIGITS.fullmatch(value):
        return int(value)
    # A bool is an integer for Python, and no amount.
    if type(value) is int and _DIGITS.fullmatch(str(value)):
        return value
    raise _bad_certificate(f"{key!r} is {ascii(value)[:60]}, expected a whole number as text")


def _bad_certificate(reason: str) -> Refusal:
    return Refusal("bad-source-certs", reason, about="order information")


# The rules by number: how messages call them, and the form of their values.
_RULES: Mapping[str, tuple[str, re.Pattern[str], str]] = {
    "1": ("rule 1", _UNITS, "smallest units as digits, above 0"),
    "2": ("the third party's fee (rule 2)", _DIGITS, "bps as digits"),
    "3": ("the order version (rule 3)", re.compile("[12]"), "1 or 2"),
    "4": ("rule 4", _UNITS, "smallest units as digits, above 0"),
    "5": ("rule 5", re.compile("(?s:.+)"), "the nickname of a chain"),
}


@value_class(frozen=True, slots=True)
class OrderRules:
    """The rules of an order: amounts in smallest units of the token out, a fee in bps.

    `expected` is what the client expects and `minimum` the least it accepts, both net of fees;
    `channel_bps` is the third party's fee, `execution` the nickname of the chain that swaps.
    """

    expected: int | None = None
    channel_bps: int = 0
    version: str | None = None
    minimum: int | None = None
    execution: str | None = None


_NONE = OrderRules()


def order_rules(inputs: Inputs) -> OrderRules:
    """Return the rules of `extra`.

    The description knows an empty text and nothing else: there, a text in another form has no
    rules. In the observed dialect it is refused. Raises `Refusal`.
    """
    text = inputs["extra"]
    if not text:
        return _NONE
    if inputs.reading("extra") == STRICT_RULES:
        return rules_of(text)
    try:
        return rules_of(text)
    except Refusal:
        # Where the interface publishes no form, a text that is none of rules is taken as it is.
        return OrderRules()


def rules_of(text: str) -> OrderRules:
    """Return the rules that a text has; an empty one has none. Raises `Refusal`."""
    rules: dict[str, str] = {}
    for part in text.split(";") if text else ():
        rule, _, value = part.partition("_")
        if rule not in _RULES or not value:
            raise _bad_rules(
                f"{part[:80]!r} is no rule; expected a number from 1 to 5, '_' and a value"
            )
        if rule in rules:
            raise _bad_rules(f"rule {rule} is given twice")
        name, form, right = _RULES[rule]
        if not form.fullmatch(value):
            raise _bad_rules(f"{name} is {value[:90]!r}, expected {right}")
        rules[rule] = value
    expected, minimum = (
        int(rules[rule_number]) if rule_number in rules else None for rule_number in ("1", "4")
    )
    if expected is not None and minimum is not None and minimum > expected:
        raise _bad_rules(
            f"the minimum (rule 4) {minimum} is more than the expected (rule 1) {expected}"
        )
    return OrderRules(
        expected=expected,
        channel_bps=int(rules.get("2", "0")),
        version=rules.get("3"),
        minimum=minimum,
        execution=rules.get("5"),
    )


def _bad_rules(reason: str) -> Refusal:
    return Refusal("bad-extra", reason, about="order rules")
