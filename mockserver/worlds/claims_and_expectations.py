"""What clients, or the tests around them, say: what they believe, and what is to happen."""

import re
from collections.abc import Mapping, Sized
from dataclasses import replace
from decimal import Decimal
from enum import StrEnum

from mockserver import limits
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, plain
from mockserver.responders.control_forms import BadControl
from mockserver.suggestions import did_you_mean

_AMOUNT = re.compile(r"([0-9]{1,60}(?:\.[0-9]{1,60})?)(?: +(\S{1,60}))?")
_UNITS = "units"
FIELDS = ("token", "amount", "source", "target", "bought", "recipient")
"""What two transfers are compared by."""


class State(StrEnum):
    """What has become of an order in the end."""

    ARRIVED = "arrived"
    """All of it arrived at its recipient."""
    PARTLY = "partly"
    """A part of it arrived, and the rest came back."""
    RETURNED = "returned"
    """Its deposit came back to the sender."""
    LOST = "lost"
    """Nothing arrived and nothing came back."""


_ALIKE = {"succeeded": "arrived", "refunded": "returned", "failed": "returned", "partial": "partly"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What a client believes of an order: its end, and how much arrived.

    `amount` is in whole tokens, or with `in_units` in smallest units of the token out.
    """

    order: str
    state: State
    amount: Decimal | None = None
    in_units: bool = False

    @classmethod
    def of(cls, order: str, state: str, amount: str | None = None) -> "Claim":
        """Return a claim of texts. Raises `BadControl`."""
        # Clients know the words of the interface better than ours.
        word = _ALIKE.get(state.lower(), state.lower())
        if word not in list(State):
            words = [known.value for known in State]
            near = did_you_mean(state, words) or f"; there are {', '.join(words)}"
            raise BadControl(f"'state': {state[:60]!r} is no end of an order{near}")
        if amount is None:
            return cls(order, State(word))
        number, unit = amount_of(amount)
        return cls(order, State(word), number, unit == _UNITS)

    def __str__(self) -> str:
        unit = " units" if self.in_units else ""
        amount = "" if self.amount is None else f", {plain(self.amount)}{unit}"
        return f"order {self.order} {self.state.value}{amount}"


@dataclass(frozen=True, slots=True)
class Expected:
    """A transfer that is to happen: `amount` whole tokens of `token`, so many times.

    Chains are nicknames. `bought` is the token that arrives, and `arrives` how many whole tokens of
    it, at least about. None stands for any.
    """

    token: str | None = None
    amount: Decimal | None = None
    source: str | None = None
    target: str | None = None
    bought: str | None = None
    recipient: str | None = None
    times: int = 1
    arrives: Decimal | None = None

    @classmethod
    def of(cls, wanted: Mapping[str, Json]) -> "Expected":
        """Return what a checked body says. Raises `BadControl`."""
        number, token = amount_of(wanted["amount"]) if "amount" in wanted else (None, None)
        arrives = amount_of(wanted["arrives"])[0] if "arrives" in wanted else None
        return cls(
            token,
            number,
            wanted.get("from"),
            wanted.get("chain"),
            wanted.get("bought"),
            wanted.get("to"),
            wanted.get("times", 1),
            arrives,
        )

    def __str__(self) -> str:
        parts = [
            "any amount" if self.amount is None else plain(self.amount),
            self.token or "tokens",
        ]
        for word, value in (
            ("from", self.source),
            ("to", self.target),
            ("into", self.bought if self.bought != self.token else None),
            ("for", self.recipient),
        ):
            parts += [word, value] if value else []
        return " ".join(parts)

    def differences(self, moved: object) -> list[str]:
        """Return the names of the fields in which a payment is another."""
        return [
            name
            for name in FIELDS
            # What was left open matches any payment.
            if (wanted := getattr(self, name)) is not None
            and _comparable(wanted) != _comparable(getattr(moved, name))
        ]


@dataclass(frozen=True, slots=True)
class Beliefs:
    """What was said in a world.

    `unread` are the numbers of requests whose client died before it had read the answer.
    """

    claims: tuple[Claim, ...] = ()
    expects: tuple[Expected, ...] = ()
    unread: tuple[int, ...] = ()

    def claimed(self, claim: Claim) -> "Beliefs":
        """Return these with a claim, which replaces an earlier one about the same order."""
        others = tuple(known for known in self.claims if known.order != claim.order)
        _room(others)
        return replace(self, claims=(*others, claim))

    def expecting(self, expected: Expected) -> "Beliefs":
        """Return these with a transfer that is to happen. Raises `BadControl` for too many."""
        _room(self.expects)
        return replace(self, expects=(*self.expects, expected))

    def died(self, sequence: int) -> "Beliefs":
        """Return these with a client that died before it had read the answer to a request."""
        _room(self.unread)
        return replace(self, unread=(*self.unread, sequence))


def amount_of(text: str) -> tuple[Decimal, str | None]:
    """Return the number and the token of `2.5 ETH` or `2.5`. Raises `BadControl`."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise BadControl(f"'amount': {text[:60]!r} is no amount; write '2.5 ETH' or '2.5'")
    return Decimal(match[1]), match[2]


def _room(items: Sized) -> None:
    if len(items) >= limits.EXPECTED.most:
        raise BadControl(f"{limits.EXPECTED} were said already; reset the world")


def _comparable(value: object) -> object:
    return value.lower() if isinstance(value, str) else value
