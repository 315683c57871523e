"""A run without a service: recorded exchanges judged by every rule that can judge them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from mockserver import contract as contracts
from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.checks.judge import judged, outcome_of
from mockserver.conformance.checks.rule import Outcome
from mockserver.conformance.discovery.clocks import seconds_of, stamp_of, with_stamp
from mockserver.conformance.options import Options
from mockserver.conformance.report.failure_text import complaint
from mockserver.conformance.requests.catalog import index_of
from mockserver.conformance.requests.negative import Kind
from mockserver.conformance.requests.probe import PLAIN, Probe
from mockserver.conformance.result import Result
from mockserver.conformance.runs.planner import context_of
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Answer, Exchange
from mockserver.conformance.session.names import VALID, usual
from mockserver.conformance.session.session import ON_PURPOSE_MS
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.conformance.verdict import Inconclusive, NotRun, Verdict
from mockserver.contract import Contract, Operation
from mockserver.exchange import Headers, Request
from mockserver.recordings import (
    MatchRules,
    RecordedExchange,
    RequestReading,
    Source,
    load_rules,
    read_request,
)
from mockserver.values import dataclass

_LABEL = "label of the recording"
NOT_RECORDED = "no such request is recorded"


def run_recorded(sources: Iterable[Source], options: Options | None = None) -> Result:
    """Return what the rules say of recorded exchanges; nothing is sent.

    An exchange is that of a probe where the probe would have sent the same. For rules that judge
    one plain request of an operation, any recorded success is that request. Raises `UnsafeOrWrong`
    where nothing recorded belongs to an operation of the contract.
    """
    options, sources = options or Options(), tuple(sources)
    contract = contracts.load(options.dialect)
    context = context_of(contract, options)
    recordings = _Recordings(sources, contract, options.caller)
    if not recordings.waiting:
        raise UnsafeOrWrong("nothing is recorded of any operation of this dialect")
    index = index_of(contract)
    by_stage = sorted(index.by_name.values(), key=lambda probe: probe.stage)
    for name in index.closure([probe.name for probe in by_stage]):
        _look_up(context, recordings, index.by_name[name])
    plain = _with_plain(context, recordings)
    for recorded in recordings.rest():
        name = f"{recorded.operation.id}/recorded in {recorded.label}"
        context.add(_exchange(context, name, recorded))
    generations = {recorded.operation.generation.id for recorded in recordings.every}
    target = _target(sources, generations)
    chosen = [rule for rule in RULES if options.chooses(rule)]
    return Result(
        contract=contract,
        target=target,
        seed=options.seed,
        outcomes=tuple(
            outcome_of(one.rule, plain, one.operation) if _needs_plain(one) else one
            for one in judged(chosen, context, target.bases)
        ),
        exchanges=context.exchanges,
        sent={operation.id: 0 for operation in contract},
        unsent=dict(context.unsent),
        notes=(f"recorded exchanges judged: {len(recordings.every)}; nothing was sent",),
        complain=partial(complaint, caller=options.caller),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Recorded:
    """A recorded exchange that waits for the probe that would have sent it."""

    label: str
    operation: Operation
    request: Request
    answer: Answer
    sent: Request
    removed: frozenset[str]
    may_be_stale: bool

    @property
    def succeeded(self) -> bool:
        return Exchange(0, "", self.operation, self.request, self.answer).succeeded

    def read(self, request: Request, rules: MatchRules) -> RequestReading:
        """Return a request, this or another, as it is compared with recorded ones."""
        names, rule = self.operation.header_names, rules.of(self.operation.id)
        return read_request(self.operation.id, names, request, rule, None, self.removed)


class _Recordings:
    """Recorded exchanges by operation; each is taken once."""

    def __init__(self, sources: Sequence[Source], contract: Contract, caller: Caller) -> None:
        self._rules = load_rules()
        known = {operation.id: operation for operation in contract}
        pairs = [
            (source, one, known[one.operation])
            for source in sources
            for one in source.recording.exchanges
            if one.operation in known and not (one.request_omitted or one.response_omitted)
        ]
        if all(one.time_ms is not None for _, one, _ in pairs):
            pairs.sort(key=lambda pair: pair[1].time_ms or 0)
        self.every = tuple(
            _recorded(f"{source.label}#{one.name}", one, operation, caller)
            for source, one, operation in pairs
        )
        self._read: dict[tuple[_Recorded, bool], RequestReading] = {}
        self.waiting: dict[str, list[_Recorded]] = {}
        for recorded in self.every:
            self.waiting.setdefault(recorded.operation.id, []).append(recorded)

    def take(self, operation: Operation, request: Request, *, plain: bool) -> _Recorded | None:
        """Return the first exchange of the same request, as far as it was kept, and take it.

        Times and signatures may differ in a `plain` request; in another they may be what it is
        about, and a request with a wrong one is not the request with a right one.
        """
        rules = self._rules if plain else MatchRules()
        waiting = self.waiting.get(operation.id, [])
        wanted: dict[frozenset[str], RequestReading] = {}
        same, whole = [], []
        for one in waiting:
            if (one.sent.method, one.sent.path) != (request.method, request.path):
                continue
            if (one, plain) not in self._read:
                self._read[one, plain] = one.read(one.sent, rules)
            if one.removed not in wanted:
                wanted[one.removed] = one.read(request, rules)
            ours, theirs = wanted[one.removed], self._read[one, plain]
            if ours.form == theirs.form:
                same.append(one)
                # Members that a recorder has removed were there.
                if theirs.absent - one.removed == ours.absent:
                    whole.append(one)
        same = whole or (same if plain else [])
        found = next(iter(same), None)
        if found is not None and found.may_be_stale:
            # A run repeats a request with the present time where the fixed one is refused.
            later = (one for one in same if not one.may_be_stale and (one.succeeded or not plain))
            found = next(later, found)
        if found is not None:
            waiting.remove(found)
        return found

    def success(self, operation: Operation) -> _Recorded | None:
        """Return the first success of an operation that no probe has taken."""
        return next((one for one in self.waiting.get(operation.id, ()) if one.succeeded), None)

    def rest(self) -> Iterator[_Recorded]:
        """Yield what no probe has taken, in order."""
        left = {id(one) for ones in self.waiting.values() for one in ones}
        return (one for one in self.every if id(one) in left)


def _look_up(context: RunContext, recordings: _Recordings, probe: Probe) -> None:
    operation = context.contract.operation(probe.operation_id)
    found, reason = None, NOT_RECORDED
    if probe.kind == Kind.SIGNATURE:
        # Any recorded request could be this one, since what was wrong in it is masked.
        context.leave_out(probe.name, "keys and signatures are not recorded")
        return
    try:
        request = probe.build(context).request(operation)
        found = recordings.take(operation, request, plain=probe.words == VALID)
    except (NotRun, Inconclusive) as error:
        reason = str(error)
    if found is None:
        context.leave_out(probe.name, reason)
    else:
        context.add(_exchange(context, probe.name, found))


def _with_plain(context: RunContext, recordings: _Recordings) -> RunContext:
    """Return the same run with a success as the plain request of each operation that lacks one."""
    plain = context.emptied()
    for exchange in context.exchanges:
        plain.add(exchange)
    for operation in context.contract:
        probe = usual(operation)
        found = recordings.success(operation) if plain.get(probe) is None else None
        if found is not None:
            plain.add(_exchange(plain, probe, found))
    return plain


def _needs_plain(outcome: Outcome) -> bool:
    """Whether a rule was not judged only because a plain request is missing.

    A rule that compares several answers needs those that belong together.
    """
    needs = outcome.rule.probes
    named = {one for one in needs if isinstance(one, str)}
    return (
        outcome.verdict is Verdict.NOT_RUN
        and all(one is PLAIN or isinstance(one, str) for one in needs)
        and named <= {usual(outcome.operation)}
    )


def _exchange(context: RunContext, probe: str, recorded: _Recorded) -> Exchange:
    number = len(context.exchanges) + 1
    made = Exchange(number, probe, recorded.operation, recorded.request, recorded.answer)
    made.cached(_LABEL, lambda: recorded.label)
    return made


def label_of(exchange: Exchange) -> str:
    """Return the file and the name under which an exchange was recorded."""
    return exchange.cached(_LABEL, lambda: exchange.probe)


def _recorded(label: str, one: RecordedExchange, operation: Operation, caller: Caller) -> _Recorded:
    """Return a recorded exchange; what a recorder took out of its request is filled in again."""
    removed = frozenset(name.lower() for name in one.removed)
    response, headers = one.response, one.response.headers
    if response.header("Content-Type") is None and response.body:
        # A recording leaves the media type of JSON out.
        headers = (*headers, ("Content-Type", "application/json"))
    answer = Answer(response.status, headers, response.body, one.duration_ms or 0)
    values = {
        "signature": caller.wallet_signature,
        "evmaddress": caller.address,
        "address": caller.address,
        "appkey": caller.app_key,
    }
    missing = [
        (name, values.get(name.lower(), "taken out"))
        for name in operation.header_names
        if name.lower() in removed and name not in one.request.headers
    ]
    filled = replace(one.request, headers=Headers((*one.request.headers.items_sent, *missing)))
    present = _is_stamped_at(one)
    sent = with_stamp(one.request, caller.timestamp_ms) if present else one.request
    stale = "timestamp" in one.request.headers and not present
    return _Recorded(label, operation, filled, answer, sent, removed, stale)


def _is_stamped_at(one: RecordedExchange) -> bool:
    """Tell whether a v1 request has the time at which it was recorded, or about that."""
    stamp, date = stamp_of(one.request), one.response.header("Date")
    seconds = seconds_of(date) if date else None
    at_ms = one.time_ms if one.time_ms is not None or seconds is None else seconds * 1000
    return at_ms is not None and stamp is not None and abs(stamp - at_ms) < ON_PURPOSE_MS


def _target(sources: Sequence[Source], generations: Iterable[str]) -> Target:
    """Return where the recordings come from, as reports show it."""
    named = [one.recording.source for one in sources if one.recording.source.startswith("http")]
    base = named[0].rstrip("/") if named else "http://recorded.invalid"
    return Target(*(base if name in set(generations) else None for name in ("v1", "v2")))
