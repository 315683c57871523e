"""Controls: variations that the description allows, or does not speak about."""

import gzip
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal

from mockserver import jsontext
from mockserver.exchange import Request, Response
from mockserver.jsontext import Json
from mockserver.responders.breaks.amounts import EXACT, catalog_of, on_decimal, on_whole, whole
from mockserver.responders.breaks.answers import (
    Page,
    answering,
    change,
    editing,
    headed,
    places,
    put,
    refused,
    refusing,
    rewritten,
    succeeded,
)
from mockserver.responders.breaks.operations import (
    AGGREGATE_QUOTE,
    ASSETS,
    ASSETS_BY_CHAIN,
    BALANCE,
    BRIDGE_QUOTE,
    CHAINS,
    CHECK_ORDER,
    CHECK_TICKET,
    PRICE,
    SUBMIT_ORDER,
    SWAP,
    TICKETS,
    V1_CHAINS,
    V1_DETAIL,
    V1_QUOTE,
    V1_RAW,
    V1_TOKENS,
)
from mockserver.responders.breaks.protocol import of_type
from mockserver.responders.breaks.requests import Asked, asked_of, asking, with_value
from mockserver.responders.breaks.stateful import counted
from mockserver.responders.breaks.values import Act, Break, Layer, Turn, Verdict
from mockserver.responders.delivery import Delivery

_READS = (CHAINS, ASSETS, ASSETS_BY_CHAIN, BRIDGE_QUOTE, AGGREGATE_QUOTE, SWAP, BALANCE, PRICE)
_V1_READS = (V1_CHAINS, V1_TOKENS, V1_QUOTE, V1_RAW)
_REFUSING = (*_READS, CHECK_ORDER, CHECK_TICKET, TICKETS, *_V1_READS, V1_DETAIL)
_SUSPENDED = "AVAXC"
"""The nickname of the chain that is suspended; another one takes its place where it is missing."""


def _code(turn: Turn, body: dict[str, Json]) -> Json:
    return {**body, "code": 90_001}


def _without(name: str) -> Act:
    """Leave a member of the envelope out of refusals."""

    def how(turn: Turn, body: dict[str, Json]) -> Json:
        return {key: value for key, value in body.items() if key != name}

    return refusing(how)


def _told_otherwise(turn: Turn, body: dict[str, Json]) -> Json:
    return {**body, "msg": "запрос отклонён"}


def _with_status(status: int) -> Act:
    """Give refusals an HTTP status of their own."""

    def changed(turn: Turn, sent: Delivery) -> Delivery:
        was = sent.response
        if not refused(was):
            return sent
        return replace(sent, response=Response(status, was.headers, was.body))

    return answering(changed)


def _reversed_members(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _reversed_members(value[key]) for key in reversed(list(value))}
    return [_reversed_members(item) for item in value] if isinstance(value, list) else value


def _written(how: Callable[[Json], bytes]) -> Act:
    """Write JSON bodies in another way; what is no JSON stays."""

    def changed(body: bytes) -> bytes:
        try:
            return how(jsontext.decode(body))
        except jsontext.NotJson:
            return body

    return rewritten(changed)


def _escaped(body: bytes) -> bytes:
    """Write a letter of two texts as an escape, which is the same text."""
    body = body.replace(b'"success"', b'"\\u0073uccess"')
    return body.replace(b'"USDT"', b'"\\u0055SDT"').replace(b"https://", b"https:\\/\\/")


def _reversed_list(page: Page) -> None:
    for name in ("list", "chains", "tokenVos"):
        if isinstance(page.data.get(name), list):
            page.data[name] = page.data[name][::-1]


def _richer_items(page: Page) -> None:
    for name in ("list", "chains", "tokenVos"):
        for place, item in enumerate(page.listed(name)):
            if isinstance(item, dict):
                item |= {"logo": f"https://icons.example/{place}.png", "tags": ["listed"]}


def _newer(value: Json) -> Json:
    return value + 20_000 if isinstance(value, int) else value


