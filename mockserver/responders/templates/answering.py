"""Answers a call from the templates of its scenario: the form of a service, the state of the world.

Orders and tickets are those of the world, so that outages, its clock, snapshots and the control API
work on them; only what they poll like is the service's own.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from mockserver import jsontext
from mockserver.contract import ids
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import OrderGeneration, OrderView, Ticket
from mockserver.engine.refusal import Refusal
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Response
from mockserver.jsontext import Json
from mockserver.mock_headers import SOURCE_HEADER
from mockserver.recordings.bodies import DEFAULT_LAYOUT, encode
from mockserver.recordings.matching import MatchRules, load_rules
from mockserver.responders.refusal_answers import JSON_TYPE
from mockserver.responders.replay.replayed_outages import forbidden
from mockserver.responders.responder import Call
from mockserver.responders.templates.evaluation import AnswerMoment, alike, evaluated, without
from mockserver.responders.templates.template_choice import (
    LOOKS,
    RequestCondition,
    condition_of,
    inputs_of,
)
from mockserver.scenarios.template_names import (
    ListedNames,
    nickname_of,
    route_texts,
    sent_order,
    user_of,
)

TemplateRow = Mapping[str, Any]
_ORDERS = {ids.ORDER: OrderGeneration.V2, ids.V1_ORDER: OrderGeneration.V1}


def templated(call: Call) -> Response | None:
    """Return the answer that the scenario's templates give; None where they have no such one."""
    templates = call.hosted.world.scenario.templates
    operation = templates.get("operations", {}).get(call.operation.id)
    if operation is None:
        return None
    return _Templating(call, templates, operation).answer()


@dataclass(slots=True)
class _Templating:
    """A call, with the templates of its operation and those of all."""

    call: Call
    templates: Mapping[str, Any]
    operation: Mapping[str, Any]

    def answer(self) -> Response | None:
        call = self.call
        if refused := forbidden(call, _match_rules().of(call.operation.id)):
            return self._in_own_form(refused)
        names = ListedNames.of(self.templates.get("names", {}))
        inputs = inputs_of(call.request, call.operation.header_names)
        needs, low = self.operation.get("needs", ()), self.operation.get("low", {})
        condition = condition_of(inputs, needs, names, low)
        world = call.hosted.world
        lists = self._lists() if call.operation.id in ids.LISTS else {}
        gone = world.lists.gone() if lists else frozenset()
        closed = frozenset().union(*map(names.chain, gone)) if gone else frozenset()
        moment = AnswerMoment(
            inputs,
            world.now(),
            world.scenario.seed,
            key=jsontext.canonical(dict(inputs)),
            lists=lists,
            names=names,
            closed=closed,
        )
        row, moment = self._row(condition, moment)
        if row is None:
            return None
        body = evaluated(row["body"], moment)
        if "standing" in row["when"] and moment.stored.get("status") != row["when"]["standing"]:
            body = _restated(body, self.operation.get("shows", "status"), moment.stored)
        route = ", ".join(route_texts(inputs))
        is_new = not condition and route not in self.operation.get("seen", [route])
        note = f"template; not recorded for {route}" if is_new else "template"
        return _response(row, without(body, names, closed), (SOURCE_HEADER, note))

    def _row(
        self, condition: RequestCondition, moment: AnswerMoment
    ) -> tuple[TemplateRow | None, AnswerMoment]:
        """Return the template of an answer, and the moment with what the world has of it."""
        if condition:
            return self._for(condition), moment
        operation, world = self.call.operation.id, self.call.hosted.world
        if operation in LOOKS:
            looked_up = self._looked_up(operation, moment)
            if looked_up is None:
                return self._for({"unknown": LOOKS[operation][0]}), moment
            status = looked_up.stored.get("status")
            return self._for({} if status is None else {"standing": str(status)}), looked_up
        if operation in _ORDERS:
            moment = self._submitted(_ORDERS[operation], moment)
        elif operation == ids.TICKET:
            chain, tx_hash = (str(moment.inputs.get(name, "")) for name in ("chain", "hash"))
            address = str(moment.inputs.get("EvmAddress", ""))
            first = self.templates.get("tickets", {}).get("first", 1)
            view = world.tickets.submit_sent(chain, tx_hash, address, first)
            moment = _of_ticket(moment, view.ticket)
        elif operation == ids.TICKETS:
            address = str(moment.inputs.get("address", ""))
            tickets = tuple(_of_ticket(moment, view.ticket) for view in world.tickets.of(address))
            moment = replace(moment, tickets=tickets)
        return self._for({}), moment

    def _for(self, condition: RequestCondition) -> TemplateRow | None:
        """Return the template for a condition: the operation's own, else one of its kind."""
        own: list[TemplateRow] = [
            row for row in self.operation["answers"] if row["when"] == condition
        ]
        if own:
            return own[0]
        if "standing" in condition:
            return _nearest_standing(self.operation["answers"], condition["standing"])
        if not condition:
            return None
        kind = next(iter(condition))
        rows = list(self._borrowed())
        same = (row for row in rows if row["when"] == condition)
        near = (row for row in rows if kind in row["when"])
        return next(same, None) or next(near, None) or next(iter(rows), None)

    def _borrowed(self) -> Iterator[TemplateRow]:
        """Yield how other operations of the generation refuse, which this one was not seen to."""
        prefix = self.call.operation.id.partition(".")[0]
        for name, operation in self.templates["operations"].items():
            if name.partition(".")[0] == prefix:
                yield from (row for row in operation["answers"] if row.get("refuses"))

    def _in_own_form(self, refused: Response) -> Response:
        """Return a refusal of the mock in the form of the service: its status and its members."""
        row = next(self._borrowed(), None)
        ours = jsontext.decode_or(refused.body)
        if row is None or not isinstance(row["body"], dict) or not isinstance(ours, dict):
            return refused
        body = {**row["body"], **{name: ours[name] for name in ("code", "msg") if name in ours}}
        return _response(row, body, (SOURCE_HEADER, "template"), *refused.headers[1:])

    # What the world has of orders and tickets.

    def _looked_up(self, operation: str, moment: AnswerMoment) -> AnswerMoment | None:
        world = self.call.hosted.world
        _, member = LOOKS[operation]
        name = str(moment.inputs.get(member, ""))
        if operation == ids.CHECK_TICKET:
            ticket = world.tickets.find(int(name)) if name.isdecimal() and len(name) < 20 else None
            return None if ticket is None else _of_ticket(moment, ticket)
        order_id = name if operation == ids.CHECK else self._id_of_hash(name, moment)
        try:
            view = world.orders.poll(order_id)
        except Refusal:
            return None
        looked_up = _of_order(moment, view, self.call.operation.generation.id)
        asked, sent = (user_of(inputs) for inputs in (moment.inputs, looked_up.submitted))
        is_foreign = operation != ids.CHECK and asked and sent and asked != sent
        return None if is_foreign else looked_up

    def _id_of_hash(self, tx_hash: str, moment: AnswerMoment) -> str:
        chain = self._nickname(moment.names, moment.inputs.get("chain"))
        return self.call.hosted.world.orders.sent_with(chain, tx_hash) or ""

    def _nickname(self, names: ListedNames, chain: Json) -> str:
        return nickname_of(self.call.hosted.world.scenario, names, chain)

    def _submitted(self, generation: OrderGeneration, moment: AnswerMoment) -> AnswerMoment:
        world = self.call.hosted.world
        kind = self.templates.get("orders", {}).get(generation.value, {})
        sent = sent_order(world.scenario, moment.names, generation, kind, moment.inputs)

        def order_id(number: int) -> str:
            return _id_like(kind.get("like", ""), sent.cert_hash, number)

        def is_free(number: int) -> bool:
            return not world.orders.has(order_id(number))

        most = 1
        while not is_free(most):
            most *= 2
        # Numbers that count on have no gaps, so that the first free one is found by halving.
        sent = replace(sent, id=order_id(bisect_left(range(most), True, key=is_free)))
        return _of_order(moment, world.orders.submit_sent(sent), generation.value)

    def _lists(self) -> dict[str, Json]:
        rows = (
            (name, row)
            for name, operation in self.templates["operations"].items()
            if name in ids.LISTS
            for row in operation["answers"]
            if not row["when"]
        )
        return {name: row["body"] for name, row in rows}


