"""On Tron, Solana and Kaspa, too, what the node says adds up to what was sent and what arrived.

Random histories of payments, faucets, blocks, waits, dumps that are loaded, and payments that fail;
`--deep` runs more and longer ones.
"""

import random
from collections.abc import Callable

import pytest

from tests.node import test_kaspa as kaspa
from tests.node import test_solana as solana
from tests.node import test_tron as tron
from tests.node.mock import MockChain
from tests.node.rpc import call, fetch


class Books:
    """A wallet's payments to the vault, kept beside what the node says of its balance."""

    chain = ""

    def __init__(self, control: str) -> None:
        self.control = control
        self.owned = self.balance()

    def balance(self) -> int:
        raise NotImplementedError

    def pay(self, units: int) -> int:
        """Pay the vault, and return what that took from the wallet, fees included."""
        raise NotImplementedError

    def given(self, units: int) -> None:
        body = {"chain": self.chain, "address": self.address(), "units": str(units)}
        assert "error" not in call(f"{self.control}/faucet", body)
        self.owned += units

    def address(self) -> str:
        raise NotImplementedError


class SolanaBooks(Books):
    chain = "SOL"

    def __init__(self, control: str) -> None:
        self.wallet = solana.Wallet(control, 7)
        super().__init__(control)

    def address(self) -> str:
        return str(self.wallet.address)

    def balance(self) -> int:
        return int(self.wallet.lamports())

    def pay(self, units: int) -> int:
        moved = solana.coins(self.wallet.address, solana.VAULT, units)
        before = self.vault()
        # Without a look ahead it is taken, fails in a block, and costs its fee.
        sent = self.wallet.send(moved, skipPreflight=True)["result"]
        [status] = self.wallet.value("getSignatureStatuses", [sent])
        arrived = self.vault() - before
        assert arrived == (0 if status["err"] else units)
        shown = self.wallet.rpc("getTransaction", sent, {"encoding": "json"})["meta"]
        assert shown["postBalances"][0] == self.balance()
        return arrived + solana.FEE

    def vault(self) -> int:
        return int(self.wallet.lamports(solana.VAULT))


class TronBooks(Books):
    chain = "TRX"

    def __init__(self, control: str) -> None:
        self.wallet = tron.Wallet(control, 7)
        super().__init__(control)

    def address(self) -> str:
        return str(tron._base58(self.wallet.address))

    def balance(self) -> int:
        return int(self.wallet.balance())

    def pay(self, units: int) -> int:
        proposed = self.wallet.paid(tron.VAULT, units)
        if "raw_data_hex" not in proposed:
            assert units > self.balance(), proposed
            return 0
        sent = self.wallet.send(proposed)
        assert sent["result"], sent
        return units + int(self.wallet.info(sent).get("fee", 0))


class KaspaBooks(Books):
    chain = "KAS"

    def __init__(self, control: str) -> None:
        self.wallet = kaspa.Wallet(control, 7)
        super().__init__(control)

    def address(self) -> str:
        return str(self.wallet.address)

    def balance(self) -> int:
        assert self.wallet.balance() == kaspa._sum(self.wallet)
        return int(self.wallet.balance())

    def pay(self, units: int) -> int:
        answer = self.wallet.send(self.wallet.payment(units))
        if "transactionId" not in answer:
            assert units + 2_000 > self.owned, answer
            return 0
        shown = self.wallet.get(f"/transactions/{answer['transactionId']}?outputs=true")
        assert shown["outputs"][0]["amount"] == units
        return units + 2_000


KINDS: list[Callable[[str], Books]] = [SolanaBooks, TronBooks, KaspaBooks]


def _played(server: str, kind: Callable[[str], Books], seed: int, steps: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - histories, no secrets
    control = MockChain(server, blockPace="2s").control
    books = kind(control)
    for _ in range(steps):
        step = chance.choice(["pay", "pay", "too much", "give", "mine", "wait", "load", "revert"])
        if step == "pay":
            books.owned -= books.pay(chance.choice([1, 5, 20]) * 10**6)
        elif step == "too much":
            books.owned -= books.pay(books.owned + 10**12)
        elif step == "give":
            books.given(chance.choice([1, 7 * 10**6]))
        elif step == "mine":
            call(f"{control}/chains/{books.chain}/blocks", {"mine": chance.randint(1, 5)})
        elif step == "wait":
            call(f"{control}/clock", {"advance": chance.choice(["1s", "7s", "10m"])})
        elif step == "load":
            call(f"{control}/load", fetch(f"{control}/dump"))
        else:
            call(f"{control}/snapshots", {"name": "then"})
            books.pay(10**6)
            call(f"{control}/revert", {"name": "then"})
        assert books.balance() == books.owned, step


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.deep(quick=3)
def test_balances_are_what_was_paid_and_given(server, kind, seed):
    _played(server, kind, seed, 25)


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(100, 112))
def test_balances_are_what_was_paid_and_given_in_long_histories(server, kind, seed):
    _played(server, kind, seed, 120)
