"""A wallet that does one thing at a time, so that a test can leave one out."""

import hashlib
import http.client
from dataclasses import dataclass
from typing import Any

from mockserver.jsontext import NotJson
from tests.conftest import WALLET, Client, certificate, order


@dataclass
class Wallet:
    """A client of one world that pays, submits and asks; `audit` is what is said of it."""

    client: Client
    paid: int = 0

    def audit(self, query: str = "") -> Any:
        """Return the audit of the world."""
        return self.client.control("GET", f"/audit{query}")

    def kinds(self) -> list[str]:
        """Return the kinds of what the audit finds."""
        return [one["kind"] for one in self.audit()["findings"]]

    def told(self, kind: str) -> str:
        """Return what is said of the one thing that is found."""
        findings = self.audit()["findings"]
        assert [one["kind"] for one in findings] == [kind], findings
        return str(findings[0]["told"])

    def pay(self) -> str:
        """Make a transaction and return its hash."""
        self.paid += 1
        return f"0x{hashlib.sha256(str(self.paid).encode()).hexdigest()}"

    def quote(self, amount: int = 10_000_000, target: str = "BNB", **more: str) -> int:
        """Ask for a quote and return what it says that arrives."""
        query = {"amount": str(amount), "symbol": "USDT", "fromChain": "ARB", "toChain": target}
        data = self.client.get("/v1/getBridgeQuote", query={**query, **more}).data
        return int(data["outAmount"]) - int(data["serviceFee"]) - int(data["gasFee"])

    def submit(
        self, paid: str | None = None, amount: int = 10_000_000, **changes: str
    ) -> str | None:
        """Submit a deposit, a new one by default; None where no answer says that it is an order."""
        certs = certificate(certHash=paid or self.pay(), fromAmount=str(amount))
        body = order(sourceCerts=certs, **changes)
        try:
            answer = self.client.post("/v1/submitOrder", body, headers=self.client.wallet)
        except (OSError, http.client.HTTPException, NotJson):
            self.client.close()
            return None
        taken = answer.status == 200 and not answer.refusal
        return str(answer.data["id"]) if taken else None

    def look(self, order_id: str | None) -> str:
        """Ask how an order stands."""
        return str(self.client.get("/v1/checkOrder", query={"id": order_id or ""}).data["status"])

    def follow(self, order_id: str | None) -> str:
        """Let an hour pass and see how an order ended."""
        self.wait("1h")
        return self.look(order_id)

    def wait(self, time: str) -> None:
        """Let time pass."""
        self.client.control("POST", "/clock", {"advance": time})

    def ticket(self, paid: str) -> int:
        """Report a deposit."""
        headers = {"EvmAddress": WALLET, "Signature": "ab" * 65}
        body = {"chain": "ARB", "hash": paid}
        answer = self.client.post("/v1/submitTicket", body, headers=headers)
        return int(answer.data["ticketId"])

    def fault(self, kind: str, **more: Any) -> None:
        """Disturb the next submission."""
        fault = {"kind": kind, "operation": "submitOrder", "first": 1, **more}
        self.client.control("POST", "/faults", fault)
