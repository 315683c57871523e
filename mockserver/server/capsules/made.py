"""Making a capsule of what a server tells of a world: its dump and its journal."""

import platform
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mockserver import __version__
from mockserver.clock import ClockMode, iso, parse_instant
from mockserver.errors import CrosschainMockError
from mockserver.jsontext import Json
from mockserver.recordings import Recording
from mockserver.recordings.formats import read_entries
from mockserver.server.capsules.capsule import Capsule, save
from mockserver.server.capsules.capsule import load as load_capsule
from mockserver.server.recorder import Keeper, KeeperOptions, keep_all

_COUNTED_ANEW: Mapping[str, Json] = {"seen": 0, "struck": 0, "window_ms": None, "used": 0}


class NothingToKeep(CrosschainMockError):
    """A world whose journal does not hold what it went through."""


def capsule_of(
    dump: Json,
    journal: Json,
    title: str,
    *,
    scenario_text: str = "",
    refusal_status: int | None = None,
    secrets: tuple[str, ...] = (),
) -> Capsule:
    """Return the capsule of a world from its dump and its journal, as the control API gives them.

    What was made by the requests of the journal is taken out of the dump, and faults count anew.
    `secrets` are texts that may not be in the capsule, besides those found by themselves. Raises
    `NothingToKeep` where the journal is empty or has let entries go.
    """
    entries = journal["entries"]
    if not entries:
        raise NothingToKeep("the journal of this world is empty; there is nothing to keep")
    if journal.get("dropped"):
        raise NothingToKeep(
            f"the journal of this world has let {journal['dropped']} entries go; a capsule needs "
            "all of them: reset the world and go through it again"
        )
    began = parse_instant(entries[0]["at"])
    files = _journal_files(journal, title, began, secrets)
    capsule = Capsule(
        title=title,
        versions={"crosschainMock": __version__, "python": platform.python_version()},
        scenario=dump["world"]["scenario"],
        start=_before(dump, began),
        journal=Recording(title, "simulation", ()),
        scenario_text=scenario_text,
        refusal_status=refusal_status,
        files=files,
    )
    # Read back, so that what is replayed now is what will be replayed.
    with tempfile.TemporaryDirectory() as folder:
        save(capsule, Path(folder) / "new.capsule")
        read = load_capsule(Path(folder) / "new.capsule")
    return replace(read, files=files)


def _before(dump: Json, began_ms: int) -> Json:
    """Return the dump as it was before the first request: what requests made is not there yet."""
    world = dump["world"]
    orders = [one for one in world["orders"] if one["submitted_ms"] < began_ms]
    known = {one["id"] for one in orders}
    # The journal is the trace of a clock that ran; one that jumps by itself does so again.
    by_itself = world["clock"]["mode"] == ClockMode.AUTO.value
    mode = ClockMode.AUTO if by_itself else ClockMode.FROZEN
    clock = {"mode": mode.value, "now_ms": began_ms, "rate": "1"}
    tickets = [one for one in world["tickets"] if str(one.get("order_id", "")) in known]
    return {
        **dump,
        "world": {**world, "clock": clock, "orders": orders, "tickets": tickets},
        "faults": [{**fault, **_COUNTED_ANEW} for fault in dump["faults"]],
        "appKeys": [],
    }


def _journal_files(
    journal: Json, title: str, began_ms: int, secrets: tuple[str, ...]
) -> dict[str, bytes]:
    """Return the files of a journal that was redacted, by name."""
    # A disturbed answer belongs to what happened, and the faults come along.
    entries = [{**entry, "fault": None} for entry in journal["entries"]]
    told = read_entries(entries)
    with tempfile.TemporaryDirectory() as folder:
        options = KeeperOptions(
            Path(folder),
            origin="simulation",
            start=iso(began_ms),
            title=title,
            one_file=True,
            secrets=secrets,
        )
        keeper = Keeper(options)
        try:
            keep_all(told, keeper)
        finally:
            keeper.close()
        if not keeper.kept:
            raise NothingToKeep("no request of this world was for an operation of the service")
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(Path(folder).rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }
