"""What addresses own: opening balances and what orders have moved since."""

from collections.abc import Callable
from decimal import Decimal

from mockserver.engine import amounts
from mockserver.engine.catalog import Placed, checked_address
from mockserver.engine.ledger import (
    Account,
    AccountKey,
    Posting,
    account_address,
    deposit,
    gained,
    outcome,
)
from mockserver.engine.orders import CLOSING, Event, Order, history
from mockserver.engine.scenario import Scenario
from mockserver.engine.world_state import ChainTransfer, Core, View, hash_key
from mockserver.fast_dataclass import value_class


@value_class(frozen=True, slots=True)
class Balance:
    """What an address owns, in smallest units and in whole tokens."""

    units: int
    decimals: int

    @property
    def whole_tokens(self) -> Decimal:
        return amounts.whole_tokens(self.units, self.decimals)


class Balances(View):
    """The accounts of a world, all derived from its scenario, orders and clock."""

    __slots__ = ()

    def of(self, chain: str, contract_address: str, address: str) -> Balance:
        """Return what an address owns of a token now. Raises `Refusal` for names nobody knows."""
        catalog = self._core.scenario.catalog
        placed = catalog.placed_at(catalog.chain(chain), contract_address)
        return self.of_placed(placed, checked_address(placed.chain, address))

    def of_placed(self, placed: Placed, address: str) -> Balance:
        key = (placed.chain.nickname, placed.symbol, account_address(address))
        units = opening(self._core, placed, address)
        account = self._core.state.account(key)
        if account is not None:
            core = self._core
            gain = self._gain_of(key)
            units += account.total(core.now(), core.state.calendar, self._closing_ms, gain)
        return Balance(units, placed.decimals)

    def opening(self, placed: Placed, address: str) -> int:
        """Return what an address owns at the beginning; see `opening`."""
        return opening(self._core, placed, address)

    def certain(self, key: AccountKey, account: Account) -> int:
        """Return what an account has surely gained by now; see `Account.certain`."""
        return account.certain(self._core.now(), self._closing_ms, self._gain_of(key))

    def _closing_ms(self, order_id: str) -> int | None:
        closing = self._closing(self._core.state.orders[order_id])
        return None if closing is None else closing.at_ms

    def postings_of(self, order_id: str) -> tuple[Posting, ...]:
        """Return the bookings of an order, past and to come. Raises `Refusal` for none."""
        order = self._core.order(order_id)
        events = history(order, self._core.state.calendar)
        outcomes = (outcome(order, event) for event in events)
        return (deposit(order), *(posting for posting in outcomes if posting is not None))

    def movable(
        self, placed: Placed, tx_hash: str, payer: str, wanted: int, *, certain: bool = False
    ) -> int:
        """Return how much of a token a transaction can move: at most what its sender owns.

        All that is wanted if a chain has made it `certain` that the sender owns it. The deposit of
        an order was booked with the order, so that it moves nothing more.
        """
        core, nickname = self._core, placed.chain.nickname
        # The deposit of an order is booked with the order.
        if hash_key(nickname, tx_hash) in core.state.by_hash:
            return 0
        if certain:
            return wanted
        owned = spendable(core, placed, (nickname, placed.symbol, account_address(payer)))
        return min(wanted, max(0, owned))

    def transfer(
        self, placed: Placed, tx_hash: str, ends: tuple[str, str], units: int, at_ms: int
    ) -> None:
        """Move a token from one address to another by a transaction."""
        nickname = placed.chain.nickname
        payer, receiver = ((nickname, placed.symbol, account_address(end)) for end in ends)
        moved = ChainTransfer(at_ms, payer, receiver, units)
        self._core.state.move(hash_key(nickname, tx_hash), moved)

    def accounts(self) -> tuple[AccountKey, ...]:
        """Return the accounts that were used, in the order of their first use."""
        return tuple(self._core.state.accounts)

    def _gain_of(self, key: AccountKey) -> Callable[[str], int]:
        def gain(order_id: str) -> int:
            order = self._core.state.orders[order_id]
            closing = self._closing(order)
            return 0 if closing is None else gained(outcome(order, closing), key)

        return gain

    def _closing(self, order: Order) -> Event | None:
        events = history(order, self._core.state.calendar)
        return next((event for event in events if event.status in CLOSING), None)


def spendable(core: Core, placed: Placed, key: AccountKey) -> int:
    """Return what an account of a token on a chain can surely pay now, in smallest units."""
    units = opening(core, placed, key[2])
    # Most senders have no account yet.
    if core.state.accounts.get(key) is None:
        return units
    account = core.state.account(key)
    return units if account is None else units + Balances(core).certain(key, account)


def opening(core: Core, placed: Placed, address: str) -> int:
    """Return what an address owns at the beginning, in smallest units, rounded down.

    An account named in the scenario comes first, then the token's fixed amount, then USD worth.
    """
    scenario = core.scenario
    for account in scenario.openings.accounts:
        named = account.chain, account.token, account_address(account.address)
        if named == (placed.chain.nickname, placed.symbol, account_address(address)):
            return _units(account.amount, placed)
    key = (placed.symbol, placed.decimals)
    units = scenario.opening_units.get(key)
    if units is None:
        units = scenario.opening_units[key] = _opening(scenario, placed)
    return units


def _opening(scenario: Scenario, placed: Placed) -> int:
    """Return what an address that the scenario does not name owns at the beginning."""
    openings = scenario.openings
    if placed.symbol in openings.amounts:
        return _units(openings.amounts[placed.symbol], placed)
    price = scenario.prices.usd.get(placed.symbol)
    # What has no price has no amount that is worth so much.
    if not price:
        return 0
    # In integers, floored once at the end: a Decimal would be rounded to its context first.
    usd, part = openings.usd.as_integer_ratio()
    dear, divisor = price.as_integer_ratio()
    return int(usd * divisor * 10**placed.decimals // (part * dear))


def _units(tokens: Decimal, placed: Placed) -> int:
    part, divisor = tokens.as_integer_ratio()
    return int(part * 10**placed.decimals // divisor)
