"""The nineteen operations, healthy unless a flaw changes a step."""

# ruff: noqa: N802  # operations are found by their names

import hashlib
import json
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from aiohttp import web

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, Flaw

ROUTES = {
    "getSupportChains": ("GET", "/open/v1/base/getSupportChains"),
    "getSupportTokens": ("GET", "/open/v1/base/getSupportTokens"),
    "getCrossChainQuote": ("POST", "/open/v1/order/getCrossChainQuote"),
    "getTransferToMinterRaw": ("POST", "/open/v1/order/getTransferToMinterRaw"),
    "submitCrossChain": ("POST", "/open/v1/order/submitCrossChain"),
    "getOrderDetailByHashAndEvmAddress": (
        "GET",
        "/open/v1/order/getOrderDetailByHashAndEvmAddress",
    ),
    **{
        name: ("POST" if name in {"submitOrder", "submitTicket"} else "GET", f"/v1/{name}")
        for name in (
            "getChain getAssets getAssetsByChain getBridgeQuote getAggregateQuote getAggregateSwap"
            " submitOrder checkOrder getBalance getPrice submitTicket getAllTicketByAddress"
            " checkTicket"
        ).split()
    },
}
ORDER_BODY = (
    "channel execStrategy extra orderType slippage sourceCerts timeout toAddr toIndex triggerPrice"
).split()
EVM = re.compile(r"0x[0-9a-fA-F]{40}")
HASHES = {1: r"0x[0-9a-fA-F]{64}", 7: r"[1-9A-HJ-NP-Za-km-z]{64,90}"}


class RefusalError(Exception):
    """The service says no."""

    def __init__(self, msg: str, code: int = 3) -> None:
        super().__init__(msg)
        self.msg, self.code = msg, code


@dataclass
class Call:
    """One request, as the operations and the flaws see it."""

    operation: str
    inputs: dict[str, Any]
    request: web.Request
    service: "Service"
    memory: dict[str, Any] = field(default_factory=Data)

    def need(self, *names: str) -> list[str]:
        for name in names:
            if self.inputs.get(name) is None or self.inputs[name] == "":
                raise RefusalError(f"{name} is missing")
        return [str(self.inputs[name]) for name in names]

    @property
    def generation(self) -> int:
        return 1 if self.request.path.startswith("/open/") else 2


def units_of(text: str, name: str) -> int:
    if not re.fullmatch(r"[0-9]{1,77}", text) or int(text) == 0:
        raise RefusalError(f"{name} has to be a whole number of smallest units")
    return int(text)