@cache
def _match_rules() -> MatchRules:
    """Return where requests name their chains; read once, for worlds that have templates."""
    return load_rules()


def _id_like(sample: str, deposit: str, number: int) -> str:
    """Return an id of the form of a recorded one: digits count on, others follow the deposit."""
    if not sample:
        return f"recorded-{number}-{deposit[-16:]}"
    if sample.isdecimal():
        return str(int(sample) + number)
    return alike(sample, f"{deposit} {number}")


def _of_order(moment: AnswerMoment, view: OrderView, generation: str) -> AnswerMoment:
    order = view.order
    status = int(view.v1_status) if generation == OrderGeneration.V1 else view.status.value
    stored = {
        "id": order.id,
        "status": view.status.value,
        "shown": status,
        "reason": view.reason,
    }
    times = {"submitted": order.submitted_ms, "since": view.since_ms}
    sent = jsontext.decode_or(order.sent.encode()) if order.sent else {}
    submitted = sent if isinstance(sent, dict) else {}
    return replace(moment, submitted=submitted, stored=stored, times=times, key=order.cert_hash)


def _of_ticket(moment: AnswerMoment, ticket: Ticket) -> AnswerMoment:
    submitted = {"EvmAddress": ticket.address, "chain": ticket.chain, "hash": ticket.hash}
    times = {"submitted": ticket.submitted_ms, "since": ticket.submitted_ms}
    stored = {"id": ticket.id, "text": str(ticket.id)}
    return replace(moment, submitted=submitted, stored=stored, times=times, key=str(ticket.id))


def _nearest_standing(rows: Iterable[TemplateRow], status: str) -> TemplateRow | None:
    """Return the template of the latest status before one that no recording shows."""
    order = [str(known) for known in Status]
    known = [row for row in rows if row["when"].get("standing") in order]
    place = order.index(status)
    before = [row for row in known if order.index(row["when"]["standing"]) <= place]
    # A course that fails has not delivered, so that a success is no model for it.
    going = [row for row in before if row["when"]["standing"] != Status.SUCCEEDED]
    return next(iter([*going[::-1], *known]), None)


def _restated(body: Json, member: str, stored: Mapping[str, Json]) -> Json:
    """Return an answer about an order with the status that the world gives it, in our words."""
    if isinstance(body, list):
        return [_restated(item, member, stored) for item in body]
    if not isinstance(body, dict):
        return body
    values = {member: stored["shown"], "reason": stored["reason"]}
    return {
        name: values[name]
        if name in values and not isinstance(value, dict)
        else _restated(value, member, stored)
        for name, value in body.items()
    }


def _response(row: TemplateRow, body: Json, *more: tuple[str, str]) -> Response:
    typed = ("Content-Type", row["type"]) if "type" in row else JSON_TYPE
    headers = (typed, *more)
    body_bytes = encode(body, row.get("layout", DEFAULT_LAYOUT))
    return Response(row["status"], headers, body_bytes)
