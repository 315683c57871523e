"""What another service may do differently, each with why the description permits it."""

import gzip
import json
import uuid
from collections.abc import Callable
from typing import Any

from tests.blind.edits import (
    as_text,
    at,
    both,
    http,
    no,
    on_refusal,
    put,
    rename,
    when,
    with_call,
)
from tests.blind.operations import ALL, V1, V2
from tests.blind.refusals import Refused
from tests.blind.rows import Row
from tests.blind.wire import After, Answer, Before, Call, Setup
from tests.blind.world import NATIVE, Token, World, address_on


def choose(**choices: Any) -> Setup:
    """Decide an open matter in another way."""

    def setup(world: World) -> None:
        for name, value in choices.items():
            setattr(world.choices, name, value)

    return setup


def each(edit: Callable[[Any], Any]) -> After:
    """Edit the whole body, of refusals as well."""

    def after(call: Call, answer: Answer) -> None:
        answer.body = edit(answer.body)

    return after


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _reversed(item) for name, item in reversed(value.items())}
    if isinstance(value, list):
        return [_reversed(item) for item in value]
    return value


def _dressed(make: Callable[[Any], bytes]) -> After:
    def after(call: Call, answer: Answer) -> None:
        if answer.payload is None:
            answer.payload = make(json.loads(answer.encoded()))

    return after


def _zipped(call: Call, answer: Answer) -> None:
    if "gzip" in call.headers.get("accept-encoding", ""):
        answer.payload = gzip.compress(answer.encoded())
        answer.headers["Content-Encoding"] = "gzip"


def _checksummed(world: World) -> None:
    for token in world.tokens:
        if token.address.startswith("0x") and token.address != NATIVE:
            mixed = "".join(c.upper() if i % 3 else c for i, c in enumerate(token.address[2:]))
            token.address = "0x" + mixed


def _many_tokens(world: World) -> None:
    for number in range(200):
        symbol = f"TKN{number}"
        world.prices[symbol] = 1_000_000 + number * 1_000
        for nick in ("ETH", "BNB"):
            address = address_on(nick, symbol)
            world.tokens.append(Token(1000 + number, symbol, nick, address, 18))


def _large_tickets(world: World) -> None:
    for ticket in world.tickets:
        ticket.key += 8_000_000_000


def _unavailable(call: Call, answer: Answer) -> None:
    if not answer.good and answer.status == 200:
        answer.status = 503


def _order_null(answer: Answer) -> None:
    if "order not found" in str(answer.body.get("msg")):
        answer.status = 200
        answer.body = {**answer.body, "code": 0, "msg": "success", "data": {"order": None}}


def _with_a_token_nowhere(call: Call, answer: Answer) -> None:
    gone = {"index": 9_999, "symbol": "GONE", "name": "Gone", "contracts": {}}
    answer.body["data"]["list"].append(gone)


def _without_the_last_yet(call: Call, answer: Answer) -> None:
    if call.nth == 0:
        del answer.body["data"]["list"][-1]


def _turned(call: Call, old: list[Any]) -> list[Any]:
    return old[call.nth % len(old) :] + old[: call.nth % len(old)] if old else old


def _uuid(call: Call, old: str) -> str:
    key = str(uuid.uuid5(uuid.NAMESPACE_OID, old))
    order = call.world.orders.get(old)
    if order is not None:
        call.world.orders[key] = order
    return key


def _status(**names: str) -> After:
    return at("data.status", lambda old: names.get(old, old))


def _unix_version(call: Call, old: int) -> int:
    return int(call.world.clock())


_LISTS = ("v2.getChain", "v2.getAssets", "v2.getAssetsByChain")
_QUOTES = ("v2.getBridgeQuote", "v2.getAggregateQuote")
_CODES = "codes other than 0 and their meanings are not shown"
_HTTP = "HTTP statuses for failures are not shown"
_ITEMS = "the shape of list items is not shown beyond the names that are needed elsewhere"
_STATES = "the set of statuses and their transitions are not shown"
_V1_DATA = "the fields inside data of v1 are not shown"
_LIMITS = "amount bounds and other quotas are not shown"


def _row(
    name: str,
    operations: tuple[str, ...],
    section: str,
    sentence: str,
    *,
    setup: Setup | None = None,
    before: Before | None = None,
    after: After | None = None,
) -> Row:
    return Row(name, operations, sentence, section, "reading", setup, before, after)


