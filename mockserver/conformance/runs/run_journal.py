"""The journal of a run: every exchange on a line of its own, so that a run can be resumed.

The first line is a header that tells what the run was; every further line is an exchange, or a
submission that is about to leave. Secrets are masked in the file, and a file is read without trust.
"""

import base64
import hashlib
import json
import re
from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, Self, TextIO

from mockserver import contract as contracts
from mockserver import jsontext, limits, userfiles
from mockserver.conformance.options import Options
from mockserver.conformance.session.caller import SECRET_HEADERS
from mockserver.conformance.session.exchange import Answer, Exchange, NoAnswer
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.contract import Contract
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import BadEncoding, Headers, Request, Response, query_pairs
from mockserver.jsontext import Json, picked, read_loosely
from mockserver.recordings.redaction import Redactor
from mockserver.recordings.redaction.secret_names import Secrecy, is_kept, secrecy
from mockserver.validation import SchemaCheck
from mockserver.wording import reason_of

FORMAT = "crosschain-mock/run@1"
MASK = "*"
_INTERRUPTED = Answer(
    0,
    trouble=NoAnswer.TIMED_OUT,
    reason="the run ended before the answer came, and a submission is never sent twice",
)
_NOTHING_CAME = (NoAnswer.UNREACHABLE, NoAnswer.TLS, NoAnswer.TIMED_OUT)
_COMPARED = {"seed": "seed", "dialect": "dialect", "v1": "v1 address", "v2": "2.0 address"}
_TIME = re.compile(r"[0-9]{10,13}")


def _object(**members: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(members)}


_STRING, _INTEGER, _MAYBE = {"type": "string"}, {"type": "integer"}, {"type": ["string", "null"]}
_PAIR = {"type": "array", "items": _STRING, "minItems": 2, "maxItems": 2}
_PAIRS = {"type": "array", "items": _PAIR}
_BODY = {"anyOf": [_STRING, _object(base64=_STRING)]}
_REQUEST = _object(method=_STRING, path=_STRING, query=_STRING, headers=_PAIRS, body=_BODY)
_ANSWER = _object(
    status=_INTEGER,
    headers=_PAIRS,
    body=_BODY,
    elapsed_ms=_INTEGER,
    trouble={"enum": [None, *NoAnswer]},
    reason=_STRING,
)
_ENTRY = _object(probe=_STRING, request=_REQUEST)
_LINE = SchemaCheck({**_ENTRY, "properties": {**_ENTRY["properties"], "answer": _ANSWER}})
_HEADER = SchemaCheck(
    _object(
        seed=_INTEGER,
        dialect=_STRING,
        v1=_MAYBE,
        v2=_MAYBE,
        contract=_STRING,
        options={"type": "object"},
    )
)


class BadJournal(UnsafeOrWrong):
    """A file that is no journal, is damaged, or belongs to another run; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a run was: a run with another seed, dialect, target or contract is another run.

    `contract` is a digest of the contract in its dialect. `options` are for readers, and may
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
            actual, expected = getattr(self, name), getattr(wanted, name)
            if actual != expected:
                apart = f"is of a run with the {words} {actual!r}, not {expected!r}"
                mend = "resume it with the same, or begin another journal"
                raise BadJournal(f"the journal {str(path)!r} {apart}; {mend}")
        if self.contract != wanted.contract:
            apart = "was written with another version of the contract; begin another journal"
            raise BadJournal(f"the journal {str(path)!r} {apart}")


@dataclass(frozen=True, slots=True)
class RunEntry:
    """An exchange as a journal holds it; without an answer, a submission that was interrupted."""

    probe: str
    request: Request
    answer: Answer | None = None
    submission: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A journal that was read: what the run was, and its exchanges in order.

    `length` is how many bytes of the file were written to the end of a line.
    """

    header: Header
    entries: tuple[RunEntry, ...]
    length: int = 0


def header_of(target: Target, options: Options, contract: Contract | None = None) -> Header:
    """Return the header of a run; the contract is loaded where it is not given."""
    return Header(
        seed=options.seed,
        dialect=options.dialect,
        v1=target.v1,
        v2=target.v2,
        contract=_digest(contract or contracts.load(options.dialect)),
        options={
            "armed": options.arming.writes,
            **picked(options, "only", "skip", "examples", "sequences", "deep"),
            "address": options.caller.address,
            "roles": dict(options.bindings.roles),
        },
    )


