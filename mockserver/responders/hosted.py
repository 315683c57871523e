"""Worlds as the server hosts them: the engine's world with what belongs to its traffic."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mockserver.contract import Contract
from mockserver.engine.world import World
from mockserver.jsontext import Json
from mockserver.recordings import RequestForm
from mockserver.responders.breaks import Breaks
from mockserver.responders.dumping import plain_of
from mockserver.responders.faults import Faults
from mockserver.responders.forms import BadControl
from mockserver.responders.journal import Journal
from mockserver.responders.refusing import Refuser
from mockserver.responders.seen import SeenTransaction
from mockserver.responders.stubs import Stubs
from mockserver.signing.keyring import Keyring

DEFAULT_WORLD = "default"
FORMAT = "crosschain-mock/world@1"
"""The format of a world's dump."""

MOST_SNAPSHOTS = 1_000
"""How many snapshots a world keeps at once."""

_KEY = re.compile(r"[A-Za-z0-9._~-]{1,128}")


class BadWorldKey(ValueError):
    """A world key with characters that no key has."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A refusal that a test expects: its name, and its operation; None stands for any."""

    refusal: str | None = None
    operation: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What a snapshot keeps beside the engine's state."""

    faults: Faults
    stubs: Stubs
    breaks: Breaks
    expected: tuple[Expected, ...]
    played: Mapping[RequestForm, int]
    transactions: Mapping[tuple[str, str], SeenTransaction]


