"""What addresses own: opening balances and what orders have moved since."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from mockserver.engine import amounts
from mockserver.engine.catalog import Placed, checked_address
from mockserver.engine.core import Core
from mockserver.engine.courses import Status
from mockserver.engine.ledger import (
    FAUCET,
    AccountKey,
    Entry,
    Posting,
    Purse,
    account_address,
    deposit,
    gained,
    outcome,
    user,
)
from mockserver.engine.orders import history


@dataclass(frozen=True, slots=True)
class Balance:
    """What an address owns, in smallest units and in whole tokens."""

    units: int
    decimals: int

    @property
    def whole(self) -> Decimal:
        """The balance in whole tokens."""
        return amounts.whole_tokens(self.units, self.decimals)


class Balances:
    """The accounts of a world, all derived from its scenario, orders and clock."""

    __slots__ = ("_core",)

    def __init__(self, core: Core) -> None:
        """Read from a world's core."""
        self._core = core

    def of(self, chain: str, contract_address: str, address: str) -> Balance:
        """Return what an address owns of a token now. Raises `Refusal` for names nobody knows."""
        catalog = self._core.scenario.catalog
        placed = catalog.placed_at(catalog.chain(chain), contract_address)
        return self.of_placed(placed, checked_address(placed.chain, address))

    def of_placed(self, placed: Placed, address: str) -> Balance:
        """Return what an address owns of a token on a chain now."""
        key = (placed.chain.nickname, placed.symbol, account_address(address))
        purse = self._core.state.purses.get(key, Purse())
        gains = sum(self._gained(order_id, key) for order_id in purse.open)
        units = opening(self._core, placed, address) + purse.settled + gains
        return Balance(units, placed.decimals)

    def spendable(self, placed: Placed, address: str) -> int:
        """Return what an address can surely pay now, in smallest units.

        Orders that have ended since the last submission are settled on the way; one that ended
        after an open one is left out, so that a submission costs the same in a world of any size.
        """
        key = (placed.chain.nickname, placed.symbol, account_address(address))
        purse = self._core.state.purses.get(key)
        start = opening(self._core, placed, address)
        if purse is None:
            return start
        settled, done = purse.settled, 0
        for order_id in purse.open:
            if not self._closed(order_id):
                break
            settled, done = settled + self._gained(order_id, key), done + 1
        if done:
            self._core.state.purses[key] = Purse(settled, purse.open[done:])
        return start + settled

    def postings(self) -> Iterator[Posting]:
        """Yield every booking up to now: openings of the accounts used, deposits, outcomes."""
        catalog, now = self._core.scenario.catalog, self._core.now()
        for chain, symbol, address in self._core.state.purses:
            placed = catalog.placed(catalog.chain(chain), catalog.token(symbol))
            units = opening(self._core, placed, address)
            entries = (
                Entry(FAUCET, chain, symbol, -units),
                Entry(user(address), chain, symbol, units),
            )
            yield Posting(0, "opening", None, entries)
        for order in self._core.state.orders.values():
            yield deposit(order)
            for event in history(order, self._core.state.calendar):
                posting = outcome(order, event) if event.at_ms <= now else None
                if posting is not None:
                    yield posting

    def _gained(self, order_id: str, key: AccountKey) -> int:
        order, now = self._core.state.orders[order_id], self._core.now()
        events = history(order, self._core.state.calendar)
        return sum(gained(outcome(order, event), key) for event in events if event.at_ms <= now)

    def _closed(self, order_id: str) -> bool:
        order, now = self._core.state.orders[order_id], self._core.now()
        events = history(order, self._core.state.calendar)
        closing = (Status.SUCCEEDED, Status.FAILED, Status.REFUNDED)
        return any(event.at_ms <= now and event.status in closing for event in events)


def opening(core: Core, placed: Placed, address: str) -> int:
    """Return what an address owns at the beginning, in smallest units, rounded down.

    An account named in the scenario comes first, then the token's fixed amount, then USD worth.
    """
    openings, wanted = core.scenario.openings, account_address(address)
    for account in openings.accounts:
        if (account.chain, account.token, account_address(account.address)) == (
            placed.chain.nickname,
            placed.symbol,
            wanted,
        ):
            return _units(Fraction(account.amount), placed)
    if placed.symbol in openings.whole:
        return _units(Fraction(openings.whole[placed.symbol]), placed)
    price = core.scenario.prices.usd.get(placed.symbol)
    return _units(Fraction(openings.usd) / Fraction(price), placed) if price else 0


def _units(whole: Fraction, placed: Placed) -> int:
    return amounts.floor(whole * 10**placed.decimals)
