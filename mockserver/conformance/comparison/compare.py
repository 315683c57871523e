"""Two services, or what journals kept of them, asked the same and compared."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from fnmatch import fnmatchcase

from mockserver import contract as contracts
from mockserver.clock import ticks_ms
from mockserver.conformance.checks.catalog import RULES
from mockserver.conformance.comparison.answers import Reading, compared, missing_answer
from mockserver.conformance.comparison.comparison import Comparison, SideSummary
from mockserver.conformance.comparison.difference import OF_THE_WORLD, Difference, Found
from mockserver.conformance.comparison.mirroring import Mirror, Pair
from mockserver.conformance.comparison.moving import Moving
from mockserver.conformance.comparison.replaying import Replay, paired
from mockserver.conformance.comparison.roles import Roles
from mockserver.conformance.comparison.sides import Side, side_of
from mockserver.conformance.comparison.translating import draft_from
from mockserver.conformance.comparison.values import Band
from mockserver.conformance.options import Options
from mockserver.conformance.report.masking import masker_for
from mockserver.conformance.runs.planner import context_of, permit_of
from mockserver.conformance.runs.runner import run
from mockserver.conformance.runs.stamping import begin_with_the_time
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.permit import Refusing, Spent
from mockserver.conformance.session.session import Session, Watch
from mockserver.conformance.session.target import Target
from mockserver.conformance.session.transport import Transport
from mockserver.contract import Contract, Operation
from mockserver.values import dataclass

SECOND_LOOKS = 30
"""How many requests are asked again, to tell what differs from what moves."""
_LOOKS_ALIKE = 2


@dataclass(frozen=True, slots=True)
class Terms:
    """What counts as a difference: beyond a band, in words for people as well, not at `ignore`.

    `ignore` are places such as `data.list[].scanUrl` or operations, with `*` as wildcard.
    """

    band: Band = field(default_factory=Band)
    words: bool = False
    ignore: tuple[str, ...] = ()


def compare(
    left: str,
    right: str,
    options: Options | None = None,
    terms: Terms | None = None,
    *,
    watch: Watch | None = None,
) -> Comparison:
    """Return how the right side differs from the left one; each is an address or a journal.

    A service is asked what the other side was asked: the plan of a run, made of what the left
    service lists, or the requests of a journal. Between journals nothing is sent. Raises
    `UnsafeOrWrong` before anything is.
    """
    sides = (side_of(left), side_of(right))
    chosen = _as_in_journals(sides, options or Options())
    contract = contracts.load(chosen.dialect)
    # Leave is asked for both sides before the first byte goes to either.
    transports = [
        None if side.target is None else _transport(side.target, contract, chosen) for side in sides
    ]
    began = ticks_ms()
    with ExitStack() as stack:
        lines = [
            _Line(side, _session(stack, transport, context_of(contract, chosen)))
            for side, transport in zip(sides, transports, strict=True)
        ]
        comparing = _Comparing(contract, chosen, terms or Terms(), lines[0], lines[1])
        return comparing.comparison(watch, began)


def _as_in_journals(sides: Iterable[Side], options: Options) -> Options:
    """Return the options with the seed and dialect of a journal, which made its requests."""
    for side in sides:
        if side.run is not None:
            header = side.run.header
            return replace(options, seed=header.seed, dialect=header.dialect)
    return options


def _transport(target: Target, contract: Contract, options: Options) -> Transport:
    limits = options.limits(target)
    limits = replace(limits, budget=limits.budget + SECOND_LOOKS)
    return Transport(target, permit_of(contract, target, options), limits)


def _session(stack: ExitStack, transport: Transport | None, context: RunContext) -> Session | None:
    return None if transport is None else Session(stack.enter_context(transport), context)


@dataclass(slots=True)
class _Line:
    """A side and the conversation with it; a journal has none. `sent` counts other requests."""

    side: Side
    session: Session | None
    requests: int = 0
    submissions: int = 0

    def again(self, exchange: Exchange) -> Exchange | None:
        """Ask the same once more; what a journal said stays, None where nothing can be asked."""
        if self.session is None:
            return exchange
        try:
            return self.session.ask(exchange.probe, draft_from(exchange.request))
        except (Refusing, Spent):
            return None

    def told(self, contract: Contract) -> SideSummary:
        """Return what was sent to it in all."""
        requests, submissions = self.requests, self.submissions
        if self.session is not None:
            requests += self.session.transport.count
            submissions += sum(
                self.session.sent[operation.id] for operation in contract if operation.writes
            )
        return SideSummary(self.side.name, requests, submissions)


class _Comparing:
    """One comparison on its way."""

    def __init__(
        self, contract: Contract, options: Options, terms: Terms, left: _Line, right: _Line
    ) -> None:
        self._contract = contract
        self._options = options
        self._terms = terms
        self._left, self._right = left, right
        self._roles: dict[str, Roles] = {}
        self._moving = Moving(self._roles_of)
        self._left_out: dict[str, str] = {}
        self._notes: tuple[str, ...] = ()

    def comparison(self, watch: Watch | None, began: int) -> Comparison:
        """Ask, compare, look again where the world may have moved, and tell."""
        pairs = self._pairs(watch)
        self._left_out |= {
            pair.source.probe: reason
            for pair in pairs
            if (reason := missing_answer(pair.source, pair.other))
        }
        whole = [pair for pair in pairs if not missing_answer(pair.source, pair.other)]
        self._moving.learn_all(pair.source for pair in whole)
        self._moving.learn_all(pair.other for pair in whole)
        found = self._kept(whole, self._looked_at_again(whole))
        every = [exchange for pair in pairs for exchange in (pair.source, pair.other)]
        return Comparison(
            left=self._left.told(self._contract),
            right=self._right.told(self._contract),
            seed=self._options.seed,
            dialect=self._options.dialect,
            band=f"{self._terms.band.percent:f}",
            compared=len(whole),
            found=tuple(found),
            masker=masker_for(every, self._options.caller),
            left_out=self._left_out,
            moving=self._moving.places,
            notes=self._notes,
            elapsed_ms=ticks_ms() - began,
        )

    def _pairs(self, watch: Watch | None) -> list[Pair]:
        """Return what both sides answered, the left one as `source`."""
        left, right = self._left, self._right
        if left.side.run is not None and right.side.run is not None:
            replays = [
                Replay(side.run, self._fresh()) for side in (left.side, right.side) if side.run
            ]
            pairs, self._left_out = paired(replays[0], replays[1])
            return pairs
        if left.side.run is not None:
            return self._replayed(left, right, watch)
        if right.side.run is not None:
            return [Pair(one.other, one.source) for one in self._replayed(right, left, watch)]
        return self._asked(watch)

    def _replayed(self, journal: _Line, service: _Line, watch: Watch | None) -> list[Pair]:
        """Ask a service what is in a journal."""
        assert journal.side.run is not None  # noqa: S101  # the caller looked
        assert service.session is not None  # noqa: S101  # one of the two is a service
        context = self._fresh()
        begin_with_the_time(context)
        replay = Replay(journal.side.run, context)
        mirror = Mirror(service.session, self._options.caller)
        for exchange in replay.exchanges():
            _tell((mirror, watch), exchange, len(journal.side.run.entries))
        self._left_out = {**replay.left_out, **mirror.left_out}
        return mirror.pairs

    def _asked(self, watch: Watch | None) -> list[Pair]:
        """Ask the left service as in any run, and the right one the same."""
        assert self._left.side.target is not None  # noqa: S101  # neither is a journal
        assert self._right.session is not None  # noqa: S101
        mirror = Mirror(self._right.session, self._options.caller)
        asking = [rule.silent() for rule in RULES]
        both = _Both(mirror, watch)
        result = run(self._left.side.target, self._options, rules=asking, watch=both)
        self._left.requests, self._left.submissions = result.requests, result.submissions
        self._left_out = {**(result.unsent or {}), **mirror.left_out}
        self._notes = result.notes
        return mirror.pairs

    def _looked_at_again(self, pairs: Sequence[Pair]) -> dict[int, Pair]:
        """Ask again where values or lists differ; learn what moves meanwhile."""
        again: dict[int, Pair] = {}
        alike: dict[object, int] = {}
        for number, pair in enumerate(pairs):
            places = frozenset(
                one.place for one in self._differences(pair) if one.kind in OF_THE_WORLD
            )
            if not places or pair.source.operation.writes or len(again) >= SECOND_LOOKS:
                continue
            context = alike.setdefault((pair.source.operation.id, places), 0)
            # Requests that differ alike show the same thing again, and looks are few.
            if context >= _LOOKS_ALIKE:
                continue
            alike[pair.source.operation.id, places] = context + 1
            left, right = self._left.again(pair.source), self._right.again(pair.other)
            if left is None or right is None:
                continue
            self._moving.learn(pair.source, left)
            self._moving.learn(pair.other, right)
            again[number] = Pair(left, right)
        return again

    def _kept(self, pairs: Sequence[Pair], again: dict[int, Pair]) -> Iterator[Found]:
        """Yield the differences that are still there at the second look."""
        for number, pair in enumerate(pairs):
            still = None
            if number in again and not missing_answer(again[number].source, again[number].other):
                still = {_spot(one) for one in self._differences(again[number])}
            for one in self._differences(pair):
                if one.kind in OF_THE_WORLD and still is not None and _spot(one) not in still:
                    continue
                if not self._ignored(one, pair.source.operation):
                    yield Found(one, pair.source, pair.other)

    def _differences(self, pair: Pair) -> Iterator[Difference]:
        operation = pair.source.operation
        roles, moving = self._roles_of(operation), self._moving.of(operation)
        reading = Reading(roles, self._terms.band, words=self._terms.words, moving=moving)
        return compared(pair.source, pair.other, reading)

    def _ignored(self, one: Difference, operation: Operation) -> bool:
        names = (one.where, operation.id, f"{operation.id}:{one.where}")
        return any(fnmatchcase(name, _literal(p)) for name in names for p in self._terms.ignore)

    def _roles_of(self, operation: Operation) -> Roles:
        if operation.id not in self._roles:
            self._roles[operation.id] = Roles(operation)
        return self._roles[operation.id]

    def _fresh(self) -> RunContext:
        return context_of(self._contract, self._options)


class _Both:
    """Tells two of an exchange."""

    def __init__(self, *watches: Watch | None) -> None:
        self._watches = watches

    def sent(self, exchange: Exchange, planned: int) -> None:
        """Hear of an exchange, and pass it on."""
        _tell(self._watches, exchange, planned)


def _tell(watches: Iterable[Watch | None], exchange: Exchange, planned: int) -> None:
    for watch in watches:
        if watch is not None:
            watch.sent(exchange, planned)


def _spot(one: Difference) -> tuple[object, ...]:
    return (one.kind, one.place, one.item)


def _literal(pattern: str) -> str:
    """Return a pattern in which `[]` stands for itself; `*` alone is a wildcard."""
    return pattern.replace("[", "[[]")
