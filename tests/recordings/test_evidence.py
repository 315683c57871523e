"""What exchanges say of assumptions: cases written from the register and the description alone.

An assumption is confirmed by an exchange in which it could have failed, contradicted by one that it
excludes, and one of its registered alternatives is named where the exchange fits that. Of all
others nothing is said.
"""

import json
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from mockserver.contract.load import ContractSource
from mockserver.http_messages import Headers, Request, Response
from mockserver.learning.register_evidence import evidence_of
from mockserver.recordings import RecordedExchange, Recording, Source

USER = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
COIN = "0x55d398326f99059fF775485246999027B3197955"
HASH = "0x" + "ab" * 32
DEPOSIT = "0x" + "cd" * 32
CONTRACT = ContractSource().contract()
SIGNED = {
    "appKey": "k",
    "expireTime": "15000",
    "timestamp": "1767225600000",
    "signature": "ab" * 32,
}
WALLET = {"Evmaddress": USER, "Signature": "0x" + "ab" * 65}


def call(operation, answer, *, query=None, body=None, **more):
    """An exchange: `answer` is the data of a success, or a whole body as text or dict with code."""
    spec = CONTRACT.operation(operation)
    headers = more.get("headers")
    if headers is None:
        headers = SIGNED if operation.startswith("v1.") and body is not None else {}
        headers = WALLET if operation in ("v2.submitOrder", "v2.submitTicket") else headers
    if isinstance(answer, dict) and "code" not in answer:
        answer = {"code": 0, "msg": "success", "data": answer}
        if operation.startswith("v1."):
            answer["status"] = 0
    raw = answer if isinstance(answer, str) else json.dumps(answer)
    return RecordedExchange(
        name=more.get("name", ""),
        operation=operation,
        request=Request(
            spec.method,
            more.get("path", spec.path),
            urlencode(query or {}),
            Headers(tuple(headers.items())),
            more.get("raw_body", b"" if body is None else json.dumps(body).encode()),
        ),
        response=Response(more.get("status", 200), more.get("answered", ()), raw.encode()),
        origin="captured",
        time_ms=more.get("at_ms"),
        duration_ms=more.get("took_ms"),
    )


def refusal(**members):
    return {"code": 7, "msg": "no such thing", "data": {}, **members}


def price(answer=None, **more):
    query = {"chain": "BNB", "contractAddress": COIN, "symbol": "USDT", **more.pop("query", {})}
    data = {"price": "1.0", "updateTime": "1767225600", "source": "x"}
    return call("v2.getPrice", {**data, **(answer or {})} if "code" not in (answer or {})
                else answer, query=query, **more)  # fmt: skip


def balance(whole, readable, address=USER):
    query = {"chain": "BNB", "contractAddress": COIN, "address": address}
    return call("v2.getBalance", {"balance": whole, "hrpBalance": readable}, query=query)


def status(answer, order="77"):
    data = {
        "status": "Succeeded",
        "timestamp": 1767225600,
        "execHash": HASH,
        "reason": "",
        "amountOut": "990",
    }
    answer = {**data, **answer} if "code" not in answer else answer
    return call("v2.checkOrder", answer, query={"id": order})


def submission(answer, **changes):
    body = {"channel": "c", "execStrategy": "", "extra": "", "orderType": "1", "slippage": "0",
            "sourceCerts": "ab" * 40, "timeout": "0", "toAddr": USER, "toChain": "BNB",
            "toIndex": "4", "triggerPrice": "0"}  # fmt: skip
    return call("v2.submitOrder", answer, body={**body, **changes})


def ticket(answer, **changes):
    return call("v2.submitTicket", answer, body={"hash": HASH, "chain": "BNB", **changes})


def tickets(items, wanted="Succeeded"):
    query = {"address": USER, "filter": wanted}
    return call("v2.getAllTicketByAddress", {"list": items}, query=query)


def row(number=5, **changes):
    return {"ticketId": number, "address": USER, "chain": "BNB", "hash": HASH, "succeeded": True,
            "solution": "refund", **changes}  # fmt: skip


def chains(*names, version=3):
    return call("v2.getChain", {"version": version, "list": [{"nickName": name} for name in names]})


def assets(*symbols, version=3):
    items = [
        {"symbol": symbol, "index": number, "contracts": {"BNB": {"address": COIN}}}
        for number, symbol in enumerate(symbols)
    ]
    return call("v2.getAssets", {"version": version, "list": items})


