"""The faults of a world: set, counted, applied to calls that they strike, and removed."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from decimal import Decimal
from functools import cache

from mockserver import jsontext, limits
from mockserver.contract import Contract
from mockserver.engine.hashes import derived_int
from mockserver.engine.scenario import Scenario
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import value_of
from mockserver.http_messages import Response
from mockserver.jsontext import Json, Schema
from mockserver.mock_headers import FAULT_HEADER
from mockserver.responders.answer_delivery import Delivery
from mockserver.responders.control_forms import BadControl, check, shipped_forms, variants
from mockserver.responders.faults.kinds import KINDS, Disturb, FaultedCall, Quota, rule_name
from mockserver.responders.request_subjects import named_by
from mockserver.responders.responder import Call
from mockserver.responders.settable import Settable
from mockserver.suggestions import did_you_mean
from mockserver.times_and_durations import iso

# Integers, so that chance is the same on every machine.
_FRACTIONS = 10**12


@dataclass(frozen=True, slots=True)
class FaultTrigger:
    """The calls a fault is for, and which of them it takes; None does not narrow.

    `chain` is a nickname. `first`, `nth` and `every` count the calls that match, from 1.
    """

    operation: str | None = None
    generation: str | None = None
    effect: str | None = None
    phase: str | None = None
    chain: str | None = None
    order: str | None = None
    first: int | None = None
    nth: int | None = None
    every: int | None = None
    probability: Decimal | None = None

    def concerns(self, call: Call) -> bool:
        operation = call.operation
        if (
            self.operation not in (None, operation.id)
            or self.generation not in (None, operation.generation.id)
            or self.effect not in (None, "write" if operation.writes else "read")
            or self.phase not in (None, *operation.row.get("tags", ()))
        ):
            return False
        if self.chain is None and self.order is None:
            return True
        named = named_by(operation, call.request, call.hosted.world)
        by_chain = self.chain is None or self.chain in named.chains
        return by_chain and self.order in (None, named.order)

    def takes(self, number: int, seed: int, fault: str) -> bool:
        """Tell whether the fault strikes the call of that number; chance comes from the seed."""
        if self.first is not None and number > self.first:
            return False
        if self.nth is not None and number != self.nth:
            return False
        if self.every is not None and number % self.every:
            return False
        if self.probability is None:
            return True
        drawn = derived_int(seed, "fault", fault, number) % _FRACTIONS
        # Drawn by the number of the call: the same calls are struck in each run of a seed.
        return drawn < self.probability * _FRACTIONS


def trigger_of(
    definition: Mapping[str, Json], contract: Contract, scenario: Scenario
) -> FaultTrigger:
    """Return the trigger of a request. Raises `BadControl` for a name that does not exist."""
    operation, probability = definition.get("operation"), definition.get("probability")
    return value_of(
        FaultTrigger,
        definition,
        operation=None if operation is None else operation_id(operation, contract),
        phase=_phase(definition, contract),
        chain=_chain(definition, scenario),
        probability=None if probability is None else Decimal(probability),
    )


def operation_id(name: str, contract: Contract) -> str:
    """Return the id of an operation by its id, or by its operation id where only one has it.

    Raises `BadControl` for a name that no operation of the dialect has, or two have.
    """
    ids = [operation.id for operation in contract]
    if name in ids:
        return name
    # A generation may be left out where only one of them has the operation.
    matching_ids = [operation.id for operation in contract if operation.operation_id == name]
    if len(matching_ids) == 1:
        return matching_ids[0]
    if matching_ids:
        raise BadControl(
            f"body field 'operation': {name!r} is one of {', '.join(matching_ids)}; name one"
        )
    near = did_you_mean(name, ids) or did_you_mean(f"v2.{name}", ids)
    dialect = contract.dialect.name
    raise BadControl(
        f"body field 'operation': {name!r} is no operation of dialect {dialect!r}"
        + (near or f"; there are {', '.join(ids)}")
    )


def _phase(definition: Mapping[str, Json], contract: Contract) -> str | None:
    phase: str | None = definition.get("phase")
    known = sorted({tag for operation in contract for tag in operation.row.get("tags", ())})
    if phase is None or phase in known:
        return phase
    near = did_you_mean(phase, known)
    raise BadControl(f"body field 'phase': expected one of {', '.join(known)}, got {phase!r}{near}")


def _chain(definition: Mapping[str, Json], scenario: Scenario) -> str | None:
    name: str | None = definition.get("chain")
    if name is None:
        return None
    chain = scenario.catalog.named(name)
    if chain is not None:
        return chain.nickname
    near = did_you_mean(name, [chain.nickname for chain in scenario.catalog.chains])
    raise BadControl(f"body field 'chain': {name!r} is no chain of the catalog{near}")


_NOTHING = Response(503, (), b"")
_OWN_COUNTS = ("first", "nth", "every", "probability")


@dataclass(frozen=True, slots=True)
class Fault:
    """A disturbance that a test has set; `definition` is the request that set it."""

    id: str
    kind: str
    trigger: FaultTrigger
    disturb: Disturb
    done: bool
    definition: Mapping[str, Json]

    def __repr__(self) -> str:
        return f"<Fault {self.id!r}: {dict(self.definition)}>"

    @property
    def weight(self) -> int:
        """How many bytes it takes in a dump."""
        return len(jsontext.encode(self.definition))


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a fault's trigger matched, and how often it struck.

    `window_ms` is where the running window of a quota began, `used` the calls in it.
    """

    seen: int = 0
    struck: int = 0
    window_ms: int | None = None
    used: int = 0


