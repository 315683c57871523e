"""Breaks that show only over time: what an earlier request was told does not hold later."""

from dataclasses import replace

from mockserver import jsontext
from mockserver.engine import courses
from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.responders.breaks.answers import (
    Page,
    answering,
    change,
    editing,
    refused,
    succeeded,
    with_body,
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
    SUBMIT_TICKET,
    TICKETS,
    V1_DETAIL,
    V1_SUBMIT,
    V1_TOKENS,
)
from mockserver.responders.breaks.requests import asked_of, correcting, with_value
from mockserver.responders.breaks.values import Act, Break, Layer, Turn, Verdict
from mockserver.responders.delivery import Delivery
from mockserver.responders.responder import Call

FINAL = tuple(status.value for status in courses.FINAL)
"""Statuses after which an order changes no more."""

_MOST = 2_000
"""How much a break remembers in one world; what is older is forgotten."""

_FILTERS = ("Unknown", "Pending", "Succeeded")


def counted(memory: dict[str, Json], key: str = "count") -> int:
    """Count one more under a key and return how many there are."""
    memory[key] = memory.get(key, 0) + 1
    bounded(memory)
    return int(memory[key])


def bounded(memory: dict[str, Json]) -> None:
    """Forget what is oldest where a break remembers too much."""
    while len(memory) > _MOST:
        del memory[next(iter(memory))]


def _version_counts(page: Page) -> None:
    page.data["version"] = 1 + counted(page.memory)


def _list_shrinks(page: Page) -> None:
    read = counted(page.memory) - 1
    page.data["list"] = page.items[: max(1, len(page.items) - read)]


def _third_fails(turn: Turn, sent: Delivery) -> Delivery:
    if succeeded(turn, sent.response) is None or counted(turn.memory) % 3:
        return sent
    page = Response(500, (("Content-Type", "text/plain"),), b"pool exhausted")
    return replace(sent, response=page)


def _cached(*names: str, location: str = "query") -> Act:
    """Tell again what was told first for these parts of a request alone."""

    def edit(page: Page) -> None:
        key = "|".join(str(page.asked.get(location, name))[:200] for name in names)
        kept = page.memory.setdefault(f"for {key}", page.data)
        page.body["data"] = kept
        bounded(page.memory)

    return editing(edit)


def _one_before(page: Page) -> None:
    before = page.memory.get("before")
    page.memory["before"] = page.data
    if before is not None:
        page.body["data"] = before


def _refusal_sticks(turn: Turn, sent: Delivery) -> Delivery:
    """Refuse the call after a refused one as well."""
    if refused(sent.response):
        turn.memory["refused"] = True
        return sent
    if not turn.memory.pop("refused", False):
        return sent
    generation, refuser = turn.call.operation.generation, turn.call.hosted.refuser
    return replace(sent, response=refuser.refuse(generation, "contract-violation", "as before"))


def _order(page: Page) -> str:
    return f"order {page.asked.query.get('id', '')[:200]}"


def _ids_reused(page: Page) -> None:
    page.data["id"] = page.memory.setdefault("id", page.data.get("id"))


def _lost(turn: Turn, sent: Delivery) -> Delivery:
    """Know an order for two checks."""
    order = f"order {asked_of(turn.call).query.get('id', '')[:200]}"
    if succeeded(turn, sent.response) is None or counted(turn.memory, order) < 3:
        return sent
    generation, refuser = turn.call.operation.generation, turn.call.hosted.refuser
    return replace(sent, response=refuser.refuse(generation, "unknown-order", "no such order"))


def _ends_twice(page: Page) -> None:
    """Turn the end of an order into another one once it was told."""
    status = page.data.get("status")
    if status in FINAL and counted(page.memory, _order(page)) > 1:
        page.data["status"] = "Failed" if status == "Succeeded" else "Succeeded"


def _reopens(page: Page) -> None:
    """Let every second check of a finished order say that it is pending."""
    if page.data.get("status") in FINAL and counted(page.memory, _order(page)) % 2 == 0:
        page.data["status"] = "Pending"


def _reason_on_success(page: Page) -> None:
    if page.data.get("status") == "Succeeded":
        page.data["reason"] = "ok"


def _no_reason(page: Page) -> None:
    if page.data.get("status") != "Succeeded":
        page.data["reason"] = ""


def _no_hash(page: Page) -> None:
    page.data["execHash"] = ""


def _new_hash(page: Page) -> None:
    """Show another hash at every check of an order that has one."""
    shown = page.data.get("execHash")
    if isinstance(shown, str) and len(shown) > 8:
        page.data["execHash"] = f"{shown[:-4]}{counted(page.memory, _order(page)) % 65_536:04x}"


def _nothing_out(page: Page) -> None:
    page.data["amountOut"] = "0"


def _first_order(turn: Turn) -> Delivery:
    """Tell of the first order that was checked, whichever is asked for."""
    asked = asked_of(turn.call)
    first = turn.memory.get("first")
    if first is not None and asked.query.get("id"):
        return turn.answer(with_value(asked, "query", "id", first))
    sent = turn.answer()
    if succeeded(turn, sent.response) is not None:
        turn.memory["first"] = asked.query.get("id")
    return sent


