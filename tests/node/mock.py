"""A chain of a crosschain-mock server, as the behaviours use it."""

import itertools

from eth_utils import to_checksum_address

from tests.conftest import USDT_BNB
from tests.node.rpc import PAY, UNIT, Session, call, fetch

_worlds = itertools.count(1)
#: The contracts of BNB in the shipped scenario (facts: `chains.json`, `assets.json`).
PROXY = "0x99a57ac044e6ce44b7e161a07af0d3e693a75b54"
USDT_ARB = "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"
RECIPIENT = "0x" + "37" * 20
USDC_BNB = "0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d"


class MockChain:
    """A world of its own, whose clock stands, and its node of BNB; it makes no empty blocks."""

    token, second_token, proxy = USDT_BNB, USDC_BNB, PROXY

    def __init__(self, server: str, **options: object) -> None:
        key = f"node-{next(_worlds)}"
        self.server = f"{server}/w/{key}"
        self.control = f"{self.server}/__mock"
        made = {"key": key, "dialect": "observed", "clock": "frozen", "blockPace": "0s", **options}
        self._done(call(f"{server}/__mock/worlds", made))
        self.url = f"{self.control}/chains/BNB"

    def settle(self) -> None:
        """Nothing is put into a block later."""

    def fund(self, address: str, wei: int) -> None:
        self._give(address=address, units=str(wei), set=True)
        for symbol in ("USDT", "USDC"):
            self._give(address=address, token=symbol, units="0", set=True)

    def grant(self, address: str, token: str, units: int) -> None:
        symbol = "USDT" if token == self.token else "USDC"
        self._give(address=address, token=symbol, units=str(units))

    def payout(self) -> dict[str, str]:
        """Pay the vault for an order, let it come through and return what arrived, and where."""
        nothing = {"chain": "ARB", "token": "USDT", "units": "0", "set": True}
        self._give(address=RECIPIENT, **nothing)
        payer = Session(self).wallet(units=25 * UNIT)
        payer.invoke(self.token, "approve(address,uint256)", self.proxy, 25 * UNIT)
        order = f"chainge:ARB:{USDT_ARB}:{RECIPIENT}:0:1_24000000;3_2;4_1;5_ARB".encode()
        payer.invoke(self.proxy, PAY, self.token, 25 * UNIT, False, order, gas=500_000)
        call(f"{self.control}/clock", {"advance": "1h"})
        [order] = fetch(f"{self.control}/orders")["orders"]
        return {
            "url": f"{self.control}/chains/ARB",
            "hash": order["execHash"],
            "token": USDT_ARB,
            "recipient": to_checksum_address(RECIPIENT),
            "amount": order["amountOut"],
        }

    def _give(self, **body: object) -> None:
        self._done(call(f"{self.control}/faucet", {"chain": "BNB", **body}))

    def _done(self, answer: dict[str, object]) -> None:
        if "error" in answer or "msg" in answer:
            raise AssertionError(answer)
