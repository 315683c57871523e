"""Sending the plan of a run: each probe after those it builds on, and side by side where wanted."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from mockserver.conformance.checks.submission_timelines import LOOK_AGAIN_MS, LOOKS
from mockserver.conformance.checks.timing import is_late
from mockserver.conformance.options import Options
from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.result import INTERRUPTED
from mockserver.conformance.runs.fresh_stamps import Retries
from mockserver.conformance.runs.planner import (
    Plan,
    Requests,
    at_edges,
    followed,
    is_followed_on,
    once_more,
    what_was_late,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.permit import Refusing, Spent
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import Inconclusive, NotApplicable, NotRun

WhyNot = Callable[[RunContext, Probe], str]
"""Returns why a probe is not worth sending after the answers so far; empty where it is."""

# The requests that confirm that an answer is slow.
_SLOW = ("slow, asked again", "slow, asked once more")
# The end of the name of a request that confirms an answer after its expireTime.
_LATE = ", asked again"


class PlanSender:
    """Sends the probes of a plan, and requests at the edges of inputs before the last look.

    Only readings leave side by side whose requests depend on no answer that is under way, so that
    they are the same requests, noted in the same order, as one after the other.
    """

    def __init__(
        self, session: Session, plan: Plan, why_not: WhyNot | None, options: Options
    ) -> None:
        """Take what to send, and `why_not`, which is called before each probe."""
        self._session = session
        self._context = session.context
        self._plan = plan
        self._why_not = why_not
        self._options = options
        self._retries = Retries(session)
        self._spent = self._cut = ""
        # Without the lists at the end, no verdict on anything before would be safe.
        self._kept = sum(probe.stage is Stage.LAST_LOOK for probe in plan.probes)

    def send(self) -> tuple[str, ...]:
        """Send the plan; return what kept it from its end."""
        for name, reason in self._plan.left_out.items():
            self._context.leave_out(name, reason, forbidden=name in self._plan.forbidden)
        waiting, last = deque(self._plan.probes), False
        while waiting:
            # Around everything: an interruption may also come between two requests.
            try:
                if waiting[0].stage is Stage.LAST_LOOK and not (last or self._spent):
                    # Before the lists are read again, so that they show an outage meanwhile.
                    last = True
                    self._spent = self._edges()
                if not self._together(waiting):
                    self._alone(waiting.popleft())
            except KeyboardInterrupt:
                self._spent = INTERRUPTED
        return tuple(filter(None, (self._spent or self._cut,)))

    def _alone(self, probe: Probe) -> None:
        try:
            if reason := self._reason(probe):
                self._context.leave_out(probe.name, reason)
            else:
                draft = probe.build(self._context)
                wait_ms = 0 if probe.settled(self._context) else probe.wait_ms
                self._after(probe, draft, self._session.ask(probe.name, draft, wait_ms))
        except (NotRun, Inconclusive, Refusing) as error:
            self._leave_out(probe, error)
        except Spent as error:
            self._spent = str(error)
            self._context.leave_out(probe.name, self._spent)
        except KeyboardInterrupt:
            self._context.leave_out(probe.name, INTERRUPTED)
            raise

    def _reason(self, probe: Probe) -> str:
        """Return why a probe is not sent any more; empty where it is."""
        reason = self._spent or (self._why_not(self._context, probe) if self._why_not else "")
        if reason or probe.stage is Stage.LAST_LOOK or self._session.left > self._kept:
            return reason
        reason = "what is left of the budget is kept for the last look at the lists"
        self._cut = self._cut or ("" if probe.conditional else reason)
        return reason

    def _after(self, probe: Probe, draft: Draft, exchange: Exchange) -> None:
        """Send what an answer calls for: a confirmation where it is slow, another time of v1."""
        if not exchange.operation.writes:
            self._confirm(probe, draft, exchange)
        self._retries.after(probe, exchange)

    def _confirm(self, probe: Probe, draft: Draft, exchange: Exchange) -> None:
        ask, context = self._session.ask, self._context
        confirming = [f"{probe.operation_id}/{name}" for name in _SLOW]
        if exchange.has_answer and exchange.takes_longer_than(context.slow_ms):
            # A machine may have been busy: the first slow answer of an operation is sent again.
            for name in confirming if context.get(confirming[0]) is None else ():
                ask(name, draft)
        if is_late(exchange):
            ask(f"{probe.name}{_LATE}", probe.build(context))

    def _leave_out(self, probe: Probe, error: Exception) -> None:
        self._context.leave_out(probe.name, str(error), forbidden=isinstance(error, NotApplicable))

    def _together(self, waiting: deque[Probe]) -> bool:
        """Send the next probes at the same time, where there are some; tell whether there were."""
        group = list(self._independent(waiting))
        if len(group) < 2:
            return False
        drafts: list[tuple[Probe, Draft]] = []
        for probe in group:
            try:
                if reason := self._reason(probe):
                    self._context.leave_out(probe.name, reason)
                else:
                    drafts.append((probe, probe.build(self._context)))
            except (NotRun, Inconclusive) as error:
                self._leave_out(probe, error)
        try:
            named = [(probe.name, draft) for probe, draft in drafts]
            exchanges = self._session.ask_together(named, patiently=True)
        except (Refusing, Spent):
            # One of them may not leave, and none has: each is told for itself.
            for _ in group:
                waiting.popleft()
            for probe, _ in drafts:
                self._alone(probe)
            return True
        for _ in group:
            waiting.popleft()
        for (probe, draft), exchange in zip(drafts, exchanges, strict=True):
            try:
                self._after(probe, draft, exchange)
            except (NotRun, Inconclusive, Refusing):
                continue
            except Spent as error:
                self._spent = str(error)
        return True

    def _independent(self, waiting: deque[Probe]) -> Iterator[Probe]:
        """Yield the next probes whose requests do not depend on one another's answers."""
        if self._spent:
            return
        most = min(self._options.concurrency, self._session.left - self._kept)
        names: set[str] = set()
        for probe in list(waiting)[:most]:
            operation = self._context.contract.operation(probe.operation_id)
            if (
                probe.stage not in (Stage.READS, Stage.ODD)
                or operation.writes
                or probe.conditional
                or probe.wait_ms
                or not names.isdisjoint(probe.after)
                # Whether the service takes the time of v1 requests shows by the first of them.
                or (operation.generation.id == "v1" and not self._retries.settled)
            ):
                return
            names.add(probe.name)
            yield probe

    def _edges(self) -> str:
        """Send what comes before the last look; return what ended the run, or an empty text."""
        rules = self._plan.rules
        within = self._options.chosen_operations(rules)
        edges = at_edges(self._session, self._options, self._kept, within)
        ended = self._send_each(edges, self._options.concurrency)
        again = once_more(self._session, self._options, self._kept, within)
        ended = ended or self._send_each(again, self._options.concurrency)
        ended = ended or self._follow()
        # One after the other: how long an answer takes alone is what is asked.
        return ended or self._send_each(what_was_late(self._session, rules, self._kept), 1)

    def _follow(self) -> str:
        """Look up what was accepted at edges until it has come to its end, as patience goes."""
        for turn in range(LOOKS):
            wait_ms = LOOK_AGAIN_MS if turn and is_followed_on(self._context) else 0
            for look in followed(self._session, self._kept, turn):
                if ended := self._ask([look], wait_ms):
                    return ended
                wait_ms = 0
        return ""

    def _send_each(self, requests: Requests, most: int) -> str:
        """Send requests, readings up to `most` at a time; return what ended the run."""
        collected, contract = self._session.collected, self._context.contract
        try:
            for probe, draft in requests:
                if contract.operation(ProbeName(probe).operation_id).writes:
                    ended = self._flush() or self._ask([(probe, draft)])
                else:
                    collected.append((probe, draft))
                    ended = self._flush() if len(collected) >= most else ""
                if ended:
                    return ended
            return self._flush()
        except KeyboardInterrupt:
            return INTERRUPTED
        finally:
            collected.clear()

    def _flush(self) -> str:
        """Send what was collected, and return what ended the run."""
        batch = list(self._session.collected)
        self._session.collected.clear()
        return self._ask(batch)

    def _ask(self, batch: Sequence[tuple[str, Draft]], wait_ms: int = 0) -> str:
        if len(batch) > 1:
            try:
                self._session.ask_together(batch, patiently=True)
            except (Refusing, Spent):
                pass  # None has left: each is told for itself.
            else:
                return ""
        for probe, draft in batch:
            try:
                self._session.ask(probe, draft, wait_ms)
            except Refusing as error:
                self._context.leave_out(probe, str(error))
            except Spent as error:
                return str(error)
        return ""
