"""Worlds as the server hosts them: the engine's world with what belongs to its traffic."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from secrets import token_hex
from typing import Any, Protocol

from mockserver import limits
from mockserver.engine.dumps import Listed
from mockserver.engine.outages import Window
from mockserver.engine.refusal import StateNotLoadable
from mockserver.fast_dataclass import dataclass, value_class
from mockserver.http_messages import Headers, Request, Response
from mockserver.jsontext import Json
from mockserver.limits import AS_LISTED, Bounds
from mockserver.responders.answer_delivery import Gate
from mockserver.responders.breaks import Breaks
from mockserver.responders.control_forms import BadControl
from mockserver.responders.faults.registry import Faults
from mockserver.responders.replay import PlaybackState
from mockserver.responders.responder import Call, CalledWorld, PassingOn
from mockserver.responders.stubs import Stubs
from mockserver.worlds.blocks import Blocks
from mockserver.worlds.claims_and_expectations import Beliefs
from mockserver.worlds.journal import JournalSpace, WorldJournal
from mockserver.worlds.node_state import NodeState
from mockserver.worlds.transaction_store import ChainTransaction, ChainTransactions
from mockserver.worlds.triggers import Triggers
from mockserver.worlds.world_token import WorldToken

DEFAULT_WORLD = "default"
FORMAT = "crosschain-mock/world@1"
"""The format of a world's dump."""

# About the bytes of memory that an order and a ticket take.
_ORDER_WEIGHT, _TICKET_WEIGHT = 1_600, 1_000
_SPARE = 16 * limits.MIB
# A snapshot shares its values with the world; one in so many counts as its own.
_SHARED = 4

# Keys of dropped worlds that are remembered; a key has 128 characters at most.
_MOST_GONE = 10_000

_PARTS = ("faults", "triggers", "stubs", "breaks", "played", "transactions", "node", "blocks")
_KEY = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._~-]{1,128}")


class BadWorldKey(ValueError):
    """A world key with characters that no key has."""


class TooManyWorlds(BadControl):
    """A new world, where the server has as many as it allows."""


class UnknownWorld(BadControl):
    """A world that nobody has made, where none comes into being by itself."""


class Elsewhere(Exception):
    """A world that another process of this server has: the `worker` of that number, from 0."""

    def __init__(self, worker: int) -> None:
        """Keep the number."""
        super().__init__(f"the world is in worker {worker + 1}")
        self.worker = worker


class WorldAway(Exception):
    """A world whose process does not answer now, or has lost it; `refusal` names which."""

    def __init__(self, refusal: str, reason: str) -> None:
        """Keep the name of the refusal and the reason."""
        super().__init__(reason)
        self.refusal = refusal


class Homes(Protocol):
    """The processes of a server among which its worlds are spread, seen from one of them."""

    def check(self, key: str) -> None:
        """Raise `Elsewhere` for a world of another process, `WorldAway` where none has it now."""

    def entered(self, key: str, total: int) -> None:
        """Note that this process has a world, and so many of them now."""

    def left(self, key: str, total: int) -> bool:
        """Note that a world was dropped; tell whether it was known here, though lost."""

    def unbound(self, app_keys: Sequence[str], key: str) -> None:
        """Note that app keys choose a world no more."""

    def total(self) -> int:
        """Return how many worlds all processes have."""


@dataclass(frozen=True, slots=True)
class AwaitedRefusal:
    """A refusal that a test expects: its name, and its operation; None stands for any."""

    refusal: str | None = None
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeByHand:
    """What somebody has changed, and the number of the newest request then; `window` if an outage.

    A change that no later request met has tested nothing.
    """

    text: str
    since: int
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Horizon:
    """How far back the journal of a world reaches.

    `orders` and `transactions` are how many there were before it began, `sequence` is the number
    of the last request before; `undone` are stretches of requests that a revert has undone, each
    after the first number up to the second. `inherited_ms` is when the world was forked or loaded.
    `former` is how many requests came to earlier worlds of its key; `expects` are how many of the
    transfers that are to happen were announced before.
    """

    orders: int = 0
    transactions: int = 0
    sequence: int = 0
    undone: tuple[tuple[int, int], ...] = ()
    inherited_ms: int | None = None
    former: int = 0
    expects: int = 0

    def has_undone(self, sequence: int) -> bool:
        return any(first < sequence <= last for first, last in self.undone)


