"""The simulation: contract, then authentication, then meaning, then envelope."""

from collections.abc import Mapping

from mockserver.contract import Inputs, ids, sentence
from mockserver.engine.refusal import Naming, Refusal
from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.operations import OperationFunction, field_about
from mockserver.responders.authentication import NO_AUTH, STRATEGIES
from mockserver.responders.dialects import Contracts
from mockserver.responders.listings import Listings, list_operations
from mockserver.responders.refusing import JSON_HEADERS
from mockserver.responders.responder import Call
from mockserver.responders.signer import OWN_ANSWERS
from mockserver.validation import Violation

_TOLD = 4
"""How many violations a refusal spells out; the rest is counted."""

_SWAPS = (ids.V1_SWAP_QUOTE, ids.V1_SWAP_ORDER, ids.SWAP_QUOTE, ids.SWAP)
"""Of these, amounts that do not cover gas and fee have a code of their own (ESS1, ESS2)."""


class Simulation:
    """Answers every operation from the world's state."""

    def __init__(self, operations: Mapping[str, OperationFunction], contracts: Contracts) -> None:
        """Take the meaning of each operation by its id."""
        self._operations = operations
        self._contracts = contracts
        self._listings = Listings()

    def respond(self, call: Call) -> Response:
        """Return the answer the world gives."""
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
        chain = inputs.optional("chain")
        return self._listings.body(
            call, chain, lambda: call.operation.write(self._data(call, inputs))
        )

    def _data(self, call: Call, inputs: Inputs) -> Json:
        function = self._operations.get(call.operation.id)
        if function is None:
            return OWN_ANSWERS[call.operation.id](call, inputs)
        return function(call.hosted.world, inputs)

    def _broken(self, call: Call, inputs: Inputs) -> Response:
        generation, refuser = call.operation.generation, call.hosted.refuser
        if inputs.refusal:
            return refuser.refuse(generation, inputs.refusal, inputs.reason)
        told = [sentence(violation) for violation in inputs.violations[:_TOLD]]
        if len(inputs.violations) > _TOLD:
            told.append(f"and {len(inputs.violations) - _TOLD} more")
        hosted = call.hosted
        explained = self._contracts.explanation(hosted.contract, call.operation, call.request)
        if explained:
            return refuser.refuse(generation, "other-dialect", "; ".join([*told, explained]))
        return refuser.refuse(generation, _name(inputs.violations[0]), "; ".join(told))


def _name(violation: Violation) -> str:
    """Return the refusal that a violation of a request stands for."""
    if violation.path[:1] != ("headers",):
        return "contract-violation"
    return "missing-header" if violation.keyword == "required" else "bad-header"


def _blaming(refusal: Refusal, inputs: Inputs, naming: Naming) -> str:
    field, told = field_about(refusal.about, inputs), refusal.reason_in(naming)
    return f"{field}: {told}" if field else told
