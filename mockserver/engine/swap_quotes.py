"""Quotes and call data of swaps through an aggregator, on one chain or across chains.

Pricing, place of execution, routers and deadline are assumed (A-155, A-156).
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

from mockserver.engine import abi, amounts
from mockserver.engine.catalog import (
    SOLANA_FAMILY,
    Catalog,
    Chain,
    Placed,
    address_key,
    checked_address,
)
from mockserver.engine.hashes import derived_int
from mockserver.engine.pricing import (
    CHAINGE,
    KYBER,
    MAX_CHANNEL_BPS,
    ONE_INCH,
    OPEN_OCEAN,
    Prices,
    Rates,
    checked_aggregator,
    checked_channel_bps,
    checked_slippage_bps,
    fee_level_bps,
)
from mockserver.engine.refusal import Refusal, digits
from mockserver.engine.transfer_quotes import (
    QuoteInUnits,
    fixed_quote,
    gas_in_token,
    too_low,
    too_low_v1,
)
from mockserver.fast_dataclass import value_class

DEADLINE_S = 20 * 60
"""How long swap call data is good for, in seconds after the world's time."""

ROUTERS: Mapping[str, str] = MappingProxyType(
    {
        ONE_INCH: "0x1111111254eeb25477b68fb85ed929f73a960582",
        CHAINGE: "0x62bc5327868a998e1b3d9fe6037273e642a137ae",
        KYBER: "0x6131b5fae19ea4f9d964eac0408e4408b66337b5",
        OPEN_OCEAN: "0x6352a56caadc4f1e25cd6c75970fa768a3304e64",
    }
)
"""Router by aggregator: the first two are observed (GB2-swap), the others public addresses."""

_ENCODERS: Mapping[str, abi.Encoder] = MappingProxyType(
    {
        ONE_INCH: abi.one_inch,
        CHAINGE: abi.swap_exact_tokens,
        KYBER: abi.kyber,
        OPEN_OCEAN: abi.open_ocean,
    }
)


@value_class(frozen=True, slots=True)
class AggregateQuote(QuoteInUnits):
    """What a swap gives.

    `network` is the id of the chain that executes the swap; `price_impact` and `slippage` are in
    percent, the first with its sign.
    """

    network: str
    aggregator: str
    slippage: Decimal
    price_impact: Decimal
    route_summary: str | None = None


@value_class(frozen=True, slots=True)
class AggregateQuoteV1:
    """What a v1 swap gives: amount in, fee and gas in whole tokens in, amount out in tokens out."""

    amount_in: Decimal
    amount_out: Decimal
    fee: Decimal
    gas: Decimal
    slippage: Decimal
    symbol_in: str
    symbol_out: str
    out_units: int


@value_class(frozen=True, slots=True)
class SwapCall:
    """A transaction for the user to sign: `value` in smallest units, `data` as `0x` and hex."""

    amount_out: int
    minimum: int
    sender: str
    to: str
    gas: str
    value: int
    data: str


@value_class(frozen=True, slots=True)
class SwapRequest:
    """A request for call data, without its tokens; slippage in basis points."""

    amount: int
    sender: str
    recipient: str
    slippage_bps: int
    aggregator: str | None = None
    partial_fill: bool = False
    route_summary: str | None = None


QuoteKey = tuple[int, str, str, str, str, int]
"""Amount, source nickname and address key, target nickname and address key, channel fee in bps."""

SwapKey = tuple[int, str, str, str]
"""Amount, nickname, source and target address key."""


