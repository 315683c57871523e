"""A small service written from the interface description alone, with other choices than ours.

Lists are flat and call things by other names, amounts of quotes are whole tokens, refusals are
HTTP 400 without data, chains are few, v1 data has a shape of its own, nothing checks a signature.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from mockserver.server.aiohttp_requests import plain_target

Data = dict[str, Any]
CHAINS = {"Ether": "ETHEREUM-1", "Harbour": "HARBOUR-7", "Lagoon": "LAGOON-9", "Sands": "SANDS-4"}
"""nickName and chain name; requests for tokens take either."""
EVM = ("Ether", "Harbour", "Lagoon")
PRICES = {"USDQ": Decimal(1), "WET": Decimal("1820.5"), "SHELL": Decimal("0.42")}
TOKENS = [
    (symbol, chain, decimals)
    for symbol, places in {
        "USDQ": {"Ether": 6, "Harbour": 18, "Lagoon": 6, "Sands": 8},
        "WET": {"Ether": 18, "Harbour": 18, "Lagoon": 8},
        "SHELL": {"Harbour": 9, "Lagoon": 9},
    }.items()
    for chain, decimals in places.items()
]
FEE = Decimal("0.997")
BEGAN = 1_767_225_600


class No(Exception):
    """A refusal with its reason."""


def address_of(symbol: str, chain: str) -> str:
    """Return the contract of a token, an EVM address on EVM chains and a word elsewhere."""
    digest = hashlib.sha256(f"{symbol}@{chain}".encode()).hexdigest()
    return f"0x{digest[:40]}" if chain in EVM else f"s{digest[:20]}"


class OtherService:
    """The state of the service and its operations; `faults` change one operation's data."""

    def __init__(self, faults: dict[str, Callable[[Data], Data]] | None = None) -> None:
        """Begin without orders and tickets."""
        self.faults = faults or {}
        self.orders: dict[str, Data] = {}
        self.by_content: dict[str, str] = {}
        self.v1_orders: dict[tuple[str, str, str], Data] = {}
        self.tickets: list[Data] = []
        self.second = BEGAN

    def answer(self, method: str, target: str, headers: Any, body: bytes) -> tuple[int, Data]:
        """Return the HTTP status and the envelope of an answer."""
        parts = urlsplit(target)
        name = parts.path.rpartition("/")[2]
        v1 = parts.path.startswith("/open/v1/")
        route = ROUTES.get((method, parts.path))
        try:
            if route is None:
                raise No("there is no such operation")
            inputs = dict(parse_qsl(parts.query, keep_blank_values=True))
            if method == "POST":
                inputs = _object(body)
            if v1 and "/order/" in parts.path:
                _need(headers, "appKey", "signature")
                _whole(headers.get("expireTime"), headers.get("timestamp"))
            data = route(self, inputs, headers)
        except (No, TypeError, AttributeError) as error:
            # A value of another JSON type than the one that is used is refused like any other.
            return 400, {"code": 4001, "msg": str(error), **({"status": 7} if v1 else {})}
        data = self.faults.get(name, lambda same: same)(data)
        extra = {"status": 1} if v1 else {}
        return 200, {"code": 0, "msg": "ok" if v1 else "success", "data": data, **extra}

    def chains(self, inputs: Data, headers: Any) -> Data:
        """List the chains."""
        items = [{"chain": chain, "nickName": nick} for nick, chain in CHAINS.items()]
        return {"version": 12, "list": items}

    def assets(self, inputs: Data, headers: Any) -> Data:
        """List every token of every chain, flat."""
        return {"version": 40, "list": [_item(*token) for token in TOKENS]}

    def assets_of(self, inputs: Data, headers: Any) -> Data:
        """List the tokens of a chain."""
        _need(inputs, "chain")
        nick = _nick(inputs["chain"])
        return {"version": 40, "list": [_item(*token) for token in TOKENS if token[1] == nick]}

    def bridge(self, inputs: Data, headers: Any) -> Data:
        """Quote a transfer; the amount is the user's input, in whole tokens."""
        _need(inputs, "amount", "symbol", "fromChain", "toChain")
        amount, symbol = _amount(inputs["amount"]), inputs["symbol"]
        _token(symbol, _nick(inputs["fromChain"]))
        decimals = _token(symbol, _nick(inputs["toChain"]))
        out = amount * FEE
        return {
            "price": str(PRICES[symbol]),
            "outAmount": _units(out, decimals),
            "outAmountUsd": f"{out * PRICES[symbol]:.2f}",
            "serviceFee": _units(amount - out, decimals),
            "gasFee": "0",
        }

    def aggregate(self, inputs: Data, headers: Any) -> Data:
        """Quote a swap at the prices of the table."""
        names = ("fromAmount", "fromTokenAddress", "fromDecimal", "fromChain")
        _need(inputs, *names, "toTokenAddress", "toDecimal", "toChain")
        source = _at(inputs["fromTokenAddress"], _nick(inputs["fromChain"]), inputs["fromDecimal"])
        target = _at(inputs["toTokenAddress"], _nick(inputs["toChain"]), inputs["toDecimal"])
        out = _amount(inputs["fromAmount"]) * PRICES[source[0]] / PRICES[target[0]] * FEE
        return {
            "chain": inputs["toChain"],
            "chainDecimal": target[2],
            "aggregator": "tide",
            "outAmount": _units(out, target[2]),
            "outAmountUsd": f"{out * PRICES[target[0]]:.4f}",
            "minOutAmount": _units(out * Decimal("0.99"), target[2]),
            "serviceFee": "0",
            "gasFee": "0",
            "priceImpact": "-0.3",
        }

    def swap(self, inputs: Data, headers: Any) -> Data:
        """Make call data; its content is nobody's business but the router's."""
        _need(inputs, "sender", "recipient", "slippage", "allowPartialFill", "chain")
        if inputs["allowPartialFill"] not in ("true", "false"):
            raise No("allowPartialFill is true or false")
        if not 0 <= _amount(inputs["slippage"]) <= 10_000:
            raise No("slippage is out of range")
        chain = inputs["chain"]
        quote = self.aggregate({**inputs, "fromChain": chain, "toChain": chain}, headers)
        digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
        return {
            "amountOut": quote["outAmount"],
            "from": inputs["sender"],
            "to": address_of("router", "Ether"),
            "gas": "210000",
            "value": "0",
            "data": f"0x{digest}",
        }

    def balance(self, inputs: Data, headers: Any) -> Data:
        """Nobody owns anything here."""
        _need(inputs, "chain", "contractAddress", "address")
        _at(inputs["contractAddress"], _nick(inputs["chain"]))
        return {"balance": "0", "hrpBalance": "0.0"}

    def price(self, inputs: Data, headers: Any) -> Data:
        """Tell a price of the table."""
        _need(inputs, "chain", "contractAddress", "symbol")
        symbol = _at(inputs["contractAddress"], _nick(inputs["chain"]))[0]
        if symbol != inputs["symbol"]:
            raise No("the symbol is not that of the contract")
        return {"price": str(PRICES[symbol]), "updateTime": "1767225590", "source": "harbour feed"}

    def submit(self, inputs: Data, headers: Any) -> Data:
        """Accept an order; one content makes one order."""
        _need(headers, "Evmaddress", "Signature")
        names = "channel execStrategy extra orderType slippage sourceCerts timeout toAddr toIndex"
        for name in (*names.split(), "triggerPrice"):
            if not isinstance(inputs.get(name), str):
                raise No(f"{name} is a required string")
        if not isinstance(inputs.get("toChain", ""), str):
            raise No("toChain is a string")
        if inputs["orderType"] not in ("1", "2") or not _is_hex(inputs["sourceCerts"]):
            raise No("orderType is 1 or 2, sourceCerts is hex")
        if inputs["orderType"] == "1" and inputs["slippage"] != "0":
            raise No("slippage is 0 for an order across chains")
        known = self.by_content.setdefault(json.dumps(inputs), f"ord-{len(self.orders) + 1}")
        self.orders.setdefault(known, {"looks": 0, "since": self._tick()})
        return {"id": known}

    def check(self, inputs: Data, headers: Any) -> Data:
        """Tell of an order, which succeeds at the third look."""
        order = self.orders.get(inputs.get("id", ""))
        if order is None:
            raise No("no such order")
        order["looks"] += 1
        done = order["looks"] > 2
        if order["looks"] in (2, 3):
            order["since"] = self._tick()
        digest = hashlib.sha256(inputs["id"].encode()).hexdigest()
        return {
            "status": "Succeeded" if done else "Travelling",
            "timestamp": order["since"],
            "execHash": f"0x{digest}" if done else "",
            "reason": "",
            "amountOut": "",
        }

    def report(self, inputs: Data, headers: Any) -> Data:
        """Take a ticket."""
        _need(headers, "EvmAddress", "Signature")
        _need(inputs, "hash", "chain")
        _nick(inputs["chain"])
        item = {
            "ticketId": 500 + len(self.tickets),
            "address": headers["EvmAddress"].lower(),
            "chain": inputs["chain"],
            "hash": inputs["hash"],
            "succeeded": False,
            "solution": "",
        }
        self.tickets.append(item)
        return {"ticketId": item["ticketId"]}

    def reports(self, inputs: Data, headers: Any) -> Data:
        """List the tickets of an address; all of them are pending for ever."""
        _need(inputs, "address", "filter")
        mine = [one for one in self.tickets if one["address"] == inputs["address"].lower()]
        return {"list": mine if inputs["filter"] == "Pending" else []}

    def report_status(self, inputs: Data, headers: Any) -> Data:
        """Tell of a ticket."""
        for one in self.tickets:
            if str(one["ticketId"]) == inputs.get("ticketId"):
                return {"succeeded": one["succeeded"], "solution": one["solution"]}
        raise No("no such ticket")

    def v1_chains(self, inputs: Data, headers: Any) -> Data:
        """List names, and nothing else."""
        return {"supported": list(EVM)}

    def v1_tokens(self, inputs: Data, headers: Any) -> Data:
        """List the tokens of the chain in the header, keyed by symbol."""
        _need(headers, "chain")
        nick = _v1_nick(headers["chain"])
        here = [token for token in TOKENS if token[1] == nick]
        return {"tokens": {s: {"contract": address_of(s, c), "digits": d} for s, c, d in here}}

    def v1_quote(self, inputs: Data, headers: Any) -> Data:
        """Quote in whole tokens, as text."""
        _float(inputs.get("amount"))
        _integer(inputs.get("feeLevel"))
        amount = _amount(inputs["amount"])
        for name in ("fromChain", "toChain"):
            _token(inputs.get("token"), _v1_nick(inputs.get(name)))
        return {"receive": str(amount * FEE), "cost": str(amount - amount * FEE)}

    def v1_raw(self, inputs: Data, headers: Any) -> Data:
        """Make a transaction of a form that only the wallet knows."""
        _float(inputs.get("amount"))
        _amount(inputs["amount"])
        _token(inputs.get("token"), _v1_nick(inputs.get("chain")))
        for name in ("evmAddress", "fromAddress"):
            if not _is_hex(inputs.get(name, "?")) or len(inputs[name]) != len("0x") + 40:
                raise No(f"{name} is no address")
        if inputs["evmAddress"] != inputs["fromAddress"]:
            raise No("on an EVM chain both addresses are the same")
        digest = hashlib.sha256(json.dumps(inputs, sort_keys=True, default=str).encode())
        return {"unsigned": digest.hexdigest()}

    def v1_submit(self, inputs: Data, headers: Any) -> Data:
        """Accept an order by its transaction."""
        names = ("fromChain", "evmAddres", "fromToken", "certHash", "toChain")
        if not all(isinstance(inputs.get(name), str) and inputs[name] for name in names):
            raise No("a required string is missing")
        _float(inputs.get("fromAmount"))
        _integer(inputs.get("feeLevel"))
        _integer(inputs.get("fromAddress"))
        _amount(inputs["fromAmount"])
        for name in ("fromChain", "toChain"):
            _token(inputs["fromToken"], _v1_nick(inputs[name]))
        key = (inputs["fromChain"], inputs["certHash"], inputs["evmAddres"].lower())
        made = {**inputs, "orderNo": f"v1-{len(self.v1_orders)}", "fromAddress": key[2]}
        return {"orderNo": self.v1_orders.setdefault(key, made)["orderNo"]}

    def v1_detail(self, inputs: Data, headers: Any) -> Data:
        """Tell of an order to its user."""
        _need(inputs, "chain", "hash", "evmAddress")
        found = self.v1_orders.get((inputs["chain"], inputs["hash"], inputs["evmAddress"].lower()))
        if found is None:
            raise No("no such order")
        return {**found, "fromAmount": str(found["fromAmount"]), "state": "done"}

    def _tick(self) -> int:
        self.second += 1
        return self.second


