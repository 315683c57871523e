"""Capsules: the history of a world, as one file that can be read and replayed.

The file is a ZIP of files that people can read.
"""

import platform
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path, PurePath

from mockserver import __version__, file_formats, jsontext, recordings
from mockserver.clock import ClockMode
from mockserver.contract import ids
from mockserver.engine.order_courses import Policy
from mockserver.errors import CrosschainMockError, InvalidFile, Problem
from mockserver.fast_dataclass import dataclass
from mockserver.http_messages import Headers, Request, Response
from mockserver.jsontext import Json, NotJson
from mockserver.mock_headers import REFUSAL_HEADER
from mockserver.recordings import RecordedExchange, Recording
from mockserver.recordings.folder import bring_to_disk
from mockserver.recordings.formats import read_entries
from mockserver.recordings.redaction import Redactor
from mockserver.recordings.zip_archives import NotUnpacked, unpack
from mockserver.responders.authentication import (
    REFUSED_FOR_CREDENTIALS,
    REFUSED_FOR_TIME,
    timestamp_ms,
)
from mockserver.responders.refusal_answers import refusal_in
from mockserver.server.assembly import Settings, build
from mockserver.server.recorder import KeeperOptions, RecordingKeeper, keep_all
from mockserver.server.resimulation import with_credentials
from mockserver.server.service import Service
from mockserver.times_and_durations import iso, parse_instant
from mockserver.validation import dotted, excerpt
from mockserver.wording import counted, reason_of
from mockserver.worlds.hosted import DEFAULT_WORLD
from mockserver.worlds.trigger_actions import heal

FORMAT = "crosschain-mock/capsule@1"
HEAD, SCENARIO, JOURNAL = "capsule.json", "scenario.yaml", "journal"
# ZIP knows no earlier date. A fixed one makes equal capsules equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)


