"""Where recordings come from: shipped ones by name, files and folders by path."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mockserver import resources
from mockserver.errors import InvalidFile, Problem
from mockserver.recordings.files import load
from mockserver.recordings.recording import RecordedExchange, Recording
from mockserver.validation import did_you_mean

_ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Source:
    """A recording, and its name where several are served together."""

    label: str
    recording: Recording

    def labelled(self) -> Iterator[tuple[str, RecordedExchange]]:
        """Yield its exchanges, each with the label that reports call it by."""
        for one in self.recording.exchanges:
            yield f"{self.label}#{one.name}", one


def shipped_names() -> list[str]:
    """Return the names of the shipped recordings, each a folder or a file below one."""
    root = resources.fixtures() / "recordings"
    files = sorted(root.rglob("*.yaml"))
    folders = sorted({file.parent.relative_to(root).as_posix() for file in files} - {"."})
    return [*folders, *(file.relative_to(root).with_suffix("").as_posix() for file in files)]


def gather(named: Iterable[str | Path]) -> tuple[Source, ...]:
    """Return the recordings that shipped names, files and folders stand for.

    A path that exists goes before a shipped name. Raises `InvalidFile`.
    """
    found = dict.fromkeys(pair for one in named for pair in _files(one))
    return tuple(Source(label, load(file)) for label, file in found)


def _files(named: str | Path) -> Iterator[tuple[str, Path]]:
    path = Path(named)
    if path.is_dir():
        yield from _in_folder(path, path)
    elif path.exists():
        yield path.name, path
    else:
        yield from _shipped(str(named))


def _shipped(name: str) -> Iterator[tuple[str, Path]]:
    root, names = resources.fixtures() / "recordings", shipped_names()
    if name not in names:
        kind = "folder" if name.endswith("/") else "file, folder or shipped recording"
        near = did_you_mean(name, names)
        shipped = ", ".join(one for one in names if "/" not in one)
        message = f"there is no such {kind}{near} (shipped: {shipped})"
        raise InvalidFile([Problem(name, None, "", message)])
    if (root / name).is_dir():
        yield from _in_folder(root / name, root)
    else:
        yield f"{name}.yaml", root / f"{name}.yaml"


def _in_folder(folder: Path, root: Path) -> Iterator[tuple[str, Path]]:
    files = sorted(file for file in folder.rglob("*") if _is_recording(file, folder))
    if not files:
        message = "no recording (*.yaml, *.yml or *.json) in this folder"
        raise InvalidFile([Problem(folder, None, "", message)])
    for file in files:
        yield file.relative_to(root).as_posix(), file


def _is_recording(file: Path, folder: Path) -> bool:
    """Whether a file is meant to be one: not a large body, nor a file that begins with a dot."""
    inside = file.relative_to(folder).parts
    hidden = any(part.startswith(".") for part in inside) or "bodies" in inside[:-1]
    return file.suffix in _ENDINGS and not hidden and file.is_file()
