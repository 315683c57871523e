"""The simulation: contract, then authentication, then meaning, then envelope."""

from collections.abc import Mapping
from types import MappingProxyType

from mockserver.contract import Inputs, Reading, sentence
from mockserver.engine.refusal import Refusal
from mockserver.exchange import Response
from mockserver.jsontext import Json
from mockserver.operations import OperationFunction, field_about
from mockserver.responders.authentication import NO_AUTH, Claim, authenticate
from mockserver.responders.denial import Denial
from mockserver.responders.dialects import Contracts
from mockserver.responders.listings import LIST_OPERATIONS, Listings
from mockserver.responders.refusing import JSON_TYPE
from mockserver.responders.responder import Call
from mockserver.responders.signer import OWN_ANSWERS
from mockserver.validation import Violation

_JSON = (JSON_TYPE,)
_TOLD = 4
"""How many violations a refusal spells out; the rest is counted."""

_OWN_NAMES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        # Swaps that do not cover gas and fee have a code of their own (ESS1, ESS2).
        ("v1.getAggregateQuote", "amount-too-low"): "aggregate-amount-too-low",
        ("v1.submitAggregate", "amount-too-low"): "aggregate-amount-too-low",
        ("v2.getAggregateQuote", "amount-too-low"): "aggregate-amount-too-low",
        ("v2.getAggregateSwap", "amount-too-low"): "aggregate-amount-too-low",
    }
)


class Simulation:
    """Answers every operation from the world's state."""

    name = "simulation"

    def __init__(self, operations: Mapping[str, OperationFunction], contracts: Contracts) -> None:
        """Take the meaning of each operation by its id."""
        self._operations = operations
        self._contracts = contracts
        self._listings = Listings()

    def respond(self, call: Call) -> Response:
        """Return the answer the world gives."""
        reading = call.operation.read(call.request)
        if reading.refusal or reading.violations:
            return self._broken(call, reading)
        hosted = call.hosted
        if call.operation.auth != NO_AUTH and (denial := _denial(call, reading.inputs)):
            return hosted.refuser.refuse(call.operation.generation, denial.name, denial.reason)
        try:
            body = self._body(call, reading.inputs)
        except Refusal as refusal:
            reason = _blaming(refusal, reading.inputs)
            name = _OWN_NAMES.get((call.operation.id, refusal.name), refusal.name)
            return hosted.refuser.refuse(call.operation.generation, name, reason)
        return Response(200, _JSON, body)

    def _body(self, call: Call, inputs: Inputs) -> bytes:
        if call.operation.id not in LIST_OPERATIONS:
            return self._encoded(call, inputs)
        chain = inputs.optional("chain")
        return self._listings.body(call, chain, lambda: self._encoded(call, inputs))

    def _encoded(self, call: Call, inputs: Inputs) -> bytes:
        return call.operation.write(self._data(call, inputs))

    def _data(self, call: Call, inputs: Inputs) -> Json:
        own = OWN_ANSWERS.get(call.operation.id)
        if own is not None:
            return own(call, inputs)
        return self._operations[call.operation.id](call.hosted.world, inputs)

    def _broken(self, call: Call, reading: Reading) -> Response:
        generation, refuser = call.operation.generation, call.hosted.refuser
        if reading.refusal:
            return refuser.refuse(generation, reading.refusal, reading.reason)
        told = [sentence(violation) for violation in reading.violations[:_TOLD]]
        if len(reading.violations) > _TOLD:
            told.append(f"and {len(reading.violations) - _TOLD} more")
        hosted = call.hosted
        explained = self._contracts.explanation(hosted.contract, call.operation, call.request)
        if explained:
            return refuser.refuse(generation, "other-dialect", "; ".join([*told, explained]))
        return refuser.refuse(generation, _name(reading.violations[0]), "; ".join(told))


def _denial(call: Call, inputs: Inputs) -> Denial | None:
    claim = Claim(inputs, call.request.body, call.hosted.world.now)
    return authenticate(call.operation.auth, claim, call.hosted.keys)


def _name(violation: Violation) -> str:
    """Return the refusal that a violation of a request stands for."""
    if violation.path[:1] != ("headers",):
        return "contract-violation"
    return "missing-header" if violation.keyword == "required" else "bad-header"


def _blaming(refusal: Refusal, inputs: Inputs) -> str:
    field = field_about(refusal.about, inputs)
    return f"{field}: {refusal.reason}" if field else refusal.reason
