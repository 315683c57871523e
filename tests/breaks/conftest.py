"""One script of requests that brings every break to light, and how answers to it are compared."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Any
from urllib.parse import urlencode

import pytest

from mockserver import jsontext
from mockserver.contract import load
from mockserver.http_messages import Headers, Request
from mockserver.mock_headers import EPOCH_HEADER
from mockserver.responders.answer_delivery import Delivery
from mockserver.responders.breaks import Break
from mockserver.responders.breaks.catalogue import CATALOGUE
from mockserver.server.assembly import build
from mockserver.server.service import Service
from mockserver.worlds.journal import Entry
from tests.conftest import (
    HASH,
    NATIVE,
    START_MS,
    USDT_BNB,
    WALLET,
    certificate,
    frozen,
    v1_submission,
)
from tests.conftest import order as order_body

CONTRACT = load("documented")
OTHER = "0x" + "7" * 40
_KEY = "breaks"
_FAIL = certificate(fromAmount="10400200", certHash="0x" + "5a" * 32)
_SECOND = certificate(fromAmount="25000000", certHash="0x" + "5b" * 32)
_V1_HASH = "0x" + "6c" * 32


@dataclass(frozen=True)
class Step:
    """A request of the script, or a span that the world's clock is moved by."""

    request: Request | None = None
    advance_ms: int = 0
    writes: bool = False


@dataclass(frozen=True)
class Told:
    """An answer of the script as it can be compared, with what the journal says of it."""

    step: Step
    operation: str | None
    delivery: Delivery
    entry: Entry

    @property
    def path(self) -> str:
        """The path below the world."""
        return self.step.request.path if self.step.request else ""


def get(path: str, headers: Any = None, **query: str) -> Request:
    """Return a GET."""
    return Request("GET", path, urlencode(query), Headers(tuple((headers or {}).items())))


def post(path: str, body: Any, headers: dict[str, str]) -> Request:
    """Return a POST of JSON."""
    return Request("POST", path, "", Headers(tuple(headers.items())), jsontext.encode(body))


def signed(at_ms: int = START_MS, window: str = "15000", without: str = "") -> dict[str, str]:
    """Return the headers of v1, but for one."""
    found = {
        "appKey": "demo-app-key",
        "expireTime": window,
        "timestamp": str(at_ms),
        "signature": "0" * 64,
    }
    found.pop(without, None)
    return found


def without(values: dict[str, Any], name: str) -> dict[str, Any]:
    """Return values but for one."""
    return {key: value for key, value in values.items() if key != name}


BRIDGE = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB"}
AGGREGATE = {
    "fromAmount": "100000000000000000000",
    "fromTokenAddress": USDT_BNB,
    "fromDecimal": "18",
    "fromChain": "BNB",
    "toTokenAddress": NATIVE,
    "toDecimal": "18",
    "toChain": "FSN",
}
SWAP = {
    "fromAmount": "1000000000000000000",
    "fromTokenAddress": NATIVE,
    "fromDecimal": "18",
    "toTokenAddress": USDT_BNB,
    "toDecimal": "18",
    "chain": "BNB",
    "sender": WALLET,
    "recipient": OTHER,
    "slippage": "100",
    "allowPartialFill": "false",
}
XCHNG_FSN = "0xab1f7e5bf2587543fe41f268c59d35da95f046e0"
USDT_FSN = "0x8a20c13b42d7fe418f10f922f2cee06246c24269"
BALANCE = {"chain": "BNB", "contractAddress": USDT_BNB, "address": WALLET}
PRICE = {"chain": "BNB", "contractAddress": USDT_BNB, "symbol": "USDT"}
V1_QUOTE = {"amount": 100, "fromChain": "BSC", "toChain": "ARB", "token": "USDT", "feeLevel": 0}
V1_RAW = {
    "amount": 100,
    "chain": "BSC",
    "evmAddress": WALLET,
    "token": "USDT",
    "fromAddress": WALLET,
}
V1_SUBMIT = v1_submission(fromAmount=100, fromChain="BSC", certHash=_V1_HASH, toChain="ARB")
DETAIL = {"chain": "BSC", "hash": _V1_HASH, "evmAddress": WALLET}