@value_class(frozen=True, slots=True)
class SwapQuotes:
    """Quotes swaps from the price table, except where a published quote is fixed for the inputs."""

    catalog: Catalog
    rates: Rates
    prices: Prices
    seed: int = 0
    fixed: Mapping[QuoteKey, AggregateQuote] = field(default_factory=dict)
    fixed_swaps: Mapping[SwapKey, int] = field(default_factory=dict)
    near_percent: int = 0

    def aggregate(
        self, amount: int, source: Placed, target: Placed, now_ms: int, channel_bps: int = 0
    ) -> AggregateQuote:
        """Quote a 2.0 swap of `amount` smallest units.

        Raises `Refusal` where there is no route, or the amount does not cover the fees or may not
        be sent at all.
        """
        amounts.checked_units(amount)
        _check_route(source, target)
        rate = self.rates.aggregate_bps + checked_channel_bps(channel_bps)
        key = (amount, *_place_key(source), *_place_key(target), channel_bps)
        if self.fixed:
            # A published example has its own figures, whatever the price table says.
            known = fixed_quote(self.fixed, key, 0, self.near_percent)
            if known is not None:
                return known
        execution = self.execution(source, target)
        free = _free(source, target)
        gas = 0 if free else gas_in_token(self.rates, self.prices, execution, target, now_ms)
        gross = self.gross(amount, source, execution, now_ms)
        charged = 0 if free else rate
        if gross - amounts.bps_floor(gross, charged) - gas <= 0:
            raise too_low(self._least(source, execution, charged, gas, now_ms), source)
        price = self.prices.usd_fraction(target.symbol, now_ms)
        aggregator = self.rates.aggregator(execution.chain)
        return AggregateQuote(
            network=execution.chain.network,
            decimals=execution.decimals,
            aggregator=aggregator,
            gross=gross,
            out_usd=amounts.fixed(Fraction(gross, 10**execution.decimals) * price, 10),
            service_fee=amounts.bps_floor(gross, charged),
            gas_fee=gas,
            rate_bps=rate,
            slippage=self.rates.recommended_slippage_percent,
            price_impact=self.impact_percent(amount, source, now_ms),
            route_summary=self._route(key) if _shows_route(aggregator, source, execution) else None,
        )

    def routed(self, amount: int, source: Placed, route: str) -> tuple[Placed, int] | None:
        """Return the token out and the channel's fee of the quote on one chain that showed a route.

        None where no quote of this amount has shown it.
        """
        for target in self.catalog.tokens_on(source.chain):
            # A route cannot be read: it is derived from its quote, and the quotes it may be of are
            # few.
            for bps in range(MAX_CHANNEL_BPS + 1):
                key = (amount, *_place_key(source), *_place_key(target), bps)
                if self._route(key) == route:
                    return target, bps
        return None

    def aggregate_v1(
        self, amount: Decimal, source: Placed, target: Placed, now_ms: int, fee_level: int = 0
    ) -> AggregateQuoteV1:
        """Quote a v1 swap of `amount` whole tokens; fee and gas are taken from the token in."""
        rate = self.rates.v1_aggregate_bps + fee_level_bps(fee_level)
        units = amounts.units_exact(amount, source.decimals)
        _check_route(source, target)
        direct = source.chain.nickname == target.chain.nickname
        gas = 0 if direct else gas_in_token(self.rates, self.prices, source, target, now_ms)

        def arriving(units: int) -> int:
            # Fee and gas leave before the swap, so that the rest alone buys at the pool's price.
            left = units - amounts.bps_floor(units, rate) - gas
            return self.gross(left, source, target, now_ms) if left > 0 else 0

        if arriving(units) <= 0:
            raise too_low_v1(amounts.least(lambda units: arriving(units) > 0), source)
        return AggregateQuoteV1(
            amount_in=amounts.whole_tokens(units, source.decimals),
            amount_out=amounts.whole_tokens(arriving(units), target.decimals),
            fee=amounts.whole_tokens(amounts.bps_floor(units, rate), source.decimals),
            gas=amounts.whole_tokens(gas, source.decimals),
            slippage=self.rates.recommended_slippage_percent,
            symbol_in=source.symbol,
            symbol_out=target.symbol,
            out_units=arriving(units),
        )

    def swap(self, source: Placed, target: Placed, request: SwapRequest, now_ms: int) -> SwapCall:
        """Return the transaction that swaps on one chain, with the quote's minimum in its data.

        Raises `Refusal` as `aggregate` does, and for a slippage, aggregator or address that is
        not accepted.
        """
        amounts.checked_units(request.amount)
        _check_route(source, target)
        chain = source.chain
        slippage = checked_slippage_bps(request.slippage_bps)
        name = checked_aggregator(request.aggregator or self.rates.aggregator(chain))
        sender = checked_address(chain, request.sender, "sender")
        recipient = checked_address(chain, request.recipient, "recipient")
        out = self.fixed_swaps.get((request.amount, *_place_key(source), _place_key(target)[1]))
        if out is None:
            out = self.gross(request.amount, source, target, now_ms)
        if out <= 0:
            raise too_low(self._least(source, target, 0, 0, now_ms), source)
        minimum = minimum_out(out, slippage, name)
        call = abi.AbiCall(
            amount=request.amount,
            minimum=minimum,
            source_token=_path_address(source, name),
            target_token=_path_address(target, name),
            sender=sender,
            recipient=recipient,
            router=ROUTERS[name],
            deadline_s=now_ms // 1000 + DEADLINE_S,
            partial_fill=request.partial_fill,
            route=(request.route_summary or "").encode("utf-8", "replace")[:4096],
        )
        return SwapCall(
            amount_out=out,
            minimum=minimum,
            # EVM addresses match in any case; those of other chains mean something else in another.
            sender=sender.lower() if chain.evm else sender,
            to=ROUTERS[name],
            gas="0",
            # Only the native coin travels with the call: a token is taken by its allowance.
            value=request.amount if source.contract.native else 0,
            data=f"0x{_ENCODERS[name](call).hex()}",
        )

    def execution(self, source: Placed, target: Placed) -> Placed:
        """Return the token out on the chain that executes the swap.

        A swap on one chain stays there (A-082). Else it is the target chain where it can execute,
        else the hub, else the source chain: the first that has the token.
        """
        if source.chain.nickname == target.chain.nickname:
            return target
        hub = next((c for c in self.catalog.chains if c.nickname == self.rates.hub), None)
        # The first chain with the token that can swap: the target, else the hub, else the source.
        for chain in (target.chain, hub, source.chain):
            contract = target.token.contracts.get(chain.nickname) if chain else None
            if chain is not None and chain.evm and not chain.no_swap and contract is not None:
                return Placed(chain, target.token, contract)
        return target

    def gross(self, amount: int, source: Placed, target: Placed, now_ms: int) -> int:
        """Return what a pool gives before fees, in smallest units of the token out, floored."""
        # The pool is of constant product: of a deep pool's value D, an amount worth v buys
        # v·D/(D+v), so that larger swaps get a worse price and never a smaller amount.
        value = self._value_usd(amount, source, now_ms)
        depth = Fraction(self.rates.depth_usd)
        price = self.prices.usd_fraction(target.symbol, now_ms)
        return amounts.floor(value * depth / (depth + value) / price * 10**target.decimals)

    def impact_percent(self, amount: int, source: Placed, now_ms: int) -> Decimal:
        """Return how much the swap moves the price: zero or negative, rounded down to 0.01 %."""
        value = self._value_usd(amount, source, now_ms)
        loss = value / (Fraction(self.rates.depth_usd) + value)
        hundredths = amounts.floor(loss * 10_000)
        return Decimal(-hundredths).scaleb(-2) if hundredths else Decimal(0)

    def _value_usd(self, amount: int, placed: Placed, now_ms: int) -> Fraction:
        price = self.prices.usd_fraction(placed.symbol, now_ms)
        return Fraction(amount, 10**placed.decimals) * price

    def _least(
        self, source: Placed, target: Placed, rate: int, gas: int, now_ms: int
    ) -> int | None:
        def covers(amount: int) -> bool:
            gross = self.gross(amount, source, target, now_ms)
            return gross - amounts.bps_floor(gross, rate) - gas > 0

        return amounts.least(covers)

    def _route(self, key: QuoteKey) -> str:
        raw = b"".join(derived_int(self.seed, "route", n, *key).to_bytes(32) for n in range(3))
        return b64encode(raw).decode("ascii")


