"""A run: plan, send, judge."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import chain

from mockserver import contract as contracts
from mockserver.clock import ticks_ms
from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.judge import judged
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.checks.timing import is_late
from mockserver.conformance.generation import check_installed, generated
from mockserver.conformance.options import Options
from mockserver.conformance.report.failure_text import complaint
from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.result import INTERRUPTED, Result
from mockserver.conformance.runs.planner import (
    Plan,
    Requests,
    at_edges,
    context_of,
    prepared,
    what_was_late,
)
from mockserver.conformance.runs.stamping import Retries
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.permit import Limits, Permit, Refusing, Spent
from mockserver.conformance.session.session import ExchangeKeeper, Session, Watch
from mockserver.conformance.session.target import Target
from mockserver.conformance.session.transport import Transport
from mockserver.conformance.verdict import Inconclusive, NotApplicable, NotRun
from mockserver.contract import ids
from mockserver.exchange import Request

OPENERS = {"v1": ids.V1_CHAINS, "v2": ids.CHAINS}
"""The list of each generation that a client reads first, and which needs nothing."""
# What a gateway answers for a service behind it that is not up yet.
_STARTING = (502, 503, 504)
# Often enough to start soon, and gentle to a service that is starting.
_POLLS_A_SECOND = Decimal(4)
_POLL_MS = 2_000

WhyNot = Callable[[RunContext, Probe], str]
"""Returns why a probe is not worth sending after the answers so far; empty where it is."""

# The requests that confirm that an answer is slow.
_SLOW = ("slow, asked again", "slow, asked once more")
# The end of the name of a request that confirms an answer after its expireTime.
_LATE = ", asked again"


def run(  # noqa: PLR0913 (one parameter a collaborator)
    target: Target,
    options: Options | None = None,
    *,
    rules: Iterable[Rule] = RULES,
    probes: Iterable[Probe] | None = None,
    keeper: ExchangeKeeper | None = None,
    watch: Watch | None = None,
    why_not: WhyNot | None = None,
) -> Result:
    """Return what the rules say of a target. Raises `UnsafeOrWrong` before anything is sent.

    `probes` are those of the contract where none are given. `why_not` is called before each probe.
    An interruption ends the run early; the answers until then are judged.
    """
    options = options or Options()
    check_installed(options)
    ready = prepared(target, options, rules, probes)
    contract, plan = ready.contract, ready.plan
    if options.wait_ms:
        # Where nothing answered in time, the run itself reports it.
        _wait_until_ready(target, ready.permit, ready.limits, options.wait_ms)
    began = ticks_ms()
    context = context_of(contract, options)
    with Transport(target, ready.permit, ready.limits) as transport:
        session = Session(
            transport,
            context,
            keeper=keeper,
            watch=watch,
            planned=len(plan.probes),
            patience_ms=options.patience_ms,
        )
        notes = _send(session, plan, why_not, options)
        outcomes = judged(plan.rules, context, target.bases)
        more, remarks = generated(session, options) if not notes else ((), ())
        sent = session.sent
    return Result(
        contract=contract,
        target=target,
        seed=options.seed,
        outcomes=(*outcomes, *more),
        exchanges=context.exchanges,
        sent=sent,
        sent_elsewhere=transport.count - sum(sent.values()),
        planned=len(plan.probes),
        unsent=dict(context.unsent),
        notes=(*notes, *remarks),
        choices=options.choices,
        elapsed_ms=ticks_ms() - began,
        complain=partial(complaint, caller=options.caller),
    )


def _wait_until_ready(target: Target, permit: Permit, limits: Limits, wait_ms: int) -> None:
    """Request each base address until it answers HTTP, or until `wait_ms` are over.

    These requests read a list, and belong to no run: neither its budget nor its journal has them.
    Raises `Refusing` where not even that may be sent.
    """
    polls = int(wait_ms * _POLLS_A_SECOND) // 1000 + len(target.bases) + 1
    rate, within = min(_POLLS_A_SECOND, limits.rate), min(_POLL_MS, limits.request_ms)
    waiting = replace(limits, rate=rate, budget=polls, time_ms=wait_ms, request_ms=within)
    contract = contracts.load()
    # The generations mostly have one address; the later one reads without a signature.
    bases = {base: generation for generation, base in target.bases.items()}
    with Transport(target, permit, waiting) as transport:
        for generation in bases.values():
            request = Request("GET", contract.operation(OPENERS[generation]).path)
            try:
                while transport.send(generation, request).status in (0, *_STARTING):
                    pass
            except Spent:
                return


def _send(
    session: Session, plan: Plan, why_not: WhyNot | None, options: Options
) -> tuple[str, ...]:
    """Send the plan; return what kept it from its end."""
    context = session.context
    for name, reason in plan.left_out.items():
        context.leave_out(name, reason, forbidden=name in plan.forbidden)
    spent, cut, last = "", "", False
    retries = Retries(session)
    kept = sum(probe.stage is Stage.LAST_LOOK for probe in plan.probes)
    for probe in plan.probes:
        # Around everything: an interruption may also come between two requests.
        try:
            if probe.stage is Stage.LAST_LOOK and not (last or spent):
                # Before the lists are read again, so that they show an outage meanwhile.
                last = True
                within = options.chosen_operations(plan.rules)
                edges = at_edges(session, options, kept, within)
                spent = _send_each(session, chain(edges, what_was_late(session, plan.rules, kept)))
            reason = spent or (why_not(context, probe) if why_not else "")
            if not reason and probe.stage is not Stage.LAST_LOOK and session.transport.left <= kept:
                # Without the lists at the end, no verdict on anything before would be safe.
                reason = "what is left of the budget is kept for the last look at the lists"
                cut = cut or ("" if probe.conditional else reason)
            if reason:
                context.leave_out(probe.name, reason)
            else:
                retries.after(probe, _send_probe(session, probe))
        except (NotRun, Inconclusive, Refusing) as error:
            unfit = isinstance(error, NotApplicable)
            context.leave_out(probe.name, str(error), forbidden=unfit)
        except Spent as error:
            spent = str(error)
            context.leave_out(probe.name, spent)
        except KeyboardInterrupt:
            spent = INTERRUPTED
            context.leave_out(probe.name, spent)
    return tuple(filter(None, (spent or cut,)))


def _send_each(session: Session, requests: Requests) -> str:
    """Send requests one after the other; return what ended the run, or an empty text."""
    for probe, draft in requests:
        try:
            session.ask(probe, draft)
        except Refusing as error:
            session.context.leave_out(probe, str(error))
        except Spent as error:
            return str(error)
        except KeyboardInterrupt:
            return INTERRUPTED
    return ""


def _send_probe(session: Session, probe: Probe) -> Exchange:
    context = session.context
    draft = probe.build(context)
    wait_ms = 0 if probe.settled(context) else probe.wait_ms
    exchange = session.ask(probe.name, draft, wait_ms)
    if exchange.operation.writes:
        return exchange
    confirming = [f"{probe.operation_id}/{name}" for name in _SLOW]
    if exchange.has_answer and exchange.takes_longer_than(context.slow_ms):
        # A machine may have been busy: the first slow answer of an operation is sent again.
        for name in confirming if context.get(confirming[0]) is None else ():
            session.ask(name, draft)
    if is_late(exchange):
        session.ask(f"{probe.name}{_LATE}", probe.build(context))
    return exchange
