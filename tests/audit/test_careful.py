"""Random clients that are careful, whatever happens to them: nothing is found."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests.audit.flows.payer import FINAL, FRIEND, Payer
from tests.conftest import WALLET, Client, Running, frozen, running

FAULTS: tuple[dict[str, Any], ...] = (
    {"kind": "reset-before-headers", "does": "done"},
    {"kind": "reset-before-headers"},
    {"kind": "http-status", "status": 503},
    {"kind": "http-status", "status": 504, "does": "done"},
    {"kind": "http-status", "status": 429},
    {"kind": "truncated-body"},
    {"kind": "broken-json"},
    {"kind": "refusal", "refusal": "chain-suspended"},
    {"kind": "http-status", "status": 500, "does": "done"},
    {"kind": "reset-after-headers"},
    {"kind": "empty-answer", "does": "done"},
    {"kind": "wrong-content-type"},
)
LATE: dict[str, Any] = {"kind": "latency", "delay": "45s"}
"""Only where the clock moves on by itself: else nobody would move it while a client waits."""
OPERATIONS = (
    *("submitOrder", "checkOrder", "getBridgeQuote", "submitTicket", "checkTicket"),
    *("getAggregateQuote", "getCrossChainQuote", "submitCrossChain"),
    "getOrderDetailByHashAndEvmAddress",
)
COURSES = ("success", "success", "success", "slow", "fail", "refund", "dropped", "stuck")
MODES = ("listed-dead", "quote-only", "accept-stall", "disabled", "lagging", "flapping")
COINS = {"BNB": "BNB", "ARB": "ETH", "ETH": "ETH", "POLYGON": "USDC"}
"""What is bought on a chain."""
V1_FINAL = (2, 3, 6)
BELIEVED = {"Succeeded": "arrived", "Refunded": "returned"}
ROUTES = (("ARB", "BNB"), ("BNB", "ARB"), ("POLYGON", "ETH"), ("ARB", "POLYGON"))
PATIENCE = 400
"""Steps after which a transfer must have come to its end."""
_DAYS_OF_LOOKS = 40
"""Looks, two hours apart, at an order that was reported: by then only a stuck one has no end."""


class Careful:
    """A client that quotes, pays once, submits that deposit until it is an order, and follows it.

    It may be killed at any step; of what it knew only the deposit is kept. It transfers and swaps,
    in 2.0 and v1, looks whether its payment is still on the chain, and says at the end what it
    believes.
    """

    def __init__(self, payer: Payer, random: Random) -> None:
        self.payer, self.random = payer, random
        self.stuck: list[str] = []

    def transfers(self) -> Iterator[None]:
        """Do some transfers, one after another or two at a time, a step for each `next`."""
        for number in range(self.random.randint(1, 3)):
            amount = str(self.random.choice([10, 25, 400]))
            together = [self.transfer(amount)]
            if self.random.random() < 0.4:
                together.append(self.transfer(str(1000 + number)))
            while together:
                flow = self.random.choice(together)
                try:
                    yield next(flow)
                except StopIteration:
                    together.remove(flow)
        for order in self.stuck:
            # An outage may have ended what nothing else did.
            while self.payer.look(order) is None:
                yield

    def transfer(self, amount: str) -> Iterator[None]:
        payer, random = self.payer, self.random
        source, target = random.choice(ROUTES)
        kind = random.choice(["transfer", "transfer", "swap", "v1"])
        if kind == "v1":
            yield from self.v1_transfer(amount, source, target)
            return
        swap = kind == "swap"
        while self.quote(amount, source, target, swap=swap) is None:
            self.pause()
            yield
        told = random.random() < 0.5
        paid = payer.pay(amount, chain=source) if told else payer.hash()
        order = None
        bought = COINS[target] if swap else None
        for step in range(PATIENCE):
            if told or step:
                # Of a payment that no chain shows only the submission tells when it was.
                yield
            if order is None:
                if told and not self.is_on_chain(source, paid):
                    # A reorganisation took it: what was paid then was never paid.
                    while self.quote(amount, source, target, swap=swap) is None:
                        self.pause()
                        yield
                    paid = payer.pay(amount, chain=source)
                order = payer.submit(paid, amount, source=source, target=target, bought=bought)
                if order is not None and step == 0:
                    self.steer(order)
            elif payer.look(order) in FINAL or step > PATIENCE // 2:
                break
            if random.random() < 0.1:
                # Killed: a submission of the same deposit brings the number of the order back.
                order = None
                if random.random() < 0.3:
                    payer.client.control("POST", "/claims", {"died": True})
            self.pause()
        yield from self.ended(order, paid, source)

    def v1_transfer(self, amount: str, source: str, target: str) -> Iterator[None]:
        """Transfer in v1, where an order is known by its deposit."""
        payer = self.payer
        while payer.v1_quote(amount, source, target) is None:
            self.pause()
            yield
        paid = payer.pay(amount, chain=source)
        taken = False
        for _ in range(PATIENCE):
            yield
            if not taken and self.is_on_chain(source, paid):
                taken = payer.v1_submit(paid, amount, source=source, target=target)
            elif not taken:
                while payer.v1_quote(amount, source, target) is None:
                    self.pause()
                    yield
                paid = payer.pay(amount, chain=source)
            else:
                seen = payer.v1_look(paid, source)
                if seen is not None and seen["order"]["status"] in V1_FINAL:
                    return
            if self.random.random() < 0.1:
                taken = False
            self.pause()

    def quote(self, amount: str, source: str, target: str, *, swap: bool) -> int | None:
        """Ask what arrives."""
        if swap:
            return self.payer.swap_quote(amount, ("USDT", source), (COINS[target], target))
        return self.payer.quote(amount, source, target)

    def is_on_chain(self, chain: str, paid: str) -> bool:
        """Ask the node of a chain whether a payment is in a block."""
        asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_getTransactionByHash", "params": [paid]}
        return self.payer.client.control("POST", f"/chains/{chain}", asked)["result"] is not None

    def ended(self, order: str | None, paid: str, source: str) -> Iterator[None]:
        """See to it that a client knows the end, and report what does not end well."""
        payer, ticket = self.payer, None
        for _ in range(_DAYS_OF_LOOKS):
            yield
            status = payer.look(order)
            if status in {"Succeeded", "Refunded", "Failed"}:
                if status in BELIEVED and self.random.random() < 0.5:
                    payer.believes(order=order, state=BELIEVED[status])
                return
            if status is not None and ticket is None:
                ticket = payer.ticket(paid, source)
            seen = None if ticket is None else payer.get("/v1/checkTicket", ticketId=str(ticket))
            if seen is not None and seen["succeeded"]:
                return
            payer.wait("2h")
        self.stuck += [order] if order else []

    def steer(self, order: str) -> None:
        """Choose what becomes of an order, unless it has ended already."""
        course = {"course": self.random.choice(COURSES)}
        self.payer.client.call("POST", f"/__mock/orders/{order}", body=course)

    def pause(self) -> None:
        self.payer.wait(self.random.choice(["1s", "5s", "30s", "2m", "20m"]))


def disturb(payer: Payer, random: Random, *, moves: bool) -> None:
    """Let something go wrong; answers may be late where the clock moves by itself."""
    if random.random() < 0.15:
        reorganise(payer, random)
        return
    if random.random() < 0.7:
        fault = dict(random.choice([*FAULTS, LATE] if moves else FAULTS))
        payer.fault(str(fault.pop("kind")), random.choice(OPERATIONS), **fault)
        return
    if not payer.client.control("GET", "/outages?which=active")["outages"]:
        stall = random.choice(["stall", "refund", "fail"])
        lasting: dict[str, Any] = {"for": random.choice(["20s", "10m", "3h"])}
        mode = random.choice(MODES)
        if mode == "lagging":
            lasting["lag"] = 3
        payer.outage(random.choice(["BNB", "ARB"]), mode, inFlight=stall, **lasting)


def reorganise(payer: Payer, random: Random) -> None:
    """Replace some blocks of a chain, with or without what was in them."""
    chain = random.choice(["ARB", "BNB", "POLYGON"])
    asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []}
    height = int(payer.client.control("POST", f"/chains/{chain}", asked)["result"], 16)
    if height:
        lose = random.choice([{}, {"lose": "all"}, {"lose": "pool"}])
        depth = random.randint(1, min(height, 6))
        payer.client.control("POST", f"/chains/{chain}/blocks", {"reorganise": depth, **lose})


@pytest.fixture(scope="module")
def served() -> Iterator[Running]:
    with running(frozen()) as started:
        yield started


SLICE = 250
"""How many seeds a test of a deep run tries, so that it takes some minutes at most."""


@pytest.mark.parametrize(
    "seeds",
    [
        range(60),
        *(
            pytest.param(range(begin, begin + SLICE), marks=pytest.mark.deep)
            for begin in range(10_000, 12_000, SLICE)
        ),
    ],
    ids=lambda seeds: f"from {seeds[0]}",
)
def test_careful_clients_are_never_accused(served: Running, seeds: range) -> None:
    accused = {}
    for seed in seeds:
        random = Random(seed)  # noqa: S311 - not for secrets
        client = Client(served.port, served.client.contract, prefix=f"/w/careful-{seed}")
        moves = random.random() < 0.3
        if moves:
            client.control("POST", "/clock", {"mode": "auto"})
        wallets = [WALLET, FRIEND] if random.random() < 0.3 else [WALLET]
        flows = [Careful(Payer(client, me), random).transfers() for me in wallets]
        while flows:
            flow = random.choice(flows)
            try:
                next(flow)
            except StopIteration:
                flows.remove(flow)
            if random.random() < 0.1:
                disturb(Payer(client), random, moves=moves)
        verdict = client.control("GET", "/audit")
        if not verdict["ok"]:
            accused[seed] = [finding["told"] for finding in verdict["findings"]]
        client.close()
        served.service.worlds.drop(f"careful-{seed}")
    assert not accused, "\n".join(f"{seed}: {said}" for seed, said in accused.items())