def _digest(contract: Contract) -> str:
    described_by = attrgetter("method", "path", "request_schema", "response_schema")
    described = {operation.id: described_by(operation) for operation in contract}
    text = json.dumps(described, sort_keys=True, default=str, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def is_journal(path: Path) -> bool:
    try:
        with userfiles.opened(path) as file:
            return FORMAT.encode() in file.readline(4096)
    except userfiles.NotReadable:
        return False


def masked(headers: Headers) -> Iterator[tuple[str, str]]:
    """Yield the fields of a request, secrets as a mask of fixed length."""
    for name, value in headers.items_sent:
        yield name, MASK * 8 if name.lower() in SECRET_HEADERS else value


def request_key(request: Request, probe: str = "") -> Hashable:
    """Return a key that is equal for requests which differ in secrets and time of sending only."""
    # A run that is resumed stamps its requests with another time, and signs them again.
    headers = tuple(
        (name, MASK if name.lower() == "timestamp" and _TIME.fullmatch(value) else value)
        for name, value in masked(request.headers)
    )
    return (probe, request.method, request.path, request.query, headers, request.body)


class Journal(AbstractContextManager["Journal"]):
    """Keeps the exchanges of a run in a file, and gives back those of the run it resumes."""

    def __init__(self, file: TextIO, entries: Iterable[RunEntry] = ()) -> None:
        """Write to an open file; `entries` are those that an earlier run has left."""
        self._file = file
        self._redactor = Redactor()
        self._answers: dict[Hashable, deque[Answer]] = defaultdict(deque)
        for entry in entries:
            answer = entry.answer or _INTERRUPTED
            # A request that never got an answer is sent again, unless it is a submission.
            if entry.submission or answer.trouble not in _NOTHING_CAME:
                self._answers[request_key(entry.request, entry.probe)].append(answer)

    @classmethod
    def new(cls, path: Path, header: Header) -> Self:
        """Begin a journal. Raises `BadJournal` where a file that is no journal is in its place."""
        with _writing(path):
            occupied = path.exists() and (not path.is_file() or path.stat().st_size > 0)
        if occupied and not is_journal(path):
            raise BadJournal(f"{str(path)!r} is no journal of a run, and is not overwritten")
        journal = cls(_opened(path, "w"))
        journal._append({"format": FORMAT, **asdict(header)})
        return journal

    @classmethod
    def resumed(cls, path: Path, header: Header) -> Self:
        """Go on with a journal. Raises `BadJournal` for one of another run, or none at all."""
        run = read_run(path)
        run.header.check(header, path)
        file = _opened(path, "r+")
        # A line that was half written when the run ended would spoil the next one.
        file.truncate(run.length)
        file.seek(run.length)
        return cls(file, run.entries)

    def __exit__(self, *raised: object) -> None:
        self.close()

    def recall(self, probe: str, request: Request) -> Answer | None:
        """Return the answer that the earlier run got to the same request, each one once."""
        answers = self._answers.get(request_key(request, probe))
        return answers.popleft() if answers else None

    def begin(self, probe: str, request: Request) -> None:
        """Note a submission that is about to leave, so that it is never sent twice."""
        self._append(self._line(probe, request))

    def keep(self, exchange: Exchange) -> None:
        answer = exchange.answer
        line = self._line(exchange.probe, exchange.request)
        came = Response(answer.status, answer.headers, answer.body)
        self._redactor.learn(Request("GET", "/"), came)
        kept = self._redactor.shown_response(came)
        line["answer"] = {
            "status": answer.status,
            "headers": [list(item) for item in _with_length(kept, len(answer.body))],
            "body": _written(kept.body),
            "elapsed_ms": answer.elapsed_ms,
            "trouble": answer.trouble.value if answer.trouble else None,
            "reason": self._redactor.line(answer.reason),
        }
        self._append(line)

    def close(self) -> None:
        self._file.close()

    def _line(self, probe: str, request: Request) -> dict[str, Json]:
        """Return the line of a request, and learn its secrets: an answer may repeat them."""
        for name, value in request.headers.items_sent:
            if name.lower() in SECRET_HEADERS:
                self._redactor.memory.add(value)
        # By role: `token` of the contract is the token of a chain, also where its text is hostile.
        self._redactor.memory.declare(_tokens_of(request))
        headers = [list(item) for item in masked(request.headers)]
        parts = {**picked(request, "method", "path", "query"), "headers": headers}
        return {"probe": probe, "request": {**parts, "body": _written(request.body)}}

    def _append(self, line: Mapping[str, Json]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()


def _tokens_of(request: Request) -> Iterator[str]:
    """Yield what inputs of the contract are, whose names would else be perhaps those of secrets."""
    inputs: list[tuple[str, Json]] = []
    with suppress(BadEncoding):
        inputs += query_pairs(request.query)
    members = jsontext.decode_or(request.body)
    inputs += members.items() if isinstance(members, dict) else ()
    for name, value in inputs:
        if isinstance(value, str) and secrecy(name) is Secrecy.POSSIBLE and is_kept(name):
            yield value


def _with_length(response: Response, length: int) -> Iterator[tuple[str, str]]:
    """Yield the headers of an answer whose body had `length` bytes: a rule compares the two."""
    for name, value in response.headers:
        is_right = name.lower() == "content-length" and value == str(length)
        yield name, str(len(response.body)) if is_right else value


def journalled(
    target: Target,
    options: Options,
    *,
    journal: str | Path | None = None,
    resume: str | Path | None = None,
) -> AbstractContextManager[Journal | None]:
    """Return the journal that a run is to keep, or what gives None. Raises `UnsafeOrWrong`."""
    if journal is not None and resume is not None:
        raise UnsafeOrWrong("a run begins a journal or resumes one; name one file, not both")
    begin, path = (Journal.resumed, resume) if journal is None else (Journal.new, journal)
    return nullcontext() if path is None else begin(Path(path), header_of(target, options))


def _opened(path: Path, mode: Literal["w", "r+"]) -> TextIO:
    with _writing(path):
        # Lines are counted in bytes: no platform may write its own line ends.
        return path.open(mode, encoding="ascii", newline="\n")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadJournal(f"cannot write the journal {str(path)!r}: {reason_of(error)}") from None


def read_run(path: Path) -> Run:
    """Return a journal; a half line at its end is left out. Raises `BadJournal`."""
    try:
        raw = userfiles.read(path, limits.LONG_FILE)
    except userfiles.NotReadable as error:
        raise BadJournal(f"the journal {str(path)!r} {error}") from None
    length = raw.rfind(b"\n") + 1
    first, *others = raw[:length].splitlines() or [b""]
    line = _parsed(first)
    if not isinstance(line, dict) or line.pop("format", None) != FORMAT:
        raise BadJournal(f"{str(path)!r} is no journal of a run: its first line is not {FORMAT}")
    _check(_HEADER, line, f"{path}:1")
    header = Header(**{name: line[name] for name in _HEADER.schema["properties"]})
    entries = [_entry(raw_line, f"{path}:{number}") for number, raw_line in enumerate(others, 2)]
    return Run(header, tuple(_answered(entries)), length)


def _answered(entries: Iterable[RunEntry]) -> list[RunEntry]:
    """Return the exchanges, and the submissions without an answer."""
    answered: dict[int, RunEntry] = {}
    begun: dict[Hashable, deque[int]] = defaultdict(deque)
    for number, entry in enumerate(entries):
        # A submission has two lines: when it left, and, unless the run ended, with its answer.
        waiting = begun[request_key(entry.request, entry.probe)]
        answered[number] = replace(entry, submission=entry.answer is None or bool(waiting))
        if entry.answer is None:
            waiting.append(number)
        elif waiting:
            del answered[waiting.popleft()]
    return list(answered.values())


def _entry(raw: bytes, place: str) -> RunEntry:
    """Return what a line says; `place` is named in errors. Raises `BadJournal`."""
    line = _parsed(raw)
    _check(_LINE, line, place)
    request, answer = line["request"], line.get("answer")
    try:
        request |= {"headers": Headers(_pairs(request)), "body": _bytes(request)}
        if answer is not None:
            trouble = answer["trouble"] and NoAnswer(answer["trouble"])
            answer |= {"headers": _pairs(answer), "body": _bytes(answer), "trouble": trouble}
    except ValueError as error:
        raise _damaged(place, f"a body cannot be read: {error}") from None
    return RunEntry(
        line["probe"],
        Request(**{name: request[name] for name in _REQUEST["properties"]}),
        answer and Answer(**{name: answer[name] for name in _ANSWER["properties"]}),
    )


def _parsed(raw: bytes) -> Any:
    try:
        return read_loosely(raw.decode("utf-8"))
    except ValueError:
        return None


def _check(schema: SchemaCheck, line: Json, place: str) -> None:
    """Raise `BadJournal` where a line is not as it was written."""
    for wrong in schema.violations(line):
        raise _damaged(place, str(wrong))


def _damaged(place: str, what: str) -> BadJournal:
    return BadJournal(f"{place}: the line is damaged: {what}; begin another journal")


def _pairs(part: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in part["headers"])


def _written(raw: bytes) -> Json:
    """Return a body as a line has it: as text, or in base64 where it is none."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode("ascii")}


def _bytes(part: Mapping[str, Any]) -> bytes:
    body = part["body"]
    # Half a surrogate pair and what is no base64 are both a `ValueError`.
    return (
        body.encode() if isinstance(body, str) else base64.b64decode(body["base64"], validate=True)
    )
