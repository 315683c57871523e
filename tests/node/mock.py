"""A chain of a crosschain-mock server, as the behaviours use it."""

import itertools

from tests.conftest import USDT_BNB
from tests.node.rpc import call

_worlds = itertools.count(1)
#: The contracts of BNB in the shipped scenario (facts: `chains.json`, `assets.json`).
PROXY = "0x99a57ac044e6ce44b7e161a07af0d3e693a75b54"
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

    def _give(self, **body: object) -> None:
        self._done(call(f"{self.control}/faucet", {"chain": "BNB", **body}))

    def _done(self, answer: dict[str, object]) -> None:
        if "error" in answer or "msg" in answer:
            raise AssertionError(answer)
