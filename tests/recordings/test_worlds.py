"""Worlds made of recordings, held against the services that were recorded, on the recorded requests
and on new ones of the same kinds. The services were written from the description alone."""

import json
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from mockserver.conformance.comparison import compare
from mockserver.learning.seeding import scenario_text, seed_of
from mockserver.recordings import Source, gather
from mockserver.recordings.bodies import layout_of
from mockserver.scenarios import load_scenario
from mockserver.testing import MockSettings, running
from tests.recordings.conftest import recording
from tests.recordings.services.caravan import ROUTE as CARAVAN
from tests.recordings.services.caravan import Caravan
from tests.recordings.services.ferry import Ferry
from tests.recordings.services.flows import (
    FERRY,
    HARBOUR,
    LATTICE,
    WALLET,
    Client,
    Route,
    flow_v1,
    flow_v2,
    submission,
)
from tests.recordings.services.harbour import Harbour
from tests.recordings.services.lattice import Lattice
from tests.recordings.services.serving import serving
from tests.recordings.services.tollgate import ROUTE as TOLLGATE
from tests.recordings.services.tollgate import Tollgate

Flow = Callable[[Client, Route, Callable[[float], None]], None]

SERVICES: dict[str, tuple[Any, Route]] = {
    "ferry": (Ferry, FERRY),
    "harbour": (Harbour, HARBOUR),
    "lattice": (Lattice, LATTICE),
    "caravan": (Caravan, CARAVAN),
    "tollgate": (Tollgate, TOLLGATE),
}
SECOND_WALLET = "0x" + "1b" * 20
SECOND_DEPOSIT = "0x" + "8f" * 32
KEYED = {
    "appKey": "demo-app",
    "expireTime": "600000",
    "timestamp": "1793491200",
    "signature": "c0ffee" * 10,
}


def new_v2(client: Client, route: Route, advance: Callable[[float], None]) -> None:
    """Send what a client sends another time: other amounts, another order, other unknown names."""
    for chain in ("ELSEWHERE", "NoChain"):
        client.get("/v1/getAssetsByChain", chain=chain)
    client.get(
        "/v1/getBalance", chain=route.source, contractAddress=route.sold, address=SECOND_WALLET
    )
    # Nobody asked for this price while it was recorded; a swap showed it.
    client.get(
        "/v1/getPrice",
        chain=route.source,
        contractAddress=route.bought,
        symbol=route.bought_symbol,
    )
    ends = {"symbol": route.symbol, "fromChain": route.source, "toChain": route.target}
    for amount in ("12000000", "50000000", "1"):
        client.get("/v1/getBridgeQuote", amount=amount, **ends)
    swap = {
        "fromTokenAddress": route.sold,
        "fromDecimal": str(route.sold_decimals),
        "toTokenAddress": route.bought,
        "toDecimal": str(route.bought_decimals),
        "fromAmount": "61000000",
    }
    client.get("/v1/getAggregateQuote", fromChain=route.source, toChain=route.source, **swap)
    client.get(
        "/v1/getAggregateSwap", chain=route.source, sender=WALLET, recipient=SECOND_WALLET,
        slippage="50", allowPartialFill="true", **swap,
    )  # fmt: skip
    signed = {"Evmaddress": SECOND_WALLET, "Signature": "0x" + "5a" * 65}
    body = {**submission(route), "sourceCerts": "7d" * 32}
    order = client.send("POST", "/v1/submitOrder", signed, body)["data"]["id"]
    for seconds in (60, 300, 0):
        client.get("/v1/checkOrder", id=order)
        advance(seconds)
    client.get("/v1/checkOrder", id="nobody-knows-it")
    report = {"hash": "0x" + "7d" * 32, "chain": route.source}
    ticket = client.send("POST", "/v1/submitTicket", signed, report)["data"]["ticketId"]
    for status in ("Unknown", "Pending", "Succeeded"):
        client.get("/v1/getAllTicketByAddress", address=SECOND_WALLET, filter=status)
    client.get("/v1/checkTicket", ticketId=str(ticket))
    client.get("/v1/checkTicket", ticketId="77777777")


