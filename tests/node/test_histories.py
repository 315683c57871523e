"""Logs, receipts, books and balances agree with each other after any history.

Random histories of payments, approvals, orders with each kind of end, faucets, blocks,
reorganisations, snapshots and forks; `--deep` runs more and longer ones.
"""

import random
from collections import Counter
from typing import Any

import pytest

from tests.node.mock import USDT_ARB, MockChain
from tests.node.rpc import ETHER, PAY, TRANSFER, UNIT, ZERO, Session, call, fetch, padded

STRANGERS = tuple("0x" + digits * 20 for digits in ("51", "52", "53"))
COURSES = ("success", "refund", "fail", "dropped", "slow")


class History:
    """A world in which random things happen, and all that is said of it afterwards."""

    def __init__(self, server: str, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - histories, no secrets
        self.chain = MockChain(server, blockPace="2s")
        self.node = Session(self.chain)
        self.wallets = [self.node.wallet(50 * ETHER, 1000 * UNIT) for _ in range(3)]
        self.people = [*(wallet.address.lower() for wallet in self.wallets), *STRANGERS]
        for person in self.people:
            for symbol in ("USDT", "ETH"):
                nothing = {"chain": "ARB", "token": symbol, "units": "0", "set": True}
                self.control("faucet", address=person, **nothing)
        for person in STRANGERS:
            self.chain.fund(person, 0)

    def control(self, path: str, **body: object) -> object:
        answer = call(f"{self.chain.control}/{path}", body)
        assert "error" not in answer, (path, body, answer)
        assert "msg" not in answer, (path, body, answer)
        return answer

    def run(self, steps: int) -> None:
        kinds = [getattr(self, name) for name in dir(self) if name.startswith("do_")]
        for _ in range(steps):
            self.random.choice(kinds)()

    def do_pay_tokens(self) -> None:
        wallet, to = self.random.choice(self.wallets), self.random.choice(self.people)
        units = self.random.choice((0, 1, 5 * UNIT, 10**30))
        wallet.invoke(self.chain.token, "transfer(address,uint256)", to, units)

    def do_pay_coins(self) -> None:
        wallet, to = self.random.choice(self.wallets), self.random.choice(self.people)
        wallet.send(to=to, value=self.random.choice((0, 7, ETHER // 100)))

    def do_pay_the_vault_directly(self) -> None:
        wallet = self.random.choice(self.wallets)
        wallet.invoke(self.chain.token, "transfer(address,uint256)", self.chain.proxy, UNIT)

    def do_approve_and_take(self) -> None:
        owner, spender = self.random.sample(self.wallets, 2)
        allowed, taken = self.random.sample((0, 2 * UNIT, 3 * UNIT), 2)
        owner.invoke(self.chain.token, "approve(address,uint256)", spender.address, allowed)
        what = "transferFrom(address,address,uint256)"
        to = self.random.choice(self.people)
        spender.invoke(self.chain.token, what, owner.address, to, taken)

    def do_order(self) -> None:
        wallet, to = self.random.choice(self.wallets), self.random.choice(self.people)
        units = self.random.choice((20, 60)) * UNIT
        if self.random.random() < 0.8:
            wallet.invoke(self.chain.token, "approve(address,uint256)", self.chain.proxy, units)
        order = f"chainge:ARB:{USDT_ARB}:{to}:0:1_{10**9};3_2;4_1;5_ARB".encode()
        wallet.invoke(self.chain.proxy, PAY, self.chain.token, units, False, order, gas=500_000)

    def do_steer(self) -> None:
        orders = fetch(f"{self.chain.control}/orders")["orders"]
        moving = [order for order in orders if order["status"] in ("Unknown", "Pending")]
        if moving:
            order = self.random.choice(moving)
            self.control(f"orders/{order['id']}", course=self.random.choice(COURSES))

    def do_wait(self) -> None:
        self.control("clock", advance=self.random.choice(("1s", "7s", "40s", "10m")))

    def do_mine(self) -> None:
        self.control("chains/BNB/blocks", mine=self.random.choice((1, 5)))

    def do_reorganise(self) -> None:
        chain = self.random.choice(("BNB", "ARB"))
        height = int(self._rpc(chain, "eth_blockNumber"), 16)
        if height:
            depth = self.random.randint(1, min(height, 12))
            self.control(f"chains/{chain}/blocks", reorganise=depth)

    def do_give(self) -> None:
        self.chain.grant(self.random.choice(self.people), self.chain.token, UNIT)

    def do_leave_a_gap(self) -> None:
        wallet = self.random.choice(self.wallets)
        wallet.send(to=self.random.choice(self.people), value=3, nonce=wallet.nonce + 50)

    def do_snapshot_and_revert(self) -> None:
        nonces = [wallet.nonce for wallet in self.wallets]
        self.control("snapshots", name="before")
        self.do_order()
        self.do_wait()
        self.do_pay_tokens()
        self.control("revert", name="before")
        for wallet, nonce in zip(self.wallets, nonces, strict=True):
            wallet.nonce = nonce

    def do_dump_and_load(self) -> None:
        call(f"{self.chain.control}/load", fetch(f"{self.chain.control}/dump"))

    # --- what is said of it ---

    def _rpc(self, chain: str, method: str, *params: object) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
        return call(f"{self.chain.control}/chains/{chain}", body)["result"]

    def check(self) -> None:
        for chain, token in (("BNB", self.chain.token), ("ARB", USDT_ARB)):
            self._check_logs(chain, token)
        self._check_receipts()
        self._check_coins()

    def _balance(self, chain: str, token: str, owner: str) -> int:
        asked = {"to": token, "data": "0x70a08231" + padded(owner)[2:]}
        return int(self._rpc(chain, "eth_call", asked, "latest"), 16)

    def _check_logs(self, chain: str, token: str) -> None:
        """Add up the transfers of a token: the logs say what everybody owns."""
        logs = self._rpc(chain, "eth_getLogs", {"fromBlock": "0x0", "address": token})
        sums: Counter[str] = Counter()
        for log in logs:
            assert (
                log["blockHash"]
                == self._rpc(chain, "eth_getBlockByNumber", log["blockNumber"], False)["hash"]
            )
            if log["topics"][0] == TRANSFER:
                payer, receiver = ("0x" + topic[26:] for topic in log["topics"][1:])
                sums[payer] -= int(log["data"], 16)
                sums[receiver] += int(log["data"], 16)
        # The vault, and wallets on BNB, own the scenario's opening balance before the first log.
        first = {
            owner: self._before(chain, token, owner) for owner in (*self.people, self._vault(chain))
        }
        for owner, opening in first.items():
            assert self._balance(chain, token, owner) == opening + sums[owner], (chain, owner)
        for person in self.people:
            query = f"v1/getBalance?chain={chain}&contractAddress={token}&address={person}"
            told = fetch(f"{self.chain.server}/{query}")["data"]["balance"]
            assert int(told) == self._balance(chain, token, person)

    def _vault(self, chain: str) -> str:
        if chain == "BNB":
            return self.chain.proxy
        listed = fetch(f"{self.chain.server}/v1/getChain")["data"]["list"]
        [proxy] = [each["builtInMinterProxyV2"] for each in listed if each["nickName"] == chain]
        return str(proxy).lower()

    def _before(self, chain: str, token: str, owner: str) -> int:
        """Return what an address owned before everything: what nobody else ever named has it."""
        nobody = "0x" + "77" * 20
        return self._balance(chain, token, nobody)

    def _check_receipts(self) -> None:
        listed = self._rpc("BNB", "eth_getLogs", {"fromBlock": "0x0"})
        height = int(self._rpc("BNB", "eth_blockNumber"), 16)
        shown, parent = [], "0x" + "0" * 64
        for number in range(height + 1):
            block = self._rpc("BNB", "eth_getBlockByNumber", hex(number), False)
            assert block["parentHash"] == parent
            parent = block["hash"]
            for sent in block["transactions"]:
                receipt = self._rpc("BNB", "eth_getTransactionReceipt", sent)
                assert receipt["blockHash"] == block["hash"]
                assert receipt["gasUsed"] == block["gasUsed"]
                shown += receipt["logs"]
        assert shown == listed

    def _check_coins(self) -> None:
        """Add up value and gas of all blocks: they say what each wallet has of the coin."""
        owned = Counter(dict.fromkeys((each.address.lower() for each in self.wallets), 50 * ETHER))
        for number in range(int(self._rpc("BNB", "eth_blockNumber"), 16) + 1):
            block = self._rpc("BNB", "eth_getBlockByNumber", hex(number), True)
            for tx in block["transactions"]:
                receipt = self._rpc("BNB", "eth_getTransactionReceipt", tx["hash"])
                if tx["from"] == ZERO or int(tx["gas"], 16) == 0:
                    continue
                price, used = receipt["effectiveGasPrice"], receipt["gasUsed"]
                owned[tx["from"]] -= int(price, 16) * int(used, 16)
                if receipt["status"] == "0x1":
                    owned[tx["from"]] -= int(tx["value"], 16)
                    owned[tx["to"]] += int(tx["value"], 16)
        for wallet in self.wallets:
            owner = wallet.address.lower()
            assert int(self._rpc("BNB", "eth_getBalance", owner, "latest"), 16) == owned[owner]
            sent = int(self._rpc("BNB", "eth_getTransactionCount", owner, "latest"), 16)
            assert sent == wallet.nonce


def _checked(server: str, seed: int, steps: int) -> None:
    history = History(server, seed)
    for _ in range(2):
        history.run(steps // 2)
        history.check()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.deep(quick=1)
def test_books_logs_and_balances_agree(server, seed):
    _checked(server, seed, 30)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 120))
def test_books_logs_and_balances_agree_after_long_histories(server, seed):
    _checked(server, seed, 120)
