"""The second service: both generations, healthy unless somebody asks for something else."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.blind import first_generation, second_generation
from tests.blind.operations import BY_PATH, MAY_BE_EMPTY, Operation
from tests.blind.refusals import Refused, refusal
from tests.blind.rows import Row
from tests.blind.wire import Answer, Call
from tests.blind.world import World

_HANDLERS = {**first_generation.HANDLERS, **second_generation.HANDLERS}


class Service:
    """A world behind nineteen operations, with the departures that were asked for.

    Faults edit a call before the healthy service reads it and its answer afterwards; variations
    come after faults, so that both can be combined.
    """

    def __init__(
        self,
        faults: Sequence[Row] = (),
        variations: Sequence[Row] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.world = World(clock)
        self._rows = (*faults, *variations)
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        for row in self._rows:
            if row.setup is not None:
                row.setup(self.world)

    def receive(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Answer one HTTP request."""
        parts = urlsplit(target)
        operation = BY_PATH.get(parts.path)
        if operation is None:
            return Answer({"code": 404, "msg": "not found", "data": {}}, status=404)
        if method != operation.method:
            refused = {"code": 405, "msg": "method not allowed", "data": {}}
            return Answer(refused, status=405, headers={"Allow": operation.method})
        lowered = {name.lower(): value for name, value in headers.items()}
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        inputs: dict[str, Any] = dict(reversed(pairs))
        if method == "POST":
            try:
                inputs = _members(body)
            except Refused as refused:
                return refusal(operation.generation, self.world.choices, refused)
        if operation.name == "v1.getSupportTokens" and "chain" in lowered:
            inputs.setdefault("chain", lowered["chain"])
        with self._lock:
            return self.answer(operation, inputs, lowered)

    def answer(
        self, operation: Operation, inputs: dict[str, Any], headers: dict[str, str]
    ) -> Answer:
        """Answer one call, with all departures."""
        call = Call(operation.name, dict(inputs), dict(headers), dict(inputs), self.world)
        key = f"{operation.name} {sorted(inputs.items(), key=str)}"
        call.nth, call.seen = self._counts[operation.name], self._counts[key]
        self._counts.update((operation.name, key))
        rows = [row for row in self._rows if row.concerns(call)]
        answer = self._healthy(operation, call, rows)
        for row in rows:
            if row.after is not None:
                row.after(call, answer)
        return answer

    def _healthy(self, operation: Operation, call: Call, rows: Sequence[Row]) -> Answer:
        choices = self.world.choices
        try:
            for row in rows:
                if row.before is not None:
                    row.before(call)
            _complete(operation, call, strict=choices.unknown_inputs_refused)
            data = _HANDLERS[operation.name](call)
        except Refused as refused:
            return refusal(operation.generation, choices, refused)
        if operation.generation == "v1":
            return Answer({"code": 0, "data": data, "msg": "success", "status": 0})
        return Answer({"code": 0, "msg": "success", "data": data})


def _members(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body, parse_float=Decimal)
    except (ValueError, RecursionError):
        raise Refused("malformed", "the body is no JSON") from None
    if not isinstance(value, dict):
        raise Refused("malformed", "the body is no object")
    return value


def _complete(operation: Operation, call: Call, *, strict: bool) -> None:
    """Every required input is there; one alias is taken, since clients in use send it."""
    given = call.inputs
    if operation.name == "v1.submitCrossChain" and "evmAddress" in given:
        given.setdefault("evmAddres", given["evmAddress"])
    for name in operation.required:
        value = given.get(name)
        if value is None or (value == "" and name not in MAY_BE_EMPTY):
            raise Refused("missing", f"{name} is required")
        if isinstance(value, dict | list):
            raise Refused("malformed", f"{name} is of the wrong type")
    if strict:
        known = {*operation.required, *operation.optional, "evmAddress"}
        for name in given:
            if name not in known:
                raise Refused("malformed", f"{name} is not known")
