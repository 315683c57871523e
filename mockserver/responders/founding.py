"""Worlds made on request: with a scenario, a dialect and a clock of their own, or from a dump."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING

from mockserver import limits, resources, scenarios
from mockserver.clock import ClockMode
from mockserver.engine.mishaps import StateNotLoadable
from mockserver.engine.scenario import Scenario
from mockserver.engine.world import World
from mockserver.errors import InvalidFile
from mockserver.jsontext import Json
from mockserver.responders.breaks import breaks_named
from mockserver.responders.dialects import Contracts
from mockserver.responders.forms import BadControl
from mockserver.responders.hosted import FORMAT, HostedWorld
from mockserver.responders.refusing import Refuser
from mockserver.responders.replay import Played
from mockserver.responders.seen import SeenTransaction
from mockserver.signing.keyring import Keyring
from mockserver.validation import SchemaCheck, did_you_mean

if TYPE_CHECKING:
    from mockserver.responders.replay.tape import Replay

_VERSIONED = re.compile(r"crosschain-mock/world@(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Wish:
    """How a world is to be; what is None is as the server's own worlds are.

    `scenario` is the name of a shipped one; `rate` is how many times faster than the wall clock a
    scaled clock runs; `start_ms` is where its clock starts (ms since 1970); `breaks` are names.
    """

    scenario: str | None = None
    dialect: str | None = None
    clock: ClockMode | None = None
    rate: Decimal | None = None
    start_ms: int | None = None
    seed: int | None = None
    breaks: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Manner:
    """How the worlds of a server are where a wish says nothing.

    `refusal_status` replaces the HTTP 200 of enveloped refusals; `breaks` are names; `replay` are
    recordings that answer in every world.
    """

    dialect: str = "documented"
    refusal_status: int | None = None
    keys: Keyring = field(default_factory=Keyring)
    breaks: tuple[str, ...] = ()
    replay: "Replay | None" = None


class Founder:
    """Makes the worlds of a server."""

    def __init__(
        self,
        contracts: Contracts,
        scenario: Scenario,
        wall: Callable[[], int],
        manner: Manner | None = None,
    ) -> None:
        """Take what worlds are by default; `wall` returns the wall clock's time in ms.

        Raises `BadControl` for a name that no break has.
        """
        self._contracts = contracts
        self._scenario = scenario
        self._wall = wall
        self._manner = manner or Manner()
        breaks_named(self._manner.breaks)
        self._shipped: dict[str, Scenario] = {}
        self._refusers: dict[str, Refuser] = {}

    def found(self, key: str, wish: Wish | None = None) -> HostedWorld:
        """Return a new world. Raises `CrosschainMockError` for what does not exist."""
        wanted = wish or Wish()
        scenario = adjusted(self._named(wanted.scenario), wanted)
        names = self._manner.breaks if wanted.breaks is None else wanted.breaks
        dialect = wanted.dialect or self._manner.dialect
        hosted = self._hosted(key, World(scenario, self._wall), dialect)
        hosted.breaks.set(names)
        return hosted

    def load(self, key: str, dump: Json) -> HostedWorld:
        """Return the world of a dump. Raises `StateNotLoadable` or `BadControl`."""
        self._check(dump)
        told = dump["world"]
        name, seed = told.get("scenario"), told.get("seed")
        scenario = self._of_dump(name)
        if isinstance(seed, int) and not isinstance(seed, bool) and name == scenario.name:
            scenario = replace(scenario, seed=seed)
        hosted = self._hosted(key, World.load(told, scenario, self._wall), dump["dialect"])
        try:
            hosted.faults.load(dump["faults"], hosted.contract, scenario)
            hosted.stubs.load(dump["stubs"], hosted.contract, hosted.refuser)
            hosted.breaks.load(dump.get("breaks", []))
            if "played" in dump:
                hosted.played = Played.load(dump["played"])
        except BadControl as error:
            raise StateNotLoadable(f"this dump is damaged: {error}") from None
        for item in dump["transactions"]:
            if full := hosted.transactions.full():
                raise StateNotLoadable(f"this dump holds too much: {full}")
            hosted.transactions.add(SeenTransaction.load(item))
        return hosted

    def _hosted(self, key: str, world: World, dialect: str) -> HostedWorld:
        if dialect not in self._refusers and len(self._refusers) >= limits.DIALECTS.most:
            raise BadControl(
                f"the worlds of this server speak {limits.DIALECTS} already; take one of these"
            )
        contract = self._contracts.get(dialect)
        if dialect not in self._refusers:
            self._refusers[dialect] = Refuser(contract, self._manner.refusal_status)
        refuser = self._refusers[dialect]
        manner = self._manner
        return HostedWorld(key, world, contract, refuser, keys=manner.keys, replay=manner.replay)

    def _named(self, name: str | None) -> Scenario:
        if name is None or name == self._scenario.name:
            return self._scenario
        if name not in self._shipped:
            known = scenarios.scenario_names()
            if name not in known:
                near = did_you_mean(name, known)
                raise BadControl(
                    f"body field 'scenario': {name[:80]!r} is no shipped scenario{near} "
                    f"(there are {', '.join(known)})"
                )
            self._shipped[name] = scenarios.load_scenario(name)
        return self._shipped[name]

    def _of_dump(self, name: Json) -> Scenario:
        try:
            return self._named(name if isinstance(name, str) else "")
        except (BadControl, InvalidFile):
            raise StateNotLoadable(
                f"this dump is of scenario {ascii(name)[:80]}, which is neither shipped nor this "
                f"server's own, {self._scenario.name!r}"
            ) from None

    def _check(self, dump: Json) -> None:
        name = dump.get("format") if isinstance(dump, Mapping) else None
        version = _VERSIONED.fullmatch(name) if isinstance(name, str) else None
        if version is None:
            raise StateNotLoadable(f"this is no dump of a world; its format is not {FORMAT!r}")
        if name != FORMAT:
            raise StateNotLoadable(
                f"this dump is of version {version[1]}; this release loads version 1"
            )
        violations = self._form.violations(dump)
        if violations:
            raise StateNotLoadable(f"this dump is damaged: {'; '.join(map(str, violations[:3]))}")

    @cached_property
    def _form(self) -> SchemaCheck:
        file = resources.schemas() / "meta" / "world.json"
        return SchemaCheck(json.loads(file.read_text("utf-8")), compiled=False)


def adjusted(scenario: Scenario, wish: Wish) -> Scenario:
    """Return the scenario with what a wish says instead."""
    changes: dict[str, object] = {
        "clock_mode": wish.clock,
        "clock_rate": wish.rate,
        "start_ms": wish.start_ms,
        "seed": wish.seed,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    return replace(scenario, **given) if given else scenario  # type: ignore[arg-type]
