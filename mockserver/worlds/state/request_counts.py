"""The number of the newest request of each world, in memory that outlives the process.

Requests that change nothing are written later, some at once. If the server is killed before that,
this tells how many are missing. The system writes such memory to its file by itself.
"""

import mmap
import os
from pathlib import Path

_BYTES = 8
_GROWTH = 4_096


class Counts:
    """Numbers by the id of a world, in a file that is mapped into memory."""

    def __init__(self, path: Path) -> None:
        """Map a file, or make it. Raises `OSError`."""
        self._file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        self.slots: memoryview = memoryview(b"")
        """The numbers, by the id of a world: set in place, which takes a tenth of a call."""
        self._map: mmap.mmap | None = None
        self._grow(os.fstat(self._file).st_size // _BYTES)

    def close(self) -> None:
        """Give the file back."""
        if self._map is not None:
            self._unmap(self._map)
            self._map = None
            os.close(self._file)

    def make_room(self, world_id: int) -> None:
        """See that a world has a place, and begin at 0. Raises `OSError`."""
        if world_id >= len(self.slots):
            self._grow(world_id + 1)
        self.slots[world_id] = 0

    def get(self, world_id: int) -> int:
        """Return the number of the newest request of a world."""
        return self.slots[world_id] if world_id < len(self.slots) else 0

    def _grow(self, least: int) -> None:
        size = -(-max(least, 1) // _GROWTH) * _GROWTH * _BYTES
        # Blocks are allocated now: a full disk would end the process at the first write else.
        os.posix_fallocate(self._file, 0, size)
        if self._map is not None:
            self._unmap(self._map)
        self._map = mmap.mmap(self._file, size)
        self.slots = memoryview(self._map).cast("Q")

    def _unmap(self, mapped: mmap.mmap) -> None:
        self.slots.release()
        mapped.close()
