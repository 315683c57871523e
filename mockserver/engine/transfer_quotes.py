"""Quotes for moving one token between chains, in both generations."""

from collections.abc import Mapping
from dataclasses import field, replace
from decimal import Decimal
from typing import Any, TypeVar

from mockserver.engine import amounts
from mockserver.engine.catalog import Placed
from mockserver.engine.pricing import Prices, Rates, checked_channel_bps, fee_level_bps
from mockserver.engine.refusal import Refusal
from mockserver.fast_dataclass import keep, value_class
from mockserver.jsontext import plain

_QuoteKey = TypeVar("_QuoteKey", bound=tuple[Any, ...])
_Fixed = TypeVar("_Fixed")
_Quote = TypeVar("_Quote", bound="QuoteInUnits")


@value_class(frozen=True, slots=True)
class QuoteInUnits:
    """What a quote of 2.0 gives, in smallest units with `decimals`; `gross` is before fees."""

    gross: int
    out_usd: str
    service_fee: int
    gas_fee: int
    rate_bps: int
    decimals: int

    @property
    def net(self) -> int:
        """What arrives, in smallest units."""
        return self.gross - self.service_fee - self.gas_fee


@value_class(frozen=True, slots=True)
class BridgeQuote(QuoteInUnits):
    """What a 2.0 transfer gives, of the token on the target chain (GB2-quote).

    `price_text` is in USD, in plain digits; `out_usd` is gross with 18 decimals.
    """

    price_text: str

    def worth(self, gross: int) -> str:
        """Return what is given before fees in USD, as it was published with the quote."""
        return self.out_usd


def fixed_near(
    fixed: Mapping[_QuoteKey, _Fixed], key: _QuoteKey, place: int, percent: int
) -> tuple[_Fixed | None, int]:
    """Return the fixed quote of a request, or of the nearest amount within so many percent.

    Amounts stand at `place` in keys; the amount of the quote is returned with it.
    """
    # The very amount first: it comes out to the last digit, without scaling.
    if key in fixed or not percent:
        return fixed.get(key), key[place]
    others = key[:place] + key[place + 1 :]
    alike = {
        known_key[place]: known_key
        for known_key in fixed
        if known_key[:place] + known_key[place + 1 :] == others
    }
    near = amounts.nearest(key[place], alike, percent)
    return (None, 0) if near is None else (fixed[alike[near]], near)


def fixed_quote(
    fixed: Mapping[_QuoteKey, _Quote], key: _QuoteKey, place: int, percent: int
) -> _Quote | None:
    """Return the quote that is fixed for a request, or follows from that for a near amount."""
    fixed_or_none, near = fixed_near(fixed, key, place, percent)
    amount = key[place]
    if fixed_or_none is None or near == amount:
        return fixed_or_none
    quote = replace(
        fixed_or_none,
        gross=fixed_or_none.gross * amount // near,
        out_usd=amounts.scaled(fixed_or_none.out_usd, amount, near),
        service_fee=fixed_or_none.service_fee * amount // near,
    )
    # Gas stays as it was: for a near but smaller amount it may be all of it.
    return quote if quote.net > 0 else None


@value_class(frozen=True, slots=True)
class CrossChainQuote:
    """What a v1 transfer gives, in whole tokens of the token in (ESS1).

    `amount_out` is `amount_in` less `fee` (vendor and third party) and `gas`.
    """

    amount_in: Decimal
    amount_out: Decimal
    fee: Decimal
    gas: Decimal
    symbol: str
    out_units: int
    """What arrives, in smallest units on the target chain."""


BridgeKey = tuple[str, int, str, str, int]
"""Symbol, amount in smallest units, source and target nickname, channel fee in basis points."""


CrossChainKey = tuple[str, int, str, str, int]
"""Symbol, amount in smallest units, source and target nickname, and fee level, of v1."""


