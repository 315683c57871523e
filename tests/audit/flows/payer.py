"""A client that can do each step of a transfer, rightly or wrongly."""

import hashlib
import http.client
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Generic, TypeVar

from mockserver.jsontext import NotJson
from tests.conftest import NATIVE, WALLET, Client

STRANGER = "0x1111111111111111111111111111111111111111"
FRIEND = "0x2222222222222222222222222222222222222222"
V1_NAMES = {"ARB": "ARB", "BNB": "BSC", "ETH": "ETH", "POLYGON": "MATIC"}
MINUTE, HOUR, DAY = "1m", "1h", "1d"
P = TypeVar("P")
"""Who plays a flow."""
FINAL = {"Succeeded", "Failed", "Refunded", "Dropped"}


@dataclass(frozen=True)
class Flow(Generic[P]):
    """What a client does, and what that does to money."""

    name: str
    play: Callable[[P], object]
    wrong: str
    """What goes wrong with the money; empty of a flow that is right."""
    kinds: frozenset[str]
    """The kinds of a finding that name it, one of which has to be there."""


class Book(Generic[P]):
    """A collection of flows."""

    def __init__(self) -> None:
        """Begin with none."""
        self.flows: list[Flow[P]] = []

    def wrong(
        self, what: str, *kinds: str
    ) -> Callable[[Callable[[P], object]], Callable[[P], object]]:
        """Add a flow that is wrong: what goes wrong, and the kinds that name it."""

        def add(play: Callable[[P], object]) -> Callable[[P], object]:
            self.flows.append(Flow(play.__name__, play, what, frozenset(kinds)))
            return play

        return add

    def right(self, play: Callable[[P], object]) -> Callable[[P], object]:
        """Add a flow in which no money is lost, doubled, misdirected or forgotten."""
        self.flows.append(Flow(play.__name__, play, "", frozenset()))
        return play


