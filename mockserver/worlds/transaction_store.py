"""Transactions on the chains of a world."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import count

from mockserver import limits
from mockserver.engine import abi
from mockserver.engine.persistent_mapping import Layered, Note
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.operations.deposit_transactions import (
    ContractCall,
    address_in,
    moved_by,
    spender_in,
    spent_allowance,
)

# Bytes that a transaction counts beside its data.
_OVERHEAD = 1000
_LOST = "a reorganisation has taken it off the chain"
# An approval that tokens do not count down.
_UNLIMITED = 2**256 - 1


@dataclass(frozen=True, slots=True)
class ChainTransaction(ContractCall):
    """A transaction on a chain, and its outcome.

    `number` counts the transactions of a world; `reason` says why one made no order, and `moved` is
    what a plain transfer has moved, in smallest units. `raw` is what was signed;
    one that was announced in its parts has none, and used no gas. `payouts` is how many payouts had
    a block before it, if a node was used by then. A reorganisation has taken a `lost` one.
    """

    nonce: int = 0
    number: int = 0
    at_ms: int = 0
    order_id: str | None = None
    reason: str = ""
    reverted: bool = False
    moved: int = 0
    raw: bytes = b""
    gas_used: int = 0
    gas_price: int = 0
    payouts: int | None = None
    lost: bool = False

    def dump(self) -> dict[str, Json]:
        """Return it as JSON can carry it, its bytes in hex."""
        return {**asdict(self), "data": self.data.hex(), "raw": self.raw.hex()}

    @classmethod
    def load(cls, plain: Mapping[str, Json]) -> "ChainTransaction":
        raw = {name: bytes.fromhex(plain.get(name, "")) for name in ("data", "raw")}
        return cls(**{**plain, **raw})

    @property
    def gas_cost(self) -> int:
        """What its sender paid for gas, in smallest units of the base coin."""
        return self.gas_used * self.gas_price

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
        """About how many bytes it takes in a dump: its bytes are in hex there."""
        return _OVERHEAD + 2 * (len(self.data) + len(self.raw))


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
        first = self._by_hash.get((chain, tx_hash.lower()))
        if first is None or not first.lost:
            return first
        *_, (_, newest) = self._with_hash(chain, tx_hash)
        return None if newest.lost else newest

    def _with_hash(self, chain: str, tx_hash: str) -> Iterable[tuple[str, ChainTransaction]]:
        """Yield what came with a hash, by its key: what was lost can be sent again."""
        key = lowered = tx_hash.lower()
        for number in count(1):
            tx = self._by_hash.get((chain, key))
            if tx is None:
                return
            yield key, tx
            key = f"{lowered} {number}"

    def known(self, tx: ChainTransaction) -> ChainTransaction | None:
        """Return the form in which a transaction was noted, or None."""
        each = self._with_hash(tx.chain, tx.hash)
        return next((noted for _, noted in each if noted.number == tx.number), None)

    def values(self) -> Iterable[ChainTransaction]:
        """Return them in the order in which they came."""
        return self._by_hash.values()

    def numbered(self, number: int) -> ChainTransaction | None:
        """Return the transaction of a number, counted from 1, or None."""
        return next(iter(self._by_hash.page(number - 1, 1)), None) if number > 0 else None

    def since(self, count: int) -> list[ChainTransaction]:
        """Return those that came after the first `count`, in their order."""
        return self._by_hash.page(0, len(self) - count, newest=True)[::-1]

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
        """Note a transaction, in place of an earlier form of it."""
        key, noted = tx.hash.lower(), list(self._with_hash(tx.chain, tx.hash))
        before: ChainTransaction | None = None
        # The last one that is not lost stands for what comes with its hash once more.
        for known_key, known in noted:
            if known.number == tx.number or not known.lost:
                key, before = known_key, known
                break
        else:
            key = f"{key} {len(noted)}" if noted else key
        self._by_hash[tx.chain, key] = tx
        self._allow(tx)
        self.weight += tx.weight - (before.weight if before else 0)

    def lose(self, tx: ChainTransaction) -> None:
        """Note that a reorganisation has taken a transaction, and what it allowed."""
        self.add(replace(tx, lost=True, reason=_LOST))
        allowed = [key for key in self._allowed if key[0] == tx.chain]
        for key in allowed:
            self._allowed[key] = 0
        # Worked out anew from what is left: what one took may have been allowed by what was lost.
        for each in list(self.values()):
            if each.chain == tx.chain:
                self._allow(each)

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
        if tx.reverted or tx.lost:
            return
        spent, arguments = spent_allowance(tx), tx.arguments
        if spent is not None:
            token, owner, units = spent
            key = tx.chain, token.lower(), owner.lower(), spender_in(tx)
            allowed = self._allowed.get(key) or 0
            if allowed < _UNLIMITED:
                self._allowed[key] = max(0, allowed - units)
        elif arguments is not None and tx.method == "approve":
            spender, amount = map(str, arguments.values())
            ends = (tx.to, tx.sender, address_in(tx, spender))
            self._allowed[tx.chain, *map(str.lower, ends)] = int(amount)
