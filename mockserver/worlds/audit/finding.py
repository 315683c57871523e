"""What a verdict says: findings, and the money that each is about."""

from collections.abc import Sequence
from decimal import Decimal

from mockserver.engine import amounts
from mockserver.engine.catalog import Placed
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json, plain
from mockserver.wording import finding_lines
from mockserver.worlds.journal import Entry
from mockserver.worlds.transaction_store import ChainTransaction


@dataclass(frozen=True, slots=True)
class Money:
    """An amount of a token, in smallest units, on a chain by its nickname."""

    units: int
    decimals: int
    token: str
    chain: str

    @classmethod
    def of(cls, units: int, placed: Placed) -> "Money":
        """Return smallest units of a token on a chain."""
        return cls(units, placed.decimals, placed.symbol, placed.chain.nickname)

    @property
    def whole_tokens(self) -> Decimal:
        return amounts.whole_tokens(self.units, self.decimals)

    def __str__(self) -> str:
        return f"{plain(self.whole_tokens)} {self.token}"

    def render(self) -> dict[str, Json]:
        """Return it as JSON for the control API."""
        return {"amount": plain(self.whole_tokens), "token": self.token, "chain": self.chain}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with money: its kind, a sentence, the orders and the exchanges.

    `cause` says more than the kind where a kind has several. `costs` is the money that is lost,
    paid once too often, or somewhere nobody knows of; empty where nothing but knowledge is missing.
    `transactions` are those sent to a chain, which the journal does not have.
    """

    kind: str
    message: str
    orders: Sequence[str] = ()
    entries: Sequence[Entry] = ()
    transactions: Sequence[ChainTransaction] = ()
    costs: Sequence[Money] = ()
    cause: str = ""

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(finding_lines(self.render()))

    def render(self) -> dict[str, Json]:
        """Return the finding as JSON for the control API."""
        return {
            "kind": self.kind,
            "cause": self.cause,
            "told": self.message,
            "costs": [money.render() for money in self.costs],
            "orders": list(self.orders),
            "requests": [entry.named() for entry in self.entries],
            "transactions": [{"chain": tx.chain, "hash": tx.hash} for tx in self.transactions],
        }