class Service:
    """A world of its own, with at most one flaw."""

    def __init__(self, flaw: Flaw) -> None:
        self.flaw = flaw
        self.chains = [world.chain_item(n, row) for n, row in enumerate(world.CHAINS, 1)]
        self.tokens = world.tokens()
        self.orders: dict[str, Data] = {}
        self.tickets: list[Data] = []
        self.memory: dict[str, Any] = {}  # what flaws remember

    def on(self, name: str) -> bool:
        return self.flaw.on(name)

    # how a request becomes an answer

    def routes(self, app: web.Application) -> None:
        for name, (method, path) in ROUTES.items():
            app.router.add_route(method, path, self.handler(name))
            if method == "GET":
                app.router.add_route("HEAD", path, self.handler(name))
        app.router.add_route("*", "/{rest:.*}", self.unknown)

    async def unknown(self, request: web.Request) -> web.Response:
        if self.on("trailing-slash-empty") and request.path.rstrip("/").endswith("getChain"):
            data: Data = {"version": 1, "list": []}
            return web.json_response({"code": 0, "msg": "success", "data": data})
        return web.json_response({"code": 404, "msg": "no such path", "data": {}}, status=404)

    def handler(self, name: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            call = Call(name, await self.inputs(request), request, self)

            async def answer() -> web.Response:
                return self.answer(call)

            response: web.StreamResponse = await self.flaw.wrapped(call, answer)
            return response

        return handle

    async def inputs(self, request: web.Request) -> dict[str, Any]:
        if request.method != "POST":
            return dict(request.query)
        try:
            body = json.loads(await request.read(), parse_float=Decimal)
        except (ValueError, RecursionError):
            return {"": "no JSON"}
        return body if isinstance(body, dict) else {"": "no object"}

    def answer(self, call: Call) -> web.Response:
        status = 200
        try:
            if "" in call.inputs:
                raise RefusalError("the body has to be a JSON object")
            self.flaw.apply("before", call)
            data = self.flaw.apply("data", call, getattr(self, call.operation)(call))
            envelope = self.enveloped(call, data)
        except RefusalError as refusal:
            envelope = {"code": refusal.code, "msg": refusal.msg, "data": {}}
            if call.generation == 1:
                envelope["status"] = 1
            changed = self.flaw.apply("refusal", call, envelope)
            status, envelope = changed if isinstance(changed, tuple) else (200, changed)
        envelope = self.flaw.apply("envelope", call, envelope)
        text = json.dumps(envelope, ensure_ascii=False, separators=(",", ":"), default=float)
        body = text.encode(errors="replace")  # inputs may hold lone surrogates
        return web.Response(body=body, status=status, content_type="application/json")

    def enveloped(self, call: Call, data: Data) -> Data:
        if call.generation == 1:
            return {"code": 0, "data": data, "msg": "success", "status": 0}
        return {"code": 0, "msg": "success", "data": data}

    # look-ups

    def chain(self, name: str) -> Data:
        for item in self.chains:
            if item["nickName"] == name:
                return item
        raise RefusalError(f"chain {name} is not supported", 31005)

    def token(self, chain: str, key: str, value: Any) -> Data:
        """Return index, symbol, usd, address and decimals of a token on a chain, and the chain."""
        self.chain(chain)
        for token in self.tokens:
            contract = token["contracts"].get(chain)
            if contract and same(value, contract["address"] if key == "address" else token[key]):
                return {**token, **contract, "chain": chain}
        raise RefusalError(f"token {value} is not supported on {chain}", 31006)

    # quotes

    def bridged(self, amount: int, symbol: str, source: str, target: str) -> dict[str, Any]:
        here, there = (self.token(chain, "symbol", symbol) for chain in (source, target))
        if source == target:
            raise RefusalError("the chains are the same")
        shift = there["decimals"] - here["decimals"]
        out = amount * 10**shift if shift >= 0 else amount // 10**-shift
        return self.with_fees(out, there, 30 if self.on("varied-fees") else 6)

    def with_fees(self, out: int, there: Data, rate: int) -> dict[str, Any]:
        gas = Decimal("0.5") if self.on("varied-fees") else Decimal("0.3")
        if self.on("gas-is-dear-on-some-chains") and there["chain"] in {"ETH", "ARB", "BNB"}:
            gas *= 20
        gas_units = int((gas / there["usd"]).scaleb(there["decimals"])) if rate else 0
        usd = world.scaled(out, there["decimals"]) * there["usd"]
        if self.on("fees-by-tier") and usd >= 100:
            rate //= 2
        fee = out * rate // 10_000
        if self.on("fee-capped"):
            fee = min(fee, int((5 / there["usd"]).scaleb(there["decimals"])))
        if self.on("fee-of-at-least-a-dollar") and rate:
            fee = max(fee, int((1 / there["usd"]).scaleb(there["decimals"])))
        if self.on("fees-in-hundredths") and there["usd"] < 10:
            fee = world.in_hundredths(fee, there["decimals"])
        if out <= fee + gas_units:
            raise RefusalError("amount can't cover gas and fee", 31071)
        return {"out": out, "service": fee, "gas": gas_units, "usd": usd, "there": there}

    def swapped(self, amount: int, here: Data, there: Data, *, same_chain: bool) -> dict[str, Any]:
        value = world.scaled(amount, here["decimals"]) * here["usd"]
        exact = value * Decimal("0.997") / there["usd"]
        if self.on("large-swaps-pay-less-per-token"):
            exact *= 10**7 / (10**7 + value)
        out = int(exact.scaleb(there["decimals"]))
        rate = 0 if same_chain and not self.on("same-chain-fees") else 20
        return self.with_fees(out, there, rate)

    def getBridgeQuote(self, call: Call) -> Data:
        amount, symbol, source, target = call.need("amount", "symbol", "fromChain", "toChain")
        quote = self.bridged(units_of(amount, "amount"), symbol, source, target)
        return {
            "price": world.plain(quote["there"]["usd"]),
            "outAmount": str(quote["out"]),
            "outAmountUsd": world.plain(quote["usd"]),
            "serviceFee": str(quote["service"]),
            "gasFee": str(quote["gas"]),
        }

    def ends(self, call: Call, source: str, target: str) -> tuple[Data, Data]:
        """Return the two tokens of a swap, with the decimals that were asked for."""
        tokens = []
        for side, chain in (("from", source), ("to", target)):
            where, decimals = call.need(f"{side}TokenAddress", f"{side}Decimal")
            token = self.token(chain, "address", where)
            if decimals != str(token["decimals"]):
                raise RefusalError(f"{side}Decimal is not that of {token['symbol']}")
            tokens.append(token)
        return tokens[0], tokens[1]

    def getAggregateQuote(self, call: Call) -> Data:
        amount, source, target = call.need("fromAmount", "fromChain", "toChain")
        here, there = self.ends(call, source, target)
        quote = self.swapped(
            units_of(amount, "fromAmount"), here, there, same_chain=source == target
        )
        return {
            "chain": self.chain(target)["network"],
            "chainDecimal": there["decimals"],
            "aggregator": "ChaingeDex" if target == "FSN" else "1inch",
            "outAmount": str(quote["out"]),
            "outAmountUsd": world.plain(quote["usd"]),
            "minOutAmount": "",
            "serviceFee": str(quote["service"]),
            "gasFee": str(quote["gas"]),
            "priceImpact": "-0.3",
        }

    def getAggregateSwap(self, call: Call) -> Data:
        names = ("fromAmount", "chain", "sender", "recipient", "slippage", "allowPartialFill")
        amount_text, chain, sender, recipient, slippage, partial = call.need(*names)
        amount = units_of(amount_text, "fromAmount")
        here, there = self.ends(call, chain, chain)
        if not re.fullmatch(r"[0-9]{1,4}", slippage) or int(slippage) > 5000:
            raise RefusalError("slippage has to be from 0 to 5000")
        if partial not in {"true", "false"}:
            raise RefusalError("allowPartialFill has to be true or false")
        if not re.fullmatch(r"0x[0-9a-fA-F]{40}|(?!0x)[0-9A-Za-z:]{20,90}", recipient):
            raise RefusalError("recipient has to be an address")
        out = self.swapped(amount, here, there, same_chain=True)["out"]
        if out >= 2**256:
            raise RefusalError("fromAmount is too large for a call")
        steps = {"least": out * (10_000 - int(slippage)) // 10_000, "recipient": recipient}
        steps |= {"amount": amount, "here": here, "there": there}
        value = amount if here["address"] == world.NATIVE else 0
        if self.on("native-value-zero-on-polygon") and chain == "POLYGON":
            value = 0
        if self.on("call-data-keeps-sender") or (self.on("sender-paid-on-cro") and chain == "CRO"):
            steps["recipient"] = sender
        if self.on("call-data-without-slippage"):
            steps["least"] = out
        if self.on("call-data-slippage-percent"):
            steps["least"] = out * max(100 - int(slippage), 0) // 100
        return {
            "amountOut": str(out),
            "from": sender.lower() if sender.startswith("0x") else sender,
            "to": world.ROUTER,
            "gas": "0",
            "value": str(value),
            "data": call_data(steps),
        }

    # lists

    def getChain(self, call: Call) -> Data:
        return {"version": 7, "list": [dict(item) for item in self.chains]}

    def getAssets(self, call: Call) -> Data:
        items = [
            {key: token[key] for key in ("index", "symbol", "name")}
            | {
                "delisted": False,
                "visible": True,
                "contracts": {chain: dict(entry) for chain, entry in token["contracts"].items()},
            }
            for token in self.tokens
        ]
        return {"version": 7, "list": items}

    def getAssetsByChain(self, call: Call) -> Data:
        (chain,) = call.need("chain")
        self.chain(chain)
        items = [
            {key: token[key] for key in ("index", "symbol", "name")}
            | {
                "decimals": token["contracts"][chain]["decimals"],
                "contractAddress": token["contracts"][chain]["address"],
            }
            for token in self.tokens
            if chain in token["contracts"]
        ]
        return {"version": 7, "list": items}

    def getPrice(self, call: Call) -> Data:
        chain, where, symbol = call.need("chain", "contractAddress", "symbol")
        token = self.token(chain, "address", where)
        if token["symbol"] != symbol:
            raise RefusalError(f"{where} is not {symbol}")
        price = world.plain(token["usd"])
        return {"price": price, "updateTime": str(int(time.time())), "source": "six"}

    def getBalance(self, call: Call) -> Data:
        chain, where, owner = call.need("chain", "contractAddress", "address")
        token = self.token(chain, "address", where)
        seed = hashlib.sha256(f"{chain}{where}{owner}".lower().encode()).digest()
        units = int.from_bytes(seed[:2], "big") * 10 ** token["decimals"] // 977
        human = world.plain(world.scaled(units, token["decimals"]).normalize())
        return {"balance": str(units), "hrpBalance": human}

    # orders

    def submitOrder(self, call: Call) -> Data:
        sender = self.sender(call)
        missing = [name for name in ORDER_BODY if not isinstance(call.inputs.get(name), str)]
        if missing:
            raise RefusalError(f"{missing[0]} is missing, or no string")
        certificate = self.certificate(call.inputs["sourceCerts"])
        key = f"{certificate['fromChain']} {certificate['certHash']}"
        body = {name: call.inputs.get(name) for name in (*ORDER_BODY, "toChain")}
        order = self.order(key, body, sender)
        if order:
            return {"id": order["id"]}
        order = {"key": key, "body": body, "sender": sender, "start": time.time()}
        order |= {"id": str(30_000_000_001 + len(self.orders)), **self.outcome(body, certificate)}
        if self.on("ids-collide-after-nine") and len(self.orders) >= 9:
            order["id"] = "30000000001"
        if self.on("order-ids-with-letters"):
            order["id"] = f"ord-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
        if self.on("order-ids-of-thirty-digits"):
            order["id"] = str(10**29 + len(self.orders))
        self.orders[order["id"]] = order
        return {"id": order["id"]}

    def order(self, key: str, body: Data, sender: str) -> Data | None:
        """Return the order that was made for this deposit before."""
        for order in self.orders.values():
            if order["key"] == key and not self.on("same-hash-another-order"):
                if (order["body"], order["sender"]) != (body, sender):
                    raise RefusalError("the transaction belongs to another order")
                if self.on("same-hash-refused"):
                    raise RefusalError("the transaction has its order already")
                return order
        return None

    def sender(self, call: Call) -> str:
        sender = call.request.headers.get("Evmaddress", "")
        if not EVM.fullmatch(sender) or not call.request.headers.get("Signature"):
            raise RefusalError("Evmaddress and Signature are required")
        return sender

    def certificate(self, text: str) -> Data:
        try:
            certificate = json.loads(bytes.fromhex(text.removeprefix("0x")))
            wanted = ("fromAmount", "fromIndex", "fromChain", "fromAddr", "certHash")
            certificate = {name: str(certificate[name]) for name in wanted}
        except (ValueError, TypeError, KeyError, RecursionError):
            raise RefusalError("sourceCerts cannot be read") from None
        self.hash_of(certificate["fromChain"], certificate["certHash"])
        return certificate

    def hash_of(self, chain: str, text: str) -> None:
        family = self.chain(chain)["family"]
        if self.on("kaspa-hashes-refused") and chain == "KAS":
            family = 1
        if not re.fullmatch(HASHES.get(family, r"(0x)?[0-9a-fA-F]{64}"), text):
            raise RefusalError(f"this is no transaction hash of {chain}")

    def outcome(self, body: Data, certificate: Data) -> Data:
        source = certificate["fromChain"]
        target = body.get("toChain") or source
        here = self.token(source, "index", index(certificate["fromIndex"]))
        there = self.token(target, "index", index(body["toIndex"]))
        amount = units_of(certificate["fromAmount"], "fromAmount")
        if body["orderType"] == "1" and here["index"] == there["index"]:
            quote = self.bridged(amount, here["symbol"], source, target)
        elif body["orderType"] == "2":
            quote = self.swapped(amount, here, there, same_chain=source == target)
        else:
            raise RefusalError("orderType does not fit the tokens")
        net = quote["out"] - quote["service"] - quote["gas"]
        return {"gross": quote["out"], "net": net, "gas": quote["gas"]}

    def checkOrder(self, call: Call) -> Data:
        (name,) = call.need("id")
        order = self.orders.get(name)
        if order is None or "net" not in order:
            if self.on("unknown-order-is-pending"):
                return stand("Unknown", int(time.time()))
            raise RefusalError(f"there is no order {name}")
        age = time.time() - order["start"]
        slow = 3600 if self.on("orders-take-an-hour") else 1
        start = int(order["start"])
        if age < 0.5 * slow:
            return stand("Unknown", start)
        if age < 1.5 * slow:
            return stand("Verifying" if self.on("other-statuses") else "Pending", start)
        amount = order["gross" if self.on("order-amount-gross") else "net"]
        done = hashlib.sha256(order["id"].encode()).hexdigest()
        return stand("Succeeded", start + 1, "0x" + done, str(amount))

    # tickets

    def submitTicket(self, call: Call) -> Data:
        sender = self.sender(call)
        hash_text, chain = call.need("hash", "chain")
        self.hash_of(chain, hash_text)
        anew = self.on("tickets-are-made-anew-each-time")
        for ticket in [] if anew else self.tickets:
            if (ticket["hash"], ticket["chain"], ticket["address"]) == (hash_text, chain, sender):
                return {"ticketId": ticket["ticketId"]}
        number = 1 if self.on("ticket-numbers-repeat") else len(self.tickets) + 1
        number += 2**60 if self.on("ticket-numbers-beyond-2-53") else 0
        number -= 1 if self.on("ticket-numbers-begin-at-zero") else 0
        ticket = {"ticketId": number, "address": sender, "chain": chain, "hash": hash_text}
        self.tickets.append(ticket | {"succeeded": False, "solution": ""})
        return {"ticketId": number}

    def getAllTicketByAddress(self, call: Call) -> Data:
        address, word = call.need("address", "filter")
        if word not in {"Unknown", "Pending", "Succeeded"}:
            raise RefusalError("filter has to be Unknown, Pending or Succeeded")
        mine = [dict(t) for t in self.tickets if same(t["address"], address)]
        if self.on("tickets-of-everybody"):
            mine = [dict(t) for t in self.tickets]
        wanted = "Pending"
        if word != wanted and not self.on("ticket-filter-ignored"):
            mine = []
        return {"list": mine}

    def checkTicket(self, call: Call) -> Data:
        (number,) = call.need("ticketId")
        for ticket in self.tickets:
            if str(ticket["ticketId"]) == number:
                return {"succeeded": ticket["succeeded"], "solution": ticket["solution"]}
        raise RefusalError(f"there is no ticket {number}")

    # the first generation

    def authenticated(self, call: Call) -> None:
        headers = call.request.headers
        if self.on("v1-without-authentication"):
            return
        if not all(headers.get(name) for name in ("appKey", "signature")):
            raise RefusalError("Validation failed!", 31010)
        if not all(headers.get(n, "").isdigit() for n in ("expireTime", "timestamp")):
            raise RefusalError("Validation failed!", 31010)

    def v1_chain(self, name: str) -> str:
        if name not in world.V1_NAMES:
            raise RefusalError("Not support this chain!", 31005)
        return world.V1_NAMES[name]

    def getSupportChains(self, call: Call) -> Data:
        back = {nick: name for name, nick in world.V1_NAMES.items()}
        items = [
            {
                "id": item["chainIndex"],
                "name": back[item["nickName"]],
                "chainId": int(item["network"]),
                "fullName": item["fullName"],
                "url": f"https://icons.invalid/{item['chainIndex']}.png",
                "tokens": [],
                "isActive": True,
            }
            for item in self.chains
            if item["nickName"] in back
        ]
        return {"chains": items}

    def getSupportTokens(self, call: Call) -> Data:
        name = call.request.headers.get("chain") or call.request.query.get("chain") or ""
        chain = self.v1_chain(name)
        items = [
            {
                "address": token["contracts"][chain]["address"],
                "chain": name,
                "decimals": token["contracts"][chain]["decimals"],
                "name": token["name"],
                "price": world.plain(token["usd"]),
                "symbol": token["symbol"],
                "url": f"https://icons.invalid/{token['index']}.png",
            }
            for token in self.tokens
            if chain in token["contracts"]
        ]
        return {"tokenVos": items}

    def v1_amount(self, call: Call, name: str, token: Data) -> int:
        value = call.inputs.get(name)
        try:
            amount = Decimal(str(value))
        except InvalidOperation:
            amount = Decimal(0)
        if isinstance(value, bool) or not amount.is_finite() or not 0 < amount < 10**30:
            raise RefusalError(f"{name} has to be an amount above 0")
        units = int(amount.scaleb(token["decimals"]))
        if not units:
            raise RefusalError(f"{name} is finer than the token")
        return units

    def v1_quote(self, call: Call, amount: str, token: str) -> dict[str, Any]:
        source, target, symbol = call.need("fromChain", "toChain", token)
        if (
            not isinstance(call.inputs.get("feeLevel"), int)
            or not 0 <= call.inputs["feeLevel"] <= 10
        ):
            raise RefusalError("feeLevel has to be from 0 to 10")
        here = self.token(self.v1_chain(source), "symbol", symbol)
        units = self.v1_amount(call, amount, here)
        if source == target:
            raise RefusalError("the chains are the same")
        self.token(self.v1_chain(target), "symbol", symbol)
        paid = world.scaled(units, here["decimals"])
        gas = Decimal(int(Decimal("0.3") / here["usd"] * 10**8)) / 10**8
        fee = paid * (6 + 5 * call.inputs["feeLevel"]) / 10_000
        if paid <= fee + gas:
            raise RefusalError(
                "Get cross chain quote error! Amount can't cover gas and fee!", 31071
            )
        return {"in": paid, "out": paid - fee - gas, "fee": fee, "gas": gas, "units": units}

    def getCrossChainQuote(self, call: Call) -> Data:
        self.authenticated(call)
        quote = self.v1_quote(call, "amount", "token")
        amounts = {"amountIn": quote["in"], "amountOut": quote["out"]}
        amounts |= {"fee": quote["fee"], "gas": quote["gas"]}
        shown = {name: figure(value) for name, value in amounts.items()}
        return {"crossChain": shown | {"tokenIn": call.inputs["token"]}}

    def getTransferToMinterRaw(self, call: Call) -> Data:
        self.authenticated(call)
        chain, symbol, owner, sender = call.need("chain", "token", "evmAddress", "fromAddress")
        if not EVM.fullmatch(owner) or not same(owner, sender):
            raise RefusalError("evmAddress and fromAddress have to be the same address")
        token = self.token(self.v1_chain(chain), "symbol", symbol)
        units = self.v1_amount(call, "amount", token)
        if self.on("v1-raw-eighteen-decimals"):
            units *= 10 ** (18 - token["decimals"])
        minter = sender if self.on("v1-raw-pays-the-user") else world.MINTER
        native = token["address"] == world.NATIVE
        to, value, data = minter, units, b""
        if not native:
            to, value = token["address"], 0
            data = bytes.fromhex(f"a9059cbb{world.word(minter)}{units:064x}")
        fields = [world.number(n) for n in (7, 5 * 10**9, 90_000)]
        fields += [bytes.fromhex(to[2:]), world.number(value), data]
        fields += [] if self.on("v1-raw-of-six-items") else [b"", b"", b""]
        raw = world.rlp(fields).hex()
        seal = "".join(hashlib.sha256(f"{raw}{n}".encode()).hexdigest() for n in range(4))
        return {"raw": f"{raw}_{seal}"}

    def submitCrossChain(self, call: Call) -> Data:
        self.authenticated(call)
        (owner, certificate) = call.need("evmAddres", "certHash")
        sender = call.inputs.get("fromAddress")
        text = f"0x{sender:040x}" if isinstance(sender, int) else str(sender)
        if not EVM.fullmatch(owner) or not same(owner, text):
            raise RefusalError("fromAddress has to be the address evmAddres")
        self.hash_of(self.v1_chain(str(call.inputs.get("fromChain"))), certificate)
        quote = self.v1_quote(call, "fromAmount", "fromToken")
        key = f"v1 {call.inputs['fromChain']} {certificate.lower()}"
        body = {name: str(value) for name, value in call.inputs.items()}
        order = self.order(key, body, owner)
        if order is None:
            number = len(self.orders) + 1
            sn = f"CC10102{time.strftime('%Y%m%d%H%M%S', time.gmtime())}{number:03}"
            order = {"id": sn, "key": key, "body": body, "sender": owner, "out": quote["out"]}
            self.orders[sn] = order | {"start": time.time()}
        return {"sn": order["id"], "status": 1}

    def getOrderDetailByHashAndEvmAddress(self, call: Call) -> Data:
        self.authenticated(call)
        chain, certificate, owner = call.need("chain", "hash", "evmAddress")
        for order in self.orders.values():
            key = f"v1 {chain} {certificate.lower()}"
            matches = order["key"] == key or (
                self.on("v1-detail-by-end-of-hash") and order["key"][-8:] == key[-8:]
            )
            if matches and same(order["sender"], owner):
                return {"order": self.v1_order(order)}
        raise RefusalError("there is no such order")

    def v1_order(self, order: Data) -> Data:
        body = order["body"]
        done = time.time() - order["start"] > 1.5
        return {
            "sn": order["id"],
            "status": 2 if done else 1,
            "type": 1,
            "certHash": body["certHash"],
            "fromAddress": order["sender"],
            "fromAmount": body["fromAmount"],
            "fromChain": body["fromChain"],
            "fromToken": body["fromToken"],
            "toAddress": order["sender"],
            "toAmount": world.plain(order["out"].normalize()) if done else "0",
            "toChain": body["toChain"],
            "toHash": "0x" + hashlib.sha256(order["id"].encode()).hexdigest() if done else "",
            "toToken": body["fromToken"],
            "feeLevel": body["feeLevel"],
            "backAmount": "0",
            "backHash": None,
        }


def same(left: Any, right: Any) -> bool:
    """Compare EVM addresses without regard to case, and all else exactly."""
    if isinstance(left, str) and EVM.fullmatch(left):
        return left.lower() == str(right).lower()
    return bool(left == right)


def index(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else -1


def figure(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def stand(status: str, when: int, done: str = "", amount: str = "0") -> Data:
    """Return the answer of checkOrder."""
    shown = {"status": status, "timestamp": when, "execHash": done}
    return shown | {"reason": "", "amountOut": amount}


def call_data(steps: Data) -> str:
    words = [
        world.word(steps["here"]["address"]),
        world.word(steps["there"]["address"]),
        world.word(steps["recipient"]),
        f"{steps['amount']:064x}",
        f"{steps['least']:064x}",
    ]
    return "0x12aa3caf" + "".join(words)