def new_v1(client: Client, route: Route, advance: Callable[[float], None]) -> None:
    """Send the same of the first generation."""
    client.send("GET", "/open/v1/base/getSupportTokens", {"chain": "ELSEWHERE"})
    quoted = {
        "fromChain": route.source,
        "toChain": route.target,
        "token": route.symbol,
        "feeLevel": 1,
    }
    for amount in (12.5, 150, 0):
        quote = {**quoted, "amount": amount}
        client.send("POST", "/open/v1/order/getCrossChainQuote", KEYED, quote)
    raw = {"amount": 33.25, "chain": route.source, "token": route.symbol}
    raw |= {"evmAddress": WALLET, "fromAddress": WALLET}
    client.send("POST", "/open/v1/order/getTransferToMinterRaw", KEYED, raw)
    submitted = {
        "fromAmount": 20.25, "fromChain": route.source, "fromToken": route.symbol,
        "evmAddres": WALLET, "fromAddress": WALLET, "certHash": SECOND_DEPOSIT,
        "toChain": route.target, "feeLevel": 1,
    }  # fmt: skip
    client.send("POST", "/open/v1/order/submitCrossChain", KEYED, submitted)
    detail = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
    place = f"chain={route.source}&evmAddress={WALLET}"
    for seconds in (60, 300, 0):
        client.send("GET", f"{detail}?{place}&hash={SECOND_DEPOSIT}", KEYED)
        advance(seconds)
    client.send("GET", f"{detail}?{place}&hash=0x{'01' * 32}", KEYED)


@dataclass
class Drive:
    """Takes a client through flows of an address, and records them."""

    url: str
    route: Route
    advance: Callable[[float], None]
    passed: float = 0
    offsets: list[float] = field(default_factory=list)

    def record(self, folder: Path, *flows: Flow) -> None:
        bases = ("--upstream-v1", self.url, "--upstream-v2", self.url)
        with recording("--out", str(folder), *bases, "--arm-writes") as (port, _):
            client = Client(f"http://127.0.0.1:{port}")
            send = client.send

            def noting(*arguments: Any, **options: Any) -> Any:
                self.offsets.append(self.passed)
                return send(*arguments, **options)

            client.send = noting  # type: ignore[method-assign]
            for flow in flows:
                flow(client, self.route, self.later)

    def later(self, seconds: float) -> None:
        self.passed += seconds
        self.advance(seconds)

    def retimed(self, folder: Path) -> list[Source]:
        """Return what was recorded with the times that passed for the service."""
        sources = gather([str(folder)])
        every = sorted(
            (exchange.time_ms or 0, exchange.operation, exchange.name)
            for source in sources
            for exchange in source.recording.exchanges
        )
        later = {key[1:]: int(at * 1000) for key, at in zip(every, self.offsets, strict=True)}
        return [
            Source(
                source.label,
                replace(
                    source.recording,
                    exchanges=tuple(
                        replace(
                            exchange,
                            time_ms=(exchange.time_ms or 0)
                            + later[exchange.operation, exchange.name],
                        )
                        for exchange in source.recording.exchanges
                    ),
                ),
            )
            for source in sources
        ]


def control(url: str, path: str, body: Any = None) -> Any:
    sent = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"{url}/__mock{path}", sent, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read())


@contextmanager
def world(file: Path) -> Iterator[tuple[str, Callable[[float], None]]]:
    with running(scenario=str(file), clock="frozen") as mock:
        url = mock.url
        yield url, lambda seconds: control(url, "/clock", {"advance": f"{int(seconds)}s"})


@dataclass
class Kept:
    """A scenario made of a recorded service, and the folder of what both answered."""

    name: str
    folder: Path
    scenario: Path
    route: Route


