"""What nodes of a world remember beside the transactions: their pool, marks and filters."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, replace

from mockserver import limits
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json

PACE_MS = 2_000
"""How often a chain makes an empty block by default, in ms of the world's clock (A-390)."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A signed transaction that is in no block yet; `price` is the most it pays for gas."""

    chain: str
    sender: str
    nonce: int
    hash: str
    raw: bytes
    price: int
    tip: int
    cost: int
    at_ms: int

    @property
    def key(self) -> tuple[str, str, int]:
        return self.chain, self.sender, self.nonce


@dataclass(frozen=True, slots=True)
class Mark:
    """What happened to a chain without a transaction, after so many transactions of the world.

    Either `mined` empty blocks came, or the newest `reorganised` ones were replaced, and the
    transactions of these hashes `lost`. `payouts` is how many payouts had a block by then.
    """

    chain: str
    at_ms: int
    after: int
    payouts: int
    mined: int = 0
    reorganised: int = 0
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """What a client asked to be shown as it comes; `seen` is how far it was shown.

    `kind` is `logs`, `blocks` or `pool`; `query` are the members of a filter of logs. `forks` is
    how many reorganisations there were when it was last read.
    """

    chain: str
    kind: str
    seen: int
    forks: int = 0
    query: Mapping[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class NodeState:
    """The rules of a world's chains, and what their nodes remember.

    A `lenient` chain takes any nonce, charges no gas and moves no more than there is. With a
    `finite_vault` the service is lent nothing for orders that are sent to nodes. `fees` are the
    base fees of chains, fixed when each was first used, so that blocks keep theirs.
    """

    lenient: bool = False
    pace_ms: int = PACE_MS
    finite_vault: bool = False
    began_ms: int | None = None
    fees: dict[str, int] = field(default_factory=dict)
    polled: dict[str, int] = field(default_factory=dict)
    """Empty blocks above the newest transaction that came by polls, while the clock stood."""
    pool: dict[tuple[str, str, int], Waiting] = field(default_factory=dict)
    refused: dict[tuple[str, str], str] = field(default_factory=dict)
    """Why the newest transactions that were not taken, or were replaced, are in no block."""
    marks: tuple[Mark, ...] = ()
    filters: dict[str, Filter] = field(default_factory=dict)
    made: int = 0
    """How many filters were made."""
    heads: dict[str, int] = field(default_factory=dict)
    """What the last poll of each chain saw; a look-up that nobody misses after a restart."""

    def copy(self) -> "NodeState":
        """Return an independent copy."""
        return replace(
            self,
            fees=dict(self.fees),
            polled=dict(self.polled),
            pool=dict(self.pool),
            refused=dict(self.refused),
            filters=dict(self.filters),
            heads=dict(self.heads),
        )

    @property
    def weight(self) -> int:
        """About how many bytes it takes."""
        waiting = sum([1_000 + 2 * len(waiting.raw) for waiting in self.pool.values()])
        return waiting + 500 * len(self.refused)

    def waiting_of(self, chain: str, sender: str) -> dict[int, Waiting]:
        """Return what waits of a sender, by nonce."""
        return {
            nonce: waiting
            for (on, by, nonce), waiting in sorted(self.pool.items())
            if (on, by) == (chain, sender)
        }

    def waiting_by_hash(self, chain: str, tx_hash: str) -> Waiting | None:
        lowered = tx_hash.lower()
        return next(
            (each for each in self.pool.values() if (each.chain, each.hash) == (chain, lowered)),
            None,
        )

    def refuse(self, chain: str, tx_hash: str, why: object) -> None:
        """Note why a node did not take a transaction."""
        self.drop(chain, tx_hash, f"was refused by its node ({why})")

    def drop(self, chain: str, tx_hash: str, why: str) -> None:
        """Note why a transaction is in no block; the oldest is forgotten where there are many."""
        self.refused.pop((chain, tx_hash), None)
        self.refused[chain, tx_hash] = why
        if len(self.refused) > limits.WAITING.most:
            del self.refused[next(iter(self.refused))]

    def add_filter(self, added: Filter) -> str:
        """Keep a filter and return its id; the oldest one goes where there are too many."""
        self.made += 1
        name = f"0x{self.made:032x}"
        self.filters[name] = added
        # The oldest, as nodes do with filters that nobody polls.
        if len(self.filters) > limits.FILTERS.most:
            del self.filters[next(iter(self.filters))]
        return name

    def forks(self, chain: str) -> Iterator[Mark]:
        return (mark for mark in self.marks if mark.chain == chain and mark.reorganised)

    def dump(self) -> dict[str, Json]:
        """Return it as JSON can carry it; empty where no node was used."""
        ruled = self.lenient or self.finite_vault or self.pace_ms != PACE_MS
        if self.began_ms is None and not ruled:
            return {}
        return {
            "lenient": self.lenient,
            "paceMs": self.pace_ms,
            "finiteVault": self.finite_vault,
            "beganMs": self.began_ms,
            "fees": dict(self.fees),
            "polled": dict(self.polled),
            "pool": [
                {**asdict(waiting), "raw": waiting.raw.hex()} for waiting in self.pool.values()
            ],
            "refused": [[*key, why] for key, why in self.refused.items()],
            "marks": [asdict(mark) for mark in self.marks],
            "filters": {
                name: {**asdict(each), "query": dict(each.query)}
                for name, each in self.filters.items()
            },
            "made": self.made,
        }

    @classmethod
    def load(cls, plain: Mapping[str, Json]) -> "NodeState":
        pool = [Waiting(**{**item, "raw": bytes.fromhex(item["raw"])}) for item in plain["pool"]]
        return cls(
            lenient=plain["lenient"],
            pace_ms=plain["paceMs"],
            # Dumps of older releases lack it.
            finite_vault=plain.get("finiteVault", False),
            began_ms=plain["beganMs"],
            fees=dict(plain["fees"]),
            polled=dict(plain["polled"]),
            pool={waiting.key: waiting for waiting in pool},
            refused={(chain, tx): why for chain, tx, why in plain.get("refused", ())},
            marks=tuple(
                Mark(**{**mark, "lost": tuple(mark.get("lost", ()))}) for mark in plain["marks"]
            ),
            filters={name: Filter(**each) for name, each in plain["filters"].items()},
            made=plain["made"],
        )
