"""Random clients that are careful, whatever happens to them: nothing is found."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests.audit.flows.payer import FINAL, Payer
from tests.conftest import Client, Running, frozen, running

FAULTS = (
    {"kind": "reset-before-headers", "does": "done"},
    {"kind": "reset-before-headers"},
    {"kind": "http-status", "status": 503},
    {"kind": "http-status", "status": 504, "does": "done"},
    {"kind": "http-status", "status": 429},
    {"kind": "truncated-body"},
    {"kind": "broken-json"},
    {"kind": "refusal", "refusal": "chain-suspended"},
)
OPERATIONS = ("submitOrder", "checkOrder", "getBridgeQuote", "submitTicket", "checkTicket")
COURSES = ("success", "success", "success", "slow", "fail", "refund", "dropped", "stuck")
MODES = ("listed-dead", "quote-only", "accept-stall", "disabled", "lagging")
ROUTES = (("ARB", "BNB"), ("BNB", "ARB"), ("POLYGON", "ETH"), ("ARB", "POLYGON"))
PATIENCE = 400
"""Steps after which a transfer must have come to its end."""
_DAYS_OF_LOOKS = 40
"""Looks, two hours apart, at an order that was reported: by then only a stuck one has no end."""


class Careful:
    """A client that quotes, pays once, submits that deposit until it is an order, and follows it.

    It may be killed at any step; of what it knew only the deposit is kept.
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
        while payer.quote(amount, source, target) is None:
            self.pause()
            yield
        told = random.random() < 0.5
        paid = payer.pay(amount, chain=source) if told else payer.hash()
        order = None
        for step in range(PATIENCE):
            if told or step:
                # Of a payment that no chain shows only the submission tells when it was.
                yield
            if order is None:
                order = payer.submit(paid, amount, source=source, target=target)
                if order is not None and step == 0:
                    self.steer(order)
            elif payer.look(order) in FINAL or step > PATIENCE // 2:
                break
            if random.random() < 0.1:
                # Killed: a submission of the same deposit brings the number of the order back.
                order = None
            self.pause()
        yield from self.ended(order, paid, source)

    def ended(self, order: str | None, paid: str, source: str) -> Iterator[None]:
        """See to it that a client knows the end, and report what does not end well."""
        payer, ticket = self.payer, None
        for _ in range(_DAYS_OF_LOOKS):
            yield
            status = payer.look(order)
            if status in {"Succeeded", "Refunded", "Failed"}:
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


def disturb(payer: Payer, random: Random) -> None:
    """Let something go wrong."""
    if random.random() < 0.7:
        fault = dict(random.choice(FAULTS))
        payer.fault(str(fault.pop("kind")), random.choice(OPERATIONS), **fault)
        return
    if not payer.client.control("GET", "/outages?which=active")["outages"]:
        stall = random.choice(["stall", "refund", "fail"])
        lasting: dict[str, Any] = {"for": random.choice(["20s", "10m", "3h"])}
        mode = random.choice(MODES)
        if mode == "lagging":
            lasting["lag"] = 3
        payer.outage(random.choice(["BNB", "ARB"]), mode, inFlight=stall, **lasting)


@pytest.fixture(scope="module")
def served() -> Iterator[Running]:
    with running(frozen()) as started:
        yield started


@pytest.mark.parametrize(
    "seeds",
    [range(100), pytest.param(range(100, 2000), marks=pytest.mark.deep)],
    ids=["quick", "deep"],
)
def test_careful_clients_are_never_accused(served: Running, seeds: range) -> None:
    accused = {}
    for seed in seeds:
        random = Random(seed)  # noqa: S311 - not for secrets
        client = Client(served.port, served.client.contract, prefix=f"/w/careful-{seed}")
        payer = Payer(client)
        for _ in Careful(payer, random).transfers():
            if random.random() < 0.1:
                disturb(payer, random)
        verdict = client.control("GET", "/audit")
        if not verdict["ok"]:
            accused[seed] = [finding["told"] for finding in verdict["findings"]]
        client.close()
        served.service.worlds.drop(f"careful-{seed}")
    assert not accused, "\n".join(f"{seed}: {said}" for seed, said in accused.items())