@dataclass
class Payer:
    """A person with a wallet, and a client of one world."""

    client: Client
    me: str = WALLET
    sent: int = 0
    lists: dict[str, Any] = field(default_factory=dict)

    # what the service says

    def get(self, path: str, **query: str) -> Any:
        """Return the data of an answer, or None where there is none or it is a refusal."""
        return self._data("GET", path, query=query)

    def post(self, path: str, body: Any, headers: dict[str, str]) -> Any:
        """Return the data of an answer to a body, or None."""
        return self._data("POST", path, body=body, headers=headers)

    def _data(self, method: str, path: str, **parts: Any) -> Any:
        try:
            answer = self.client.call(method, path, **parts)
            refused = answer.status != 200 or answer.refusal
            return None if refused else answer.json["data"]
        except (OSError, http.client.HTTPException, NotJson):
            self.client.close()
            return None

    def token(self, symbol: str, chain: str) -> dict[str, Any]:
        """Return a token's index, decimals and address on a chain."""
        if chain not in self.lists:
            listed = self.get("/v1/getAssetsByChain", chain=chain)["list"]
            self.lists[chain] = {item["symbol"]: item for item in listed}
        token: dict[str, Any] = self.lists[chain][symbol]
        return token

    def units(self, amount: str, symbol: str, chain: str) -> int:
        """Return an amount of whole tokens in smallest units."""
        return int(Decimal(amount).scaleb(self.token(symbol, chain)["decimals"]))

    def proxy(self, chain: str) -> str:
        """Return where deposits of a chain go."""
        if "chains" not in self.lists:
            listed = self.get("/v1/getChain")["list"]
            self.lists["chains"] = {item["nickName"]: item for item in listed}
        item = self.lists["chains"][chain]
        return str(item["builtInMinterProxy"] or item["builtInMinterProxyV2"])

    def quote(
        self, amount: str = "10", source: str = "ARB", target: str = "BNB", symbol: str = "USDT"
    ) -> int | None:
        """Ask what arrives of an amount, in smallest units of the target chain."""
        units = str(self.units(amount, symbol, source))
        data = self.get(
            "/v1/getBridgeQuote", amount=units, symbol=symbol, fromChain=source, toChain=target
        )
        if data is None:
            return None
        return int(data["outAmount"]) - int(data["serviceFee"]) - int(data["gasFee"])

    def swap_quote(
        self,
        amount: str = "10",
        source: tuple[str, str] = ("USDT", "ARB"),
        target: tuple[str, str] = ("BNB", "BNB"),
    ) -> int | None:
        """Ask what arrives of a swap."""
        paid, bought = self.token(*source), self.token(*target)
        data = self.get(
            "/v1/getAggregateQuote",
            fromAmount=str(self.units(amount, *source)),
            fromTokenAddress=paid["contractAddress"],
            fromDecimal=str(paid["decimals"]),
            fromChain=source[1],
            toTokenAddress=bought["contractAddress"],
            toDecimal=str(bought["decimals"]),
            toChain=target[1],
        )
        if data is None:
            return None
        return int(data["outAmount"]) - int(data["serviceFee"]) - int(data["gasFee"])

    # what happens on a chain

    def hash(self) -> str:
        """Make a transaction of which the mock is not told, and return its hash."""
        self.sent += 1
        return f"0x{hashlib.sha256(f'{self.me} {self.sent}'.encode()).hexdigest()}"

    def pay(
        self, amount: str = "10", symbol: str = "USDT", chain: str = "ARB", to: str | None = None
    ) -> str:
        """Send a token to where deposits go, or to somebody, and return the transaction's hash."""
        units = self.units(amount, symbol, chain)
        address = self.token(symbol, chain)["contractAddress"]
        target = to or self.proxy(chain)
        if address == NATIVE:
            return self.transaction(chain, target, value=units)
        data = f"0xa9059cbb{int(target, 16):064x}{units:064x}"
        return self.transaction(chain, address, data)

    def relayed(self, amount: str = "10", to: str | None = None) -> str:
        """Have a relayer, who pays the gas, move the token to where deposits go, or to somebody."""
        units = self.units(amount, "USDT", "ARB")
        target = to or self.proxy("ARB")
        data = f"0x23b872dd{int(self.me, 16):064x}{int(target, 16):064x}{units:064x}"
        relayer = Payer(self.client, "0x4444444444444444444444444444444444444444", self.sent)
        return relayer.transaction("ARB", self.token("USDT", "ARB")["contractAddress"], data)

    def transaction(self, chain: str, to: str, data: str = "0x", value: int = 0) -> str:
        """Send a transaction and return its hash."""
        paid = self.hash()
        told = {"chain": chain, "hash": paid, "from": self.me, "to": to}
        self.client.control("POST", "/transactions", {**told, "value": str(value), "data": data})
        return paid

    # orders

    def submit(
        self,
        paid: str,
        amount: str = "10",
        symbol: str = "USDT",
        source: str = "ARB",
        target: str = "BNB",
        bought: str | None = None,
        **body: str,
    ) -> str | None:
        """Submit a deposit; None where no answer says that it is an order."""
        certificate = {
            "fromAmount": str(self.units(amount, symbol, source)),
            "fromIndex": str(self.token(symbol, source)["index"]),
            "fromChain": source,
            "fromAddr": self.me,
            "certHash": paid,
            "fromPublicKey": "",
            "signature": "123456",
        }
        wanted = {
            "channel": "blind",
            "execStrategy": "",
            "extra": "",
            "orderType": "1" if bought is None else "2",
            "slippage": "0" if bought is None else "100",
            "sourceCerts": json.dumps(certificate).encode().hex(),
            "timeout": "0",
            "toAddr": self.me,
            "toChain": target,
            "toIndex": str(self.token(bought or symbol, target)["index"]),
            "triggerPrice": "0",
            **body,
        }
        data = self.post("/v1/submitOrder", wanted, self.signed("Evmaddress"))
        return None if data is None else str(data["id"])

    def look(self, order: str | None) -> str | None:
        """Ask how an order stands; None where there is no answer."""
        data = self.get("/v1/checkOrder", id=order or "")
        return None if data is None else str(data["status"])

    def follow(self, order: str | None, times: int = 48, pause: str = "30m") -> str | None:
        """Ask until an order has ended."""
        status = self.look(order)
        for _ in range(times):
            if status in FINAL:
                break
            self.wait(pause)
            status = self.look(order)
        return status

    def ticket(self, paid: str, chain: str = "ARB") -> int | None:
        """Report a deposit."""
        body = {"chain": chain, "hash": paid}
        data = self.post("/v1/submitTicket", body, self.signed("EvmAddress"))
        return None if data is None else int(data["ticketId"])

    def look_at_ticket(self, ticket: int | None) -> bool:
        """Ask whether a ticket is solved."""
        data = self.get("/v1/checkTicket", ticketId=str(ticket))
        return data is not None and bool(data["succeeded"])

    def follow_ticket(self, ticket: int | None) -> bool:
        """Ask until a ticket is solved."""
        for _ in range(48):
            if self.look_at_ticket(ticket):
                return True
            self.wait("1h")
        return False

    def signed(self, name: str) -> dict[str, str]:
        """Return the headers of a submission."""
        return {name: self.me, "Signature": "ab" * 65}

    # the first generation

    def v1_quote(self, amount: str = "10", source: str = "ARB", target: str = "BNB") -> Any:
        """Ask v1 for a quote."""
        body = {"fromChain": V1_NAMES[source], "toChain": V1_NAMES[target], "token": "USDT"}
        return self.post(
            "/open/v1/order/getCrossChainQuote",
            {"amount": Decimal(amount), **body, "feeLevel": 0},
            self.keys(),
        )

    def v1_pay(self, amount: str = "10", source: str = "ARB") -> str:
        """Ask v1 for a raw transaction, send what it says, and return its hash."""
        body = {"chain": V1_NAMES[source], "evmAddress": self.me, "fromAddress": self.me}
        self.post(
            "/open/v1/order/getTransferToMinterRaw",
            {"amount": Decimal(amount), "token": "USDT", **body},
            self.keys(),
        )
        return self.hash()

    def v1_submit(
        self,
        paid: str,
        amount: str = "10",
        symbol: str = "USDT",
        source: str = "ARB",
        target: str = "BNB",
    ) -> bool:
        """Submit a deposit to v1."""
        body = {
            "fromAmount": Decimal(amount),
            "fromChain": V1_NAMES[source],
            "evmAddres": self.me,
            "fromToken": symbol,
            "fromAddress": int(self.me, 16),
            "certHash": paid,
            "toChain": V1_NAMES[target],
            "feeLevel": 0,
        }
        return self.post("/open/v1/order/submitCrossChain", body, self.keys()) is not None

    def v1_look(self, paid: str, source: str = "ARB") -> Any:
        """Ask v1 for the order of a deposit."""
        query = {"chain": V1_NAMES[source], "hash": paid, "evmAddress": self.me}
        return self._data(
            "GET",
            "/open/v1/order/getOrderDetailByHashAndEvmAddress",
            query=query,
            headers=self.keys(),
        )

    def keys(self) -> dict[str, str]:
        """Return the headers of v1, stamped now."""
        now = self.client.control("GET", "/clock")["ms"]
        self.client.timestamp = int(now)
        return self.client.keys

    # the world

    def wait(self, time: str) -> None:
        """Let time pass."""
        self.client.control("POST", "/clock", {"advance": time})

    def fault(self, kind: str, operation: str = "submitOrder", **more: Any) -> None:
        """Disturb a request, the next one by default."""
        fault = {"kind": kind, "operation": operation, "first": 1, **more}
        self.client.control("POST", "/faults", fault)

    def heal(self) -> None:
        """End all disturbances."""
        self.client.control("DELETE", "/faults")

    def course(self, order: str | None, course: str) -> None:
        """Decide what becomes of an order."""
        self.client.control("POST", f"/orders/{order}", {"course": course})

    def outage(self, chain: str = "BNB", mode: str = "listed-dead", **more: str) -> None:
        """Suspend a chain."""
        self.client.control("POST", "/outages", {"chain": chain, "mode": mode, **more})

    def believes(self, **claim: Any) -> None:
        """Say what the client believes of an order."""
        self.client.control("POST", "/claims", {"claims": [claim]})

    def expects(self, **transfer: Any) -> None:
        """Say what the client is to bring about."""
        self.client.control("POST", "/claims", {"expects": [transfer]})

    def arrives(self) -> "Payer":
        """Return the same wallet after a restart: the lists are forgotten."""
        return Payer(self.client, self.me, self.sent)
