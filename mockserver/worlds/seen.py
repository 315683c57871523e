"""Transactions that the service has seen on a chain."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from mockserver import limits
from mockserver.engine.layered import Layered
from mockserver.jsontext import Json
from mockserver.operations.calls import ContractCall
from mockserver.values import dataclass

_OVERHEAD = 1000
"""Bytes that a transaction is taken to need beside its data."""


@dataclass(frozen=True, slots=True)
class SeenTransaction(ContractCall):
    """A transaction and what became of it.

    `number` counts the transactions of a world; `reason` says why one made no order.
    """

    nonce: int
    number: int
    at_ms: int
    order_id: str | None = None
    reason: str = ""
    reverted: bool = False

    def dump(self) -> dict[str, Json]:
        """Return it as JSON can carry it, its call data in hex."""
        return {**asdict(self), "data": self.data.hex()}

    @classmethod
    def load(cls, plain: Mapping[str, Json]) -> "SeenTransaction":
        """Return the transaction of checked plain data."""
        return cls(**{**plain, "data": bytes.fromhex(plain["data"])})

    @property
    def weight(self) -> int:
        """About how many bytes it takes in a dump: its data is in hex there."""
        return _OVERHEAD + 2 * len(self.data)


class SeenTransactions:
    """The transactions a world has seen, by chain and hash in any case; `weight` is in bytes."""

    __slots__ = ("_counts", "_seen", "weight")

    def __init__(self) -> None:
        """Begin with none."""
        self._seen: Layered[tuple[str, str], SeenTransaction] = Layered()
        self._counts: Layered[tuple[str, str], int] = Layered()
        self.weight = 0

    def __len__(self) -> int:
        return len(self._seen)

    def get(self, chain: str, tx_hash: str) -> SeenTransaction | None:
        """Return a transaction, or None."""
        return self._seen.get((chain, tx_hash.lower()))

    def values(self) -> Iterable[SeenTransaction]:
        """Return them in the order in which they came."""
        return self._seen.values()

    def count_from(self, chain: str, sender: str) -> int:
        """Return how many transactions an address, in any case, has sent on a chain."""
        return self._counts.get((chain, sender.lower())) or 0

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
        if before is not None:
            self._count(before, -1)
        self._count(seen, 1)
        self._seen[seen.chain, seen.hash.lower()] = seen
        self.weight += seen.weight - (before.weight if before else 0)

    def copy(self) -> "SeenTransactions":
        """Return the same transactions, apart from now on."""
        twin = SeenTransactions()
        twin._seen, twin._counts = self._seen.copy(), self._counts.copy()
        twin.weight = self.weight
        return twin

    def _count(self, seen: SeenTransaction, change: int) -> None:
        key = seen.chain, seen.sender.lower()
        self._counts[key] = (self._counts.get(key) or 0) + change