def _minimum_given(page: Page) -> None:
    units = whole(page.data.get("outAmount"))
    if units is not None:
        page.data["minOutAmount"] = str(units * 99 // 100)


def _signed(value: Json) -> Json:
    return f"+{value}" if isinstance(value, str) and value[:1].isdigit() else value


def _more_digits(value: Json) -> Json:
    """Return the same value with more digits behind the point."""
    if not isinstance(value, str) or not value:
        return value
    return f"{value}000" if "." in value else f"{value}.000000"


def _moving(page: Page) -> None:
    """Let prices swing within seven hundredths of a percent, from read to read."""
    part = EXACT.add(Decimal(1), Decimal(counted(page.memory) % 8).scaleb(-4))
    for name in ("price", "outAmountUsd"):
        if name in page.data:
            page.data[name] = on_decimal(lambda value: EXACT.multiply(value, part))(page.data[name])
    if "aggregator" in page.data and "outAmount" in page.data:
        basis = int(part.scaleb(4))
        page.data["outAmount"] = on_whole(lambda units: units * basis // 10_000)(
            page.data["outAmount"]
        )


def _later(turn: Turn, sent: Delivery) -> Delivery:
    return replace(sent, delay_ms=sent.delay_ms + 50)


def _gzip_wanted(turn: Turn, sent: Delivery) -> Delivery:
    """Compress for those who say that they take it."""
    was = sent.response
    if "gzip" not in turn.call.request.headers.get("Accept-Encoding", "") or not was.body:
        return sent
    headers = (*was.headers, ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))
    return replace(sent, response=Response(was.status, headers, gzip.compress(was.body, mtime=0)))


def _upper_hex(value: Json) -> Json:
    """Return an EVM address with its letters in capitals, which is the same address."""
    hexadecimal = isinstance(value, str) and len(value) == 42 and value.startswith("0x")
    return f"0x{value[2:].upper()}" if hexadecimal else value


def _queued(value: Json) -> Json:
    names = {"Unknown": "Queued", "Verified": "Executing"}
    return names.get(value, value) if isinstance(value, str) else value


def _lettered_id(turn: Turn) -> Delivery:
    """Give orders ids with letters, and know them by these."""
    if turn.call.operation.id == SUBMIT_ORDER:
        return change("id", lambda value: f"ord-{value}")(turn)
    asked = asked_of(turn.call)
    told = asked.query.get("id")
    if not told:
        return turn.answer()
    known = told.removeprefix("ord-") if told.startswith("ord-") else f"9999{told}"
    return turn.answer(with_value(asked, "query", "id", known))


def _known_names_only(turn: Turn, asked: Asked) -> Request:
    """Leave query parameters out that nobody declares."""
    known = {field.name for field in turn.call.operation.fields if field.location == "query"}
    odd = [name for name in asked.query if name not in known]
    if not odd:
        return asked.request
    kept = {name: value for name, value in asked.query.items() if name in known}
    bare = replace(asked, query=kept, request=replace(asked.request, query=""))
    request = bare.request
    for name, value in kept.items():
        request = with_value(bare, "query", name, value)
    return request


def suspended_chain(turn: Turn) -> tuple[str, str | None]:
    """Return the nickname and the v1 name of the chain that is out of service."""
    chains = catalog_of(turn.call).chains
    found = next((one for one in chains if one.nickname == _SUSPENDED), chains[-1])
    return found.nickname, found.v1_name


def _named(item: Json, name: str) -> Json:
    return item.get(name, "") if isinstance(item, dict) else ""


def _unlisted(page: Page) -> None:
    nickname, old = suspended_chain(page.turn)
    for name, key, gone in (("list", "nickName", nickname), ("chains", "name", old)):
        if page.listed(name):
            page.data[name] = [one for one in page.listed(name) if _named(one, key) != gone]
    for holder, _ in places(page, f"list[].contracts.{nickname}"):
        del holder[nickname]
    if page.turn.call.operation.id == ASSETS:
        page.data["list"] = [one for one in page.items if _named(one, "contracts") != {}]


def _suspended(turn: Turn) -> Delivery:
    """Take a chain out of service: gone from every list, and refused wherever it is named."""
    asked, names = asked_of(turn.call), suspended_chain(turn)
    parts = ("chain", "fromChain", "toChain")
    told = [asked.get(where, name) for where in ("query", "headers", "body") for name in parts]
    if not any(isinstance(one, str) and one in names for one in told):
        return editing(_unlisted)(turn)
    sent = turn.answer()
    if succeeded(turn, sent.response) is None:
        return sent
    hosted, generation = turn.call.hosted, turn.call.operation.generation
    reason = f"chain {names[0]!r} is out of service"
    return replace(sent, response=hosted.refuser.refuse(generation, "chain-suspended", reason))


