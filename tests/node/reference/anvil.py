"""The development chain the answers were taken from: anvil, with tokens, a proxy and multicall3."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.node.rpc import call, invoke

CONTRACTS = json.loads((Path(__file__).parent / "contracts.json").read_text())
#: The first of anvil's own accounts, which it signs for.
OWNER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
MULTICALL = "0xcA11bde05977b3631167028862bE2a173976CA11"


class Anvil:
    """One running anvil; tokens are handed out by the token's own ``grant``."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.token = self._create("token")
        self.second_token = self._create("token")
        self.proxy = self._create("proxy")
        maker = self._create("multicall")
        self._ask("anvil_setCode", MULTICALL, self._ask("eth_getCode", maker, "latest"))

    def _ask(self, method: str, *params: object) -> object:
        answer = call(
            self.url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
        )
        if "error" in answer:
            raise AssertionError(answer)
        return answer["result"]

    def _send(self, **members: str) -> dict[str, str]:
        sent = self._ask("eth_sendTransaction", {"from": OWNER, "gas": hex(5_000_000), **members})
        self.settle()
        return self._ask("eth_getTransactionReceipt", sent)  # type: ignore[return-value]

    def _create(self, name: str) -> str:
        return self._send(data=CONTRACTS[name])["contractAddress"]

    def settle(self) -> None:
        """Wait until what can be mined is mined: anvil answers a little before it is."""
        until = time.monotonic() + 5
        while self._ask("txpool_status")["pending"] != "0x0" and time.monotonic() < until:  # type: ignore[index]
            time.sleep(0.002)

    def fund(self, address: str, wei: int) -> None:
        self._ask("anvil_setBalance", address, hex(wei))

    def grant(self, address: str, token: str, units: int) -> None:
        self._send(to=token, data=invoke("grant(address,uint256)", address, units))


@contextmanager
def anvil(program: str) -> Iterator[Anvil]:
    """Start the program at a port the system chooses and yield the chain."""
    arguments = [program, "--port", "0", "--chain-id", "56"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("Listening on "):
                    # It logs each call, and would stand still before a full pipe.
                    threading.Thread(target=process.stdout.read, daemon=True).start()
                    yield Anvil("http://" + line.removeprefix("Listening on ").strip())
                    return
        finally:
            process.terminate()
