"""Worlds as the server hosts them: the engine's world with what belongs to its traffic."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mockserver.contract import Contract
from mockserver.engine.world import World
from mockserver.recordings import RequestForm
from mockserver.responders.journal import Journal
from mockserver.responders.refusing import Refuser

DEFAULT_WORLD = "default"
_KEY = re.compile(r"[A-Za-z0-9._~-]{1,128}")


class BadWorldKey(ValueError):
    """A world key with characters that no key has."""


@dataclass(slots=True)
class HostedWorld:
    """A world under its key, with the dialect it speaks and the traffic it has seen."""

    key: str
    world: World
    contract: Contract
    refuser: Refuser
    journal: Journal = field(default_factory=Journal)
    played: dict[RequestForm, int] = field(default_factory=dict)


class Worlds:
    """The worlds of one server; each comes into being on first use."""

    def __init__(self, make: Callable[[str], HostedWorld]) -> None:
        """Make worlds with `make`, which is given the key."""
        self._make = make
        self._worlds: dict[str, HostedWorld] = {}

    def __iter__(self) -> Iterator[HostedWorld]:
        return iter(list(self._worlds.values()))

    def __len__(self) -> int:
        return len(self._worlds)

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
        return self._worlds.pop(key, None) is not None


def checked_key(key: str) -> str:
    """Return a key that a URL can carry as it is. Raises `BadWorldKey` for any other text."""
    if _KEY.fullmatch(key):
        return key
    raise BadWorldKey(
        f"the world key {key[:60]!a} has characters that no key has; "
        "use 1 to 128 letters, digits, '.', '_', '~' or '-'"
    )
