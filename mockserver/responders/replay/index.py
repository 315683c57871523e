"""The recorded exchanges that a world of some dialect can play, found by the form of a request."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from urllib.parse import quote

from mockserver import jsontext
from mockserver.contract import Contract
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request
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
from mockserver.responders.replay.playback_state import ReplayMode
from mockserver.wording import counted

# How many reasons the line at the start gives; the rest is counted.
_MOST_REASONS = 4


@dataclass(frozen=True, slots=True)
class Redaction:
    """How recorded requests were redacted, which is repeated for requests that come.

    `removed` are names of removed parts, in lower case; `stand_ins` replaced values.
    """

    removed: frozenset[str] = frozenset()
    stand_ins: StandIns = field(default_factory=StandIns)

    def of(self, request: Request) -> Request:
        return Redactor(self.stand_ins).request(request) if self.stand_ins.of else request


@dataclass(frozen=True, slots=True, eq=False)
class Playable:
    """An exchange that can be played.

    `label` is its file and name; `at_ms` is when it was recorded (ms since 1970), None where that
    is not known; `number` is its place among all; `foreign` marks one of another dialect; `begin`
    is the number of the submission that it follows, where there is one.
    """

    label: str
    number: int
    exchange: RecordedExchange
    reading: RequestReading
    at_ms: int | None
    redaction: Redaction
    foreign: bool = False
    begin: int | None = None


@dataclass(frozen=True, slots=True)
class Usable:
    """How many exchanges of how many files can be played, and why the others cannot."""

    used: int
    total: int
    files: int
    reasons: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        line = f"replaying {self.used} of {self.total} recorded exchanges from "
        line += counted(self.files, "file")
        if not self.reasons:
            return line
        texts = [f"{count} {reason}" for reason, count in self.reasons[:_MOST_REASONS]]
        rest = sum(count for _, count in self.reasons[_MOST_REASONS:])
        return (
            f"{line}; not: {'; '.join([*texts, *([f'{rest} for other reasons'] if rest else [])])}"
        )


class ExchangeIndex:
    """Exchanges in their order, found by the form of a request."""

    def __init__(self, exchanges: Sequence[Playable], usable: Usable) -> None:
        self.usable = usable
        self.exchanges = exchanges
        self._by_form: dict[RequestForm, dict[frozenset[str], list[Playable]]] = {}
        self._by_operation: dict[str, list[Playable]] = {}
        self._redactions: dict[str, dict[Redaction, None]] = {}
        # Exchanges of the world's own dialect come before those of others that it allows.
        own = {playable.reading.form for playable in exchanges if not playable.foreign}
        for playable in exchanges:
            if playable.foreign and playable.reading.form in own:
                continue
            absent = playable.reading.absent - playable.redaction.removed
            groups = self._by_form.setdefault(playable.reading.form, {})
            groups.setdefault(absent, []).append(_of_its_choices(playable))
            self._by_operation.setdefault(playable.exchange.operation, []).append(playable)
            for redaction in (Redaction(playable.redaction.removed), playable.redaction):
                self._redactions.setdefault(playable.exchange.operation, {})[redaction] = None
        for groups in self._by_form.values():
            if len(groups) > 1:
                groups.update({absent: _apart(ones, absent) for absent, ones in groups.items()})

    def redactions(self, operation: str) -> Iterable[Redaction]:
        """Return the redactions of requests of an operation; one without stand-ins first.

        Answers have stand-ins too, which clients then send as they are.
        """
        return self._redactions.get(operation) or (Redaction(),)

    def exact(self, reading: RequestReading) -> Sequence[Playable]:
        """Return the exchanges that answer a request of that form.

        Where some of them lack headers, they are those that lack most nearly the same as the
        request: a refusal of a missing key is no answer to a signed request.
        """
        return self._of(reading.form, reading.absent)

    def _of(self, form: RequestForm, absent: frozenset[str]) -> Sequence[Playable]:
        groups = self._by_form.get(form)
        return groups[min(groups, key=lambda lacked: len(lacked ^ absent))] if groups else ()

    def near(self, reading: RequestReading, rules: MatchRules) -> Sequence[Playable]:
        """Return the exchanges of the form whose amounts are nearest, within what the rule says."""
        rule = rules.of(reading.form.operation)
        candidates = self._by_operation.get(reading.form.operation, ()) if reading.amounts else ()
        off = [
            (playable.reading.distance(reading, rule), playable.reading.form)
            for playable in candidates
        ]
        near = [(percent, form) for percent, form in off if percent is not None]
        return self._of(min(near, key=lambda pair: pair[0])[1], reading.absent) if near else ()

    def why_missed(self, reading: RequestReading) -> str:
        """Return a sentence about the nearest recording to a request that is not recorded."""
        operation = reading.form.operation
        candidates = [
            (tuple(reading.form.differences(playable.reading.form)), playable.label)
            for playable in self._by_operation.get(operation, ())
        ]
        if not candidates:
            return f"nothing is recorded for {operation}"
        differences, label = min(candidates, key=lambda candidate: len(candidate[0]))
        text = "; ".join(differences) or "what the client chooses anew has another form"
        return f"nearest recording {label} differs: {text}"


class Replay:
    """Recordings as a server plays them: an index for each dialect that its worlds speak."""

    def __init__(self, sources: Iterable[Source], rules: MatchRules, mode: ReplayMode) -> None:
        self.sources = tuple(sources)
        self.rules = rules
        self.mode = mode
        self._indexes: dict[str, ExchangeIndex] = {}

    def index(self, contract: Contract) -> ExchangeIndex:
        """Return what a world that speaks a contract's dialect can play."""
        name = contract.dialect.name
        if name not in self._indexes:
            self._indexes[name] = self._made(contract)
        return self._indexes[name]

    def _made(self, contract: Contract) -> ExchangeIndex:
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
            # Each operation has its own file; their times give the common order.
            fitting.sort(key=lambda pair: pair[1].time_ms or 0)
        playable = [
            self._playable(number, source, exchange, contract)
            for number, (source, exchange) in enumerate(fitting)
        ]
        total = len(playable) + reasons.total()
        usable = Usable(len(playable), total, len(self.sources), tuple(reasons.most_common()))
        return ExchangeIndex(_with_submissions(playable, contract), usable)

    def _unfit(self, recording: Recording, exchange: RecordedExchange, contract: Contract) -> str:
        """Return why an exchange cannot be played; empty where it can."""
        dialect, request = contract.dialect.name, exchange.request
        if exchange.request_omitted or exchange.response_omitted:
            return "whose body was not kept"
        operation = contract.get(exchange.operation)
        if operation is None:
            return f"of {exchange.operation}, which the dialect {dialect!r} lacks"
        if contract.find(request.method, request.path) is not operation:
            return f"of {operation.id} that are not at {operation.method} {operation.path}"
        if self.mode.naked or self.mode.any_dialect or recording.dialect in (None, dialect):
            return ""
        try:
            forbidden = operation.response_violations(exchange.response_json())
        except jsontext.NotJson:
            return ""
        second_reason = (
            f"of the dialect {recording.dialect!r}, whose answers the dialect {dialect!r} forbids"
        )
        return second_reason if forbidden else ""

    def _playable(
        self, number: int, source: Source, exchange: RecordedExchange, contract: Contract
    ) -> Playable:
        operation = contract.operation(exchange.operation)
        rule, names = self.rules.of(operation.id), operation.header_names
        removed = exchange.hidden("request")
        return Playable(
            label=f"{quote(source.label)}#{exchange.name}",
            number=number,
            exchange=exchange,
            reading=read_request(operation.id, names, exchange.request, rule, None, removed),
            redaction=Redaction(removed, source.recording.stand_ins),
            at_ms=exchange.time_ms,
            foreign=source.recording.dialect not in (None, contract.dialect.name),
        )


