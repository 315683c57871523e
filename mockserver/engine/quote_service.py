"""Quotes, call data and prices by name; outages and catalog decide what is on offer."""

from decimal import Decimal

from mockserver.engine.catalog import Placed
from mockserver.engine.outage_calendar import Phase
from mockserver.engine.pricing import Price
from mockserver.engine.refusal import Refusal
from mockserver.engine.swap_quotes import (
    AggregateQuote,
    AggregateQuoteV1,
    SwapCall,
    SwapRequest,
    claimed,
)
from mockserver.engine.transfer_quotes import BridgeQuote, Charged, CrossChainQuote, bridge_quote
from mockserver.engine.world_state import View, route_of

# Looking up a member of an enumeration takes longer than a global name.
_QUOTE, _SUBMIT = Phase.QUOTE, Phase.SUBMIT


class QuoteService(View):
    """Quotes, call data and prices of a world, by name."""

    __slots__ = ()

    def bridge(
        self, amount: int, source: Placed, target: Placed, channel_bps: int = 0
    ) -> BridgeQuote:
        """Quote a 2.0 transfer of smallest units. Raises `Refusal`."""
        return bridge_quote(self.charged(amount, source, target, channel_bps), target)

    def charged(
        self,
        amount: int,
        source: Placed,
        target: Placed,
        channel_bps: int = 0,
        phase: Phase = _QUOTE,
    ) -> Charged:
        """Return what a 2.0 transfer of smallest units gives. Raises `Refusal`."""
        state, scenario = self._core.state, self._core.scenario
        now = state.clock.virtual_ms
        # Where no outage is planned and no price drifts, the answer is the same at any time.
        if (
            state.calendar.windows
            or scenario.prices.drift is not None
            or not (source.offered and target.offered)
        ):
            now = self._core.now()
            self.admit(source, target, phase, now)
        return scenario.transfers.charged(amount, source, target, now, channel_bps)

    def cross_chain(
        self, amount: Decimal, source: Placed, target: Placed, fee_level: int
    ) -> CrossChainQuote:
        """Quote a v1 transfer of whole tokens; see `v1_placed`. Raises `Refusal`."""
        self.admit(source, target, _QUOTE)
        transfers = self._core.scenario.transfers
        return transfers.cross_chain(amount, source, target, self._core.now(), fee_level)

    def aggregate(
        self, amount: int, source: Placed, target: Placed, channel_bps: int = 0
    ) -> AggregateQuote:
        """Quote a 2.0 swap of smallest units; see `placed`. Raises `Refusal`."""
        self.admit(source, target, _QUOTE)
        swaps = self._core.scenario.swaps
        return swaps.aggregate(amount, source, target, self._core.now(), channel_bps)

    def aggregate_v1(
        self, amount: Decimal, source: Placed, target: Placed, fee_level: int
    ) -> AggregateQuoteV1:
        """Quote a v1 swap of whole tokens; see `v1_placed`. Raises `Refusal`."""
        self.admit(source, target, _QUOTE)
        swaps = self._core.scenario.swaps
        return swaps.aggregate_v1(amount, source, target, self._core.now(), fee_level)

    def swap(self, source: Placed, target: Placed, request: SwapRequest) -> SwapCall:
        """Return the transaction that swaps on one chain. Raises `Refusal`."""
        if source.chain.nickname != target.chain.nickname:
            raise Refusal(
                "no-route",
                f"call data swaps on one chain, not from {source.chain.nickname!r} to "
                f"{target.chain.nickname!r}",
                about="target chain",
            )
        self.admit(source, target, _QUOTE)
        return self._core.scenario.swaps.swap(source, target, request, self._core.now())

    def price(self, symbol: str) -> Price:
        """Return a token's USD price. Raises `Refusal` for an unknown token."""
        token = self._core.scenario.catalog.token(symbol)
        return self._core.scenario.prices.of(token.symbol, self._core.now())

    def price_at(self, chain: str, address: str, symbol: str) -> Price:
        """Return the USD price of a contract's token. Raises `Refusal` where the names disagree."""
        catalog = self._core.scenario.catalog
        placed = catalog.placed_at(catalog.chain(chain), address)
        if placed.symbol != symbol:
            raise Refusal(
                "unknown-token",
                f"token {symbol[:80]!r} is not at that address of {chain!r}; {placed.symbol!r} is",
                about="token",
                nearest=(placed.symbol,),
            )
        return self.price(symbol)

    def v1_placed(self, symbol: str, chain: str, chain_about: str, token_about: str) -> Placed:
        """Return a token on a v1 chain. Raises `Refusal` naming the roles given."""
        catalog = self._core.scenario.catalog
        known_chain = catalog.chain_v1(chain, chain_about)
        return catalog.placed(known_chain, catalog.token(symbol, token_about), token_about)

    def placed(self, chain: str, address: str, decimals: int | None, end: str) -> Placed:
        """Return the token of an address on a nickname, at the `source` or the `target` end.

        Decimals that are claimed have to be right. Raises `Refusal`.
        """
        catalog = self._core.scenario.catalog
        known = catalog.chain(chain, f"{end} chain")
        placed = catalog.placed_at(known, address, f"{end} token address")
        return placed if decimals is None else claimed(placed, decimals, f"{end} decimals")

    def admit(
        self, source: Placed, target: Placed, phase: Phase, now_ms: int | None = None
    ) -> None:
        """Raise `Refusal` where a chain or token is not on offer, by default now."""
        if not source.offered:
            raise _not_offered(source, "source")
        if not target.offered:
            raise _not_offered(target, "target")
        calendar = self._core.state.calendar
        if calendar.windows:
            now = self._core.now() if now_ms is None else now_ms
            calendar.check(route_of(source, target), phase, now)


def _not_offered(placed: Placed, end: str) -> Refusal:
    chain = placed.chain
    if not chain.active:
        return Refusal(
            "chain-suspended",
            lambda named: (
                f"{end} chain {named(chain.nickname)!r} is not on offer; see the list of chains"
            ),
            about=f"{end} chain",
        )
    return Refusal(
        "token-delisted",
        lambda named: f"{end} token {placed.symbol!r} is delisted on {named(chain.nickname)!r}",
        about=f"{end} token",
    )
