"""A machine plays clients of both flows: silent where one is careful, short where one is not."""

import json
import urllib.request
from decimal import Decimal
from http.client import HTTPException
from itertools import count
from typing import Any, ClassVar
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, Phase, settings

from examples.python.wallet import Node, ServiceLost, ServiceRefused, Wallet
from mockserver.machine import CrosschainMachine, State, Transfer
from mockserver.testing import BadSetting, MockCheckFailed
from tests.conftest import WALLET, costly, v1_submission

FEW = settings(
    costly(15, 1000),
    deadline=None,
    stateful_step_count=12,
    database=None,
    derandomize=True,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
QUICK = settings(FEW, max_examples=500, phases=[Phase.generate])
SHRUNK = settings(FEW, max_examples=50, phases=[Phase.generate, Phase.shrink])

V2_ENDS: dict[str, State] = {"Succeeded": "arrived", "Failed": "failed", "Refunded": "failed"}
V1_ENDS: dict[int, State] = {2: "arrived", 3: "failed", 6: "arrived"}


class WalletMachine(CrosschainMachine):
    """A client that pays once for each transfer, and keeps what it paid."""

    gives_up = (ServiceLost, ServiceRefused)

    def start(self) -> None:
        self.node = Node()
        self.paid: dict[Transfer, Node] = {}
        self.restart()

    def restart(self) -> None:
        self.wallet = Wallet(self.world.base_url_v2, self.node)

    def send(self, transfer: Transfer) -> str:
        # Each transfer has a node of its own, whose only deposit is the same each time.
        paid = self.paid.setdefault(transfer, Once(self.node))
        wallet = Wallet(self.world.base_url_v2, paid)
        return wallet.send(transfer.units, transfer.symbol, transfer.source, transfer.target)

    def state(self, order: str) -> State:
        return V2_ENDS.get(self.wallet.status(order), "underway")

    def quote(self, transfer: Transfer) -> Decimal:
        return transfer.whole_tokens(
            self.wallet.receives(transfer.units, transfer.symbol, transfer.source, transfer.target)
        )


class Once(Node):
    """Pays through another node, one deposit and no more."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node

    def pay(self, chain, token_index, amount):
        if not self.deposits:
            self.deposits.append(self.node.pay(chain, token_index, amount))
        return self.deposits[0]


class PayingAgain(WalletMachine):
    """Pays once more for whatever it was not answered."""

    def send(self, transfer: Transfer) -> str:
        wallet = Wallet(self.world.base_url_v2, self.node)
        for _ in range(2):
            try:
                return wallet.send(
                    transfer.units, transfer.symbol, transfer.source, transfer.target
                )
            except ServiceLost:
                continue
        raise ServiceLost("twice")


class Losing(WalletMachine):
    """Takes a submission that was not answered for one that went well."""

    def send(self, transfer: Transfer) -> str:
        try:
            return super().send(transfer)
        except (ServiceLost, ServiceRefused):
            return ""


class Hasty(WalletMachine):
    """Takes every order that has not succeeded for a failed one."""

    def state(self, order: str) -> State:
        return "arrived" if self.wallet.status(order) == "Succeeded" else "failed"


class Undoing(WalletMachine):
    """Takes a check that was not answered for an order that has not ended."""

    def state(self, order: str) -> State:
        try:
            return super().state(order)
        except ServiceLost:
            return "underway"


class GivingUp(WalletMachine):
    """Looks at an order a few times only, and then for ever says what it saw."""

    def start(self) -> None:
        super().start()
        self.seen: dict[str, State] = {}

    def state(self, order: str) -> State:
        if order not in self.seen:
            self.seen[order] = super().state(order)
        return self.seen[order]


class Rounding(WalletMachine):
    """Reckons with floats, which do not hold 18 decimals."""

    def send(self, transfer: Transfer) -> str:
        units = int(float(transfer.amount) * 10 ** (len(str(transfer.units)) - 2))
        return self.wallet.send(units, transfer.symbol, transfer.source, transfer.target)


class SixDecimals(WalletMachine):
    """Takes six decimals for those of every chain."""

    def quote(self, transfer: Transfer) -> Decimal:
        return super().quote(transfer).scaleb(transfer.target_decimals - 6)


class CountingTwice(WalletMachine):
    """Says of everything that arrives that it is the amount sent."""

    sums: ClassVar[dict[str, Decimal]] = {}

    def send(self, transfer: Transfer) -> str:
        order = super().send(transfer)
        self.sums[order] = transfer.amount
        return order

    def received(self, order: str) -> Decimal:
        return self.sums[order]


class TransferMachine(CrosschainMachine):
    """A client of v1 that submits the same deposit until it is answered."""

    flows = ("v1",)
    gives_up = (ServiceLost, ServiceRefused)

    def start(self) -> None:
        self.numbers = count(1)
        self.hashes: dict[Transfer, str] = {}
        self.chains: dict[str, str] = {}

    def send(self, transfer: Transfer) -> str:
        if transfer not in self.hashes:
            self.hashes[transfer] = f"0x{next(self.numbers):0>63}f"
        deposit = self.hashes[transfer]
        self.call(
            "submitCrossChain",
            v1_submission(
                fromAmount=float(transfer.amount),
                fromChain=transfer.source,
                fromToken=transfer.symbol,
                certHash=deposit,
                toChain=transfer.target,
            ),
        )
        self.chains[deposit] = transfer.source
        return deposit

    def state(self, order: str) -> State:
        asked = urlencode({"chain": self.chains[order], "hash": order, "evmAddress": WALLET})
        told = self.call(f"getOrderDetailByHashAndEvmAddress?{asked}")
        return V1_ENDS.get(told["order"]["status"], "underway")

    def call(self, target: str, body=None):
        request = urllib.request.Request(
            f"{self.world.base_url}/open/v1/order/{target}",
            None if body is None else json.dumps(body).encode(),
            {
                "appKey": "a",
                "expireTime": "15000",
                "timestamp": str(self.world.clock.ms),
                "signature": "ab",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                found = json.load(answer)
        except (OSError, HTTPException, ValueError) as error:
            raise ServiceLost(str(error)) from error
        if found["code"] != 0:
            raise ServiceRefused(found["msg"])
        return found["data"]


class FreshDeposits(TransferMachine):
    """Makes a new deposit for each attempt."""

    def send(self, transfer: Transfer) -> str:
        self.hashes.pop(transfer, None)
        return super().send(transfer)


@pytest.mark.parametrize("machine", [WalletMachine, TransferMachine])
@pytest.mark.deep(quick=1)
def test_a_careful_client_of_either_flow_passes(crosschain_mock, machine):
    machine.play(crosschain_mock, settings=FEW)


@pytest.mark.parametrize(
    ("machine", "told"),
    [
        (Losing, "is lost: send"),
        (Hasty, "is reported as failed, by the service as"),
        (Undoing, "is undone: it was"),
        (GivingUp, "is reported as underway for ever"),
        (Rounding, "nobody requested what"),
        (SixDecimals, "money is made"),
        (CountingTwice, "money is made"),
        (FreshDeposits, "was moved 2 times"),
    ],
)
@pytest.mark.deep(quick=3)
def test_a_careless_client_is_told_what_it_does(crosschain_mock, machine, told):
    with pytest.raises(MockCheckFailed, match=told):
        machine.play(crosschain_mock, settings=QUICK)
    crosschain_mock.reset()


def test_what_fails_is_shrunk_to_the_steps_that_it_takes(crosschain_mock):
    with pytest.raises(MockCheckFailed, match="was moved 2 times") as caught:
        PayingAgain.play(crosschain_mock, settings=SHRUNK)
    crosschain_mock.reset()
    steps = [line for line in "\n".join(caught.value.__notes__).splitlines() if "state." in line]
    assert [line.partition("state.")[2].partition("(")[0] for line in steps][:-1] in (
        ["send_one"],
        ["send_one", "send_again"],
    )


def test_a_machine_needs_a_world_and_knows_its_words(crosschain_mock):
    with pytest.raises(BadSetting, match=r"play this machine with WalletMachine.play"):
        WalletMachine()

    class OddMachine(WalletMachine):
        def state(self, order):
            return "Succeeded"

    with pytest.raises(BadSetting, match="expected one of underway, arrived, failed"):
        OddMachine.play(crosschain_mock, settings=QUICK)
    crosschain_mock.reset()


@pytest.mark.parametrize(
    ("base", "defined", "told"),
    [
        (CrosschainMachine, {}, r"Odd defines no start\(\); it needs start, send, state"),
        (CrosschainMachine, {"start": print, "send": print}, r"Odd defines no state\(\)"),
        (WalletMachine, {"flows": ("v3",)}, r"flows: expected some of v1, v2, got \('v3',\)"),
        (WalletMachine, {"flows": "v2"}, "flows: expected some of v1, v2, got 'v2'"),
        (WalletMachine, {"flows": ()}, "flows: expected some of v1, v2"),
        (
            WalletMachine,
            {"routes": ("ARB",)},
            r"routes: expected some such as Route\(symbol='USDT'",
        ),
        (WalletMachine, {"routes": ()}, "routes: expected some such as"),
    ],
)
def test_a_machine_that_cannot_be_played_says_why(crosschain_mock, base, defined, told):
    odd: Any = type("Odd", (base,), defined)
    with pytest.raises(BadSetting, match=told):
        odd.play(crosschain_mock)


def test_a_machine_without_a_world_has_a_server_of_its_own():
    WalletMachine.play(settings=settings(FEW, max_examples=2))
