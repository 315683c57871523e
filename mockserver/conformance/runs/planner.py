"""The plan of a run: which rules are judged, the fewest requests for them, and what may leave.

After it, a run sends requests at the edges of inputs, and repeats those answered late.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain, islice, zip_longest

from mockserver import contract as contracts
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.checks.submission_timelines import LOOKS_AT_ALL, ORDER, TICKET, V1_ORDER
from mockserver.conformance.generation.stages import stage_rules
from mockserver.conformance.options import (
    DEFAULT_EXAMPLES,
    MOST_DELIVERY_ARMED,
    MOST_USUAL_CELLS,
    USUAL_CELLS,
    Options,
)
from mockserver.conformance.requests.all_probes import probes_of
from mockserver.conformance.requests.edge_cases import (
    EdgeCase,
    beyond_bounds,
    each_cell,
    edge_cases_of,
    further_values,
)
from mockserver.conformance.requests.edge_follow_ups import called_for
from mockserver.conformance.requests.late_answer_retries import FEWEST_ROUNDS, ROUNDS, suspects
from mockserver.conformance.requests.probe import Need, Probe, ProbeIndex, Stage
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.permit import Limits, Permit
from mockserver.conformance.session.probe_names import Edge, EdgeKind, ProbeName
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.session import Session
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.conformance.verdict import Severity, if_known
from mockserver.contract import Contract, Operation
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request
from mockserver.signing.developer_signatures import IN_LOWER_CASE
from mockserver.suggestions import did_you_mean

# A critical rule is worth three times the requests of a major one.
_WORTH: Mapping[Severity, int] = {Severity.CRITICAL: 9, Severity.MAJOR: 3, Severity.MINOR: 1}


@dataclass(frozen=True, slots=True)
class Plan:
    """Rules to judge and probes to send, in their order; `left_out` are probes with the reason."""

    rules: tuple[Rule, ...]
    probes: tuple[Probe, ...]
    left_out: Mapping[str, str]
    forbidden: frozenset[str] = frozenset()
    """Names in `left_out` of probes that the run is not allowed to send."""


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

    Answers are shared: a rule costs only the requests that no other rule needs. Where the budget
    does not suffice, the rules that are worth most for each request come first. `stages` are the
    rules of generated requests, which send their own once the lists are there. Raises
    `UnsafeOrWrong` for a name that is no rule, layer or operation.
    """
    _check_names(permit.contract, (*rules, *stages), options)
    chosen = [rule for rule in rules if options.chooses(rule)]
    needs_lists = bool(chosen) or any(
        options.chooses(stage, operation) for stage in stages for operation in stage.operations
    )
    menu = _Menu(probes, permit)
    lists = [probe.name for probe in probes if probe.stage in (Stage.LISTS, Stage.LAST_LOOK)]
    wanted = dict.fromkeys(menu.affordable(lists if needs_lists else [], {}, budget))
    waiting = [rule for rule in chosen if rule.probes]
    everything = menu.closure([name for rule in waiting for name in rule.probes], wanted)
    # Mostly there is room for all: then nothing has to be weighed.
    if menu.cost(wanted) + menu.cost(everything) <= budget:
        wanted.update(dict.fromkeys(everything))
        waiting = []
    while waiting:
        # Plus one: a rule whose requests are all shared costs nothing, and must not divide by 0.
        costs = {rule: menu.cost(menu.closure(rule.probes, wanted)) + 1 for rule in waiting}
        # Greedy, since the best choice of all takes time that no run has; the costs fall as probes
        # are shared.
        best = max(waiting, key=lambda rule: _WORTH[rule.severity] / costs[rule])
        waiting.remove(best)
        room = budget - menu.cost(wanted)
        wanted.update(dict.fromkeys(menu.affordable(best.probes, wanted, room)))
    left = {
        name: menu.forbidden.get(name, f"the budget of {budget} requests has no room for it")
        for rule in chosen
        for name in menu.ordered_closure(rule.probes)
        if name not in wanted
    }
    forbidden = frozenset(left.keys() & menu.forbidden.keys())
    return Plan(tuple(chosen), menu.in_order(wanted), left, forbidden)


