"""What is decided before a run sends anything."""

from collections.abc import Iterable

from mockserver import contract as contracts
from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.generation.rules import stage_rules
from mockserver.conformance.options import Options
from mockserver.conformance.requests.catalog import probes_of
from mockserver.conformance.requests.probe import Probe
from mockserver.conformance.runs.planner import Plan, plan
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.pace import Limits
from mockserver.conformance.session.permit import Permit
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.contract import Contract
from mockserver.validation import did_you_mean
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Prepared:
    """The contract a run goes by, what may leave in it, how far it goes, and its plan."""

    contract: Contract
    permit: Permit
    limits: Limits
    plan: Plan


def context_of(contract: Contract, options: Options) -> RunContext:
    """Return the run of some options before anything is seen."""
    return RunContext(
        contract,
        seed=options.seed,
        bindings=options.bindings,
        caller=options.caller,
        slow_ms=options.slow_ms,
    )


def permit_of(contract: Contract, target: Target, options: Options) -> Permit:
    """Return what may be sent under some options. Raises `UnsafeOrWrong` for what must not."""
    own_keys = options.caller.own_keys
    return Permit(contract, target, hosts=options.hosts, arming=options.arming, own_keys=own_keys)


def prepared(
    target: Target,
    options: Options,
    rules: Iterable[Rule] = RULES,
    probes: Iterable[Probe] | None = None,
) -> Prepared:
    """Return what a run would do; the probes are those of the contract where none are given.

    Raises `UnsafeOrWrong` for what must not be sent, and for names that nothing has.
    """
    contract = contracts.load(options.dialect)
    _check_kept(contract, options)
    permit = permit_of(contract, target, options)
    limits = options.limits(target, len(tuple(contract)))
    asked = probes_of(contract) if probes is None else tuple(probes)
    made = plan(permit, tuple(rules), asked, options, limits.budget, stages=stage_rules(contract))
    return Prepared(contract, permit, limits, made)


def _check_kept(contract: Contract, options: Options) -> None:
    known = [operation.id for operation in contract]
    for request in options.probes:
        if request.operation_id not in known:
            near = did_you_mean(request.operation_id, known)
            raise UnsafeOrWrong(
                f"probes: the dialect {contract.dialect.name!r} has no operation "
                f"{request.operation_id!r}{near}"
            )