def _lists() -> Iterator[Request]:
    for path in ("/v1/getChain", "/v1/getAssets", "/open/v1/base/getSupportChains"):
        yield get(path)
        yield get(path)
        yield get(path, {"Accept-Encoding": "gzip"})
        yield Request("POST", path)
        yield get(f"{path}Nowhere")
        yield get(path, colour="red")
    for chain in ("ARB", "BNB", "NOWHERE", "BSC", "AVAXC"):
        yield get("/v1/getAssetsByChain", chain=chain)
    yield get("/v1/getAssetsByChain")
    yield get("/v1/getAssetsByChain", chain="ARB", colour="red")
    for chain in ("BSC", "MATIC", "NOWHERE"):
        yield get("/open/v1/base/getSupportTokens", {"chain": chain})
    yield get("/open/v1/base/getSupportTokens")
    yield get("/open/v1/base/getSupportTokens", {"CHAIN": "BSC"})


def _quotes() -> Iterator[Request]:
    changes: tuple[dict[str, str], ...] = (
        {},
        {"amount": "20000000"},
        {"amount": "-10000000"},
        {"amount": "0"},
        {"amount": "12abc"},
        {"fromChain": "NOWHERE"},
        {"symbol": "NOTHING"},
        {"fromChain": "BSC"},
        {"colour": "red"},
        {},
    )
    for change in changes:
        yield get("/v1/getBridgeQuote", **{**BRIDGE, **change})
    yield get("/v1/getBridgeQuote", {"Accept-Encoding": "gzip"}, **BRIDGE)
    yield get("/v1/getBridgeQuote", **without(BRIDGE, "amount"))
    for end in ("toChain", "fromChain"):
        yield get("/v1/getBridgeQuote", **{**BRIDGE, end: "OP"})
    for change in ({}, {"fromAmount": "200000000000000000000"}, {"fromDecimal": "6"}):
        yield get("/v1/getAggregateQuote", **{**AGGREGATE, **change})
    yield get("/v1/getAggregateQuote", **without(AGGREGATE, "toDecimal"))
    for change in ({}, {"fromAmount": "2000000000000000000"}, {"slippage": "9999"}):
        yield get("/v1/getAggregateSwap", **{**SWAP, **change})
    yield get("/v1/getAggregateSwap", **without(SWAP, "slippage"))
    yield get("/v1/getAggregateSwap", **SWAP, aggregator="ChaingeDex")
    token = {"fromTokenAddress": USDT_BNB, "toTokenAddress": NATIVE}
    yield get("/v1/getAggregateSwap", **{**SWAP, **token})
    pair = {"fromTokenAddress": XCHNG_FSN, "toTokenAddress": USDT_FSN, "toDecimal": "6"}
    yield get("/v1/getAggregateSwap", **{**SWAP, **pair, "chain": "FSN"})
    yield from _on_another_chain()


