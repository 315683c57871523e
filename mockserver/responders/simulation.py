"""The simulation: contract, then authentication, then meaning, then envelope."""

import re
from collections.abc import Callable, Mapping
from functools import cache

from mockserver.contract import Inputs, Operation, ids, sentence, shipped_facts
from mockserver.engine.refusal import Naming, Refusal
from mockserver.engine.scenario import Scenario
from mockserver.fast_dataclass import keep
from mockserver.http_messages import Request, Response
from mockserver.jsontext import Json
from mockserver.operations import OperationFunction, field_about
from mockserver.responders.authentication import NO_AUTH, STRATEGIES, Strategy
from mockserver.responders.dialect_contracts import Contracts
from mockserver.responders.refusal_answers import JSON_HEADERS
from mockserver.responders.responder import Call
from mockserver.signing import developer_signatures
from mockserver.validation import Violation

# How many violations a refusal spells out; the rest is counted.
_MOST_MESSAGES = 4

# Operations with a refusal code of their own for amounts below gas and fee (ESS1, ESS2).
_SWAPS = (ids.V1_SWAP_QUOTE, ids.V1_SWAP_ORDER, ids.SWAP_QUOTE, ids.SWAP)


# What reads a request, checks who sends it, answers it (nothing for a list and what is no function
# of the world) and writes that.
_Steps = tuple[
    Callable[[Request], Inputs],
    Strategy | None,
    OperationFunction | None,
    Callable[[Json], bytes],
]

_MOST_LISTS = 256
# Bounded, since clients choose dialects.
_MOST_OPERATIONS = 1_024
_LONG_INTEGER = re.compile("0x[0-9a-fA-F]{40}|[0-9]{17,78}")


@cache
def list_operations() -> frozenset[str]:
    """The operations whose answer depends only on the lists, the dialect and the requested chain.

    They are read from the register of facts when the first request comes.
    """
    return frozenset(shipped_facts().lists)


def get_sign(call: Call, inputs: Inputs) -> Json:
    """Return the key and the signature of the body that was sent, for the header values sent.

    It signs v1 requests for browser clients (OAE, CSE, ESSAPI) with the keys of the hosted world;
    without registered keys a well-known pair signs (A-071).
    """
    app_key, secret = call.hosted.keys.hosted_signer
    headers = developer_signatures.DeveloperHeaders(
        app_key, inputs.text("expireTime"), inputs.text("timestamp")
    )
    text = developer_signatures.signed_text(call.request.body, headers)
    return {"appKey": app_key, "sign": developer_signatures.signature(text, secret)}


# Operations that are answered from the keys of a hosted world, and not from the world.
_OWN_ANSWERS = {ids.V1_SIGN: get_sign}


class Simulation:
    """Answers every operation from the world's state."""

    def __init__(self, operations: Mapping[str, OperationFunction], contracts: Contracts) -> None:
        self._functions = operations
        self._contracts = contracts
        self._steps: dict[Operation, _Steps] = {}
        # A cache of encoded lists, for all worlds of a scenario and a dialect.
        self._lists: dict[tuple[object, ...], tuple[Scenario, bytes]] = {}

    def respond(self, call: Call) -> Response:
        answer = self.answer(call)
        return answer if isinstance(answer, Response) else Response(200, JSON_HEADERS, answer)

    def answer(self, call: Call) -> Response | bytes:
        """Return a refusal, or the body of a success, whose headers are `JSON_HEADERS`."""
        operation = call.operation
        read, strategy, function, write = self._steps.get(operation) or self._made(operation)
        inputs = read(call.request)
        if inputs.violations or inputs.refusal:
            return self._broken(call, inputs)
        if strategy is not None and (denial := strategy(call, inputs)) is not None:
            return call.hosted.refuser.refuse(operation.generation, denial.name, denial.reason)
        try:
            if function is None:
                return self._otherwise(call, inputs)
            return write(function(call.hosted.world, inputs))
        except Refusal as refusal:
            reason = _blaming(refusal, inputs, call.naming)
            own = operation.id in _SWAPS and refusal.name == "amount-too-low"
            name = f"aggregate-{refusal.name}" if own else refusal.name
            return call.hosted.refuser.refuse(operation.generation, name, reason)

    def _made(self, operation: Operation) -> _Steps:
        """Return how an operation is answered; kept, since each request would look it up."""
        strategy = None if operation.auth == NO_AUTH else STRATEGIES[operation.auth]
        listed = operation.id in list_operations()
        function = None if listed else self._functions.get(operation.id)
        steps = operation.read, strategy, function, operation.write
        return keep(self._steps, operation, steps, _MOST_OPERATIONS)

    def _otherwise(self, call: Call, inputs: Inputs) -> bytes:
        """Return the body of what is no function of the world and the inputs alone."""
        operation = call.operation
        if operation.id in _OWN_ANSWERS:
            return operation.write(_OWN_ANSWERS[operation.id](call, inputs))
        return self._listed(call, inputs)

    def _listed(self, call: Call, inputs: Inputs) -> bytes:
        """Return the body of a list operation, made anew where the lists have changed."""
        world, dialect = call.hosted.world, call.hosted.contract.dialect.name
        scenario, operation = world.scenario, call.operation
        # The scenario is kept with the bytes, so that its identity is not given to another one.
        key = (operation.id, dialect, inputs.optional("chain"), id(scenario), world.lists.state())
        kept = self._lists.get(key)
        if kept is None:
            body = operation.write(self._functions[operation.id](world, inputs))
            kept = keep(self._lists, key, (scenario, body), _MOST_LISTS)
        return kept[1]

    def _broken(self, call: Call, inputs: Inputs) -> Response:
        generation, refuser = call.operation.generation, call.hosted.refuser
        if inputs.refusal:
            return refuser.refuse(generation, inputs.refusal, inputs.reason)
        messages = [
            f"{sentence(violation)}{_digits_meant(violation, call.request)}"
            for violation in inputs.violations[:_MOST_MESSAGES]
        ]
        if len(inputs.violations) > _MOST_MESSAGES:
            messages.append(f"and {len(inputs.violations) - _MOST_MESSAGES} more")
        hosted = call.hosted
        explained = self._contracts.explanation(hosted.contract, call.operation, call.request)
        if explained:
            return refuser.refuse(generation, "other-dialect", "; ".join([*messages, explained]))
        return refuser.refuse(generation, _name(inputs.violations[0]), "; ".join(messages))


def _digits_meant(violation: Violation, request: Request) -> str:
    """Return which integer a text stands for, where clients send a text since they must."""
    # Where numbers have 53 bits, JSON of a library cannot hold an address as an integer.
    if violation.keyword != "type" or violation.path[:-1] != ("body",):
        return ""
    value = request.members.get(str(violation.path[-1]))
    if "integer" not in violation.message or not isinstance(value, str):
        return ""
    if not _LONG_INTEGER.fullmatch(value):
        return ""
    number = int(value, 0) if value[:2] == "0x" else int(value)
    return (
        f", as an integer {number}; JSON.stringify writes none so long: put its digits into the "
        "JSON text"
    )


def _name(violation: Violation) -> str:
    if violation.path[:1] != ("headers",):
        return "contract-violation"
    return "missing-header" if violation.keyword == "required" else "bad-header"


def _blaming(refusal: Refusal, inputs: Inputs, naming: Naming) -> str:
    field, reason = field_about(refusal.about, inputs), refusal.reason_in(naming)
    return f"{field}: {reason}" if field else reason