@value_class(frozen=True, slots=True)
class Tariff:
    """What a 2.0 transfer between two ends costs, whatever its amount.

    An amount times `rise` over `fall` is the same in smallest units of the token out, and that
    times `usd` over `divisor` is its worth, in USD of 18 decimals. `price_text` is in USD as well.
    """

    price_text: str
    gas: int
    rise: int
    fall: int
    usd: int
    divisor: int

    def worth(self, gross: int) -> str:
        """Return what is given before fees in USD, with 18 decimals."""
        return amounts.pointed(gross * self.usd // self.divisor, 18)


Charged = tuple[int, int, int, int, Tariff | BridgeQuote]
"""What a 2.0 transfer gives before fees, its fee and gas, the fee's rate, and what tells its price:
a tariff, or the quote that is fixed for the inputs."""


def bridge_quote(charged: Charged, target: Placed) -> BridgeQuote:
    """Return what a 2.0 transfer gives as a quote."""
    gross, fee, gas, rate, price = charged
    worth = price.worth(gross)
    return BridgeQuote(gross, worth, fee, gas, rate, target.decimals, price.price_text)


_MOST_CACHED = 4_096


@value_class(frozen=True, slots=True)
class TransferQuotes:
    """Quotes transfers by the rules, except where a published quote is fixed for the inputs."""

    rates: Rates
    prices: Prices
    fixed: Mapping[BridgeKey, BridgeQuote] = field(default_factory=dict)
    near_percent: int = 0
    fixed_v1: Mapping[CrossChainKey, CrossChainQuote] = field(default_factory=dict)
    # By symbol, source and target nickname, where prices stand still.
    _tariffs: dict[tuple[str, str, str], Tariff] = field(
        init=False, default_factory=dict, repr=False
    )
    # Gas by symbol, decimals and nickname, where prices stand still.
    _steady: dict[tuple[str, int, str], int] = field(init=False, default_factory=dict, repr=False)

    def bridge(
        self, amount: int, source: Placed, target: Placed, now_ms: int, channel_bps: int = 0
    ) -> BridgeQuote:
        """Quote a 2.0 transfer of smallest units; see `charged`. Raises `Refusal`."""
        return bridge_quote(self.charged(amount, source, target, now_ms, channel_bps), target)

    def charged(
        self, amount: int, source: Placed, target: Placed, now_ms: int, channel_bps: int = 0
    ) -> Charged:
        """Return what a 2.0 transfer of smallest units on the source chain gives.

        Raises `Refusal` where the amount does not cover the fees or may not be sent at all.
        """
        # The bounds here and not by a call: this is the hottest path, and most amounts are right.
        if not 0 < amount <= amounts.MAX_UNITS:
            amounts.checked_units(amount)
        tariff = self._tariffs.get((source.symbol, source.chain.nickname, target.chain.nickname))
        if tariff is None:
            # A tariff is kept only of a route that was permitted, which is not checked again.
            _check_transfer(source, target)
        rate = self.rates.bridge_bps
        if channel_bps:
            rate += checked_channel_bps(channel_bps)
        if self.fixed:
            ends = source.chain.nickname, target.chain.nickname
            key = source.symbol, amount, *ends, channel_bps
            known = fixed_quote(self.fixed, key, 1, self.near_percent)
            if known is not None:
                return known.gross, known.service_fee, known.gas_fee, known.rate_bps, known
        if tariff is None:
            tariff = self._tariff(source, target, now_ms)
        gross = amount * tariff.rise // tariff.fall
        fee, gas = gross * rate // amounts.BPS, tariff.gas
        if gross - fee - gas <= 0:
            raise too_low(_least_bridge(source, target, rate, gas), source)
        return gross, fee, gas, rate, tariff

    def _fixed_quote_v1(
        self, units: int, source: Placed, target: Placed, fee_level: int
    ) -> CrossChainQuote | None:
        """Return the v1 quote that is fixed for an amount, or follows from a near amount's."""
        # Gas does not depend on the amount, and fee and gas are what does not arrive.
        ends = source.chain.nickname, target.chain.nickname
        key = source.symbol, units, *ends, fee_level
        cross_chain_quote, near = fixed_near(self.fixed_v1, key, 1, self.near_percent)
        if cross_chain_quote is None or near == units:
            return cross_chain_quote
        fee = amounts.units_floor(cross_chain_quote.fee, source.decimals) * units // near
        gas = amounts.units_floor(cross_chain_quote.gas, source.decimals)
        return _cross_chain(units, fee, gas, source, target)

    def cross_chain(
        self, amount: Decimal, source: Placed, target: Placed, now_ms: int, fee_level: int = 0
    ) -> CrossChainQuote:
        """Quote a v1 transfer of `amount` whole tokens.

        Fee and gas are rounded down to the source token's smallest unit, what arrives to the
        target token's. Raises `Refusal` as `charged` does, and for too many decimals.
        """
        rate = self.rates.v1_bps + fee_level_bps(fee_level)
        units = amounts.units_exact(amount, source.decimals)
        _check_transfer(source, target)
        known = self._fixed_quote_v1(units, source, target, fee_level) if self.fixed_v1 else None
        if known is not None:
            return known
        gas = self._gas(source, target, now_ms)
        fee = amounts.bps_floor(units, rate)
        quote = _cross_chain(units, fee, gas, source, target)
        if quote is None:
            raise too_low_v1(_least_v1(source, target, rate, gas), source)
        return quote

    def _tariff(self, source: Placed, target: Placed, now_ms: int) -> Tariff:
        gas = self._gas(target, target, now_ms)
        price = self.prices.usd_of(source.symbol, now_ms)
        usd, divisor = price.as_integer_ratio()
        tariff = Tariff(
            price_text=plain(price),
            gas=gas,
            rise=10 ** max(0, target.decimals - source.decimals),
            fall=10 ** max(0, source.decimals - target.decimals),
            usd=usd * 10**18,
            divisor=divisor * 10**target.decimals,
        )
        if self.prices.drift is None:
            key = source.symbol, source.chain.nickname, target.chain.nickname
            keep(self._tariffs, key, tariff, _MOST_CACHED)
        return tariff

    def _gas(self, token: Placed, at: Placed, now_ms: int) -> int:
        key = (token.symbol, token.decimals, at.chain.nickname)
        gas = self._steady.get(key)
        if gas is None:
            gas = gas_in_token(self.rates, self.prices, token, at, now_ms)
            # With drift the cost in tokens changes with every period.
            if self.prices.drift is None:
                self._steady[key] = gas
        return gas


def gas_in_token(rates: Rates, prices: Prices, token: Placed, at: Placed, now_ms: int) -> int:
    """Return what execution on the chain of `at` costs in a token's units, rounded down."""
    # In integers, floored once at the end: a division of Decimals would be rounded before.
    usd, part = rates.gas(at.chain).as_integer_ratio()
    price, divisor = prices.usd_of(token.symbol, now_ms).as_integer_ratio()
    return int(usd * divisor * 10**token.decimals // (part * price))


def too_low(minimum: int | None, source: Placed) -> Refusal:
    """Return the refusal of an amount that does not cover the fees, naming the least that would."""
    if minimum is None:
        return Refusal("amount-too-low", "no amount covers gas and fee here", about="amount")
    least = plain(amounts.whole_tokens(minimum, source.decimals))
    return Refusal(
        "amount-too-low",
        f"the amount does not cover gas and fee; at least {minimum} smallest units are needed "
        f"({least} {source.symbol} on {source.chain.nickname!r})",
        about="amount",
        nearest=(str(minimum),),
    )


def too_low_v1(minimum: int | None, source: Placed) -> Refusal:
    """Return the same in v1's whole tokens."""
    if minimum is None:
        # No amount, so no unit in which the two generations would differ.
        return too_low(None, source)
    least = plain(amounts.whole_tokens(minimum, source.decimals))
    return Refusal(
        "amount-too-low",
        lambda named: (
            f"the amount does not cover gas and fee; at least {least} {source.symbol} are needed "
            f"on {named(source.chain.nickname)!r}"
        ),
        about="amount",
        nearest=(least,),
    )


def _check_transfer(source: Placed, target: Placed) -> None:
    if source.chain.nickname == target.chain.nickname:
        raise Refusal(
            "same-chain",
            lambda named: (
                f"source and target chain are both {named(source.chain.nickname)!r}; "
                "name another target chain, or swap through the aggregator"
            ),
            about="target chain",
        )
    if not source.token.listed:
        raise Refusal(
            "bridge-disabled",
            f"token {source.symbol!r} is not in the list and may not be bridged; swap it",
            about="token",
        )
    for placed, role in ((source, "source chain"), (target, "target chain")):
        if placed.chain.no_swap or placed.contract.disable_bridge:
            raise _not_bridged(placed, role)


def _not_bridged(placed: Placed, role: str) -> Refusal:
    chain = placed.chain.nickname
    return Refusal(
        "bridge-disabled",
        lambda named: f"token {placed.symbol!r} may not be bridged on {named(chain)!r}",
        about=role,
    )


def _least_bridge(source: Placed, target: Placed, rate: int, gas: int) -> int | None:
    def covers(amount: int) -> bool:
        gross = amounts.rescale_floor(amount, source.decimals, target.decimals)
        return gross - amounts.bps_floor(gross, rate) - gas > 0

    return amounts.least(covers)


def _cross_chain(
    units: int, fee: int, gas: int, source: Placed, target: Placed
) -> CrossChainQuote | None:
    """Return the v1 quote of smallest units less fee and gas; None where nothing arrives."""
    left = units - fee - gas
    out = amounts.rescale_floor(left, source.decimals, target.decimals)
    if out <= 0:
        return None
    # Digits that the decimals of the target lack are left out.
    paid = min(left, amounts.rescale_floor(out, target.decimals, source.decimals))
    return CrossChainQuote(
        amount_in=amounts.whole_tokens(units, source.decimals),
        amount_out=amounts.whole_tokens(paid, source.decimals),
        fee=amounts.whole_tokens(fee, source.decimals),
        # Gas takes what rounding cuts off as well, so that the parts add up.
        gas=amounts.whole_tokens(units - fee - paid, source.decimals),
        symbol=source.symbol,
        out_units=out,
    )


def _least_v1(source: Placed, target: Placed, rate: int, gas: int) -> int | None:
    def covers(amount: int) -> bool:
        left = amount - amounts.bps_floor(amount, rate) - gas
        return amounts.rescale_floor(left, source.decimals, target.decimals) > 0

    return amounts.least(covers)
