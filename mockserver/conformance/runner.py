"""A run: plan, ask, judge."""

from collections.abc import Callable, Iterable

from mockserver.clock import ticks_ms
from mockserver.conformance.generation import check_installed, generated
from mockserver.conformance.judge import judged
from mockserver.conformance.options import Options
from mockserver.conformance.pace import Refusing, Spent
from mockserver.conformance.planner import Plan
from mockserver.conformance.prepared import prepared
from mockserver.conformance.probe import Probe, Stage
from mockserver.conformance.result import Result
from mockserver.conformance.rules import RULES
from mockserver.conformance.seen import Seen
from mockserver.conformance.session import Keeper, Session, Watch, sent_by_operation
from mockserver.conformance.stamping import Stamping
from mockserver.conformance.target import Target
from mockserver.conformance.transport import Transport
from mockserver.conformance.verdict import Inconclusive, NotRun, Rule

INTERRUPTED = "the run was interrupted"
"""The note of a run that somebody ended."""

Doubt = Callable[[Seen, Probe], str]
"""Tells why a probe is not worth sending after what was seen; empty where it is."""


def run(  # noqa: PLR0913 (one parameter a collaborator)
    target: Target,
    options: Options | None = None,
    *,
    rules: Iterable[Rule] = RULES,
    probes: Iterable[Probe] | None = None,
    keeper: Keeper | None = None,
    watch: Watch | None = None,
    doubt: Doubt | None = None,
) -> Result:
    """Return what the rules say of a target. Raises `UnsafeOrWrong` before anything is sent.

    `probes` are those of the contract where none are given. `doubt` is asked before each probe.
    An interruption ends the run early; what was seen until then is judged.
    """
    options = options or Options()
    check_installed(options)
    ready = prepared(target, options, rules, probes)
    contract, todo = ready.contract, ready.plan
    began = ticks_ms()
    seen = Seen(contract, seed=options.seed, bindings=options.bindings, caller=options.caller)
    with Transport(target, ready.permit, ready.limits) as transport:
        session = Session(
            transport,
            seen,
            keeper=keeper,
            watch=watch,
            planned=len(todo.probes),
            patience_ms=options.patience_ms,
        )
        notes = _asked(session, todo, doubt)
        outcomes = judged(todo.rules, seen, target.bases)
        more, told = generated(session, options) if not notes else ((), ())
        sent = sent_by_operation(seen, transport.sent)
        elsewhere = transport.count - sum(sent.values())
    return Result(
        contract=contract,
        target=target,
        seed=options.seed,
        outcomes=(*outcomes, *more),
        exchanges=seen.exchanges,
        sent=sent,
        sent_elsewhere=elsewhere,
        planned=len(todo.probes),
        unsent=dict(seen.unsent),
        notes=(*notes, *told),
        elapsed_ms=ticks_ms() - began,
    )


def _asked(session: Session, todo: Plan, doubt: Doubt | None) -> tuple[str, ...]:
    """Send the plan; return what kept it from its end."""
    for name, reason in todo.left_out.items():
        session.seen.leave_out(name, reason)
    spent, cut = "", ""
    stamping = Stamping(session.seen)
    kept = sum(probe.stage is Stage.LAST_LOOK for probe in todo.probes)
    for probe in todo.probes:
        reason = spent or (doubt(session.seen, probe) if doubt else "")
        if not reason and probe.stage is not Stage.LAST_LOOK and session.transport.left <= kept:
            # Without a second look at the lists nothing could be told of what was asked before.
            reason = "what is left of the budget is kept for the last look at the lists"
            cut = cut or ("" if probe.spare else reason)
        if reason:
            session.seen.leave_out(probe.name, reason)
            continue
        try:
            _ask(session, probe, stamping)
        except (NotRun, Inconclusive, Refusing) as error:
            session.seen.leave_out(probe.name, str(error))
        except Spent as error:
            spent = str(error)
            session.seen.leave_out(probe.name, spent)
        except KeyboardInterrupt:
            spent = INTERRUPTED
            session.seen.leave_out(probe.name, spent)
    return tuple(filter(None, (spent or cut,)))


def _ask(session: Session, probe: Probe, stamping: Stamping) -> None:
    draft = probe.build(session.seen)
    wait_ms = 0 if probe.settled(session.seen) else probe.wait_ms
    exchange = session.ask(probe.name, draft, wait_ms)
    if stamping.doubts(probe, exchange):
        stamping.begin()
        now = session.ask(probe.name, probe.build(session.seen))
        past = None
        if stamping.is_unclear(exchange, now):
            past = session.ask(probe.name, probe.build(session.seen))
        stamping.settle(exchange, now, past)
