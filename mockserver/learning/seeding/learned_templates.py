"""Templates of a service whose answers have a form of their own, learned from its recordings."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from functools import cache
from typing import Any

from mockserver import jsontext
from mockserver.contract import Contract, ContractSource, ids
from mockserver.contract.load import has_succeeded
from mockserver.engine.order_statuses import Status
from mockserver.engine.orders import OrderGeneration
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.learning.seeding.recorded_successes import exchanges_of
from mockserver.learning.seeding.swap_prices import SwapPrices, prices_of_swaps, with_prices
from mockserver.learning.seeding.template_fitting import FittedSample, filtered, fitted, same
from mockserver.recordings import RecordedExchange, Source
from mockserver.recordings.bodies import DEFAULT_LAYOUT, layout_of
from mockserver.responders.dialect_contracts import Contracts
from mockserver.responders.templates.evaluation import AnswerMoment, evaluated, items_in
from mockserver.responders.templates.template_choice import (
    LOOKS,
    RequestCondition,
    amounts_in,
    condition_of,
    inputs_of,
)
from mockserver.scenarios.template_names import (
    ListedNames,
    NamedInputs,
    deposit_of,
    family_of,
    is_blank,
    route_texts,
)
from mockserver.times_and_durations import duration

COURSES = {"v1": "as-recorded-v1", "v2": "as-recorded"}
_SUBMITS = {ids.ORDER: "v2", ids.V1_ORDER: "v1"}
_CHAIN_LISTS, _TOKEN_LISTS = (ids.CHAINS, ids.V1_CHAINS), ids.TOKEN_LISTS
_OF_CHAIN_LISTS = (ids.OF_CHAIN, ids.V1_TOKENS)
_ROUTED = (ids.BRIDGE, ids.SWAP_QUOTE, ids.SWAP, ids.PRICE, ids.BALANCE, ids.V1_QUOTE)
_NAMING = re.compile(r"name|nick|chain$|symbol|token|address|contract|index|coin", re.IGNORECASE)
_TELLING = re.compile(r"stat(?:e|us)|phase|stage", re.IGNORECASE)
# Choices by inputs are tried in pairs, so that their cost grows with the number of answers; a file
# of more rows nobody reads.
_MOST_SAMPLES = 200
# Stands for an input that the recorder left out, such as a signature.
_KEPT_BACK = "kept-back"

# Words in which services tell how an order ended; the last recorded status is a success otherwise.
_ENDS = (
    (Status.REFUNDING, re.compile("refunding", re.IGNORECASE)),
    (Status.REFUNDED, re.compile("refund|return", re.IGNORECASE)),
    (Status.FAILED, re.compile("fail|error|reject|revert", re.IGNORECASE)),
    (Status.DROPPED, re.compile("drop|expire", re.IGNORECASE)),
    (Status.SUCCEEDED, re.compile("succe|complete|done|finish|deliver|settled", re.IGNORECASE)),
)
_ON_THE_WAY = (Status.PENDING, Status.WAIT_VERIFY, Status.VERIFIED)


@dataclass(frozen=True, slots=True)
class Answered:
    """A recorded exchange as templates see it."""

    operation: str
    inputs: NamedInputs
    status: int
    media: str
    body: Json
    at_ms: int
    layout: str = ""
    """How its JSON is written; empty for a way that no layout names."""
    required: frozenset[str] = frozenset()
    order: str = ""
    """The deposit of the order that it submits or looks up."""
    standing: str = ""
    ticket: Mapping[str, Json] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        return has_succeeded(self.body)

    @property
    def data(self) -> Json:
        return self.body.get("data") if isinstance(self.body, dict) else None


@dataclass(slots=True)
class LearnedTemplates:
    """The part of a scenario that answers as a service did, its courses, and what was left out."""

    templates: dict[str, Any] = field(default_factory=dict)
    courses: dict[str, Json] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def breaks_our_forms(sources: Iterable[Source]) -> bool:
    """Tell whether successes have data that neither dialect of the simulation would answer."""
    # Lists are left out, since a catalog takes what they add, and one odd answer is no other
    # service.
    contracts = [_contract(name) for name in ("observed", "documented")]
    breaking = {
        exchange.operation
        for exchange, _ in exchanges_of(sources)
        if exchange.operation not in (*_CHAIN_LISTS, *_TOKEN_LISTS)
        and all(_breaks(contract, exchange) for contract in contracts)
    }
    return len(breaking) > 1


@cache
def _contract(dialect: str) -> Contract:
    """Return the shipped contract in a dialect; it never changes, and takes a second to read."""
    return Contracts(ContractSource()).get(dialect)


def _breaks(contract: Contract, exchange: RecordedExchange) -> bool:
    operation, body = contract.get(exchange.operation), jsontext.decode_or(exchange.response.body)
    if operation is None or exchange.response_omitted or not has_succeeded(body):
        return False
    violations = operation.response_violations(body)
    return any(violation.path[:1] == ("data",) for violation in violations)


def templates_of(sources: Sequence[Source]) -> LearnedTemplates:
    """Return how a service answers, as far as its recordings show."""
    return _Learning(list(_answered(sources))).learned()


def _answered(sources: Iterable[Source]) -> Iterator[Answered]:
    contract = _contract("documented")
    for exchange, at_ms in exchanges_of(sources):
        operation = contract.get(exchange.operation)
        body = jsontext.decode_or(exchange.response.body)
        # What was kept back or is no object teaches no form.
        if operation is None or exchange.response_omitted or not isinstance(body, dict):
            continue
        hidden = exchange.hidden("request")
        names = operation.header_names
        inputs = inputs_of(exchange.request, names)
        missing = [name for name in names if name.lower() in hidden and name not in inputs]
        inputs |= dict.fromkeys(missing, _KEPT_BACK)
        media = exchange.response.header("Content-Type") or ""
        status = exchange.response.status
        required = frozenset(item.name for item in operation.fields if item.required)
        layout, _ = layout_of(exchange.response.body) or ("", None)
        yield Answered(exchange.operation, inputs, status, media, body, at_ms, layout, required)


class _Learning:
    """Recorded answers on their way to templates."""

    def __init__(self, answers: Sequence[Answered]) -> None:
        self.answers = list(answers)
        self.names = ListedNames.of(_names(answers))
        self.remarks: list[str] = []
        self.courses: dict[str, Json] = {}
        self.submissions = _submissions(answers)
        self.tickets = _tickets(answers)

    def learned(self) -> LearnedTemplates:
        self._follow_orders()
        self._follow_tickets()
        operations = {}
        for operation in dict.fromkeys(answer.operation for answer in self.answers):
            rows = [answer for answer in self.answers if answer.operation == operation]
            operations[operation] = self._operation(operation, rows)
        ended = max((answer.at_ms for answer in self.answers), default=0)
        orders: dict[str, Any] = {"known": self._known_orders(ended)}
        for generation, course in COURSES.items():
            like = next(
                (
                    str(number)
                    for kind, number in self.submissions.values()
                    if kind.operation.startswith(generation) and number
                ),
                "",
            )
            kind = {"course": course} if course in self.courses else {}
            orders[generation] = {**({"like": like} if like else {}), **kind}
        tickets: dict[str, Any] = {
            "known": [
                {
                    "id": number,
                    "address": str(sent.inputs.get("EvmAddress", "")),
                    "chain": str(sent.inputs.get("chain", "")),
                    "hash": str(sent.inputs.get("hash", "")),
                    "ago": duration(ended - sent.at_ms),
                }
                for number, sent in self.tickets.items()
            ]
        }
        if self.tickets:
            tickets["first"] = min(self.tickets)
        names = {
            "chains": [sorted(chain) for chain in self.names.chains],
            "tokens": [sorted(token) for token in self.names.tokens],
        }
        templates = {"names": names, "orders": orders, "tickets": tickets, "operations": operations}
        return LearnedTemplates(templates, self.courses, self.remarks)

    def _known_orders(self, ended: int) -> list[Json]:
        return [
            {
                "generation": _SUBMITS[sent.operation],
                "id": str(number) or f"recorded-{place}",
                "inputs": {
                    name: value for name, value in sent.inputs.items() if value != _KEPT_BACK
                },
                "ago": duration(ended - sent.at_ms),
            }
            for place, (sent, number) in enumerate(self.submissions.values())
        ]

    # Orders and tickets

    def _follow_orders(self) -> None:
        """Note of each poll at an order which one it is, and how it stood."""
        # One generation after the other: each tells how an order stands in words of its own.
        for operation, generation in ((ids.CHECK, "v2"), (ids.V1_DETAIL, "v1")):
            polls: list[tuple[int, Answered]] = []
            for place, answer in enumerate(self.answers):
                deposit = self._order_of(answer) if answer.operation == operation else ""
                if deposit:
                    polls.append((place, replace(answer, order=deposit)))
            shown = _telling([poll for _, poll in polls])
            values = [_shown(poll.body, shown) for _, poll in polls]
            standing = _standings(values)
            for (place, poll), value in zip(polls, values, strict=True):
                self.answers[place] = replace(poll, standing=standing.get(str(value), ""))
            if polls:
                self._course([self.answers[place] for place, _ in polls], generation)

    def _order_of(self, answer: Answered) -> str:
        asked = str(answer.inputs.get(LOOKS[answer.operation][1], "")).lower()
        for deposit, (sent, number) in self.submissions.items():
            same_generation = sent.operation.partition(".")[0] == answer.operation.partition(".")[0]
            # The number or the deposit: clients look up by either, in any case.
            if same_generation and asked and asked in (str(number).lower(), deposit.lower()):
                return deposit
        return ""

    def _course(self, polls: Sequence[Answered], generation: str) -> None:
        """Note the course of the order that was followed for longest."""
        orders = Counter(poll.order for poll in polls if poll.standing)
        if not orders:
            return
        deposit = orders.most_common(1)[0][0]
        began = self.submissions[deposit][0].at_ms
        after: dict[str, int] = {}
        before = 0
        for poll in polls:
            if poll.order == deposit:
                # It changed at some time between two polls; a whole second is what people choose.
                passed = poll.at_ms - began
                # The first poll that saw a status: what came later does not move it.
                after.setdefault(poll.standing, max(before, passed - passed % 1000))
                before = passed
        first = next(iter(after))
        steps: list[Json] = [
            {"status": status, "after": duration(0 if status == first else ms)}
            for status, ms in after.items()
        ]
        self.courses[COURSES[generation]] = {"steps": steps}

    def _follow_tickets(self) -> None:
        by_number = {str(number): sent for number, sent in self.tickets.items()}
        for place, answer in enumerate(self.answers):
            number = str(answer.inputs.get("ticketId", ""))
            if answer.operation == ids.CHECK_TICKET and number in by_number:
                self.answers[place] = replace(answer, ticket={"id": int(number), "text": number})
            elif answer.operation == ids.TICKET and answer.succeeded:
                ticket = next(
                    (key for key, sent in self.tickets.items() if sent.at_ms == answer.at_ms), 0
                )
                self.answers[place] = replace(answer, ticket={"id": ticket, "text": str(ticket)})

    # Operations

    def _operation(self, operation: str, answers: Sequence[Answered]) -> dict[str, Any]:
        successes = [answer for answer in answers if answer.succeeded]
        needs = _needs(answers, successes)
        # Before the conditions, which tell refusals of small amounts by it.
        low = _lowest(answers, successes, needs, self.names)
        groups: dict[str, list[Answered]] = {}
        conditions: dict[str, RequestCondition] = {}
        for answer in answers:
            condition = self._condition(answer, needs, low)
            key = jsontext.canonical(dict(condition))
            conditions[key] = condition
            groups.setdefault(key, []).append(answer)
        rows = [self._row(operation, conditions[key], group) for key, group in groups.items()]
        learned: dict[str, Any] = {"needs": needs, "low": low, "answers": rows}
        if operation in _ROUTED:
            learned["seen"] = sorted(
                {", ".join(route_texts(answer.inputs)) for answer in successes}
            )
        shown = _telling([answer for answer in answers if answer.standing])
        if shown:
            learned["shows"] = shown[-1]
        return {name: value for name, value in learned.items() if value}

    def _condition(
        self, answer: Answered, needs: Sequence[str], low: Mapping[str, str]
    ) -> RequestCondition:
        condition = condition_of(answer.inputs, needs, self.names, low)
        if condition or answer.operation not in LOOKS:
            return condition
        if answer.standing:
            return {"standing": answer.standing}
        known = answer.order or answer.ticket
        return {} if known else {"unknown": LOOKS[answer.operation][0]}

    def _row(
        self, operation: str, condition: RequestCondition, group: Sequence[Answered]
    ) -> dict[str, Any]:
        outcomes = Counter(answer.succeeded for answer in group)
        usual_outcome = outcomes[True] >= outcomes[False]
        # The more frequent outcome: of equal requests the others cannot be told apart.
        samples = [answer for answer in group if answer.succeeded is usual_outcome]
        if left := len(group) - len(samples):
            self.remarks.append(
                f"left out: {left} answers of {operation}, which nothing in the request explains"
            )
        if len(samples) > _MOST_SAMPLES:
            self.remarks.append(
                f"left out: {len(samples) - _MOST_SAMPLES} of {len(samples)} answers of "
                f"{operation}, as no more than the last {_MOST_SAMPLES} of a kind are kept"
            )
            samples = samples[-_MOST_SAMPLES:]
        last = samples[-1]
        row: dict[str, Any] = {"when": dict(condition), "status": last.status}
        if not usual_outcome:
            row["refuses"] = True
        if last.media:
            row["type"] = last.media
        if last.layout not in ("", DEFAULT_LAYOUT):
            row["layout"] = last.layout
        row["body"] = self._body(operation, samples)
        return row

    def _body(self, operation: str, samples: Sequence[Answered]) -> Json:
        if operation == ids.TICKETS and samples[0].succeeded and self.tickets:
            return self._listed_tickets(samples)
        moments = [self._moment(answer) for answer in samples]
        fit = [
            FittedSample(moment, answer.body)
            for moment, answer in zip(moments, samples, strict=True)
        ]
        body = fitted(fit)
        if operation in _OF_CHAIN_LISTS and samples[0].succeeded and len(samples) > 1:
            body = self._list_of_chain(body, fit)
        if operation == ids.PRICE and samples[0].succeeded:
            body = with_prices(body, self._swap_prices(), [answer.inputs for answer in samples])
        # Put to the test on its own samples: what was learned has to give back what was recorded.
        wrong = [
            sample for sample in fit if not _alike(evaluated(body, sample.moment), sample.value)
        ]
        if wrong:
            self.remarks.append(
                f"{operation}: {len(wrong)} of {len(fit)} recorded answers come out otherwise"
            )
        return body

    def _swap_prices(self) -> SwapPrices:
        return prices_of_swaps(
            (answer.inputs, answer.data)
            for answer in self.answers
            if answer.operation == ids.SWAP_QUOTE and answer.succeeded
        )

    def _list_of_chain(self, body: Json, fit: Sequence[FittedSample]) -> Json:
        """Return the template of a list with its items taken from the list of all chains."""
        lists = self._lists()
        if not isinstance(body, dict) or not isinstance(body.get("data"), dict):
            return body
        data = dict(body["data"])
        for member, template in data.items():
            inside = [FittedSample(sample.moment, _member(sample.value, member)) for sample in fit]
            if all(isinstance(sample.value, list) for sample in inside):
                data[member] = filtered(inside, lists) or template
        return {**body, "data": data}

    def _listed_tickets(self, samples: Sequence[Answered]) -> Json:
        """Return the list of tickets: their form, and the filters under which they are listed."""
        model: Json = None
        under = []
        first = next(iter(self.tickets))
        for answer in samples:
            items = list(items_in(answer.data))
            mine = [item for item in items if first in item.values()]
            if mine:
                under.append(str(answer.inputs.get("filter")))
                sent = self.tickets[first]
                moment = replace(
                    self._moment(replace(answer, ticket={"id": first, "text": str(first)})),
                    submitted=sent.inputs,
                )
                model = fitted([FittedSample(moment, dict(mine[0]))])
        if model is None:
            return samples[-1].body
        return _with_list(self._around_tickets(samples, under), {"$tickets": model, "under": under})

    def _around_tickets(self, samples: Sequence[Answered], under: Sequence[str]) -> Json:
        """Return the template of what stands around a list of tickets, such as their number."""
        fit = []
        for answer in samples:
            address = str(answer.inputs.get("address")).lower()
            moment = self._moment(answer)
            reported = [
                moment
                for sent in self.tickets.values()
                if str(sent.inputs.get("EvmAddress")).lower() == address
                and sent.at_ms <= answer.at_ms
            ]
            moment = replace(moment, tickets=reported, stored={"under": list(under)})
            fit.append(FittedSample(moment, _with_list(answer.body, [])))
        return fitted(fit)

    def _lists(self) -> dict[str, Json]:
        return {
            answer.operation: answer.body
            for answer in self.answers
            if answer.operation in (ids.ASSETS, ids.CHAINS) and answer.succeeded
        }

    def _moment(self, answer: Answered) -> AnswerMoment:
        stored: dict[str, Json] = dict(answer.ticket)
        times: dict[str, int] = {}
        submitted: NamedInputs = {}
        key = jsontext.canonical(dict(answer.inputs))
        deposit = answer.order or _deposit(answer)
        if deposit in self.submissions and answer.operation not in _TOKEN_LISTS:
            sent, number = self.submissions[deposit]
            generation = OrderGeneration(_SUBMITS[sent.operation])
            submitted, key = sent.inputs, deposit_of(generation, sent.inputs)
            if number:
                stored["id"] = number
            times["submitted"] = sent.at_ms
            times["since"] = self._since(answer, sent.at_ms)
        if answer.ticket:
            sent = self.tickets[int(str(answer.ticket["id"]))]
            submitted, times = sent.inputs, {"submitted": sent.at_ms, "since": sent.at_ms}
        return AnswerMoment(
            answer.inputs,
            answer.at_ms,
            submitted=submitted,
            stored=stored,
            times=times,
            key=key,
            lists=self._lists() if answer.operation in _TOKEN_LISTS else {},
            names=self.names,
        )

    def _since(self, answer: Answered, began: int) -> int:
        """Return when an order was first seen as it stands."""
        moments = [
            poll.at_ms
            for poll in self.answers
            if poll.order == answer.order and poll.standing == answer.standing
        ]
        first = min(moments, default=answer.at_ms)
        steps = [poll.at_ms for poll in self.answers if poll.order == answer.order]
        # The first status began with the order, though no poll saw it begin.
        return began if first == min(steps, default=first) else first


def _deposit(answer: Answered) -> str:
    if answer.operation not in _SUBMITS or not answer.succeeded:
        return ""
    return str(answer.inputs.get("certHash") or answer.inputs.get("sourceCerts") or "")


def _submissions(answers: Iterable[Answered]) -> dict[str, tuple[Answered, Json]]:
    """Return the accepted submissions by their deposit, each with the number that it got."""
    submissions: dict[str, tuple[Answered, Json]] = {}
    for answer in answers:
        deposit = _deposit(answer)
        if deposit and deposit not in submissions:
            sent = {str(value) for value in answer.inputs.values()}
            data = answer.data if isinstance(answer.data, dict) else {}
            numbers = (
                value
                for name, value in data.items()
                if isinstance(value, str | int)
                and not isinstance(value, bool)
                # What the request named already is an echo, and not the number of the order.
                and str(value) not in sent
                and not _TELLING.search(name)
            )
            submissions[deposit] = (answer, next(numbers, ""))
    return submissions


def _tickets(answers: Iterable[Answered]) -> dict[int, Answered]:
    tickets: dict[int, Answered] = {}
    for answer in answers:
        number = answer.data.get("ticketId") if isinstance(answer.data, dict) else None
        if answer.operation == ids.TICKET and isinstance(number, int):
            tickets.setdefault(number, answer)
    return tickets


def _names(answers: Sequence[Answered]) -> dict[str, Any]:
    """Return the names of chains, each with its others, and those of tokens on each chain."""
    chains: list[set[str]] = []
    tokens: list[set[str]] = []
    for answer in answers:
        if not answer.succeeded:
            continue
        if answer.operation in _CHAIN_LISTS:
            for item in _listed(answer.data):
                _join(chains, _named(item))
        elif answer.operation in _TOKEN_LISTS:
            place = str(answer.inputs.get("chain", "")).lower()
            tokens += [
                _named(item) | ({place} if place else set()) for item in _listed(answer.data)
            ]
        else:
            # What a request named and got is known, whether a list has it or not.
            chain = answer.inputs.get("chain", answer.inputs.get("fromChain"))
            places = {str(chain).lower()} if chain else set()
            tokens += [
                {str(value).lower(), *places}
                for name, value in answer.inputs.items()
                if family_of(name) == "token" and not name.lower().startswith("to")
            ]
    # Sorted and each once, so that the same recordings give the same file.
    distinct = {frozenset(token) for token in tokens}
    return {"chains": chains, "tokens": sorted(distinct, key=sorted)}


def _listed(data: Json) -> Iterator[Json]:
    """Yield the items of the lists of an answer: objects and texts."""
    if isinstance(data, list):
        yield from (item for item in data if isinstance(item, dict | str))
    elif isinstance(data, dict):
        for value in data.values():
            yield from _listed(value)


def _named(item: Json) -> set[str]:
    if not isinstance(item, dict):
        return {str(item).lower()}
    return {
        str(value).lower()
        for name, value in item.items()
        if _NAMING.search(name)
        and not is_blank(value)
        and not isinstance(value, dict | list | bool)
    }


def _join(chains: list[set[str]], names: set[str]) -> None:
    same_chain = [chain for chain in chains if chain & names]
    if same_chain:
        same_chain[0] |= names
    elif names:
        chains.append(names)


def _needs(answers: Iterable[Answered], successes: Sequence[Answered]) -> list[str]:
    """Return the inputs of each success that a refusal lacked or the contract asks for."""
    # Others may be left out, although no recorded client did so.
    blank = {
        name
        for answer in answers
        if not answer.succeeded
        for name in (successes[0].inputs if successes else ())
        if is_blank(answer.inputs.get(name))
    }
    return [
        name
        for name in (successes[0].inputs if successes else ())
        if (name in blank or name in successes[0].required)
        and all(not is_blank(answer.inputs.get(name)) for answer in successes)
    ]


def _lowest(
    answers: Iterable[Answered],
    successes: Sequence[Answered],
    needs: Sequence[str],
    names: ListedNames,
) -> dict[str, str]:
    """Return the highest amounts that were refused, where every higher one was accepted."""
    low: dict[str, str] = {}
    taken = [amounts_in(answer.inputs) for answer in successes]
    for answer in answers:
        if answer.succeeded or condition_of(answer.inputs, needs, names, {}):
            continue
        for name, number in amounts_in(answer.inputs).items():
            accepted = [amounts[name] for amounts in taken if name in amounts]
            # One that is not below all accepted ones was refused for another reason.
            if accepted and number < min(accepted):
                low[name] = f"{max(number, Decimal(low.get(name, number))):f}"
    return low


def _telling(polls: Sequence[Answered]) -> tuple[str, ...]:
    """Return the path of the member that tells how an order stands; empty where none does."""
    places: dict[tuple[str, ...], set[str]] = {}
    for poll in polls:
        for path, value in _leaves(poll.data):
            places.setdefault(path, set()).add(str(value))
    telling = [path for path in places if path and _TELLING.search(path[-1])]
    # One that changes from poll to poll tells more than one that stays.
    return max(telling, key=lambda path: len(places[path]), default=())


def _leaves(value: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Json]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaves(member, (*path, name))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, path)
    else:
        yield path, value


def _shown(body: Json, path: tuple[str, ...]) -> Json:
    data = body.get("data") if isinstance(body, dict) else None
    return next((value for place, value in _leaves(data) if path and place == path), None)


def _standings(values: Sequence[Json]) -> dict[str, str]:
    """Return the status of the simulation for each status of a service, in the order they came.

    The last one is a success unless its word says otherwise (A-340).
    """
    distinct = list(dict.fromkeys(str(value) for value in values if value is not None))
    standing: dict[str, str] = {}
    going = iter(_ON_THE_WAY)
    for place, word in enumerate(distinct):
        ended = next((status for status, form in _ENDS if form.search(word)), None)
        # Not of a single status: an order that was looked up once may be on its way.
        if ended is None and place == len(distinct) - 1 and place:
            ended = Status.SUCCEEDED
        status = ended or next(going, _ON_THE_WAY[-1])
        standing[word] = status.value
    return standing


def _member(body: Json, name: str) -> Json:
    data = body.get("data") if isinstance(body, dict) else None
    return data.get(name) if isinstance(data, dict) else None


def _with_list(body: Json, listed: Json) -> Json:
    """Return an answer with its first list replaced."""
    if isinstance(body, list):
        return listed
    if not isinstance(body, dict):
        return body
    changed = dict(body)
    for name, value in body.items():
        if isinstance(value, dict | list) and _has_list(value):
            changed[name] = _with_list(value, listed)
            break
    return changed


def _has_list(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_has_list, value.values()))
    return isinstance(value, list)


def _alike(value: Json, recorded: Json) -> bool:
    """Tell whether an answer comes out as recorded, but for times and texts of its own."""
    if isinstance(value, dict) and isinstance(recorded, dict):
        return value.keys() == recorded.keys() and all(
            _alike(value[name], recorded[name]) for name in value
        )
    if isinstance(value, list) and isinstance(recorded, list):
        return len(value) == len(recorded) and all(map(_alike, value, recorded))
    # Long texts are hashes and the like, which are made up anew: their length is all that can
    # agree.
    if isinstance(value, str) and isinstance(recorded, str) and len(value) > 20:
        return len(value) == len(recorded)
    # Beyond 10**9 it is a moment, in seconds or in milliseconds.
    is_time = isinstance(value, int) and isinstance(recorded, int) and value > 10**9
    return is_time or same(value, recorded)
