"""Acts that need code, by the names that the table of breaks calls them.

Each is given the whole turn: it changes what is asked, what is answered, or both.
"""

import gzip
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from mockserver import jsontext
from mockserver.engine.catalog import Chain
from mockserver.exchange import Headers, Response
from mockserver.jsontext import Json
from mockserver.responders.breaks.answers import (
    Page,
    bounded,
    edited,
    page_of,
    refused,
    succeeded,
    success,
)
from mockserver.responders.breaks.converters import whole
from mockserver.responders.breaks.inputs import catalog_of
from mockserver.responders.breaks.values import Turn, asked_of
from mockserver.responders.delivery import Cut, Delivery

_SUBMIT_ORDER = "v2.submitOrder"
_CHECK_TICKET = "v2.checkTicket"
_TICKETS = "v2.getAllTicketByAddress"
_V1_SUBMIT = "v1.submitCrossChain"
_ASSETS = "v2.getAssets"
_FILTERS = ("Unknown", "Pending", "Succeeded")
_SUSPENDED = "AVAXC"
"""The nickname of the chain that is suspended; another one takes its place where it is missing."""

_MOST_MS = 3_000
"""The longest that an answer is late for a time-out, in milliseconds of wall time."""

_MOST_KEPT = 100
_NUMBERED_FROM = 700_000
_HASH = "0x" + "0" * 64
_NO_MORE = {
    **dict.fromkeys(("feeToAddress", "feeToChain", "feeToHash", "feeToToken")),
    **dict.fromkeys(("backAddress", "backChain", "backHash", "backToken")),
    "feeLevel": "0",
    "feeToAmount": "0",
    "backAmount": "0",
}
"""What a v1 order shows that has neither a part paid in coin nor a refund (ESS1)."""


# The way of an answer


def late(turn: Turn, milliseconds: int) -> Delivery:
    """Answer some wall time later."""
    sent = turn.answer()
    return replace(sent, delay_ms=sent.delay_ms + milliseconds)


def beyond_time_out(turn: Turn) -> Delivery:
    """Answer 200 ms after the time-out that the request gives, where that is soon."""
    window = whole(turn.call.request.headers.get("expireTime", ""))
    soon = window is not None and window + 200 <= _MOST_MS
    return late(turn, window + 200) if soon and window is not None else turn.answer()


def cut_short(turn: Turn) -> Delivery:
    """Promise more bytes than come."""
    return replace(turn.answer(), cut=Cut.TRUNCATED)


def compressed(turn: Turn, when: str) -> Delivery:
    """Compress for clients that take gzip (`asked`), or for those that do not (`unasked`)."""
    sent = turn.answer()
    was = sent.response
    taken = "gzip" in turn.call.request.headers.get("Accept-Encoding", "")
    if taken != (when == "asked") or not was.body:
        return sent
    headers = (*was.headers, ("Content-Encoding", "gzip"))
    headers += (("Vary", "Accept-Encoding"),) if taken else ()
    return replace(sent, response=Response(was.status, headers, gzip.compress(was.body, mtime=0)))


def refused_with(turn: Turn, status: int) -> Delivery:
    """Answer as a server does that has the path for another method only."""
    sent = turn.answer()
    said = turn.refuse("contract-violation", "method not allowed").response
    return replace(sent, response=Response(status, said.headers, said.body))


def all_well(turn: Turn) -> Delivery:
    """Tell of a success without any data."""
    return replace(turn.answer(), response=success(turn, {}).response)


# What is asked instead


def any_method(turn: Turn) -> Delivery:
    """Answer any method as the one that is published."""
    operation, request = turn.call.operation, turn.call.request
    if request.method == operation.method:
        return turn.answer()
    return turn.answer(replace(request, method=operation.method))


def without_tail(turn: Turn) -> Delivery:
    """Take a path only as far as an operation has it."""
    request, path = turn.call.request, turn.call.operation.path
    before, found, tail = request.path.partition(path)
    return turn.answer(replace(request, path=before + found)) if tail else turn.answer()


