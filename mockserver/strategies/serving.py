"""Serves a generated service over a world's socket, so that what belongs together agrees."""

from collections.abc import Mapping
from dataclasses import field

from mockserver import jsontext
from mockserver.contract import Contract, Inputs, ids
from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.responders.refusing import JSON_TYPE
from mockserver.responders.responder import Call
from mockserver.strategies.service import (
    CHECKS,
    SUBMISSIONS,
    GeneratedService,
    order_in,
    with_order,
)
from mockserver.values import dataclass

_Subject = tuple[str, ...]


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

    What was submitted is what is checked: the number that a submission was given is known from
    then on, no other is; the same submission is given the same number; a final status stays.
    """

    service: GeneratedService
    contract: Contract
    name: str = "generated"
    _asked: dict[str, int] = field(default_factory=dict)
    _submitted: dict[_Subject, _Submitted] = field(default_factory=dict)
    _by_request: dict[tuple[str, bytes], _Subject] = field(default_factory=dict)

    def respond(self, call: Call) -> Response | None:
        """Return the answer, or None where the simulation is to give one."""
        operation = call.operation
        if operation.id not in self.service.answers:
            return None
        inputs = operation.read(call.request)
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
        asked = self._asked.get(operation, 0)
        self._asked[operation] = asked + 1
        return answers[asked % len(answers)]

    def _begun(self, call: Call, inputs: Inputs) -> Json:
        """Return the answer to a submission: a new one, or that of the same one before."""
        operation = call.operation.id
        request = (operation, call.request.body)
        subject = self._by_request.get(request)
        if subject is None and operation == ids.V1_ORDER:
            subject = _transfer(inputs, "fromChain")
        if subject is None or subject not in self._submitted:
            answer = self._numbered(self._next(operation), "sn" if subject else "id")
            subject = subject or ("v2", str(order_in(answer)["id"]))
            self._submitted[subject] = _Submitted(answer, _echoed(call.request.body, answer))
        self._by_request[request] = subject
        return self._submitted[subject].answer

    def _checked(self, operation: str, inputs: Inputs) -> Json:
        """Return how something submitted stands, None for what nobody submitted."""
        subject = _subject(operation, inputs)
        submitted = self._submitted.get(subject)
        if submitted is None:
            return None
        if not self._is_final(operation, submitted.last):
            answers = self.service.answers[operation]
            told = answers[min(submitted.checks, len(answers) - 1)]
            submitted.last = with_order(told, submitted.echoed)
            submitted.checks += 1
        return submitted.last

    def _numbered(self, answer: Json, member: str) -> Json:
        """Return an answer with a number that nothing else was given."""
        taken = {order_in(one.answer).get(member) for one in self._submitted.values()}
        number = order_in(answer).get(member)
        if not isinstance(number, str):
            return answer
        number = number if number.strip() else "1"
        while number in taken:
            number += "1"
        return with_order(answer, {member: number})

    def _is_final(self, operation: str, answer: Json) -> bool:
        if answer is None:
            return False
        finals = self.contract.facts.statuses[operation.partition(".")[0]].final
        return str(order_in(answer).get("status")) in finals


def _subject(operation: str, inputs: Inputs) -> _Subject:
    if operation == ids.CHECK:
        return ("v2", inputs.optional("id") or "")
    return _transfer(inputs, "chain")


def _transfer(inputs: Inputs, chain: str) -> _Subject:
    """Return what a v1 transfer is found by: chain, transaction and user."""
    hashed = "certHash" if inputs.has("certHash") else "hash"
    found = (inputs.optional(chain), inputs.optional(hashed), inputs.optional("evmAddress"))
    return ("v1", *(text or "" for text in found))


def _echoed(body: bytes, answer: Json) -> Mapping[str, Json]:
    """Return what the detail of a v1 order repeats of its submission."""
    sent = jsontext.decode(body)
    names = ("certHash", "fromChain", "fromToken", "toChain")
    number = order_in(answer).get("sn")
    known = {} if number is None else {"sn": number}
    return known | {name: sent[name] for name in names if name in sent}