class BadCapsule(CrosschainMockError):
    """A file that is no capsule, or one that is damaged."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class Capsule:
    """The history of a world.

    `start` is the dump of the world before its first request, `journal` its exchanges with their
    times on the world's clock, redacted. `scenario` names a shipped scenario; where it was a file,
    `scenario_text` is what stood in it. `versions` are the releases that made the capsule. Where
    `healed_after` is set, its faults, triggers and outages ended after so many exchanges.
    """

    title: str
    versions: Mapping[str, str]
    scenario: str
    start: Json
    journal: Recording
    scenario_text: str = ""
    refusal_status: int | None = None
    healed_after: int | None = None
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)


def save(capsule: Capsule, file: Path) -> None:
    """Write a capsule; `capsule.files` are the files of its journal. Raises `BadCapsule`."""
    pack(capsule, file, sorted(capsule.files.items()))


def pack(capsule: Capsule, file: Path, journal: Iterable[tuple[str, bytes]]) -> None:
    """Write a capsule whose journal has these files, by name; one at a time is in memory.

    Raises `BadCapsule`, and then the file is as it was.
    """
    head: dict[str, Json] = {
        "format": FORMAT,
        "title": capsule.title,
        "versions": dict(capsule.versions),
        "scenario": capsule.scenario,
        "start": capsule.start,
    }
    if capsule.refusal_status is not None:
        head["refusalStatus"] = capsule.refusal_status
    if capsule.healed_after is not None:
        head["healedAfter"] = capsule.healed_after
    draft = file.with_name(f".{file.name}.new")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:

            def put(name: str, raw: bytes) -> None:
                # The same capsule is the same file, whenever it is written.
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), raw, zipfile.ZIP_DEFLATED)

            put(HEAD, jsontext.pretty(head).encode() + b"\n")
            for name, raw in journal:
                put(f"{JOURNAL}/{name}", raw)
            if capsule.scenario_text:
                put(SCENARIO, capsule.scenario_text.encode())
        draft.replace(file)
        bring_to_disk(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise BadCapsule(f"cannot write {str(file)!r}: {reason_of(error)}") from None


def load(file: Path) -> Capsule:
    """Return a capsule. Raises `BadCapsule`, with file and line of what is wrong inside."""
    with _unpacked(file) as folder:
        head = file_formats.read(folder / HEAD, "capsule").value
        text = file_formats.text_of(folder / SCENARIO) if (folder / SCENARIO).exists() else ""
        return Capsule(
            title=head["title"],
            versions=head["versions"],
            scenario=head["scenario"],
            start=head["start"],
            journal=_journal(file, folder),
            scenario_text=text,
            refusal_status=head.get("refusalStatus"),
            healed_after=head.get("healedAfter"),
            files=dict(files_in(folder / JOURNAL)),
        )


def _journal(file: Path, folder: Path) -> Recording:
    """Return all exchanges of a capsule in the order of their times. Raises `BadCapsule`."""
    first, *rest = recordings.load_folder(folder / JOURNAL)
    recorded_exchanges = [
        exchange for recording in (first, *rest) for exchange in recording.exchanges
    ]
    if any(exchange.time_ms is None for exchange in recorded_exchanges):
        raise BadCapsule(f"{file}: an exchange of its journal has no time")
    ordered = tuple(sorted(recorded_exchanges, key=lambda exchange: exchange.time_ms or 0))
    return Recording(
        first.title, first.origin, ordered, dialect=first.dialect, start=first.start, file=file
    )


def files_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a journal with their names, but for those that begin with a dot."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            yield path.relative_to(folder).as_posix(), path.read_bytes()


@contextmanager
def _unpacked(file: Path) -> Iterator[Path]:
    """Unpack a capsule for a while; errors about files inside name the capsule."""
    folder = Path(tempfile.mkdtemp(prefix="capsule-"))
    try:
        _unpack(file, folder)
        yield folder
    except InvalidFile as error:
        inside = [
            replace(problem, file=_inside(file, folder, problem)) for problem in error.problems
        ]
        raise BadCapsule(str(InvalidFile(inside))) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _inside(file: Path, folder: Path, problem: Problem) -> str:
    place = Path(problem.file)
    inner = place.relative_to(folder) if place.is_relative_to(folder) else place
    return f"{file}/{inner.as_posix()}"


def _unpack(file: Path, folder: Path) -> None:
    try:
        unpack(file, folder)
    except NotUnpacked as error:
        reason = f"{error}; `crosschain-mock capsule save` writes one"
        raise BadCapsule(f"{file}: no capsule: {reason}") from None
    if not (folder / HEAD).is_file():
        # Who packs a folder again gets the folder itself into the file.
        inner = next(iter(sorted(folder.glob(f"*/{HEAD}"))), None)
        more = f"; pack what is in {inner.parent.name!r}, not the folder itself" if inner else ""
        raise BadCapsule(f"{file}: no capsule: it holds no {HEAD}{more}")


_FAULT_ANEW: Mapping[str, Json] = {"seen": 0, "struck": 0, "window_ms": None, "used": 0}


class NothingToKeep(CrosschainMockError):
    """A world whose journal does not have its whole history."""


def capsule_of(
    dump: Json,
    journal: Json,
    title: str,
    *,
    scenario_text: str = "",
    refusal_status: int | None = None,
    secrets: tuple[str, ...] = (),
) -> Capsule:
    """Return the capsule of a world from its dump and its journal, in the form of the control API.

    What the requests of the journal made is taken out of the dump, and faults count from zero.
    `secrets` are texts that may not be in the capsule, besides those found by themselves. Raises
    `NothingToKeep` where the journal is empty or has dropped entries.
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
    capsule = Capsule(
        title=title,
        versions={"crosschainMock": __version__, "python": platform.python_version()},
        scenario=dump["world"]["scenario"],
        # The same history is the same capsule, from whatever server.
        start=_before({name: dump[name] for name in dump if name != "epoch"}, began, entries),
        journal=Recording(title, "simulation", ()),
        scenario_text=scenario_text,
        refusal_status=refusal_status,
        files=_journal_files(journal, title, began, secrets),
    )
    # Read back, so that this replay is the same as later ones.
    with tempfile.TemporaryDirectory() as folder:
        save(capsule, Path(folder) / "new.capsule")
        return load(Path(folder) / "new.capsule")


def _before(dump: Json, began_ms: int, entries: Sequence[Json]) -> Json:
    """Return the dump as it was before the first request: what requests made is not there yet."""
    world = dump["world"]
    orders = _older(world["orders"], began_ms, _named_orders(world, entries))
    tickets = _older(world["tickets"], began_ms, _named_tickets(world, entries))
    hashes = {ticket["hash"] for ticket in tickets}
    orders = [_order_before(order, began_ms, hashes) for order in orders]
    return begun_anew(dump, began_ms, orders, tickets)


def begun_anew(
    dump: Json, began_ms: int, orders: Sequence[Json], tickets: Sequence[Json]
) -> dict[str, Json]:
    """Return a dump as of its first request, with the orders and tickets of that moment."""
    world = dump["world"]
    # The journal is the trace of a clock that ran; one that jumps by itself does so again.
    by_itself = world["clock"]["mode"] == ClockMode.AUTO.value
    mode = ClockMode.AUTO if by_itself else ClockMode.FROZEN
    clock = {"mode": mode.value, "now_ms": began_ms, "rate": "1"}
    before = {
        **dump,
        "world": {**world, "clock": clock, "orders": [*orders], "tickets": [*tickets]},
        "faults": [{**fault, **_FAULT_ANEW} for fault in dump["faults"]],
        "stubs": [{**stub, "used": 0} for stub in dump["stubs"]],
        "appKeys": [],
    }
    if "triggers" in dump:
        before["triggers"] = [{**item, "seen": 0, "failed": ""} for item in dump["triggers"]]
    if "breaks" in dump:
        before["breaks"] = [{**name, "memory": {}} for name in dump["breaks"]]
    return before


