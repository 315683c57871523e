"""The settings of Hypothesis that a run takes over: seed, profile, and database of examples.

Without Hypothesis there are none.
"""

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from mockserver.conformance.generation.stages import SAVED, saved_line
from mockserver.conformance.requests.user_probes import SavedRequest, saved_in
from mockserver.conformance.result import Result
from mockserver.conformance.session.target import UnsafeOrWrong
from mockserver.contract import load

if TYPE_CHECKING:
    from hypothesis.database import ExampleDatabase

_KEY = b"crosschain-mock probes"


def of_hypothesis(config: pytest.Config) -> dict[str, Any]:
    """Return the options of a run that follow from `--hypothesis-seed` and `--hypothesis-profile`.

    A profile is meant where it is named: its count of examples is that of each operation.
    """
    chosen: dict[str, Any] = {}
    seed = config.getoption("hypothesis_seed", None)
    if seed not in (None, "random"):
        text = str(seed)
        chosen["seed"] = int(text) if text.isdecimal() else zlib.crc32(text.encode())
    if profile := config.getoption("hypothesis_profile", None):
        from hypothesis import settings  # noqa: PLC0415 - slow to import

        chosen["examples"] = settings.get_profile(profile).max_examples
    return chosen


def stored(dialect: str) -> tuple[SavedRequest, ...]:
    """Return the requests that found something in an earlier run, from the user's database."""
    if (database := _database(reading=True)) is None:
        return ()
    known = {operation.id for operation in load(dialect)}
    read = (saved_request for raw in sorted(database.fetch(_KEY)) for saved_request in _read(raw))
    return tuple(saved_request for saved_request in read if saved_request.operation_id in known)


def store(result: Result) -> None:
    """Keep the requests by which generation found something, and forget those that find nothing."""
    if (database := _database()) is None:
        return
    lines = {
        line
        for outcome in result.outcomes
        for finding in outcome.findings
        for exchange in finding.exchanges[-1:]
        if (line := saved_line(exchange))
    }
    sent_again = map(saved_line, filter(SAVED.has_sent, result.exchanges))
    for line in {*filter(None, sent_again)} - lines:
        database.delete(_KEY, line.encode())
    for line in lines:
        database.save(_KEY, line.encode())


def _database(*, reading: bool = False) -> "ExampleDatabase | None":
    from hypothesis import Phase, settings  # noqa: PLC0415 - slow to import

    active = settings()
    return None if reading and Phase.reuse not in active.phases else active.database


def _read(raw: bytes) -> Iterator[SavedRequest]:
    """Yield the request of an entry; nothing where another version has written it."""
    try:
        yield from saved_in([raw.decode()], "the database")
    except (UnsafeOrWrong, UnicodeDecodeError):
        return
