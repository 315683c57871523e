"""What a token is worth: a table of USD prices, which may drift with the world's clock."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from mockserver.engine.amounts import BPS
from mockserver.engine.hashes import derived_int
from mockserver.engine.refusal import Refusal
from mockserver.values import dataclass, value_class


@dataclass(frozen=True, slots=True)
class Drift:
    """How far and how often prices move: at most `amplitude_bps` off, a new value each period."""

    amplitude_bps: int
    period_ms: int = 60_000


@value_class(frozen=True, slots=True)
class Price:
    """The USD price of one whole token, and when it was last set (ms since 1970)."""

    usd: Decimal
    updated_ms: int
    source: str


@dataclass(frozen=True, slots=True)
class Prices:
    """USD prices of whole tokens by symbol. Without drift a price never changes."""

    usd: Mapping[str, Decimal]
    source: str = "mock"
    drift: Drift | None = None
    seed: int = 0

    def of(self, symbol: str, now_ms: int) -> Price:
        """Return a token's price at a moment. Raises `Refusal` where the token has none."""
        base = self.usd.get(symbol)
        if base is None:
            raise Refusal("no-price", f"token {symbol!r} has no price", about="token")
        if self.drift is None:
            return Price(base, now_ms, self.source)
        period, furthest = self.drift.period_ms, self.drift.amplitude_bps
        bucket = now_ms // period
        drawn = derived_int(self.seed, "drift", symbol, bucket) % (2 * furthest + 1)
        return Price(base + base * (drawn - furthest) / BPS, bucket * period, self.source)

    def usd_of(self, symbol: str, now_ms: int) -> Decimal:
        """Return a token's USD price at a moment. Raises `Refusal` where it has none."""
        if self.drift is None and symbol in self.usd:
            return self.usd[symbol]
        return self.of(symbol, now_ms).usd

    def usd_fraction(self, symbol: str, now_ms: int) -> Fraction:
        """Return a token's price as an exact number. Raises `Refusal` where it has none."""
        return Fraction(self.usd_of(symbol, now_ms))
