"""Two services, or what journals kept of them, sent the same requests and compared."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from mockserver import contract as contracts
from mockserver.clock import ticks_ms
from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.comparison.answer_differences import (
    OF_THE_WORLD,
    AnswerReading,
    Difference,
    compared,
    differences,
    missing_answer,
)
from mockserver.conformance.comparison.drift import changes, same_operations, unshown
from mockserver.conformance.comparison.mirrored_requests import (
    Mirror,
    Pair,
    ReplayedRequests,
    draft_from,
    paired,
    recorded_run,
)
from mockserver.conformance.comparison.result import LONGEST, Comparison, Occurrence, SideSummary
from mockserver.conformance.comparison.value_differences import Band, Place, Roles
from mockserver.conformance.options import Options
from mockserver.conformance.report.masking import masker_for, visible
from mockserver.conformance.runs.fresh_stamps import begin_with_the_time
from mockserver.conformance.runs.planner import context_of, permit_of
from mockserver.conformance.runs.run_journal import Run, is_journal, read_run, request_key
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.permit import Refusing, Spent
from mockserver.conformance.session.session import Session, Watch
from mockserver.conformance.session.target import Target, UnsafeOrWrong, target_of
from mockserver.conformance.session.transport import Transport
from mockserver.contract import Contract, Operation
from mockserver.contract.dialect import DIALECTS
from mockserver.fast_dataclass import dataclass, grouped
from mockserver.recordings import shipped_names
from mockserver.wording import listed, one_line

MOST_REPEATS = 30
"""How many requests are sent again, to tell differences from values that move."""
_MOST_ALIKE = 2
_NO_BAND = Band(Decimal(0))


@dataclass(frozen=True, slots=True)
class Terms:
    """What counts as a difference: outside a band, with `words` also in messages, not at `ignore`.

    `ignore` are places such as `data.list[].scanUrl` or operations, with `*` as wildcard.
    """

    band: Band = field(default_factory=Band)
    words: bool = False
    ignore: tuple[str, ...] = ()
    forms: bool = False
    """The left side is the past of the right one: only the forms of answers are compared."""


@dataclass(slots=True)
class _Side:
    """A side: a service that gets requests, or the journal of a `run`, which gets none.

    `requests` and `submissions` count those sent outside of the `session`.
    """

    name: str
    target: Target | None = None
    run: Run | None = None
    session: Session | None = None
    requests: int = 0
    submissions: int = 0

    def again(self, exchange: Exchange, budget: int | None) -> Exchange | None:
        """Send the same once more, within a budget where one is given; what a journal has stays.

        None where nothing can be sent.
        """
        if self.session is None:
            return exchange
        if budget is not None and self.requests + self.session.transport.count >= budget:
            return None
        try:
            return self.session.ask(exchange.probe, draft_from(exchange.request))
        except (Refusing, Spent):
            return None

    def summary(self, contract: Contract) -> SideSummary:
        requests, submissions = self.requests, self.submissions
        if self.session is not None:
            requests += self.session.transport.count
            sent = self.session.sent
            submissions += sum(sent[operation.id] for operation in contract if operation.writes)
        return SideSummary(self.name, requests, submissions)


def _side_of(text: str, options: Options) -> _Side:
    """Return the side that an address, a journal or recordings stand for.

    Two addresses with a comma between them are those of v1 and of 2.0. Raises `UnsafeOrWrong`.
    """
    if "://" in text:
        first, comma, second = text.partition(",")
        return _Side(text, target=target_of(v1=first, v2=second) if comma else target_of(first))
    path = Path(text)
    if is_journal(path):
        return _Side(text, run=read_run(path))
    if path.exists() or text in shipped_names():
        return _Side(text, run=recorded_run(text, options))
    known = "neither an address, a journal nor a recording"
    raise UnsafeOrWrong(f"{text!r} is {known}; write for example 'http://127.0.0.1:8080'")


def compare(
    left: str,
    right: str,
    options: Options | None = None,
    terms: Terms | None = None,
    *,
    watch: Watch | None = None,
) -> Comparison:
    """Return how the right side differs from the left one: addresses, journals or recordings.

    A service gets the requests that the other side got: the plan of a run, made of what the left
    service lists, or the requests of a journal. Between journals nothing is sent. Raises
    `UnsafeOrWrong` before anything is.
    """
    began = ticks_ms()
    chosen = options or Options()
    sides = (_side_of(left, chosen), _side_of(right, chosen))
    if runs := [side.run for side in sides if side.run is not None]:
        # The seed and the dialect of a journal made its requests.
        chosen = replace(chosen, seed=runs[0].header.seed, dialect=runs[0].header.dialect)
    contract = contracts.load(chosen.dialect)
    # As many as the journal has, so that none of its requests is left out for want of budget.
    kept = max((len(run.entries) for run in runs), default=0)
    with ExitStack() as stack:
        # Both sides are checked before anything is sent to either.
        for side in sides:
            if side.target is not None:
                transport = _transport(side.target, contract, chosen, kept)
                context = context_of(contract, chosen)
                side.session = Session(stack.enter_context(transport), context)
        return _Comparing(contract, chosen, terms or Terms(), *sides).comparison(watch, began)


def _transport(target: Target, contract: Contract, options: Options, kept: int) -> Transport:
    """Return what sends to a side; `kept` is how many requests the journal of the other one has."""
    limits = options.limits(target)
    if options.budget is None:
        planned = max(limits.budget, kept) if target.is_local else limits.budget
        # Beside the plan: requests that are sent again take nothing from it.
        limits = replace(limits, budget=planned + MOST_REPEATS)
    return Transport(target, permit_of(contract, target, options), limits, tls=options.tls)


def _is_fulfilled(pair: Pair) -> bool:
    return any(exchange.succeeded for exchange in pair)


def _read_by(contract: Contract | None, pair: Pair) -> Pair:
    operation = contract.get(pair.source.operation.id) if contract else None
    if operation is None:
        return pair
    return Pair(
        *(Exchange(each.number, each.probe, operation, each.request, each.answer) for each in pair)
    )


def _by_generation(pairs: Sequence[Pair]) -> Iterable[list[Pair]]:
    return grouped(pairs, lambda pair: pair.generation.id).values()


def _only_in(old: Sequence[Exchange], new: Sequence[Exchange]) -> Iterator[str]:
    """Yield that operations are in the older of two recordings alone."""
    there = {exchange.operation.id for exchange in new}
    named = dict.fromkeys(exchange.operation.id for exchange in old)
    if missing := [operation for operation in named if operation not in there]:
        yield f"in the older recordings alone, and not compared: {listed(missing)}"


class _Comparing:
    """One comparison on its way."""

    def __init__(
        self, contract: Contract, options: Options, terms: Terms, left: _Side, right: _Side
    ) -> None:
        self._contract = contract
        self._options = options
        self._terms = terms
        self._left, self._right = left, right
        self._roles_of = cache(Roles)
        self._moving: dict[str, set[Place]] = defaultdict(set)
        self._left_out: dict[str, str] = {}
        self._notes: tuple[str, ...] = ()
        # By generation, where its successes are those of another dialect.
        self._read_by: dict[str, Contract] = {}

    def comparison(self, watch: Watch | None, began: int) -> Comparison:
        """Send, compare, and send again where the world may have moved."""
        pairs, all_pairs = self._pairs(watch), []
        silent: dict[str, None] = {}
        for pair in pairs:
            if reason := missing_answer(*pair, complete=self._terms.forms):
                self._left_out[pair.source.probe] = reason
                silent[pair.source.operation.id] = None
            else:
                all_pairs.append(pair)
        all_pairs = self._in_their_dialect(all_pairs)
        for side in () if self._terms.forms else zip(*all_pairs, strict=True):
            self._learn_all(side)
        refused = (
            alike for alike in _by_generation(all_pairs) if not any(map(_is_fulfilled, alike))
        )
        for alike in refused:
            said = f"both sides refused all requests of {alike[0].generation.name}"
            self._notes += (f"{said}, so that little of it was compared",)
        if self._terms.forms:
            silent |= dict.fromkeys(sorted(unshown(all_pairs)))
        if silent and self._terms.forms:
            unseen = "without an answer that shows it, so nobody knows whether it changed"
            self._notes += (f"{unseen}: {listed(list(silent))}",)
        every = (exchange for pair in pairs for exchange in pair)
        masker = masker_for(every, self._options.caller)

        def mask(text: str) -> str:
            return one_line(visible(masker.text(text)), LONGEST)

        return Comparison(
            left=self._left.summary(self._contract),
            right=self._right.summary(self._contract),
            seed=self._options.seed,
            dialect=self._options.dialect,
            band=f"{self._terms.band.percent:f}",
            compared=len(all_pairs),
            fulfilled=sum(map(_is_fulfilled, all_pairs)),
            occurrences=tuple(self._occurrences(all_pairs, mask)),
            silent=tuple(silent),
            left_out={mask(probe): mask(why) for probe, why in self._left_out.items()},
            moving={
                name: frozenset(tuple(map(mask, place)) for place in places)
                for name, places in self._moving.items()
                if places
            },
            notes=tuple(map(mask, self._notes)),
            elapsed_ms=ticks_ms() - began,
        )

    def _occurrences(
        self, pairs: Sequence[Pair], mask: Callable[[str], str]
    ) -> Iterator[Occurrence]:
        if not self._terms.forms:
            for difference, pair in self._lasting(pairs, self._repeated(pairs)):
                yield _without_secrets(difference, pair.source, mask)
            return
        # An exchange may be in several pairs.
        old = {pair.source.number: pair.source for pair in pairs}
        new = {pair.counterpart.number: pair.counterpart for pair in pairs}
        for level, change, shown in changes(old.values(), new.values(), self._roles_of):
            if not self._ignored(change, shown.operation):
                yield replace(_without_secrets(change, shown, mask), level=level)

    def _pairs(self, watch: Watch | None) -> list[Pair]:
        """Return what both sides answered, the left one as `source`."""
        left, right = self._left, self._right
        if left.run is not None and right.run is not None:
            replays = [self._replay(left.run), self._replay(right.run)]
            if self._terms.forms:
                old, new = (list(replay.exchanges()) for replay in replays)
                self._notes += tuple(_only_in(old, new))
                return same_operations(old, new)
            pairs, self._left_out = paired(*replays)
            return pairs
        if left.run is not None:
            return self._replayed(left.run, right, watch)
        if right.run is not None:
            return [Pair(*reversed(pair)) for pair in self._replayed(right.run, left, watch)]
        return self._run_on_both(watch)

    def _replay(self, journal: Run) -> ReplayedRequests:
        return ReplayedRequests(journal, context_of(self._contract, self._options))

    def _replayed(self, journal: Run, service: _Side, watch: Watch | None) -> list[Pair]:
        assert service.session is not None  # noqa: S101  # one of the two is a service
        context = context_of(self._contract, self._options)
        begin_with_the_time(context)
        replay = ReplayedRequests(journal, context)
        mirror = Mirror(service.session, self._options.caller)
        both = _Both(mirror, watch)
        for exchange in replay.exchanges():
            both.sent(exchange, len(journal.entries))
        self._left_out = {**replay.left_out, **mirror.left_out}
        return mirror.pairs

    def _run_on_both(self, watch: Watch | None) -> list[Pair]:
        """Send the left service what any run sends, and the right one the same."""
        assert self._left.target is not None  # noqa: S101  # neither is a journal
        assert self._right.session is not None  # noqa: S101
        mirror = Mirror(self._right.session, self._options.caller)
        # The rules decide which requests are made, and judge nothing here.
        silent = [rule.silent() for rule in RULES]
        both = _Both(mirror, watch)
        result = run(self._left.target, self._options, rules=silent, watch=both)
        self._left.requests, self._left.submissions = result.requests, result.submissions
        self._left_out = {**(result.unsent or {}), **mirror.left_out}
        self._notes = result.notes
        return mirror.pairs

    def _in_their_dialect(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Read a generation as another dialect has it where all its successes are of that one.

        The chosen one would take each of them for a refusal, and compare little of it.
        """
        for alike in _by_generation(pairs):
            generation = alike[0].generation
            if any(map(_is_fulfilled, alike)):
                continue
            for dialect in DIALECTS:
                contract = contracts.load(dialect)
                if any(_is_fulfilled(_read_by(contract, pair)) for pair in alike):
                    self._read_by[generation.id] = contract
                    code = contract.generations[generation.id].success_code
                    read = f"{generation.name} is read as {dialect}, as its successes have code"
                    self._notes += (f"{read} {code}, not {generation.success_code}",)
                    break
        return list(map(self._reread, pairs))

    def _reread(self, pair: Pair) -> Pair:
        return _read_by(self._read_by.get(pair.generation.id), pair)

    def _learn_all(self, exchanges: Iterable[Exchange]) -> None:
        """Take in the answers of one side, of which some were to the same request."""
        first: dict[Hashable, Exchange] = {}
        for exchange in exchanges:
            if not exchange.operation.writes:
                # The first of equal requests is compared with itself, which teaches nothing.
                self._learn(first.setdefault(request_key(exchange.request), exchange), exchange)

    def _learn(self, first: Exchange, second: Exchange) -> None:
        """Learn what changes by itself: where two answers of one side to a request differ."""
        if first.succeeded and second.succeeded:
            operation = first.operation
            reading = AnswerReading(self._roles_of(operation), _NO_BAND)
            self._moving[operation.id] |= {
                difference.place
                for difference in differences(first.body, second.body, reading)
                if difference.kind in OF_THE_WORLD
            }

    def _repeated(self, pairs: Sequence[Pair]) -> dict[int, Pair]:
        """Send again where values or lists differ; learn what moves meanwhile."""
        again: dict[int, Pair] = {}
        alike: dict[object, int] = defaultdict(int)
        for number, pair in enumerate(pairs):
            moving = (change for change in self._differences(pair) if change.kind in OF_THE_WORLD)
            places = frozenset(difference.place for difference in moving)
            kind = (pair.source.operation.id, places)
            # Requests with the same difference teach nothing new, and repeats are limited.
            is_known = alike[kind] >= _MOST_ALIKE or len(again) >= MOST_REPEATS
            if not places or pair.source.operation.writes or is_known:
                continue
            alike[kind] += 1
            budget = self._options.budget
            left = self._left.again(pair.source, budget)
            right = self._right.again(pair.counterpart, budget)
            if left is not None and right is not None:
                again[number] = self._reread(Pair(left, right))
                for first, second in zip(pair, again[number], strict=True):
                    self._learn(first, second)
        return again

    def _lasting(
        self, pairs: Sequence[Pair], again: dict[int, Pair]
    ) -> Iterator[tuple[Difference, Pair]]:
        """Yield the differences that are still there in the second answers."""
        for number, pair in enumerate(pairs):
            still = None
            if number in again and not missing_answer(*again[number]):
                still = {_spot(difference) for difference in self._differences(again[number])}
            for change in self._differences(pair):
                lasts = still is None or change.kind not in OF_THE_WORLD or _spot(change) in still
                if lasts and not self._ignored(change, pair.source.operation):
                    yield change, pair

    def _differences(self, pair: Pair) -> Iterator[Difference]:
        operation = pair.source.operation
        roles, moving = self._roles_of(operation), frozenset(self._moving[operation.id])
        reading = AnswerReading(roles, self._terms.band, words=self._terms.words, moving=moving)
        return compared(*pair, reading)

    def _ignored(self, difference: Difference, operation: Operation) -> bool:
        names = (difference.where, operation.id, f"{operation.id}:{difference.where}")
        # `[]` stands for itself; `*` alone is a wildcard.
        patterns = [pattern.replace("[", "[[]") for pattern in self._terms.ignore]
        return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


class _Both:
    """A watch that passes exchanges on to two others."""

    def __init__(self, *watches: Watch | None) -> None:
        self._watches = [watch for watch in watches if watch is not None]

    def sent(self, exchange: Exchange, planned: int) -> None:
        for watch in self._watches:
            watch.sent(exchange, planned)


def _without_secrets(
    original: Difference, source: Exchange, mask: Callable[[str], str]
) -> Occurrence:
    difference = Difference(
        original.kind,
        tuple(map(mask, original.place)),
        *map(mask, (original.left, original.right, original.item)),
    )
    request = f"{source.request.method} {source.request.target}"
    return Occurrence(difference, source.operation.id, mask(source.probe), mask(request))


def _spot(difference: Difference) -> tuple[object, ...]:
    return (difference.kind, difference.place, difference.item)
