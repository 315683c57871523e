"""A payroll that sends wages: requests, a class with a session, an atomic state file."""

import fcntl
import json
import os
import secrets
import sys
import time

import requests

STATE = os.path.join(os.environ["CROSSCHAIN_MOCK_STATE"], "wage.json")


class Service:
    def __init__(self, base):
        self.base = base
        self.session = requests.Session()

    def ask(self, method, path, **options):
        deadline = time.monotonic() + 300
        delay = 2.0
        while True:
            try:
                response = self.session.request(method, self.base + path, timeout=20, **options)
                answer = response.json()
                if isinstance(answer.get("code"), int) and isinstance(answer.get("data"), dict):
                    if answer["code"]:
                        raise PermissionError(answer.get("msg"))
                    if response.status_code == 200:
                        return answer["data"]
            except (requests.RequestException, ValueError, AttributeError):
                pass
            if time.monotonic() > deadline:
                raise TimeoutError(path)
            time.sleep(delay)
            delay = min(delay * 2, 60)


class Wage:
    address = "0x52908400098527886E0F7030069857D2E4169EE7"
    amount = 40_000_000

    def __init__(self, service):
        self.service = service
        self.state = json.load(open(STATE)) if os.path.exists(STATE) else {}

    def keep(self, **news):
        self.state.update(news)
        with open(STATE + ".new", "w") as file:
            json.dump(self.state, file)
        os.replace(STATE + ".new", STATE)

    def prepare(self):
        chains = self.service.ask("GET", "/v1/getChain")["list"]
        open_now = [c["nickName"] for c in chains if not c["disabled"] and not c["delisted"]]
        if "BNB" not in open_now or "ETH" not in open_now:
            raise PermissionError("a chain is closed")
        tokens = self.service.ask("GET", "/v1/getAssetsByChain", params={"chain": "ETH"})["list"]
        usdc = [token for token in tokens if token["symbol"] == "USDC"]
        if not usdc:
            raise PermissionError("USDC is gone")
        query = {
            "amount": str(self.amount),
            "symbol": "USDC",
            "fromChain": "ETH",
            "toChain": "BNB",
        }
        quote = self.service.ask("GET", "/v1/getBridgeQuote", params=query)
        self.net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
        if self.net <= 0:
            raise PermissionError("fees eat it all")
        self.keep(hash="0x" + secrets.token_hex(32), index=str(usdc[0]["index"]), net=self.net)

    def submit(self):
        certificate = {
            "fromAmount": str(self.amount),
            "fromIndex": self.state["index"],
            "fromChain": "ETH",
            "fromAddr": self.address,
            "certHash": self.state["hash"],
            "fromPublicKey": "",
            "signature": "",
        }
        body = {
            "channel": "payroll",
            "execStrategy": "",
            "extra": "",
            "orderType": "1",
            "slippage": "0",
            "sourceCerts": json.dumps(certificate).encode().hex(),
            "timeout": "0",
            "toAddr": self.address,
            "toChain": "BNB",
            "toIndex": self.state["index"],
            "triggerPrice": "0",
        }
        headers = {"Evmaddress": self.address, "Signature": "0x" + "22" * 65}
        self.keep(id=self.service.ask("POST", "/v1/submitOrder", json=body, headers=headers)["id"])

    def follow(self):
        for turn in range(60):
            time.sleep(min(10 * (turn + 1), 120))
            order = self.service.ask("GET", "/v1/checkOrder", params={"id": self.state["id"]})
            if order["status"] == "Succeeded":
                return int(order["amountOut"]) >= self.state["net"] * 98 // 100
            if order["status"] == "Dropped" and "ticket" not in self.state:
                headers = {"EvmAddress": self.address, "Signature": "0x" + "22" * 65}
                body = {"hash": self.state["hash"], "chain": "ETH"}
                made = self.service.ask("POST", "/v1/submitTicket", json=body, headers=headers)
                self.keep(ticket=made["ticketId"])
            if order["status"] in ("Failed", "Refunded"):
                break
        print("not arrived:", order, file=sys.stderr)
        return False

    def run(self):
        if "hash" not in self.state:
            self.prepare()
        if "id" not in self.state:
            self.submit()
        return self.follow()


# One payroll at a time.
guard = open(STATE + ".lock", "w")
try:
    fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit("another payroll is at work")
try:
    sys.exit(0 if Wage(Service(os.environ["CROSSCHAIN_MOCK_BASE_URL_V2"])).run() else 1)
except (PermissionError, TimeoutError) as error:
    sys.exit(f"stopped: {error}")
