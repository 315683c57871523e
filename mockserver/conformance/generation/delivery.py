"""The stage of delivery: what was judged is asked again in other ways, and must be answered alike.

Gateways, caches, connection pools and replicas stand between a client and a service. The plan asks
each request by itself, on a connection of its own and uncompressed; here the same requests travel
as browsers and proxies send them, on a connection that is used again, and side by side.
"""

from collections.abc import Sequence

from mockserver.conformance.checks.rule import Outcome
from mockserver.conformance.generation.repeated_reads import RepeatedReads
from mockserver.conformance.generation.repeated_submissions import RepeatedSubmissions
from mockserver.conformance.generation.stages import DELIVERY, is_answered
from mockserver.conformance.options import Options
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Operation


def delivery(session: Session, options: Options) -> tuple[Outcome, ...]:
    """Return an outcome for each operation that may be called.

    Submissions are sent only where they are armed: one deposit twice at the same time.
    """
    chosen = [
        operation
        for operation in session.context.contract
        if options.chooses(DELIVERY.rule(), operation.id) and is_answered(session, operation)
    ]
    reads = [operation for operation in chosen if not operation.writes]
    # One generated request of each operation shows more than the same answers once more.
    kept = len(reads) if options.examples else 0
    stage = _Delivery(session, reads, kept + options.for_sequences)
    stage.read_again()
    writes = [operation for operation in chosen if operation.writes]
    if options.arming.writes:
        stage.submissions(writes)
    return stage.outcomes(chosen, never=() if options.arming.writes else writes)


class _Delivery(RepeatedReads, RepeatedSubmissions):
    """The requests of the stage, and what was found by operation."""

    def outcomes(
        self, chosen: Sequence[Operation], never: Sequence[Operation]
    ) -> tuple[Outcome, ...]:
        """Return an outcome for each of them; those that are `never` asked lack no budget."""
        self._judge_equal_requests()
        self._forget_outages()
        self._report_flickers()
        return tuple(self._outcome(operation, never) for operation in chosen)

    def _outcome(self, operation: Operation, never: Sequence[Operation]) -> Outcome:
        rule, stopped = DELIVERY.rule(operation.id), self._sender.stopped
        if operation.id in self._touched:
            return self._sender.outcome(rule, operation, self._findings[operation.id], stopped)
        if stopped and operation not in never:
            return Outcome(rule, operation, Verdict.NOT_RUN, reason=stopped)
        reason = "no answer of it was there to be asked for again"
        return Outcome(rule, operation, Verdict.NOT_APPLICABLE, reason=reason)
