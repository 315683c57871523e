"""Acts that need code, by the names that the table of breaks calls them.

Each is given the whole context: it changes what is asked, what is answered, or both.
"""

import gzip
from collections.abc import Mapping
from dataclasses import replace

from mockserver import jsontext
from mockserver.contract import ids
from mockserver.engine.catalog import Chain
from mockserver.engine.tickets import TicketStatus
from mockserver.exchange import Headers, Response
from mockserver.jsontext import Json
from mockserver.responders.breaks.converters import whole
from mockserver.responders.breaks.mutations import (
    EditableAnswer,
    MutationContext,
    bounded,
    editable,
    edited,
    refused,
    succeeded,
    success,
)
from mockserver.responders.delivery import Cut, Delivery

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


def late(context: MutationContext, milliseconds: int) -> Delivery:
    """Answer some wall time later."""
    sent = context.answer()
    return replace(sent, delay_ms=sent.delay_ms + milliseconds)


def beyond_time_out(context: MutationContext) -> Delivery:
    """Answer 200 ms after the time-out that the request gives, where that is soon."""
    window = whole(context.call.request.headers.get("expireTime", ""))
    if window is None or window + 200 > _MOST_MS:
        return context.answer()
    return late(context, window + 200)


def cut_short(context: MutationContext) -> Delivery:
    """Promise more bytes than come."""
    return replace(context.answer(), cut=Cut.TRUNCATED)


def compressed(context: MutationContext, when: str) -> Delivery:
    """Compress for clients that take gzip (`asked`), or for those that do not (`unasked`)."""
    sent = context.answer()
    was = sent.response
    taken = "gzip" in context.call.request.headers.get("Accept-Encoding", "")
    if taken != (when == "asked") or not was.body:
        return sent
    headers = (*was.headers, ("Content-Encoding", "gzip"))
    headers += (("Vary", "Accept-Encoding"),) if taken else ()
    return replace(sent, response=Response(was.status, headers, gzip.compress(was.body, mtime=0)))


def refused_with(context: MutationContext, status: int) -> Delivery:
    """Answer as a server does that has the path for another method only."""
    sent = context.answer()
    said = context.refuse("contract-violation", "method not allowed").response
    return replace(sent, response=replace(said, status=status))


def all_well(context: MutationContext) -> Delivery:
    """Tell of a success without any data."""
    return replace(context.answer(), response=success(context, {}).response)


# What is asked instead


def any_method(context: MutationContext) -> Delivery:
    """Answer any method as the one that is published."""
    return context.answer(replace(context.call.request, method=context.call.operation.method))


def without_tail(context: MutationContext) -> Delivery:
    """Take a path only as far as an operation has it."""
    request, path = context.call.request, context.call.operation.path
    before, found, _ = request.path.partition(path)
    return context.answer(replace(request, path=before + found))


def item_of_array(context: MutationContext) -> Delivery:
    """Take the only item of an array for the body itself."""
    request = context.call.request
    found = jsontext.decode_or(request.body)
    if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], dict):
        return context.answer()
    return context.answer(replace(request, body=jsontext.encode(found[0])))


def exact_header(context: MutationContext) -> Delivery:
    """Know the header `chain` in this spelling only."""
    request = context.call.request
    sent = request.headers.items_sent
    known = [item for item in sent if item[0] == "chain" or item[0].lower() != "chain"]
    if len(known) == len(sent):
        return context.answer()
    return context.answer(replace(request, headers=Headers(tuple(known))))


def known_names_only(context: MutationContext) -> Delivery:
    """Leave query parameters out that nobody declares."""
    inputs = context.inputs
    known = {field.name for field in context.call.operation.fields if field.location == "query"}
    kept = {name: value for name, value in inputs.query.items() if name in known}
    return context.answer(inputs.querying(kept).request if kept != inputs.query else None)


# Orders and tickets


def lettered_id(context: MutationContext) -> Delivery:
    """Give orders ids with letters, and know them by these."""
    if context.call.operation.id == ids.ORDER:
        sent = context.answer()
        body = succeeded(context, sent.response)
        if body is None or "id" not in body["data"]:
            return sent
        body["data"]["id"] = f"ord-{body['data']['id']}"
        return sent.with_body(jsontext.encode(body))
    asked = context.inputs.query.get("id")
    if not asked:
        return context.answer()
    known = asked.removeprefix("ord-") if asked.startswith("ord-") else f"9999{asked}"
    return context.answer(context.inputs.setting("query.id", known).request)


def first_order(context: MutationContext) -> Delivery:
    """Tell of the first order that was checked, whichever is asked for."""
    inputs, first = context.inputs, context.memory.get("first")
    if first is not None and inputs.query.get("id"):
        return context.answer(inputs.setting("query.id", first).request)
    sent = context.answer()
    if succeeded(context, sent.response) is not None:
        context.memory["first"] = inputs.query.get("id")
    return sent