class _Menu:
    """The probes there are, what each of them builds on, and which may not leave, with why."""

    def __init__(self, probes: Sequence[Probe], permit: Permit) -> None:
        index = ProbeIndex(probes)
        self._by_name = index.by_name
        self.ordered_closure = index.closure
        places = {probe.name: number for number, probe in enumerate(probes)}
        self._place = lambda name: (self._by_name[name].stage, places[name])
        reasons = {
            operation.id: permit.refusal(Request(operation.method, operation.path))
            for operation in permit.contract
        }
        refusals = ((probe.name, reasons[probe.operation_id]) for probe in probes)
        self.forbidden = {name: reason for name, reason in refusals if reason}
        for name in self.ordered_closure(self._by_name):
            before = (earlier for earlier in self._by_name[name].after if earlier in self.forbidden)
            reason = next((self.forbidden[earlier] for earlier in before), None)
            if reason is not None:
                # What builds on a forbidden probe cannot be made, for the same reason.
                self.forbidden.setdefault(name, reason)

    def closure(self, names: Iterable[Need], have: Mapping[str, None]) -> list[str]:
        """Return what may be sent of some probes and is not there yet."""
        ordered = self.ordered_closure(names)
        return [name for name in ordered if name not in have and name not in self.forbidden]

    def affordable(self, names: Iterable[Need], have: Mapping[str, None], room: int) -> list[str]:
        """Return as many as there is room for, each with what it builds on."""
        taken: list[str] = []
        for name in self.closure(names, have):
            if self.cost([name]) > room:
                # And no cheaper one behind it, which would lack what it builds on.
                break
            room -= self.cost([name])
            taken.append(name)
        return taken

    def cost(self, names: Iterable[str]) -> int:
        """Return how many requests some probes are, without conditional ones."""
        return sum(not self._by_name[name].conditional for name in names)

    def in_order(self, names: Iterable[str]) -> tuple[Probe, ...]:
        """Return probes by stage and as they are declared, each after those it builds on."""
        ordered = self.ordered_closure(sorted(names, key=self._place))
        wanted = frozenset(names)
        return tuple(self._by_name[name] for name in ordered if name in wanted)


def _check_names(contract: Contract, rules: Sequence[Rule], options: Options) -> None:
    operations = [operation.id for operation in contract]
    known = {*operations, *(name for rule in rules for name in (rule.name, rule.layer.value))}
    for pattern in (*options.only, *options.skip):
        if not any(fnmatchcase(name, pattern) for name in known):
            near = did_you_mean(pattern, sorted(known))
            raise UnsafeOrWrong(f"{pattern!r} is no rule, layer or operation{near}")
    for request in options.probes:
        if request.operation_id not in operations:
            name, near = request.operation_id, did_you_mean(request.operation_id, operations)
            dialect = contract.dialect.name
            raise UnsafeOrWrong(f"probes: the dialect {dialect!r} has no operation {name!r}{near}")


@dataclass(frozen=True, slots=True)
class Prepared:
    """The contract a run goes by, what may leave in it, how far it goes, and its plan."""

    contract: Contract
    permit: Permit
    limits: Limits
    plan: Plan


def context_of(contract: Contract, options: Options) -> RunContext:
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
    permit = permit_of(contract, target, options)
    limits = options.limits(target, len(tuple(contract)))
    available = probes_of(contract) if probes is None else tuple(probes)
    stages = stage_rules(contract)
    made = plan(permit, tuple(rules), available, options, limits.budget, stages=stages)
    return Prepared(contract, permit, limits, made)


# How many requests other ways of delivery take of a service of usual size where nothing differs,
# with quotes that are asked for again in turn.
_IN_OTHER_WAYS = 215
# How many more looks at what edges have submitted take.
_LOOKS_AT_EDGES = 140
# How many requests answers at edges call for where nothing is amiss.
_CALLED_FOR = 4
# How many submissions they and the sequences of a usual run take.
_SUBMITTED_IN_OTHER_WAYS = 31
# The rule for which requests that were answered late are sent again.
_OF_ITS_KIND = "answers-as-soon-as-its-kind"

Requests = Iterator[tuple[str, Draft]]
"""Requests by the names of their probes, to be sent one after the other."""