def chains_v1(*names, **more):
    return call("v1.getSupportChains", {**more, "list": [{"chain": name} for name in names]})


def quote_v1(answer, **changes):
    body = {"amount": 10, "fromChain": "BNB", "toChain": "ETH", "token": "USDT", "feeLevel": 0}
    headers = {**SIGNED, **changes.pop("headers", {})}
    more = {name: changes.pop(name) for name in ("at_ms", "took_ms") if name in changes}
    return call("v1.getCrossChainQuote", answer, body={**body, **changes}, headers=headers, **more)


def submission_v1(answer, **changes):
    body = {"fromAmount": 10, "fromChain": "BNB", "evmAddres": USER, "fromToken": "USDT",
            "fromAddress": int(USER, 16), "certHash": DEPOSIT, "toChain": "ETH",
            "feeLevel": 0}  # fmt: skip
    return call("v1.submitCrossChain", answer, body={**body, **changes})


def bridge(answer, amount="1000", **query):
    query = {"amount": amount, "symbol": "USDT", "fromChain": "BNB", "toChain": "ETH", **query}
    return call("v2.getBridgeQuote", answer, query=query)


def paid(out, **more):
    return {"price": "1", "outAmount": out, "outAmountUsd": "1", "serviceFee": "1", "gasFee": "1",
            **more}  # fmt: skip


def swap_quote(answer, amount="1000", **query):
    query = {"fromAmount": amount, "fromTokenAddress": COIN, "fromDecimal": "18",
             "fromChain": "BNB", "toTokenAddress": "0x" + "e" * 40, "toDecimal": "18",
             "toChain": "BNB", **query}  # fmt: skip
    data = {"chain": "56", "chainDecimal": 18, "aggregator": "x", "outAmount": "1000",
            "outAmountUsd": "1", "minOutAmount": "", "serviceFee": "1", "gasFee": "1",
            "priceImpact": "-0.1"}  # fmt: skip
    answer = {**data, **answer} if "code" not in answer else answer
    return call("v2.getAggregateQuote", answer, query=query)


def checked_ticket(**changes):
    data = {"succeeded": True, "solution": "refund", **changes}
    return call("v2.checkTicket", data, query={"ticketId": "5"})


def swap(answer=None, **query):
    query = {"fromAmount": "1000", "fromTokenAddress": COIN, "fromDecimal": "18",
             "toTokenAddress": "0x" + "e" * 40, "toDecimal": "18", "chain": "BNB",
             "sender": USER, "recipient": USER, "slippage": "100", "allowPartialFill": "false",
             **query}  # fmt: skip
    data = {"amountOut": "990", "from": USER, "to": COIN, "gas": "1", "value": "0",
            "data": "0xaa", **(answer or {})}  # fmt: skip
    return call("v2.getAggregateSwap", data, query=query)


def of_chain(*symbols):
    rows = [{"symbol": symbol} for symbol in symbols]
    return call("v2.getAssetsByChain", {"version": 3, "list": rows}, query={"chain": "BNB"})


def listed():
    rows = [{"symbol": "USDT", "index": 4, "contracts": {"BNB": {"address": COIN, "decimals": 18}}}]
    return call("v2.getAssets", {"version": 3, "list": rows})


def tokens_v1(*symbols):
    rows = [{"symbol": symbol} for symbol in symbols]
    return call("v1.getSupportTokens", {"version": 3, "list": rows}, headers={"chain": "BNB"})


def detail(**changes):
    query = {"chain": "BNB", "hash": DEPOSIT, "evmAddress": USER}
    answer = {"sn": "1", "status": 1, **changes}
    return call("v1.getOrderDetailByHashAndEvmAddress", answer, query=query, headers=SIGNED)


def at(exchange, ms):
    return replace(exchange, time_ms=ms)


def broken(answer, **more):
    """A report of a problem whose body is cut."""
    return call("v2.submitTicket", answer, raw_body=b'{"hash": "0x', **more)


CONFIRMED, CONTRADICTED, SILENT = "confirmed", "contradicted", "silent"
REFUSALS = ("A-001", "A-017", "A-027", "A-028", "A-211", "A-213", "A-243", "A-262", "A-291")
FORMS = ("A-002", "A-003", "A-004", "A-005")

