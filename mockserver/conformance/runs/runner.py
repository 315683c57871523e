"""A run: plan, ask, judge."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain

from mockserver.clock import ticks_ms
from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.judge import judged
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.checks.timing import is_late
from mockserver.conformance.generation import check_installed, generated
from mockserver.conformance.generation.timing import catch_up
from mockserver.conformance.options import Options
from mockserver.conformance.report.failure_text import complaint
from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.result import INTERRUPTED, Result
from mockserver.conformance.runs.edges import Asked, at_edges, what_was_late
from mockserver.conformance.runs.planner import Plan, context_of, prepared
from mockserver.conformance.runs.readiness import wait_until_ready
from mockserver.conformance.runs.stamping import FreshDeposits, Stamping
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.pace import Refusing, Spent
from mockserver.conformance.session.session import Keeper, Session, Watch, sent_by_operation
from mockserver.conformance.session.target import Target
from mockserver.conformance.session.transport import Transport
from mockserver.conformance.verdict import Inconclusive, NotRun

SERVICE_TIME = "time of the service"
"""How the probe ends that asks a price for the time, where v1 takes neither of the usual ones."""

WhyNot = Callable[[RunContext, Probe], str]
"""Tells why a probe is not worth sending after what was seen; empty where it is."""

_SLOW = ("slow, asked again", "slow, asked once more")
"""The requests that confirm that an answer is slow."""
_LATE = ", asked again"
"""How the request is named that confirms that an answer has outlived its request."""


def run(  # noqa: PLR0913 (one parameter a collaborator)
    target: Target,
    options: Options | None = None,
    *,
    rules: Iterable[Rule] = RULES,
    probes: Iterable[Probe] | None = None,
    keeper: Keeper | None = None,
    watch: Watch | None = None,
    why_not: WhyNot | None = None,
) -> Result:
    """Return what the rules say of a target. Raises `UnsafeOrWrong` before anything is sent.

    `probes` are those of the contract where none are given. `why_not` is asked before each probe.
    An interruption ends the run early; what was seen until then is judged.
    """
    options = options or Options()
    check_installed(options)
    ready = prepared(target, options, rules, probes)
    contract, todo = ready.contract, ready.plan
    if options.wait_ms:
        # Where nobody answered in time, the run itself tells so.
        wait_until_ready(target, ready.permit, ready.limits, options.wait_ms)
    began = ticks_ms()
    context = context_of(contract, options)
    with Transport(target, ready.permit, ready.limits) as transport:
        session = Session(
            transport,
            context,
            keeper=keeper,
            watch=watch,
            planned=len(todo.probes),
            patience_ms=options.patience_ms,
        )
        notes = _asked(session, todo, why_not, options)
        outcomes = judged(todo.rules, context, target.bases)
        more, told = generated(session, options) if not notes else ((), ())
        sent = sent_by_operation(context, transport.sent)
        elsewhere = transport.count - sum(sent.values())
    return Result(
        contract=contract,
        target=target,
        seed=options.seed,
        outcomes=(*outcomes, *more),
        exchanges=context.exchanges,
        sent=sent,
        sent_elsewhere=elsewhere,
        planned=len(todo.probes),
        unsent=dict(context.unsent),
        notes=(*notes, *told),
        choices=options.choices,
        elapsed_ms=ticks_ms() - began,
        complain=complaint,
    )


def _asked(
    session: Session, todo: Plan, why_not: WhyNot | None, options: Options
) -> tuple[str, ...]:
    """Send the plan; return what kept it from its end."""
    for name, reason in todo.left_out.items():
        session.context.leave_out(name, reason, forbidden=name in todo.forbidden)
    spent, cut, last = "", "", False
    stamping, deposits = Stamping(session.context), FreshDeposits(session.context)
    kept = sum(probe.stage is Stage.LAST_LOOK for probe in todo.probes)
    for probe in todo.probes:
        # All of it: an interruption may come while nearby addresses are asked or between requests.
        try:
            if probe.stage is Stage.LAST_LOOK and not (last or spent):
                # Before the lists are looked at again, so that an outage meanwhile is told.
                last = True
                within = options.chosen_operations(todo.rules)
                more = (
                    at_edges(session, options, kept, within),
                    what_was_late(session, todo.rules, kept),
                )
                spent = _asked_each(session, chain(*more))
            reason = spent or (why_not(session.context, probe) if why_not else "")
            if not reason and probe.stage is not Stage.LAST_LOOK and session.transport.left <= kept:
                # Without a second look at the lists nothing could be told of what was asked before.
                reason = "what is left of the budget is kept for the last look at the lists"
                cut = cut or ("" if probe.conditional else reason)
            if reason:
                session.context.leave_out(probe.name, reason)
            else:
                _ask(session, probe, stamping, deposits)
        except (NotRun, Inconclusive, Refusing) as error:
            session.context.leave_out(probe.name, str(error))
        except Spent as error:
            spent = str(error)
            session.context.leave_out(probe.name, spent)
        except KeyboardInterrupt:
            spent = INTERRUPTED
            session.context.leave_out(probe.name, spent)
    return tuple(filter(None, (spent or cut,)))


def _asked_each(session: Session, asked: Asked) -> str:
    """Send requests one after the other; return what ended the run, or an empty text."""
    for probe, draft in asked:
        try:
            session.ask(probe, draft)
        except Refusing as error:
            session.context.leave_out(probe, str(error))
        except Spent as error:
            return str(error)
        except KeyboardInterrupt:
            return INTERRUPTED
    return ""


def _ask(session: Session, probe: Probe, stamping: Stamping, deposits: FreshDeposits) -> None:
    draft = probe.build(session.context)
    wait_ms = 0 if probe.settled(session.context) else probe.wait_ms
    exchange = session.ask(probe.name, draft, wait_ms)
    _confirm_slow(session, exchange, draft)
    if is_late(exchange) and not exchange.operation.writes:
        session.ask(f"{probe.name}{_LATE}", probe.build(session.context))
    if stamping.doubts(probe, exchange):
        stamping.begin()
        now = session.ask(probe.name, probe.build(session.context))
        past = None
        if stamping.is_unclear(exchange, now):
            past = session.ask(probe.name, probe.build(session.context))
        stamping.settle(exchange, now, past)
        stamping.try_told(
            lambda: catch_up(session.context, partial(_ask_time, session)),
            lambda: session.ask(probe.name, probe.build(session.context)),
        )
    elif deposits.doubts(probe, exchange):
        deposits.begin()
        deposits.settle(session.ask(probe.name, probe.build(session.context)))


def _confirm_slow(session: Session, exchange: Exchange, draft: Draft) -> None:
    """Ask for the first slow answer of an operation again, since a machine may have been busy."""
    context, operation = session.context, exchange.operation
    slow = exchange.whole and exchange.takes_longer_than(context.slow_ms)
    if slow and not operation.writes and context.get(f"{operation.id}/{_SLOW[0]}") is None:
        for name in _SLOW:
            session.ask(f"{operation.id}/{name}", draft)


def _ask_time(session: Session, operation_id: str, draft: Draft) -> Exchange:
    return session.ask(f"{operation_id}/{SERVICE_TIME}", draft)