def _on_another_chain() -> Iterator[Request]:
    """Yield good requests about AVAXC, the chain that a control suspends."""
    usdt = "0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7"
    yield get("/v1/getBridgeQuote", **{**BRIDGE, "toChain": "AVAXC"})
    pair = {"fromTokenAddress": NATIVE, "fromDecimal": "18"}
    pair |= {"toTokenAddress": usdt, "toDecimal": "6"}
    yield get("/v1/getAggregateQuote", **{**AGGREGATE, **pair, **_both("AVAXC")})
    yield get("/v1/getAggregateSwap", **{**SWAP, **pair, "chain": "AVAXC"})
    place = {"chain": "AVAXC", "contractAddress": usdt}
    yield get("/v1/getBalance", **place, address=WALLET)
    yield get("/v1/getPrice", **place, symbol="USDT")
    strange = {"chain": "TRX", "contractAddress": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"}
    yield get("/v1/getPrice", **strange, symbol="USDT")
    yield get("/open/v1/base/getSupportTokens", {"chain": "AVAX"})
    path = "/open/v1/order/getCrossChainQuote"
    yield post(path, {**V1_QUOTE, "toChain": "AVAX"}, signed())
    yield post("/open/v1/order/getTransferToMinterRaw", {**V1_RAW, "chain": "AVAX"}, signed())


def _both(chain: str) -> dict[str, str]:
    return {"fromChain": chain, "toChain": chain}


def _look_ups() -> Iterator[Request]:
    odd = {"colour": "red"}
    for change in ({}, {"contractAddress": NATIVE}, {"chain": "NOWHERE"}, odd, {}):
        yield get("/v1/getBalance", **{**BALANCE, **change})
    yield get("/v1/getBalance", **without(BALANCE, "chain"))
    coin = {"contractAddress": NATIVE, "symbol": "BNB"}
    for change in ({}, coin, {"symbol": "NOTHING"}, odd, {}):
        yield get("/v1/getPrice", None, **{**PRICE, **change})
    yield Request("POST", "/v1/getPrice", urlencode(PRICE))
    yield get("/v1/getPrice", **without(PRICE, "symbol"))
    yield get("/v1/checkOrder", id="7")
    yield get("/v1/checkTicket", ticketId="7")
    yield get("/v1/checkTicket", ticketId="x")
    yield get("/v1/getAllTicketByAddress", address=WALLET, filter="Unknown")
    yield get("/v1/getAllTicketByAddress", address=WALLET, filter="Odd")


def _v1_reads() -> Iterator[Request]:
    path = "/open/v1/order/getCrossChainQuote"
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"amount": 250},
        {"amount": -5},
        {"amount": "100"},
        {"feeLevel": "0"},
        {"feeLevel": 7},
        {"fromChain": "NOWHERE"},
        {"token": "NOTHING"},
    )
    for change in changes:
        yield post(path, {**V1_QUOTE, **change}, signed())
    yield post(path, {**V1_QUOTE, "amount": Decimal("100.5")}, signed())
    yield post(path, without(V1_QUOTE, "feeLevel"), signed())
    for name in ("signature", "expireTime"):
        yield post(path, V1_QUOTE, signed(without=name))
    yield post(path, V1_QUOTE, signed(START_MS - 3_600_000))
    yield post(path, V1_QUOTE, signed(window="100"))
    yield replace(post(path, V1_QUOTE, signed()), method="GET")
    path = "/open/v1/order/getTransferToMinterRaw"
    changes = (
        {},
        {"amount": "x"},
        {"amount": "5"},
        {"amount": -5},
        {"token": "NOTHING"},
        {"chain": "NOWHERE"},
    )
    for change in changes:
        yield post(path, {**V1_RAW, **change}, signed())
    yield post(path, {**V1_RAW, "fromAddress": "0x" + "12" * 20}, signed())
    yield post(path, {**V1_RAW, "evmAddress": "0x123", "fromAddress": "0x123"}, signed())
    yield post(path, V1_RAW, signed(START_MS - 3_600_000))
    yield post(path, [V1_RAW], signed())
    yield post(path, without(V1_RAW, "fromAddress"), signed())
    yield post(path, V1_RAW, signed(without="timestamp"))
    yield get("/open/v1/order/getOrderDetailByHashAndEvmAddress", signed(), **DETAIL)
    yield get("/open/v1/order/getOrderDetailByHashAndEvmAddress", signed(), chain="BSC")


