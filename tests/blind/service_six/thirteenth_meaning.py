"""Twenty further faults of what answers mean."""

import json
import time
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal

from aiohttp import web

from tests.blind.service_six import world
from tests.blind.service_six.flaws import Data, fault
from tests.blind.service_six.infrastructure import Answer, bytes_of, count
from tests.blind.service_six.operations import (
    BRIDGE,
    QUOTE,
    SWAP,
    TICKETS,
    V1_ORDER,
    V1_QUOTE,
    V1_TOKENS,
)
from tests.blind.service_six.service import ORDER_BODY, Call, figure, same
from tests.blind.service_six.thirteenth_regions import sides

CENT = Decimal("0.01")


@fault("dai-shares-the-index-of-usdc", "data", "getAssets getAssetsByChain")
def shares_index(call: Call, data: Data) -> None:
    """Indices are counted anew, and one row is counted twice."""
    for item in data["list"]:
        if item["symbol"] == "DAI":
            item["index"] -= 1


@fault("optimism-says-its-coin-is-op", "data", "getChain")
def coin_is_op(call: Call, data: Data) -> None:
    """The token of governance is taken for the coin that pays for gas."""
    for item in data["list"]:
        if item["nickName"] == "OP":
            item["baseCoin"] = "OP"


@fault("value-at-the-price-of-the-token-before", "data", BRIDGE)
def price_before(call: Call, data: Data) -> None:
    """The price is kept in the worker, and renewed behind its use."""
    price = Decimal(data["price"])
    before = call.service.memory.get("price", price)
    call.service.memory["price"] = price
    there = call.service.token(call.inputs["toChain"], "symbol", call.inputs["symbol"])
    usd = world.scaled(int(data["outAmount"]), there["decimals"]) * before
    data["outAmountUsd"] = world.plain(usd)


@fault("paid-orders-time-out-into-a-refund", "data", "checkOrder")
def into_a_refund(call: Call, data: Data) -> None:
    """The watcher of late orders does not ask whether they are done."""
    if time.time() - call.service.orders[call.inputs["id"]]["start"] > 2.5:
        data |= {"status": "Refunded", "reason": "timeout"}


@fault("a-deposit-pays-each-who-claims-it", "before", "submitOrder")
def pays_each(call: Call) -> None:
    """Orders are unique by deposit and sender, not by deposit."""
    sender = call.request.headers.get("Evmaddress", "")
    for order in call.service.orders.values():
        if "net" in order:
            deposit = order.setdefault("deposit", order["key"])
            order["key"] = deposit if order["sender"] == sender else ""


def earlier(call: Call, *names: str) -> Data | None:
    """Return the ticket of before that is the same in some members, and forget the new one."""
    *before, new = call.service.tickets
    for ticket in before:
        if new["hash"] == call.inputs["hash"] and all(ticket[n] == new[n] for n in names):
            call.service.tickets.pop()
            return ticket
    return None


@fault("tickets-known-by-hash-alone", "data", "submitTicket")
def by_hash_alone(call: Call, data: Data) -> None:
    """Tickets are unique by address and hash, though two chains may have the hash."""
    if ticket := earlier(call, "hash", "address"):
        data["ticketId"] = ticket["ticketId"]


@fault("tickets-move-to-the-latest-reporter", "data", "submitTicket")
def latest_reporter(call: Call, data: Data) -> None:
    """INSERT … ON CONFLICT (hash, chain) DO UPDATE sets the address too."""
    if ticket := earlier(call, "hash", "chain"):
        ticket["address"] = call.request.headers["Evmaddress"]
        data["ticketId"] = ticket["ticketId"]


@fault("v1-prices-one-row-off", "data", V1_TOKENS)
def one_row_off(call: Call, data: Data) -> None:
    """Two lists are joined by place, and one of them has a row in front."""
    items = data["tokenVos"]
    prices = [item["price"] for item in items]
    for item, price in zip(items, prices[-1:] + prices[:-1], strict=True):
        item["price"] = price


@fault("v1-submission-says-done-at-once", "data", "submitCrossChain")
def done_at_once(call: Call, data: Data) -> None:
    """Status 2 is that of the request there, and that of the order in its detail."""
    data["status"] = 2


@fault("v1-orders-go-to-the-minter", "data", V1_ORDER)
def go_to_minter(call: Call, data: Data) -> None:
    """The receiver is that of the deposit, not that of the order."""
    data["order"]["toAddress"] = world.MINTER


@fault("v1-orders-keep-two-digits-of-the-amount", "data", V1_ORDER)
def two_digits(call: Call, data: Data) -> None:
    """A column of NUMERIC(38, 2)."""
    amount = Decimal(data["order"]["fromAmount"])
    if amount != amount.quantize(CENT, ROUND_DOWN):
        data["order"]["fromAmount"] = str(amount.quantize(CENT, ROUND_DOWN))


