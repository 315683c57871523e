"""Keeping exchanges: redacted, written to files, and noted what they tell of the service."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from mockserver import limits
from mockserver.contract import Contract, ContractSource
from mockserver.exchange import Request, Response
from mockserver.recordings import RecordedExchange, Recording, RecordingFolder, StandIns
from mockserver.recordings.redaction import Redactor
from mockserver.responders.dialects import Contracts
from mockserver.server import codings
from mockserver.server.recorder.noticing import ClockSkew, Dialects

_DIALECTS = ("documented", "observed")
_CODING = "Content-Encoding"


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


class Keeper:
    """Writes exchanges to a folder. `keep` returns when an exchange is in a whole file."""

    def __init__(self, options: KeeperOptions) -> None:
        """Take the folder. Raises `FolderBusy` and `CannotKeep`."""
        contracts = Contracts(ContractSource())
        by_name: dict[str, Contract] = {name: contracts.get(name) for name in _DIALECTS}
        self.contract = by_name["observed"]
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
        self._redactor = Redactor(options.stand_ins, options.secrets)
        self._dialects, self._skew = Dialects(by_name), ClockSkew()
        self._one_by_one = Lock()
        self._noticing = ThreadPoolExecutor(1, "noticing")
        self.kept: Counter[str] = Counter()
        """How many exchanges were kept, by operation."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files written so far."""
        return self._folder.files

    def keep(self, exchange: RecordedExchange) -> bool:
        """Write an exchange to its file; return False where it is of no operation.

        Its operation is found, and its origin is that of the others. Raises `CannotKeep`.
        """
        operation = self.contract.find(exchange.request.method, exchange.request.path)
        if operation is None:
            return False
        with self._one_by_one:
            named = replace(exchange, operation=operation.id, origin=self._options.origin)
            exchange = self._redactor.exchange(unpacked(named))
            self._folder.keep("flow" if self._options.one_file else operation.id, exchange)
            self.kept[operation.id] += 1
            # What the answers tell is worked out after the client has them.
            self._noticing.submit(self._notice, exchange)
        return True

    def close(self) -> Recording:
        """Bring what was noticed to the files and free the folder; return what they say.

        Raises `CannotKeep`; the files are whole all the same.
        """
        self._noticing.shutdown()
        self._folder.close()
        return self._head

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


def passed(
    request: Request,
    response: Response,
    time_ms: int | None = None,
    duration_ms: int | None = None,
    omitted: str = "",
) -> RecordedExchange:
    """Return an exchange as it passed, not yet named: when it was sent, and how long it took.

    `omitted` says why the body of the answer is not there; it is empty where it is.
    """
    return RecordedExchange(
        "", "", request, response, "", time_ms, duration_ms, response_omitted=omitted
    )


def unpacked(exchange: RecordedExchange) -> RecordedExchange:
    """Return an exchange whose bodies can be read and searched, or are left out with the reason."""
    request, response = exchange.request, exchange.response
    request_body, request_omitted = _shown(request.body, request.headers.get(_CODING))
    body, omitted = _shown(response.body, response.header(_CODING))
    return replace(
        exchange,
        request=replace(request, body=request_body),
        response=replace(response, body=body),
        request_omitted=request_omitted,
        response_omitted=exchange.response_omitted or omitted,
    )


def _shown(body: bytes, coding: str | None) -> tuple[bytes, str]:
    """Return a body that can be read and searched, or none and why."""
    if coding is None or not body:
        return body, ""
    # What cannot be searched for secrets is not kept.
    try:
        return codings.decoded(body, coding, limits.RECORDED_BODY.most), ""
    except codings.TooLong:
        return b"", f"it unpacks to more than {limits.RECORDED_BODY}"
    except (codings.UnknownCoding, codings.BadCoding) as error:
        return b"", str(error)