def _busy(call: Call) -> None:
    # Before anything is kept: what is refused must not happen.
    if call.nth % 20 == 19:
        raise Refused("malformed", "something went wrong")


_ROWS = (
    _row("refusal-code-1", ALL, "7", _CODES, setup=choose(refusal_code=1, v1_refusal_codes=False)),
    _row("refusal-code-negative", ALL, "7", _CODES, setup=choose(refusal_code=-32)),
    _row("refusal-code-large", ALL, "7", _CODES, setup=choose(refusal_code=4_290_001)),
    _row("refusal-400", ALL, "7", _HTTP, setup=choose(refusal_status=400)),
    _row("refusal-422", ALL, "7", _HTTP, setup=choose(refusal_status=422)),
    _row("refusal-404", ALL, "7", _HTTP, setup=choose(refusal_status=404)),
    _row(
        "refusal-without-data",
        ALL,
        "2.1",
        "data of a refusal is shown nowhere",
        setup=choose(refusal_data=False),
    ),
    _row(
        "refusal-in-chinese",
        ALL,
        "7",
        "texts of refusals are not shown",
        after=on_refusal(lambda answer: answer.body.update(msg="参数错误")),
    ),
    _row(
        "refusal-says-nothing",
        ALL,
        "7",
        "texts of refusals are not shown",
        after=on_refusal(lambda answer: answer.body.update(msg="")),
    ),
    _row(
        "msg-ok",
        ALL,
        "2.1",
        "msg of a success is only said to be a string",
        after=put("msg", "OK"),
    ),
    _row(
        "extra-envelope-members",
        ALL,
        "2.1",
        "the envelope is not said to be closed",
        after=each(lambda body: {**body, "traceId": "0a1b2c", "cost": 12}),
    ),
    _row(
        "extra-data-members",
        ALL,
        "2.3",
        "results are not said to be closed",
        after=at("data", lambda data: {**data, "note": None, "tags": [1, "x"]}),
    ),
    _row(
        "extra-item-members",
        (*_LISTS, "v2.getAllTicketByAddress"),
        "2.3",
        _ITEMS,
        after=at("data.list.*", lambda item: {**item, "icon": "", "rank": 1.5}),
    ),
    _row("members-reversed", ALL, "2.1", "members have no order", after=each(_reversed)),
    _row(
        "charset-named",
        ALL,
        "4",
        "the content type is not shown",
        after=http(content_type="application/json;charset=UTF-8"),
    ),
    _row(
        "text-json",
        ALL,
        "4",
        "the content type is not shown",
        after=http(content_type="text/json; charset=utf-8"),
    ),
    _row(
        "pretty-json",
        ALL,
        "4",
        "white space has no meaning in JSON",
        after=_dressed(lambda body: json.dumps(body, indent=2).encode()),
    ),
    _row(
        "escaped-json",
        ALL,
        "4",
        "escapes have no meaning in JSON",
        after=_dressed(lambda body: json.dumps(body).replace("/", "\\/").encode() + b"\n"),
    ),
    _row("gzip", ALL, "4", "content codings are HTTP's business", after=_zipped),
    _row("chunked", ALL, "4", "transfer codings are HTTP's business", after=http(chunked=True)),
    _row(
        "connection-closed-each-time",
        ALL,
        "4",
        "persistence is HTTP's business",
        after=http(headers={"Connection": "close"}),
    ),
    _row(
        "cross-origin-headers",
        ALL,
        "4",
        "headers of answers are not shown",
        after=http(headers={"Access-Control-Allow-Origin": "*", "Vary": "Origin"}),
    ),
    _row("answers-after-50-ms", ALL, "8", "speed is not shown", after=http(delay=0.05)),
    _row("v1-flat-data", V1, "2.1", _V1_DATA, setup=choose(v1_flat=True)),
    _row("v1-status-200", V1, "2.1", "values of status are not shown", after=put("status", 200)),
    _row(
        "v1-quote-in-text",
        ("v1.getCrossChainQuote",),
        "2.1",
        _V1_DATA,
        after=as_text("data.crossChain.*"),
    ),
    _row(
        "v1-quote-other-names",
        ("v1.getCrossChainQuote",),
        "2.1",
        _V1_DATA,
        after=both(
            rename("data.crossChain.amountOut", "receive"), rename("data.crossChain", "quote")
        ),
    ),
    _row(
        "v1-chains-by-name-only",
        ("v1.getSupportChains",),
        "2.1",
        _V1_DATA,
        after=at("data.chains.*", lambda item: {"name": item["name"]}),
    ),
    _row(
        "route-summary-empty",
        ("v2.getAggregateQuote",),
        "4.2",
        "a route summary is optional, and its form is not shown",
        setup=choose(route_summary=""),
    ),
    _row(
        "route-summary-absent",
        ("v2.getAggregateQuote",),
        "4.2",
        "a route summary is optional, and not listed among the results",
        setup=choose(route_summary=None),
    ),
    _row(
        "route-summary-long",
        ("v2.getAggregateQuote",),
        "4.2",
        "the form of a route summary is not shown",
        setup=choose(route_summary='{"hops":[' + "1," * 400 + "1]}"),
    ),
    _row(
        "statuses-other",
        ("v2.checkOrder",),
        "3",
        _STATES,
        after=_status(Unknown="Created", Pending="Executing"),
    ),
    _row(
        "statuses-in-two-words",
        ("v2.checkOrder",),
        "3",
        _STATES,
        after=_status(Unknown="in queue", Pending="on chain", Refunded="paid back"),
    ),
    _row(
        "orders-at-once",
        ("v2.checkOrder", "v1.getOrderDetail"),
        "3",
        _STATES,
        setup=choose(order_course=((0.0, ""),)),
    ),
    _row(
        "orders-by-polls",
        ("v2.checkOrder", "v1.getOrderDetail"),
        "3",
        _STATES,
        setup=choose(by_polls=True),
    ),
    _row(
        "orders-never-settle",
        ("v2.checkOrder", "v1.getOrderDetail"),
        "3",
        _STATES,
        setup=choose(order_course=((0.0, "Unknown"), (0.2, "Pending"), (1e5, ""))),
    ),
    _row(
        "orders-take-a-detour",
        ("v2.checkOrder",),
        "3",
        _STATES,
        setup=choose(
            order_course=((0.0, "Unknown"), (0.1, "WaitVerify"), (0.3, "Verified"), (0.5, ""))
        ),
    ),
    _row(
        "order-ids-uuid",
        ("v2.submitOrder",),
        "2.3",
        "id is a string without a form",
        after=with_call("data.id", _uuid),
    ),
    _row(
        "amount-out-known-early",
        ("v2.checkOrder",),
        "2.3",
        "amountOut before the end is not shown",
        after=with_call(
            "data.amountOut", lambda call, old: call.world.orders[call.text("id")].amount_out
        ),
    ),
    _row(
        "success-with-a-note",
        ("v2.checkOrder",),
        "2.3",
        "a reason is empty when there is none; a success may have one",
        after=at("data", lambda d: {**d, "reason": "two parts"} if d["execHash"] else d),
    ),
    _row(
        "timestamps-stay",
        ("v2.checkOrder",),
        "2.3",
        "of what the timestamp is taken is not shown",
        after=with_call(
            "data.timestamp",
            lambda call, old: int(call.world.orders[call.text("id")].submitted),
        ),
    ),
    _row(
        "duplicates-get-a-new-id",
        ("v2.submitOrder",),
        "4.2",
        "equal submissions are not spoken of",
        setup=choose(duplicates="new"),
    ),
    _row(
        "duplicates-are-refused",
        ("v2.submitOrder",),
        "4.2",
        "equal submissions are not spoken of",
        setup=choose(duplicates="refused"),
    ),
    _row("version-zero", _LISTS, "9", "a version is any integer", after=put("data.version", 0)),
    _row(
        "version-is-the-time",
        _LISTS,
        "9",
        "a version is any integer",
        after=with_call("data.version", _unix_version),
    ),
    _row(
        "versions-differ-between-lists",
        _LISTS,
        "9",
        "each list carries its own version",
        after=with_call("data.version", lambda call, old: len(call.operation)),
    ),
    _row(
        "chain-suspended-on-the-way",
        ("v2.getChain",),
        "1",
        "chains may be suspended, and a version is not said to change",
        setup=choose(suspend_after=3),
    ),
    _row("gas-fee-zero", ALL, "2.3", "fees have no bounds", setup=choose(gas_micro=0)),
    _row("service-fee-zero", ALL, "2.3", "fees have no bounds", setup=choose(service_rate=0)),
    _row("service-fee-high", ALL, "2.3", "fees have no bounds", setup=choose(service_rate=250)),
    _row("rates-move", ALL, "2.3", "markets move", setup=choose(rates_move=True)),
    _row("most-10000-tokens", ALL, "8", _LIMITS, setup=choose(most_units=10_000)),
    _row("most-50-tokens", ALL, "8", _LIMITS, setup=choose(most_units=50)),
    _row(
        "most-one-token-least-nine-usd",
        ALL,
        "8",
        _LIMITS,
        setup=choose(most_units=1, least_micro=9_700_000),
    ),
    _row("most-999-tokens", ALL, "8", _LIMITS, setup=choose(most_units=999)),
    _row("least-two-usd", V2, "8", _LIMITS, setup=choose(least_micro=2_000_000)),
    _row(
        "most-slippage-50-percent",
        ("v2.getAggregateSwap",),
        "8",
        "bounds are not shown",
        setup=choose(most_slippage=5_000),
    ),
    _row(
        "price-impact-with-plus",
        ("v2.getAggregateQuote",),
        "2.3",
        "priceImpact is a signed decimal",
        after=put("data.priceImpact", "+0.02"),
    ),
    _row(
        "price-impact-zero",
        ("v2.getAggregateQuote",),
        "2.3",
        "priceImpact is a signed decimal",
        after=put("data.priceImpact", "0"),
    ),
    _row(
        "min-out-amount-filled",
        ("v2.getAggregateQuote",),
        "2.3",
        "minOutAmount may be empty, and need not be",
        after=at("data", lambda d: {**d, "minOutAmount": str(int(d["outAmount"]) * 99 // 100)}),
    ),
    _row(
        "usd-with-two-digits",
        _QUOTES,
        "2.3",
        "how many digits a value in USD has is not shown",
        after=at("data.outAmountUsd", lambda old: old[:-16]),
    ),
    _row(
        "quote-chain-by-nick-name",
        ("v2.getAggregateQuote",),
        "2.3",
        "which name of a chain the quote carries is not shown",
        after=with_call("data.chain", lambda call, old: call.text("toChain")),
    ),
    _row(
        "one-aggregator",
        ("v2.getAggregateQuote",),
        "2.3",
        "names of aggregators are not shown",
        after=put("data.aggregator", "ChaingeDex"),
    ),
    _row(
        "aggregators-take-turns",
        ("v2.getAggregateQuote",),
        "2.3",
        "which aggregator is chosen is not shown",
        after=with_call("data.aggregator", lambda call, old: ("1inch", "Kyber")[call.nth % 2]),
    ),
    _row("flat-assets", ("v2.getAssets",), "2.3", _ITEMS, setup=choose(flat_assets=True)),
    _row(
        "chain-name-called-name",
        ("v2.getChain",),
        "2.3",
        _ITEMS,
        after=rename("data.list.*.fullName", "name"),
    ),
    _row(
        "chain-items-bare",
        ("v2.getChain",),
        "2.3",
        _ITEMS,
        after=at(
            "data.list.*",
            lambda item: {"nickName": item["nickName"], "fullName": item["fullName"]},
        ),
    ),
    _row("addresses-in-mixed-case", ALL, "2.3", "hex has no case", setup=_checksummed),
    _row("many-tokens", ALL, "2.3", "lists have no bound", setup=_many_tokens),
    _row(
        "lists-turn",
        _LISTS,
        "2.3",
        "lists have no order",
        after=with_call("data.list", _turned),
    ),
    _row(
        "from-in-lower-case",
        ("v2.getAggregateSwap",),
        "2.3",
        "hex has no case",
        after=at("data.from", str.lower),
    ),
    _row(
        "call-data-without-0x",
        ("v2.getAggregateSwap",),
        "2.3",
        "call data is hex-encoded; a prefix is not spoken of",
        after=at("data.data", lambda old: old[2:]),
    ),
    _row(
        "call-data-in-upper-case",
        ("v2.getAggregateSwap",),
        "2.3",
        "hex has no case",
        after=at("data.data", lambda old: "0x" + old[2:].upper()),
    ),
    _row(
        "gas-estimated",
        ("v2.getAggregateSwap",),
        "2.3",
        "gas is any string",
        after=put("data.gas", "210000"),
    ),
    _row(
        "call-data-with-a-deadline",
        ("v2.getAggregateSwap",),
        "2.3",
        "what the call data contains is not shown",
        setup=choose(deadline=True),
    ),
    _row(
        "swaps-on-evm-alone",
        ("v2.getAggregateSwap",),
        "4.2",
        "on which chains swaps are possible is not shown",
        setup=choose(swaps_everywhere=False),
    ),
    _row(
        "slow-to-know-partial-fills",
        ("v2.getAggregateSwap",),
        "8",
        "speed is not shown",
        after=when(lambda call: call.text("allowPartialFill") == "true", http(delay=0.05)),
    ),
    _row(
        "balances-zero", ("v2.getBalance",), "2.3", "accounts may be empty", setup=choose(poor=True)
    ),
    _row(
        "readable-balance-with-zeros",
        ("v2.getBalance",),
        "2.3",
        "the form of hrpBalance is not shown",
        after=at("data.hrpBalance", lambda old: old + ("00" if "." in old else ".00")),
    ),
    _row(
        "prices-with-many-digits",
        ("v2.getPrice",),
        "2.3",
        "how many digits a price has is not shown",
        after=at("data.price", lambda old: old + ("0000000" if "." in old else ".0000000")),
    ),
    _row(
        "update-time-iso",
        ("v2.getPrice",),
        "2.3",
        "updateTime is a timestamp text",
        after=at("data.updateTime", lambda old: old.replace(" ", "T") + ".000Z"),
    ),
    _row(
        "update-time-in-digits",
        ("v2.getPrice",),
        "2.3",
        "updateTime is a timestamp text",
        after=with_call("data.updateTime", lambda call, old: str(int(call.world.clock()))),
    ),
    _row(
        "tickets-at-once",
        ALL,
        "3",
        "transitions are not shown",
        setup=choose(ticket_course=(0.0, 0.0)),
    ),
    _row(
        "tickets-never-solved",
        ALL,
        "3",
        "transitions are not shown",
        setup=choose(ticket_course=(0.1, 1e5)),
    ),
    _row(
        "solution-in-words",
        ALL,
        "2.3",
        "the values of solution are not shown",
        setup=choose(solution="funds were sent again"),
    ),
    _row(
        "unknown-filter-is-empty",
        ("v2.getAllTicketByAddress",),
        "4.2",
        "what other filter values do is not shown",
        setup=choose(unknown_filter_is_empty=True),
    ),
    _row(
        "ticket-ids-large",
        ("v2.submitTicket", "v2.checkTicket", "v2.getAllTicketByAddress"),
        "2.3",
        "a ticketId is any integer",
        setup=_large_tickets,
    ),
    _row(
        "chain-names-in-any-case",
        V2,
        "4.2",
        "that names keep their case is not said",
        setup=choose(any_case_chains=True),
    ),
    _row(
        "unknown-inputs-refused",
        ALL,
        "4",
        "inputs that are not listed may be refused",
        setup=choose(unknown_inputs_refused=True),
    ),
    _row(
        "busy-every-20th-time",
        V2,
        "8",
        "rate limits are not shown",
        before=_busy,
    ),
    _row("most-10-tokens", ALL, "8", _LIMITS, setup=choose(most_units=10)),
    _row("least-500-usd", ALL, "8", _LIMITS, setup=choose(least_micro=500_000_000)),
    _row("v1-least-500-tokens", V1, "8", _LIMITS, setup=choose(v1_least_units=500)),
    _row(
        "prices-of-some-tokens",
        ("v2.getPrice",),
        "4.2",
        "that every token has a price is not said",
        after=when(lambda call: call.text("symbol") != "USDT", no),
    ),
    _row(
        "update-time-as-go-writes-it",
        ("v2.getPrice",),
        "2.3",
        "updateTime is a timestamp text",
        after=at("data.updateTime", lambda old: old + ".591823 +0000 UTC"),
    ),
    _row("refusals-503", ALL, "7", "HTTP statuses of failures are not shown", after=_unavailable),
    _row(
        "notes-beside-contracts",
        ("v2.getAssets",),
        "2.3",
        _ITEMS,
        after=at("data.list.*.contracts", lambda by_chain: {**by_chain, "_meta": {"node": 7}}),
    ),
    _row("a-token-on-no-chain", ("v2.getAssets",), "2.3", _ITEMS, after=_with_a_token_nowhere),
    _row("a-token-is-added", ("v2.getAssets",), "1", "lists change", after=_without_the_last_yet),
    _row(
        "v1-order-null",
        ("v1.getOrderDetail",),
        "2.1",
        _V1_DATA,
        after=on_refusal(_order_null),
    ),
)

VARIATIONS = {row.name: row for row in _ROWS}