# A case: its exchanges, and what they say of assumptions; anything but three words is a part of
# the alternative that they fit.
CASES = {
    # A plain success speaks of its own fields alone.
    "a price": ([price()], {"A-023": CONFIRMED, **dict.fromkeys((*REFUSALS, *FORMS), SILENT)}),
    "a price without headers or times": (
        [price()], dict.fromkeys(("A-216", "A-218", "A-260", "A-292", "A-298"), SILENT)),
    "a price that took its time": ([price(took_ms=40)], {"A-218": CONFIRMED, "A-292": SILENT}),
    "a slow price": ([price(took_ms=9000)], {"A-218": "as long as the client waits"}),
    "a price in milliseconds": (
        [price({"updateTime": "1767225600000"})], {"A-023": "milliseconds"}),
    "a price whose time is a number": ([price({"updateTime": 1767225600})], {"A-023": CONFIRMED}),
    "a price whose time is a number of milliseconds": (
        [price({"updateTime": 1767225600000})], {"A-023": "milliseconds"}),
    "a price whose time is below 0": ([price({"updateTime": -5})], {"A-023": CONTRADICTED}),
    "a price with a date": ([price({"updateTime": "2026-01-01T00:00:00Z"})], {"A-023": "ISO 8601"}),
    "a price with a date of its own": ([price({"updateTime": "noon"})], {"A-023": CONTRADICTED}),
    # Refusals.
    "a refusal with everything": ([price(refusal())], {"A-017": CONFIRMED, "A-028": SILENT}),
    "a refusal with data null": ([price(refusal(data=None))], {"A-017": "data null"}),
    "a refusal without data": ([price({"code": 7, "msg": "no"})], {"A-017": "no data"}),
    "a refusal without words": ([price(refusal(msg=""))], {"A-017": CONTRADICTED}),
    "a body that is no JSON, with HTTP 400 and its code": (
        [broken(refusal(code=400), status=400)], {"A-028": CONFIRMED}),
    "a body that is no JSON, with HTTP 200": (
        [broken(refusal(code=31))], {"A-028": "HTTP 200 throughout"}),
    "a body that is no JSON, without envelope": (
        [broken('{"error": "json"}', status=400)], {"A-028": "without envelope"}),
    "two refusals with one code": (
        [price(refusal(code=3), query={"symbol": "NOPE"}), status(refusal(code=3))],
        {"A-027": CONFIRMED}),
    "each refusal with a code of its own": (
        [price(refusal(code=9001), query={"symbol": "NOPE"}), status(refusal(code=9002))],
        {"A-027": "a code of its own"}),
    # Forms of requests: what was accepted tells only where an alternative would have refused it.
    "an address that is none of EVM, accepted": (
        [price(query={"chain": "KAS", "contractAddress": "KAS", "symbol": "KAS"})],
        {"A-004": CONFIRMED, "A-002": SILENT, "A-003": SILENT}),
    "a chain with a blank, accepted": ([price(query={"chain": "B N"})], {"A-002": "any text"}),
    "a chain with a blank, refused": (
        [price(refusal(code=400), status=400, query={"chain": "B N"})], {"A-002": CONFIRMED}),
    "another name, accepted": ([price(query={"currency": "USD"})], {"A-001": "ignore them"}),
    "another name, refused": (
        [price(refusal(), query={"currency": "USD"})], {"A-001": CONFIRMED}),
    "certificates with 0x, accepted": (
        [submission({"id": "1"}, sourceCerts="0x" + "ab" * 40)], {"A-010": CONFIRMED}),
    "certificates without 0x, accepted": ([submission({"id": "1"})], {"A-010": SILENT}),
    "an odd number of hex digits, accepted": (
        [submission({"id": "1"}, sourceCerts="abc")], {"A-010": CONTRADICTED}),
    "a filter of orders, accepted": ([tickets([], "Verified")], {"A-021": "any order status"}),
    "a filter of the three, accepted": ([tickets([], "Pending")], {"A-021": SILENT}),
    "a filter of no kind, refused": (
        [call("v2.getAllTicketByAddress", refusal(), query={"address": USER, "filter": "Purple"})],
        {"A-021": CONFIRMED}),
    "a ticket without a chain, accepted": (
        [call("v2.submitTicket", {"ticketId": 5}, body={"hash": HASH})],
        {"A-033": "both optional"}),
    "an ordinary ticket, accepted": ([ticket({"ticketId": 5})], {"A-033": SILENT, "A-020": SILENT}),
    "a hash of another form, accepted": (
        [ticket({"ticketId": 5}, hash="ee" * 32)], {"A-020": CONFIRMED}),
    "an amount of nothing, accepted": (
        [quote_v1({"amountIn": 0, "amountOut": 0}, amount=0)], {"A-006": CONTRADICTED}),
    "an ordinary v1 amount, accepted": (
        [quote_v1({"amountIn": 10, "amountOut": 9})], {"A-006": SILENT, "A-279": SILENT,
                                                       "A-011": SILENT}),
    "a text for a number, refused": ([quote_v1(refusal(status=1), feeLevel="0")],
                                     {"A-243": CONFIRMED}),
    "a text for a number, accepted": (
        [quote_v1({"amountIn": 10, "amountOut": 9}, feeLevel="0")], {"A-243": "what it spells"}),
    "a timestamp in seconds, accepted": (
        [quote_v1({"amountIn": 10, "amountOut": 9}, headers={"timestamp": "1767225600"})],
        {"A-014": CONFIRMED}),
    "a timestamp in milliseconds, accepted": (
        [quote_v1({"amountIn": 10, "amountOut": 9})], {"A-014": SILENT, "A-013": SILENT}),
    "a short time-out, accepted": (
        [quote_v1({"amountIn": 10, "amountOut": 9}, headers={"expireTime": "500"})],
        {"A-013": CONFIRMED}),
    "an old timestamp, refused": (
        [quote_v1(refusal(status=1), at_ms=1767225600000 + 3_600_000)], {"A-212": CONFIRMED}),
    "an old timestamp, accepted": (
        [quote_v1({"amountIn": 10, "amountOut": 9}, at_ms=1767225600000 + 3_600_000)],
        {"A-212": "only signed"}),
    "an address as its number, accepted": ([submission_v1({"sn": "1"})], {"A-012": SILENT}),
    "an address as another number, accepted": (
        [submission_v1({"sn": "1"}, fromAddress=7)], {"A-012": "any integer"}),
    "an address as another number, refused": (
        [submission_v1(refusal(status=1), fromAddress=7)], {"A-012": CONFIRMED}),
    # The v1 envelope.
    "a v1 success like the template": (
        [chains_v1("BNB", version=1)],
        {"A-015": CONFIRMED, "A-016": CONFIRMED, "A-018": CONFIRMED}),
    "a v1 success in other words": (
        [call("v1.getSupportChains",
              {"code": 0, "msg": "ok", "status": 200, "data": {"list": []}})],
        {"A-015": "ok", "A-016": "200", "A-018": "no version in v1"}),
    "a v1 success without words": (
        [call("v1.getSupportChains",
              {"code": 0, "msg": "", "status": 7, "data": {"list": []}})],
        {"A-015": "an empty text", "A-016": CONTRADICTED}),
    # Amounts and orders.
    "a balance in both units": ([balance("1500000", "1.5")], {"A-022": CONFIRMED}),
    "a balance of nothing": ([balance("0", "0")], {"A-022": SILENT}),
    "a balance in whole tokens twice": ([balance("1.5", "1.5")], {"A-022": "both in whole tokens"}),
    "an order's amount with a point": (
        [status({"amountOut": "9.7"})], {"A-026": "whole tokens"}),
    "an order's amount that is not known": (
        [status({"status": "Pending", "amountOut": "", "execHash": ""})],
        {"A-026": "empty until known"}),
    "an order's amount in digits": (
        [status({"amountOut": "990"})], {"A-026": SILENT, "A-267": SILENT, "A-266": CONFIRMED}),
    "an order's amount that is not known, as 0": (
        [status({"status": "Pending", "amountOut": "0", "execHash": ""})], {"A-026": CONFIRMED}),
    "an order whose amount is like the quote's": (
        [bridge(paid("990000000000000000")), status({"amountOut": "990000000000000000"})],
        {"A-026": CONFIRMED}),
    "a failed order without a reason": (
        [status({"status": "Failed", "reason": ""})], {"A-267": "empty text", "A-266": SILENT}),
    "a failed order with a reason": (
        [status({"status": "Failed", "reason": "no liquidity"})], {"A-267": CONFIRMED}),
    "an order that succeeded with a note": (
        [status({"reason": "filled in part"})], {"A-266": "a note"}),
    "an order that nobody submitted, refused": ([status(refusal())], {"A-232": SILENT}),
    "an order on its way": (
        [status({"status": "Pending", "execHash": ""}), status({})],
        {"A-151": CONFIRMED, "A-108": SILENT}),
    "an order that goes back": ([status({}), status({"status": "Pending"})],
                                {"A-151": CONTRADICTED}),
    # The same deposit, the same report.
    "a deposit twice, one order": (
        [submission({"id": "1"}), submission({"id": "1"})], {"A-152": CONFIRMED}),
    "a deposit twice, two orders": (
        [submission({"id": "1"}), submission({"id": "2"})], {"A-152": "a second order"}),
    "a deposit twice, refused": (
        [submission({"id": "1"}), submission(refusal())], {"A-152": "a refusal in both"}),
    "two deposits": (
        [submission({"id": "1"}), submission({"id": "2"}, sourceCerts="cd" * 40)],
        {"A-152": SILENT}),
    "a report twice, one ticket": (
        [ticket({"ticketId": 5}), ticket({"ticketId": 5})], {"A-235": CONFIRMED}),
    "a report twice, two tickets": (
        [ticket({"ticketId": 5}), ticket({"ticketId": 6})], {"A-235": "a ticket for every report"}),
    "a ticket in both places": (
        [tickets([row()]),
         call("v2.checkTicket", {"succeeded": True, "solution": "refund"},
              query={"ticketId": "5"})], {"A-268": CONFIRMED, "A-024": CONFIRMED}),
    "a ticket that the list shows late": (
        [call("v2.checkTicket", {"succeeded": True, "solution": "refund"},
              query={"ticketId": "5"}), tickets([row(succeeded=False, solution="")], "Pending")],
        {"A-268": "lags behind"}),
    "a ticket with a number as solution": (
        [tickets([row(solution="2")])], {"A-024": "a closed set of numbers"}),
    "no tickets": ([tickets([])], {"A-024": SILENT, "A-268": SILENT, "A-245": SILENT}),
    # Lists.
    "a list of one chain": (
        [chains("BNB")], {"A-263": SILENT, "A-278": SILENT, "A-264": SILENT, "A-240": SILENT}),
    "a list of two chains": ([chains("BNB", "ETH")], {"A-263": CONFIRMED, "A-278": CONFIRMED}),
    "a list with a chain twice": ([chains("BNB", "ETH", "BNB")], {"A-263": CONTRADICTED}),
    "the same list twice": ([chains("BNB", "ETH"), chains("BNB", "ETH")],
                            {"A-240": CONFIRMED, "A-264": SILENT}),
    "the same list with another version": (
        [chains("BNB", "ETH"), chains("BNB", "ETH", version=4)], {"A-240": CONTRADICTED}),
    "a longer list with a new version": (
        [chains("BNB"), chains("BNB", "ETH", version=4)], {"A-264": CONFIRMED}),
    "a longer list with the old version": (
        [chains("BNB"), chains("BNB", "ETH")], {"A-264": "version of the format"}),
    "a name with a blank": ([chains("BNB ")], {"A-302": CONTRADICTED}),
    "v1 chains that 2.0 lists": (
        [chains("BNB", "ETH", "KAS"), chains_v1("BNB", "ETH")], {"A-290": CONFIRMED}),
    "v1 chains that 2.0 does not list": (
        [chains("ETH"), chains_v1("BNB", "ETH")], {"A-290": "suspended in 2.0 alone"}),
    "v1 chains alone": ([chains_v1("BNB")], {"A-290": SILENT, "A-276": SILENT}),
    # Names that no list shows.
    "a chain that is not listed, refused": (
        [chains("BNB"), price(refusal(), query={"chain": "XYZ"})], {"A-213": CONFIRMED}),
    "a chain that is not listed, with a price of zero": (
        [chains("BNB"), price({"price": "0"}, query={"chain": "XYZ"})], {"A-213": "price of zero"}),
    "a chain that is not listed, with an empty list": (
        [chains("BNB"), call("v2.getAssetsByChain", {"version": 3, "list": []},
                             query={"chain": "XYZ"})], {"A-213": "an empty list"}),
    "a chain of which no list is recorded, refused": (
        [price(refusal(), query={"chain": "XYZ"})], {"A-213": SILENT}),
    "a listed chain, refused": ([chains("BNB"), price(refusal())], {"A-213": SILENT}),
    # Quotes.
    "a larger amount that pays more": (
        [bridge(paid("990")), bridge(paid("1990"), "2000")], {"A-273": CONFIRMED}),
    "a larger amount that pays less": (
        [bridge(paid("990")), bridge(paid("190"), "2000")], {"A-273": CONTRADICTED}),
    "a quote alone": ([bridge(paid("990"))], {"A-273": SILENT, "A-230": SILENT, "A-234": SILENT}),
    "a quote twice": ([bridge(paid("990")), bridge(paid("991"))], {"A-230": CONFIRMED}),
    "a quote twice, far apart": (
        [bridge(paid("990")), bridge(paid("90"))], {"A-230": CONTRADICTED}),
    "a least amount of the output": (
        [swap_quote({"minOutAmount": "950"})], {"A-265": CONFIRMED}),
    "a least amount above the output": (
        [swap_quote({"minOutAmount": "5000"})], {"A-265": "least amount that can be swapped"}),
    "a least amount that is empty": ([swap_quote({})], {"A-265": SILENT, "A-298": CONFIRMED}),
    # HTTP.
    "a media type with a character set": (
        [price(answered=(("Content-Type", "application/json; charset=utf-8"),))],
        {"A-216": CONFIRMED}),
    "another character set": (
        [price(answered=(("Content-Type", "application/json; charset=latin-1"),))],
        {"A-216": CONTRADICTED}),
    "a time with a fraction": (
        [call("v2.checkOrder", '{"code":0,"msg":"success","data":{"status":"Succeeded",'
              '"timestamp":1767225600.0,"execHash":"","reason":"","amountOut":"1"}}',
              query={"id": "1"})], {"A-215": "without a fractional part"}),
    "a time without a fraction": ([status({})], {"A-215": CONFIRMED}),
    "an answer that may be kept for long": (
        [price(answered=(("Cache-Control", "max-age=86400"),))], {"A-323": CONTRADICTED}),
    "an answer that may not be kept": (
        [price(answered=(("Cache-Control", "no-store"),))], {"A-323": CONFIRMED}),
    "an answer that says nothing of caches": ([price()], {"A-323": SILENT}),
    # What comes of two exchanges together.
    "a refusal, then a success": ([price(refusal()), price()], {"A-262": CONFIRMED}),
    "a refusal, then no time": (
        [price(refusal()), price(refusal(code=429), status=429)], {"A-262": "held off"}),
    "a ticket that stays solved": (
        [checked_ticket(), checked_ticket()], {"A-241": CONFIRMED, "A-268": SILENT}),
    "a ticket that is opened again": (
        [checked_ticket(), checked_ticket(succeeded=False, solution="")],
        {"A-241": "it is opened again"}),
    "a filter that finds all": ([tickets([row()], "Unknown")], {"A-245": "all of them"}),
    "two orders with their own ends": (
        [status({}), status({"execHash": DEPOSIT}, "78")], {"A-294": CONFIRMED}),
    "two orders with one end": ([status({}), status({}, "78")], {"A-294": "two equal orders"}),
    "one order twice": ([status({}), status({})], {"A-294": SILENT, "A-151": SILENT}),
    "a swap for another recipient": (
        [swap(), swap({"data": "0xbb"}, recipient=HASH[:42])],
        {"A-277": CONFIRMED, "A-272": CONFIRMED}),
    "a swap for another recipient with the same call": (
        [swap(), swap(recipient=HASH[:42])], {"A-277": "knows by the sender"}),
    "a swap with another slippage": (
        [swap(), swap({"amountOut": "500"}, slippage="5000")],
        {"A-272": "the least that is taken", "A-277": SILENT}),
    "a token of both generations": (
        [of_chain("USDT"), tokens_v1("USDT")], {"A-233": CONFIRMED}),
    "a token of 2.0 alone": (
        [of_chain("USDT", "DAI"), tokens_v1("USDT")], {"A-233": "v1 lists fewer tokens"}),
    "a token of v1 alone": (
        [of_chain("USDT"), tokens_v1("USDT", "DAI")], {"A-233": CONTRADICTED}),
    "a listed chain with tokens": ([chains("BNB"), of_chain("USDT")], {"A-275": CONFIRMED}),
    "a listed chain without tokens": (
        [chains("BNB"), of_chain()], {"A-275": "listed before its tokens"}),
    "a listed token with a price": ([listed(), price()], {"A-246": CONFIRMED}),
    "a listed token without a price": (
        [chains("BNB"), listed(), price(refusal())], {"A-246": "that the provider knows"}),
    "decimals of a list": ([listed(), swap_quote({})], {"A-211": SILENT}),
    "decimals of no list, refused": (
        [listed(), swap_quote(refusal(), fromDecimal="6")], {"A-211": CONFIRMED}),
    "decimals of no list, accepted": (
        [listed(), swap_quote({}, fromDecimal="6")], {"A-211": CONTRADICTED}),
    "chains in both generations": (
        [chains("BNB"), chains_v1("BNB")], {"A-276": CONFIRMED, "A-290": CONFIRMED}),
    "no chains in v1": ([chains("BNB"), chains_v1()], {"A-276": SILENT, "A-290": SILENT}),
    # Further members and inputs.
    "a word in a number's header, refused": (
        [quote_v1(refusal(status=1), headers={"timestamp": "now"})], {"A-220": CONFIRMED}),
    "a word in a number's header, accepted": (
        [quote_v1({"amountIn": 10, "amountOut": 9}, headers={"timestamp": "now"})],
        {"A-220": "only signed"}),
    "a recipient that is none, refused": (
        [submission(refusal(), toAddr="nobody")], {"A-300": CONFIRMED}),
    "a recipient that is none, accepted": (
        [submission({"id": "1"}, toAddr="nobody")], {"A-300": "fails later"}),
    "an amount in smallest units": (
        [bridge(paid("9"), "1000000000000000000")], {"A-270": CONFIRMED}),
    "an amount of few digits": ([bridge(paid("9"), "1000")], {"A-270": SILENT}),
    "an amount with a fraction": ([bridge(paid("9"), "1.5")], {"A-270": "whole tokens"}),
    "an output of many digits": (
        [bridge(paid("123456789012345678901234567"), "1000")], {"A-274": CONFIRMED}),
    "an output of a few digits": ([bridge(paid("12345678901234567890"))], {"A-274": SILENT}),
    "an order of now": ([at(status({}), 1767225700000)], {"A-295": CONFIRMED}),
    "an order of the day after tomorrow": (
        [at(status({}), 1767025600000)], {"A-295": "will be carried out"}),
    "a v1 order on its way": ([detail(toHash="")], {"A-025": CONFIRMED}),
    "a v1 order on its way, without a hash": ([detail()], {"A-025": "the key is absent"}),
    "a v1 order at its end": ([detail(status=2, toHash=HASH)], {"A-025": SILENT}),
}  # fmt: skip


