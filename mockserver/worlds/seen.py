"""Transactions that the service has seen on a chain."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict

from mockserver import limits
from mockserver.engine import abi
from mockserver.engine.layered import Layered
from mockserver.jsontext import Json
from mockserver.operations.transactions import ContractCall, taken_by_contract
from mockserver.values import dataclass

_OVERHEAD = 1000
"""Bytes that a transaction is taken to need beside its data."""
_UNLIMITED = 2**256 - 1
"""An approval that tokens do not count down."""


@dataclass(frozen=True, slots=True)
class SeenTransaction(ContractCall):
    """A transaction and what became of it.

    `number` counts the transactions of a world; `reason` says why one made no order, and `moved` is
    what a plain transfer of an EVM chain has moved, in smallest units.
    """

    nonce: int
    number: int
    at_ms: int
    order_id: str | None = None
    reason: str = ""
    reverted: bool = False
    moved: int = 0

    def dump(self) -> dict[str, Json]:
        """Return it as JSON can carry it, its call data in hex."""
        return {**asdict(self), "data": self.data.hex()}

    @classmethod
    def load(cls, plain: Mapping[str, Json]) -> "SeenTransaction":
        """Return the transaction of checked plain data."""
        return cls(**{**plain, "data": bytes.fromhex(plain["data"])})

    @property
    def method(self) -> str:
        """The name of the method that it calls; empty where nobody here knows it."""
        known = abi.METHODS.get(self.data[:4].hex())
        return "" if known is None else known.name

    @property
    def arguments(self) -> dict[str, abi.Value] | None:
        """The arguments of its call by name; None of a call that cannot be read."""
        known = abi.METHODS.get(self.data[:4].hex())
        with suppress(abi.NotThisCall):
            return None if known is None else abi.arguments(known, self.data[4:])
        return None

    @property
    def weight(self) -> int:
        """About how many bytes it takes in a dump: its data is in hex there."""
        return _OVERHEAD + 2 * len(self.data)


class SeenTransactions:
    """The transactions a world has seen, by chain and hash in any case; `weight` is in bytes."""

    __slots__ = ("_allowed", "_seen", "weight")

    def __init__(self) -> None:
        """Begin with none."""
        self._seen: Layered[tuple[str, str], SeenTransaction] = Layered()
        self._allowed: Layered[tuple[str, ...], int] = Layered()
        self.weight = 0

    def __len__(self) -> int:
        return len(self._seen)

    def get(self, chain: str, tx_hash: str) -> SeenTransaction | None:
        """Return a transaction, or None."""
        return self._seen.get((chain, tx_hash.lower()))

    def values(self) -> Iterable[SeenTransaction]:
        """Return them in the order in which they came."""
        return self._seen.values()

    def numbered(self, number: int) -> SeenTransaction | None:
        """Return the transaction of a number, counted from 1, or None."""
        return next(iter(self._seen.page(number - 1, 1)), None) if number > 0 else None

    def allowance(self, chain: str, token: str, owner: str, spender: str) -> int:
        """Return how much of a token an owner still lets a spender take; addresses in any case."""
        key = chain, *(address.lower() for address in (token, owner, spender))
        return self._allowed.get(key) or 0

    def full(self) -> str:
        """Return why no other transaction is taken; empty where one is."""
        for used, limit in (
            (len(self._seen), limits.TRANSACTIONS),
            (self.weight, limits.TRANSACTION_BYTES),
        ):
            if used >= limit.most:
                return f"this world has seen {limit} of transactions and takes no more; reset it"
        return ""

    def add(self, seen: SeenTransaction) -> None:
        """Note a transaction, in place of one with its chain and hash."""
        before = self.get(seen.chain, seen.hash)
        self._seen[seen.chain, seen.hash.lower()] = seen
        self._allow(seen)
        self.weight += seen.weight - (before.weight if before else 0)

    def copy(self) -> "SeenTransactions":
        """Return the same transactions, apart from now on."""
        twin = SeenTransactions()
        twin._seen, twin._allowed = self._seen.copy(), self._allowed.copy()
        twin.weight = self.weight
        return twin

    def _allow(self, seen: SeenTransaction) -> None:
        """Note what a transaction lets its spender take, or what a contract has taken of it."""
        if seen.reverted:
            return
        taken, given = taken_by_contract(seen), seen.arguments
        if taken is not None:
            token, amount = taken
            allowed = self.allowance(seen.chain, token, seen.sender, seen.to)
            if allowed < _UNLIMITED:
                self._allowed[_key(seen, token, seen.to)] = max(0, allowed - amount)
        elif given is not None and seen.method == "approve":
            spender, units = map(str, given.values())
            self._allowed[_key(seen, seen.to, spender)] = int(units)


def _key(seen: SeenTransaction, token: str, spender: str) -> tuple[str, ...]:
    return seen.chain, token.lower(), seen.sender.lower(), spender.lower()
