"""Refusals of the engine to clients, and its errors to the control API."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache, cached_property

from mockserver.errors import CrosschainMockError

REFUSALS = frozenset(
    """
    amount-not-positive amount-too-large amount-too-low amount-too-precise bad-address
    bad-extra bad-hash bad-source-certs bridge-disabled chain-suspended fee-out-of-range
    hash-already-used limit-reached no-price no-route partial-fill-unsupported same-chain
    same-token slippage-out-of-range token-delisted token-not-on-chain token-suspended
    unknown-aggregator unknown-chain unknown-order unknown-ticket unknown-token wrong-decimals
    """.split()
)
"""Every refusal of the engine by name; `schemas/refusals.yaml` says what each is about."""


Naming = Callable[[str], str]
"""Returns the name of a chain in an interface; empty where the interface does not offer it."""


class Refusal(Exception):
    """A refusal of the service, and why.

    `name` is one of `REFUSALS`; `reason` says what came and what would be right, with chains by the
    nicknames of 2.0; `reason_in` says it with the names of another interface. `about` is the
    role of the offending input in the domain's words (`source chain`, `token`, `amount`), or None
    where no single input is to blame; `nearest` are valid values close to what came. Both are made
    when they are read: to seek near names takes milliseconds, and many refusals are not shown.
    """

    def __init__(
        self,
        name: str,
        reason: str | Callable[[Naming], str],
        *,
        about: str | None = None,
        nearest: Iterable[str] | Callable[[], Iterable[str]] = (),
    ) -> None:
        """Keep the parts; the text is the reason. Raises `KeyError` for a name not listed.

        A reason that mentions chains is a function of how they are called.
        """
        if name not in REFUSALS:
            raise KeyError(name)
        super().__init__(name)
        self.name = name
        self._reason = reason
        self.about = about
        self._nearest = nearest

    def __str__(self) -> str:
        return self.reason

    @cached_property
    def reason(self) -> str:
        return self.reason_in(str)

    @cached_property
    def nearest(self) -> tuple[str, ...]:
        return tuple(self._nearest() if callable(self._nearest) else self._nearest)

    def reason_in(self, naming: Naming) -> str:
        return self._reason if isinstance(self._reason, str) else self._reason(naming)


def unknown(name: str, about: str, came: str, known: Iterable[str]) -> Refusal:
    """Return the refusal of a name nobody knows, with the nearest names that exist."""

    @cache
    def names() -> list[str]:
        return list(dict.fromkeys(known))

    @cache
    def close() -> tuple[str, ...]:
        return nearest_names(came, names())

    def reason(_: Naming) -> str:
        if close():
            hint = f"did you mean {' or '.join(map(repr, close()))}"
        else:
            more = " and others" if len(names()) > 8 else ""
            hint = f"known are {', '.join(map(repr, names()[:8]))}{more}"
        return f"{about} {excerpt(came)} is not known; {hint}"

    return Refusal(name, reason, about=about, nearest=close)


def nearest_names(came: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return up to three known names close to what came; a mere difference of case comes first."""
    names = list(dict.fromkeys(known))
    if len(came) > 100:
        return ()
    folded = [name for name in names if name.lower() == came.lower()]
    close = get_close_matches(came.upper(), [name.upper() for name in names], n=3, cutoff=0.6)
    by_upper = {name.upper(): name for name in reversed(names)}
    return tuple(dict.fromkeys([*folded, *(by_upper[upper] for upper in close)]))[:3]


def excerpt(came: str) -> str:
    """Return a text quoted for a sentence, cut where it is very long."""
    return repr(came if len(came) <= 100 else f"{came[:97]}...")


def digits(number: int, most: int = 20) -> str:
    """Return a number for a sentence, or only that it has more digits than `most`."""
    return str(number) if abs(number) < 10**most else f"of more than {most} digits"


class CannotSteer(CrosschainMockError):
    """An order that cannot go where it is sent: it is final, or the course does not exist."""


class InvalidOutage(CrosschainMockError):
    """An outage that cannot be added or ended."""


class NothingDue(CrosschainMockError):
    """A clock that should run to something that never comes."""


class UnknownSnapshot(CrosschainMockError):
    """A snapshot that does not exist, or is gone."""


class StateNotLoadable(CrosschainMockError):
    """A dump of another format, version or scenario, or one that is damaged."""

    exit_code = 4
