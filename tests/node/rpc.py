"""A client for the JSON-RPC behaviours: wallets, calls and the answers made comparable."""

import itertools
import json
import re
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Protocol

from eth_abi import decode, encode
from eth_account import Account
from eth_utils import keccak, to_checksum_address

from tests.conftest import PATIENCE_S

ETHER = 10**18
GWEI = 10**9
UNIT = 10**18  # both tokens of the suite have 18 decimals
ZERO = "0x" + "00" * 20
NATIVE = "0x" + "ee" * 20

_numbers = itertools.count(1)


class Chain(Protocol):
    """What a behaviour needs of the chain beside its JSON-RPC address."""

    url: str
    token: str
    second_token: str
    proxy: str

    def fund(self, address: str, wei: int) -> None: ...
    def grant(self, address: str, token: str, units: int) -> None: ...
    def settle(self) -> None: ...


def call(url: str, body: object) -> Any:
    """POST one JSON body (or raw bytes) and return the parsed answer, or None for an empty one."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            text = answer.read()
    except urllib.error.HTTPError as refusal:
        text = refusal.read()
    return json.loads(text) if text.strip() else None


def fetch(url: str) -> Any:
    """GET one JSON answer."""
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        return json.loads(answer.read())


def refusal(answer: Any) -> str:
    """Return code and words of an error, without addresses and numbers, or what came instead."""
    if not isinstance(answer, dict) or "error" not in answer:
        return "no error"
    if isinstance(answer["error"], str):
        return str(answer["error"])
    words = re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", answer["error"]["message"])
    words = re.sub(r"\b\d{4,}\b", "…", words)
    return f"{answer['error']['code']} {words}"


def selector(signature: str) -> str:
    return f"0x{keccak(text=signature)[:4].hex()}"


def topic(signature: str) -> str:
    return "0x" + keccak(text=signature).hex()


def invoke(signature: str, *values: object) -> str:
    """Return call data: ``invoke("transfer(address,uint256)", to, 5)``."""
    kinds = [kind for kind in signature[signature.index("(") + 1 : -1].split(",") if kind]
    return selector(signature) + encode(kinds, values).hex()


def padded(address: str) -> str:
    return "0x" + address[2:].lower().rjust(64, "0")


TRANSFER = topic("Transfer(address,address,uint256)")
APPROVAL = topic("Approval(address,address,uint256)")
PAY = "vaultOut(address,uint256,bool,bytes)"
VAULT_OUT = topic("LogVaultOut(address,address,uint256,uint256,address,bytes)")


@dataclass
class Wallet:
    """A key that signs and sends on one chain, counting its own nonces."""

    session: "Session"
    account: Any
    nonce: int = 0

    @property
    def address(self) -> str:
        return str(self.account.address)

    def signed(self, **changes: Any) -> str:
        """Return a raw transaction; ``changes`` name members of the transaction."""
        gas_price = changes.pop("price", self.session.gas_price)
        base = {
            "to": to_checksum_address(changes.pop("to", "0x" + "ab" * 20)),
            "value": 0,
            "data": "0x",
            "gas": 200_000,
            "nonce": changes.pop("nonce", self.nonce),
            "chainId": self.session.chain_id,
        }
        if changes.pop("legacy", False):
            base["gasPrice"] = gas_price
        elif changes.pop("listed", False):
            base |= {"type": 1, "gasPrice": gas_price, "accessList": []}
        else:
            base |= {
                "type": 2,
                "maxFeePerGas": gas_price,
                "maxPriorityFeePerGas": changes.pop("tip", GWEI),
            }
        base |= changes
        if changes.get("creation"):
            base.pop("creation")
            base.pop("to")
        raw: bytes = self.account.sign_transaction(base).raw_transaction
        return "0x" + raw.hex().removeprefix("0x")

    def send(self, **changes: Any) -> Any:
        """Send and return the hash; the counted nonce rises unless the caller names one."""
        named = "nonce" in changes
        answer = self.session.ask("eth_sendRawTransaction", self.signed(**changes))
        self.session.chain.settle()
        if "error" not in answer and not named:
            self.nonce += 1
        return answer.get("result", answer)

    def invoke(self, to: str, signature: str, *values: object, **changes: Any) -> Any:
        return self.send(to=to, data=invoke(signature, *values), **changes)


@dataclass
class Session:
    """One chain as the behaviours use it."""

    chain: Chain
    chain_id: int = 0
    gas_price: int = 0
    wallets: list[Wallet] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chain_id = int(self.rpc("eth_chainId"), 16)
        self.gas_price = 2 * int(self.rpc("eth_gasPrice"), 16) + 2 * GWEI

    def ask(self, method: str, *params: object) -> Any:
        return call(
            self.chain.url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
        )

    def rpc(self, method: str, *params: object) -> Any:
        """Return the result, or fail with the error's words."""
        answer = self.ask(method, *params)
        if answer is None or "result" not in answer:
            raise AssertionError(f"{method}{list(params)}: {answer}")
        return answer["result"]

    def pass_on(self, raw: str) -> Any:
        sent = self.rpc("eth_sendRawTransaction", raw)
        self.chain.settle()
        return sent

    def number(self, method: str, *params: object) -> int:
        return int(self.rpc(method, *params), 16)

    def wallet(self, wei: int = ETHER, units: int = 0) -> Wallet:
        """Return a key nobody used, with this much of the base coin and of the token."""
        key = keccak(text=f"behaviour {next(_numbers)} {self.chain.url}")
        wallet = Wallet(self, Account.from_key(key))
        self.chain.fund(wallet.address, wei)
        if units:
            self.chain.grant(wallet.address, self.chain.token, units)
        return wallet

    def read(
        self, to: str, signature: str, *values: object, kinds: tuple[str, ...] = ("uint256",)
    ) -> Any:
        answer = self.rpc("eth_call", {"to": to, "data": invoke(signature, *values)}, "latest")
        return decode(kinds, bytes.fromhex(answer[2:]))[0]

    def holding(self, address: str, token: str | None = None) -> int:
        return int(self.read(token or self.chain.token, "balanceOf(address)", address))

    def coins(self, address: str, block: str = "latest") -> int:
        return self.number("eth_getBalance", address, block)

    def receipt(self, transaction: str) -> Any:
        return self.rpc("eth_getTransactionReceipt", transaction)

    def transaction(self, transaction: str) -> Any:
        return self.rpc("eth_getTransactionByHash", transaction)

    def block(self, number: object = "latest", full: bool = False) -> Any:
        return self.rpc("eth_getBlockByNumber", number, full)
