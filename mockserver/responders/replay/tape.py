"""The recorded exchanges that a world of some dialect can play, indexed by what they answer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from decimal import Decimal
from urllib.parse import quote

from mockserver import jsontext
from mockserver.contract import Contract, Operation
from mockserver.exchange import Request
from mockserver.jsontext import Json
from mockserver.recordings import (
    MatchRules,
    RecordedExchange,
    Recording,
    RequestForm,
    RequestReading,
    Source,
    StandIns,
    read_request,
)
from mockserver.recordings.redaction import Redactor
from mockserver.responders.replay.mode import ReplayMode
from mockserver.values import dataclass

_TOLD = 4
"""How many reasons the line at the start gives; the rest is counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Taped:
    """An exchange that can be played.

    `label` is its file and name; `at_ms` is when it was recorded (ms since 1970), None where nobody
    measured; `number` is its place on the tape; `foreign` marks one of another dialect; `begin` is
    the number of the submission that it follows, where there is one.
    """

    label: str
    number: int
    exchange: RecordedExchange
    reading: RequestReading
    at_ms: int | None
    redaction: "Redaction"
    foreign: bool = False
    begin: int | None = None


@dataclass(frozen=True, slots=True)
class Redaction:
    """What was done to requests before they were kept, and is done to those that come.

    `removed` are names of what was taken out, in lower case; `stand_ins` replaced values.
    """

    removed: frozenset[str] = frozenset()
    stand_ins: StandIns = field(default_factory=StandIns)

    def of(self, request: Request) -> Request:
        """Return a request as a recording would hold it."""
        return Redactor(self.stand_ins).request(request) if self.stand_ins.of else request


@dataclass(frozen=True, slots=True)
class Usable:
    """How many exchanges of how many files can be played, and why the others cannot."""

    used: int
    total: int
    files: int
    reasons: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        """Say it in one line."""
        files = "1 file" if self.files == 1 else f"{self.files} files"
        line = f"replaying {self.used} of {self.total} recorded exchanges from {files}"
        if not self.reasons:
            return line
        told = [f"{count} {reason}" for reason, count in self.reasons[:_TOLD]]
        rest = sum(count for _, count in self.reasons[_TOLD:])
        return (
            f"{line}; not: {'; '.join([*told, *([f'{rest} for other reasons'] if rest else [])])}"
        )


@dataclass(frozen=True, slots=True)
class Miss:
    """No recording answers a request; `nearest` comes closest, and `differences` tell how."""

    nearest: Taped | None
    differences: tuple[str, ...] = ()

    def sentence(self, operation: str) -> str:
        """Return the whole as a sentence."""
        if self.nearest is None:
            return f"nothing is recorded for {operation}"
        told = "; ".join(self.differences)
        return f"nearest recording {self.nearest.label} differs: {told}"


class Tape:
    """Exchanges in their order, found by the form of a request."""

    def __init__(self, taped: Sequence[Taped], usable: Usable) -> None:
        """Index exchanges."""
        self.usable = usable
        self.taped = taped
        self._by_form: dict[RequestForm, list[Taped]] = {}
        self._by_operation: dict[str, list[Taped]] = {}
        self._redactions: dict[str, dict[Redaction, None]] = {}
        # What was recorded in the world's own dialect goes before what is only allowed in it.
        own = {one.reading.form for one in taped if not one.foreign}
        for one in taped:
            if one.foreign and one.reading.form in own:
                continue
            self._by_form.setdefault(one.reading.form, []).append(one)
            self._by_operation.setdefault(one.exchange.operation, []).append(one)
            for redaction in (Redaction(one.redaction.removed), one.redaction):
                self._redactions.setdefault(one.exchange.operation, {})[redaction] = None

    def redactions(self, operation: str) -> Iterable[Redaction]:
        """Return what was done to requests of an operation; without stand-ins first.

        An answer holds stand-ins too, which a client then sends as they are.
        """
        return self._redactions.get(operation) or (Redaction(),)

    def exact(self, reading: RequestReading) -> Sequence[Taped]:
        """Return the exchanges that answer a request of that form."""
        return self._by_form.get(reading.form, ())

    def near(self, reading: RequestReading, rules: MatchRules) -> Sequence[Taped]:
        """Return the exchanges of the form whose amounts are nearest, within what the rule says."""
        operation = reading.form.operation
        rule, best, found = rules.of(operation), None, None
        for one in self._by_operation.get(operation, ()) if reading.amounts else ():
            off: Decimal | None = one.reading.distance(reading, rule)
            if off is not None and (best is None or off < best):
                best, found = off, one
        return () if found is None else self._by_form[found.reading.form]

    def miss(self, reading: RequestReading) -> Miss:
        """Return what came closest to a request that is not recorded."""
        candidates = [
            (tuple(reading.form.differences(one.reading.form)), one)
            for one in self._by_operation.get(reading.form.operation, ())
        ]
        if not candidates:
            return Miss(None)
        differences, nearest = min(candidates, key=lambda candidate: len(candidate[0]))
        if not differences:
            differences = ("what the client chooses anew has another form",)
        return Miss(nearest, differences)


