"""The facts that the second service keeps: chains, tokens, rates, orders and tickets."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

NATIVE = "0x" + "e" * 40
ACCOUNT = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
"""An account with orders and tickets from before; for those who name it."""
STRANGER = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"
OLD_HASH = "0x" + "4d" * 32
"""A v1 order of ACCOUNT on ETH from before."""

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


@dataclass(slots=True)
class Chain:
    """A chain; ``v1_name`` is None where the first generation does not offer it."""

    index: int
    nick: str
    full: str
    v1_name: str | None
    network: str
    evm: bool
    coin: str
    decimals: int
    listed: bool = True


@dataclass(slots=True)
class Token:
    """A token on one chain."""

    index: int
    symbol: str
    chain: str
    address: str
    decimals: int


@dataclass(slots=True)
class Order:
    """An order of either generation and where it will end."""

    key: str
    address: str
    submitted: float
    amount_out: str
    final: str = "Succeeded"
    reason: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    polls: int = 0


@dataclass(slots=True)
class Ticket:
    """A problem report about a transaction."""

    key: int
    address: str
    chain: str
    hash: str
    submitted: float
    held: str = ""


@dataclass(slots=True)
class Choices:
    """What the description leaves open, and how this service decides it."""

    refusal_code: int = 3
    v1_refusal_codes: bool = True
    refusal_status: int = 200
    refusal_data: bool = True
    v1_flat: bool = False
    order_course: tuple[tuple[float, str], ...] = ((0.0, "Unknown"), (0.2, "Pending"), (0.6, ""))
    by_polls: bool = False
    ticket_course: tuple[float, float] = (0.3, 1.2)
    solution: str = "Refund"
    gas_micro: int = 300_000
    service_rate: int = 6
    rates_move: bool = False
    most_units: int = 0
    least_micro: int = 0
    v1_least_units: int = 0
    most_slippage: int = 10_000
    any_case_chains: bool = False
    route_summary: str | None = "b25lLWhvcA=="
    duplicates: str = "same"
    flat_assets: bool = False
    swaps_everywhere: bool = True
    suspend_after: int = 0
    deadline: bool = False
    unknown_filter_is_empty: bool = False
    unknown_inputs_refused: bool = False
    poor: bool = False


def address_on(nick: str, name: str) -> str:
    """A made-up address in the form of its chain."""
    digest = hashlib.sha256(f"{nick}/{name}".encode()).digest()
    text = "".join(_BASE58[byte % 58] for byte in digest + digest)
    if nick == "TRX":
        return "T" + text[:33]
    if nick == "KOIN":
        return "1" + text[:33]
    if nick == "SOL":
        return text[:44]
    if nick == "APT":
        return "0x" + digest.hex()
    if nick == "KAS":
        return "C" + name
    return "0x" + digest.hex()[:40]


_CHAINS = (
    (1, "FSN", "Fusion", "FSN", "32659", True, "FSN", 18),
    (2, "ETH", "Ethereum", "ETH", "1", True, "ETH", 18),
    (3, "BNB", "BNB Chain", "BSC", "56", True, "BNB", 18),
    (4, "ARB", "Arbitrum", "ARB", "42161", True, "ETH", 18),
    (5, "POLYGON", "Polygon", "MATIC", "137", True, "POL", 18),
    (6, "AVAXC", "Avalanche", "AVAX", "43114", True, "AVAX", 18),
    (7, "CRO", "Cronos", "CRO", "25", True, "CRO", 18),
    (8, "BASE", "Base", None, "8453", True, "ETH", 18),
    (9, "KAS", "Kaspa", None, "kaspa", False, "KAS", 8),
    (10, "SOL", "Solana", None, "solana", False, "SOL", 9),
    (11, "TRX", "Tron", None, "tron", False, "TRX", 6),
    (12, "KOIN", "Koinos", None, "koinos", False, "KOIN", 8),
    (13, "APT", "Aptos", None, "aptos", False, "APT", 8),
    (14, "FTM", "Fantom", "FTM", "250", True, "FTM", 18),
)

_PRICES = {
    "USDT": 1_000_000,
    "USDC": 1_000_100,
    "ETH": 2_640_120_000,
    "BNB": 591_460_000,
    "FSN": 66_770,
    "POL": 412_300,
    "AVAX": 27_810_000,
    "CRO": 81_240,
    "KAS": 142_370,
    "SOL": 151_020_000,
    "TRX": 157_700,
    "KOIN": 93_150,
    "APT": 8_750_000,
    "WBTC": 63_102_400_000,
    "XCHNG": 125_170,
    "FTM": 640_000,
}

# Index, symbol, and the chains (with decimals) on which it is a contract.
_CONTRACTS = (
    (1, "XCHNG", {"ETH": 18, "FSN": 18, "ARB": 18}),
    (2, "FSN", {"ETH": 18}),
    (4, "ETH", {"BNB": 18, "FSN": 18, "POLYGON": 18}),
    (
        5,
        "USDT",
        {
            "ETH": 6,
            "BNB": 18,
            "ARB": 6,
            "POLYGON": 6,
            "AVAXC": 6,
            "FSN": 6,
            "CRO": 6,
            "TRX": 6,
            "SOL": 6,
            "KAS": 8,
            "APT": 6,
            "FTM": 6,
        },
    ),
    (6, "USDC", {"ETH": 6, "BNB": 18, "ARB": 6, "POLYGON": 6, "BASE": 6, "SOL": 6, "AVAXC": 6}),
    (8, "BNB", {"FSN": 18}),
    (18, "KAS", {"FSN": 8, "BNB": 8}),
    (46, "KOIN", {"FSN": 8}),
    (53, "CRO", {"ETH": 8}),
    (70, "WBTC", {"ETH": 8, "ARB": 8, "POLYGON": 8, "AVAXC": 8}),
)
_COINS = {
    "FSN": 2,
    "ETH": 4,
    "BNB": 8,
    "POL": 50,
    "AVAX": 52,
    "CRO": 53,
    "KAS": 18,
    "SOL": 61,
    "TRX": 60,
    "KOIN": 46,
    "APT": 62,
    "FTM": 63,
}


def _chains() -> list[Chain]:
    chains = [Chain(*row) for row in _CHAINS]
    chains[-1].listed = False
    return chains


def _tokens() -> list[Token]:
    coins = [Token(_COINS[row[6]], row[6], row[1], NATIVE, row[7]) for row in _CHAINS]
    contracts = [
        Token(index, symbol, nick, address_on(nick, symbol), decimals)
        for index, symbol, places in _CONTRACTS
        for nick, decimals in places.items()
    ]
    return sorted(coins + contracts, key=lambda token: (token.index, token.chain))


@dataclass(slots=True)
class World:
    """Everything that one running service knows."""

    clock: Callable[[], float] = time.time
    choices: Choices = field(default_factory=Choices)
    chains: list[Chain] = field(default_factory=_chains)
    tokens: list[Token] = field(default_factory=_tokens)
    prices: dict[str, int] = field(default_factory=lambda: dict(_PRICES))
    version: int = 20_261_120
    orders: dict[str, Order] = field(default_factory=dict)
    tickets: list[Ticket] = field(default_factory=list)
    deposits: dict[str, str] = field(default_factory=dict)
    v1_orders: dict[tuple[str, str], Order] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    """What faults remember between calls."""
    next_order: int = 30_000_002_832
    started: float = 0.0

    def __post_init__(self) -> None:
        """Lay down what happened before anybody asked."""
        self.started = self.clock()
        past = self.started - 86_400
        done = Order("30000001001", ACCOUNT, past, "9990000")
        refunded = Order("30000001002", ACCOUNT, past + 60, "0", "Refunded", "amount below minimum")
        self.orders = {order.key: order for order in (done, refunded)}
        self.v1_orders["ETH", OLD_HASH] = Order(
            "CC1010220261121020000000",
            ACCOUNT,
            past,
            "9.69",
            facts={"fromChain": "ETH", "toChain": "BSC", "fromToken": "USDT", "fromAmount": "10"},
        )
        self.tickets = [
            Ticket(71, ACCOUNT, "ETH", "0x" + "a1" * 32, past),
            Ticket(72, ACCOUNT, "BNB", "0x" + "b2" * 32, past),
            Ticket(73, ACCOUNT, "ARB", "0x" + "c3" * 32, past, held="Unknown"),
            Ticket(74, ACCOUNT, "FSN", "0x" + "d4" * 32, past, held="Pending"),
            Ticket(75, STRANGER, "ETH", "0x" + "e5" * 32, past),
        ]

    def listed_chains(self) -> list[Chain]:
        """The chains that can be used now."""
        return [chain for chain in self.chains if chain.listed]

    def chain(self, nick: str) -> Chain | None:
        """A listed chain by its nickName."""
        if self.choices.any_case_chains:
            nick = nick.upper()
        return next((chain for chain in self.listed_chains() if chain.nick == nick), None)

    def v1_chain(self, name: str) -> Chain | None:
        """A listed chain by its name in the first generation."""
        return next((chain for chain in self.listed_chains() if chain.v1_name == name), None)

    def tokens_on(self, nick: str) -> list[Token]:
        """The tokens of a chain."""
        return [token for token in self.tokens if token.chain == nick]

    def by_symbol(self, nick: str, symbol: str) -> Token | None:
        """A token of a chain by its symbol."""
        return next((token for token in self.tokens_on(nick) if token.symbol == symbol), None)

    def by_address(self, nick: str, address: str) -> Token | None:
        """A token of a chain by its contract address; hex in any case."""
        wanted = address.lower() if address.startswith("0x") else address
        for token in self.tokens_on(nick):
            own = token.address.lower() if token.address.startswith("0x") else token.address
            if own == wanted:
                return token
        return None

    def price(self, symbol: str) -> int:
        """Millionths of a USD for one whole token."""
        price = self.prices[symbol]
        if self.choices.rates_move and symbol not in {"USDT", "USDC"}:
            price += price * (int(self.clock() * 20) % 10) // 10_000
        return price
