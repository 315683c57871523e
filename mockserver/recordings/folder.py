"""A folder that recordings are written to while they are made: whole files only, one writer."""

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path
from threading import Event, Lock, Thread
from typing import IO, Self

from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.recordings import bodies
from mockserver.recordings.files import exchange_text, head_text
from mockserver.recordings.recording import RecordedExchange, Recording
from mockserver.userfiles import modeline
from mockserver.wording import reason_of

LOCK_FILE = ".recorder.lock"
LARGE_BODY = 64 * 1024
"""Bodies of more bytes than this have a file of their own, so that recordings stay readable."""

FULL_FILE = 256 * 1024
"""A file with more bytes than this gets no further exchange; the next one begins another file."""

SYNC_SECONDS = 0.5
"""How often files are synced to the disk: only a power failure loses what came since."""


class FolderBusy(CrosschainMockError):
    """Another recorder writes to the folder."""


class CannotKeep(CrosschainMockError):
    """An exchange that could not be written; what was kept before is untouched."""


class RecordingFolder:
    """Writes exchanges to the files of a folder, each in a whole file before `keep` returns.

    A file is never changed in place: it is written anew under another name and put in the place of
    the old one. So whoever reads sees whole files only, at any moment, and a killed recorder leaves
    the files as the last `keep` left them. What a power failure could cost is brought to the disk
    in the background, and at the end. Files that were there before are not
    touched. Use it as a context manager; it holds the folder for itself until its end.
    """

    def __init__(self, folder: Path, head: Recording, sync_seconds: float = SYNC_SECONDS) -> None:
        """Take the folder, making it where it is not there.

        `head` is what every file says above its exchanges; its title is followed by what the file
        holds. What was kept is brought to the disk every `sync_seconds`. Raises `FolderBusy`, and
        `CannotKeep` where the folder cannot be written.
        """
        self.folder = folder
        self._head = head
        self._files: dict[str, _OpenFile] = {}
        self._names: dict[str, int] = {}
        self._writing = Lock()
        self._syncer = _Syncer(sync_seconds)
        with _explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder)
        self._taken = {path.name for path in folder.glob("*.yaml")}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files written so far, in the order in which they were begun."""
        return tuple(
            open_file.path
            for open_file in self._files.values()
            if open_file.rows or open_file.is_full
        )

    def keep(self, group: str, exchange: RecordedExchange) -> Path:
        """Add an exchange to the file of its group, such as an operation's id; return that file.

        The exchange gets a name that is unique in its file. When this returns, a killed process
        does not lose it. Raises `CannotKeep`, for this exchange, whose file then is as it was, or
        where earlier ones could not be brought to the disk.
        """
        with self._writing:
            with _explained(self.folder):
                self._syncer.check()
            open_file = self._open_file(group)
            named = replace(exchange, name=self._name(exchange))
            with _explained(open_file.path):
                row = exchange_text(named, self._head.origin, self._large_bodies(named))
                rows = [*open_file.rows, row]
                self._write(open_file, rows)
            # Only now, when the file is written: a failed write leaves what was kept.
            open_file.rows[:] = rows
            return open_file.path

    def describe(self, head: Recording) -> None:
        """Change what files say above their exchanges, when they are written next or at the end."""
        with self._writing:
            self._head = head

    def close(self) -> None:
        """Bring what files say above their exchanges up to date, and give the folder free.

        When this returns, everything is on the disk. Raises `CannotKeep`; the files are whole.
        """
        with self._writing, self._lock:
            try:
                for open_file in self._files.values():
                    if open_file.head not in (None, self._head):
                        with _explained(open_file.path):
                            self._write(open_file, self._rows_of(open_file))
            finally:
                with _explained(self.folder):
                    self._syncer.close()

    def _open_file(self, group: str) -> "_OpenFile":
        open_file = self._files.get(group)
        if open_file is not None and open_file.size <= FULL_FILE:
            return open_file
        if open_file is not None:
            # A full file still gets the last head; its key is one that no group has. Its rows are
            # read again then, so that a recording of any length takes no memory.
            open_file.rows, open_file.is_full = [], True
            self._files[f"{group} {len(self._files)}"] = self._files.pop(group)
        stem = re.sub(r"[^A-Za-z0-9.-]+", "-", group).strip("-.") or "recording"
        name, number = f"{stem}.yaml", 1
        # Of earlier runs as well: their files are never written to again.
        while name in self._taken:
            number += 1
            name = f"{stem}-{number}.yaml"
        self._taken.add(name)
        self._files[group] = _OpenFile(self.folder / name, group)
        return self._files[group]

    def _name(self, exchange: RecordedExchange) -> str:
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", exchange.operation).lower()
        stem = re.sub(r"[^a-z0-9]+", "-", exchange.name or words).strip("-") or "exchange"
        self._names[stem] = self._names.get(stem, 0) + 1
        number = self._names[stem]
        return stem if number == 1 else f"{stem}-{number}"

    def _large_bodies(self, exchange: RecordedExchange) -> dict[bytes, str]:
        """Write large bodies to files of their own; equal ones share one."""
        names = {}
        coded = exchange.response.coded
        came = b"" if coded is None else coded.body
        for body in (exchange.request.body, exchange.response.body, came):
            if len(body) > LARGE_BODY:
                names[body] = bodies.file_name(body, bodies.checksum_of(body))
                path = self.folder / bodies.FOLDER / names[body]
                # Named by what is in it, so that one that is there is the same.
                if not path.exists():
                    self._put(path, body)
        return names

    def _rows_of(self, open_file: "_OpenFile") -> list[str]:
        if not open_file.is_full or open_file.head is None:
            return open_file.rows
        before = self._head_of(open_file, open_file.head)
        return [open_file.path.read_text("utf-8").removeprefix(before)]

    @staticmethod
    def _head_of(open_file: "_OpenFile", head: Recording) -> str:
        text = head_text(replace(head, title=f"{head.title}: {open_file.group}", exchanges=()))
        if open_file.modeline is None:
            open_file.modeline = modeline(open_file.path, text)
        return open_file.modeline + text

    def _write(self, open_file: "_OpenFile", rows: list[str]) -> None:
        raw = (self._head_of(open_file, self._head) + "".join(rows)).encode()
        self._put(open_file.path, raw)
        open_file.size, open_file.head = len(raw), self._head

    def _put(self, path: Path, raw: bytes) -> None:
        # The folder may have been deleted meanwhile: make it again, and lose nothing more.
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, raw)
        self._syncer.note(path)


@dataclass(slots=True)
class _OpenFile:
    """A file that still grows; `rows` are the texts of its exchanges."""

    path: Path
    group: str
    rows: list[str] = field(default_factory=list)
    size: int = 0
    head: Recording | None = None
    modeline: str | None = None
    """As it was when the file was begun: the schemas may be written or deleted meanwhile."""
    is_full: bool = False
    """Whether it gets no further exchange; its rows are on the disk alone then."""


class _Syncer:
    """Brings files to the disk in the background, many changes at once."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._changed: dict[Path, None] = {}
        self._lock, self._ended = Lock(), Event()
        self._thread: Thread | None = None
        self._trouble: OSError | None = None

    def note(self, path: Path) -> None:
        """Note that a file was put in its place, so that both it and its rename reach the disk."""
        with self._lock:
            self._changed |= {path: None, path.parent: None}
        if self._thread is None:
            # On first use: most folders of tests get no exchange.
            self._thread = Thread(target=self._run, name="recordings-to-disk", daemon=True)
            self._thread.start()

    def check(self) -> None:
        """Raise the `OSError` of what could not be brought to the disk."""
        if self._trouble is not None:
            raise self._trouble

    def close(self) -> None:
        """Bring the rest to the disk. Raises `OSError`."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._sync()
        self.check()

    def _run(self) -> None:
        while not self._ended.wait(self._seconds):
            self._sync()

    def _sync(self) -> None:
        with self._lock:
            changed, self._changed = self._changed, {}
        for path in changed:
            try:
                bring_to_disk(path)
            except FileNotFoundError:
                # Deleted on purpose: nothing to sync.
                continue
            except OSError as error:
                self._trouble = error


def replace_file(path: Path, raw: bytes) -> None:
    """Put a file in the place of another at once.

    Raises `OSError`; the old file then is as it was.
    """
    # Beside it, since a rename is one step only within a file system.
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_bytes(raw)
        new.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def bring_to_disk(path: Path) -> None:
    """Return when a file or a folder would survive a power failure. Raises `OSError`."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotKeep(f"cannot write {str(path)!r}: {reason_of(error)}") from None


def _locked(folder: Path) -> IO[bytes]:
    """Take the folder's lock, which the system frees when this process ends, however it ends."""
    # Never deleted: whoever has it open would hold the lock of a file that nobody finds.
    lock = (folder / LOCK_FILE).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        text = f"another recorder is writing to {str(folder)!r}; give this one a folder of its own"
        raise FolderBusy(text) from None
    return lock