def item_of_array(turn: Turn) -> Delivery:
    """Take the only item of an array for the body itself."""
    request = turn.call.request
    found = jsontext.decode_or(request.body)
    if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], dict):
        return turn.answer()
    return turn.answer(replace(request, body=jsontext.encode(found[0])))


def exact_header(turn: Turn) -> Delivery:
    """Know the header `chain` in this spelling only."""
    request = turn.call.request
    sent = request.headers.items_sent
    known = [item for item in sent if item[0] == "chain" or item[0].lower() != "chain"]
    if len(known) == len(sent):
        return turn.answer()
    return turn.answer(replace(request, headers=Headers(tuple(known))))


def known_names_only(turn: Turn) -> Delivery:
    """Leave query parameters out that nobody declares."""
    asked = asked_of(turn.call)
    known = {field.name for field in turn.call.operation.fields if field.location == "query"}
    kept = {name: value for name, value in asked.query.items() if name in known}
    return turn.answer(asked.querying(kept).request if kept != asked.query else None)


# Orders and tickets


def lettered_id(turn: Turn) -> Delivery:
    """Give orders ids with letters, and know them by these."""
    if turn.call.operation.id == _SUBMIT_ORDER:
        sent = turn.answer()
        body = succeeded(turn, sent.response)
        if body is None or "id" not in body["data"]:
            return sent
        body["data"]["id"] = f"ord-{body['data']['id']}"
        return sent.with_body(jsontext.encode(body))
    asked = asked_of(turn.call)
    told = asked.query.get("id")
    if not told:
        return turn.answer()
    known = told.removeprefix("ord-") if told.startswith("ord-") else f"9999{told}"
    return turn.answer(asked.setting("query.id", known).request)


def first_order(turn: Turn) -> Delivery:
    """Tell of the first order that was checked, whichever is asked for."""
    asked = asked_of(turn.call)
    first = turn.memory.get("first")
    if first is not None and asked.query.get("id"):
        return turn.answer(asked.setting("query.id", first).request)
    sent = turn.answer()
    if succeeded(turn, sent.response) is not None:
        turn.memory["first"] = asked.query.get("id")
    return sent


def as_submitted(turn: Turn, inputs: Mapping[str, str]) -> Delivery:
    """Show a v1 order whatever an input says: that of its submission is put in its place."""
    asked = asked_of(turn.call)
    ((shown, submitted),) = inputs.items()
    if turn.call.operation.id == _V1_SUBMIT:
        sent = turn.answer()
        if succeeded(turn, sent.response) is not None:
            turn.memory[str(asked.body.get("certHash"))] = asked.body.get(submitted)
            bounded(turn.memory)
        return sent
    right = turn.memory.get(asked.query.get("hash", ""))
    if right is None or not asked.query.get(shown):
        return turn.answer()
    return turn.answer(asked.setting(f"query.{shown}", right).request)


