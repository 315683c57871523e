"""A run: plan, send, judge."""

import gc
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from functools import partial

from mockserver import contract as contracts
from mockserver.clock import ticks_ms
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.judge import judged
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.generation import check_installed, generated
from mockserver.conformance.options import Options
from mockserver.conformance.report.failure_text import complaint
from mockserver.conformance.requests.probe import Probe
from mockserver.conformance.result import Result
from mockserver.conformance.runs.planner import Prepared, context_of, prepared
from mockserver.conformance.runs.sending import PlanSender, WhyNot
from mockserver.conformance.session.permit import Limits, Permit, Spent
from mockserver.conformance.session.session import ExchangeKeeper, Session, Watch
from mockserver.conformance.session.target import Target
from mockserver.conformance.session.transport import Transport
from mockserver.contract import ids
from mockserver.http_messages import Request

OPENERS = {"v1": ids.V1_CHAINS, "v2": ids.CHAINS}
"""The list of each generation that a client reads first, and which needs nothing."""
# What a gateway answers for a service behind it that is not up yet.
_STARTING = (502, 503, 504)
# Often enough to start soon, and gentle to a service that is starting.
_POLLS_A_SECOND = Decimal(4)
_POLL_MS = 2_000
_SELDOM_COLLECTED = (20_000, 20, 50)


def skip_unused_work() -> None:
    """Skip what a process that only makes runs does not need, and that takes a tenth of its time.

    Plugins of Hypothesis belong to test suites: one of them imports pytest. The garbage collector
    looks again and again at exchanges, which a run keeps up to its end.
    """
    os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "1")
    gc.freeze()
    gc.set_threshold(*_SELDOM_COLLECTED)


def run(  # noqa: PLR0913 (one parameter a collaborator)
    target: Target,
    options: Options | None = None,
    *,
    rules: Iterable[Rule] = RULES,
    probes: Iterable[Probe] | None = None,
    keeper: ExchangeKeeper | None = None,
    watch: Watch | None = None,
    why_not: WhyNot | None = None,
    announced: Callable[[Prepared], None] | None = None,
) -> Result:
    """Return what the rules say of a target. Raises `UnsafeOrWrong` before anything is sent.

    `probes` are those of the contract where none are given. `why_not` is called before each probe,
    and `announced` with what is to be sent before anything is. An interruption ends the run early;
    the answers until then are judged.
    """
    options = options or Options()
    check_installed(options)
    ready = prepared(target, options, rules, probes)
    contract, plan = ready.contract, ready.plan
    if announced is not None:
        announced(ready)
    if options.wait_ms:
        # Where nothing answered in time, the run itself reports it.
        _wait_until_ready(target, ready.permit, ready.limits, options)
    began = ticks_ms()
    context = context_of(contract, options)
    with Transport(target, ready.permit, ready.limits, tls=options.tls) as transport:
        session = Session(
            transport,
            context,
            keeper=keeper,
            watch=watch,
            planned=len(plan.probes),
            patience_ms=options.patience_ms,
        )
        notes = PlanSender(session, plan, why_not, options).send()
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
        unsent=context.unsent,
        notes=(*notes, *remarks),
        choices=options.choices,
        elapsed_ms=ticks_ms() - began,
        complain=partial(complaint, caller=options.caller),
    )


def _wait_until_ready(target: Target, permit: Permit, limits: Limits, options: Options) -> None:
    """Request each base address until it answers HTTP, or until `wait_ms` of the options are over.

    These requests read a list, and belong to no run: neither its budget nor its journal has them.
    Raises `Refusing` where not even that may be sent.
    """
    wait_ms = options.wait_ms
    polls = int(wait_ms * _POLLS_A_SECOND) // 1000 + len(target.bases) + 1
    rate, within = min(_POLLS_A_SECOND, limits.rate), min(_POLL_MS, limits.request_ms)
    waiting = replace(limits, rate=rate, budget=polls, time_ms=wait_ms, request_ms=within)
    contract = contracts.load()
    # The generations mostly have one address; the later one reads without a signature.
    bases = {base: generation for generation, base in target.bases.items()}
    with Transport(target, permit, waiting, tls=options.tls) as transport:
        for generation in bases.values():
            request = Request("GET", contract.operation(OPENERS[generation]).path)
            try:
                while transport.send(generation, request).status in (0, *_STARTING):
                    pass
            except Spent:
                return
