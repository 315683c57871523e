"""The journal of a run: every exchange on a line of its own, so that a run can be resumed.

The first line is a header that tells what the run was; every further line is an exchange, or a
submission that is about to leave. Secrets are masked in the file.
"""

import hashlib
import json
import re
from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Literal, Self, TextIO

from mockserver import contract as contracts
from mockserver import limits, userfiles
from mockserver.conformance.options import Options
from mockserver.conformance.runs.journal_lines import (
    MASK,
    BadJournal,
    Kept,
    Reader,
    Secrets,
    line_of,
    masked,
    parsed,
    read_line,
    text_of,
)
from mockserver.conformance.session.exchange import Answer, Exchange, Trouble
from mockserver.conformance.session.target import Target
from mockserver.contract import Contract
from mockserver.exchange import Request
from mockserver.jsontext import Json
from mockserver.values import dataclass
from mockserver.wording import reason_of

FORMAT = "crosschain-mock/run@1"
_NOTHING_CAME = (Trouble.UNREACHABLE, Trouble.TLS, Trouble.TIMED_OUT)
_COMPARED = {
    "seed": "the seed",
    "dialect": "the dialect",
    "v1": "the v1 address",
    "v2": "the 2.0 address",
}

_TIME = re.compile(r"[0-9]{10,13}")

_Key = tuple[str, str, str, str, tuple[tuple[str, str], ...], bytes]


@dataclass(frozen=True, slots=True)
class Header:
    """What a run was: a run with another seed, dialect, target or contract is another run.

    `contract` is a digest of the contract in its dialect. `options` are told to readers, and may
    differ in the run that resumes.
    """

    seed: int
    dialect: str
    v1: str | None
    v2: str | None
    contract: str
    options: Mapping[str, Json] = field(default_factory=dict)

    def check(self, wanted: "Header", path: Path) -> None:
        """Raise `BadJournal` where this header, found in a file, is that of another run."""
        for name, words in _COMPARED.items():
            found, asked = getattr(self, name), getattr(wanted, name)
            if found != asked:
                raise BadJournal(
                    f"the journal {str(path)!r} is of a run with {words} {found!r}, not {asked!r}; "
                    "resume it with the same, or begin another journal"
                )
        if self.contract != wanted.contract:
            raise BadJournal(
                f"the journal {str(path)!r} was written with another version of the contract; "
                "begin another journal"
            )


@dataclass(frozen=True, slots=True)
class Run:
    """A journal that was read: what the run was, and its exchanges in order."""

    header: Header
    kept: tuple[Kept, ...]


def header_of(target: Target, options: Options, contract: Contract | None = None) -> Header:
    """Return the header of a run; the contract is loaded where it is not given."""
    return Header(
        seed=options.seed,
        dialect=options.dialect,
        v1=target.v1,
        v2=target.v2,
        contract=digest(contract or contracts.load(options.dialect)),
        options={
            "armed": options.arming.writes,
            "only": list(options.only),
            "skip": list(options.skip),
            "examples": options.examples,
            "sequences": options.sequences,
            "deep": options.deep,
            "address": options.caller.address,
            "roles": dict(options.bindings.roles),
        },
    )


