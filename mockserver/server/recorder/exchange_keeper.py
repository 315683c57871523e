"""Keeps exchanges: redacts them, writes them to files, and notes dialect and clock."""

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from threading import Lock

from mockserver import jsontext
from mockserver.contract import BasisKind, Contract, ContractSource
from mockserver.contract.dialect import DIALECTS, OBSERVED
from mockserver.contract.facts import basis_along
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request, Response
from mockserver.recordings import RecordedExchange, Recording, RecordingFolder, StandIns
from mockserver.recordings.formats import ForeignRecording
from mockserver.recordings.redaction import Redactor
from mockserver.responders.dialect_contracts import Contracts
from mockserver.wording import counted

# A few answers show the dialect, and checking them takes time.
_MOST_SAMPLES = 8
# Bytes of an answer that is checked against the contract: small ones show the dialect, too.
_LARGEST_SAMPLE = 1024 * 1024
# Statuses that a file of ours takes; answers with others are passed on, and not kept.
_STATUSES = range(200, 600)


class Dialects:
    """Tells in which dialect answers keep the contract."""

    def __init__(self, contracts: Mapping[str, Contract]) -> None:
        """Take the contract in each dialect that answers are checked against."""
        self._contracts = contracts
        self._sampled: Counter[str] = Counter()
        self._breaks: dict[str, list[tuple[str, bool]]] = {name: [] for name in contracts}

    def note(self, exchange: RecordedExchange) -> None:
        """Check an answer against the contract in each dialect; a few of each operation suffice."""
        response = exchange.response
        if self._sampled[exchange.operation] >= _MOST_SAMPLES or response.status != 200:
            return
        if len(response.body) > _LARGEST_SAMPLE:
            return
        try:
            body = exchange.response_json()
        except jsontext.NotJson:
            return
        self._sampled[exchange.operation] += 1
        for name, contract in self._contracts.items():
            operation = contract.find(exchange.request.method, exchange.request.path)
            broken = () if operation is None else operation.response_violations(body)
            if operation is None or broken:
                documented = operation is not None and any(
                    basis_along(operation.response_schema, violation.schema_path).kind
                    is BasisKind.DOCUMENTED
                    for violation in broken
                )
                self._breaks[name].append((exchange.operation, documented))

    @property
    def name(self) -> str | None:
        kept = [name for name, breaks in self._breaks.items() if not breaks]
        return kept[0] if len(kept) == 1 and self._sampled else None

    @property
    def remark(self) -> str:
        """A sentence on answers that keep no dialect; empty where there is one that they keep."""
        if not self._sampled or not all(self._breaks.values()):
            return ""
        fewest = min(self._breaks, key=lambda name: self._rank(self._breaks[name]))
        broken, total = self._breaks[fewest], self._sampled.total()
        documented = sorted({operation for operation, is_documented in broken if is_documented})
        if documented:
            count = sum(is_documented for _, is_documented in broken)
            return (
                f"{count} of {counted(total, 'answer')} looked at "
                f"{'breaks' if count == 1 else 'break'} what the description says, in the dialect "
                f"{fewest}, which they fit best: {', '.join(documented)}"
            )
        # What is observed of services, or assumed, is no contract that this one could break.
        where = ", ".join(sorted({operation for operation, _ in broken}))
        return (
            f"{len(broken)} of {counted(total, 'answer')} looked at "
            f"{'has a form of its' if len(broken) == 1 else 'have forms of their'} own where the "
            f"description shows none: {where}; `recordings learn` says which"
        )

    @staticmethod
    def _rank(broken: list[tuple[str, bool]]) -> tuple[int, int]:
        """Return how far answers are from a dialect: what is documented counts before the rest."""
        return sum(is_documented for _, is_documented in broken), len(broken)


class ClockSkew:
    """Estimates how far the service's clock is ahead, from its `Date` headers.

    A `Date` names a second: the clock showed some part of it between the request and the end of the
    answer.
    """

    def __init__(self) -> None:
        """Begin without any bound."""
        self._bounds: tuple[int, int] | None = None

    def note(self, response: Response, sent_ms: int, duration_ms: int) -> None:
        """Take in the `Date` of an answer."""
        date_ms = _date_ms(response)
        if date_ms is None:
            return
        least, most = date_ms - sent_ms - duration_ms, date_ms + 999 - sent_ms
        if self._bounds is not None and least <= self._bounds[1] and most >= self._bounds[0]:
            # Otherwise it is the first one, or a clock was set, which voids earlier bounds.
            least, most = max(self._bounds[0], least), min(self._bounds[1], most)
        self._bounds = least, most

    @property
    def ms(self) -> int | None:
        """The skew in milliseconds: 0 where the clocks may agree, None without any `Date`."""
        if self._bounds is None:
            return None
        least, most = self._bounds
        return 0 if least <= 0 <= most else (least + most) // 2


