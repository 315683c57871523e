"""The blocks of a world's chains.

Each transaction and each payout has a block of its own, and empty ones come between at a pace of
the world's clock. All of it follows from the transactions, the orders, the marks and the clock, so
that a block never changes, whenever it is looked at; only a reorganisation replaces some.
"""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from typing import Protocol

from mockserver.clock import ClockMode
from mockserver.engine.catalog import Catalog, Placed
from mockserver.engine.ledger import account_address
from mockserver.engine.payouts import Payout
from mockserver.engine.persistent_mapping import Layered
from mockserver.engine.world import World
from mockserver.fast_dataclass import dataclass
from mockserver.worlds import token_movements
from mockserver.worlds.node_state import Mark, NodeState
from mockserver.worlds.token_movements import TokenMove, own_contracts, vault_of
from mockserver.worlds.transaction_store import ChainTransaction, ChainTransactions

# Confirmations that polls bring; clients wait for three to a few dozen.
_MOST_POLLED = 64
# Orders and blocks that are worked out in a turn; each takes some tens of microseconds.
_AT_ONCE = 100
# A hash begins with so many bytes of a digest; the number of its block is masked in the rest.
_DIGEST = 24
# The place of what a reorganisation has taken.
_NOWHERE = -1


class WorldOfChains(Protocol):
    """What blocks follow from, as a hosted world has it."""

    world: World
    node: NodeState
    transactions: ChainTransactions
    began_ms: int


@dataclass(frozen=True, slots=True)
class Block:
    """A block, whose number counts from 0; `payout` is a transaction of the service.

    `lent` is what the vault lacked for it, in smallest units.
    `earlier` are the numbers it had before reorganisations, each with how many there had been; the
    one that made `forks` of them took the transaction `lost`.
    """

    number: int
    at_ms: int
    tx: "ChainTransaction | None" = None
    payout: Payout | None = None
    lent: int = 0
    earlier: tuple[tuple[int, int], ...] = ()
    lost: "ChainTransaction | None" = None
    forks: int = 0

    @property
    def tx_hash(self) -> str:
        """The hash of its transaction; empty where it has none."""
        if self.tx is not None:
            return self.tx.hash.lower()
        return "" if self.payout is None else self.payout.hash.lower()

    def movements(self, catalog: Catalog) -> Iterator[TokenMove]:
        if self.tx is not None:
            yield from token_movements.of_transaction(catalog, self.tx)
        elif self.payout is not None:
            yield from token_movements.of_payout(catalog, self.payout, self.lent)

    def before(self, forks: int) -> "Block":
        """Return it with what was in it when there had been so many reorganisations."""
        there = self.lost is not None and forks < self.forks
        return replace(self, tx=self.lost, lost=None) if there else self

    def number_before(self, forks: int) -> int:
        """Return its number when there had been so many reorganisations."""
        return next((number for until, number in self.earlier if forks < until), self.number)