@dataclass(frozen=True, slots=True)
class Strike:
    """The faults that strike one call: delays first, at most one other after them."""

    faults: tuple[Fault, ...]
    calls: Mapping[str, FaultedCall]
    retry_after_s: int | None = None

    @property
    def done(self) -> bool:
        return all(fault.done for fault in self.faults)

    @property
    def answers(self) -> bool:
        """Whether a real answer is needed to disturb."""
        return all(KINDS[fault.kind].answers for fault in self.faults)

    @property
    def names(self) -> str:
        """The faults in one line, for the journal and the header."""
        return ", ".join(f"{fault.kind} ({fault.id})" for fault in self.faults)

    def delivery(self, answer: Response | None) -> Delivery:
        """Return an answer as the faults change it; `answer` is None where none was needed."""
        sending = Delivery(answer or _NOTHING)
        for fault in self.faults:
            # Each on top of those before it: delays add up, and the last one decides the answer.
            sending = fault.disturb(sending, self.calls[fault.id])
        response = sending.response.with_headers((FAULT_HEADER, self.names))
        if self.retry_after_s is not None:
            response = response.with_headers(("Retry-After", str(self.retry_after_s)))
        return replace(sending, response=response)


class Faults(Settable[Fault, Tally]):
    """The faults of one world, in the order set."""

    word = "fault"
    most = limits.FAULTS
    most_bytes = limits.FAULT_BYTES

    __slots__ = ()

    def tally(self, fault: Fault) -> Tally:
        return self._counts.get(fault.id, Tally())

    def add(self, definition: Mapping[str, Json], contract: Contract, scenario: Scenario) -> Fault:
        """Set a fault as a request describes it. Raises `BadControl`, and nothing is changed."""
        check(form_of_faults(), definition, "body")
        return self.put(definition, lambda name: fault_of(name, definition, contract, scenario))

    def count_json(self, item: Fault) -> Mapping[str, Json]:
        return asdict(self.tally(item))

    def load(self, dumped: list[Json], contract: Contract, scenario: Scenario) -> None:
        """Set the faults of a dump with their counts. Raises `BadControl`."""
        for item in dumped:
            fault = self.add(item["told"], contract, scenario)
            self._counts[fault.id] = value_of(Tally, item)

    def strike(self, call: Call) -> Strike | None:
        """Count a call and return what strikes it, or None.

        Faults apply in the order set: delays add up, and the first other fault decides; those after
        it do not count the call.
        """
        if not self.items:
            return None
        faults: list[Fault] = []
        numbers: dict[str, FaultedCall] = {}
        retry: int | None = None
        for fault in self.items:
            if not fault.trigger.concerns(call):
                continue
            tally, strikes = self._counted(fault, call)
            if not strikes:
                continue
            faults.append(fault)
            numbers[fault.id] = FaultedCall(call, _drawer(call, fault.id, tally.seen))
            if fault.kind == "latency":
                continue
            if isinstance(fault.disturb, Quota):
                end = (tally.window_ms or 0) + fault.disturb.window_ms
                # Rounded up: whoever comes back a second early would be refused again.
                retry = max(0, -(-(end - call.hosted.world.now()) // 1000))
            break
        return Strike(tuple(faults), numbers, retry) if faults else None

    def _counted(self, fault: Fault, call: Call) -> tuple[Tally, bool]:
        tally = self.tally(fault)
        tally = replace(tally, seen=tally.seen + 1)
        if isinstance(fault.disturb, Quota):
            tally = _windowed(tally, fault.disturb, call.hosted.world.now())
            strikes = tally.used > fault.disturb.limit
        else:
            seed = call.hosted.world.scenario.seed
            strikes = fault.trigger.takes(tally.seen, seed, fault.id)
        tally = replace(tally, struck=tally.struck + strikes)
        self._counts[fault.id] = tally
        return tally, strikes


def fault_of(
    fault_id: str, definition: Mapping[str, Json], contract: Contract, scenario: Scenario
) -> Fault:
    """Return the fault that a checked request describes. Raises `BadControl`."""
    kind = KINDS[definition["kind"]]
    disturb = kind.make(definition)
    if "refusal" in definition:
        rule_name(definition["refusal"], contract.refusals)
    if isinstance(disturb, Quota) and set(_OWN_COUNTS) & definition.keys():
        raise BadControl(
            "body: a quota counts by itself; leave out 'first', 'nth', 'every', 'probability'"
        )
    done = {"done": True, "none": False}.get(definition.get("does", ""), kind.done)
    if definition["kind"] == "false-success" and done:
        raise BadControl("body field 'does': a false success does nothing; leave it out")
    trigger = trigger_of(definition, contract, scenario)
    return Fault(fault_id, definition["kind"], trigger, disturb, done, dict(definition))


def fault_json(fault: Fault, tally: Tally) -> dict[str, Json]:
    """Return a fault as JSON for the control API: what set it, and its counts."""
    return {
        **fault.definition,
        "id": fault.id,
        "kind": fault.kind,
        "does": "done" if fault.done else "none",
        "seen": tally.seen,
        "struck": tally.struck,
        **({} if tally.window_ms is None else {"windowFrom": iso(tally.window_ms)}),
    }


def _windowed(tally: Tally, quota: Quota, now_ms: int) -> Tally:
    """Return the tally with a call counted in the window of the world's clock it falls in."""
    if tally.window_ms is not None and now_ms < tally.window_ms + quota.window_ms:
        return replace(tally, used=tally.used + 1)
    return replace(tally, window_ms=now_ms, used=1)


def _drawer(call: Call, fault_id: str, number: int) -> Callable[[str], int]:
    seed = call.hosted.world.scenario.seed
    return lambda what: derived_int(seed, "fault", fault_id, number, what)


@cache
def form_of_faults() -> Schema:
    """Return the form of a request that sets a fault, one for each kind."""
    forms = shipped_forms()
    common = forms.takes("fault-of-any-kind")
    form = variants(
        {
            name: {
                **forms.taken({**forms.takes(f"fault-{name}"), **common}),
                "description": f"{kind.summary}; by default the effect of the call "
                + ("happens" if kind.done else "does not happen"),
            }
            for name, kind in KINDS.items()
        },
        by="kind",
    )
    return {**form, "x-name": "NewFault"}
