"""A whole service as a value: for each operation, what it answers one time after the other.

`Permissive` serves one over a world's socket, so that what belongs together agrees.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mockserver import jsontext
from mockserver.conformance.generation.isolated_hypothesis import each, isolated_hypothesis, quiet
from mockserver.contract import Contract, Inputs, ids, load, shipped_facts
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Response
from mockserver.jsontext import Json
from mockserver.responders.refusal_answers import JSON_TYPE
from mockserver.responders.responder import Call
from mockserver.strategies.answers_and_requests import UnknownOperation, answers
from mockserver.suggestions import did_you_mean

FLOWS = (ids.FLOWS["v2"], ids.FLOWS["v1"])
"""The submission of each flow, and the look-up of its status."""

SUBMISSIONS = tuple(submission for submission, _ in FLOWS)
CHECKS = tuple(check for _, check in FLOWS)

STEADY = shipped_facts().lists
"""Lists: the same each time, so that what a client took from one is still in it."""

VARYING = (
    ids.V1_QUOTE,
    ids.V1_RAW,
    ids.BRIDGE,
    ids.SWAP_QUOTE,
    ids.SWAP,
    ids.BALANCE,
    ids.PRICE,
)
"""Reads that may say something else each time."""

SERVED = (*STEADY, *VARYING, *(name for flow in FLOWS for name in flow))
"""What can be generated for a service; tickets and what errata add stay with the simulation."""

# Few, so that examples stay small; the answers repeat.
_MOST_ANSWERS = 3
# What was submitted: the generation, and what it is looked up by.
_Subject = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GeneratedService:
    """What a service answers: for each operation its answers in order, again and again.

    An order's answers are those of its checks one after the other; the last one stays.
    """

    dialect: str
    answers: Mapping[str, tuple[Json, ...]]


def services(
    *operations: str, dialect: str = "documented", undocumented: bool = False
) -> SearchStrategy[GeneratedService]:
    """Return services for `crosschain_mock.permissive(…)`, whose answers shrink with the test.

    `operations` are those that are generated, with the rest of their flow; by default all but
    those of tickets. What is left out is answered by the simulation. Orders come to an end.
    `undocumented` is that of `answers`. Raises `UnknownOperation` and `UnknownDialect`.
    """
    rows = {name: _row(name, dialect, undocumented=undocumented) for name in _chosen(operations)}
    made = st.fixed_dictionaries(rows)
    return made.map(lambda answered: GeneratedService(dialect, answered))


def service_of(
    seed: int, *operations: str, dialect: str = "documented", undocumented: bool = False
) -> GeneratedService:
    """Return the service of a seed: the same on every machine, with the same Hypothesis.

    Raises as `services` does.
    """
    generated_services: list[GeneratedService] = []
    made = services(*operations, dialect=dialect, undocumented=undocumented)
    with isolated_hypothesis():
        # The first example is always the smallest one, whatever the seed.
        each(made, generated_services.append, quiet(2), seed)
    return generated_services[-1]


def _row(name: str, dialect: str, *, undocumented: bool) -> SearchStrategy[tuple[Json, ...]]:
    answer = answers(name, dialect=dialect, undocumented=undocumented)
    if name in STEADY:
        return st.tuples(answer)
    many = st.lists(answer, min_size=1, max_size=_MOST_ANSWERS)
    if name not in CHECKS:
        return many.map(tuple)
    finals = load(dialect).facts.statuses[name.partition(".")[0]].final
    return st.builds(
        lambda rows, final: (*rows[:-1], settled(rows[-1], final)), many, st.sampled_from(finals)
    )


def _chosen(operations: tuple[str, ...]) -> tuple[str, ...]:
    """Return the operations to generate, each with its flow, in the order of `SERVED`."""
    for name in operations:
        if name not in SERVED:
            raise UnknownOperation(
                f"no answers of {name!r} are served{did_you_mean(name, SERVED)}; "
                f"expected some of {', '.join(SERVED)}"
            )
    flows = [flow for flow in FLOWS if set(flow) & set(operations)]
    wanted = {*operations, *(name for flow in flows for name in flow)} if operations else SERVED
    return tuple(name for name in SERVED if name in wanted)


def order_in(answer: Json) -> Mapping[str, Any]:
    """Return the members of the order that an answer is about; none where it shows none."""
    data = answer.get("data")
    if not isinstance(data, Mapping):
        return {}
    order = data.get("order", data)
    return order if isinstance(order, Mapping) else {}


def with_order(answer: Json, changes: Mapping[str, Json]) -> Json:
    """Return an answer whose order has other values, for the members that it has."""
    order = order_in(answer)
    changed = {**order, **{name: value for name, value in changes.items() if name in order}}
    if not order:
        return answer
    data = answer["data"]
    # v1 has the order in a member of its own, 2.0 as the data itself.
    is_inside = isinstance(data.get("order"), Mapping)
    return {**answer, "data": {**data, "order": changed} if is_inside else changed}


def settled(answer: Json, final: str) -> Json:
    """Return an answer whose order has come to an end; v1 shows its status as a number."""
    is_number = isinstance(order_in(answer).get("status"), int)
    return with_order(answer, {"status": int(final) if is_number and final.isdecimal() else final})


# Serving it.


@dataclass(slots=True)
class _Submitted:
    """What a submission began: its answer, its inputs, and how often it was checked."""

    answer: Json
    echoed: Mapping[str, Json]
    checks: int = 0
    last: Json = None


@dataclass(slots=True)
class Permissive:
    """Answers calls with a generated service; what breaks the contract is left to the simulation.

    Answers agree with each other: only numbers that a submission was given are known, the same
    submission is given the same number, and a final status stays.
    """

    service: GeneratedService
    contract: Contract
    name: str = "generated"
    _answered: dict[str, int] = field(default_factory=dict)
    _submitted: dict[_Subject, _Submitted] = field(default_factory=dict)
    _by_request: dict[tuple[str, bytes], _Subject] = field(default_factory=dict)

    def respond(self, call: Call) -> Response | None:
        """Return the answer, or None where the simulation is to give one."""
        operation = call.operation
        if operation.id not in self.service.answers:
            return None
        inputs = operation.read(call.request)
        # Look-ups before the check of inputs: a v1 order is found by inputs that another dialect
        # spells otherwise.
        if operation.id in CHECKS:
            answer = self._checked(operation.id, inputs)
        elif inputs.violations or inputs.refusal:
            return None
        elif operation.id in SUBMISSIONS:
            answer = self._begun(call, inputs)
        else:
            answer = self._next(operation.id)
        return None if answer is None else Response(200, (JSON_TYPE,), jsontext.encode(answer))

    def _next(self, operation: str) -> Json:
        answers = self.service.answers[operation]
        number = self._answered.get(operation, 0)
        self._answered[operation] = number + 1
        return answers[number % len(answers)]

    def _begun(self, call: Call, inputs: Inputs) -> Json:
        """Return the answer to a submission: a new one, or that of the same one before."""
        operation = call.operation.id
        request = (operation, call.request.body)
        subject = self._by_request.get(request)
        if subject is None and operation == ids.V1_ORDER:
            subject = _transfer(inputs, "fromChain")
        # The same transfer again, in other bytes, is the same order of v1 as well.
        if subject is None or subject not in self._submitted:
            answer = self._numbered(self._next(operation), "sn" if subject else "id")
            subject = subject or ("v2", str(order_in(answer)["id"]))
            self._submitted[subject] = _Submitted(answer, _echoed(call.request.body, answer))
        self._by_request[request] = subject
        return self._submitted[subject].answer

    def _checked(self, operation: str, inputs: Inputs) -> Json:
        """Return the status of a submission, None for an unknown one."""
        is_v1 = operation != ids.CHECK
        subject = _transfer(inputs, "chain") if is_v1 else ("v2", inputs.optional("id") or "")
        submitted = self._submitted.get(subject)
        if submitted is None:
            return None
        if not self._is_final(operation, submitted.last):
            answers = self.service.answers[operation]
            # The last answer stays: an order that had come to its end would begin anew otherwise.
            answer = answers[min(submitted.checks, len(answers) - 1)]
            submitted.last = with_order(answer, submitted.echoed)
            submitted.checks += 1
        return submitted.last

    def _numbered(self, answer: Json, member: str) -> Json:
        """Return an answer with a number that nothing else was given."""
        taken = {order_in(submitted.answer).get(member) for submitted in self._submitted.values()}
        number = order_in(answer).get(member)
        if not isinstance(number, str):
            return answer
        # A blank one could not be looked up.
        number = number if number.strip() else "1"
        while number in taken:
            number += "1"
        return with_order(answer, {member: number})

    def _is_final(self, operation: str, answer: Json) -> bool:
        # Nothing was answered yet.
        if answer is None:
            return False
        finals = self.contract.facts.statuses[operation.partition(".")[0]].final
        return str(order_in(answer).get("status")) in finals


def _transfer(inputs: Inputs, chain: str) -> _Subject:
    """Return what a v1 transfer is found by: chain, transaction and user."""
    hashed = "certHash" if inputs.has("certHash") else "hash"
    looked_up = (inputs.optional(chain), inputs.optional(hashed), inputs.optional("evmAddress"))
    return ("v1", *(text or "" for text in looked_up))


def _echoed(body: bytes, answer: Json) -> Mapping[str, Json]:
    """Return what the detail of a v1 order repeats of its submission."""
    sent = jsontext.decode(body)
    names = ("certHash", "fromChain", "fromToken", "toChain")
    number = order_in(answer).get("sn")
    known = {} if number is None else {"sn": number}
    return known | {name: sent[name] for name in names if name in sent}