class Blocks:
    """The blocks of all chains of a world that are not empty, as far as they were worked out."""

    __slots__ = ("_forks", "_lengths", "_marked", "_place", "_seen", "_stored", "_vaults", "paid")

    def __init__(self) -> None:
        """Begin before the first transaction."""
        self._stored: Layered[tuple[str, int], Block] = Layered()
        self._place: Layered[tuple[str, str], int] = Layered()
        self._lengths: dict[str, int] = {}
        self._forks: dict[str, tuple[int, ...]] = {}
        self._vaults: dict[tuple[str, str, str], int] = {}
        self._seen = self._marked = 0
        self.paid = 0
        """How many orders have blocks of what they were paid."""

    def copy(self) -> "Blocks":
        """Return an independent copy."""
        twin = Blocks()
        twin._stored, twin._place = self._stored.copy(), self._place.copy()
        twin._lengths, twin._forks = dict(self._lengths), dict(self._forks)
        twin._vaults = dict(self._vaults)
        twin._seen, twin._marked, twin.paid = self._seen, self._marked, self.paid
        return twin

    def of(self, hosted: WorldOfChains, chain: str) -> "ChainBlocks":
        """Return the blocks of a chain up to now."""
        self._begin(hosted)
        for _ in self._work_out(hosted):
            pass
        return ChainBlocks(self, hosted, chain)

    def behind(self, hosted: WorldOfChains) -> bool:
        """Work out some of what has happened, which takes few milliseconds; tell if more is left.

        So that a world of many orders does not keep the others waiting.
        """
        self._begin(hosted)
        if hosted.world.payouts.prepare(_AT_ONCE):
            return True
        steps = self._work_out(hosted)
        return next(islice(steps, _AT_ONCE, None), self) is None

    def _begin(self, hosted: WorldOfChains) -> None:
        node = hosted.node
        if node.began_ms is None:
            # What the scenario had, and what was announced before a node was used, comes after.
            sent = next(iter(hosted.transactions.values()), None)
            began_ms = min(hosted.began_ms, hosted.world.now())
            node.began_ms = began_ms if sent is None else min(began_ms, sent.at_ms)

    def _work_out(self, hosted: WorldOfChains) -> Iterator[None]:
        """Add blocks in steps, after each of which it can be left, and begun anew later."""
        marks = hosted.node.marks
        for tx in hosted.transactions.since(self._seen):
            yield from self._mark(hosted, marks, self._seen)
            yield from self._pay(hosted, tx.at_ms, tx.payouts)
            self._add(hosted, tx.chain, Block(0, tx.at_ms, tx=tx))
            self._seen += 1
            yield
        yield from self._mark(hosted, marks, self._seen)
        yield from self._pay(hosted, hosted.world.now())

    def _pay(
        self, hosted: WorldOfChains, until_ms: int, count: int | None = None
    ) -> Iterator[None]:
        """Add the payouts up to a moment, or until there are so many."""
        if count is not None and count <= self.paid:
            return
        ended = hosted.world.payouts.passed(until_ms)
        for payouts in islice(ended, None if count is None else count - self.paid):
            for payout in payouts:
                lent = self._lacking(hosted, payout)
                self._add(hosted, payout.chain, Block(0, payout.at_ms, payout=payout, lent=lent))
            self.paid += 1
            yield

    def _lacking(self, hosted: WorldOfChains, payout: Payout) -> int:
        """Return what the vault lacks for a payout: it has a faucet (A-480)."""
        catalog = hosted.world.scenario.catalog
        placed = catalog.token_on(payout.chain, payout.token)
        if placed.contract.burnable:
            return 0
        kept = self._kept(hosted, placed, vault_of(placed.chain))
        return max(0, payout.units - kept)

    def kept(self, hosted: WorldOfChains, placed: Placed, address: str) -> int | None:
        """Return what a contract of the service has of a token; None for every other address."""
        owner = account_address(address)
        if not placed.chain.has_node or owner not in own_contracts(placed.chain):
            return None
        self.of(hosted, placed.chain.nickname)
        return self._kept(hosted, placed, owner)

    def _kept(self, hosted: WorldOfChains, placed: Placed, owner: str) -> int:
        key = placed.chain.nickname, account_address(placed.contract.address), owner
        units = self._vaults.get(key)
        return hosted.world.balances.opening(placed, owner) if units is None else units

    def _book(self, hosted: WorldOfChains, chain: str, block: Block, sign: int = 1) -> None:
        """Note what a block moves into and out of own contracts; a `sign` of -1 takes it back."""
        catalog = hosted.world.scenario.catalog
        own = own_contracts(catalog.chain(chain))
        for token, payer, receiver, units in block.movements(catalog):
            for owner, change in ((payer, -units * sign), (receiver, units * sign)):
                if owner in own:
                    placed = catalog.placed_at(catalog.chain(chain), token)
                    self._vaults[chain, token, owner] = self._kept(hosted, placed, owner) + change

    def _mark(self, hosted: WorldOfChains, marks: tuple[Mark, ...], seen: int) -> Iterator[None]:
        while self._marked < len(marks) and marks[self._marked].after <= seen:
            mark = marks[self._marked]
            yield from self._pay(hosted, mark.at_ms, mark.payouts)
            self._marked += 1
            if mark.mined:
                self._add(hosted, mark.chain, Block(0, mark.at_ms), mark.mined)
            else:
                self._reorganise(hosted, mark)

    def _add(self, hosted: WorldOfChains, chain: str, block: Block, by: int = 1) -> None:
        polled = hosted.node.polled.pop(chain, 0)
        if polled:
            # They are told of as every other block that no transaction made.
            done = self._seen, self.paid
            mark = Mark(chain, self.last(hosted, chain).at_ms, *done, mined=polled)
            hosted.node.marks = (*hosted.node.marks, mark)
            self._marked += 1
            self._add(hosted, chain, Block(0, mark.at_ms), polled)
        last = self.last(hosted, chain)
        # A block is never older than the one before it, whatever order things were noted in.
        at_ms = max(block.at_ms, last.at_ms)
        number = last.number + passed(hosted, last, at_ms) + by
        place = self._lengths.get(chain, 0)
        self._stored[chain, place] = replace(block, number=number, at_ms=at_ms)
        self._lengths[chain] = place + 1
        if block.tx_hash:
            self._place[chain, block.tx_hash] = place
            self._book(hosted, chain, block)

    def _reorganise(self, hosted: WorldOfChains, mark: Mark) -> None:
        """Replace the newest blocks of a chain: what was in them comes one block later."""
        chain, last = mark.chain, self.last(hosted, mark.chain)
        head = last.number + passed(hosted, last, mark.at_ms)
        fork = max(0, head - mark.reorganised)
        count = len(self._forks.get(chain, ())) + 1
        # From the newest down: the first one that stays ends it.
        for place in range(self._lengths.get(chain, 0) - 1, -1, -1):
            block = self._stored[chain, place]
            if block.number <= fork:
                break
            earlier = (*block.earlier, (count, block.number))
            moved = replace(block, number=block.number + 1, earlier=earlier)
            if block.tx is not None and block.tx.hash in mark.lost:
                self._book(hosted, chain, block, -1)
                self._place[chain, block.tx_hash] = _NOWHERE
                moved = replace(moved, tx=None, lost=block.tx, forks=count)
            self._stored[chain, place] = moved
        self._forks[chain] = (*self._forks.get(chain, ()), fork)

    def last(self, hosted: WorldOfChains, chain: str) -> Block:
        """Return the newest block of a chain that is not empty, or its first one."""
        return self.stored(hosted, chain, self._lengths.get(chain, 0) - 1)

    def stored(self, hosted: WorldOfChains, chain: str, place: int) -> Block:
        """Return a block by its place among those that are stored; before them comes the first."""
        if place < 0:
            return Block(0, hosted.node.began_ms or 0)
        return self._stored[chain, place]

    def place_of(self, chain: str, tx_hash: str) -> int | None:
        place = self._place.get((chain, tx_hash.lower()))
        return None if place == _NOWHERE else place

    def length(self, chain: str) -> int:
        return self._lengths.get(chain, 0)

    def forks(self, chain: str) -> tuple[int, ...]:
        """Return where a chain was reorganised: the number of the last block that stayed."""
        return self._forks.get(chain, ())


