"""Questions of a stage: numbered, remembered, and quiet once nothing more may be sent."""

from collections.abc import Callable, Iterable

from mockserver.conformance.checks.rule import Finding, Outcome, Rule
from mockserver.conformance.discovery.amounts import number
from mockserver.conformance.requests.valid import valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.names import ProbeName
from mockserver.conformance.session.permit import Refusing, Spent
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import Verdict, if_known
from mockserver.contract import Operation, ids

_NEAR_MS = 2_000
_SECONDS_UNTIL = 10**11


class Asking:
    """Asks a service in the name of a stage; after the first refusal to send it stays silent.

    Hypothesis runs a request again and again; what was asked once is answered from memory, so that
    only new requests leave.
    """

    def __init__(self, session: Session, words: str) -> None:
        """Name the probes `<operation id>/<words> N`."""
        self.session = session
        self.words = words
        self.count = 0
        """How many requests were sent."""
        self.stopped = ""
        """Why nothing more is sent; empty while something may be."""
        self._known: dict[tuple[object, ...], Exchange] = {}

    def ask(self, operation_id: str, draft: Draft) -> Exchange | None:
        """Send a request and return the exchange; None where it may not be sent."""
        if self.stopped:
            return None
        try:
            name = f"{operation_id}/{self.words} {self.count + 1}"
            exchange = self.session.ask(ProbeName(name, stage=self.words), draft)
        except (Spent, Refusing) as error:
            self.stopped = str(error)
            return None
        self.count += 1
        return exchange

    def remembered(
        self, operation: Operation, draft: Draft, form: str = "", *, new: bool = True
    ) -> Exchange | None:
        """Return the exchange of a request, asked now if it never was and `new` allows it.

        A request that is another form of one before is asked again, also where both are equal.
        """
        request = draft.request(operation)
        target = (form, request.method, request.path, request.query)
        key = (*target, request.headers.items_sent, request.body)
        if key not in self._known:
            found = self.ask(operation.id, draft) if new else None
            if found is None:
                return None
            self._known[key] = found
        return self._known[key]

    def outcome(
        self, rule: Rule, operation: Operation, findings: Iterable[Finding], reason: str = ""
    ) -> Outcome:
        """Return what its stage has found; not run where nothing was sent."""
        if not self.count:
            return Outcome(rule, operation, Verdict.NOT_RUN, reason=reason)
        return Outcome.of(rule, operation, findings, reason)


def is_answered(session: Session, operation: Operation) -> bool:
    """Tell whether the generation of an operation has an address at which the service answers."""
    generation = operation.generation.id
    asked = [one for one in session.context.exchanges if one.operation.generation.id == generation]
    served = generation in session.transport.generations
    return served and (not asked or any(one.succeeded for one in asked))


def catch_up(context: RunContext, ask: Callable[[str, Draft], Exchange | None]) -> bool:
    """Stamp what follows with the time that the service tells; tell whether that is another time.

    A stand-in whose clock jumps from event to event soon finds a fixed `timestamp` expired. What it
    tells of its time elsewhere is taken then: `updateTime` of a price (interface.md 2.3), for which
    `ask` sends a request of an operation; None where it may not. Nothing changes where it tells
    none.
    """
    draft = if_known(valid_request, context, ids.PRICE)
    exchange = None if draft is None else ask(ids.PRICE, draft)
    told = None if exchange is None else number(exchange.data.get("updateTime"))
    if told is None or told <= 0:
        return False
    told_ms = int(told * 1000 if told < _SECONDS_UNTIL else told)
    if abs(told_ms - context.caller.timestamp_ms) <= _NEAR_MS:
        return False
    context.now = lambda: told_ms
    return True
