"""Acts that need code, by the names that the table of breaks calls them.

Each gets the whole context: it changes the request, the answer, or both.
"""

import gzip
from collections.abc import Mapping
from dataclasses import replace

from mockserver import jsontext
from mockserver.contract import ids
from mockserver.engine.order_statuses import Status, V1Status
from mockserver.engine.orders import OrderKind, Ticket
from mockserver.engine.outages import Mode, Window
from mockserver.engine.tickets import COMPLETED, TicketStatus, TicketView
from mockserver.http_messages import Headers, Response
from mockserver.mock_headers import REFUSAL_HEADER
from mockserver.operations import v1, v2
from mockserver.responders.answer_delivery import Cut, Delivery
from mockserver.responders.breaks.mutations import (
    EditableAnswer,
    MutationContext,
    editable,
    edited,
    refused,
    success,
)
from mockserver.responders.breaks.wrong_values import unsigned_number

# The nickname of the chain that is suspended; without it, another one is.
_SUSPENDED = "AVAXC"

# The longest that an answer is late for a time-out, in milliseconds of wall time.
_LONGEST_MS = 3_000

_MOST_REPORTS = 100
_FIRST_REPORT = 700_000
_HASH = "0x" + "0" * 64


# How an answer is sent


def late(context: MutationContext, milliseconds: int) -> Delivery:
    """Answer some wall time later."""
    sent = context.answer()
    return replace(sent, delay_ms=sent.delay_ms + milliseconds)


def beyond_time_out(context: MutationContext) -> Delivery:
    """Answer 200 ms after the time-out that the request gives, where that is soon."""
    window = unsigned_number(context.call.request.headers.get("expireTime", ""))
    if window is None or window + 200 > _LONGEST_MS:
        return context.answer()
    return late(context, window + 200)


def cut_short(context: MutationContext) -> Delivery:
    """Promise more bytes than come."""
    return replace(context.answer(), cut=Cut.TRUNCATED)


def compressed(context: MutationContext, when: str) -> Delivery:
    """Compress for clients that accept gzip (`accepted`), or for others (`unaccepted`)."""
    sent = context.answer()
    was = sent.response
    taken = "gzip" in context.call.request.headers.get("Accept-Encoding", "")
    if taken != (when == "accepted") or not was.body:
        return sent
    headers = (*was.headers, ("Content-Encoding", "gzip"))
    headers += (("Vary", "Accept-Encoding"),) if taken else ()
    return replace(sent, response=Response(was.status, headers, gzip.compress(was.body, mtime=0)))


def flat(context: MutationContext) -> Delivery:
    """Put the data beside the code instead of inside `data`."""

    def spread(answer: EditableAnswer) -> None:
        data = answer.body.pop("data")
        answer.body.update({name: value for name, value in data.items() if name not in answer.body})

    return edited(context, context.answer(), spread)


# Acts on the request


def as_published(context: MutationContext) -> Delivery:
    """Answer any method, and longer paths, like the published method and path."""
    request, operation = context.call.request, context.call.operation
    before, behind, _ = request.path.partition(operation.path)
    return context.answer(replace(request, method=operation.method, path=before + behind))


def item_of_array(context: MutationContext) -> Delivery:
    """Take the only item of an array for the body itself."""
    request = context.call.request
    match jsontext.decode_or(request.body):
        case [dict() as item]:
            return context.answer(replace(request, body=jsontext.encode(item)))
    return context.answer()


def exact_header(context: MutationContext) -> Delivery:
    """Know the header `chain` in this spelling only."""
    request = context.call.request
    sent = request.headers.items_sent
    known = [item for item in sent if item[0] == "chain" or item[0].lower() != "chain"]
    # An unchanged request is passed on as it is, so that the journal names no break.
    return context.answer(
        replace(request, headers=Headers(tuple(known))) if len(known) < len(sent) else None
    )


def known_names_only(context: MutationContext) -> Delivery:
    """Leave query parameters out that nobody declares."""
    inputs = context.inputs
    known = {field.name for field in context.call.operation.fields if field.location == "query"}
    query = {name: value for name, value in inputs.query.items() if name in known}
    return context.answer(inputs.querying(query) if query != inputs.query else None)


# Orders and tickets


def first_order(context: MutationContext) -> Delivery:
    """Answer with the first order that was checked, whichever is requested."""
    inputs, first = context.inputs, context.memory.get("first")
    if first is not None and inputs.query.get("id"):
        return context.answer(inputs.setting("query.id", first))
    sent = context.answer()
    if editable(context, sent):
        context.memory["first"] = inputs.query.get("id")
    return sent


def begins_anew(context: MutationContext) -> Delivery:
    """Show an order that was submitted twice as one that has just begun."""
    call, sent = context.call, context.answer()
    answer = editable(context, sent)
    if answer is not None and call.operation.id == ids.ORDER:
        context.count(str(answer.get("id")))
    elif context.memory.get(context.inputs.query.get("id", ""), 0) > 1:
        now = call.hosted.world.now()
        return success(context, v2.order_members(Status.UNKNOWN, now, "", "", 0))
    return sent


