"""Workers of one test session that share a run: what one has asked, the others read."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mockserver.conformance.runs.journal import Journal, header_of, is_journal
from mockserver.conformance.suite.options import RequestedRun


@contextmanager
def shared_journal(folder: Path, run: RequestedRun) -> Iterator[Journal | None]:
    """Yield a journal in a folder of all workers, one worker at a time.

    A worker that dies leaves what it got, and the next one goes on from there. Where files cannot
    be locked every worker asks for itself.
    """
    with _locked(folder / "crosschain-mock-conformance.lock") as held:
        if not held:
            yield None
            return
        path = folder / "crosschain-mock-conformance.jsonl"
        header = header_of(run.target, run.options, run.contract)
        begun = is_journal(path)
        with Journal.resumed(path, header) if begun else Journal.new(path, header) as journal:
            yield journal


if sys.platform == "win32":

    @contextmanager
    def _locked(path: Path) -> Iterator[bool]:
        yield False

else:
    import fcntl

    @contextmanager
    def _locked(path: Path) -> Iterator[bool]:
        """Hold a lock that ends with this process, however that ends."""
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield True