@dataclass(frozen=True, slots=True)
class Departed:
    """What is known of a world that was dropped.

    `requests` came to it and to earlier ones of its key; `passed` are the verdicts, such as
    `check`, that found nothing after all that happened in it.
    """

    requests: int = 0
    passed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a snapshot has beside the engine's state; `sequence` is the newest request then."""

    parts: Mapping[str, Any]
    expected: tuple[AwaitedRefusal, ...]
    weight: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Held:
    """An answer held back, until released by `name`, by a call of `until`, or by its time."""

    gate: Gate
    name: str = ""
    until: str | None = None


class Record(Protocol):
    """What is told of a world's changes, so that they are kept on a disk."""

    def touched(self) -> int:
        """Note a request; return the number of the commit that its answer waits for, 0 for none."""

    def collect(self) -> None:
        """Note all changes since the last time, those of settings too."""

    def branched(self, name: str) -> None:
        """Note that the present state was kept as a snapshot."""

    def reverted(self, name: str) -> None:
        """Note that the world went back to a snapshot."""

    def began_anew(self) -> None:
        """Note that the scenario began anew."""

    def dropped(self, name: str) -> None:
        """Note that a snapshot was dropped."""


class Keeping(Collection[str], Protocol):
    """What keeps the worlds of a server on a disk; it has their keys."""

    def load(self, key: str) -> "HostedWorld":
        """Return a world that is kept. Raises `StateNotLoadable`."""

    def enter(self, hosted: "HostedWorld", forked_from: "HostedWorld | None") -> None:
        """Keep a world, in place of another one of its key."""

    def leave(self, key: str) -> None:
        """Forget a world."""


