"""A capsule that is written while its world lives, so that it may be longer than any journal."""

import platform
import shutil
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from threading import BoundedSemaphore, Thread
from typing import Self

from mockserver import __version__
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import Headers
from mockserver.recordings import RecordedExchange, Recording
from mockserver.server.capsules import Capsule, NothingToKeep, begun_anew, files_in, pack
from mockserver.server.recorder import KeeperOptions, RecordingKeeper
from mockserver.server.service import Service
from mockserver.times_and_durations import iso
from mockserver.wording import counted
from mockserver.worlds.hosted import DEFAULT_WORLD
from mockserver.worlds.journal import Entry, StoredEntry, entry_of

# Requests that may wait to be written; after that the server is as slow as the disk.
_WAITING = 2_000


class GrowingCapsule:
    """Keeps the requests of the default world in a folder beside the file, then packs them.

    The folder has a recording without secrets at any moment, and stays where the process is
    killed. Use it as a context manager around the requests.
    """

    def __init__(
        self,
        service: Service,
        file: Path,
        scenario_text: str = "",
        refusal_status: int | None = None,
        secrets: tuple[str, ...] = (),
    ) -> None:
        """Begin with the world as it is now. Raises `CannotKeep` and `FolderBusy`."""
        self._file, self._secrets = file, secrets
        self._worlds = service.worlds
        self._hosted = service.worlds.get(DEFAULT_WORLD)
        self._scenario_text, self._refusal_status = scenario_text, refusal_status
        self._folder = file.with_name(f".{file.name}.journal")
        dump = self._hosted.dump()
        self._orders, self._tickets = dump["world"]["orders"], dump["world"]["tickets"]
        self._sent = dump["transactions"]
        self._since = self._hosted.horizon.sequence
        self._first_ms: int | None = None
        self._last_ms = 0
        self._keeper: RecordingKeeper | None = None
        self._trouble: CrosschainMockError | None = None
        # A queue of a fixed size would take a lock twice for each request.
        self._queue: SimpleQueue[tuple[int, int, StoredEntry] | None] = SimpleQueue()
        self._room = BoundedSemaphore(_WAITING)
        self._thread = Thread(target=self._write_all, name="crosschain-mock-capsule", daemon=True)

    def __enter__(self) -> Self:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._thread.start()
        self._hosted.journal.follow = self._note
        return self

    def __exit__(self, *raised: object) -> None:
        self._end()
        if self._trouble is None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def finish(self) -> str:
        """Write the capsule, and return what is in it.

        Raises `NothingToKeep` without any request, and where the world was replaced; `CannotKeep`
        and `BadCapsule` where the disk refuses.
        """
        self._end()
        if self._trouble is not None:
            raise self._trouble
        if self._worlds.get(DEFAULT_WORLD) is not self._hosted:
            raise NothingToKeep(
                f"{self._file}: the default world was replaced by a dump or a fork during the run; "
                "a capsule has the whole history of one world"
            )
        if self._keeper is None or self._first_ms is None or not self._keeper.kept:
            raise NothingToKeep(f"{self._file}: no request came to an operation of the service")
        # The end knows the outages of the whole run, and the beginning its orders.
        dump = {**self._hosted.dump(listed=lambda items: []), "transactions": self._sent}
        start = begun_anew(dump, self._first_ms, self._orders, self._tickets)
        capsule = Capsule(
            title=self._file.stem,
            versions={"crosschainMock": __version__, "python": platform.python_version()},
            scenario=self._hosted.world.scenario.name,
            start=start,
            journal=Recording(self._file.stem, "simulation", ()),
            scenario_text=self._scenario_text,
            refusal_status=self._refusal_status,
        )
        pack(capsule, self._file, files_in(self._folder))
        return counted(self._keeper.kept.total(), "answer")

    def _note(self, sequence: int, entry: StoredEntry) -> None:
        self._room.acquire()
        self._queue.put((sequence, self._hosted.horizon.sequence, entry))

    def _end(self) -> None:
        if self._hosted.journal.follow is None:
            return
        self._hosted.journal.follow = None
        self._queue.put(None)
        self._thread.join()

    def _write_all(self) -> None:
        while (item := self._queue.get()) is not None:
            self._room.release()
            if self._trouble is None:
                try:
                    self._write(*item)
                except CrosschainMockError as error:
                    self._trouble = error
        if self._keeper is not None:
            try:
                self._keeper.close()
            except CrosschainMockError as error:
                self._trouble = self._trouble or error

    def _write(self, sequence: int, horizon: int, stored: StoredEntry) -> None:
        if horizon > self._since and self._keeper is not None:
            # The world began anew: what came before is no part of its history.
            self._keeper.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            self._keeper = self._first_ms = None
            self._orders = self._tickets = self._sent = []
        self._since = horizon
        entry = entry_of(sequence, stored)
        if self._first_ms is None:
            self._first_ms = self._last_ms = entry.at_ms
        if self._keeper is None:
            self._keeper = RecordingKeeper(
                KeeperOptions(
                    self._folder,
                    origin="simulation",
                    start=iso(self._first_ms),
                    title=self._file.stem,
                    one_file=True,
                    secrets=self._secrets,
                )
            )
        self._keeper.keep(exchange_of(entry, self._last_ms))
        self._last_ms = entry.at_ms


def exchange_of(entry: Entry, before_ms: int) -> RecordedExchange:
    """Return an entry of a journal as it is recorded; `before_ms` is the time of the one before."""
    sent = entry.request
    # Names of the HTTP library are texts of its own; bodies in a journal are unpacked.
    headers = tuple(
        (str(name), str(value))
        for name, value in sent.headers.items_sent
        if name.lower() != "content-encoding"
    )
    request = replace(sent, method=sent.answered_as, path=entry.path, headers=Headers(headers))
    exchange = RecordedExchange.unnamed(request, entry.response, entry.at_ms)
    return replace(exchange, advance_ms=max(0, entry.at_ms - before_ms))
