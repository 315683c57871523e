"""A tape: recordings of a client's run that are played, and added to, as a record mode says."""

import asyncio
import contextlib
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from mockserver.contract import load
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Request, Response
from mockserver.recordings.bodies import FOLDER
from mockserver.recordings.folder import LOCK_FILE
from mockserver.responders.replay import ReplayMode
from mockserver.server.recorder.exchange_keeper import KeeperOptions, RecordingKeeper
from mockserver.server.recorder.upstream import (
    NoUpstreamAnswer,
    ProxyOptions,
    answer_of,
    fetched,
    trouble,
)


class RecordMode(StrEnum):
    """What is recorded and what is played, in the sense of VCR.py."""

    ONCE = "once"
    """Record where there are no recordings yet; where there are, refuse what is not in them."""
    NONE = "none"
    """Play, and refuse everything else."""
    NEW = "new"
    """Play, and record everything else."""
    ALL = "all"
    """Record everything anew, and put it in the place of earlier recordings."""


@dataclass(frozen=True, slots=True)
class TapeOptions:
    """How a tape is played and recorded.

    `service` says where requests go, None where no service is named, and `source` how files name
    it. `record_again` and `name_one` tell people how to record.
    """

    mode: RecordMode
    folder: Path
    service: ProxyOptions | None = None
    source: str = "a service"
    title: str = "recorded"
    record_again: str = "record it with another record mode"
    name_one: str = "name one with --upstream-v1 and --upstream-v2"


class Tape:
    """The recordings of a folder, and the service that answers what is not among them."""

    def __init__(self, options: TapeOptions) -> None:
        """Look whether there are recordings; nothing is opened and nothing written yet."""
        self.options = options
        self._plays = options.mode is not RecordMode.ALL and has_recordings(options.folder)
        self._keeper: RecordingKeeper | None = None
        self.kept = 0
        """How many exchanges were recorded, once the tape is closed."""
        self.missed = 0
        """How many requests were to be recorded, and were not."""

    @property
    def sources(self) -> tuple[Path, ...]:
        return (self.options.folder,) if self._plays else ()

    @property
    def why_not(self) -> str:
        """Why requests that are not recorded go nowhere, as a sentence; empty where they do."""
        mode, folder = self.options.mode, self.options.folder
        if mode is RecordMode.NONE:
            near = folder.is_relative_to(Path.cwd())
            shown = folder.relative_to(Path.cwd()) if near else folder
            return f"{str(shown)!r} has no recordings; {self.options.record_again}"
        if self.options.service is None:
            return f"no service is named that could answer it; {self.options.name_one}"
        return ""

    @property
    def passes_on(self) -> bool:
        """Whether something else than the recordings answers what is not among them."""
        return self.options.mode in (RecordMode.NEW, RecordMode.ALL) or not self._plays

    def replay_mode(self, mode: ReplayMode) -> ReplayMode:
        """Return how the recordings are played, where a world's options say `mode`."""
        return replace(
            mode,
            strict=not self.passes_on,
            any_dialect=True,
            once=self.options.mode is RecordMode.NEW,
        )

    async def answer(self, request: Request) -> Response:
        """Return the service's answer to a request, which is kept by then."""
        assert self.options.service is not None  # noqa: S101  # `why_not` is empty
        tell = self.options.service.tell
        try:
            keeper = self._opened()
            try:
                exchange = await fetched(self.options.service, keeper.contract, request)
            except NoUpstreamAnswer as error:
                self.missed += 1
                tell(keeper.shown(request, str(error)))
                return trouble(error.status, str(error))
            if reason := await asyncio.to_thread(keeper.keep, exchange):
                self.missed += 1
                tell(reason)
        except CrosschainMockError as error:
            self.missed += 1
            tell(str(error))
            return trouble(507, f"{error}; the answer was not kept")
        return answer_of(exchange)

    def close(self) -> None:
        """Bring what was recorded to its place. Raises `CannotKeep`."""
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        keeper.close()
        self.kept = keeper.kept.total()
        written, folder = self._written_to(), self.options.folder
        # The lock is of the folder that was written, and must not be moved with the recordings.
        (written / LOCK_FILE).unlink(missing_ok=True)
        if not keeper.kept:
            _remove_if_empty(written)
        elif written != folder:
            _clear(folder)
            for path in sorted(written.iterdir()):
                path.rename(folder / path.name)
            written.rmdir()

    def _opened(self) -> RecordingKeeper:
        if self._keeper is None:
            options = self.options
            self._keeper = RecordingKeeper(
                KeeperOptions(
                    self._written_to(), title=options.title, source=options.source, one_file=True
                )
            )
        return self._keeper

    def _written_to(self) -> Path:
        """Return the folder that is written: what replaces recordings must be whole before."""
        folder = self.options.folder
        if self.options.mode is RecordMode.ALL:
            # Beside it, on the same disk: there a rename moves nothing.
            return folder.with_name(f".{folder.name}.new")
        return folder


class PassThrough:
    """A service that answers what no recording does, and whose answers are not kept."""

    why_not = ""

    def __init__(self, service: ProxyOptions) -> None:
        """Pass requests on as `service` says."""
        self._service = service

    async def answer(self, request: Request) -> Response:
        """Return the service's answer to a request."""
        try:
            exchange = await fetched(self._service, load("observed"), request)
        except NoUpstreamAnswer as error:
            self._service.tell(str(error))
            return trouble(error.status, str(error))
        return answer_of(exchange)


def has_recordings(folder: Path) -> bool:
    return folder.is_dir() and any(folder.glob("*.yaml"))


def _clear(folder: Path) -> None:
    """Remove the recordings of a folder, and nothing else that is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (*folder.glob("*.yaml"), *(folder / FOLDER).glob("*")):
        file.unlink()
    _remove_if_empty(folder / FOLDER)


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