@dataclass(slots=True)
class HostedWorld:
    """A world under its key, with the dialect it speaks and the traffic it has seen.

    `transactions` are those seen on the chains, by nickname and hash; `began_ms` is the world's
    time at its beginning; `failures` are defects of the server.
    """

    key: str
    world: World
    contract: Contract
    refuser: Refuser
    journal: Journal = field(default_factory=Journal)
    played: dict[RequestForm, int] = field(default_factory=dict)
    keys: Keyring = field(default_factory=Keyring)
    transactions: dict[tuple[str, str], SeenTransaction] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    stubs: Stubs = field(default_factory=Stubs)
    breaks: Breaks = field(default_factory=Breaks)
    expected: tuple[Expected, ...] = ()
    failures: tuple[str, ...] = ()
    began_ms: int = field(init=False)
    _kept: dict[str, Kept] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Note the time of the beginning."""
        self.began_ms = self.world.now()

    def fork(self, key: str) -> "HostedWorld":
        """Return a world under another key that has been the same up to now.

        Faults, stubs, breaks and expectations come along with their counts and memory; its journal
        begins anew.
        """
        twin = replace(
            self,
            key=key,
            world=self.world.fork(),
            journal=Journal(),
            played=dict(self.played),
            transactions=dict(self.transactions),
            faults=self.faults.copy(),
            stubs=self.stubs.copy(),
            breaks=self.breaks.copy(),
            failures=(),
        )
        twin.began_ms = self.began_ms
        return twin

    def snapshot(self, name: str | None = None) -> str:
        """Keep everything but the journal under a name and return it. Raises `BadControl`."""
        known = self.world.snapshots()
        if name not in known and len(known) >= MOST_SNAPSHOTS:
            raise BadControl(f"there are {MOST_SNAPSHOTS} snapshots already; drop some first")
        chosen = self.world.snapshot(name)
        self._kept = self._kept or {}
        self._kept[chosen] = Kept(
            self.faults.copy(),
            self.stubs.copy(),
            self.breaks.copy(),
            self.expected,
            dict(self.played),
            dict(self.transactions),
        )
        return chosen

    def revert(self, name: str) -> None:
        """Go back to a snapshot, which stays; the journal goes on. Raises `UnknownSnapshot`."""
        self.world.revert(name)
        kept = (self._kept or {}).get(name)
        if kept is None:
            return
        self.faults, self.stubs = kept.faults.copy(), kept.stubs.copy()
        self.breaks = kept.breaks.copy()
        self.expected, self.played = kept.expected, dict(kept.played)
        self.transactions = dict(kept.transactions)

    def drop(self, name: str) -> None:
        """Forget a snapshot. Raises `UnknownSnapshot`."""
        self.world.drop(name)
        if self._kept is not None:
            self._kept.pop(name, None)

    def reset(self) -> None:
        """Begin the scenario anew, without faults, stubs and journal; snapshots and keys stay.

        So do breaks, which are how the world is and not what happened in it; they forget.
        """
        self.world.reset()
        self.journal.clear()
        self.played.clear()
        self.transactions.clear()
        self.faults, self.stubs = Faults(), Stubs()
        self.breaks.forget()
        self.expected, self.failures = (), ()
        self.began_ms = self.world.now()

    def dump(self, app_keys: Sequence[str] = ()) -> dict[str, Json]:
        """Return everything that has happened as plain data, but for the journal and the keys."""
        return {
            "format": FORMAT,
            "dialect": self.contract.dialect.name,
            "world": self.world.dump(),
            "faults": self.faults.dump(),
            "stubs": self.stubs.dump(),
            "transactions": [plain_of(seen) for seen in self.transactions.values()],
            "appKeys": list(app_keys),
            # Only where there are some: dumps of older releases look the same without.
            **({"breaks": self.breaks.dump()} if self.breaks else {}),
        }


class Worlds:
    """The worlds of one server; each comes into being on first use."""

    def __init__(self, make: Callable[[str], HostedWorld]) -> None:
        """Make worlds with `make`, which is given the key."""
        self._make = make
        self._worlds: dict[str, HostedWorld] = {}
        self._by_app_key: dict[str, str] = {}

    def __iter__(self) -> Iterator[HostedWorld]:
        return iter(list(self._worlds.values()))

    def __len__(self) -> int:
        return len(self._worlds)

    def __contains__(self, key: object) -> bool:
        return key in self._worlds

    def get(self, key: str) -> HostedWorld:
        """Return the world of a key, made now if it is new. Raises `BadWorldKey`."""
        found = self._worlds.get(key)
        if found is None:
            found = self._worlds[checked_key(key)] = self._make(key)
        return found

    def put(self, hosted: HostedWorld) -> None:
        """Host a world under its key, in place of one that was there."""
        self._worlds[checked_key(hosted.key)] = hosted

    def drop(self, key: str) -> bool:
        """Forget a world; return whether there was one. Asked for again, it begins afresh."""
        self._by_app_key = {app: to for app, to in self._by_app_key.items() if to != key}
        return self._worlds.pop(key, None) is not None

    def bind(self, app_keys: Sequence[str], key: str) -> None:
        """Send v1 requests with these app keys to a world, where nothing else names one.

        Raises `BadControl` where one is another world's, and nothing is changed.
        """
        for app_key in app_keys:
            other = self._by_app_key.get(app_key, key)
            if other != key:
                raise BadControl(f"app key {app_key!r} belongs to world {other!r}; drop that first")
        self._by_app_key.update(dict.fromkeys(app_keys, key))

    def unbind(self, key: str) -> list[str]:
        """Send no app keys to a world any more and return which were."""
        bound = self.bound(key)
        for app_key in bound:
            del self._by_app_key[app_key]
        return bound

    def bound(self, key: str) -> list[str]:
        """Return the app keys whose requests go to a world."""
        return [app_key for app_key, to in self._by_app_key.items() if to == key]

    def key_of(self, app_key: str | None) -> str:
        """Return the key of the world that an app key is bound to, else the default one's."""
        return self._by_app_key.get(app_key or "", DEFAULT_WORLD)


def checked_key(key: str) -> str:
    """Return a key that a URL can carry as it is. Raises `BadWorldKey` for any other text."""
    if _KEY.fullmatch(key):
        return key
    raise BadWorldKey(
        f"the world key {key[:60]!a} has characters that no key has; "
        "use 1 to 128 letters, digits, '.', '_', '~' or '-'"
    )