class Replay:
    """Recordings as a server plays them: one tape for each dialect its worlds speak."""

    def __init__(self, sources: Iterable[Source], rules: MatchRules, mode: ReplayMode) -> None:
        """Keep recordings with the rules by which requests find them."""
        self.sources = tuple(sources)
        self.rules = rules
        self.mode = mode
        self._tapes: dict[str, Tape] = {}

    def tape(self, contract: Contract) -> Tape:
        """Return what a world that speaks a contract's dialect can play."""
        name = contract.dialect.name
        if name not in self._tapes:
            self._tapes[name] = self._made(contract)
        return self._tapes[name]

    def _made(self, contract: Contract) -> Tape:
        reasons: Counter[str] = Counter()
        fitting = []
        for source in self.sources:
            for exchange in source.recording.exchanges:
                reason = self._unfit(source.recording, exchange, contract)
                if reason:
                    reasons[reason] += 1
                else:
                    fitting.append((source, exchange))
        if all(exchange.time_ms is not None for _, exchange in fitting):
            # Files are written an operation each; together they are in the order of their times.
            fitting.sort(key=lambda pair: pair[1].time_ms or 0)
        taped = [
            self._taped(number, source, exchange, contract)
            for number, (source, exchange) in enumerate(fitting)
        ]
        total = len(taped) + sum(reasons.values())
        usable = Usable(len(taped), total, len(self.sources), tuple(reasons.most_common()))
        return Tape(_begun(taped, contract), usable)

    def _unfit(self, recording: Recording, exchange: RecordedExchange, contract: Contract) -> str:
        """Return why an exchange cannot be played; empty where it can."""
        dialect = contract.dialect.name
        if exchange.request_omitted or exchange.response_omitted:
            return "whose body was not kept"
        operation = next((one for one in contract if one.id == exchange.operation), None)
        if operation is None:
            return f"of {exchange.operation}, which the dialect {dialect!r} lacks"
        request = exchange.request
        if contract.find(request.method, request.path) is not operation:
            return f"of {operation.id} that are not at {operation.method} {operation.path}"
        if self.mode.naked or recording.dialect in (None, dialect):
            return ""
        if _keeps(operation, exchange):
            return ""
        return (
            f"of the dialect {recording.dialect!r}, whose answers the dialect {dialect!r} forbids"
        )

    def _taped(
        self, number: int, source: Source, exchange: RecordedExchange, contract: Contract
    ) -> Taped:
        operation = contract.operation(exchange.operation)
        rule, names = self.rules.of(operation.id), operation.header_names
        removed = frozenset(name.lower() for name in exchange.removed)
        return Taped(
            label=f"{quote(source.label)}#{exchange.name}",
            number=number,
            exchange=exchange,
            reading=read_request(operation.id, names, exchange.request, rule, None, removed),
            redaction=Redaction(removed, source.recording.stand_ins),
            at_ms=exchange.time_ms,
            foreign=source.recording.dialect not in (None, contract.dialect.name),
        )


def _keeps(operation: Operation, exchange: RecordedExchange) -> bool:
    """Whether an answer that was recorded in another dialect is one of this dialect, too."""
    try:
        return not operation.response_violations(exchange.response_json())
    except jsontext.NotJson:
        return True


def _begun(taped: Sequence[Taped], contract: Contract) -> list[Taped]:
    """Return exchanges with the submission that each follows.

    It is the last one before it in whose answer, or among whose own choices, one of its values
    stands: the id of an order, or the hash of a deposit.
    """
    submitted: dict[str, list[Taped]] = {}
    found = []
    for one in taped:
        writes = contract.operation(one.exchange.operation).writes
        if writes:
            for value in _told(one):
                submitted.setdefault(value, []).append(one)
        begin = None if writes else _begin(one, submitted)
        found.append(one if begin is None else replace(one, begin=begin))
    return found


def _begin(one: Taped, submitted: dict[str, list[Taped]]) -> int | None:
    before = [
        write
        for value in dict(one.reading.form.query).values()
        for write in submitted.get(value.lower(), ())
    ]
    return max((write.number for write in before), default=None)


def _told(write: Taped) -> Iterator[str]:
    yield from (value.lower() for value in write.reading.bound.values())
    body = jsontext.decode_or(write.exchange.response.body)
    yield from _scalars(body.get("data") if isinstance(body, dict) else None)


def _scalars(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        # A status is told in words and numbers that mean nothing elsewhere.
        for item in (item for name, item in value.items() if name != "status"):
            yield from _scalars(item)
    elif isinstance(value, str):
        yield value.lower()
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)
