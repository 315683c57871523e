"""What things cost in a world: tokens in USD, fees in basis points, gas, and depth of its pools.

Prices may drift with the world's clock. What v1 charges beside the fee level is assumed (A-150).
"""

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from mockserver.engine.amounts import BPS
from mockserver.engine.catalog import Chain
from mockserver.engine.hashes import derived_int
from mockserver.engine.refusal import Refusal, digits
from mockserver.fast_dataclass import dataclass, value_class


@dataclass(frozen=True, slots=True)
class PriceDrift:
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
    drift: PriceDrift | None = None
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
        # By the period and not by the moment: two requests within a period get one price.
        drawn = derived_int(self.seed, "drift", symbol, bucket) % (2 * furthest + 1)
        return Price(base + base * (drawn - furthest) / BPS, bucket * period, self.source)

    def usd_of(self, symbol: str, now_ms: int) -> Decimal:
        """Return a token's USD price at a moment. Raises `Refusal` where it has none."""
        # Without making a `Price`, which quotes do not need.
        if self.drift is None and symbol in self.usd:
            return self.usd[symbol]
        return self.of(symbol, now_ms).usd

    def usd_fraction(self, symbol: str, now_ms: int) -> Fraction:
        """Return a token's price as an exact number. Raises `Refusal` where it has none."""
        return Fraction(self.usd_of(symbol, now_ms))


BRIDGE_BASE_BPS = 6
"""The base rate of 2.0 bridge quotes since 2024-07 (DEMO)."""
AGGREGATE_BASE_BPS = 20
"""The base rate of 2.0 aggregate quotes across chains (DEMO)."""
MAX_CHANNEL_BPS = 50
"""The largest fee a channel may add (GB2-quote)."""
MAX_FEE_LEVEL = 10
"""The highest v1 fee level (ESS1)."""
FEE_LEVEL_BPS = 5
"""What one v1 fee level adds (ESS1)."""
MIN_SLIPPAGE_BPS, MAX_SLIPPAGE_BPS = 1, 5_000
"""The slippage accepted in swaps: 0.01 % to 50 % (SDK2)."""

ONE_INCH, KYBER, OPEN_OCEAN, CHAINGE = "1inch", "Kyber", "OpenOcean", "ChaingeDex"
AGGREGATORS = (ONE_INCH, KYBER, OPEN_OCEAN, CHAINGE)
"""The aggregators the service works with (DEMO)."""

_BY_CHAIN: Mapping[str, str] = MappingProxyType(
    {
        "FSN": CHAINGE,
        "ETH": ONE_INCH,
        "BNB": ONE_INCH,
        "ARB": KYBER,
        "POLYGON": KYBER,
        "BASE": KYBER,
        "AVAXC": OPEN_OCEAN,
        "FTM": OPEN_OCEAN,
        "CRO": OPEN_OCEAN,
    }
)


@dataclass(frozen=True, slots=True)
class Rates:
    """What a world charges. Gas is in USD by target chain nickname; depth is a pool's USD value."""

    bridge_bps: int = BRIDGE_BASE_BPS
    aggregate_bps: int = AGGREGATE_BASE_BPS
    v1_bps: int = BRIDGE_BASE_BPS
    v1_aggregate_bps: int = AGGREGATE_BASE_BPS
    gas_usd: Mapping[str, Decimal] = field(default_factory=dict)
    default_gas_usd: Decimal = Decimal("0.3")
    depth_usd: Decimal = Decimal(50_000_000)
    recommended_slippage_percent: Decimal = Decimal(1)
    aggregators: Mapping[str, str] = field(default_factory=lambda: _BY_CHAIN)
    default_aggregator: str = CHAINGE
    hub: str = "FSN"

    def gas(self, chain: Chain) -> Decimal:
        """Return what execution on a chain costs, in USD."""
        return self.gas_usd.get(chain.nickname, self.default_gas_usd)

    def aggregator(self, chain: Chain) -> str:
        return self.aggregators.get(chain.nickname, self.default_aggregator)


def checked_channel_bps(bps: int) -> int:
    """Return a channel's fee, in basis points. Raises `Refusal` outside 0 to 50."""
    if 0 <= bps <= MAX_CHANNEL_BPS:
        return bps
    raise Refusal(
        "fee-out-of-range",
        f"channel fee of {digits(bps)} basis points is outside 0 to {MAX_CHANNEL_BPS}",
        about="channel fee",
    )


def fee_level_bps(level: int) -> int:
    """Return what a v1 fee level adds, in basis points. Raises `Refusal` outside 0 to 10."""
    if 0 <= level <= MAX_FEE_LEVEL:
        return level * FEE_LEVEL_BPS
    raise Refusal(
        "fee-out-of-range",
        f"fee level {digits(level)} is outside 0 to {MAX_FEE_LEVEL}",
        about="fee level",
    )


def checked_slippage_bps(bps: int) -> int:
    """Return a slippage, in basis points. Raises `Refusal` outside 1 to 5000 (0.01 % to 50 %)."""
    if MIN_SLIPPAGE_BPS <= bps <= MAX_SLIPPAGE_BPS:
        return bps
    raise Refusal(
        "slippage-out-of-range",
        f"slippage of {digits(bps)} basis points is outside {MIN_SLIPPAGE_BPS} to "
        f"{MAX_SLIPPAGE_BPS}; 100 means 1 %",
        about="slippage",
    )


def checked_aggregator(name: str) -> str:
    """Return an aggregator's name as the service writes it, matched in any case (DEMO, GB2-swap).

    Raises `Refusal` for a name the service does not work with.
    """
    for known in AGGREGATORS:
        if known.lower() == name.lower():
            return known
    raise Refusal(
        "unknown-aggregator",
        f"aggregator {name[:80]!r} is not known; known are {', '.join(map(repr, AGGREGATORS))}",
        about="aggregator",
        nearest=AGGREGATORS,
    )