def less_for_swaps(context: MutationContext) -> Delivery:
    """Pay three fifths of each order of a swap."""
    call, inputs, sent = context.call, context.inputs, context.answer()
    answer = editable(context, sent)
    if answer is None:
        return sent
    if call.operation.id == ids.ORDER:
        context.remember(str(answer.get("id")), inputs.body.get("orderType"))
        return sent
    is_swap = context.memory.get(inputs.query.get("id", "")) == "2"
    paid = unsigned_number(answer.get("amountOut"))

    def cut(answer: EditableAnswer) -> None:
        answer.data["amountOut"] = str((paid or 0) * 3 // 5)

    return edited(context, sent, cut) if is_swap and paid else sent


def another_for_its_deposit(context: MutationContext) -> Delivery:
    """Accept an order whose deposit pays for another one."""
    sent = context.answer()
    refusal = sent.response.header(REFUSAL_HEADER) or ""
    is_used = refusal.startswith("hash-already-used")
    return success(context, {"id": "7"}) if is_used else sent


def as_submitted(context: MutationContext, names: Mapping[str, str]) -> Delivery:
    """Show a v1 order whatever some inputs are: those of its submission replace them.

    It is known by the beginning of its hash, so that the hash can be replaced as well.
    """
    inputs, end = context.inputs, -8
    ((looked_up, submitted),) = names.items()
    if context.call.operation.id == ids.V1_ORDER:
        sent = context.answer()
        if editable(context, sent):
            context.remember(str(inputs.body.get("certHash"))[:end], inputs.body.get(submitted))
        return sent
    right = context.memory.get(inputs.query.get("hash", "")[:end])
    is_known = right is not None and inputs.query.get(looked_up)
    return context.answer(inputs.setting(f"query.{looked_up}", right) if is_known else None)


def all_done(context: MutationContext) -> Delivery:
    """Report everything that is looked up as succeeded."""
    call, query = context.call, context.inputs.query
    ticket = call.operation.id == ids.CHECK_TICKET
    if unsigned_number(query.get("ticketId" if ticket else "id")) is None:
        return context.answer()
    if ticket:
        view = TicketView(Ticket(0, "", "", "", 0), TicketStatus.SUCCEEDED, COMPLETED)
        return success(context, v2.status_members(view))
    now = call.hosted.world.now()
    return success(context, v2.order_members(Status.SUCCEEDED, now, "", _HASH, 1_000_000))


def some_v1_order(context: MutationContext) -> Delivery:
    call, sent, inputs = context.call, context.answer(), context.inputs
    if call.operation.id == ids.V1_ORDER:
        context.remember(str(inputs.body.get("certHash")), True)
        return sent
    chain, transaction, user = (inputs.query.get(name) for name in ("chain", "hash", "evmAddress"))
    sound = not call.operation.read(call.request).violations
    if not refused(sent) or not sound or transaction in context.memory:
        return sent
    order = v1.order_members(
        ("CC1160520260101000009999", V1Status.ONGOING, OrderKind.BRIDGE, str(transaction)),
        (user, "100", chain, "USDT"),
        (user, "0", "ETH", "", "USDT"),
        "0",
    )
    return success(context, {"order": order})


def filter_ignored(context: MutationContext) -> Delivery:
    """List the tickets of an address in every status, whichever is requested."""

    def list_all(answer: EditableAnswer) -> None:
        for name in TicketStatus:
            of_status = context.answer(context.inputs.setting("query.filter", name))
            editable_answer, listed = editable(context, of_status), answer.listed()
            listed += (
                [item for item in editable_answer.listed() if item not in listed]
                if editable_answer
                else []
            )

    return edited(context, context.answer(), list_all)


def refused_kept(context: MutationContext) -> Delivery:
    inputs, sent = context.inputs, context.answer()
    reports = context.memory.setdefault("refused", [])
    if context.call.operation.id == ids.TICKETS:
        address = inputs.query.get("address", "")
        tickets = [
            TicketView(Ticket(number, address, chain, transaction, 0), TicketStatus.UNKNOWN)
            for number, (transaction, chain) in enumerate(reports, _FIRST_REPORT)
        ]
        return edited(
            context, sent, lambda answer: answer.listed().extend(map(v2.ticket_members, tickets))
        )
    transaction = inputs.body.get("hash")
    is_report = not editable(context, sent) and isinstance(transaction, str) and transaction
    if is_report and len(reports) < _MOST_REPORTS:
        reports.append([transaction, str(inputs.body.get("chain", ""))])
    return sent


def suspended(context: MutationContext) -> Delivery:
    """Take a chain out of service: gone from every list, and refused wherever it is quoted."""
    hosted, chains = context.call.hosted, context.catalog.chains
    chain = next(
        (listed_chain for listed_chain in chains if listed_chain.nickname == _SUSPENDED), chains[-1]
    )
    window = Window(chain.nickname, None, 0, mode=Mode.DELISTED)
    world = hosted.world.with_outages(window)
    sent = context.below(replace(context.call, hosted=replace(hosted, world=world)))
    if context.inputs.query.get("chain") != chain.nickname or not editable(context, sent):
        return sent
    # The mock still answers balances and prices of such a chain, which a service may refuse.
    why = f"chain {chain.nickname!r} is out of service"
    return replace(sent, response=context.refuse("chain-suspended", why))