def _apart(ones: Iterable[Playable], absent: frozenset[str]) -> list[Playable]:
    """Return exchanges as a sequence of their own, apart from those that lack other headers."""
    return [
        replace(
            playable,
            reading=replace(playable.reading, form=_lacking(playable.reading.form, absent)),
        )
        for playable in ones
    ]


def _of_its_choices(playable: Playable) -> Playable:
    """Return an exchange as part of a sequence of only those that share its bound values."""
    chosen = tuple((".".join(part), value) for part, value in playable.reading.bound.items())
    if not chosen:
        return playable
    form = replace(playable.reading.form, headers=(*playable.reading.form.headers, *chosen))
    return replace(playable, reading=replace(playable.reading, form=form))


def _lacking(form: RequestForm, absent: frozenset[str]) -> RequestForm:
    return replace(form, headers=(*form.headers, *((name, "") for name in sorted(absent))))


def _with_submissions(exchanges: Sequence[Playable], contract: Contract) -> list[Playable]:
    """Return exchanges with the submission that each follows.

    It is the last one before it that has one of its values in its answer or among its own choices:
    the id of an order, or the hash of a deposit.
    """
    submitted: dict[str, int] = {}
    playables = []
    for playable in exchanges:
        if contract.operation(playable.exchange.operation).writes:
            answer = jsontext.decode_or(playable.exchange.response.body)
            data = answer.get("data") if isinstance(answer, dict) else None
            for value in (*playable.reading.bound.values(), *_scalars(data)):
                submitted[value.lower()] = playable.number
            playables.append(playable)
        else:
            named = (value.lower() for _, value in playable.reading.form.query)
            begin = max((submitted[value] for value in named if value in submitted), default=None)
            playables.append(playable if begin is None else replace(playable, begin=begin))
    return playables


def _scalars(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        # The value of a status may equal an unrelated value.
        for item in (item for name, item in value.items() if name != "status"):
            yield from _scalars(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)