def digest(contract: Contract) -> str:
    """Return a digest of everything that a contract says of its operations."""
    told = {
        operation.id: [
            operation.method,
            operation.path,
            operation.request_schema,
            operation.response_schema,
        ]
        for operation in contract
    }
    text = json.dumps(told, sort_keys=True, default=str, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def is_journal(path: Path) -> bool:
    """Tell whether a file begins as a journal does."""
    try:
        with userfiles.opened(path) as file:
            return FORMAT.encode() in file.readline(4096)
    except userfiles.NotReadable:
        return False


def read_run(path: Path) -> Run:
    """Return a journal; a half line at its end is left out. Raises `BadJournal`."""
    return _read(path)[0]


def request_key(request: Request) -> Hashable:
    """Return what two requests have in common that differ in secrets and time of sending only."""
    return _key("", request)


class Journal:
    """Keeps the exchanges of a run in a file, and gives back those of the run it resumes."""

    def __init__(self, file: TextIO, kept: Iterable[Kept] = ()) -> None:
        """Write to an open file; `kept` is what an earlier run has left."""
        self._file = file
        self._secrets = Secrets()
        self._kept: dict[_Key, deque[Answer]] = defaultdict(deque)
        for one in kept:
            answer = one.answer or _interrupted()
            # What never arrived is asked again, but for submissions.
            if one.submission or answer.trouble not in _NOTHING_CAME:
                self._kept[_key(one.probe, one.request)].append(answer)

    @classmethod
    def new(cls, path: Path, header: Header) -> Self:
        """Begin a journal. Raises `BadJournal` where a file that is no journal is in its place."""
        _refuse_to_overwrite(path)
        file = _opened(path, "w")
        _append(file, {"format": FORMAT, **asdict(header)})
        return cls(file)

    @classmethod
    def resumed(cls, path: Path, header: Header) -> Self:
        """Go on with a journal. Raises `BadJournal` for one of another run, or none at all."""
        run, length = _read(path)
        run.header.check(header, path)
        file = _opened(path, "r+")
        # What was half written when the run ended would spoil the first line that follows.
        file.truncate(length)
        file.seek(length)
        return cls(file, run.kept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def recall(self, probe: str, request: Request) -> Answer | None:
        """Return the answer that the earlier run got to the same request, each one once."""
        answers = self._kept.get(_key(probe, request))
        return answers.popleft() if answers else None

    def begin(self, probe: str, request: Request) -> None:
        """Note a submission that is about to leave, so that it is never sent twice."""
        self._secrets.note(request)
        _append(self._file, line_of(Kept(probe, request), self._secrets))

    def keep(self, exchange: Exchange) -> None:
        """Keep an exchange at once."""
        self._secrets.note(exchange.request)
        kept = Kept(exchange.probe, exchange.request, exchange.answer)
        _append(self._file, line_of(kept, self._secrets))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _append(file: TextIO, line: Mapping[str, Json]) -> None:
    file.write(text_of(line))
    file.flush()


def _interrupted() -> Answer:
    reason = "the run ended before the answer came, and a submission is never sent twice"
    return Answer(0, trouble=Trouble.TIMED_OUT, reason=reason)


def _key(probe: str, request: Request) -> _Key:
    # A run that is resumed stamps its requests with another time, and signs them again.
    headers = tuple(
        (name, MASK if name.lower() == "timestamp" and _TIME.fullmatch(value) else value)
        for name, value in masked(request.headers)
    )
    return (probe, request.method, request.path, request.query, headers, request.body)


def _opened(path: Path, mode: Literal["w", "r+"]) -> TextIO:
    try:
        # Lines are counted in bytes: no platform may write its own line ends.
        return path.open(mode, encoding="ascii", newline="\n")
    except OSError as error:
        raise _failed("write", path, error) from None


def _refuse_to_overwrite(path: Path) -> None:
    try:
        occupied = path.exists() and (not path.is_file() or path.stat().st_size > 0)
    except OSError as error:
        raise _failed("write", path, error) from None
    if occupied and not is_journal(path):
        raise BadJournal(f"{str(path)!r} is no journal of a run, and is not overwritten")


def _read(path: Path) -> tuple[Run, int]:
    """Return a journal, and how many bytes of it were written to the end of a line."""
    try:
        raw = userfiles.read(path, limits.LONG_FILE)
    except userfiles.NotReadable as error:
        raise BadJournal(f"the journal {str(path)!r} {error}") from None
    length = raw.rfind(b"\n") + 1
    first, *others = raw[:length].splitlines() or [b""]
    header = _header(first, path)
    lines = [read_line(line, f"{path}:{number}") for number, line in enumerate(others, 2)]
    return Run(header, tuple(_answered(lines))), length


def _answered(lines: Iterable[Kept]) -> list[Kept]:
    """Return the exchanges; a submission that was begun is told only where no answer follows."""
    found: list[Kept | None] = []
    begun: dict[_Key, deque[int]] = defaultdict(deque)
    for kept in lines:
        # A submission stands twice: when it left, and, unless the run ended, with its answer.
        waiting = begun[_key(kept.probe, kept.request)]
        if kept.answer is None:
            waiting.append(len(found))
        elif waiting:
            found[waiting.popleft()] = None
        else:
            found.append(kept)
            continue
        found.append(replace(kept, submission=True))
    return [kept for kept in found if kept is not None]


def _header(line: bytes, path: Path) -> Header:
    told = parsed(line)
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise BadJournal(f"{str(path)!r} is no journal of a run: its first line is not {FORMAT}")
    read = Reader(told, f"{path}:1")
    return Header(
        seed=read.value("seed", int),
        dialect=read.value("dialect", str),
        v1=read.value("v1", str, type(None)),
        v2=read.value("v2", str, type(None)),
        contract=read.value("contract", str),
        options=read.value("options", dict),
    )


def _failed(what: str, path: Path, error: OSError) -> BadJournal:
    return BadJournal(f"cannot {what} the journal {str(path)!r}: {reason_of(error)}")
