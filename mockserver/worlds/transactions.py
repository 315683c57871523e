"""Transactions on the chains of a world."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict

from mockserver import limits
from mockserver.engine import abi
from mockserver.engine.layered import Layered, Note
from mockserver.jsontext import Json
from mockserver.operations.transactions import ContractCall, moved_by, taken_by_contract
from mockserver.values import dataclass

# Bytes that a transaction counts beside its data.
_OVERHEAD = 1000
# An approval that tokens do not count down.
_UNLIMITED = 2**256 - 1


@dataclass(frozen=True, slots=True)
class ChainTransaction(ContractCall):
    """A transaction on a chain, and its outcome.

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
    def load(cls, plain: Mapping[str, Json]) -> "ChainTransaction":
        return cls(**{**plain, "data": bytes.fromhex(plain["data"])})

    @property
    def method(self) -> str:
        """The name of the method that it calls; empty where it is not known."""
        known = abi.METHODS.get(self.data[:4].hex())
        return "" if known is None else known.name

    @property
    def moves(self) -> tuple[str, str, int] | None:
        """The token, the recipient and the units that it moves; None where that is not known."""
        return moved_by(self)

    @property
    def arguments(self) -> dict[str, abi.AbiValue] | None:
        """The arguments of its call by name; None of a call that cannot be read."""
        known = abi.METHODS.get(self.data[:4].hex())
        with suppress(abi.NotThisCall):
            return None if known is None else abi.arguments(known, self.data[4:])
        return None

    @property
    def weight(self) -> int:
        """About how many bytes it takes in a dump: its data is in hex there."""
        return _OVERHEAD + 2 * len(self.data)


class ChainTransactions:
    """The transactions of a world, by chain and hash in any case; `weight` is in bytes."""

    __slots__ = ("_allowed", "_by_hash", "weight")

    def __init__(self) -> None:
        self._by_hash: Layered[tuple[str, str], ChainTransaction] = Layered()
        self._allowed: Layered[tuple[str, ...], int] = Layered()
        self.weight = 0

    def __len__(self) -> int:
        return len(self._by_hash)

    def get(self, chain: str, tx_hash: str) -> ChainTransaction | None:
        return self._by_hash.get((chain, tx_hash.lower()))

    def values(self) -> Iterable[ChainTransaction]:
        """Return them in the order in which they came."""
        return self._by_hash.values()

    def numbered(self, number: int) -> ChainTransaction | None:
        """Return the transaction of a number, counted from 1, or None."""
        return next(iter(self._by_hash.page(number - 1, 1)), None) if number > 0 else None

    def allowance(self, chain: str, token: str, owner: str, spender: str) -> int:
        """Return the allowance of a spender for a token of an owner; addresses in any case."""
        key = chain, *(address.lower() for address in (token, owner, spender))
        return self._allowed.get(key) or 0

    def full(self) -> str:
        """Return why no further transaction is accepted; empty where one is."""
        for used, limit in (
            (len(self._by_hash), limits.TRANSACTIONS),
            (self.weight, limits.TRANSACTION_BYTES),
        ):
            if used >= limit.most:
                return f"this world has {limit} of transactions and accepts no more; reset it"
        return ""

    def add(self, tx: ChainTransaction) -> None:
        """Note a transaction, in place of one with its chain and hash."""
        before = self.get(tx.chain, tx.hash)
        self._by_hash[tx.chain, tx.hash.lower()] = tx
        self._allow(tx)
        self.weight += tx.weight - (before.weight if before else 0)

    def watch(self, note: Note[tuple[str, str], ChainTransaction]) -> None:
        """Call `note` before each transaction is noted from now on; copies are not watched."""
        self._by_hash.watch(note)

    def copy(self) -> "ChainTransactions":
        """Return an independent copy."""
        twin = ChainTransactions()
        twin._by_hash, twin._allowed = self._by_hash.copy(), self._allowed.copy()
        twin.weight = self.weight
        return twin

    def _allow(self, tx: ChainTransaction) -> None:
        """Note the allowance that a transaction gives, or what a contract has taken of one."""
        if tx.reverted:
            return
        taken, arguments = taken_by_contract(tx), tx.arguments
        if taken is not None:
            token, amount = taken
            allowed = self.allowance(tx.chain, token, tx.sender, tx.to)
            if allowed < _UNLIMITED:
                self._allowed[_key(tx, token, tx.to)] = max(0, allowed - amount)
        elif arguments is not None and tx.method == "approve":
            spender, units = map(str, arguments.values())
            self._allowed[_key(tx, tx.to, spender)] = int(units)


def _key(tx: ChainTransaction, token: str, spender: str) -> tuple[str, ...]:
    return tx.chain, token.lower(), tx.sender.lower(), spender.lower()
