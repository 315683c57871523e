"""A run without a service: recorded exchanges judged by every rule that can judge them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from mockserver import contract as contracts
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.judge import judged, outcome_of
from mockserver.conformance.checks.rule import Finding, Outcome
from mockserver.conformance.discovery.service_clock import seconds_of, stamp_of, with_stamp
from mockserver.conformance.options import Options
from mockserver.conformance.report.failure_text import complaint
from mockserver.conformance.requests.all_probes import index_of
from mockserver.conformance.requests.probe import PLAIN, Probe
from mockserver.conformance.requests.variations import MistakeKind
from mockserver.conformance.result import Result
from mockserver.conformance.runs.planner import context_of
from mockserver.conformance.runs.run_journal import RunEntry
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Answer, Exchange
from mockserver.conformance.session.probe_names import VALID, plain_probe
from mockserver.conformance.session.session import ON_PURPOSE_MS
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.conformance.verdict import Inconclusive, NotRun, Verdict
from mockserver.contract import Contract, Operation
from mockserver.fast_dataclass import dataclass, grouped
from mockserver.http_messages import Headers, Request
from mockserver.recordings import (
    MatchRules,
    RecordedExchange,
    RequestReading,
    Source,
    load_rules,
    read_request,
)

_LABEL = "label of the recording"
_MASKED = "places of the answer that are masked"
_IN_LISTS = re.compile(r"\[\]|\.\*")
NOT_RECORDED = "no such request is recorded"
ONLY_MASKED = "what it is about is masked in the recording"
_ANSWER = "response.body."


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
        context.add(_exchange(context, recorded.probe, recorded))
    generations = {recorded.operation.generation.id for recorded in recordings.every}
    target = _target(sources, generations)
    chosen = [rule for rule in RULES if options.chooses(rule)]
    outcomes = (
        outcome_of(outcome.rule, plain, outcome.operation) if _needs_plain(outcome) else outcome
        for outcome in judged(chosen, context, target.bases)
    )
    return Result(
        contract=contract,
        target=target,
        seed=options.seed,
        outcomes=tuple(map(_without_masked, outcomes)),
        exchanges=context.exchanges,
        sent={operation.id: 0 for operation in contract},
        unsent=context.unsent,
        notes=(f"recorded exchanges judged: {len(recordings.every)}; nothing was sent",),
        complain=partial(complaint, caller=options.caller),
    )


def recorded_entries(
    sources: Iterable[Source], contract: Contract, caller: Caller
) -> tuple[RunEntry, ...]:
    """Return recorded exchanges as those of a journal, with what a recorder took out filled in.

    Exchanges of operations that the contract does not have are left out.
    """
    return tuple(
        RunEntry(recorded.probe, recorded.request, recorded.answer, recorded.operation.writes)
        for recorded in _Recordings(tuple(sources), contract, caller).every
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
    masked: tuple[str, ...] = ()

    @property
    def probe(self) -> str:
        return f"{self.operation.id}/recorded in {self.label}"

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
        every = [(source, each) for source in sources for each in source.recording.exchanges]
        kept = (pair for pair in every if not (pair[1].request_omitted or pair[1].response_omitted))
        pairs = [pair for pair in kept if pair[1].operation in known]
        if all(exchange.time_ms is not None for _, exchange in pairs):
            pairs.sort(key=lambda pair: pair[1].time_ms or 0)
        self.every = tuple(
            _recorded(f"{source.label}#{each.name}", each, known[each.operation], caller)
            for source, each in pairs
        )
        self._read: dict[tuple[_Recorded, bool], RequestReading] = {}
        self.waiting = grouped(self.every, lambda recorded: recorded.operation.id)

    def take(self, operation: Operation, request: Request, *, plain: bool) -> _Recorded | None:
        """Return the first exchange of the same request, as far as it was kept, and take it.

        Times and signatures may differ in a `plain` request; in another they may be what it is
        about, and a request with a wrong one is not the request with a right one.
        """
        rules = self._rules if plain else MatchRules()
        waiting = self.waiting.get(operation.id, [])
        wanted: dict[frozenset[str], RequestReading] = {}
        same, kept = [], []
        for recorded in waiting:
            if (recorded.sent.method, recorded.sent.path) != (request.method, request.path):
                continue
            if (recorded, plain) not in self._read:
                self._read[recorded, plain] = recorded.read(recorded.sent, rules)
            if recorded.removed not in wanted:
                wanted[recorded.removed] = recorded.read(request, rules)
            ours, theirs = wanted[recorded.removed], self._read[recorded, plain]
            if ours.form == theirs.form:
                same.append(recorded)
                # Members that a recorder has removed were there.
                if theirs.absent - recorded.removed == ours.absent:
                    kept.append(recorded)
        same = kept or (same if plain else [])
        chosen = next(iter(same), None)
        if chosen is not None and chosen.may_be_stale:
            # A run repeats a request with the present time where the fixed one is refused.
            fresh = (recorded for recorded in same if not recorded.may_be_stale)
            chosen = next((each for each in fresh if each.succeeded or not plain), chosen)
        if chosen is not None:
            waiting.remove(chosen)
        return chosen

    def success(self, operation: Operation) -> _Recorded | None:
        """Return the first success of an operation that no probe has taken."""
        waiting = self.waiting.get(operation.id, ())
        return next((recorded for recorded in waiting if recorded.succeeded), None)

    def rest(self) -> Iterator[_Recorded]:
        """Yield what no probe has taken, in order."""
        left = {recorded for waiting in self.waiting.values() for recorded in waiting}
        return (recorded for recorded in self.every if recorded in left)


def _look_up(context: RunContext, recordings: _Recordings, probe: Probe) -> None:
    operation = context.contract.operation(probe.operation_id)
    recorded, reason = None, NOT_RECORDED
    if probe.kind == MistakeKind.SIGNATURE:
        # Any recorded request could be this one, since what was wrong in it is masked.
        context.leave_out(probe.name, "keys and signatures are not recorded")
        return
    try:
        request = probe.build(context).request(operation)
        recorded = recordings.take(operation, request, plain=probe.words == VALID)
    except (NotRun, Inconclusive) as error:
        reason = str(error)
    if recorded is None:
        context.leave_out(probe.name, reason)
    else:
        context.add(_exchange(context, probe.name, recorded))


def _with_plain(context: RunContext, recordings: _Recordings) -> RunContext:
    """Return the same run with a success as the plain request of each operation that lacks one."""
    plain = context.emptied()
    for exchange in context.exchanges:
        plain.add(exchange)
    for operation in context.contract:
        probe = plain_probe(operation)
        if plain.get(probe) is None and (recorded := recordings.success(operation)):
            plain.add(_exchange(plain, probe, recorded))
    return plain


def _needs_plain(outcome: Outcome) -> bool:
    """Whether a rule was not judged only because a plain request is missing."""
    # A rule that compares several answers needs those that belong together.
    plain = (PLAIN, plain_probe(outcome.operation))
    return outcome.verdict is Verdict.NOT_RUN and all(need in plain for need in outcome.rule.probes)


def _exchange(context: RunContext, probe: str, recorded: _Recorded) -> Exchange:
    number = len(context.exchanges) + 1
    made = Exchange(number, probe, recorded.operation, recorded.request, recorded.answer)
    made.cached(_LABEL, lambda: recorded.label)
    made.cached(_MASKED, lambda: recorded.masked)
    return made


def _without_masked(outcome: Outcome) -> Outcome:
    """Return an outcome without findings on what a recorder has put in the place of a secret."""
    findings = tuple(finding for finding in outcome.findings if not _is_masked(finding))
    if len(findings) == len(outcome.findings):
        return outcome
    if not findings:
        return Outcome(outcome.rule, outcome.operation, Verdict.NOT_RUN, reason=ONLY_MASKED)
    return Outcome.of(outcome.rule, outcome.operation, findings)


def _is_masked(finding: Finding) -> bool:
    place = f"{_IN_LISTS.sub('', finding.place)}."
    shown = [exchange.cached(_MASKED, tuple[str, ...]) for exchange in finding.exchanges]
    return bool(shown) and all(any(map(place.startswith, places)) for places in shown)


def label_of(exchange: Exchange) -> str:
    return exchange.cached(_LABEL, lambda: exchange.probe)


def _recorded(
    label: str, exchange: RecordedExchange, operation: Operation, caller: Caller
) -> _Recorded:
    """Return a recorded exchange; what a recorder took out of its request is filled in again."""
    request, response, removed = exchange.request, exchange.response, exchange.hidden("request")
    headers = response.headers
    if response.header("Content-Type") is None and response.body:
        # A recording leaves the media type of JSON out.
        headers = (*headers, ("Content-Type", "application/json"))
    answer = Answer(response.status, headers, response.body, exchange.duration_ms or 0)
    values = {
        "signature": caller.wallet_signature,
        "evmaddress": caller.address,
        "address": caller.address,
        "appkey": caller.app_key,
    }
    missing = [
        (name, values.get(name.lower(), "taken out"))
        for name in operation.header_names
        if name.lower() in removed and name not in request.headers
    ]
    filled = replace(request, headers=Headers((*request.headers.items_sent, *missing)))
    present = _is_stamped_at(exchange)
    sent = with_stamp(request, caller.timestamp_ms) if present else request
    stale = "timestamp" in request.headers and not present
    places = (place for place, _ in exchange.masked if place.startswith(_ANSWER))
    masked = tuple(f"{place.removeprefix(_ANSWER)}." for place in places)
    return _Recorded(label, operation, filled, answer, sent, removed, stale, masked)


def _is_stamped_at(exchange: RecordedExchange) -> bool:
    """Tell whether a v1 request has the time at which it was recorded, or about that."""
    stamp, at_ms = stamp_of(exchange.request), exchange.time_ms
    seconds = seconds_of(exchange.response.header("Date") or "")
    if at_ms is None and seconds is not None:
        at_ms = seconds * 1000
    return at_ms is not None and stamp is not None and abs(stamp - at_ms) < ON_PURPOSE_MS


def _target(sources: Sequence[Source], generations: Iterable[str]) -> Target:
    """Return where the recordings come from, as reports show it."""
    every = (source.recording.source for source in sources)
    named = (source.rstrip("/") for source in every if source.startswith("http"))
    base = next(named, "http://recorded.invalid")
    return Target(*(base if name in set(generations) else None for name in ("v1", "v2")))