def all_done(turn: Turn) -> Delivery:
    """Tell of the success of whatever is asked about."""
    call, query = turn.call, asked_of(turn.call).query
    ticket = call.operation.id == _CHECK_TICKET
    if whole(query.get("ticketId" if ticket else "id")) is None:
        return turn.answer()
    if ticket:
        return success(turn, {"succeeded": True, "solution": "completed"})
    ended = {"status": "Succeeded", "timestamp": call.hosted.world.now() // 1000}
    return success(turn, {**ended, "execHash": _HASH, "reason": "", "amountOut": "1000000"})


def some_v1_order(turn: Turn) -> Delivery:
    """Show an order for whatever transaction is asked about and nobody has submitted."""
    call, sent, asked = turn.call, turn.answer(), asked_of(turn.call)
    if call.operation.id == _V1_SUBMIT:
        turn.memory[str(asked.body.get("certHash"))] = True
        bounded(turn.memory)
        return sent
    chain, transaction, user = (asked.query.get(name) for name in ("chain", "hash", "evmAddress"))
    sound = not call.operation.read(call.request).violations
    if not refused(sent.response) or not sound or transaction in turn.memory:
        return sent
    ends = {"fromChain": chain, "fromToken": "USDT", "fromAmount": "100", "fromAddress": user}
    goal = {"toChain": "ETH", "toToken": "USDT", "toAmount": "0", "toAddress": user, "toHash": ""}
    order = {"sn": "CC1160520260101000009999", "status": 1, "type": 1, "certHash": transaction}
    return success(turn, {"order": {**_NO_MORE, **order, **ends, **goal}})


def filter_ignored(turn: Turn) -> Delivery:
    """List the tickets of an address in every status, whichever is asked for."""
    sent, asked = turn.answer(), asked_of(turn.call)
    page = page_of(turn, sent)
    if page is None:
        return sent
    found: list[Json] = []
    for name in _FILTERS:
        other = page_of(turn, turn.answer(asked.setting("query.filter", name).request)) or page
        found += [item for item in other.listed() if item not in found]
    return _relisted(page, sent, found)


def refused_kept(turn: Turn) -> Delivery:
    """List reports that were refused as tickets all the same."""
    sent, asked = turn.answer(), asked_of(turn.call)
    page = page_of(turn, sent)
    if turn.call.operation.id == _TICKETS:
        return sent if page is None else _relisted(page, sent, [*page.listed(), *_reports(page)])
    told = asked.body.get("hash")
    if page is None and isinstance(told, str) and told:
        kept = turn.memory.setdefault("refused", [])
        if len(kept) < _MOST_KEPT:
            kept.append([told, str(asked.body.get("chain", ""))])
    return sent


def _reports(page: Page) -> list[Json]:
    return [
        {
            "ticketId": _NUMBERED_FROM + number,
            "address": page.asked.query.get("address", ""),
            "chain": chain,
            "hash": told,
            "succeeded": False,
            "solution": "",
        }
        for number, (told, chain) in enumerate(page.memory.get("refused", []))
    ]


def _relisted(page: Page, sent: Delivery, found: list[Json]) -> Delivery:
    if not isinstance(page.data.get("list"), list):
        return sent
    return edited(page, sent, lambda page: page.data.update(list=found))


# A chain out of service


def suspended(turn: Turn) -> Delivery:
    """Take a chain out of service: gone from every list, and refused wherever it is named."""
    asked, chain = asked_of(turn.call), _suspended_chain(turn)
    names = (chain.nickname, chain.v1_name)
    parts = ("chain", "fromChain", "toChain")
    told = [
        asked.get(f"{where}.{name}") for where in ("query", "headers", "body") for name in parts
    ]
    sent = turn.answer()
    page = page_of(turn, sent)
    if page is None:
        return sent
    if any(isinstance(one, str) and one in names for one in told):
        said = turn.refuse("chain-suspended", f"chain {chain.nickname!r} is out of service")
        return replace(sent, response=said.response)
    return edited(page, sent, partial(_unlist, chain=chain))


def _suspended_chain(turn: Turn) -> Chain:
    chains = catalog_of(turn.call).chains
    return next((one for one in chains if one.nickname == _SUSPENDED), chains[-1])


def _unlist(page: Page, chain: Chain) -> None:
    for name, key, gone in (
        ("list", "nickName", chain.nickname),
        ("chains", "name", chain.v1_name),
    ):
        if page.listed(name):
            page.data[name] = [one for one in page.listed(name) if _member(one, key) != gone]
    for holder, _ in page.places(f"list[].contracts.{chain.nickname}"):
        del holder[chain.nickname]
    if page.turn.call.operation.id == _ASSETS:
        page.data["list"] = [one for one in page.listed() if _member(one, "contracts") != {}]


def _member(item: Json, name: str) -> Json:
    return item.get(name, "") if isinstance(item, dict) else ""
