"""When a fault strikes: which calls it is for, and which of these it takes."""

from collections.abc import Mapping
from decimal import Decimal

from mockserver.contract import Contract
from mockserver.engine.derived import derived_int
from mockserver.engine.scenario import Scenario
from mockserver.jsontext import Json
from mockserver.responders.forms import BadControl
from mockserver.responders.named import named_by
from mockserver.responders.responder import Call
from mockserver.validation import did_you_mean
from mockserver.values import dataclass

_FINE = 10**12


@dataclass(frozen=True, slots=True)
class Trigger:
    """The calls a fault is for, and which of them it takes; None does not narrow.

    `chain` is a nickname. `first` and `every` count the calls that match, from 1.
    """

    operation: str | None = None
    generation: str | None = None
    effect: str | None = None
    phase: str | None = None
    chain: str | None = None
    order: str | None = None
    first: int | None = None
    every: int | None = None
    probability: Decimal | None = None

    def concerns(self, call: Call) -> bool:
        """Tell whether a call is one of those the fault is for."""
        operation = call.operation
        told = "write" if operation.writes else "read"
        if self.operation not in (None, operation.id):
            return False
        if self.generation not in (None, operation.generation.id) or self.effect not in (
            None,
            told,
        ):
            return False
        if self.phase is not None and self.phase not in operation.row.get("tags", ()):
            return False
        if self.chain is None and self.order is None:
            return True
        named = named_by(operation, call.request, call.hosted.world)
        return (self.chain is None or self.chain in named.chains) and (
            self.order is None or self.order == named.order
        )

    def takes(self, number: int, seed: int, fault: str) -> bool:
        """Tell whether the fault strikes the call of that number; chance comes from the seed."""
        if self.first is not None and number > self.first:
            return False
        if self.every is not None and number % self.every:
            return False
        if self.probability is None:
            return True
        return derived_int(seed, "fault", fault, number) % _FINE < self.probability * _FINE


def trigger_of(told: Mapping[str, Json], contract: Contract, scenario: Scenario) -> Trigger:
    """Return the trigger of a request. Raises `BadControl` for a name that does not exist."""
    probability = told.get("probability")
    return Trigger(
        operation=operation_id(told["operation"], contract) if "operation" in told else None,
        generation=told.get("generation"),
        effect=told.get("effect"),
        phase=_phase(told, contract),
        chain=_chain(told, scenario),
        order=told.get("order"),
        first=told.get("first"),
        every=told.get("every"),
        probability=None if probability is None else Decimal(probability),
    )


def operation_id(name: str, contract: Contract) -> str:
    """Return the id of an operation by its id, or by its operation id where only one has it.

    Raises `BadControl` for a name that no operation of the dialect has, or two have.
    """
    ids = [operation.id for operation in contract]
    if name in ids:
        return name
    found = [operation.id for operation in contract if operation.operation_id == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadControl(f"body field 'operation': {name!r} is one of {', '.join(found)}; name one")
    near = did_you_mean(name, ids) or did_you_mean(f"v2.{name}", ids)
    dialect = contract.dialect.name
    raise BadControl(
        f"body field 'operation': {name!r} is no operation of dialect {dialect!r}"
        + (near or f"; there are {', '.join(ids)}")
    )


def _phase(told: Mapping[str, Json], contract: Contract) -> str | None:
    phase: str | None = told.get("phase")
    known = sorted({tag for operation in contract for tag in operation.row.get("tags", ())})
    if phase is None or phase in known:
        return phase
    near = did_you_mean(phase, known)
    raise BadControl(f"body field 'phase': expected one of {', '.join(known)}, got {phase!r}{near}")


def _chain(told: Mapping[str, Json], scenario: Scenario) -> str | None:
    name: str | None = told.get("chain")
    if name is None:
        return None
    chain = scenario.catalog.named(name)
    if chain is not None:
        return chain.nickname
    near = did_you_mean(name, [chain.nickname for chain in scenario.catalog.chains])
    raise BadControl(f"body field 'chain': {name!r} is no chain of the catalog{near}")