# The place among the stored that an answered request names, and whether it may have made one.
_Named = Iterable[tuple[int | None, bool]]


def _named_orders(world: Json, entries: Sequence[Json]) -> _Named:
    places = {order_row["id"]: place for place, order_row in enumerate(world["orders"])}
    # A ticket may have named a deposit before its order.
    names_orders = {*ids.SUBMITTED_ORDERS, ids.CHECK, *ids.V1_DETAILS}
    for entry in entries:
        if entry["refusal"] is None and entry["operation"] in names_orders:
            order = (entry["order"] or {}).get("id")
            yield places.get(order), entry["operation"] in ids.SUBMITTED_ORDERS


def _named_tickets(world: Json, entries: Sequence[Json]) -> _Named:
    places: dict[str, int] = {}
    for place, ticket in enumerate(world["tickets"]):
        places.setdefault(ticket["hash"], place)
    for entry in entries:
        if entry["refusal"] is None and entry["operation"] == ids.TICKET:
            body = entry["request"]["body"]
            yield places.get(str(body.get("hash")) if isinstance(body, dict) else ""), True


def _older(stored: Sequence[Json], began_ms: int, named: _Named) -> list[Json]:
    """Return those of a dump's orders or tickets, oldest first, that existed at the beginning."""
    # Many may be of the first moment where a clock stands. Of these, as many count as must have
    # existed: a request cannot name the fifth after three were made unless two existed before.
    made = had = 0
    for place, makes in named:
        made += makes
        if place is not None:
            had = max(had, place + 1 - made)
    return [
        row
        for place, row in enumerate(stored)
        if row["submitted_ms"] < began_ms or (row["submitted_ms"] == began_ms and place < had)
    ]


def _order_before(order: Json, began_ms: int, reported: Set[str]) -> Json:
    """Return an order of a dump without the look-ups and the ticket that came later."""
    # Where a clock stands, nothing tells polls of one moment apart; steps are not requests.
    by_polls = order["policy"] == Policy.POLLS.value
    last_ms = began_ms - 1 if by_polls else began_ms
    looked_up, ticket = order["seen_ms"], order["ticket_ms"]
    known = ticket is not None and (ticket < began_ms or order["cert_hash"] in reported)
    return {
        **order,
        "ticks": [moment for moment in order["ticks"] if moment <= last_ms],
        "seen_ms": looked_up if looked_up is not None and looked_up < began_ms else None,
        "ticket_ms": ticket if known else None,
    }


def _journal_files(
    journal: Json, title: str, began_ms: int, secrets: tuple[str, ...]
) -> dict[str, bytes]:
    """Return the files of a journal that was redacted, by name."""
    # A disturbed answer belongs to what happened, and the faults come along.
    entries = [{**entry, "fault": None} for entry in journal["entries"]]
    with tempfile.TemporaryDirectory() as folder:
        options = KeeperOptions(
            Path(folder),
            origin="simulation",
            start=iso(began_ms),
            title=title,
            one_file=True,
            secrets=secrets,
        )
        keeper = RecordingKeeper(options)
        try:
            keep_all(read_entries(entries), keeper)
        finally:
            keeper.close()
        if not keeper.kept:
            raise NothingToKeep("no request of this world was for an operation of the service")
        return dict(files_in(Path(folder)))


# On a running clock, an answer may be this much later than its request, in milliseconds.
_LATER_MS = 3

_BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Divergence:
    """An answer that is not the one in the capsule, and how it differs."""

    number: int
    exchange: RecordedExchange
    reason: str

    def __str__(self) -> str:
        return f"{self.number} ({self.exchange.operation}, {self.exchange.name}): {self.reason}"


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of replaying a capsule.

    Of `count` exchanges, `left_out` were refused for a key or a signature. These are not in the
    file, so the requests are not sent again.
    """

    count: int
    divergences: tuple[Divergence, ...]
    left_out: int = 0

    def __str__(self) -> str:
        sent = counted(self.count - self.left_out, "answer")
        left_out = f"; {self.left_out} refused for a key or signature left out"
        more = left_out if self.left_out else ""
        if not self.divergences:
            return f"{sent}, byte for byte the same{more}"
        lines = [f"{len(self.divergences)} of {sent} differ{more}"]
        return "\n".join([*lines, *(f"  {divergence}" for divergence in self.divergences)])


def replay(capsule: Capsule) -> Replayed:
    """Replay a capsule, and compare every answer with the one in it.

    Raises `BadCapsule` where its world cannot be begun.
    """
    with tempfile.TemporaryDirectory() as folder:
        service = _service(capsule, Path(folder))
    _begin(service, capsule)
    redactor = Redactor()
    divergences, left_out = [], 0
    for number, exchange in enumerate(capsule.journal.exchanges, 1):
        if number - 1 == capsule.healed_after:
            heal(service.worlds.get(DEFAULT_WORLD))
        refusal = refusal_in(exchange.response.header(REFUSAL_HEADER))
        if refusal in REFUSED_FOR_CREDENTIALS:
            left_out += 1
        elif reason := _differs(service, exchange, refusal, redactor):
            divergences.append(Divergence(number, exchange, reason))
    return Replayed(len(capsule.journal.exchanges), tuple(divergences), left_out)


def _service(capsule: Capsule, folder: Path) -> Service:
    scenario: str | Path = capsule.scenario
    if capsule.scenario_text:
        # A scenario is called as its file is.
        scenario = folder / f"{PurePath(capsule.scenario).name}.yaml"
        scenario.write_text(capsule.scenario_text, "utf-8")
    try:
        return build(Settings(scenario=scenario, refusal_status=capsule.refusal_status))
    except CrosschainMockError as error:
        more = "" if capsule.scenario_text else "; name a scenario of your own with --scenario FILE"
        raise BadCapsule(
            f"the scenario {capsule.scenario!r} cannot be loaded: {error}{more}"
        ) from None


def _begin(service: Service, capsule: Capsule) -> None:
    headers = Headers((("Host", "127.0.0.1"), ("Content-Type", "application/json")))
    body = jsontext.encode(capsule.start)
    loaded = service.answer(Request("POST", "/__mock/load", "", headers, body)).response
    if loaded.status != 200:
        reason = jsontext.decode(loaded.body).get("error", loaded.status)
        raise BadCapsule(f"the world of this capsule cannot be begun: {reason}")


def _differs(service: Service, exchange: RecordedExchange, refusal: str, redactor: Redactor) -> str:
    """Return how the answer to an exchange differs now; empty where it does not.

    `refusal` is the name of the one in the capsule, empty where it is none.
    """
    world = service.worlds.get(DEFAULT_WORLD)
    at_ms = exchange.time_ms or 0
    first_ms = max(at_ms, world.world.now())
    if first_ms - at_ms > _LATER_MS:
        return f"its time {iso(at_ms)} is before {iso(first_ms)}, as after a revert"
    # The capsule does not say by which clock a stamp was accepted, so any accepted one is.
    let_in = refusal not in REFUSED_FOR_TIME
    stamp = exchange.request.headers.get("timestamp", "")
    clock = (lambda: timestamp_ms(int(stamp))) if let_in and stamp.isdecimal() else None
    world.keys = replace(world.keys, clock=clock)
    world.snapshot(_BEFORE)
    requests = [with_credentials(world.contract, exchange)]
    if refusal and requests[0] is not exchange.request:
        # Removed names do not say whether they were headers or members of the body, so the header
        # may have been missing.
        requests.append(exchange.request)
    times = range(first_ms, at_ms + _LATER_MS + 1)
    attempts = [(request, now_ms) for request in requests for now_ms in times]
    reasons: list[str] = []
    # The world goes on with the answer of the first attempt, which the last one repeats.
    for request, now_ms in (*attempts, attempts[0]):
        if reasons:
            world.revert(_BEFORE)
        world.world.time.set(now_ms)
        came = service.answer(request).response
        kept = redactor.exchange(replace(exchange, response=came)).response
        reason = _difference(exchange, kept)
        if not reason:
            return ""
        reasons.append(reason)
    return reasons[0]


def _difference(exchange: RecordedExchange, came: Response) -> str:
    recorded = exchange.response
    if came.status != recorded.status:
        return f"status {came.status}, in the capsule {recorded.status}"
    if came.header(REFUSAL_HEADER) != recorded.header(REFUSAL_HEADER):
        refusal = recorded.header(REFUSAL_HEADER)
        return f"refusal {came.header(REFUSAL_HEADER)!r}, in the capsule {refusal!r}"
    if came.body == recorded.body:
        return ""
    try:
        now, then = jsontext.decode(came.body), jsontext.decode(recorded.body)
    except NotJson:
        return f"other bytes: {len(came.body)} of them, in the capsule {len(recorded.body)}"
    places = ", ".join(_places(now, then, ()))
    return places or "the same JSON, written in another way"


def _places(now: Json, then: Json, path: tuple[str | int, ...]) -> Iterator[str]:
    if isinstance(now, dict) and isinstance(then, dict):
        for name in {**then, **now}:
            yield from _places(now.get(name), then.get(name), (*path, name))
    elif isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        for index, (first, second) in enumerate(zip(now, then, strict=True)):
            yield from _places(first, second, (*path, index))
    elif now != then:
        yield f"{dotted(path)} is {excerpt(now)}, in the capsule {excerpt(then)}"
