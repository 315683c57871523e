"""The simulation: contract, then authentication, then meaning, then envelope."""

import re
from collections.abc import Mapping
from functools import cache

from mockserver.contract import Inputs, ids, sentence, shipped_facts
from mockserver.engine.refusal import Naming, Refusal
from mockserver.engine.scenario import Scenario
from mockserver.exchange import Request, Response
from mockserver.jsontext import Json
from mockserver.operations import OperationFunction, field_about
from mockserver.responders.authentication import NO_AUTH, STRATEGIES
from mockserver.responders.dialects import Contracts
from mockserver.responders.refusing import JSON_HEADERS
from mockserver.responders.responder import Call
from mockserver.signing import developer
from mockserver.validation import Violation
from mockserver.values import keep

# How many violations a refusal spells out; the rest is counted.
_MOST_MESSAGES = 4

# Operations with a refusal code of their own for amounts below gas and fee (ESS1, ESS2).
_SWAPS = (ids.V1_SWAP_QUOTE, ids.V1_SWAP_ORDER, ids.SWAP_QUOTE, ids.SWAP)


_MOST_LISTS = 256
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
    headers = developer.DeveloperHeaders(
        app_key, inputs.text("expireTime"), inputs.text("timestamp")
    )
    text = developer.signed_text(call.request.body, headers)
    return {"appKey": app_key, "sign": developer.signature(text, secret)}


# Operations that are answered from the keys of a hosted world, and not from the world.
_OWN_ANSWERS = {ids.V1_SIGN: get_sign}


class Simulation:
    """Answers every operation from the world's state."""

    def __init__(self, operations: Mapping[str, OperationFunction], contracts: Contracts) -> None:
        self._operations = operations
        self._contracts = contracts
        # A cache of encoded lists, for all worlds of a scenario and a dialect.
        self._lists: dict[tuple[object, ...], tuple[Scenario, bytes]] = {}

    def respond(self, call: Call) -> Response:
        operation = call.operation
        inputs = operation.read(call.request)
        if inputs.violations or inputs.refusal:
            return self._broken(call, inputs)
        refuser = call.hosted.refuser
        if operation.auth != NO_AUTH and (denial := STRATEGIES[operation.auth](call, inputs)):
            return refuser.refuse(operation.generation, denial.name, denial.reason)
        try:
            if operation.id in list_operations():
                body = self._listed(call, inputs)
            else:
                body = operation.write(self._data(call, inputs))
        except Refusal as refusal:
            reason = _blaming(refusal, inputs, call.naming)
            own = operation.id in _SWAPS and refusal.name == "amount-too-low"
            name = f"aggregate-{refusal.name}" if own else refusal.name
            return refuser.refuse(operation.generation, name, reason)
        return Response(200, JSON_HEADERS, body)

    def _listed(self, call: Call, inputs: Inputs) -> bytes:
        """Return the body of a list operation, made anew where the lists have changed."""
        world, dialect = call.hosted.world, call.hosted.contract.dialect.name
        scenario, operation = world.scenario, call.operation
        # The scenario is kept with the bytes, so that its identity is not given to another one.
        key = (operation.id, dialect, inputs.optional("chain"), id(scenario), world.lists.state())
        kept = self._lists.get(key)
        if kept is None:
            body = operation.write(self._data(call, inputs))
            kept = keep(self._lists, key, (scenario, body), _MOST_LISTS)
        return kept[1]

    def _data(self, call: Call, inputs: Inputs) -> Json:
        function = self._operations.get(call.operation.id)
        if function is None:
            return _OWN_ANSWERS[call.operation.id](call, inputs)
        return function(call.hosted.world, inputs)

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