def _orders(ids: Sequence[str]) -> Iterator[Request]:
    wallet = {"Evmaddress": WALLET, "Signature": "ab" * 65}
    for certs in (certificate(), _SECOND, _FAIL):
        yield post("/v1/submitOrder", order_body(sourceCerts=certs), wallet)
    yield post("/v1/submitOrder", order_body(sourceCerts=_SECOND), wallet)
    another = certificate(fromAmount="50000000", certHash="0x" + "5b" * 32)
    yield post("/v1/submitOrder", order_body(sourceCerts=another), wallet)
    for number in ids:
        yield get("/v1/checkOrder", id=number)
    path = "/open/v1/order/submitCrossChain"
    yield post(path, V1_SUBMIT, signed())
    path = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
    for change in ({}, {"evmAddress": OTHER}):
        yield get(path, signed(), **{**DETAIL, **change})
    yield get(path, signed(), **{**DETAIL, "chain": "ARB"})
    yield get(path, signed(), **without(DETAIL, "evmAddress"))
    for digits, slippage in (("6e", "100"), ("7f", "100"), ("8a", "500")):
        swap = order_body(
            sourceCerts=certificate(certHash="0x" + digits * 32),
            orderType="2",
            slippage=slippage,
            toIndex="6",
            toChain="ARB",
        )
        yield post("/v1/submitOrder", without(swap, "toChain") if digits == "7f" else swap, wallet)
    wallet = {"EvmAddress": WALLET, "Signature": "ab" * 65}
    ticket = {"hash": HASH, "chain": "ARB"}
    base58 = {"hash": "5VfYdZRmC" + "4kTqLNbXwJhD" * 6 + "3AeGr", "chain": "SOL"}
    for report in (ticket, ticket, {"hash": _V1_HASH, "chain": "BNB"}, base58):
        yield post("/v1/submitTicket", report, wallet)


def _published() -> Iterator[Request]:
    """Yield v1 submissions in the published form, and a report that is refused."""
    path = "/open/v1/order/submitCrossChain"
    capitals = f"0x{HASH.removeprefix('0x').upper()}"
    for deposit in (HASH, HASH, capitals):
        yield post(path, {**V1_SUBMIT, "certHash": deposit}, signed(START_MS + 120_000))
    path = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
    yield get(path, signed(START_MS + 120_000), **{**DETAIL, "hash": capitals})
    report = {"hash": OTHER, "chain": "NOWHERE"}
    yield post("/v1/submitTicket", report, {"EvmAddress": WALLET, "Signature": "ab" * 65})
    yield get("/v1/getAllTicketByAddress", address=WALLET, filter="Unknown")


def _incomplete() -> Iterator[Request]:
    """Yield submissions that lack something; one that is taken changes what comes after it."""
    wallet = {"Evmaddress": WALLET, "Signature": "ab" * 65}
    other = order_body(sourceCerts=certificate(certHash="0x" + "5d" * 32))
    late = {**V1_SUBMIT, "certHash": "0x" + "8c" * 32}
    path = "/open/v1/order/submitCrossChain"
    yield post(path, without(late, "toChain"), signed(START_MS + 120_000))
    ticket = {"hash": OTHER, "chain": "ARB"}
    yield post("/v1/submitTicket", ticket, {"Signature": "ab" * 65})
    yield post("/v1/submitOrder", without(other, "channel"), wallet)
    yield post("/v1/submitOrder", other, without(wallet, "Signature"))
    yield post(path, {**V1_SUBMIT, "certHash": "0x123"}, signed(START_MS + 120_000))


def _later(ids: Sequence[str]) -> Iterator[Request]:
    late = START_MS + 120_000
    for _ in range(3):
        for number in ids:
            yield get("/v1/checkOrder", id=number)
        path = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
        yield get(path, signed(late), **DETAIL)
    yield get(path, signed(late), **DETAIL | {"evmAddress": WALLET.lower()})
    yield get(path, signed(late), **DETAIL | {"hash": f"{_V1_HASH[:-8]}00000000"})
    for name in ("Unknown", "Pending", "Succeeded"):
        yield get("/v1/getAllTicketByAddress", address=WALLET, filter=name)
    for address in (WALLET.lower(), OTHER):
        yield get("/v1/getAllTicketByAddress", address=address, filter="Succeeded")
    yield get("/v1/checkTicket", ticketId="1")
    yield get("/v1/getAllTicketByAddress", address="%", filter="Succeeded")
    for number in ("1abc", "%", "-1"):
        yield get("/v1/checkTicket", ticketId=number)
    yield get("/v1/checkOrder", id="%")
    yield get("/v1/checkOrder", id=f"{ids[0]}abc")


