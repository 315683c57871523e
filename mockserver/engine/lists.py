"""The lists of chains and tokens as clients see them now, with outages and versions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from mockserver.engine.catalog import Chain, Placed, Token, TokenContract
from mockserver.engine.core import View
from mockserver.engine.outages import Mode
from mockserver.values import value_class

T = TypeVar("T")


@value_class(frozen=True, slots=True)
class Listing(Generic[T]):
    """A list and its version, which rises with every change."""

    version: int
    items: Sequence[T]


# The outages of now: mode, chain and token.
_Out = set[tuple[Mode, str | None, str | None]]


class Lists(View):
    """Chains and tokens as they are listed now, with the flags that they have now."""

    __slots__ = ()

    def version(self) -> int:
        changes = self._core.state.calendar.list_changes(self._core.now())
        return self._core.scenario.list_version + changes

    def state(self) -> tuple[object, ...]:
        """Return a value that is equal as long as the lists, and the prices in them, are."""
        scenario, calendar, now = self._core.scenario, self._core.state.calendar, self._core.now()
        drift = scenario.prices.drift
        changes = calendar.list_changes(now) if calendar.windows else 0
        # By what is out and not by the time: lists stay equal, and cached, between two turns.
        out = frozenset(self._out(now)) if calendar.windows else None
        return scenario.list_version + changes, out, now // drift.period_ms if drift else 0

    def chains(self) -> Listing[Chain]:
        """Return the chains listed now, by the 2.0 interface."""
        return Listing(self.version(), self._listed(self._core.scenario.catalog.chains))

    def v1_chains(self) -> Listing[Chain]:
        """Return the chains listed now, by v1."""
        return Listing(self.version(), self._listed(self._core.scenario.catalog.v1_chains()))

    def tokens(self) -> Listing[Token]:
        """Return every token listed now; contracts on chains that are gone are left out."""
        out = self._out()
        tokens = []
        for token in self._core.scenario.catalog.tokens:
            if not token.listed or (Mode.DELISTED, None, token.symbol) in out:
                continue
            contracts = {
                nickname: _contract(nickname, token, out)
                for nickname in token.contracts
                if not _gone(nickname, token.symbol, out)
            }
            # A token without contracts is listed as such; one whose contracts are gone is not.
            if contracts or not token.contracts:
                tokens.append(replace(token, contracts=contracts))
        return Listing(self.version(), tokens)

    def tokens_on(self, chain: Chain) -> Listing[Placed]:
        out = self._out()
        placed_tokens = [
            Placed(chain, placed.token, _contract(chain.nickname, placed.token, out))
            for placed in self._core.scenario.catalog.tokens_on(chain)
            if (Mode.DELISTED, None, placed.symbol) not in out
            and not _gone(chain.nickname, placed.symbol, out)
        ]
        return Listing(self.version(), placed_tokens)

    def gone(self) -> frozenset[str]:
        """Return the nicknames of chains that no list has now."""
        return frozenset(
            chain.nickname
            for chain in self._core.scenario.catalog.chains
            if (Mode.DELISTED, chain.nickname, None) in self._out()
        )

    def _listed(self, chains: Sequence[Chain]) -> list[Chain]:
        out = self._out()
        return [
            replace(chain, disabled=True) if (Mode.DISABLED, chain.nickname, None) in out else chain
            for chain in chains
            if (Mode.DELISTED, chain.nickname, None) not in out
        ]

    def _out(self, now_ms: int | None = None) -> _Out:
        now = self._core.now() if now_ms is None else now_ms
        active = self._core.state.calendar.active(now)
        return {(window.mode, window.chain, window.token) for window in active}


def _gone(nickname: str, symbol: str, out: _Out) -> bool:
    return (Mode.DELISTED, nickname, None) in out or (Mode.DELISTED, nickname, symbol) in out


def _contract(nickname: str, token: Token, out: _Out) -> TokenContract:
    contract, symbol = token.contracts[nickname], token.symbol
    disabled = (Mode.DISABLED, nickname, symbol) in out or (Mode.DISABLED, None, symbol) in out
    return replace(
        contract,
        disable_bridge=contract.disable_bridge or disabled,
        delisted=contract.delisted or token.delisted,
    )