def _filter_ignored(turn: Turn) -> Delivery:
    """List the tickets of an address in every status, whichever is asked for."""
    sent, asked = turn.answer(), asked_of(turn.call)
    body = succeeded(turn, sent.response)
    if body is None:
        return sent
    found: list[Json] = []
    for name in _FILTERS:
        other = turn.answer(with_value(asked, "query", "filter", name))
        listed = (succeeded(turn, other.response) or body)["data"].get("list")
        found += [item for item in _items(listed) if item not in found]
    if found == body["data"].get("list"):
        return sent
    body["data"]["list"] = found
    return with_body(sent, jsontext.encode(body))


def _items(listed: Json) -> list[Json]:
    return listed if isinstance(listed, list) else []


def _elsewhere(page: Page) -> None:
    for item in page.items:
        if isinstance(item, dict):
            item["address"] = "0x00000000000000000000000000000000000000aa"


def _no_tickets(page: Page) -> None:
    page.data["list"] = []


def _hash_mangled(call: Call, value: Json) -> Json:
    """Look an order up by a hash that was cut to the length of a column."""
    return value[:60] if isinstance(value, str) else value


def _v1_reopens(page: Page) -> None:
    order = page.data.get("order")
    if not isinstance(order, dict) or order.get("status") == 1:
        return
    if counted(page.memory, f"order {page.asked.query.get('hash', '')[:200]}") % 2 == 0:
        order["status"] = 1


def _for_anyone(turn: Turn) -> Delivery:
    """Show an order to every address: the owner's is put in place of the one that asks."""
    asked = asked_of(turn.call)
    if turn.call.operation.id == V1_SUBMIT:
        sent = turn.answer()
        if succeeded(turn, sent.response) is not None:
            turn.memory[str(asked.body.get("certHash"))] = asked.body.get("evmAddres")
            bounded(turn.memory)
        return sent
    owner = turn.memory.get(asked.query.get("hash", ""))
    if owner is None or not asked.query.get("evmAddress"):
        return turn.answer()
    return turn.answer(with_value(asked, "query", "evmAddress", owner))


_LAYER, _VIOLATION, _OBSERVED = Layer.STATEFUL, Verdict.VIOLATION, Verdict.OBSERVED