def _date_ms(response: Response) -> int | None:
    text = response.header("Date")
    try:
        moment = parsedate_to_datetime(text) if text else None
        return None if moment is None else int(moment.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


@dataclass(frozen=True, slots=True)
class KeeperOptions:
    """How exchanges are kept.

    `title` begins the title of every file, `origin` and `source` say where the answers come from;
    `start` is the clock's time at the first of a simulation. `one_file`
    puts a whole flow into one file instead of one for each operation. `secrets` are values that
    may not reach a file, besides those found by themselves.
    """

    folder: Path
    origin: str = "captured"
    start: str | None = None
    title: str = "recorded"
    source: str = "a service"
    one_file: bool = False
    stand_ins: StandIns = field(default_factory=StandIns)
    secrets: tuple[str, ...] = field(default=(), repr=False)


class RecordingKeeper:
    """Writes exchanges to a folder. `keep` returns when an exchange is in a whole file."""

    def __init__(self, options: KeeperOptions) -> None:
        """Take the folder. Raises `FolderBusy` and `CannotKeep`."""
        contracts = Contracts(ContractSource())
        by_name: dict[str, Contract] = {name: contracts.get(name) for name in DIALECTS}
        self.contract = by_name[OBSERVED]
        """The contract that tells what is an operation."""
        self._options = options
        self._head = Recording(
            title=options.title,
            origin=options.origin,
            exchanges=(),
            source=options.source,
            start=options.start,
            stand_ins=options.stand_ins,
        )
        self._folder = RecordingFolder(options.folder, self._head)
        self.redactor = Redactor(options.stand_ins, options.secrets)
        self._dialects, self._skew = Dialects(by_name), ClockSkew()
        self._one_by_one = Lock()
        self._noticing = ThreadPoolExecutor(1, "noticing")
        self.kept: Counter[str] = Counter()
        """How many exchanges were kept, by operation."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files written so far."""
        return self._folder.files

    def keep(self, exchange: RecordedExchange) -> str:
        """Write an exchange to its file; return why not, where it cannot stand in one.

        Its operation is found, and its origin is that of the others. Raises `CannotKeep`.
        """
        request, status = exchange.request, exchange.response.status
        operation = self.contract.find(request.method, request.path)
        if operation is None:
            sentence = f"{request.method} {request.path} is no operation of the service"
            return self.shown(request, sentence, exchange.response)
        if status not in _STATUSES:
            sentence = f"{request.method} {request.path}: status {status} ends no answer of HTTP"
            return self.shown(request, sentence, exchange.response)
        with self._one_by_one:
            named = replace(exchange, operation=operation.id, origin=self._options.origin)
            exchange = self.redactor.exchange(named.unpacked())
            self._folder.keep("flow" if self._options.one_file else operation.id, exchange)
            self.kept[operation.id] += 1
            # Computed in the background, after the client has the answer.
            self._noticing.submit(self._notice, exchange)
        return ""

    def shown(self, request: Request, sentence: str, response: Response | None = None) -> str:
        """Return a sentence on a request that was not kept, without the secrets of its path."""
        with self._one_by_one:
            # A key of its headers may stand in its path, where nothing else tells that it is one.
            self.redactor.learn(request, response)
            return self.redactor.line(sentence)

    def noticed(self) -> Recording:
        """Return what the files say above their exchanges, when nothing more is kept."""
        self._noticing.shutdown()
        return self._head

    def close(self) -> None:
        """Bring what was noticed to the files and free the folder.

        Raises `CannotKeep`; the files are whole all the same.
        """
        self._noticing.shutdown()
        self._folder.close()

    def _notice(self, exchange: RecordedExchange) -> None:
        self._dialects.note(exchange)
        if exchange.time_ms is not None and exchange.origin == "captured":
            self._skew.note(exchange.response, exchange.time_ms, exchange.duration_ms or 0)
        remark = self._dialects.remark
        self._head = replace(
            self._head,
            dialect=self._dialects.name,
            clock_skew_ms=self._skew.ms,
            remarks=(remark,) if remark else (),
        )
        self._folder.describe(self._head)


# Gateways add few path segments.
_MOST_PREFIX = 6


def keep_all(foreign_recording: ForeignRecording, keeper: RecordingKeeper) -> dict[str, str]:
    """Keep the exchanges of a file that are of an operation; return why others were left out.

    The reasons are by the places in the file. What a service answered is redacted like everything
    that is recorded. Raises `CannotKeep`.
    """
    left_out, before = dict(foreign_recording.skipped), None
    for place, recorded_exchange in foreign_recording.exchanges.items():
        request, moved = _below_prefix(recorded_exchange.request, keeper.contract), 0
        if foreign_recording.origin == "simulation" and recorded_exchange.time_ms is not None:
            # How far the clock of a simulation moved before the request.
            moved = 0 if before is None else max(0, recorded_exchange.time_ms - before)
            before = recorded_exchange.time_ms
        if reason := keeper.keep(replace(recorded_exchange, request=request, advance_ms=moved)):
            left_out[place] = reason
    return left_out


def _below_prefix(request: Request, contract: Contract) -> Request:
    """Return the request with the path that operations have: without what a gateway puts before."""
    path = request.path
    for _ in range(_MOST_PREFIX):
        if contract.find(request.method, path) is not None:
            return replace(request, path=path)
        _, slash, rest = path.removeprefix("/").partition("/")
        if not slash:
            break
        path = f"/{rest}"
    return request