@dataclass(slots=True)
class HostedWorld(CalledWorld):
    """A world under its key, with its dialect and its traffic.

    `transactions` are those on the chains, by nickname and hash; `node` and `blocks` are what its
    chains' nodes keep; `failures` are defects of the server.
    """

    journal: WorldJournal = field(default_factory=WorldJournal)
    transactions: ChainTransactions = field(default_factory=ChainTransactions)
    node: NodeState = field(default_factory=NodeState)
    blocks: Blocks = field(default_factory=Blocks)
    faults: Faults = field(default_factory=Faults)
    triggers: Triggers = field(default_factory=Triggers)
    stubs: Stubs = field(default_factory=Stubs)
    breaks: Breaks = field(default_factory=Breaks)
    opening: tuple[Faults, Triggers] | None = None
    """The faults and triggers of its scenario, with which it begins, and begins anew."""
    bounds: Bounds = AS_LISTED
    """The bounds of its server."""
    upstream: PassingOn | None = None
    """Where requests go that no recording answers; None where the simulation answers them."""
    expected: tuple[AwaitedRefusal, ...] = ()
    beliefs: Beliefs = Beliefs()
    failures: tuple[str, ...] = ()
    changes: tuple["ChangeByHand", ...] = ()
    """Outages, prices and breaks that somebody has set, as the check at the end looks for them."""
    send_signal: Callable[[int], None] | None = None
    """Sends a signal to the client's process, where one is known."""
    held: tuple[Held, ...] = ()
    """The answers that are held back now."""
    token: WorldToken | None = None
    """What control requests for it have to send; None where it has none of its own."""
    revision: int = 0
    """Counts changes by the control API, for listeners to the events of the world."""
    epoch: str = field(init=False, default_factory=lambda: token_hex(6))
    """Distinguishes this world from an earlier one under the same key."""
    horizon: Horizon = field(init=False)
    restarts: int = field(init=False, default=0)
    """How often the server was restarted since the world began; it is kept on a disk then."""
    lost: int = field(init=False, default=0)
    """Requests that the journal has not got, since a server was killed before they were written."""
    record: Record | None = field(init=False, default=None)
    """Where its changes are noted, if it is kept on a disk."""
    _passed: Mapping[str, tuple[int, int]] = field(init=False, default_factory=dict)
    """How far the world was when a verdict last found nothing, by the verdict's name."""
    _snapshots: dict[str, Snapshot] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Note the time of the beginning, and what there was before."""
        self.began_ms = self.world.now()
        self.horizon = self._begun()

    @property
    def requests(self) -> int:
        """How many requests the world got since it began, or was reset."""
        return self.journal.last_sequence - self.horizon.sequence + self.lost

    @property
    def dropped(self) -> int:
        """How many of these requests the journal has dropped, or lost with a killed server."""
        return max(0, self.journal.dropped - self.horizon.sequence) + self.lost

    def judged(self, verdict: str, stage: tuple[int, int], *, well: bool) -> None:
        """Note whether a verdict, such as `check`, found nothing in all up to a `stage`."""
        passed = {name: reached for name, reached in self._passed.items() if name != verdict}
        self._passed = {**passed, verdict: stage} if well else passed

    def departed(self) -> Departed:
        """Return what is to be known of this world when it is gone."""
        stage = self.stage()
        # Only verdicts after which nothing came: an older one says nothing of what followed.
        passed = frozenset(name for name, reached in self._passed.items() if reached == stage)
        return Departed(self.requests + self.horizon.former, passed)

    def require_epoch(self, wanted: str) -> None:
        """Raise `BadControl` where this is not the world that had an epoch, but a later one."""
        if wanted != self.epoch:
            raise BadControl(
                f"world {self.key!r} is of epoch {self.epoch}, not {wanted[:40]!r}: it was made "
                "anew, or the server was started again"
            )

    def note(  # noqa: PLR0913, PLR0917 - as `WorldJournal.add`
        self,
        at_ms: int,
        operation: str | None,
        request: Request,
        response: Response,
        responder: str,
        fault: str = "",
        took_ns: int = 0,
    ) -> int:
        """Keep an exchange in the journal, and on a disk where worlds are kept there.

        Returns the number of the commit that its answer has to wait for, 0 for none.
        """
        self.journal.add(at_ms, operation, request, response, responder, fault, took_ns)
        # The record comes last, since it writes up to the newest number of the journal.
        return 0 if self.record is None else self.record.touched()

    def is_ordinary(self) -> bool:
        """Tell whether the simulation alone answers here, and nothing follows an answer."""
        return not (
            self.triggers.items
            or self.held
            or self.faults.items
            or self.stubs.items
            or self.breaks.active
            or self.generated is not None
            or self.replay is not None
            or self.upstream is not None
            or self.world.scenario.templates
        )

    def fork(self, key: str) -> "HostedWorld":
        """Return a world under another key that has been the same up to now.

        Faults, stubs, breaks and expectations come along with their counts and memory; its journal
        begins anew.
        """
        parts = self._parts()
        begun: dict[str, Any] = {
            "journal": WorldJournal.within(self.bounds),
            "generated": None,
            "failures": (),
            "changes": (),
            "held": (),
        }
        twin = replace(self, key=key, world=self.world.fork(), **begun, **parts)
        twin.began_ms = self.began_ms
        twin.inherit()
        return twin

    def inherit(self) -> None:
        """Note that clients have talked to another world, of which this one is a copy."""
        self.horizon = replace(self._begun(), inherited_ms=self.world.now())

    def snapshot(self, name: str | None = None) -> str:
        """Keep everything but the journal under a name and return it. Raises `BadControl`."""
        known = self.world.snapshots()
        most = self.bounds[limits.SNAPSHOTS]
        if name not in known and len(known) >= most.most:
            raise BadControl(f"there are {most} already; drop some first")
        if self.record is not None:
            # What happened before belongs to the snapshot as well.
            self.record.collect()
        chosen = self.world.snapshot(name)
        self._snapshots = self._snapshots or {}
        self._snapshots[chosen] = Snapshot(
            self._parts(), self.expected, self._weight() // _SHARED, self.journal.last_sequence
        )
        if self.record is not None:
            self.record.branched(chosen)
        return chosen

    @property
    def weight(self) -> int:
        """About how many bytes the world and its snapshots keep, beside its journal."""
        return self._weight() + sum(
            [snapshot.weight for snapshot in (self._snapshots or {}).values()]
        )

    def expect(self, expected: AwaitedRefusal) -> None:
        """Expect a refusal. Raises `BadControl` where too many are expected already."""
        if len(self.expected) >= limits.EXPECTED.most:
            raise BadControl(f"{limits.EXPECTED} are expected already; reset the world")
        self.expected = (*self.expected, expected)

    def suspend(self, window: Window) -> Window:
        """Add an outage, and note when. Raises `InvalidOutage`."""
        added = self.world.outages.suspend(window)
        self._note(f"outage of {added.subject}", added)
        return added

    def move_price(self, symbol: str, usd: Decimal) -> None:
        """Set the price of a token from now on, and note when."""
        self.world.move_price(symbol, usd)
        self._note(f"price of {symbol}")

    def have_breaks(self, names: Sequence[str]) -> None:
        """Have exactly these breaks, and note when. Raises `BadControl` for an unknown name."""
        # First, since an unknown name changes nothing.
        self.breaks.set(names)
        # Only the last words about breaks count: an empty list takes all away.
        self.changes = tuple(kept for kept in self.changes if not kept.text.startswith("breaks "))
        if names:
            self._note(f"breaks {', '.join(names)}")

    def _note(self, text: str, window: Window | None = None) -> None:
        change = ChangeByHand(text, self.journal.last_sequence, window)
        self.changes = (*self.changes, change)[-limits.FAULTS.most :]

    def failed(self, failure: str) -> None:
        self.failures = (*self.failures, failure)[: limits.FAILURES.most]

    def held_answer(self, name: str, until: str | None, longest_ms: int) -> Gate:
        """Hold an answer back until a call of an operation comes, or somebody releases it."""
        return self._hold(Held(Gate(longest_ms), name, until))

    def late_answer(self, delay_ms: int) -> Gate:
        """Hold an answer back until the world's clock has gone on by so much."""
        return self._hold(Held(Gate(limits.HELD.most, self.world.now() + delay_ms)))

    def _hold(self, held: Held) -> Gate:
        self.held = (*(waiting for waiting in self.held if not waiting.gate.is_open), held)
        return held.gate

    def release(self, which: Callable[[Held], bool]) -> int:
        """Let held answers go, and return how many."""
        going = [held for held in self.held if which(held)]
        self.held = tuple(held for held in self.held if held not in going)
        for held in going:
            held.gate.open()
        return len(going)

    def release_due(self) -> None:
        """Let the answers go whose time has come."""
        if self.held:
            now = self.world.now()
            self.release(lambda held: held.gate.due_ms is not None and held.gate.due_ms <= now)

    def next_due(self) -> int | None:
        """Return when the next late answer goes, in ms since 1970."""
        return min(
            (held.gate.due_ms for held in self.held if held.gate.due_ms is not None), default=None
        )

    def revert(self, name: str) -> None:
        """Go back to a snapshot, which stays; the journal goes on. Raises `UnknownSnapshot`."""
        self.world.revert(name)
        snapshot = (self._snapshots or {}).get(name)
        self._undo(0 if snapshot is None else snapshot.sequence)
        if snapshot is None:
            return
        self.expected = snapshot.expected
        for part, value in snapshot.parts.items():
            setattr(self, part, value.copy())
        if self.record is not None:
            self.record.reverted(name)

    def bare(self) -> "HostedWorld":
        """Return a world like this one in which nothing has happened yet."""
        twin = HostedWorld(self.key, self.world.bare(), self.contract, self.refuser)
        twin.replay, twin.bounds = self.replay, self.bounds
        return twin

    def restore_snapshot(self, name: str, kept: "HostedWorld", sequence: int) -> None:
        """Have the state of another world, which is given up, as the newest snapshot."""
        self._snapshots = self._snapshots or {}
        self._snapshots[name] = Snapshot(
            kept._parts(), kept.expected, kept._weight() // _SHARED, sequence
        )
        self.world.keep_snapshot(name, kept.world)

    def snapshot_sequence(self, name: str) -> int:
        """Return the number of the newest request when a snapshot was taken."""
        return (self._snapshots or {})[name].sequence

    def drop(self, name: str) -> None:
        """Forget a snapshot. Raises `UnknownSnapshot`."""
        self.world.drop(name)
        if self._snapshots is not None:
            self._snapshots.pop(name, None)
        if self.record is not None:
            self.record.dropped(name)

    def reset(self) -> None:
        """Begin the scenario anew, with its own faults alone; snapshots and keys stay.

        Breaks stay too, since they are settings; what they remember is reset.
        """
        self.world.reset()
        self.journal.clear()
        self.played = PlaybackState()
        self.transactions = ChainTransactions()
        # The rules of the chains are settings of the world, and stay.
        self.node = NodeState(self.node.lenient, self.node.pace_ms, self.node.finite_vault)
        self.blocks = Blocks()
        self.begin_failures()
        self.stubs = Stubs(self.bounds)
        # Whoever waits for an answer gets it: nothing will open its gate any more.
        self.release(lambda held: True)
        self.breaks.forget()
        self.expected, self.failures, self.generated = (), (), None
        self.changes = ()
        self.beliefs = Beliefs()
        self.began_ms = self.world.now()
        self.lost = 0
        self.horizon = replace(self._begun(), former=self.horizon.former)
        if self.record is not None:
            self.record.began_anew()

    def begin_failures(self) -> None:
        """Have the faults and triggers of the scenario, and no others."""
        faults, triggers = self.opening or (Faults(), Triggers())
        self.faults, self.triggers = faults.copy(), triggers.copy()

    def _parts(self) -> dict[str, Any]:
        """Return independent copies of the parts of the world beside that of the engine."""
        return {name: getattr(self, name).copy() for name in _PARTS}

    def stage(self) -> tuple[int, int]:
        """Return what each request to the world changes, be it of a client or of control."""
        return self.journal.last_sequence, self.revision

    def _begun(self) -> Horizon:
        last = self.journal.last_sequence
        orders, sent = self.world.orders.count(), len(self.transactions)
        # A world that begins with a history was forked or loaded, or its scenario has orders.
        inherited = self.world.now() if orders or sent else None
        expects = len(self.beliefs.expects)
        return Horizon(orders, sent, last, inherited_ms=inherited, expects=expects)

    def _undo(self, since: int) -> None:
        """Note that a revert has undone the requests after a number."""
        horizon, last = self.horizon, self.journal.last_sequence
        oldest = last - len(self.journal)
        # Stretches before the journal, or within the new one, are no longer needed.
        stretches = [
            undone for undone in horizon.undone if undone[1] > oldest and undone[0] < since
        ]
        # Joined with the stretches that it overlaps, so that they never do.
        begin = min([since, *(first for first, end in stretches if end >= since)])
        stretches = [stretch for stretch in stretches if stretch[0] < begin]
        self.horizon = replace(
            horizon,
            orders=min(horizon.orders, self.world.orders.count()),
            transactions=min(horizon.transactions, len(self.transactions)),
            undone=(*stretches, (begin, last)),
        )

    def _weight(self) -> int:
        stored = self.world.orders.count() * _ORDER_WEIGHT
        stored += self.world.tickets.count() * _TICKET_WEIGHT
        return (
            stored
            + self.transactions.weight
            + self.node.weight
            + self.stubs.weight
            + self.faults.weight
            + self.triggers.weight
        )

    def dump(self, app_keys: Sequence[str] = (), listed: Listed = list) -> dict[str, Json]:
        """Return the whole state as plain data, without the journal, the keys and the token.

        `listed` makes the long arrays.
        """
        return {
            "format": FORMAT,
            "dialect": self.contract.dialect.name,
            "world": self.world.dump(listed),
            "faults": self.faults.dump(),
            "stubs": self.stubs.dump(),
            "transactions": listed(map(ChainTransaction.dump, list(self.transactions.values()))),
            "appKeys": list(app_keys),
            # Left out without any, so that dumps equal those of older releases.
            **({"triggers": self.triggers.dump()} if self.triggers.items else {}),
            **({"breaks": self.breaks.dump()} if self.breaks.active else {}),
            **({"played": played} if (played := self.played.dump()) else {}),
            **({"node": node} if (node := self.node.dump()) else {}),
        }

    def dump_of_epoch(self, app_keys: Sequence[str] = (), listed: Listed = list) -> dict[str, Json]:
        """Return the dump that people keep: its head names the epoch, which loading leaves out."""
        return {"format": FORMAT, "epoch": self.epoch, **self.dump(app_keys, listed)}


