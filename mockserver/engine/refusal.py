"""How the service says no inside the engine: one exception, and every name it may carry."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType

REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "amount-not-positive": "an amount that is zero or negative",
        "amount-too-large": "an amount of more than 77 digits of smallest units",
        "amount-too-low": "an amount that does not cover the fees",
        "amount-too-precise": "an amount with more decimals than the token has",
        "bad-address": "an address that does not have the form of its chain",
        "bad-extra": "rules of an order that cannot be read",
        "bad-hash": "a transaction hash that does not have the form of its chain",
        "bad-source-certs": "order information that cannot be read",
        "bridge-disabled": "a token that may not be bridged on this chain",
        "chain-suspended": "a chain that is out of service for this direction now",
        "fee-out-of-range": "a channel fee or fee level outside the offered range",
        "hash-already-used": "a deposit transaction that belongs to another order already",
        "limit-reached": "more than this server keeps; docs/reference/limits.md lists the bounds",
        "no-price": "a token that has no price",
        "no-route": "a pair of tokens or chains that no aggregator can route",
        "partial-fill-unsupported": "a partial fill asked of an aggregator without it",
        "same-chain": "a transfer whose source and target are the same chain",
        "same-token": "a swap of a token into itself on one chain",
        "slippage-out-of-range": "a slippage outside the accepted range",
        "token-delisted": "a token that is no longer offered, here or anywhere",
        "token-not-on-chain": "a token that exists, but not on this chain",
        "token-suspended": "a token that is out of service for this direction now",
        "unknown-aggregator": "an aggregator the service does not work with",
        "unknown-chain": "a chain the generation does not offer",
        "unknown-order": "an order that does not exist in this world",
        "unknown-ticket": "a ticket that does not exist in this world",
        "unknown-token": "a token symbol, address or index nobody knows",
        "wrong-decimals": "decimals that are not the token's own on its chain",
    }
)
"""Every refusal of the engine by name, with what it is about."""


class Refusal(Exception):
    """The service says no, and why.

    `name` is a key of `REFUSALS`; `reason` says what came and what would be right; `about` is the
    role of the offending input in the domain's words (`source chain`, `token`, `amount`), or None
    where no single input is to blame; `nearest` are valid values close to what came.
    """

    def __init__(
        self, name: str, reason: str, *, about: str | None = None, nearest: Iterable[str] = ()
    ) -> None:
        """Keep the parts; the text is the reason. Raises `KeyError` for a name not listed."""
        REFUSALS[name]
        super().__init__(reason)
        self.name = name
        self.reason = reason
        self.about = about
        self.nearest = tuple(nearest)


def unknown(name: str, about: str, came: str, known: Iterable[str]) -> Refusal:
    """Return the refusal of a name nobody knows, with the nearest names that exist."""
    close = nearest_names(came, known)
    hint = f"did you mean {' or '.join(map(repr, close))}" if close else _few(known)
    return Refusal(name, f"{about} {shown(came)} is not known; {hint}", about=about, nearest=close)


def nearest_names(came: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return up to three known names close to what came; a mere difference of case comes first."""
    names = list(dict.fromkeys(known))
    if len(came) > 100:
        return ()
    folded = [name for name in names if name.lower() == came.lower()]
    close = get_close_matches(came.upper(), [name.upper() for name in names], n=3, cutoff=0.6)
    by_upper = {name.upper(): name for name in reversed(names)}
    return tuple(dict.fromkeys([*folded, *(by_upper[upper] for upper in close)]))[:3]


def shown(came: str) -> str:
    """Return a text quoted for a sentence, cut where it is very long."""
    return repr(came if len(came) <= 100 else f"{came[:97]}...")


def digits(number: int, most: int = 20) -> str:
    """Return a number for a sentence, or only that it has more digits than `most`."""
    return str(number) if abs(number) < 10**most else f"of more than {most} digits"


def _few(known: Iterable[str]) -> str:
    names = list(dict.fromkeys(known))
    listed = ", ".join(map(repr, names[:8]))
    return f"known are {listed}{' and others' if len(names) > 8 else ''}"