ROUTES: dict[tuple[str, str], Callable[[OtherService, Data, Any], Data]] = {
    ("GET", "/v1/getChain"): OtherService.chains,
    ("GET", "/v1/getAssets"): OtherService.assets,
    ("GET", "/v1/getAssetsByChain"): OtherService.assets_of,
    ("GET", "/v1/getBridgeQuote"): OtherService.bridge,
    ("GET", "/v1/getAggregateQuote"): OtherService.aggregate,
    ("GET", "/v1/getAggregateSwap"): OtherService.swap,
    ("POST", "/v1/submitOrder"): OtherService.submit,
    ("GET", "/v1/checkOrder"): OtherService.check,
    ("GET", "/v1/getBalance"): OtherService.balance,
    ("GET", "/v1/getPrice"): OtherService.price,
    ("POST", "/v1/submitTicket"): OtherService.report,
    ("GET", "/v1/getAllTicketByAddress"): OtherService.reports,
    ("GET", "/v1/checkTicket"): OtherService.report_status,
    ("GET", "/open/v1/base/getSupportChains"): OtherService.v1_chains,
    ("GET", "/open/v1/base/getSupportTokens"): OtherService.v1_tokens,
    ("POST", "/open/v1/order/getCrossChainQuote"): OtherService.v1_quote,
    ("POST", "/open/v1/order/getTransferToMinterRaw"): OtherService.v1_raw,
    ("POST", "/open/v1/order/submitCrossChain"): OtherService.v1_submit,
    ("GET", "/open/v1/order/getOrderDetailByHashAndEvmAddress"): OtherService.v1_detail,
}