@cache
def script() -> tuple[Step, ...]:
    """Return the steps: reads first, then submissions and what is read of them."""
    first = 30_000_000_001
    ids = [str(first), str(first + 1), str(first + 2)]
    reads = [*_lists(), *_quotes(), *_look_ups(), *_v1_reads()]
    steps = [Step(request) for request in reads]
    steps += [Step(request, writes=True) for request in _orders(ids)]
    steps.append(Step(advance_ms=120_000, writes=True))
    swap = get("/v1/checkOrder", id=str(first + 4))
    late = [*_later(ids), swap, *_published(), *_incomplete()]
    return (*steps, *(Step(request, writes=True) for request in late))


@cache
def service() -> Service:
    """Return the service that all tests of a process share; its worlds are their own."""
    return build(frozen(check_answers=False))


def played(breaks: Sequence[str] = (), steps: Iterable[Step] | None = None) -> list[Told]:
    """Return what a fresh world with these breaks answers to the script, or to some steps."""
    shared = service()
    shared.worlds.drop(_KEY)
    hosted = shared.worlds.get(_KEY)
    hosted.breaks.set(breaks)
    found = []
    for step in script() if steps is None else steps:
        if step.request is None:
            hosted.world.time.advance(step.advance_ms)
        else:
            found.append(_told(shared, step))
    shared.worlds.drop(_KEY)
    return found


def _told(shared: Service, step: Step) -> Told:
    sent = step.request
    assert sent is not None
    path = f"/w/{_KEY}{sent.path}"
    delivery = shared.answer(Request(sent.method, path, sent.query, sent.headers, sent.body))
    entry = list(shared.worlds.get(_KEY).journal)[-1]
    # Each world has an epoch of its own, which is not the service's.
    headers = tuple(pair for pair in delivery.response.headers if pair[0] != EPOCH_HEADER)
    delivery = replace(delivery, response=replace(delivery.response, headers=headers))
    return Told(step, entry.operation, delivery, entry)


@cache
def played_healthy() -> list[Told]:
    """Return what a world without breaks answers to the script, asked once."""
    return played()


def touches(one: Break, path: str) -> bool:
    """Tell whether a path is that of an operation a break names, or one that it leads there."""
    rows = [row for row in CONTRACT if row.id in one.operations]
    return any(row.path == path or one.reaches(row, row.method, path) for row in rows)


@cache
def different(name: str) -> list[tuple[Told, Told]]:
    """Return the answers that are others with a break, each beside the healthy one.

    The operations that the break names are asked everything; of the others, what is submitted and
    one good read of each, at its end.
    """
    one = CATALOGUE[name]
    good = [told for told in played_healthy() if told.entry.refusal is None]
    last = {told.path: told.step for told in good if not told.step.writes}
    others = {id(told.step) for told in good if told.step.writes or last[told.path] is told.step}
    asked = [
        told for told in played_healthy() if touches(one, told.path) or id(told.step) in others
    ]
    wanted = {id(told.step) for told in asked}
    steps = [step for step in script() if step.request is None or id(step) in wanted]
    pairs = zip(played([name], steps), asked, strict=True)
    return [
        (told, was)
        for told, was in pairs
        if told.delivery != was.delivery and not (_is_unknown(told) and not _is_unknown(was))
    ]


def _is_unknown(told: Told) -> bool:
    """Tell whether an order is not known: one that a break has refused cannot be looked up."""
    return (told.entry.refusal or "").startswith("unknown-order") and not told.entry.fault


@pytest.fixture(scope="session")
def healthy() -> list[Told]:
    """What a world without breaks answers to the script."""
    return played_healthy()