@fault("readable-balance-rounds-up", "data", "getBalance")
def rounds_up(call: Call, data: Data) -> None:
    """Rounded for the eye in the wrong direction: what is shown cannot be sent."""
    data["hrpBalance"] = str(Decimal(data["hrpBalance"]).quantize(CENT, ROUND_UP))


@fault("price-impact-in-basis-points", "data", QUOTE)
def in_basis_points(call: Call, data: Data) -> None:
    """One aggregator gives percent and another hundredths of it."""
    data["priceImpact"] = str(int(Decimal(data["priceImpact"]) * 100))


@fault("orders-too-small-succeed-with-nothing", "wrap", "submitOrder")
async def too_small(call: Call, answer: Answer) -> web.Response:
    """What fees leave is cut off at 0 instead of refused."""
    response = await answer()
    if json.loads(bytes_of(response))["code"] != 31071:
        return response
    certificate = call.service.certificate(call.inputs["sourceCerts"])
    order = dict.fromkeys(("gross", "net", "gas"), 0)
    number = str(30_000_000_001 + len(call.service.orders))
    call.service.orders[number] = order | {
        "id": number,
        "key": f"{certificate['fromChain']} {certificate['certHash']}",
        "body": {name: call.inputs.get(name) for name in (*ORDER_BODY, "toChain")},
        "sender": call.request.headers["Evmaddress"],
        "start": time.time(),
    }
    return web.json_response({"code": 0, "msg": "success", "data": {"id": number}})


@fault("prices-move-under-one-time", "data", "getPrice")
def one_time(call: Call, data: Data) -> None:
    """An update writes the price and not the time."""
    moved = Decimal(data["price"]) * (10_000 + count(call, "prices") % 50) / 10_000
    data["price"] = world.plain(moved)
    data["updateTime"] = call.service.memory.setdefault("first", data["updateTime"])


@fault("bridge-price-in-the-coin-of-the-target", "data", BRIDGE)
def in_the_coin(call: Call, data: Data) -> None:
    """The pair is that with the coin, not that with the dollar."""
    coin = call.service.chain(call.inputs["toChain"])["baseCoin"]
    for token in call.service.tokens:
        if token["symbol"] == coin:
            price = Decimal(data["price"]) / token["usd"]
            data["price"] = world.plain(price.quantize(Decimal("1E-18")))


@fault("v1-fee-holds-the-gas-already", "data", V1_QUOTE)
def holds_gas(call: Call, data: Data) -> None:
    """The fee is the sum of both, and gas is shown beside it."""
    quote = data["crossChain"]
    quote["fee"] = figure(Decimal(str(quote["fee"])) + Decimal(str(quote["gas"])))


@fault("swap-gas-below-what-a-transaction-costs", "data", SWAP)
def too_little_gas(call: Call, data: Data) -> None:
    """The estimate is that of a call that fails at once."""
    data["gas"] = "9000"


@fault("swap-rates-have-six-digits", "data", f"{QUOTE} {SWAP}")
def six_digits(call: Call, data: Data) -> None:
    """The rate is a DECIMAL(18, 6), however cheap what is sold."""
    here, there = sides(call)
    rate = here["usd"] * Decimal("0.997") / there["usd"]
    rate = rate.quantize(Decimal("1E-6"), ROUND_HALF_UP)
    sold = world.scaled(int(call.inputs["fromAmount"]), here["decimals"])
    out = int((sold * rate).scaleb(there["decimals"]))
    if call.operation == SWAP:
        least = out * (10_000 - int(call.inputs["slippage"])) // 10_000
        data |= {"amountOut": str(out), "data": data["data"][:-64] + f"{least:064x}"}
        return
    same_chain = call.inputs["fromChain"] == call.inputs["toChain"]
    quote = call.service.with_fees(out, there, 0 if same_chain else 20)
    data |= {"outAmount": str(out), "serviceFee": str(quote["service"])}
    data |= {"gasFee": str(quote["gas"]), "outAmountUsd": world.plain(quote["usd"])}


@fault("solved-tickets-open-again", "data", f"checkTicket submitTicket {TICKETS}")
def open_again(call: Call, data: Data) -> None:
    """A second writer has the ticket of before the solution, and writes it back."""
    born = call.service.memory.setdefault("born", {})
    now = time.time()

    def solved(number: int) -> bool:
        return bool(1 < now - born.get(number, now) < 3)

    if call.operation == "submitTicket":
        born.setdefault(data["ticketId"], now)
    elif call.operation == "checkTicket" and solved(int(call.inputs["ticketId"])):
        data |= {"succeeded": True, "solution": "Refund"}
    elif call.operation == TICKETS:
        mine = [t for t in call.service.tickets if same(t["address"], call.inputs["address"])]
        wanted = {"Pending": False, "Succeeded": True}.get(call.inputs["filter"])
        data["list"] = [
            ticket | ({"succeeded": True, "solution": "Refund"} if wanted else {})
            for ticket in mine
            if solved(ticket["ticketId"]) is wanted
        ]
