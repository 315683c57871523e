"""A client whose server, world and chain are not what they were a moment ago."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from eth_account import Account
from eth_utils import to_checksum_address

from tests.audit.flows.payer import Payer
from tests.conftest import Client, Running, frozen, running

DECIMALS = {
    "format": "crosschain-mock/scenario@1",
    "extends": "default",
    "title": "Tokens of no decimals, and of 24",
    "prices": {"usd": {"POINT": "5", "YOCTO": "4"}},
    "catalog": {
        "assets": [
            {
                "symbol": symbol,
                "name": symbol.title(),
                "index": index,
                "cmcid": index,
                "basis": "assumed",
                "source": "chosen for these tests",
                "assumed": [],
                "contracts": {
                    chain: {"address": f"0x{index:038d}{place:02d}", "decimals": decimals}
                    for place, (chain, decimals) in enumerate(contracts.items())
                },
            }
            for symbol, index, contracts in (
                ("POINT", 901, {"ARB": 0, "BNB": 18}),
                ("YOCTO", 902, {"ARB": 24, "BNB": 6}),
            )
        ]
    },
}
"""A scenario with two tokens beside the shipped ones."""


@dataclass
class House:
    """A server that keeps its worlds in a folder, and can be ended and started again."""

    folder: Path
    settings: dict[str, Any] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)
    server: Running | None = None

    def start(self) -> Running:
        """Serve what the folder holds."""
        if self.server is not None:
            # As a process that ends in order; what was committed is all that is left of it.
            self.server.service.close()
        self.stack.close()
        served = running(frozen(state=self.folder / "state", **self.settings))
        self.server = self.stack.enter_context(served)
        return self.server


@dataclass
class Mover(Payer):
    """A payer that lives through restarts, forks, reverts, and reads of a journal cut short."""

    house: House | None = None
    world: str = "flow"

    def restart(self) -> Self:
        """End the server, start it again with its state, and go on without the lists."""
        assert self.house is not None
        self.client.close()
        self.client.port = self.house.start().port
        self.lists.clear()
        return self

    def moved(self, world: str) -> Self:
        """Go on in a world of the same server, as does everybody who shares the client."""
        self.world, self.client.prefix = world, f"/w/{world}"
        return self

    def fork(self) -> Self:
        """Go on in a fork."""
        self.client.control("POST", "/fork", {"to": f"fork-of-{self.world}"})
        return self.moved(f"fork-of-{self.world}")

    def load(self) -> Self:
        """Go on in another world, into which this one is loaded."""
        dump = self.client.control("GET", "/dump")
        self.moved(f"copy-of-{self.world}")
        self.client.control("POST", "/load", dump)
        return self

    def snapshot(self) -> None:
        """Remember the world as it is."""
        self.client.control("POST", "/snapshots", {"name": "then"})

    def revert(self) -> None:
        """Return to the world as it was."""
        self.client.control("POST", "/revert", {"name": "then"})

    def forget(self) -> None:
        """Clear the journal."""
        self.client.control("DELETE", "/journal")

    def claim(self, **said: Any) -> None:
        """Send a body of claims."""
        self.client.control("POST", "/claims", said)


@dataclass
class Uprooted(Mover):
    """A payer to whose server something happens right before its first submission, or after it."""

    move: str = "restart"
    late: bool = False
    is_done: bool = False

    def submit(self, *arguments: Any, **more: Any) -> str | None:
        """Submit a deposit of 2.0."""
        with self.uprooted():
            return super().submit(*arguments, **more)

    def v1_submit(self, *arguments: Any, **more: Any) -> bool:
        """Submit a deposit of v1."""
        with self.uprooted():
            return super().v1_submit(*arguments, **more)

    @contextmanager
    def uprooted(self) -> Iterator[None]:
        """Have it happen before what is done, or after it."""
        done, self.is_done = self.is_done, True
        if not done and not self.late:
            getattr(self, self.move)()
        yield
        if not done and self.late:
            getattr(self, self.move)()


@dataclass
class Signer:
    """A wallet that signs itself and sends what it pays with on Arbitrum to the chain's node."""

    payer: Payer
    key: str = "0x" + "42" * 32
    price: int = 0

    def __post_init__(self) -> None:
        """Be the payer from now on."""
        self.payer.me = Account.from_key(self.key).address
        self.price = int(self.ask("eth_gasPrice")["result"], 16)

    def ask(self, method: str, *params: object) -> Any:
        """Return the node's answer."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.payer.client.control("POST", "/chains/ARB", body)

    def signed(self, nonce: int = 0, fee: int = 1, chain_id: int = 42161) -> tuple[str, str]:
        """Return a deposit of 10 USDT, signed, and its hash; `fee` is in prices of gas."""
        target = int(self.payer.proxy("ARB"), 16)
        token = self.payer.token("USDT", "ARB")["contractAddress"]
        wanted = {
            "nonce": nonce,
            "gasPrice": fee * self.price,
            "gas": 200_000,
            "to": to_checksum_address(token),
            "value": 0,
            "data": f"0xa9059cbb{target:064x}{10**7:064x}",
            "chainId": chain_id,
        }
        made = Account.sign_transaction(wanted, self.key)
        return f"0x{made.raw_transaction.hex()}", f"0x{made.hash.hex()}"

    def send(self, raw: str) -> str:
        """Send a signed transaction and return why it was refused, or nothing."""
        error: dict[str, str] = self.ask("eth_sendRawTransaction", raw).get("error", {})
        return error.get("message", "")

    def pay(self, nonce: int = 0, fee: int = 1, chain_id: int = 42161) -> str:
        """Send a deposit, whatever the node says of it, and return its hash."""
        raw, paid = self.signed(nonce, fee, chain_id)
        self.send(raw)
        return paid

    def give(self, amount: str) -> None:
        """Have the wallet own so much of the chain's coin."""
        body = {"chain": "ARB", "address": self.payer.me, "amount": amount, "set": True}
        self.payer.client.control("POST", "/faucet", body)