@contextmanager
def other_service(faults: dict[str, Callable[[Data], Data]] | None = None) -> Iterator[str]:
    """Serve on loopback in a thread; yield the address. `faults` change data by operation."""
    service, lock = OtherService(faults), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with lock:
                target = plain_target(self.path)
                status, envelope = service.answer(self.command, target, self.headers, body)
            raw = json.dumps(envelope, default=float).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(raw)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = answer  # noqa: N815

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _item(symbol: str, chain: str, decimals: int) -> Data:
    index = list(PRICES).index(symbol) + 11
    return {
        "tokenSymbol": symbol,
        "tokenAddress": address_of(symbol, chain),
        "tokenDecimals": decimals,
        "tokenIndex": str(index),
        "chain": chain,
    }


def _object(body: bytes) -> Data:
    try:
        value = json.loads(body, parse_float=Decimal)
    except ValueError:
        raise No("the body is no JSON") from None
    if not isinstance(value, dict):
        raise No("the body is no object")
    return value


def _need(inputs: Any, *names: str) -> None:
    for name in names:
        if not inputs.get(name) or not isinstance(inputs.get(name), str):
            raise No(f"{name} is missing")


def _whole(*values: str | None) -> None:
    for value in values:
        if not value or not value.isdecimal():
            raise No("a header is no integer")


