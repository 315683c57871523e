"""The lists of chains and tokens as clients see them now, with outages and versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from mockserver.engine.catalog import Chain, Contract, Placed, Token
from mockserver.engine.outages import Mode, Window
from mockserver.engine.view import View
from mockserver.values import value_class

T = TypeVar("T")


@value_class(frozen=True, slots=True)
class Listing(Generic[T]):
    """A list and its version, which rises with every change."""

    version: int
    items: Sequence[T]


@dataclass(frozen=True, slots=True)
class ListedChain:
    """A chain in the lists; `disabled` and `delisted` are as of now."""

    chain: Chain
    disabled: bool
    delisted: bool

    @property
    def active(self) -> bool:
        """Whether clients may use the chain, as far as the list says."""
        return not (self.disabled or self.delisted)


@dataclass(frozen=True, slots=True)
class ListedContract:
    """A token on a chain in the lists; `disable_bridge` and `delisted` are as of now."""

    placed: Placed
    disable_bridge: bool
    delisted: bool


@dataclass(frozen=True, slots=True)
class ListedToken:
    """A token in the lists with its contracts by nickname."""

    token: Token
    contracts: dict[str, ListedContract]
    delisted: bool


class Lists(View):
    """Chains and tokens as they are listed now."""

    __slots__ = ()

    def version(self) -> int:
        """Return the version all lists carry now."""
        changes = self._core.state.calendar.list_changes(self._core.now())
        return self._core.scenario.list_version + changes

    def state(self) -> tuple[object, ...]:
        """Return a value that is equal as long as the lists, and the prices in them, are."""
        scenario, calendar, now = self._core.scenario, self._core.state.calendar, self._core.now()
        drift = scenario.prices.drift
        changes = calendar.list_changes(now) if calendar.windows else 0
        out = frozenset(self._out(now)) if calendar.windows else None
        return scenario.list_version + changes, out, now // drift.period_ms if drift else 0

    def chains(self) -> Listing[ListedChain]:
        """Return the chains listed now, by the 2.0 interface."""
        return Listing(self.version(), self._listed(self._core.scenario.catalog.chains))

    def v1_chains(self) -> Listing[ListedChain]:
        """Return the chains listed now, by v1."""
        return Listing(self.version(), self._listed(self._core.scenario.catalog.v1_chains()))

    def tokens(self) -> Listing[ListedToken]:
        """Return every token listed now; contracts on chains that are gone are left out."""
        out = self._out()
        found = []
        for token in self._core.scenario.catalog.tokens:
            if not token.listed or (Mode.DELISTED, None, token.symbol) in out:
                continue
            contracts = {
                nickname: _contract(self._placed(nickname, token, contract), out)
                for nickname, contract in token.contracts.items()
                if not _gone(nickname, token.symbol, out)
            }
            if contracts or not token.contracts:
                found.append(ListedToken(token, contracts, token.delisted))
        return Listing(self.version(), found)

    def tokens_on(self, nickname: str) -> Listing[ListedContract]:
        """Return the tokens of a chain listed now. Raises `Refusal` for an unknown chain."""
        catalog = self._core.scenario.catalog
        return self._on(catalog.chain(nickname))

    def v1_tokens_on(self, name: str) -> Listing[ListedContract]:
        """Return the tokens of a v1 chain listed now. Raises `Refusal` for an unknown chain."""
        return self._on(self._core.scenario.catalog.chain_v1(name))

    def announced(self) -> tuple[Window, ...]:
        """Return the outages that are announced and have not begun."""
        return self._core.state.calendar.announced(self._core.now())

    def _on(self, chain: Chain) -> Listing[ListedContract]:
        out = self._out()
        found = [
            _contract(placed, out)
            for placed in self._core.scenario.catalog.tokens_on(chain)
            if (Mode.DELISTED, None, placed.symbol) not in out
            and not _gone(chain.nickname, placed.symbol, out)
        ]
        return Listing(self.version(), found)

    def _listed(self, chains: Sequence[Chain]) -> list[ListedChain]:
        out = self._out()
        return [
            ListedChain(
                chain,
                chain.disabled or (Mode.DISABLED, chain.nickname, None) in out,
                chain.delisted,
            )
            for chain in chains
            if (Mode.DELISTED, chain.nickname, None) not in out
        ]

    def _out(self, now_ms: int | None = None) -> set[tuple[Mode, str | None, str | None]]:
        now = self._core.now() if now_ms is None else now_ms
        active = self._core.state.calendar.active(now)
        return {(window.mode, window.chain, window.token) for window in active}

    def _placed(self, nickname: str, token: Token, contract: Contract) -> Placed:
        return Placed(self._core.scenario.catalog.chain(nickname), token, contract)


def _gone(nickname: str, symbol: str, out: set[tuple[Mode, str | None, str | None]]) -> bool:
    return (Mode.DELISTED, nickname, None) in out or (Mode.DELISTED, nickname, symbol) in out


def _contract(placed: Placed, out: set[tuple[Mode, str | None, str | None]]) -> ListedContract:
    nickname, symbol = placed.chain.nickname, placed.symbol
    disabled = (Mode.DISABLED, nickname, symbol) in out or (Mode.DISABLED, None, symbol) in out
    return ListedContract(
        placed,
        placed.contract.disable_bridge or disabled,
        placed.contract.delisted or placed.token.delisted,
    )
