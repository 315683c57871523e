"""Proves that files hold no secret, or names the places."""

import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from mockserver import file_formats, limits, userfiles
from mockserver.errors import InvalidFile, Problem
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Document
from mockserver.recordings.files import exchanges_of
from mockserver.recordings.folder import LOCK_FILE
from mockserver.recordings.recording import RecordedExchange
from mockserver.recordings.redaction.redactor import Redactor
from mockserver.recordings.redaction.secret_names import published_examples
from mockserver.recordings.zip_archives import NotUnpacked, unpack

_WHY = {
    "name": "its name says that it is a secret",
    "form": "it has the form of a secret",
    "known": "it stands elsewhere as a secret",
    "packed": "it is packed too deep to be searched",
}
_HEADER = "a header that no recording keeps"
_RECORDING = b"crosschain-mock/recording@"


@dataclass(frozen=True, slots=True)
class _Part:
    """A file, and the name by which people know it: that in a ZIP has its path there."""

    name: str
    file: Path


def scan(paths: Iterable[Path], secrets: Iterable[str] = ()) -> tuple[list[Problem], int]:
    """Return the places of secrets in files and folders, and how many files were read.

    `secrets` are texts that may stand nowhere. What one file shows to be a secret is looked for in
    all of them. Raises `InvalidFile` for what is not there or cannot be read.
    """
    redactor = Redactor(secrets=secrets)
    redactor.memory.declare(published_examples())
    with tempfile.TemporaryDirectory(prefix="scan-") as folder:
        parts = [part for path in paths for part in _parts(path, Path(folder))]
        # The first round learns what is a secret anywhere.
        for _ in range(2):
            problems = [problem for part in parts for problem in _secrets_in(part, redactor)]
    return problems, len(parts)


def _parts(path: Path, scratch: Path) -> Iterator[_Part]:
    if not path.exists():
        raise InvalidFile([Problem(path, None, "", "there is no such file or folder")])
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if not file.is_file() or file.name == LOCK_FILE:
            continue
        if not zipfile.is_zipfile(file):
            yield _Part(str(file), file)
            continue
        folder = Path(tempfile.mkdtemp(dir=scratch))
        try:
            unpack(file, folder)
        except NotUnpacked as error:
            raise InvalidFile([Problem(file, None, "", str(error))]) from None
        for member in _parts(folder, scratch):
            yield _Part(f"{file}/{member.file.relative_to(folder).as_posix()}", member.file)


def _secrets_in(part: _Part, redactor: Redactor) -> Iterator[Problem]:
    try:
        raw = userfiles.read(part.file, limits.RECORDED_BODY)
        if _RECORDING in raw[:4096] and part.file.suffix in (".yaml", ".yml", ".json"):
            document = file_formats.read(part.file, "recording")
            exchanges = exchanges_of(document, document.value["origin"])
            problems = [
                problem
                for row in enumerate(exchanges)
                for problem in _in_exchange(document, *row, redactor)
            ]
        else:
            problems = list(_in_bytes(part.file, raw, redactor))
    except userfiles.NotReadable as error:
        raise InvalidFile([Problem(part.name, None, "", str(error))]) from None
    except InvalidFile as error:
        raise InvalidFile(
            [replace(problem, file=part.name) for problem in error.problems]
        ) from None
    yield from (replace(problem, file=part.name) for problem in problems)


def _in_bytes(file: Path, raw: bytes, redactor: Redactor) -> Iterator[Problem]:
    masker = redactor.masker()
    changed = masker.body(raw)
    for place, why in masker.masked if changed != raw else ():
        yield Problem(file, _line_of_difference(raw, changed), place, _WHY[why])


def _in_exchange(
    document: Document, index: int, exchange: RecordedExchange, redactor: Redactor
) -> Iterator[Problem]:
    kept = redactor.exchange(exchange)
    places = dict.fromkeys(row for row in kept.masked if row not in exchange.masked)
    for part, before, after in (
        ("request", exchange.request.headers.items_sent, kept.request.headers.items_sent),
        ("response", exchange.response.headers, kept.response.headers),
    ):
        left = {header for header, _ in after}
        for header, value in before:
            if header not in left and not redactor.memory.is_public(value):
                yield _problem(document, index, exchange, f"{part}.headers.{header}", _HEADER)
    same = (exchange.request.target, exchange.request.body, exchange.response.body) == (
        kept.request.target, kept.request.body, kept.response.body,
    )  # fmt: skip
    in_headers = [place for place, _ in places if ".headers." in place]
    for place, why in places:
        if not same or place in in_headers:
            yield _problem(document, index, exchange, place, _WHY[why])


def _problem(
    document: Document, index: int, exchange: RecordedExchange, place: str, why: str
) -> Problem:
    path: tuple[str | int, ...] = ("exchanges", index, *place.split("."))
    problem = document.problem(path, f"in {exchange.name}: {why}")
    return Problem(problem.file, problem.line, place, problem.message)


def _line_of_difference(before: bytes, after: bytes) -> int:
    """Return the first line in which two texts differ."""
    pairs = zip(before.split(b"\n"), after.split(b"\n"), strict=False)
    return next((number for number, (before, after) in enumerate(pairs, 1) if before != after), 1)
