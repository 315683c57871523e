"""Stubs: answers that a test puts in front of everything else."""

from collections.abc import Mapping

from mockserver import jsontext, limits
from mockserver.contract import Contract, Operation
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Response
from mockserver.jsontext import Json
from mockserver.responders.control_forms import BadControl, check, form
from mockserver.responders.faults.kinds import rule_name
from mockserver.responders.faults.registry import operation_id
from mockserver.responders.partial_matching import Subset, subset_of
from mockserver.responders.refusal_answers import JSON_TYPE, Refuser
from mockserver.responders.responder import Call
from mockserver.responders.settable import Settable

FRAMING = frozenset(
    """
    connection content-encoding content-length keep-alive proxy-connection te trailer
    transfer-encoding upgrade
    """.split()
)
"""Headers about the transport, which the server sets."""

_WITHOUT_BODY = (204, 205, 304)


@dataclass(frozen=True, slots=True)
class Stub:
    """An answer for an operation's requests that have the parts of `match`; `definition` set it."""

    id: str
    operation: str
    match: Subset
    response: Response
    times: int | None
    definition: Mapping[str, Json]

    def __repr__(self) -> str:
        return f"<Stub {self.id!r} of {self.operation}>"

    @property
    def weight(self) -> int:
        """How many bytes it takes in a dump, and its answer on the way."""
        return len(jsontext.encode(self.definition)) + len(self.response.body)


class Stubs(Settable[Stub, int]):
    """The stubs of one world; the newest one that fits answers."""

    word = "stub"
    most = limits.STUBS
    most_bytes = limits.STUB_BYTES

    __slots__ = ()

    def used(self, stub: Stub) -> int:
        return self._counts.get(stub.id, 0)

    def unused(self) -> tuple[Stub, ...]:
        """Return the stubs that never answered, or less often than `times` says."""
        return tuple(stub for stub in self.items if self.used(stub) < (stub.times or 1))

    def add(self, definition: Mapping[str, Json], contract: Contract, refuser: Refuser) -> Stub:
        """Set a stub as a request describes it. Raises `BadControl`, and nothing is changed."""
        check(form("stub-given"), definition, "body")

        def made(name: str) -> Stub:
            operation = contract.operation(operation_id(definition["operation"], contract))
            return Stub(
                name,
                operation.id,
                subset_of(definition.get("match", {})),
                _response(definition, operation, contract, refuser),
                definition.get("times"),
                dict(definition),
            )

        return self.put(definition, made)

    def count_json(self, item: Stub) -> Mapping[str, Json]:
        """Return how often a stub has answered, as a member of a dump."""
        return {"used": self.used(item)}

    def load(self, dumped: list[Json], contract: Contract, refuser: Refuser) -> None:
        """Set the stubs of a dump with their counts. Raises `BadControl`."""
        for item in dumped:
            stub = self.add(item["told"], contract, refuser)
            self._counts[stub.id] = item["used"]

    def take(self, call: Call) -> Response | None:
        """Return the answer of the newest stub that fits a call, and count it; else None."""
        for stub in reversed(self.items):
            if stub.operation != call.operation.id:
                continue
            used = self.used(stub)
            if (stub.times is None or used < stub.times) and stub.match.takes(call.request):
                self._counts[stub.id] = used + 1
                return stub.response
        return None


def stub_json(stub: Stub, used: int) -> dict[str, Json]:
    return {**stub.definition, "id": stub.id, "operation": stub.operation, "used": used}


def _response(
    definition: Mapping[str, Json], operation: Operation, contract: Contract, refuser: Refuser
) -> Response:
    response = definition["response"]
    chosen = sorted({"data", "refusal", "status"} & response.keys())
    if len(chosen) != 1:
        raise BadControl("body field 'response': give one of 'data', 'refusal' or 'status'")
    stray = {"data": ("reason", "body"), "refusal": ("body",), "status": ("reason",)}[chosen[0]]
    if set(stray) & response.keys():
        raise BadControl(f"body field 'response': {chosen[0]!r} takes no {' and no '.join(stray)}")
    more = tuple(response.get("headers", {}).items())
    framing = [name for name, _ in more if name.lower() in FRAMING]
    if framing:
        raise BadControl(
            f"body field 'response.headers': {framing[0]!r} says how an answer travels, which is "
            "the server's to say; set a fault to disturb it"
        )
    if response.get("status") in _WITHOUT_BODY and response.get("body", "") != "":
        raise BadControl(
            f"body field 'response.body': an answer of status {response['status']} has none"
        )
    if chosen == ["data"]:
        return _success(definition, operation).with_headers(*more)
    if chosen == ["refusal"]:
        name = rule_name(response["refusal"], contract.refusals)
        reason = response.get("reason", "put in on purpose")
        return refuser.refuse(operation.generation, name, reason).with_headers(*more)
    return _raw_response(response, more)


def _success(definition: Mapping[str, Json], operation: Operation) -> Response:
    data = definition["response"]["data"]
    answer = operation.generation.answer(data) if operation.enveloped else data
    violations = operation.response_violations(answer)
    if violations and not definition.get("unchecked"):
        raise BadControl(
            f"body field 'response.data' breaks the contract of {operation.id}: "
            f"{'; '.join(map(str, violations[:3]))}; give 'unchecked': true where that is meant"
        )
    return Response(200, (JSON_TYPE,), jsontext.encode(answer))


def _raw_response(response: Mapping[str, Json], more: tuple[tuple[str, str], ...]) -> Response:
    body = response.get("body", "")
    typed = any(name.lower() == "content-type" for name, _ in more)
    if isinstance(body, str):
        kind = ("Content-Type", "text/plain; charset=utf-8")
        raw = body.encode("utf-8", "backslashreplace")
    else:
        kind, raw = JSON_TYPE, jsontext.encode(body)
    return Response(response["status"], more if typed else (kind, *more), raw)