TRON, SOLANA, KASPA = "TRX", "SOL", "KAS"
_VAULTS = {
    SOLANA: "8NBxBnNZydvMbZ9AoTkEnmMnCM2A9FNHr7pkLktpni2R",
    KASPA: "kaspa:qpgmt2dn8wcqf0436n0kueap7yx82n7raurlj6aqjc3t3wm9y5ssqtg9e4lsm",
}
"""What `getVaultAddress`, which the documented dialect lacks, says of chains without contracts."""
_COINS = {SOLANA: ("SOL", 9), KASPA: ("KAS", 8), TRON: ("USDT", 6)}


@dataclass
class Foreigner:
    """A wallet of a chain that has no contracts of Ethereum, which pays and orders with a payer."""

    payer: Payer
    chain: str
    me: str
    sent: int = 0

    def vault(self) -> str:
        """Return where deposits of the chain go."""
        return _VAULTS[self.chain] if self.chain in _VAULTS else self.payer.proxy(self.chain)

    def pay(self, amount: str, to: str) -> str:
        """Announce a payment of the coin, or on Tron of USDT, and return its hash."""
        self.sent += 1
        symbol, _ = _COINS[self.chain]
        units = str(self.payer.units(amount, symbol, self.chain))
        paid = self.hash()
        told = {"chain": self.chain, "hash": paid, "from": self.me, "to": to}
        if self.chain == TRON:
            token = self.payer.token("USDT", TRON)["contractAddress"]
            data = f"0xa9059cbb{_hex(to):0>64}{int(units):064x}"
            told |= {"to": token, "data": data}
        else:
            told["value"] = units
        self.payer.client.control("POST", "/transactions", told)
        return paid

    def hash(self) -> str:
        """Return a hash in the chain's own form."""
        raw = hashlib.sha512(f"{self.chain} {self.sent}".encode()).digest()
        return _base58(raw) if self.chain == SOLANA else raw[:32].hex()

    def order(self, paid: str, amount: str, target: str = "BNB", **body: str) -> str | None:
        """Submit a deposit."""
        symbol, _ = _COINS[self.chain]
        token = self.payer.token(symbol, self.chain)
        certificate = {
            "fromAmount": str(self.payer.units(amount, symbol, self.chain)),
            "fromIndex": str(token["index"]),
            "fromChain": self.chain,
            "fromAddr": self.me,
            "certHash": paid,
            "fromPublicKey": "",
            "signature": "123456",
        }
        # What is paid out in the other chain's coin is a swap.
        bought = self.payer.token("USDT", target)
        wanted = {
            "channel": "blind",
            "execStrategy": "",
            "extra": "",
            "orderType": "1" if symbol == "USDT" else "2",
            "slippage": "0" if symbol == "USDT" else "100",
            "sourceCerts": json.dumps(certificate).encode().hex(),
            "timeout": "0",
            "toAddr": self.payer.me,
            "toChain": target,
            "toIndex": str(bought["index"]),
            "triggerPrice": "0",
            **body,
        }
        headers = {
            "Evmaddress": self.payer.me,
            "Address": self.me,
            "PublicKey": "02" + "ab" * 32,
            "Chain": self.chain,
            "Signature": "ab" * 64,
        }
        data = self.payer.post("/v1/submitOrder", wanted, headers)
        return None if data is None else str(data["id"])

    def quote(self, amount: str, target: str = "BNB") -> int | None:
        """Ask what arrives."""
        symbol, _ = _COINS[self.chain]
        if symbol == "USDT":
            return self.payer.quote(amount, self.chain, target)
        return self.payer.swap_quote(amount, (symbol, self.chain), ("USDT", target))


def _base58(raw: bytes) -> str:
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = alphabet[digit] + text
    return text


def _hex(address: str) -> str:
    """Return the 20 bytes of an address of Tron in hex."""
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    number = 0
    for char in address:
        number = 58 * number + alphabet.index(char)
    return number.to_bytes(25, "big")[1:21].hex()


@contextmanager
def moving(
    folder: Path, kind: type[Mover] = Mover, settings: dict[str, Any] | None = None, **more: Any
) -> Iterator[Mover]:
    """Give a payer whose server can be restarted."""
    house = House(folder, settings or {})
    served = house.start()
    client = Client(served.port, served.client.contract, prefix="/w/flow")
    try:
        yield kind(client, house=house, **more)
    finally:
        client.close()
        house.stack.close()
