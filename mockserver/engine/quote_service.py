"""Quotes, call data and prices by name; outages and catalog decide what is on offer."""

from decimal import Decimal

from mockserver.engine.aggregates import (
    AggregateQuote,
    AggregateQuoteV1,
    SwapCall,
    SwapRequest,
    claimed,
)
from mockserver.engine.calendar import Phase
from mockserver.engine.catalog import Placed
from mockserver.engine.core import View, route_of
from mockserver.engine.prices import Price
from mockserver.engine.quotes import BridgeQuote, CrossChainQuote
from mockserver.engine.refusal import Refusal
from mockserver.values import value_class

# A member of an enumeration takes longer to be looked up than a name.
_QUOTE, _SUBMIT = Phase.QUOTE, Phase.SUBMIT


@value_class(frozen=True, slots=True)
class TokenRef:
    """A token as 2.0 clients name it: chain nickname, contract address and the decimals claimed."""

    chain: str
    address: str
    decimals: int


class QuoteService(View):
    """Quotes, call data and prices of a world, by name."""

    __slots__ = ()

    def bridge(
        self, amount: int, symbol: str, source_chain: str, target_chain: str, channel_bps: int = 0
    ) -> BridgeQuote:
        """Quote a 2.0 transfer of smallest units between nicknames. Raises `Refusal`."""
        catalog = self._core.scenario.catalog
        source, target = catalog.ends(symbol, source_chain, target_chain)
        return self.bridge_placed(amount, source, target, _QUOTE, channel_bps)

    def bridge_placed(
        self, amount: int, source: Placed, target: Placed, phase: Phase, channel_bps: int = 0
    ) -> BridgeQuote:
        """Quote a 2.0 transfer between tokens on chains. Raises `Refusal`."""
        now = self._admitted_ms(source, target, phase)
        return self._core.scenario.transfers.bridge(amount, source, target, now, channel_bps)

    def charged(
        self, amount: int, source: Placed, target: Placed, channel_bps: int = 0
    ) -> tuple[int, int, int, int, object]:
        """Return what a 2.0 transfer that is submitted gives, its fee, its gas and the rate.

        What these follow from comes last. Raises `Refusal`.
        """
        now = self._admitted_ms(source, target, _SUBMIT)
        return self._core.scenario.transfers.charged(amount, source, target, now, channel_bps)

    def _admitted_ms(self, source: Placed, target: Placed, phase: Phase) -> int:
        """Return the time by which a transfer is charged. Raises `Refusal` where none is let in."""
        core = self._core
        # Where no outage is planned and no price drifts, the answer is the same at any time.
        steady = not core.state.calendar.windows and core.scenario.prices.drift is None
        now = core.state.clock.virtual_ms if steady else core.now()
        if not (steady and source.offered and target.offered):
            self.admit(source, target, phase, now)
        return now

    def cross_chain(
        self, amount: Decimal, symbol: str, source_chain: str, target_chain: str, fee_level: int
    ) -> CrossChainQuote:
        """Quote a v1 transfer of whole tokens between v1 chain names. Raises `Refusal`."""
        source = self.v1_placed(symbol, source_chain, "source chain", "token")
        target = self.v1_placed(symbol, target_chain, "target chain", "token")
        return self.cross_chain_placed(amount, source, target, Phase.QUOTE, fee_level)

    def cross_chain_placed(
        self, amount: Decimal, source: Placed, target: Placed, phase: Phase, fee_level: int
    ) -> CrossChainQuote:
        """Quote a v1 transfer between tokens on chains. Raises `Refusal`."""
        self.admit(source, target, phase)
        return self._core.scenario.transfers.cross_chain(
            amount, source, target, self._core.now(), fee_level
        )

    def aggregate(
        self, amount: int, source: TokenRef, target: TokenRef, channel_bps: int = 0
    ) -> AggregateQuote:
        """Quote a 2.0 swap of smallest units. Raises `Refusal`."""
        placed = self.resolved(source, "source"), self.resolved(target, "target")
        return self.aggregate_placed(amount, *placed, Phase.QUOTE, channel_bps)

    def aggregate_placed(
        self, amount: int, source: Placed, target: Placed, phase: Phase, channel_bps: int = 0
    ) -> AggregateQuote:
        """Quote a 2.0 swap between tokens on chains. Raises `Refusal`."""
        self.admit(source, target, phase)
        return self._core.scenario.swaps.aggregate(
            amount, source, target, self._core.now(), channel_bps
        )

    def aggregate_v1(
        self, amount: Decimal, source: Placed, target: Placed, phase: Phase, fee_level: int
    ) -> AggregateQuoteV1:
        """Quote a v1 swap of whole tokens; see `v1_placed` for the tokens. Raises `Refusal`."""
        self.admit(source, target, phase)
        return self._core.scenario.swaps.aggregate_v1(
            amount, source, target, self._core.now(), fee_level
        )

    def gross(self, amount: int, source: Placed, target: Placed) -> int:
        """Return what a pool gives for smallest units before all fees."""
        return self._core.scenario.swaps.gross(amount, source, target, self._core.now())

    def swap(self, source_ref: TokenRef, target_ref: TokenRef, asked: SwapRequest) -> SwapCall:
        """Return the transaction that swaps on one chain. Raises `Refusal`."""
        source, target = self.resolved(source_ref, "source"), self.resolved(target_ref, "target")
        if source.chain.nickname != target.chain.nickname:
            raise Refusal(
                "no-route",
                f"call data swaps on one chain, not from {source.chain.nickname!r} to "
                f"{target.chain.nickname!r}",
                about="target chain",
            )
        self.admit(source, target, Phase.QUOTE)
        return self._core.scenario.swaps.swap(source, target, asked, self._core.now())

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
        found = catalog.chain_v1(chain, chain_about)
        return catalog.placed(found, catalog.token(symbol, token_about), token_about)

    def resolved(self, ref: TokenRef, end: str) -> Placed:
        """Return the token a reference names. Raises `Refusal`, also for wrong decimals."""
        catalog = self._core.scenario.catalog
        chain = catalog.chain(ref.chain, f"{end} chain")
        placed = catalog.placed_at(chain, ref.address, f"{end} token address")
        return claimed(placed, ref.decimals, f"{end} decimals")

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
            f"{end} chain {chain.nickname!r} is not on offer; see the list of chains",
            about=f"{end} chain",
        )
    return Refusal(
        "token-delisted",
        f"{end} token {placed.symbol!r} is delisted on {chain.nickname!r}",
        about=f"{end} token",
    )