def at_edges(session: Session, options: Options, kept: int, within: Collection[str]) -> Requests:
    """Yield the requests at the edges of inputs of the operations in `within`.

    The budget keeps room for `kept` requests of the last look at the lists, and for what comes
    after the plan: at most half of what is left, since edges show more than as many requests by
    chance. What has no room is left out with the reason.
    """
    if not options.edges:
        return
    context, transport = session.context, session.transport
    bases = transport.generations
    served = [operation for operation in context.contract if operation.generation.id in bases]
    # Orders at edges are followed to their end, which shows more than as many generated ones do.
    examples = min(options.examples, DEFAULT_EXAMPLES)
    submitted = examples * sum(operation.writes for operation in served)
    submitted += _SUBMITTED_IN_OTHER_WAYS if options.delivery else 0
    left, sequences = max(0, transport.left - kept), options.for_sequences
    # What is asked for beside the usual was added to the budget, and is kept of it.
    kept += min(_after_the_plan(session, options), max(0, left - sequences) // 2)
    kept += min(sequences, left // 2)
    kept_writes = min(submitted, transport.writes_left // 2)
    columns, cells = list[Sequence[EdgeCase]](), list[Iterator[EdgeCase]]()
    most_values, values = options.most_further_values, list[Sequence[EdgeCase]]()
    for operation in served:
        if operation.id in within and operation.writes and not options.arming.writes:
            for case in edge_cases_of(context, operation):
                context.leave_out(case.probe, "needs --arm-writes")
        elif operation.id in within:
            columns.append(edge_cases_of(context, operation))
            most = options.most_cells + (0 if operation.writes else MOST_USUAL_CELLS)
            cells.append(_cells(context, operation, most))
            values.append(further_values(context, operation) if most_values else ())
    in_turn = _in_turn(columns)
    asked = {_asked(exchange.request) for exchange in context.exchanges}

    def unasked(cases: Iterable[EdgeCase]) -> Iterator[EdgeCase]:
        return (
            case for case in cases if case.edge.kind not in _ONCE or _is_new(case, context, asked)
        )

    # Behind the others, which show what no request was beyond.
    chosen = (operation for operation in served if operation.id in within)
    bounds = zip_longest(*(beyond_bounds(context, operation) for operation in chosen))
    first_cells = _in_turn(islice(column, USUAL_CELLS) for column in cells)
    beyond = filter(None, chain.from_iterable(bounds))
    sent = 0
    further = islice(unasked(_in_turn(values)), most_values)
    for case in chain(unasked(in_turn), first_cells, beyond, further, _in_turn(cells)):
        writes = context.contract.operation(case.operation_id).writes
        if sent >= options.most_edges:
            reason = f"{options.most_edges} requests with edge cases of inputs were sent before it"
        elif session.left <= kept:
            reason = "what is left of the budget is kept for what comes after"
        elif writes and transport.writes_left <= kept_writes:
            reason = "what is left of the submissions is kept for generated ones"
        else:
            sent += 1
            yield case.probe, case.draft
            continue
        context.leave_out(case.probe, reason)


def _in_turn(columns: Iterable[Iterable[EdgeCase]]) -> Iterator[EdgeCase]:
    """Yield cases of the operations in turn, so that a small budget reaches all of them."""
    return filter(None, chain.from_iterable(zip_longest(*columns)))


def _after_the_plan(session: Session, options: Options) -> int:
    """Return how many requests the stages after the plan need where nothing is amiss, but for
    sequences.
    """
    generated = sum(
        operation.generation.id in session.transport.generations
        and (options.arming.writes or not operation.writes)
        for operation in session.context.contract
    )
    kept = options.examples * generated + _CALLED_FOR
    if options.delivery:
        kept += MOST_DELIVERY_ARMED if options.arming.writes else _IN_OTHER_WAYS
    return kept + _LOOKS_AT_EDGES * options.arming.writes


# What is asked once shows no more when it is asked for another reason.
_ONCE = (EdgeKind.INPUT, EdgeKind.WRONG)


def _asked(request: Request) -> Hashable:
    """Return what tells a request from others, but for its stamp and signature."""
    sent = [(name.lower(), value) for name, value in request.headers.items_sent]
    # Of those that are made anew for each request, the names alone.
    headers = frozenset((name, "" if name in IN_LOWER_CASE else value) for name, value in sent)
    return request.method, request.path, request.query, request.body, headers


def _is_new(case: EdgeCase, context: RunContext, asked: set[Hashable]) -> bool:
    """Tell whether a request was not asked yet; it counts as asked from then on."""
    operation = context.contract.operation(case.operation_id)
    wanted = _asked(case.draft.request(operation))
    is_new = wanted not in asked
    asked.add(wanted)
    return is_new


def _cells(context: RunContext, operation: Operation, most: int) -> Iterator[EdgeCase]:
    """Yield up to `most` requests for each token on each chain; tell what more there are.

    What the edges were about is known only when the first is asked for.
    """
    if not most:
        return
    cells, count = each_cell(context, operation)
    if count > most:
        further = ProbeName.at(operation.id, Edge(f"each of {count - most} further tokens"))
        context.leave_out(further, f"{most} were sent; more --examples reach further ones")
    yield from islice(cells, most)


def once_more(session: Session, options: Options, kept: int, within: Collection[str]) -> Requests:
    """Yield what the answers to the edges call for; `kept` as for edges."""
    for case in called_for(session.context, within) if options.edges else ():
        if session.left > kept:
            yield case.probe, case.draft


def followed(session: Session, kept: int, turn: int) -> Requests:
    """Yield the look-ups of what was accepted at edges: all of it twice, then what goes on."""
    context = session.context
    for kind in (ORDER, V1_ORDER, TICKET):
        for made in kind.made_at_edges(context):
            # Whether a ticket is solved is up to people, so that nobody waits for it.
            if turn >= LOOKS_AT_ALL and (kind is TICKET or not kind.goes_on(context, made)):
                continue
            draft = if_known(kind.look, context, made)
            if draft is not None and session.left > kept:
                yield kind.names_of_looks(made.probe)[turn], draft


def is_followed_on(context: RunContext) -> bool:
    """Tell whether something that was accepted at edges has not come to its end yet."""
    return any(
        kind.goes_on(context, made)
        for kind in (ORDER, V1_ORDER)
        for made in kind.made_at_edges(context)
    )


def what_was_late(session: Session, rules: Iterable[Rule], kept: int) -> Requests:
    """Yield requests to repeat that were answered far later than others; `kept` as for edges."""
    if not any(rule.name == _OF_ITS_KIND for rule in rules):
        return
    for suspect in list(suspects(session.context)):
        rounds = min((session.transport.left - kept) // 2, ROUNDS)
        if rounds < FEWEST_ROUNDS:
            return
        yield from suspect.probes(rounds)