def _float(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise No("the amount is no number")


def _integer(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise No("an integer is missing")


def _amount(value: Any) -> Decimal:
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise No("the amount is no number") from None
    if not amount.is_finite() or not 0 < amount < Decimal(10) ** 12:
        raise No("the amount is out of range")
    return amount


def _nick(name: str) -> str:
    found = name if name in CHAINS else {c: n for n, c in CHAINS.items()}.get(name)
    if found is None:
        raise No(f"unknown chain {name}")
    return found


def _v1_nick(name: Any) -> str:
    if name not in EVM:
        raise No(f"unknown chain {name}")
    return str(name)


def _token(symbol: Any, chain: str) -> int:
    for one, where, decimals in TOKENS:
        if (one, where) == (symbol, chain):
            return decimals
    raise No(f"{symbol} is not on {chain}")


def _at(address: str, chain: str, decimals: str | None = None) -> tuple[str, str, int]:
    for token in TOKENS:
        here = token[1] == chain and address_of(token[0], chain) == address
        if here and decimals in (None, str(token[2])):
            return token
    raise No(f"no token at {address} with these decimals")


def _units(amount: Decimal, decimals: int) -> str:
    return str(int(amount.scaleb(decimals)))


def _is_hex(value: str) -> bool:
    digits = value.removeprefix("0x")
    return bool(digits) and all(one in "0123456789abcdefABCDEF" for one in digits)
