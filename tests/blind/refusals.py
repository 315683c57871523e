"""How the second service says no."""

from decimal import Decimal, InvalidOperation
from typing import Any

from tests.blind.wire import Answer
from tests.blind.world import Choices

_V1_CODES = {"unauthorized": 31010, "chain": 31005, "token": 31006, "amount": 31071}


class Refused(Exception):
    """The service says no, inside its envelope."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def refusal(generation: str, choices: Choices, refused: Refused) -> Answer:
    """The answer that carries a refusal."""
    code = choices.refusal_code
    if generation == "v1" and choices.v1_refusal_codes:
        code = _V1_CODES.get(refused.kind, 31000)
    body: dict[str, Any] = {"code": code, "msg": str(refused)}
    if choices.refusal_data:
        body["data"] = {}
    if generation == "v1":
        body["status"] = 0
    return Answer(body, status=choices.refusal_status)


def digits(value: Any, name: str) -> int:
    """A positive whole number that came as text of ASCII digits."""
    text = str(value)
    if not (text.isascii() and text.isdigit()) or len(text) > 78 or int(text) == 0:
        raise Refused("amount", f"{name} is no amount in smallest units")
    return int(text)


def whole_number(value: Any, name: str, most: int) -> int:
    """A whole number from 0 to ``most``, as text or as a number."""
    text = str(value)
    if isinstance(value, bool) or not (text.isascii() and text.isdigit()) or len(text) > 20:
        raise Refused("malformed", f"{name} is no whole number")
    if int(text) > most:
        raise Refused("malformed", f"{name} is above {most}")
    return int(text)


def tokens(value: Any, name: str) -> Decimal:
    """A positive amount of whole tokens, as a number or as text."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        raise Refused("amount", f"{name} is no amount")
    try:
        amount = Decimal(value)
    except InvalidOperation:
        raise Refused("amount", f"{name} is no amount") from None
    if not amount.is_finite() or amount <= 0 or not -40 <= amount.adjusted() <= 78:
        raise Refused("amount", f"{name} is no amount that can be moved")
    return amount


def hex_text(value: Any, name: str) -> str:
    """Hexadecimal digits, an even number of them, with or without 0x."""
    text = str(value)
    inner = text.removeprefix("0x")
    if not inner or len(inner) % 2 or any(c not in "0123456789abcdefABCDEF" for c in inner):
        raise Refused("malformed", f"{name} is no hex string")
    return text


def evm_address(value: Any, name: str) -> str:
    """An address of an EVM chain, in any case."""
    text = str(value)
    if len(text) != 42 or not text.startswith("0x"):
        raise Refused("malformed", f"{name} is no EVM address")
    return hex_text(text, name)