BREAKS: tuple[Break, ...] = (
    Break(
        "allowed-extra-field",
        Layer.SCHEMA,
        "data has one field more than is listed",
        "2.3",
        Verdict.EXTRA,
        (BRIDGE_QUOTE, BALANCE, PRICE),
        put("requestId", "8f14e45f"),
        control=True,
        because="the tables list fields and do not say that there are no others",
    ),
    Break(
        "allowed-extra-item-fields",
        Layer.SCHEMA,
        "items of lists have two fields more",
        "2.3",
        Verdict.EXTRA,
        (CHAINS, ASSETS, ASSETS_BY_CHAIN, V1_CHAINS, V1_TOKENS),
        editing(_richer_items),
        control=True,
        because="the item shape of those lists: not shown",
    ),
    Break(
        "allowed-success-text",
        Layer.SCHEMA,
        "msg on success is another text than 'success'",
        "2.1",
        Verdict.NONE,
        _READS,
        put("$.msg", "ok"),
        control=True,
        because="in 2.0 success, msg is a string",
    ),
    Break(
        "allowed-v1-status",
        Layer.SCHEMA,
        "status of the v1 envelope is 200",
        "2.1",
        Verdict.ASSUMED,
        _V1_READS,
        put("$.status", 200),
        control=True,
        because="status (integer); its values are not shown",
    ),
    Break(
        "allowed-minimum-given",
        Layer.SCHEMA,
        "minOutAmount is filled in",
        "2.3",
        Verdict.NONE,
        (AGGREGATE_QUOTE,),
        editing(_minimum_given),
        control=True,
        because="string (may be empty)",
    ),
    Break(
        "allowed-plus-sign",
        Layer.SCHEMA,
        "priceImpact has a plus sign",
        "2.3",
        Verdict.NONE,
        (AGGREGATE_QUOTE,),
        change("priceImpact", _signed),
        control=True,
        because="string (signed decimal)",
    ),
    Break(
        "allowed-more-digits",
        Layer.SCHEMA,
        "USD values have more digits behind the point",
        "2.3",
        Verdict.NONE,
        (BRIDGE_QUOTE, AGGREGATE_QUOTE),
        change("outAmountUsd", _more_digits),
        control=True,
        because="output value in USD, a string; how many digits it has is not said",
    ),
    Break(
        "allowed-price-source",
        Layer.SCHEMA,
        "prices come from another provider",
        "2.3",
        Verdict.NONE,
        (PRICE,),
        change("source", lambda value: "coinmarketcap"),
        control=True,
        because="source (string, price provider)",
    ),
    Break(
        "allowed-refusal-codes",
        Layer.PROTOCOL,
        "refusals have code 90001",
        "7",
        Verdict.NONE,
        _REFUSING,
        refusing(_code),
        control=True,
        because="error code values other than 0 and their meanings: not shown",
    ),
    Break(
        "allowed-refusal-status-400",
        Layer.PROTOCOL,
        "2.0 refusals come with HTTP 400",
        "7",
        Verdict.NONE,
        (*_READS, CHECK_ORDER, CHECK_TICKET, TICKETS),
        _with_status(400),
        control=True,
        because="HTTP status codes for failures: not shown",
    ),
    Break(
        "allowed-refusal-status-404",
        Layer.PROTOCOL,
        "v1 refusals come with HTTP 404",
        "7",
        Verdict.NONE,
        (*_V1_READS, V1_DETAIL),
        _with_status(404),
        control=True,
        because="HTTP status codes for failures: not shown",
    ),
    Break(
        "allowed-refusal-without-data",
        Layer.PROTOCOL,
        "refusals have no data",
        "7",
        Verdict.NONE,
        _REFUSING,
        _without("data"),
        control=True,
        because="what a failure has beside its code is not shown",
    ),
    Break(
        "allowed-refusal-without-msg",
        Layer.PROTOCOL,
        "refusals have no msg",
        "7",
        Verdict.NONE,
        _REFUSING,
        _without("msg"),
        control=True,
        because="msg is seen on success; what a failure has is not shown",
    ),
    Break(
        "allowed-refusal-language",
        Layer.PROTOCOL,
        "msg of a refusal is in another language",
        "2.1",
        Verdict.NONE,
        _REFUSING,
        refusing(_told_otherwise),
        control=True,
        because="msg is a string",
    ),
    Break(
        "allowed-no-charset",
        Layer.PROTOCOL,
        "the media type has no charset",
        "2.1",
        Verdict.NONE,
        (*_READS, *_V1_READS),
        of_type("application/json"),
        control=True,
        because="headers of answers are not spoken of",
    ),
    Break(
        "allowed-headers",
        Layer.PROTOCOL,
        "answers have a Server, an ETag and a Cache-Control header",
        "2.1",
        Verdict.NONE,
        (*_READS, *_V1_READS),
        headed(
            lambda headers: (
                *headers,
                ("Cache-Control", "no-store"),
                ("ETag", '"5d8c72a5edda8"'),
                ("X-Request-Id", "b5e0f6"),
            )
        ),
        control=True,
        because="headers of answers are not spoken of",
    ),
    Break(
        "allowed-pretty-json",
        Layer.PROTOCOL,
        "JSON is indented and ends with a line break",
        "2.1",
        Verdict.NONE,
        (*_READS, *_V1_READS),
        _written(lambda value: jsontext.pretty(value).encode("ascii") + b"\n"),
        control=True,
        because="blanks between the parts of a JSON text mean nothing",
    ),
    Break(
        "allowed-escapes",
        Layer.PROTOCOL,
        "letters and slashes are escaped in JSON",
        "2.1",
        Verdict.NONE,
        (*_READS, *_V1_READS),
        rewritten(_escaped),
        control=True,
        because="an escaped letter is the same letter",
    ),
    Break(
        "allowed-member-order",
        Layer.PROTOCOL,
        "members of objects come in the reverse order",
        "2.1",
        Verdict.NONE,
        (*_READS, *_V1_READS),
        _written(lambda value: jsontext.encode(_reversed_members(value))),
        control=True,
        because="members of a JSON object have no order",
    ),
    Break(
        "allowed-gzip",
        Layer.PROTOCOL,
        "bodies are compressed for clients that take gzip",
        "2.1",
        Verdict.NONE,
        (ASSETS, CHAINS, BRIDGE_QUOTE),
        answering(_gzip_wanted),
        control=True,
        because="the client asks for it with Accept-Encoding",
    ),
    Break(
        "allowed-unknown-parameters",
        Layer.EXCHANGE,
        "query parameters that nobody declares are ignored",
        "4.2",
        Verdict.ASSUMED,
        (BRIDGE_QUOTE, PRICE, ASSETS_BY_CHAIN, BALANCE),
        asking(_known_names_only),
        control=True,
        because="the table says what is sent, and nothing of what is not",
    ),
    Break(
        "allowed-capital-hex",
        Layer.EXCHANGE,
        "contract addresses of a chain's tokens are in capitals",
        "2.3",
        Verdict.NONE,
        (ASSETS_BY_CHAIN,),
        change("list[].contractAddress", _upper_hex),
        control=True,
        because="hex digits have no case, and quotes take both",
    ),
    Break(
        "allowed-list-order",
        Layer.CROSS,
        "lists come in the reverse order",
        "2.3",
        Verdict.NONE,
        (CHAINS, ASSETS, ASSETS_BY_CHAIN, V1_CHAINS, V1_TOKENS),
        editing(_reversed_list),
        control=True,
        because="list is an array; no order is told",
    ),
    Break(
        "allowed-versions",
        Layer.CROSS,
        "lists have high version numbers",
        "9",
        Verdict.NONE,
        (CHAINS, ASSETS, ASSETS_BY_CHAIN, V1_CHAINS, V1_TOKENS),
        change("version", _newer),
        control=True,
        because="lists carry an integer version; which one is not said",
    ),
    Break(
        "allowed-moving-prices",
        Layer.CROSS,
        "prices swing by up to 0.07% from read to read",
        "2.3",
        Verdict.NONE,
        (BRIDGE_QUOTE, AGGREGATE_QUOTE, PRICE),
        editing(_moving),
        control=True,
        because="a price is the price of its moment",
    ),
    Break(
        "allowed-suspended-chain",
        Layer.CROSS,
        "one chain is gone from all lists and refused",
        "1",
        Verdict.NONE,
        (*_READS, V1_CHAINS, V1_TOKENS, V1_QUOTE, V1_RAW),
        _suspended,
        control=True,
        because="chains may be suspended for hours or days because of outages",
    ),
    Break(
        "allowed-order-statuses",
        Layer.STATEFUL,
        "orders are Queued and Executing on their way",
        "3",
        Verdict.OBSERVED,
        (CHECK_ORDER,),
        change("status", _queued),
        control=True,
        because="full set of order statuses: not shown beyond Succeeded",
        needs_writes=True,
    ),
    Break(
        "allowed-order-ids",
        Layer.STATEFUL,
        "ids of orders have letters",
        "2.3",
        Verdict.OBSERVED,
        (SUBMIT_ORDER, CHECK_ORDER),
        _lettered_id,
        control=True,
        because="id (string), the order identifier",
        needs_writes=True,
    ),
    Break(
        "allowed-latency",
        Layer.TIMING,
        "answers come 50 ms late",
        "8",
        Verdict.NONE,
        (*_READS, *_V1_READS),
        answering(_later),
        control=True,
        because="rate limits, amount bounds and other quotas: not shown",
    ),
)
"""Controls."""