def _free(source: Placed, target: Placed) -> bool:
    """Whether the service takes nothing: the user's transaction swaps on one EVM chain (SDK2)."""
    # On other chains the service swaps a deposit, and is paid for it.
    return source.chain.nickname == target.chain.nickname and source.chain.evm


def _shows_route(aggregator: str, source: Placed, execution: Placed) -> bool:
    """Whether a quote shows its route: of Kyber (DEMO), and of Solana, to be packed (SDK2)."""
    return aggregator == KYBER or SOLANA_FAMILY in (source.chain.family, execution.chain.family)


def minimum_out(out: int, slippage_bps: int, aggregator: str) -> int:
    """Return the least a swap may give, as the vendor's examples round it.

    ChaingeDex takes the cut rounded down off the amount; all others round the rest down.
    """
    # The two roundings differ by one unit where the share is not whole.
    if aggregator == CHAINGE:
        return out - amounts.bps_floor(out, slippage_bps)
    return amounts.bps_floor(out, amounts.BPS - slippage_bps)


def claimed(placed: Placed, decimals: int, about: str) -> Placed:
    """Return a token if the claimed decimals are right. Raises `Refusal` naming the right ones."""
    if decimals == placed.decimals:
        return placed
    raise Refusal(
        "wrong-decimals",
        f"{about} {digits(decimals)} are not those "
        f"of {placed.symbol!r} on {placed.chain.nickname!r}, which are {placed.decimals}",
        about=about,
        nearest=(str(placed.decimals),),
    )


def place_key(chain: Chain, address: str) -> tuple[str, str]:
    """Return the nickname and the address as the keys of fixed quotes carry them."""
    return chain.nickname, address_key(chain, address)


def _place_key(placed: Placed) -> tuple[str, str]:
    return place_key(placed.chain, placed.contract.address)


def _path_address(placed: Placed, aggregator: str) -> str:
    # A Uniswap-like path cannot hold the native coin, only its wrapped form.
    if aggregator == CHAINGE and placed.contract.native and placed.chain.weth:
        return placed.chain.weth
    return placed.contract.address


def _check_route(source: Placed, target: Placed) -> None:
    if source.chain.nickname == target.chain.nickname and source.token.index == target.token.index:
        raise Refusal(
            "same-token",
            lambda named: (
                f"both tokens are {source.symbol!r} on {named(source.chain.nickname)!r}; "
                "name two tokens"
            ),
            about="target token",
        )
    for placed, end in ((source, "source"), (target, "target")):
        if placed.chain.no_swap:
            raise _no_aggregator(placed.chain, f"{end} chain")
        if placed.contract.unroutable:
            raise _no_liquidity(placed, f"{end} token")


def _no_liquidity(placed: Placed, role: str) -> Refusal:
    """Return the refusal of a token that nobody trades, which the catalog has for tests (A-530)."""
    return Refusal(
        "no-route",
        lambda named: (
            f"no aggregator finds a route for {placed.symbol!r} on "
            f"{named(placed.chain.nickname)!r}; name another token"
        ),
        about=role,
    )


def _no_aggregator(chain: Chain, role: str) -> Refusal:
    return Refusal(
        "no-route", lambda named: f"no aggregator works on {named(chain.nickname)!r}", about=role
    )
