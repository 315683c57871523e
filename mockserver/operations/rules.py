"""`extra` of 2.0 orders: rules `type_value` joined by a semicolon (GB2-order; facts §6)."""

import re

from mockserver.contract import Inputs
from mockserver.engine.refusal import Refusal
from mockserver.values import value_class

STRICT = "order-rules"
"""The dialect's word for refusing a text that does not parse (E-14)."""

_RULE = re.compile(r"([1-5])_([^;]+)")
_DIGITS = re.compile(r"0|[1-9][0-9]{0,76}")
_VERSIONS = ("1", "2")


@value_class(frozen=True, slots=True)
class OrderRules:
    """What an order asks for: amounts in smallest units of the token out, a fee in bps.

    `expected` is what the client counts on and `minimum` the least it takes, both net of fees;
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
    text = inputs.text("extra")
    if not text:
        return _NONE
    if inputs.reading("extra") == STRICT:
        return rules_of(text)
    try:
        return rules_of(text)
    except Refusal:
        return OrderRules()


def rules_of(text: str) -> OrderRules:
    """Return the rules that a text has; an empty one has none. Raises `Refusal`."""
    rules: dict[str, str] = {}
    for part in text.split(";") if text else ():
        found = _RULE.fullmatch(part)
        if found is None:
            raise _bad(f"{part[:80]!r} is no rule; expected a number from 1 to 5, '_' and a value")
        if found[1] in rules:
            raise _bad(f"rule {found[1]} is given twice")
        rules[found[1]] = found[2]
    expected, minimum = _amount(rules, "1"), _amount(rules, "4")
    if expected is not None and minimum is not None and minimum > expected:
        raise _bad(f"the minimum (rule 4) {minimum} is more than the expected (rule 1) {expected}")
    return OrderRules(
        expected=expected,
        channel_bps=_fee(rules.get("2", "0")),
        version=_version(rules.get("3")),
        minimum=minimum,
        execution=rules.get("5"),
    )


def _amount(rules: dict[str, str], rule: str) -> int | None:
    text = rules.get(rule)
    if text is None:
        return None
    if not _DIGITS.fullmatch(text) or int(text) == 0:
        raise _bad(f"rule {rule} is {text[:90]!r}, expected smallest units as digits, above 0")
    return int(text)


def _fee(text: str) -> int:
    if _DIGITS.fullmatch(text):
        return int(text)
    raise _bad(f"the third party's fee (rule 2) is {text[:90]!r}, expected bps as digits")


def _version(text: str | None) -> str | None:
    if text is None or text in _VERSIONS:
        return text
    raise _bad(f"the order version (rule 3) is {text[:90]!r}, expected 1 or 2")


def _bad(reason: str) -> Refusal:
    return Refusal("bad-extra", reason, about="order rules")
