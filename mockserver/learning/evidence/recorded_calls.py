"""Recorded exchanges of operations, as evidence reads them: in the order in which they happened."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from mockserver.conformance.result import Result
from mockserver.conformance.runs.offline import label_of
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract.load import has_succeeded
from mockserver.jsontext import Json
from mockserver.recordings import RecordedExchange, Source
from mockserver.validation import Violation

# These tell that a request came at a bad time, not what the service makes of it.
_NOT_NOW = (429, 503)


class RecordedCall:
    """A recorded exchange of an operation of the contract.

    What a recorder has masked or left out is no evidence, so `inputs`, `data` and `violations` lack
    it.
    """

    def __init__(self, label: str, exchange: Exchange, recorded: RecordedExchange) -> None:
        """Keep an exchange as it is judged beside what was recorded."""
        self.label = label
        self.exchange = exchange
        self.recorded = recorded
        self.operation = exchange.operation
        self.hidden = recorded.hidden("request")

    @property
    def id(self) -> str:
        return self.operation.id

    @property
    def generation(self) -> str:
        return self.operation.generation.id

    @property
    def body(self) -> Json:
        return self.exchange.body

    @cached_property
    def taken(self) -> bool:
        """Whether it is a success, by the documented code or by an observed one."""
        if not self.operation.enveloped:
            return self.exchange.succeeded
        return 200 <= self.exchange.answer.status < 300 and has_succeeded(self.body)

    @cached_property
    def refused(self) -> bool:
        """Whether the service has judged the request and said no."""
        status = self.exchange.answer.status
        if self.taken or status in _NOT_NOW or status >= 500:
            return False
        return self.code is not None or 400 <= status < 500

    @property
    def code(self) -> int | None:
        code = self.body.get("code") if isinstance(self.body, dict) else None
        return code if isinstance(code, int) and not isinstance(code, bool) else None

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """What a success holds, without members that are masked."""
        data = self.body.get("data") if self.taken and isinstance(self.body, dict) else None
        if not isinstance(data, dict):
            return {}
        masked = self.recorded.hidden("response")
        return {name: value for name, value in data.items() if name.lower() not in masked}

    @cached_property
    def items(self) -> tuple[Mapping[str, Any], ...]:
        """The items of the list in the answer; none where it has none."""
        rows = self.data.get("list")
        return tuple(row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()

    @property
    def has_list(self) -> bool:
        return isinstance(self.data.get("list"), list)

    @cached_property
    def inputs(self) -> Mapping[str, Any]:
        """Parameters and members of the body, by name."""
        request = self.recorded.request
        together = {**request.parameters, **request.members}
        return {name: value for name, value in together.items() if name.lower() not in self.hidden}

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """Where the request breaks the contract, as far as it was kept."""
        reading = self.operation.read(self.recorded.request)
        return tuple(
            violation
            for violation in reading.violations
            if not any(str(part).lower() in self.hidden for part in violation.path)
        )

    @property
    def unreadable(self) -> bool:
        """Whether the request is no request of the operation at all, such as a broken body."""
        return self.operation.read(self.recorded.request).refusal is not None

    @property
    def sound(self) -> bool:
        """Whether the request keeps the contract, so that a refusal has a reason of its own."""
        return not self.unreadable and not self.violations

    @cached_property
    def question(self) -> tuple[str, str]:
        """What tells requests apart that ask for the same."""
        return self.id, repr(sorted((name, str(value)) for name, value in self.inputs.items()))

    def header(self, name: str) -> str | None:
        """Return a header of the answer as it was recorded."""
        return self.recorded.response.header(name)

    def text(self, name: str) -> str | None:
        """Return a member of the data that is a text; None where it is none."""
        value = self.data.get(name)
        return value if isinstance(value, str) else None


def calls_of(result: Result, sources: Iterable[Source]) -> list[tuple[RecordedCall, ...]]:
    """Return the judged exchanges of each service that was recorded, in the order of their times.

    What was captured of one address is one service. Files of simulations and of published examples
    have a world each, so that a list of one says nothing of a request of another.
    """
    judged = {label_of(exchange): exchange for exchange in result.exchanges}
    services: dict[str, list[RecordedCall]] = {}
    for source in sources:
        recording = source.recording
        service = recording.source if recording.origin == "captured" else source.label
        services.setdefault(service, []).extend(
            RecordedCall(label, judged[label], recorded)
            for label, recorded in source.labelled()
            if label in judged and not recorded.response_omitted
        )
    # The sort is stable: what has no time keeps its place among its like.
    return [
        tuple(sorted(calls, key=lambda call: call.recorded.time_ms or 0))
        if all(call.recorded.time_ms is not None for call in calls)
        else tuple(calls)
        for calls in services.values()
    ]


def grouped(
    calls: Iterable[RecordedCall], *operations: str, by: str = ""
) -> dict[str, list[RecordedCall]]:
    """Return the exchanges of operations, by an input, or by all that was asked."""
    groups: dict[str, list[RecordedCall]] = {}
    for call in calls:
        if call.id in operations:
            key = str(call.inputs.get(by)) if by else repr(call.question)
            groups.setdefault(key, []).append(call)
    return groups
