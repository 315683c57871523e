"""A capsule as a value, and as one file: a ZIP of files that people can read."""

import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path, PurePosixPath

from mockserver import documents, jsontext, limits, recordings, userfiles
from mockserver.errors import CrosschainMockError, InvalidFile, Problem
from mockserver.jsontext import Json
from mockserver.recordings import Recording
from mockserver.recordings.folder import bring_to_disk, replace_file
from mockserver.values import dataclass
from mockserver.wording import reason_of

FORMAT = "crosschain-mock/capsule@1"
HEAD, SCENARIO, JOURNAL = "capsule.json", "scenario.yaml", "journal"
_MOST_BYTES = limits.LONG_FILE.most
_MOST_FILES = 10_000
_EPOCH = (1980, 1, 1, 0, 0, 0)


class BadCapsule(CrosschainMockError):
    """A file that is no capsule, or one that is damaged."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class Capsule:
    """What a world went through.

    `start` is the dump of the world before its first request, `journal` its exchanges with their
    times on the world's clock, redacted. `scenario` names a shipped scenario; where it was a file,
    `scenario_text` is what stood in it. `versions` are the releases that made the capsule.
    """

    title: str
    versions: Mapping[str, str]
    scenario: str
    start: Json
    journal: Recording
    scenario_text: str = ""
    refusal_status: int | None = None
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)


def save(capsule: Capsule, file: Path) -> None:
    """Write a capsule; `capsule.files` are the files of its journal. Raises `BadCapsule`."""
    head: dict[str, Json] = {
        "format": FORMAT,
        "title": capsule.title,
        "versions": dict(capsule.versions),
        "scenario": capsule.scenario,
        "start": capsule.start,
    }
    if capsule.refusal_status is not None:
        head["refusalStatus"] = capsule.refusal_status
    parts = {HEAD: jsontext.pretty(head).encode() + b"\n"}
    if capsule.scenario_text:
        parts[SCENARIO] = capsule.scenario_text.encode()
    parts |= {f"{JOURNAL}/{name}": raw for name, raw in capsule.files.items()}
    with tempfile.SpooledTemporaryFile() as packed:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, raw in sorted(parts.items()):
                # The same capsule is the same file, whenever it is written.
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), raw, zipfile.ZIP_DEFLATED)
        packed.seek(0)
        try:
            replace_file(file, packed.read())
            bring_to_disk(file)
        except OSError as error:
            raise BadCapsule(f"cannot write {str(file)!r}: {reason_of(error)}") from None


def load(file: Path) -> Capsule:
    """Return a capsule. Raises `BadCapsule`, and `InvalidFile` for what is wrong inside."""
    with _unpacked(file) as folder:
        told = documents.read(folder / HEAD, "capsule").value
        text = (folder / SCENARIO).read_text("utf-8") if (folder / SCENARIO).exists() else ""
        return Capsule(
            title=told["title"],
            versions=told["versions"],
            scenario=told["scenario"],
            start=told["start"],
            journal=_journal(file, folder),
            scenario_text=text,
            refusal_status=told.get("refusalStatus"),
        )


def _journal(file: Path, folder: Path) -> Recording:
    """Return all exchanges of a capsule in the order of their times. Raises `BadCapsule`."""
    first, *rest = recordings.load_folder(folder / JOURNAL)
    whole = [exchange for one in (first, *rest) for exchange in one.exchanges]
    if any(exchange.time_ms is None for exchange in whole):
        raise BadCapsule(f"{file}: an exchange of its journal has no time")
    ordered = tuple(sorted(whole, key=lambda exchange: exchange.time_ms or 0))
    return Recording(
        first.title, first.origin, ordered, dialect=first.dialect, start=first.start, file=file
    )


@contextmanager
def _unpacked(file: Path) -> Iterator[Path]:
    """Unpack a capsule for a while; problems inside are told with the capsule's name."""
    folder = Path(tempfile.mkdtemp(prefix="capsule-"))
    try:
        _unpack(file, folder)
        yield folder
    except InvalidFile as error:
        raise InvalidFile(
            [
                Problem(
                    _inside(file, folder, problem), problem.line, problem.field, problem.message
                )
                for problem in error.problems
            ]
        ) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _inside(file: Path, folder: Path, problem: Problem) -> str:
    place = Path(problem.file)
    inner = place.relative_to(folder) if place.is_relative_to(folder) else place
    return f"{file}/{inner.as_posix()}"


def _unpack(file: Path, folder: Path) -> None:
    try:
        with userfiles.opened(file) as stream, zipfile.ZipFile(stream) as archive:
            _check(file, archive)
            for member in archive.infolist():
                target = folder / member.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))
    except userfiles.NotReadable as error:
        raise BadCapsule(f"{file}: {error}") from None
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError) as error:
        raise BadCapsule(f"{file}: no capsule: {str(error).lower()}") from None


def _check(file: Path, archive: zipfile.ZipFile) -> None:
    members = archive.infolist()
    if HEAD not in archive.namelist():
        raise BadCapsule(f"{file}: no capsule: it holds no {HEAD}")
    for member in members:
        path = PurePosixPath(member.filename)
        if path.is_absolute() or ".." in path.parts or "\\" in member.filename:
            raise BadCapsule(f"{file}: holds a file outside of itself: {member.filename!r}")
    if len(members) > _MOST_FILES or sum(member.file_size for member in members) > _MOST_BYTES:
        raise BadCapsule(f"{file}: holds more than {_MOST_FILES} files or {_MOST_BYTES} bytes")
