"""A small catalog and the scenarios and worlds the engine's tests start from."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from mockserver.clock import ClockMode
from mockserver.engine.amounts import units_exact
from mockserver.engine.balances import opening
from mockserver.engine.catalog import NATIVE, Catalog, Chain, Placed, Token, TokenContract
from mockserver.engine.ledger import FAUCET, LedgerEntry, Posting, user
from mockserver.engine.orders import OrderGeneration, OrderKind
from mockserver.engine.pricing import Prices, Rates
from mockserver.engine.scenario import Scenario
from mockserver.engine.submission import OrderRequest
from mockserver.engine.world import World

START = 1_767_225_600_000
"""2026-01-01T00:00:00Z in milliseconds."""
USER = "0x" + "a1" * 20
OTHER = "0x" + "B2" * 20
USDT = {
    "FSN": "0x" + "01" * 20,
    "ETH": "0x" + "02" * 20,
    "BNB": "0x" + "03" * 20,
    "ARB": "0x" + "0A" * 20,
}
XCHNG = "0x" + "0c" * 20

CATALOG = Catalog(
    chains=(
        Chain("FSN", "Fusion", 1, "32659", "FSN", v1_name="FSN", v1_id=1, weth="0x" + "fd" * 20),
        Chain("ETH", "Ethereum", 2, "1", "ETH", v1_name="ETH", v1_id=2),
        Chain("BNB", "BNB Chain", 3, "56", "BNB", v1_name="BSC", v1_id=3),
        Chain("ARB", "Arbitrum", 4, "42161", "ETH", v1_name="ARB", v1_id=4),
        Chain("AVAXC", "Avalanche", 5, "43114", "AVAX"),
        Chain("KAS", "Kaspa", 6, "", "KAS", decimals=8, family=6),
    ),
    tokens=(
        Token(1, "XCHNG", "Chainge", {"FSN": TokenContract(XCHNG, 18, burnable=True)}, 9071),
        Token(2, "FSN", "Fusion", {"FSN": TokenContract(NATIVE, 18)}),
        Token(
            4, "ETH", "Ether", {"ETH": TokenContract(NATIVE, 18), "ARB": TokenContract(NATIVE, 18)}
        ),
        Token(
            5,
            "USDT",
            "Tether",
            {
                **{
                    nickname: TokenContract(address, 18 if nickname == "BNB" else 6)
                    for nickname, address in USDT.items()
                },
                "KAS": TokenContract("CUSDT", 8),
            },
        ),
        Token(8, "BNB", "BNB", {"BNB": TokenContract(NATIVE, 18)}),
        Token(9, "AVAX", "Avalanche", {"AVAXC": TokenContract(NATIVE, 18)}),
        Token(
            18,
            "KAS",
            "Kaspa",
            {"KAS": TokenContract(NATIVE, 8), "FSN": TokenContract("0x" + "0d" * 20, 8)},
        ),
    ),
)

PRICES = Prices(
    {
        "XCHNG": Decimal("0.1248"),
        "FSN": Decimal("0.0667"),
        "ETH": Decimal("2645.01"),
        "USDT": Decimal(1),
        "BNB": Decimal("591.43"),
        "AVAX": Decimal(30),
        "KAS": Decimal("0.15"),
    }
)

RATES = Rates(gas_usd={"BNB": Decimal("0.3"), "ETH": Decimal(2)})


def scenario(**changes: Any) -> Scenario:
    """Return a scenario with a frozen clock, with the parts given in place of the usual ones."""
    usual: dict[str, Any] = {
        "name": "sample",
        "catalog": CATALOG,
        "prices": PRICES,
        "rates": RATES,
        "seed": 7,
        "clock_mode": ClockMode.FROZEN,
        "start_ms": START,
    }
    return Scenario(**(usual | changes))


def world(**changes: Any) -> World:
    """Return a world whose wall clock stands still."""
    return World(scenario(**changes), lambda: START)


def ends(symbol: str, source: str, target: str) -> tuple[Placed, Placed]:
    """Return a token on two chains of the catalog."""
    return CATALOG.ends(symbol, source, target)


def bridge(
    number: int = 1,
    amount: int = 10_000_000,
    *,
    source_chain: str = "ARB",
    source_index: int = 5,
    target_chain: str | None = "BNB",
    target_index: int = 5,
    catalog: Catalog = CATALOG,
    **changes: Any,
) -> OrderRequest:
    """Return an order that moves USDT from ARB (6 decimals) to BNB (18 decimals)."""
    source, target = catalog.ends_by_index(source_chain, source_index, target_chain, target_index)
    usual: dict[str, Any] = {
        "generation": OrderGeneration.V2,
        "kind": OrderKind.BRIDGE,
        "source": source,
        "target": target,
        "amount": amount,
        "sender": USER,
        "recipient": USER,
        "cert_hash": f"0xabc{number:061x}",
    }
    return OrderRequest(**(usual | changes))


def swap(number: int = 1, amount: int = 10_000_000, **changes: Any) -> OrderRequest:
    """Return an order that swaps USDT on ARB for the native coin of BNB."""
    changes = {"kind": OrderKind.AGGREGATE, "target_index": 8, "slippage_bps": 100} | changes
    return bridge(number, amount, **changes)


def v1_order(
    number: int = 1,
    amount: str = "10",
    *,
    source_chain: str = "FSN",
    target_chain: str = "BSC",
    symbol: str = "USDT",
    target_symbol: str | None = None,
    **changes: Any,
) -> OrderRequest:
    """Return a v1 order that moves USDT from FSN to BSC."""
    source = v1_placed(symbol, source_chain)
    usual: dict[str, Any] = {
        "generation": OrderGeneration.V1,
        "kind": OrderKind.AGGREGATE if target_symbol else OrderKind.BRIDGE,
        "source": source,
        "target": v1_placed(target_symbol or symbol, target_chain),
        "amount": units_exact(Decimal(amount), source.decimals),
        "fee_level": 2,
        "sender": USER,
        "recipient": USER,
        "cert_hash": f"0xdef{number:061x}",
    }
    return OrderRequest(**(usual | changes))


def v1_placed(symbol: str, chain: str) -> Placed:
    """Return a token on a chain that v1 calls so."""
    return CATALOG.placed(CATALOG.chain_v1(chain), CATALOG.token(symbol))


def statuses(world: World, order_id: str) -> Sequence[str]:
    """Return the statuses of an order, past and to come."""
    return [event.status.value for event in world.orders.events(order_id)]


def postings(world: World) -> Iterator[Posting]:
    """Yield every booking up to now: openings of accounts, transfers, deposits, outcomes."""
    core = world.balances._core
    for chain, symbol, address in core.state.accounts:
        units = opening(core, core.scenario.catalog.token_on(chain, symbol), address)
        entries = (
            LedgerEntry(FAUCET, chain, symbol, -units),
            LedgerEntry(user(address), chain, symbol, units),
        )
        yield Posting(0, "opening", None, entries)
    for moved in core.state.transfers.values():
        ends = (moved.payer, -moved.units), (moved.receiver, moved.units)
        booked = tuple(LedgerEntry(user(key[2]), *key[:2], units) for key, units in ends)
        yield Posting(moved.at_ms, "transfer", None, booked)
    for order in core.state.orders:
        ahead = world.balances.postings_of(order)
        yield from (posting for posting in ahead if posting.at_ms <= world.now())
