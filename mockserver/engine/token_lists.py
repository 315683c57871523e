"""The lists of chains and tokens as clients see them now, with outages and versions."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import Generic, TypeVar

from mockserver.engine.catalog import Chain, Placed, Token, TokenContract
from mockserver.engine.outage_calendar import Calendar, ShownParts
from mockserver.engine.outages import Mode, Out, OutageSubject
from mockserver.engine.world_state import View
from mockserver.fast_dataclass import value_class

T = TypeVar("T")


@value_class(frozen=True, slots=True)
class Listing(Generic[T]):
    """A list and its version, which rises with every change."""

    version: int
    items: Sequence[T]


class Lists(View):
    """Chains and tokens as they are listed now, with the flags that they have now."""

    __slots__ = ()

    def state(self) -> tuple[Calendar | None, int, int]:
        """Return a value that is equal as long as the lists, and the prices in them, are."""
        calendar, now = self._core.state.calendar, self._core.now()
        drift = self._core.scenario.prices.drift
        # Not by the time: lists stay equal, and cached, between two turns.
        turn = calendar.stretch(now)
        return calendar if turn else None, turn, now // drift.period_ms if drift else 0

    def chains(self) -> Listing[Chain]:
        """Return the chains listed now, by the 2.0 interface."""
        return self._listing(
            _CatalogList("chains", self._core.scenario.catalog.chains, _chain, _of_chain)
        )

    def v1_chains(self) -> Listing[Chain]:
        """Return the chains listed now, by v1."""
        chains = self._core.scenario.catalog.v1_chains()
        return self._listing(_CatalogList("v1 chains", chains, _chain, _of_chain))

    def tokens(self) -> Listing[Token]:
        """Return every token listed now; contracts on chains that are gone are left out."""
        return self._listing(
            _CatalogList("tokens", self._core.scenario.catalog.tokens, _token, _of_token)
        )

    def tokens_on(self, chain: Chain) -> Listing[Placed]:
        tokens, name = self._core.scenario.catalog.tokens_on(chain), f"tokens on {chain.nickname}"
        return self._listing(_CatalogList(name, tokens, _placed, _of_placed))

    def gone(self) -> frozenset[str]:
        """Return the nicknames of chains that no list has now."""
        out = self._out()
        return frozenset(
            chain.nickname
            for chain in self._core.scenario.catalog.chains
            if (Mode.DELISTED, chain.nickname, None) in out
        )

    def _listing(self, kind: "_CatalogList[T]") -> Listing[T]:
        changes = self._core.state.calendar.list_changes(kind.name, kind.parts, self._core.now())
        version = self._core.scenario.list_version + changes
        return Listing(version, kind.shown(kind.items, self._out()))

    def _out(self) -> set[Out]:
        return {window.out for window in self._core.state.calendar.active(self._core.now())}


@value_class(frozen=True, slots=True)
class _CatalogList(Generic[T]):
    """A list of the catalog: how outages show in an item, and which parts of it each concerns.

    `item` returns None where the item is not listed.
    """

    name: str
    items: Sequence[T]
    item: Callable[[T, Set[Out]], T | None]
    concerned: Callable[[T], Iterable[tuple[OutageSubject, T]]]

    def shown(self, items: Iterable[T], out: Set[Out]) -> list[T]:
        return [shown for item in items if (shown := self.item(item, out)) is not None]

    def parts(self) -> ShownParts:
        parts: dict[OutageSubject, list[T]] = {}
        for item in self.items:
            for subject, part in self.concerned(item):
                parts.setdefault(subject, []).append(part)
        return lambda subject, out: self.shown(parts.get(subject, ()), out)


def _of_chain(chain: Chain) -> Iterator[tuple[OutageSubject, Chain]]:
    yield (chain.nickname, None), chain


def _chain(chain: Chain, out: Set[Out]) -> Chain | None:
    if (Mode.DELISTED, chain.nickname, None) in out:
        return None
    return replace(chain, disabled=True) if (Mode.DISABLED, chain.nickname, None) in out else chain


def _of_token(token: Token) -> Iterator[tuple[OutageSubject, Token]]:
    yield (None, token.symbol), token
    for nickname, contract in token.contracts.items():
        alone = replace(token, contracts={nickname: contract})
        yield from (((nickname, None), alone), ((nickname, token.symbol), alone))


def _token(token: Token, out: Set[Out]) -> Token | None:
    if not token.listed or (Mode.DELISTED, None, token.symbol) in out:
        return None
    contracts = {
        nickname: _contract(nickname, token, out)
        for nickname in token.contracts
        if not _gone(nickname, token.symbol, out)
    }
    # A token without contracts is listed as such; one whose contracts are gone is not.
    if token.contracts and not contracts:
        return None
    return token if contracts == token.contracts else replace(token, contracts=contracts)


def _of_placed(placed: Placed) -> Iterator[tuple[OutageSubject, Placed]]:
    nickname, symbol = placed.chain.nickname, placed.symbol
    for subject in ((nickname, None), (None, symbol), (nickname, symbol)):
        yield subject, placed


def _placed(placed: Placed, out: Set[Out]) -> Placed | None:
    nickname, symbol = placed.chain.nickname, placed.symbol
    if (Mode.DELISTED, None, symbol) in out or _gone(nickname, symbol, out):
        return None
    contract = _contract(nickname, placed.token, out)
    return placed if contract is placed.contract else Placed(placed.chain, placed.token, contract)


def _gone(nickname: str, symbol: str, out: Set[Out]) -> bool:
    return (Mode.DELISTED, nickname, None) in out or (Mode.DELISTED, nickname, symbol) in out


def _contract(nickname: str, token: Token, out: Set[Out]) -> TokenContract:
    contract, symbol = token.contracts[nickname], token.symbol
    disabled = (Mode.DISABLED, nickname, symbol) in out or (Mode.DISABLED, None, symbol) in out
    flags = contract.disable_bridge or disabled, contract.delisted or token.delisted
    if flags == (contract.disable_bridge, contract.delisted):
        return contract
    return replace(contract, disable_bridge=flags[0], delisted=flags[1])