def as_submitted(context: MutationContext, inputs: Mapping[str, str]) -> Delivery:
    """Show a v1 order whatever an input says: that of its submission is put in its place."""
    asked = context.inputs
    ((shown, submitted),) = inputs.items()
    if context.call.operation.id == ids.V1_ORDER:
        sent = context.answer()
        if succeeded(context, sent.response) is not None:
            context.memory[str(asked.body.get("certHash"))] = asked.body.get(submitted)
            bounded(context.memory)
        return sent
    right = context.memory.get(asked.query.get("hash", ""))
    if right is None or not asked.query.get(shown):
        return context.answer()
    return context.answer(asked.setting(f"query.{shown}", right).request)


def all_done(context: MutationContext) -> Delivery:
    """Tell of the success of whatever is asked about."""
    call, query = context.call, context.inputs.query
    ticket = call.operation.id == ids.CHECK_TICKET
    if whole(query.get("ticketId" if ticket else "id")) is None:
        return context.answer()
    if ticket:
        return success(context, {"succeeded": True, "solution": "completed"})
    ended = {"status": "Succeeded", "timestamp": call.hosted.world.now() // 1000}
    return success(context, {**ended, "execHash": _HASH, "reason": "", "amountOut": "1000000"})


def some_v1_order(context: MutationContext) -> Delivery:
    """Show an order for whatever transaction is asked about and nobody has submitted."""
    call, sent, inputs = context.call, context.answer(), context.inputs
    if call.operation.id == ids.V1_ORDER:
        context.memory[str(inputs.body.get("certHash"))] = True
        bounded(context.memory)
        return sent
    chain, transaction, user = (inputs.query.get(name) for name in ("chain", "hash", "evmAddress"))
    sound = not call.operation.read(call.request).violations
    if not refused(sent.response) or not sound or transaction in context.memory:
        return sent
    ends = {"fromChain": chain, "fromToken": "USDT", "fromAmount": "100", "fromAddress": user}
    goal = {"toChain": "ETH", "toToken": "USDT", "toAmount": "0", "toAddress": user, "toHash": ""}
    order = {"sn": "CC1160520260101000009999", "status": 1, "type": 1, "certHash": transaction}
    return success(context, {"order": {**_NO_MORE, **order, **ends, **goal}})


def filter_ignored(context: MutationContext) -> Delivery:
    """List the tickets of an address in every status, whichever is asked for."""
    sent, inputs = context.answer(), context.inputs
    answer = editable(context, sent)
    if answer is None:
        return sent
    found: list[Json] = []
    for name in TicketStatus:
        of_status = context.answer(inputs.setting("query.filter", name).request)
        other = editable(context, of_status) or answer
        found += [item for item in other.listed() if item not in found]
    return _relisted(answer, sent, found)


def refused_kept(context: MutationContext) -> Delivery:
    """List reports that were refused as tickets all the same."""
    sent, inputs = context.answer(), context.inputs
    answer = editable(context, sent)
    if context.call.operation.id == ids.TICKETS and answer is not None:
        reports = [
            {
                "ticketId": _NUMBERED_FROM + number,
                "address": inputs.query.get("address", ""),
                "chain": chain,
                "hash": transaction,
                "succeeded": False,
                "solution": "",
            }
            for number, (transaction, chain) in enumerate(context.memory.get("refused", []))
        ]
        return _relisted(answer, sent, [*answer.listed(), *reports])
    transaction = inputs.body.get("hash")
    if answer is None and isinstance(transaction, str) and transaction:
        kept = context.memory.setdefault("refused", [])
        if len(kept) < _MOST_KEPT:
            kept.append([transaction, str(inputs.body.get("chain", ""))])
    return sent


def _relisted(answer: EditableAnswer, sent: Delivery, found: list[Json]) -> Delivery:
    if not isinstance(answer.data.get("list"), list):
        return sent
    return edited(answer, sent, lambda answer: answer.data.update(list=found))


# A chain out of service


def suspended(context: MutationContext) -> Delivery:
    """Take a chain out of service: gone from every list, and refused wherever it is named."""
    chains, sent = context.catalog.chains, context.answer()
    chain = next((one for one in chains if one.nickname == _SUSPENDED), chains[-1])
    answer = editable(context, sent)
    if answer is None:
        return sent
    parts = (
        f"{where}.{name}"
        for where in ("query", "headers", "body")
        for name in ("chain", "fromChain", "toChain")
    )
    asked = [context.inputs.get(part) for part in parts]
    if any(isinstance(one, str) and one in (chain.nickname, chain.v1_name) for one in asked):
        name = context.call.naming(chain.nickname) or chain.nickname
        said = context.refuse("chain-suspended", f"chain {name!r} is out of service")
        return replace(sent, response=said.response)
    return edited(answer, sent, lambda answer: _unlist(answer, chain))


def _unlist(answer: EditableAnswer, chain: Chain) -> None:
    for name, key, gone in (
        ("list", "nickName", chain.nickname),
        ("chains", "name", chain.v1_name),
    ):
        if answer.listed(name):
            answer.data[name] = [one for one in answer.listed(name) if _member(one, key) != gone]
    for holder, _ in answer.places(f"list[].contracts.{chain.nickname}"):
        del holder[chain.nickname]
    if answer.context.call.operation.id == ids.ASSETS:
        answer.data["list"] = [one for one in answer.listed() if _member(one, "contracts") != {}]


def _member(item: Json, name: str) -> Json:
    return item.get(name, "") if isinstance(item, dict) else ""