def passed(hosted: WorldOfChains, block: Block, until_ms: int) -> int:
    """Return how many empty blocks came after a block up to a moment."""
    pace = hosted.node.pace_ms
    return max(0, until_ms - block.at_ms) // pace if pace else 0


class ChainBlocks:
    """The blocks of a chain up to now."""

    __slots__ = ("_blocks", "_hosted", "_polled", "chain", "head")

    def __init__(self, blocks: Blocks, hosted: WorldOfChains, chain: str) -> None:
        self._blocks = blocks
        self._hosted = hosted
        self.chain = chain
        last = blocks.last(hosted, chain)
        self._polled = hosted.node.polled.get(chain, 0)
        self.head = last.number + passed(hosted, last, hosted.world.now()) + self._polled
        """The number of the newest block."""

    @property
    def forks(self) -> int:
        """How often the chain was reorganised."""
        return len(self._blocks.forks(self.chain))

    def poll(self) -> int:
        """Return the height. On a clock that stands, polls bring empty blocks, as time does else.

        So that whoever waits for some confirmations gets them, whatever the clock is.
        """
        hosted, chain = self._hosted, self.chain
        node, mode = hosted.node, hosted.world.time.clock.mode
        stands = node.pace_ms and mode in (ClockMode.FROZEN, ClockMode.AUTO)
        if stands and node.heads.get(chain) == self.head and self._polled < _MOST_POLLED:
            node.polled[chain] = self._polled + 1
            self._polled += 1
            self.head += 1
        node.heads[chain] = self.head
        return self.head

    def forked_since(self, forks: int) -> tuple[int, ...]:
        """Return the last blocks that stayed in each reorganisation but the first `forks`."""
        return self._blocks.forks(self.chain)[forks:]

    def numbered(self, number: int) -> Block | None:
        """Return a block, which may be empty; None beyond the head."""
        if not 0 <= number <= self.head:
            return None
        place = self._before(number)
        below = self._blocks.stored(self._hosted, self.chain, place)
        if below.number == number:
            return below
        pace = self._hosted.node.pace_ms
        # Those that came by polls have the time at which the clock stood.
        at_ms = min(below.at_ms + (number - below.number) * pace, self._hosted.world.now())
        if place + 1 < self._blocks.length(self.chain):
            above = self._blocks.stored(self._hosted, self.chain, place + 1)
            at_ms = min(at_ms, above.at_ms) if pace else above.at_ms
        return Block(number, at_ms)

    def between(self, least: int, most: int) -> Iterator[Block]:
        """Yield the blocks of these numbers that are not empty."""
        for place in range(max(0, self._before(least - 1) + 1), self._blocks.length(self.chain)):
            block = self._blocks.stored(self._hosted, self.chain, place)
            if block.number > most:
                break
            yield block

    def newest_first(self) -> Iterator[Block]:
        """Yield the blocks that are not empty, the newest one first."""
        for place in range(self._blocks.length(self.chain) - 1, -1, -1):
            yield self._blocks.stored(self._hosted, self.chain, place)

    def of_transaction(self, tx_hash: str) -> Block | None:
        place = self._blocks.place_of(self.chain, tx_hash)
        return None if place is None else self._blocks.stored(self._hosted, self.chain, place)

    def hash_of(self, number: int, forks: int | None = None) -> str:
        """Return the hash of a block, now or when there had been so many reorganisations."""
        if number < 0:
            return f"0x{0:064x}"
        digest = self._digest(number, forks)
        # Its number can be taken out again, so that a hash needs no table; masked, it looks like
        # any hash.
        masked = int.from_bytes(digest[: 32 - _DIGEST]) ^ number
        return f"0x{digest.hex()}{masked:016x}"

    def number_of(self, block_hash: str) -> int:
        """Return the number of the block with a hash; -1 for that of none."""
        raw = bytes.fromhex(block_hash[2:])
        number = int.from_bytes(raw[: 32 - _DIGEST]) ^ int.from_bytes(raw[_DIGEST:])
        known = number <= self.head and self.hash_of(number) == block_hash.lower()
        return number if known else -1

    def _digest(self, number: int, forks: int | None) -> bytes:
        replaced = sum(number > fork for fork in self._blocks.forks(self.chain)[:forks])
        seed, began = self._hosted.world.scenario.seed, self._hosted.node.began_ms
        text = f"block|{seed}|{began}|{self.chain}|{number}|{replaced}"
        return blake2b(text.encode(), digest_size=_DIGEST).digest()

    def _before(self, number: int) -> int:
        """Return the place of the last stored block up to a number; -1 before all."""
        low, high = -1, self._blocks.length(self.chain) - 1
        # Halved each time: a node is asked for blocks of chains that are hundreds of thousands
        # long.
        while low < high:
            middle = (low + high + 1) // 2
            if self._blocks.stored(self._hosted, self.chain, middle).number <= number:
                low = middle
            else:
                high = middle - 1
        return low