QUICK = ("lattice", "tollgate")
"""Services whose amounts, names and refusals differ most; the others are tried in a deep run."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=() if name in QUICK else pytest.mark.deep) for name in SERVICES
    ],
)
def kept(request, tmp_path_factory) -> Kept:
    make, route = SERVICES[request.param]
    service, folder = make(), tmp_path_factory.mktemp(request.param)
    with serving(service) as url:
        first = Drive(url, route, service.now.advance)
        first.record(folder / "recorded", flow_v2, flow_v1)
        seed = seed_of(first.retimed(folder / "recorded"))
        scenario = folder / "seeded.yaml"
        scenario.write_text(scenario_text(seed, "as recorded"))
        # Caravan refuses a submission that it has had, which no recording of it shows.
        again = (flow_v2, flow_v1) if request.param != "caravan" else ()
        Drive(url, route, service.now.advance).record(folder / "service", *again, new_v2, new_v1)
    with world(scenario) as (url, advance):
        Drive(url, route, advance).record(folder / "world", *again, new_v2, new_v1)
    return Kept(request.param, folder, scenario, route)


EXPLAINED = {
    # A second report of a transaction: the recording has none, and here it is the first ticket.
    "ferry": {("item-lost", "v2.getAllTicketByAddress")},
    "harbour": {("item-lost", "v2.getAllTicketByAddress")},
    "lattice": {("item-lost", "v2.getAllTicketByAddress")},
    # The recorded swap is worth 0.000000 USD, which tells no price of what was bought.
    "caravan": {("value", "v2.getPrice")},
    # As of the first, so it counts one less; and a second submission of a deposit is an order of
    # its own there, where a world has the one order that a deposit pays for.
    "tollgate": {
        ("item-lost", "v2.getAllTicketByAddress"),
        ("value", "v2.getAllTicketByAddress"),
        ("value", "v2.checkOrder"),
    },
}


def test_it_answers_as_the_service_does(kept):
    compared = compare(str(kept.folder / "service"), str(kept.folder / "world"))
    causes = {(cause.kind.value, *cause.operations) for cause in compared.causes}
    assert causes == EXPLAINED[kept.name], [
        (cause.kind, cause.place, cause.occurrences[0]) for cause in compared.causes
    ]
    assert compared.compared > 25


def test_every_recorded_answer_comes_out(kept):
    """A world that was just made answers the recorded requests as they were answered at last."""
    with world(kept.scenario) as (url, _):
        client = Client(url)
        reads = [
            exchange
            for source in gather([str(kept.folder / "recorded")])
            for exchange in source.recording.exchanges
            if not any(word in exchange.operation for word in ("Order", "Ticket", "submit"))
        ]
        assert len(reads) > 12
        for exchange in reads:
            request = exchange.request
            headers = dict(request.headers.items_sent)
            body = json.loads(request.body) if request.method == "POST" else None
            client.send(request.method, request.target, headers, body)
            _, status, came = client.kept[-1]
            assert status == exchange.response.status
            if layout_of(exchange.response.body):
                assert came == exchange.response.body
            else:
                # Harbour writes its JSON as no layout does; numbers still have every digit.
                recorded = json.loads(exchange.response.body, parse_float=str)
                assert json.loads(came, parse_float=str) == recorded


def answered(url: str, target: str) -> Any:
    try:
        with urllib.request.urlopen(url + target) as response:
            return json.loads(response.read())
    except urllib.error.HTTPError as error:
        return json.loads(error.read())


def submitted(url: str, route: Route, deposit: str) -> str:
    client = Client(url)
    signed = {"Evmaddress": WALLET, "Signature": "0x" + "5a" * 65}
    body = {**submission(route), "sourceCerts": deposit}
    return str(client.send("POST", "/v1/submitOrder", signed, body)["data"]["id"])


def test_its_orders_are_those_of_the_world(kept):
    with world(kept.scenario) as (url, advance):
        order = submitted(url, kept.route, "4b" * 32)
        assert order in {item["id"] for item in control(url, "/orders")["orders"]}
        assert submitted(url, kept.route, "4b" * 32) == order
        assert submitted(url, kept.route, "4c" * 32) != order
        first = answered(url, f"/v1/checkOrder?id={order}")["data"]["status"]
        control(url, "/snapshots", {"name": "early"})
        advance(1_000)
        assert answered(url, f"/v1/checkOrder?id={order}")["data"]["status"] == "Succeeded"
        control(url, "/revert", {"name": "early"})
        assert answered(url, f"/v1/checkOrder?id={order}")["data"]["status"] == first
        forced = {"status": "Failed", "reason": "by hand"}
        control(url, f"/orders/{order}", forced)
        shown = answered(url, f"/v1/checkOrder?id={order}")["data"]
        assert (shown["status"], shown["reason"]) == ("Failed", "by hand")


def test_its_outages_are_seen_in_lists_and_quotes(kept):
    chain = kept.route.target
    with world(kept.scenario) as (url, _):
        before = answered(url, "/v1/getChain")["data"]["list"]
        control(url, "/outages", {"chain": chain, "mode": "delisted"})
        after = answered(url, "/v1/getChain")["data"]["list"]
        assert len(after) == len(before) - 1
        assert chain not in json.dumps(after)
        assert chain not in json.dumps(answered(url, "/open/v1/base/getSupportChains")["data"])
        quote = answered(
            url,
            f"/v1/getBridgeQuote?amount=12000000&symbol={kept.route.symbol}"
            f"&fromChain={kept.route.source}&toChain={chain}",
        )
        assert quote["code"] != 0


def test_texts_of_amounts_stay_to_the_digit(kept):
    text = kept.scenario.read_text()
    wanted = {
        "ferry": "1.10",
        "harbour": "0.00120",
        "lattice": "1.00",
        "caravan": "0.99950",
        "tollgate": "2.500000",
    }
    assert f"'{wanted[kept.name]}'" in text
    assert load_scenario(kept.scenario).templates["operations"]


def test_what_was_not_recorded_says_so(kept):
    with world(kept.scenario) as (url, _):
        inputs = {
            "chain": kept.route.source,
            "symbol": kept.route.symbol,
            "contractAddress": kept.route.bought,
        }
        target = f"/v1/getPrice?{urlencode(inputs)}"
        with urllib.request.urlopen(url + target) as response:
            assert "not recorded for" in response.headers["X-Mock-Source"]


def test_copies_of_it_answer_as_it_does(kept, tmp_path):
    """A fork, a restart from its state, and a dump in another server."""
    settings: dict[str, Any] = {
        "scenario": str(kept.scenario),
        "clock": "frozen",
        "refusals": "allow",
    }
    with running(**settings, state=tmp_path / "state") as first:
        url = first.url
        targets = [*known_to(url, kept.route), *reads(kept)]
        control(url, "/clock", {"advance": "20s"})
        shown = {target: answered(url, target) for target in targets}
        assert len(shown) > 12
        control(url, "/fork", {"to": "copy"})
        assert {target: answered(f"{url}/w/copy", target) for target in targets} == shown
        dump = control(url, "/dump")
    with running(**settings, state=tmp_path / "state") as second:
        assert {target: answered(second.url, target) for target in targets} == shown
    with running(**settings) as third:
        control(third.url, "/load", dump)
        assert {target: answered(third.url, target) for target in targets} == shown


def known_to(url: str, route: Route) -> list[str]:
    """Submit an order and report a problem; return the look-ups of both."""
    order = submitted(url, route, "4d" * 32)
    signed = {"Evmaddress": WALLET, "Signature": "0x" + "5a" * 65}
    report = {"hash": "0x" + "4d" * 32, "chain": route.source}
    ticket = Client(url).send("POST", "/v1/submitTicket", signed, report)["data"]["ticketId"]
    listed = urlencode({"address": WALLET, "filter": "Pending"})
    return [
        f"/v1/checkOrder?id={order}",
        f"/v1/checkTicket?ticketId={ticket}",
        f"/v1/getAllTicketByAddress?{listed}",
    ]


def reads(kept: Kept) -> list[str]:
    """Return what was recorded and only asks."""
    return [
        exchange.request.target
        for source in gather([str(kept.folder / "recorded")])
        for exchange in source.recording.exchanges
        if exchange.request.method == "GET" and not exchange.request.headers.get("appKey")
    ]


def test_a_capsule_of_it_is_replayed_byte_for_byte(kept, call):
    """Its answers have the layouts of the service, and so has the capsule."""
    settings = MockSettings(scenario=str(kept.scenario), clock="frozen")
    with running(settings, refusals="allow") as mock:
        client = Client(mock.url)
        later = partial(_later, mock.url)
        flow_v2(client, kept.route, later)
        flow_v1(client, kept.route, later)
        saved = call(
            *("capsule", "save", "flow.capsule"),
            *("--url", mock.url, "--scenario", str(kept.scenario)),
        )
    assert saved.returncode == 0, saved.stdout + saved.stderr
    again = call("capsule", "replay", "flow.capsule")
    assert f"{len(client.kept)} answers, byte for byte the same" in again.stdout
    with zipfile.ZipFile("flow.capsule") as packed:
        journal = "".join(
            packed.read(name).decode() for name in packed.namelist() if name.endswith(".yaml")
        )
    layouts = {
        layout for _, _, body in client.kept for layout, _ in filter(None, [layout_of(body)])
    }
    for layout in layouts - {"compact"}:
        assert f"layout: {layout}\n" in journal


def _later(url: str, seconds: float) -> None:
    control(url, "/clock", {"advance": f"{int(seconds)}s"})
