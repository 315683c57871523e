"""Worlds made on request: with a scenario, a dialect and a clock of their own, or from a dump."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mockserver import limits, resources, scenarios
from mockserver.clock import ClockMode, wall_ms
from mockserver.contract.load import source_for
from mockserver.engine.refusal import Refusal, StateNotLoadable
from mockserver.engine.scenario import Scenario
from mockserver.engine.world import World
from mockserver.errors import CrosschainMockError, InvalidFile
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.responders.breaks import Breaks, breaks_named
from mockserver.responders.control_forms import BadControl
from mockserver.responders.dialect_contracts import Contracts
from mockserver.responders.faults.registry import Faults
from mockserver.responders.refusal_answers import Refuser
from mockserver.responders.replay import PlaybackState, ReplayMode
from mockserver.responders.responder import PassingOn
from mockserver.responders.stubs import Stubs
from mockserver.signing import wallet_libraries
from mockserver.signing.keyring import Keyring
from mockserver.suggestions import did_you_mean
from mockserver.validation import SchemaCheck
from mockserver.worlds.announced_transactions import restore
from mockserver.worlds.hosted import FORMAT, HostedWorld
from mockserver.worlds.journal import WorldJournal
from mockserver.worlds.node_state import PACE_MS, NodeState
from mockserver.worlds.transaction_store import ChainTransaction
from mockserver.worlds.trigger_actions import add_trigger, load_triggers
from mockserver.worlds.triggers import Triggers

if TYPE_CHECKING:
    from mockserver.responders.replay.index import Replay

_VERSIONED = re.compile(r"crosschain-mock/world@(\d{1,9})")


class NothingToReplay(CrosschainMockError):
    """Recordings of which a world can play none."""


@dataclass(frozen=True, slots=True)
class WorldOptions:
    """The options of a world. What is None is left to the scenario.

    `scenario` is a shipped name or a file; `rate` is how many times faster than the wall clock a
    scaled clock runs; `start_ms` is where its clock starts (ms since 1970); `breaks` are names of
    breaks that it has from its beginning. `replay` are shipped names, files and folders
    of recordings, which are served as `replay_mode` says; `matching` is a file of rules by which
    requests find them. `refusal_status` replaces the HTTP 200 of enveloped refusals. `app_keys` are
    pairs of a developer key and its secret: with one, v1 signatures are verified. `stamps` says
    which clock v1 requests may be stamped by: the world's alone (`world`), or that or the wall
    clock (`either`). A `lenient_chain` has no nonces, fees and limits of what wallets own, and of a
    `finite_vault` deposits revert that it could not pay; an empty block comes every
    `block_pace_ms`, with 0 never. `upstream` gets the requests that no recording
    answers. `bounds` are those that the server has been given.
    """

    scenario: str | Path = "default"
    dialect: str = "documented"
    clock: ClockMode | None = None
    rate: Decimal | None = None
    start_ms: int | None = None
    seed: int | None = None
    breaks: tuple[str, ...] = ()
    replay: tuple[str | Path, ...] = ()
    replay_mode: ReplayMode = field(default_factory=ReplayMode)
    matching: Path | None = None
    refusal_status: int | None = None
    app_keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    verify_wallets: bool = False
    stamps: str = "world"
    lenient_chain: bool = False
    finite_vault: bool = False
    block_pace_ms: int = PACE_MS
    upstream: PassingOn | None = field(default=None, repr=False, compare=False)
    bounds: limits.Bounds = field(default=limits.AS_LISTED, repr=False, compare=False)

    def adjusted(self, scenario: Scenario) -> Scenario:
        changes: dict[str, Any] = {
            "clock_mode": self.clock,
            "clock_rate": self.rate,
            "start_ms": self.start_ms,
            "seed": self.seed,
        }
        settings = {name: value for name, value in changes.items() if value is not None}
        return replace(scenario, **settings) if settings else scenario

    def keyring(self) -> Keyring:
        """Return the keys that a world begins with. Raises `SigningUnavailable`."""
        if self.verify_wallets:
            wallet_libraries.require()
        clock = wall_ms if self.stamps == "either" else None
        return Keyring(MappingProxyType(dict(self.app_keys)), self.verify_wallets, clock)


class WorldFactory:
    """Makes the worlds of a server."""

    def __init__(
        self, options: WorldOptions, wall: Callable[[], int], scenario: Scenario | None = None
    ) -> None:
        """Take how worlds are by default; `wall` returns the wall clock's time in ms.

        A `scenario` is taken as it is, in place of the one that the options name. Raises
        `CrosschainMockError` for bad options: at once, and not with the first world.
        """
        self._options = options
        self._wall = wall
        self.contracts = Contracts(source_for(options.dialect))
        self.contracts.get(options.dialect)
        if scenario is None:
            start = options.start_ms
            # A calendar's `+2h` counts from where the clocks of the worlds start.
            since = wall if start is None else (lambda: start)
            scenario = options.adjusted(scenarios.load_scenario(options.scenario, wall=since))
        self._scenario = scenario
        self._shipped: dict[str, Scenario] = {}
        self._refusers: dict[str, Refuser] = {}
        self._replays: dict[tuple[object, ...], Replay] = {}
        self._digests: dict[tuple[str | Path, ...], bytes] = {}
        self._replay(options)
        options.keyring()
        breaks_named(options.breaks)
        if scenario.failures:
            # What its worlds begin with is wrong now, and not with the first of them.
            self.create("checked")

    def create(self, key: str, scenario: str | None = None, **changes: Any) -> HostedWorld:
        """Return a new world, of a shipped scenario or as the server's own are.

        `changes` take the place of the server's options. Clock and seed come from them or from the
        scenario, never from the server. Raises `CrosschainMockError` for what does not exist.
        """
        adjusted = WorldOptions(**changes).adjusted(self._named(scenario))
        options = replace(self._options, **changes)
        return self.hosted(key, World(adjusted, self._wall), options)

    def hosted(self, key: str, world: World, options: WorldOptions) -> HostedWorld:
        """Return a world of the engine as a server hosts it. Raises `CrosschainMockError`."""
        refuser = self._refusers.get(options.dialect)
        if refuser is None and len(self._refusers) >= limits.DIALECTS.most:
            raise BadControl(
                f"the worlds of this server speak {limits.DIALECTS} already; take one of these"
            )
        contract = self.contracts.get(options.dialect)
        if refuser is None:
            refuser = Refuser(contract, options.refusal_status)
            self._refusers[options.dialect] = refuser
        added = world.scenario.failures.get("breaks", ())
        keys, breaks = options.keyring(), Breaks([*dict.fromkeys((*added, *options.breaks))])
        replay = self._replay(options)
        hosted = HostedWorld(
            key,
            world,
            contract,
            refuser,
            keys=keys,
            breaks=breaks,
            replay=replay,
            upstream=options.upstream,
            bounds=options.bounds,
            journal=WorldJournal.within(options.bounds),
            stubs=Stubs(options.bounds),
            node=NodeState(options.lenient_chain, options.block_pace_ms, options.finite_vault),
        )
        if world.scenario.failures:
            _open(hosted)
        return hosted

    def load(self, key: str, dump: Json, beginning: Mapping[str, Any] | None = None) -> HostedWorld:
        """Return the world of a dump. Raises `StateNotLoadable` or `BadControl`.

        `beginning` are fields of its scenario that it had by its own options.
        """
        self._check(dump)
        state = dump["world"]
        scenario = replace(
            self._of_dump(state["scenario"]), seed=state["seed"], **(beginning or {})
        )
        options = replace(self._options, dialect=dump["dialect"], breaks=())
        hosted = self.hosted(key, World.load(state, scenario, self._wall), options)
        # A dump has what is left of the failures that its scenario begins with.
        hosted.faults, hosted.triggers = Faults(), Triggers()
        try:
            hosted.faults.load(dump["faults"], hosted.contract, scenario)
            hosted.stubs.load(dump["stubs"], hosted.contract, hosted.refuser)
            hosted.breaks.load(dump.get("breaks", []))
            load_triggers(hosted, dump.get("triggers", []))
            if "node" in dump:
                hosted.node = NodeState.load(dump["node"])
            if "played" in dump:
                hosted.played = PlaybackState.load(dump["played"])
        except BadControl as error:
            raise StateNotLoadable(f"this dump is damaged: {error}") from None
        for item in dump["transactions"]:
            if full := hosted.transactions.full():
                raise StateNotLoadable(f"this dump holds too much: {full}")
            restore(hosted, ChainTransaction.load(item))
        hosted.inherit()
        return hosted

    @property
    def bounds(self) -> limits.Bounds:
        return self._options.bounds

    @property
    def dialect_name(self) -> str:
        """The dialect that worlds speak by default."""
        return self.dialect_of(self._options.dialect)

    def dialect_of(self, name: str) -> str:
        """Return the name of a dialect as worlds have it: errata in their order."""
        return self.contracts.get(name).dialect.name

    def scenario_mark(self, name: str) -> str:
        """Return what a scenario is known by on a disk: its name, with the digest of a file's."""
        return f"{name} {self._digest}".strip() if name == self._scenario.name else name

    def check_scenario(self, name: str, digest: str, *, default: bool) -> None:
        """Raise `StateNotLoadable` where a world of a scenario cannot go on in this server.

        The `default` world is of the server's own.
        """
        own = self._scenario.name
        if name != own and default:
            raise StateNotLoadable(
                f"it began from scenario {name!r}, and this server has {own!r}; start it with "
                f"--scenario {name}, or with another folder"
            )
        if name == own and digest != self._digest:
            raise StateNotLoadable(
                f"scenario {name!r} has changed since it began; restore that file, or take "
                "another folder"
            )
        if name != own:
            self._of_dump(name)

    @cached_property
    def _digest(self) -> str:
        """The digest of the server's own scenario if that is a file; empty for a shipped one."""
        scenario = self._options.scenario
        return scenarios.digest(scenario) if scenarios.is_file(scenario) else ""

    def _replay(self, options: WorldOptions) -> "Replay | None":
        """Return the recordings that answer in a world, read once: files may grow meanwhile.

        Raises `InvalidFile` for what cannot be read, `NothingToReplay` where nothing can be played.
        """
        if not options.replay:
            return None
        key = options.replay, options.replay_mode, options.matching, options.dialect
        if key not in self._replays:
            # Most servers replay nothing.
            from mockserver.recordings import digest, gather, load_rules  # noqa: PLC0415
            from mockserver.responders.replay.index import Replay  # noqa: PLC0415

            self._digests.setdefault(options.replay, digest(options.replay))
            sources, rules = gather(options.replay), load_rules(options.matching)
            replay = Replay(sources, rules, options.replay_mode)
            usable = replay.index(self.contracts.get(options.dialect)).usable
            if not usable.used:
                raise NothingToReplay(f"there is nothing to replay here: {usable}")
            self._replays[key] = replay
        return self._replays[key]

    def forget_changed(self, replay: tuple[str | Path, ...]) -> None:
        """Have the next world read recordings again if their files have changed."""
        if replay in self._digests:
            from mockserver.recordings import digest  # noqa: PLC0415

            if digest(replay) != self._digests[replay]:
                del self._digests[replay]
                kept = {
                    key: replay_state
                    for key, replay_state in self._replays.items()
                    if key[0] != replay
                }
                self._replays = kept

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

    def _of_dump(self, name: str) -> Scenario:
        try:
            return self._named(name)
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


def _open(hosted: HostedWorld) -> None:
    """Set the failures of a world's scenario as what it begins with. Raises `BadControl`."""
    scenario = hosted.world.scenario
    setters: Mapping[str, Callable[[Json], object]] = {
        "faults": lambda fault: hosted.faults.add(fault, hosted.contract, scenario),
        "at": lambda trigger: add_trigger(hosted, trigger),
    }
    for name, put in setters.items():
        for number, definition in enumerate(scenario.failures.get(name, ())):
            try:
                put(definition)
            except (CrosschainMockError, Refusal) as error:
                text = str(error).removeprefix("body").lstrip(": ").removeprefix("field ")
                raise BadControl(
                    f"scenario {scenario.name!r}, failures.{name}[{number}]: {text}"
                ) from None
    hosted.opening = hosted.faults.copy(), hosted.triggers.copy()