@value_class(frozen=True, slots=True)
class HostedCall(Call):
    """A call as the server makes it, with the whole of its world."""

    hosted: HostedWorld


class Worlds:
    """The worlds of one server; each comes into being on first use."""

    def __init__(self, make: Callable[[str], HostedWorld], bounds: Bounds = AS_LISTED) -> None:
        """Make worlds with `make`, which is given the key; `bounds` are those of the server."""
        self._bounds = bounds
        self._make = make
        self._worlds: dict[str, HostedWorld] = {}
        self.here: Mapping[str, HostedWorld] = self._worlds
        """The worlds in memory, by key; see `get` for the others."""
        self.by_app_key: dict[str, str] = {}
        """The worlds that app keys are bound to; see `bind`."""
        self._spare = 0
        self._bound: dict[str, tuple[str, ...]] = {}
        self._space = JournalSpace(bounds[limits.ALL_JOURNAL_BYTES].most)
        self._keeping: Keeping | None = None
        self._gone: dict[str, Departed] = {}
        self._model: HostedWorld | None = None
        self.homes: Homes | None = None
        """The processes that share the worlds; None where this one has them all."""
        self.made_only = False
        """Whether worlds have to be made, all but the default one."""

    def keep(self, keeping: Keeping, bound: Mapping[str, Sequence[str]]) -> None:
        """Keep all worlds on a disk from now on; those that are there already are read on use.

        `bound` are the app keys that choose these, by key. Raises `BadControl` where they are not
        free.
        """
        for key, app_keys in bound.items():
            self.bind(app_keys, key)
        self._keeping = keeping

    def __iter__(self) -> Iterator[HostedWorld]:
        # Worlds that were not used since the server's start are read one by one.
        keys = list(self._worlds)
        if self._keeping is not None:
            keys += [key for key in self._keeping if key not in self._worlds]
        return (self.get(key) for key in keys)

    @property
    def gone(self) -> Mapping[str, Departed]:
        """The worlds that were dropped after requests had come to them, by their keys."""
        return self._gone

    def __len__(self) -> int:
        return len(self._worlds if self._keeping is None else self._keeping)

    @property
    def total(self) -> int:
        """How many worlds there are, in other processes too."""
        return len(self) if self.homes is None else self.homes.total()

    def __contains__(self, key: object) -> bool:
        return key in (self._worlds if self._keeping is None else self._keeping)

    def is_there(self, key: str) -> bool:
        """Tell whether there is a world of a key, and make none. Raises what `Homes.check` does."""
        if key not in self and self.homes is not None:
            self.homes.check(key)
        return key in self

    def get(self, key: str) -> HostedWorld:
        """Return the world of a key, made now if it is new.

        Raises `BadWorldKey`, `UnknownWorld`, `TooManyWorlds` where there is no room for another,
        and what `Homes.check` raises where worlds are spread over processes.
        """
        hosted_world = self._worlds.get(key)
        if hosted_world is None:
            if self._keeping is not None and key in self._keeping:
                hosted_world = self._worlds[key] = self._keeping.load(key)
                hosted_world.journal.share(self._space)
                return hosted_world
            checked_key(key)
            if self.homes is not None:
                self.homes.check(key)
            if self.made_only and key != DEFAULT_WORLD:
                raise UnknownWorld(
                    f"there is no world {key!r} here, and this server makes none by itself; make "
                    f"it with PUT /w/{key}/__mock/world"
                )
            self._room(key)
            hosted_world = self._make(key)
            self.put(hosted_world)
        return hosted_world

    def unmade(self, key: str) -> HostedWorld:
        """Return a world of a key that is not there, and that requests do not reach.

        Raises what `get` raises of the key.
        """
        checked_key(key)
        if self.homes is not None:
            self.homes.check(key)
        self._room(key)
        return self._make(key)

    def model(self) -> HostedWorld:
        """Return the default world, or one that is like it where it is not at hand."""
        try:
            return self.get(DEFAULT_WORLD)
        except (Elsewhere, WorldAway, StateNotLoadable):
            # Made once, and not hosted: it only shows how worlds are here.
            if self._model is None:
                self._model = self._make(DEFAULT_WORLD)
            return self._model

    def put(self, hosted: HostedWorld, forked_from: HostedWorld | None = None) -> None:
        """Host a world under its key, in place of one that was there. Raises `TooManyWorlds`.

        `forked_from` is the world of which it is a fork.
        """
        self._room(checked_key(hosted.key))
        before = self._worlds.get(hosted.key)
        former = self._gone.pop(hosted.key, Departed()).requests
        if before is not None and before is not hosted:
            former += before.requests + before.horizon.former
        if former:
            hosted.horizon = replace(hosted.horizon, former=former)
        if self._keeping is not None:
            self._keeping.enter(hosted, forked_from)
        # After the keeping, which may refuse: then the old world is still there.
        if before is not None:
            before.journal.leave()
        self._worlds[hosted.key] = hosted
        hosted.journal.share(self._space)
        if self.homes is not None:
            self.homes.entered(hosted.key, len(self))

    def drop(self, key: str, *, for_good: bool = False) -> bool:
        """Forget a world; return whether there was one. Its key then makes a new one.

        Unless `for_good`, a new one knows how many requests came to this one.
        """
        self.unbind(key)
        known = key in self
        gone = self._worlds.pop(key, None)
        if gone is not None:
            gone.journal.leave()
            departed = gone.departed()
            if not for_good and departed.requests:
                # The oldest goes: a test suite may make a world for each of many thousand tests.
                if len(self._gone) >= _MOST_GONE:
                    del self._gone[next(iter(self._gone))]
                self._gone[key] = departed
        if self._keeping is not None and key in self._keeping:
            self._keeping.leave(key)
        if self.homes is not None:
            known = self.homes.left(key, len(self)) or known
        return known

    def full(self, adding: int) -> str:
        """Return why no world may keep more; empty where there is room.

        `adding` is an upper bound of the bytes that are about to be kept.
        """
        # Weighing every world is slow, so small additions use up a spare first.
        if self._spare >= adding:
            self._spare -= adding
            return ""
        used = sum([hosted.weight for hosted in self._worlds.values()])
        limit = self._bounds[limits.ALL_BYTES]
        if used >= limit.most:
            return f"the worlds of this server keep {limit} already; drop or reset some"
        self._spare = min(_SPARE, (limit.most - used) // 2)
        return ""

    def full_of_orders(self) -> str:
        """Return why no order or ticket is kept in any world; empty where there is room."""
        return self.full(_ORDER_WEIGHT)

    def bind(self, app_keys: Sequence[str], key: str) -> None:
        """Send v1 requests with these app keys to a world, where nothing else names one.

        Raises `BadControl` where one is another world's or there are too many, and nothing is
        changed.
        """
        self.check_free(app_keys, key)
        bound = dict.fromkeys((*self._bound.get(key, ()), *app_keys))
        more = len(self.by_app_key) + len(bound) - len(self._bound.get(key, ()))
        for count, limit in ((len(bound), limits.APP_KEYS), (more, limits.ALL_APP_KEYS)):
            if count > limit.most:
                raise BadControl(f"{count} app keys are too many; {limit.scope} has {limit}")
        if bound:
            self._bound[key] = tuple(bound)
        self.by_app_key.update(dict.fromkeys(app_keys, key))

    def bind_elsewhere(self, app_keys: Sequence[str], key: str) -> None:
        """Send v1 requests with these app keys to a world that another process binds to them.

        Raises `BadControl` where one is another world's or there are too many.
        """
        self.check_free(app_keys, key)
        if len(self.by_app_key) + len(app_keys) > limits.ALL_APP_KEYS.most:
            raise BadControl(f"{limits.ALL_APP_KEYS.scope} has {limits.ALL_APP_KEYS}")
        self.by_app_key.update(dict.fromkeys(app_keys, key))

    def world_of(self, app_key: str) -> str | None:
        """Return the key of the world that an app key is bound to."""
        return self.by_app_key.get(app_key)

    def check_free(self, app_keys: Sequence[str], key: str) -> None:
        """Raise `BadControl` where an app key is another world's."""
        for app_key in app_keys:
            bound_world = self.by_app_key.get(app_key, key)
            if bound_world != key:
                raise BadControl(
                    f"app key {app_key!r} belongs to world {bound_world!r}; drop that first"
                )

    def forget_app_keys(self, app_keys: Sequence[str], key: str) -> None:
        """Send these app keys no more to a world of another process."""
        for app_key in app_keys:
            if self.by_app_key.get(app_key) == key:
                del self.by_app_key[app_key]

    def unbind(self, key: str) -> list[str]:
        """Unbind the app keys of a world, and return them."""
        released = self._bound.pop(key, ())
        for app_key in released:
            del self.by_app_key[app_key]
        if released and self.homes is not None:
            self.homes.unbound(released, key)
        return list(released)

    def bound(self, key: str) -> list[str]:
        return list(self._bound.get(key, ()))

    def keys_bound(self) -> list[str]:
        """Return the keys of worlds that app keys choose."""
        return list(self._bound)

    def key_of(self, headers: Headers) -> str:
        """Return the key of the world that the app key sent is bound to, else the default one's."""
        return self.by_app_key.get(headers.get("appKey", ""), DEFAULT_WORLD)

    def _room(self, key: str) -> None:
        if key in self or key == DEFAULT_WORLD:
            return
        if self.total >= (limit := self._bounds[limits.WORLDS]).most:
            raise TooManyWorlds(
                f"there are {limit} already, and none of the key {key!r}; drop some first "
                "(DELETE /__mock/worlds/KEY)"
            )


def checked_key(key: str) -> str:
    """Return a key that a URL can carry as it is. Raises `BadWorldKey` for any other text."""
    if _KEY.fullmatch(key):
        return key
    raise BadWorldKey(
        f"{key[:60]!a} is no world key, which has 1 to 128 letters, digits, '.', '_', '~' or '-' "
        "and is not '.' or '..', which clients take out of a path"
    )
