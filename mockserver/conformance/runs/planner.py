"""The plan of a run: which rules are judged, the fewest requests for them, and what may leave."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from mockserver import contract as contracts
from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.generation.rules import stage_rules
from mockserver.conformance.options import Options
from mockserver.conformance.requests.catalog import probes_of
from mockserver.conformance.requests.probe import Need, Probe, ProbeIndex, Stage
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.pace import Limits
from mockserver.conformance.session.permit import Permit
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.conformance.verdict import Severity
from mockserver.contract import Contract
from mockserver.exchange import Request
from mockserver.validation import did_you_mean
from mockserver.values import dataclass

_WORTH: Mapping[Severity, int] = {Severity.CRITICAL: 9, Severity.MAJOR: 3, Severity.MINOR: 1}


@dataclass(frozen=True, slots=True)
class Plan:
    """Rules to judge and probes to send, in their order; `left_out` are probes with the reason."""

    rules: tuple[Rule, ...]
    probes: tuple[Probe, ...]
    left_out: Mapping[str, str]
    forbidden: frozenset[str] = frozenset()
    """Those of `left_out` that the run has no leave to send."""


def plan(
    permit: Permit,
    rules: Sequence[Rule],
    probes: Sequence[Probe],
    options: Options,
    budget: int,
    *,
    stages: Sequence[Rule] = (),
) -> Plan:
    """Return what to send within a budget of requests.

    Answers are shared: a rule costs only what others have not asked for already. Where the budget
    does not suffice, the rules that are worth most for each request come first. `stages` are the
    rules of generated requests: they ask for themselves, once the lists are there. Raises
    `UnsafeOrWrong` for a name that is no rule, layer or operation.
    """
    _check_names(permit.contract, (*rules, *stages), options)
    chosen = [rule for rule in rules if options.chooses(rule)]
    needs_lists = bool(chosen) or any(
        options.chooses(stage, one) for stage in stages for one in stage.operations
    )
    menu = _Menu(probes, _forbidden(permit, probes))
    lists = [probe.name for probe in probes if probe.stage in (Stage.LISTS, Stage.LAST_LOOK)]
    wanted = dict.fromkeys(menu.affordable(lists if needs_lists else [], {}, budget))
    waiting = [rule for rule in chosen if rule.probes]
    everything = menu.closure([name for rule in waiting for name in rule.probes], wanted)
    if menu.cost(wanted) + menu.cost(everything) <= budget:
        wanted.update(dict.fromkeys(everything))
        waiting = []
    while waiting:
        best = max(waiting, key=lambda rule: _worth(rule, menu, wanted))
        waiting.remove(best)
        room = budget - menu.cost(wanted)
        wanted.update(dict.fromkeys(menu.affordable(best.probes, wanted, room)))
    left = {
        name: menu.forbidden.get(name, f"the budget of {budget} requests has no room for it")
        for rule in chosen
        for name in menu.whole_closure(rule.probes)
        if name not in wanted
    }
    return Plan(
        tuple(chosen), menu.in_order(wanted), left, frozenset(left) & frozenset(menu.forbidden)
    )


def _worth(rule: Rule, menu: "_Menu", have: Mapping[str, None]) -> float:
    # What is shared already costs nothing, and then any rule is worth more than nothing.
    return _WORTH[rule.severity] / (menu.cost(menu.closure(rule.probes, have)) + 1)


def _forbidden(permit: Permit, probes: Sequence[Probe]) -> dict[str, str]:
    """Return the probes that may not leave in this run, with the reason."""
    reasons = {
        operation.id: permit.refusal(Request(operation.method, operation.path))
        for operation in permit.contract
    }
    return {
        probe.name: reasons[probe.operation_id] for probe in probes if reasons[probe.operation_id]
    }


class _Menu:
    """The probes there are, and what each of them builds on."""

    def __init__(self, probes: Sequence[Probe], forbidden: Mapping[str, str]) -> None:
        self._index = ProbeIndex(probes)
        self._by_name = self._index.by_name
        places = {probe.name: number for number, probe in enumerate(probes)}
        self._place = lambda name: (self._by_name[name].stage, places[name])
        self.forbidden = dict(forbidden)
        for name in self.whole_closure(self._by_name):
            before = (one for one in self._by_name[name].after if one in self.forbidden)
            reason = next((self.forbidden[one] for one in before), None)
            if reason is not None:
                self.forbidden.setdefault(name, reason)

    def whole_closure(self, needs: Iterable[Need]) -> list[str]:
        """Return some probes with all they build on, in an order in which they can be sent."""
        return self._index.closure(needs)

    def closure(self, names: Iterable[Need], have: Mapping[str, None]) -> list[str]:
        """Return what may be sent of some probes and is not there yet."""
        whole = self.whole_closure(names)
        return [name for name in whole if name not in have and name not in self.forbidden]

    def affordable(self, names: Iterable[Need], have: Mapping[str, None], room: int) -> list[str]:
        """Return as many as there is room for; none of them lacks what it builds on."""
        taken: list[str] = []
        for name in self.closure(names, have):
            if self.cost([name]) > room:
                break
            room -= self.cost([name])
            taken.append(name)
        return taken

    def cost(self, names: Iterable[str]) -> int:
        """Return how many requests some probes are, without those that are sent in need only."""
        return sum(not self._by_name[name].conditional for name in names)

    def in_order(self, names: Iterable[str]) -> tuple[Probe, ...]:
        """Return probes by stage and as they are declared, each after those it builds on."""
        ordered = self.whole_closure(sorted(names, key=self._place))
        wanted = frozenset(names)
        return tuple(self._by_name[name] for name in ordered if name in wanted)


def _check_names(contract: Contract, rules: Sequence[Rule], options: Options) -> None:
    known = {name for rule in rules for name in (rule.name, rule.layer.value)}
    known |= {operation.id for operation in contract}
    for pattern in (*options.only, *options.skip):
        if not any(fnmatchcase(name, pattern) for name in known):
            near = did_you_mean(pattern, sorted(known))
            raise UnsafeOrWrong(f"{pattern!r} is no rule, layer or operation{near}")


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