BREAKS: tuple[Break, ...] = (
    Break(
        "version-counts-reads",
        _LAYER,
        "version of the chains rises with every read although the list stays",
        "A-240",
        Verdict.ASSUMED,
        (CHAINS,),
        editing(_version_counts),
    ),
    Break(
        "list-shrinks",
        _LAYER,
        "every read of the tokens has one less, under the same version",
        "A-264",
        Verdict.ASSUMED,
        (ASSETS,),
        editing(_list_shrinks),
    ),
    Break(
        "third-read-fails",
        _LAYER,
        "every third price is an HTTP 500",
        "7",
        _VIOLATION,
        (PRICE,),
        answering(_third_fails),
    ),
    Break(
        "quote-of-the-one-before",
        _LAYER,
        "a quote is the one of the request before",
        "4.2 row 4",
        _VIOLATION,
        (BRIDGE_QUOTE,),
        editing(_one_before),
    ),
    Break(
        "quote-cached-without-amount",
        _LAYER,
        "a quote is kept by its route, and told again for other amounts",
        "4.2 row 5",
        _VIOLATION,
        (AGGREGATE_QUOTE,),
        _cached("fromChain", "toChain", "fromTokenAddress", "toTokenAddress"),
    ),
    Break(
        "chain-tokens-of-the-first",
        _LAYER,
        "the tokens of the chain asked for first are told for all",
        "4.2 row 3",
        _VIOLATION,
        (ASSETS_BY_CHAIN,),
        _cached(),
    ),
    Break(
        "v1-chain-tokens-of-the-first",
        _LAYER,
        "the v1 tokens of the chain asked for first are told for all",
        "4.1 row 2",
        _VIOLATION,
        (V1_TOKENS,),
        _cached(),
    ),
    Break(
        "balance-cached-by-address",
        _LAYER,
        "the balance asked for first is told for all tokens of an address",
        "4.2 row 9",
        _VIOLATION,
        (BALANCE,),
        _cached("address"),
    ),
    Break(
        "price-cached-by-chain",
        _LAYER,
        "the price asked for first is told for all tokens of a chain",
        "4.2 row 10",
        _VIOLATION,
        (PRICE,),
        _cached("chain"),
    ),
    Break(
        "refusal-sticks",
        _LAYER,
        "the request after a refused one is refused as well",
        "A-262",
        Verdict.ASSUMED,
        (BRIDGE_QUOTE,),
        answering(_refusal_sticks),
    ),
    Break(
        "order-id-uncheckable",
        _LAYER,
        "submitOrder answers an id that checkOrder does not know",
        "4.2 row 8",
        _VIOLATION,
        (SUBMIT_ORDER,),
        change("id", lambda value: f"{value}0"),
        needs_writes=True,
    ),
    Break(
        "order-ids-reused",
        _LAYER,
        "every order has the id of the first",
        "2.3",
        _VIOLATION,
        (SUBMIT_ORDER,),
        editing(_ids_reused),
        needs_writes=True,
    ),
    Break(
        "order-lost",
        _LAYER,
        "an order is unknown from its third check on",
        "4.2 row 8",
        _VIOLATION,
        (CHECK_ORDER,),
        answering(_lost),
        needs_writes=True,
    ),
    Break(
        "order-ends-twice",
        _LAYER,
        "a finished order has another end at the next check",
        "GHOST",
        _OBSERVED,
        (CHECK_ORDER,),
        editing(_ends_twice),
        needs_writes=True,
    ),
    Break(
        "order-reopens",
        _LAYER,
        "a finished order is pending at the next check",
        "GHOST",
        _OBSERVED,
        (CHECK_ORDER,),
        editing(_reopens),
        needs_writes=True,
    ),
    Break(
        "order-of-another",
        _LAYER,
        "every check tells of the order that was checked first",
        "4.2 row 8",
        _VIOLATION,
        (CHECK_ORDER,),
        _first_order,
        needs_writes=True,
    ),
    Break(
        "order-reason-on-success",
        _LAYER,
        "a successful order has a reason",
        "A-266",
        Verdict.ASSUMED,
        (CHECK_ORDER,),
        editing(_reason_on_success),
        needs_writes=True,
    ),
    Break(
        "order-failure-without-reason",
        _LAYER,
        "a failed order has no reason",
        "A-267",
        Verdict.ASSUMED,
        (CHECK_ORDER,),
        editing(_no_reason),
        needs_writes=True,
    ),
    Break(
        "order-hash-missing",
        _LAYER,
        "execHash of a successful order stays empty",
        "DR",
        _OBSERVED,
        (CHECK_ORDER,),
        editing(_no_hash),
        needs_writes=True,
    ),
    Break(
        "order-hash-changes",
        _LAYER,
        "execHash of an order is another one at every check",
        "2.3",
        _VIOLATION,
        (CHECK_ORDER,),
        editing(_new_hash),
        needs_writes=True,
    ),
    Break(
        "order-pays-nothing",
        _LAYER,
        "amountOut of a successful order is 0",
        "A-026",
        Verdict.ASSUMED,
        (CHECK_ORDER,),
        editing(_nothing_out),
        needs_writes=True,
    ),
    Break(
        "order-status-shouted",
        _LAYER,
        "statuses are written in capitals",
        "GHOST",
        _OBSERVED,
        (CHECK_ORDER,),
        change("status", lambda value: value.upper() if isinstance(value, str) else value),
        needs_writes=True,
    ),
    Break(
        "ticket-not-listed",
        _LAYER,
        "no ticket is ever listed",
        "4.2 row 12",
        _VIOLATION,
        (TICKETS,),
        editing(_no_tickets),
        needs_writes=True,
    ),
    Break(
        "ticket-listed-for-another",
        _LAYER,
        "listed tickets have the address of somebody else",
        "4.2 row 12",
        _VIOLATION,
        (TICKETS,),
        editing(_elsewhere),
        needs_writes=True,
    ),
    Break(
        "ticket-filter-ignored",
        _LAYER,
        "tickets are listed whatever status is asked for",
        "4.2 row 12",
        _VIOLATION,
        (TICKETS,),
        _filter_ignored,
        needs_writes=True,
    ),
    Break(
        "ticket-check-contradicts-the-list",
        _LAYER,
        "succeeded of checkTicket is the opposite of what the list says",
        "A-268",
        Verdict.ASSUMED,
        (CHECK_TICKET,),
        change("succeeded", lambda value: not value if isinstance(value, bool) else value),
        needs_writes=True,
    ),
    Break(
        "ticket-id-uncheckable",
        _LAYER,
        "submitTicket answers an id that no other operation knows",
        "4.2 row 13",
        _VIOLATION,
        (SUBMIT_TICKET,),
        change("ticketId", lambda value: value + 1000 if isinstance(value, int) else value),
        needs_writes=True,
    ),
    Break(
        "v1-order-not-found",
        _LAYER,
        "an accepted v1 order is not found by its hash",
        "4.1 row 6",
        _VIOLATION,
        (V1_DETAIL,),
        correcting("query", "hash", _hash_mangled),
        needs_writes=True,
    ),
    Break(
        "v1-order-reopens",
        _LAYER,
        "a completed v1 order is ongoing at the next look",
        "ESS1",
        _OBSERVED,
        (V1_DETAIL,),
        editing(_v1_reopens),
        needs_writes=True,
    ),
    Break(
        "v1-order-for-anyone",
        _LAYER,
        "a v1 order is shown to any evmAddress",
        "4.1 row 6",
        _VIOLATION,
        (V1_SUBMIT, V1_DETAIL),
        _for_anyone,
        needs_writes=True,
    ),
)
"""Stateful breaks."""