def evidence(exchanges):
    named = tuple(replace(each, name=f"n{number}") for number, each in enumerate(exchanges))
    recording = Recording("kept", "captured", named, source="https://service.example")
    register = evidence_of([Source("kept.yaml", recording)])
    return {entry.id: entry for entry in register.assumptions}


def verdict(entry):
    if entry is None:
        return SILENT
    if entry.against:
        return entry.alternative or CONTRADICTED
    return CONFIRMED


@pytest.mark.parametrize("name", CASES)
@pytest.mark.deep(quick=12)
def test_exchanges_say_what_they_exercise_and_no_more(name):
    exchanges, expected = CASES[name]
    entries = evidence(exchanges)
    for assumption, wanted in expected.items():
        seen = verdict(entries.get(assumption))
        if wanted in (CONFIRMED, CONTRADICTED, SILENT):
            assert (assumption, seen) == (assumption, wanted), entries.get(assumption)
        else:
            assert wanted in seen, (assumption, entries.get(assumption))
            alternatives = {one.id: one.alternatives for one in ContractSource().assumptions}
            assert seen in alternatives[assumption]
        if wanted != SILENT:
            labels = [*entries[assumption].supported_by, *entries[assumption].against]
            assert labels
            assert all(label.startswith("kept.yaml#n") for label in labels)


def test_each_assumption_that_recordings_can_speak_of_has_a_case():
    register = ContractSource().assumptions
    spoken = {entry.id for entry in register if entry.forms or entry.evidence}
    shown = {
        assumption
        for _, expected in CASES.values()
        for assumption, wanted in expected.items()
        if wanted != SILENT
    }
    # Their operations are those of errata; the alternatives of the other forms allow anything.
    assert spoken - shown <= {"A-032", "A-034", *FORMS, "A-007", "A-008", "A-009", "A-019"}
