"""Reserved values: amounts, addresses and hashes that steer an order or a fault, as test cards do.

One code of four digits stands for one effect. It is read from the first four decimals of an amount
of whole tokens (`10.4002`), from the end of an otherwise zero EVM address or transaction hash.
"""

import re
from decimal import Decimal
from enum import StrEnum

from mockserver.fast_dataclass import dataclass


class Effect(StrEnum):
    """What a reserved value chooses."""

    COURSE = "course"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Reserved:
    """One reserved code: the course or fault it chooses, in both generations, and in words."""

    code: str
    effect: Effect
    name: str
    meaning: str
    generations: tuple[str, ...] = ("v1", "v2")

    @property
    def amount(self) -> Decimal:
        """An example amount of whole tokens that carries the code."""
        return Decimal(f"10.{self.code}")

    @property
    def address(self) -> str:
        return f"0x{self.code:0>40}"

    @property
    def hash(self) -> str:
        return f"0x{self.code:0>64}"


RESERVED = (
    Reserved("4001", Effect.COURSE, "slow", "the order takes two hours"),
    Reserved("4002", Effect.COURSE, "fail", "the order fails with a reason"),
    Reserved("4003", Effect.COURSE, "refund", "the order is refunded by itself"),
    Reserved("4004", Effect.COURSE, "dropped", "the order is dropped until a ticket resolves it"),
    Reserved("4005", Effect.COURSE, "stuck", "the order stays pending for ever"),
    Reserved("4006", Effect.COURSE, "partial", "half of a swap is filled, never of a transfer"),
    Reserved("4007", Effect.COURSE, "success", "the order succeeds whatever the scenario says"),
    Reserved("5001", Effect.FAULT, "http-500", "the answer is HTTP 500, nothing is done"),
    Reserved("5002", Effect.FAULT, "http-503", "the answer is HTTP 503, nothing is done"),
    Reserved("5003", Effect.FAULT, "http-429", "the answer is HTTP 429, nothing is done"),
    Reserved("5004", Effect.FAULT, "latency", "the answer comes 30 seconds late"),
    Reserved("5005", Effect.FAULT, "reset-before", "the connection is reset, nothing is done"),
    Reserved("5006", Effect.FAULT, "accepted-reset", "the effect is there, the answer is lost"),
    Reserved("5007", Effect.FAULT, "accepted-500", "the effect is there, the answer is HTTP 500"),
    Reserved("5008", Effect.FAULT, "broken-json", "the answer is no JSON"),
)
"""All reserved values."""

_BY_CODE = {reserved.code: reserved for reserved in RESERVED}
_HEX = re.compile(r"0x0+(\d{4})")
_HEX_START = "0x0000"


def in_amount(units: int, decimals: int) -> Reserved | None:
    """Return what an amount of smallest units reserves; only its first four decimals may be set."""
    # By decimals and not by units: 12.4001 means the same on chains of 6 and of 18 decimals.
    if decimals > 4:
        scaled, more = divmod(units, 10 ** (decimals - 4))
    else:
        scaled, more = units * 10 ** (4 - decimals), 0
    if more:
        return None
    return _BY_CODE.get(f"{scaled % 10_000:04d}")


def in_hex(text: str) -> Reserved | None:
    if text[-4:] not in _BY_CODE or not text.startswith(_HEX_START) or len(text) not in (42, 66):
        return None
    match = _HEX.fullmatch(text)
    return _BY_CODE.get(match[1]) if match else None


def reserved_in(units: int, decimals: int, *texts: str) -> list[Reserved]:
    """Return what the values of a request reserve: the amount's first, then of each text."""
    reserved_value = in_amount(units, decimals)
    reserved = [] if reserved_value is None else [reserved_value]
    for text in texts:
        # Most texts end in no code: this check is faster than the call.
        if text[-4:] in _BY_CODE and (reserved_value := in_hex(text)):
            reserved.append(reserved_value)  # noqa: PERF401 - which is nearly never
    return reserved
