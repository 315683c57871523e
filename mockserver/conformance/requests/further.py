"""Operations that only public material shows: asked with their examples, in that dialect alone."""

from collections.abc import Iterable, Iterator
from functools import partial

from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft, draft_of
from mockserver.contract import Operation


def further_probes(operations: Iterable[Operation]) -> Iterator[Probe]:
    """Yield the usual probe of operations that the plan has none for."""
    for operation in operations:
        stage = Stage.WRITES if operation.writes else Stage.READS
        yield Probe(f"{operation.id}/usual", partial(_example, operation), stage)


def _example(operation: Operation, context: RunContext) -> Draft:
    draft = draft_of(operation.row["example"], operation)
    if operation.auth != "developer-key":
        return draft
    named = {name.lower() for name in ("appKey", "expireTime", "timestamp", "signature")}
    others = {name: value for name, value in draft.headers.items() if name.lower() not in named}
    return context.caller.sign_v1(Draft(others, draft.query, draft.body))
