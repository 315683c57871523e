"""The settings of the worlds of a test, in the words of options and markers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from mockserver import limits
from mockserver.clock import ClockMode, parse_mode
from mockserver.contract import ContractSource
from mockserver.contract.dialect import dialect_of
from mockserver.errors import CrosschainMockError
from mockserver.fast_dataclass import dataclass
from mockserver.responders.breaks import breaks_named
from mockserver.responders.control_forms import BadControl
from mockserver.responders.replay import BadMode, ReplayMode
from mockserver.scenarios import load_scenario
from mockserver.scenarios.library import is_file
from mockserver.suggestions import did_you_mean
from mockserver.testing.options import instant_ms
from mockserver.times_and_durations import ClockRefused
from mockserver.userfiles import anchored
from mockserver.worlds.audit import kinds_named
from mockserver.worlds.factory import WorldOptions
from mockserver.worlds.lint import lint_settings, lint_words

# Entries a world keeps, so that the check after a long test sees all of it.
_MORE = {"journal-entries": 10_000}
_WORDS = {
    "refusals": ("fail", "allow"),
    "unused": ("fail", "allow"),
    "stamps": ("either", "world"),
    "record": ("", "once", "none", "new", "all"),
}
_TYPES: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    ("scenario", (str, Path), "a shipped name or a file"),
    ("dialect", str, "'documented', 'observed' or errata as in 'E-01,E-02'"),
    ("replay_mode", str, "words as in 'fallback,naked'"),
    ("verify_wallets", bool, "True or False"),
    ("recordings", (str, Path, type(None)), "a folder"),
    ("state", (str, Path, type(None)), "a folder"),
    ("upstream_v1", str, "the base address of v1"),
    ("upstream_v2", str, "the base address of 2.0"),
    ("arm_writes", bool, "True or False"),
)


class BadSetting(CrosschainMockError):
    """A setting that does not exist, or a value that it cannot have."""


@dataclass(frozen=True, slots=True)
class MockSettings:
    """The settings of the worlds of a test.

    `scenario` is a shipped name or a file; `clock` is `frozen`, `auto`, `real` or `scaled:60`;
    `start` is an ISO 8601 time, or `now`, or None for the scenario's own start. With `refusals`
    set to `allow` a refused request never fails a test by itself. `app_keys` are pairs of a
    developer key and its secret, whose v1 signatures are then verified. `breaks` are names of
    permanent bugs of the service; `crosschain-mock breaks` lists them. `replay`
    are shipped names, files and folders of recordings; `replay_mode` says how they are served:
    `strict` or `fallback`, `naked`, `paced`, separated by commas. `audit` are the kinds of what
    the audit finds that fail a test, `True` for all of them; `-NAME` leaves one out. `lint` are
    the rules of lint that fail a test, `True` for all errors and warnings, or a mapping of limits
    such as `{"stale-quote": "30s"}`.
    `stamps` says which clock v1 requests may be stamped by: the world's alone (`world`), or that
    or the wall clock (`either`). With `unused` set to `allow` a stub, a fault, an outage or a
    trigger that no request met does not fail a test.

    `state` is a folder that keeps the worlds: a later server that is given it goes on with them.
    The worlds of the fixture have a folder each below it, by their tests. `bounds` are settable
    bounds of the page of limits by name, as in `{"journal-entries": 50_000}`.

    `record` is a record mode: `once`, `none`, `new` or `all`. The world then plays the folder
    `recordings`, and passes on what the mode records to `upstream_v1` and `upstream_v2`: reading
    requests, with `arm_writes` submissions too. Hosts other than this machine need `allow_hosts`,
    and `confirm_hosts` for submissions.
    """

    scenario: str | Path = "default"
    clock: str = ClockMode.FROZEN.value
    start: str | datetime | None = None
    seed: int | None = None
    dialect: str = "documented"
    refusals: str = "fail"
    app_keys: tuple[tuple[str, str], ...] = ()
    verify_wallets: bool = False
    breaks: tuple[str, ...] = ()
    replay: tuple[str | Path, ...] = ()
    replay_mode: str = "strict"
    audit: tuple[str, ...] = ()
    lint: tuple[str, ...] = ()
    stamps: str = "either"
    unused: str = "fail"
    record: str = ""
    recordings: str | Path | None = None
    upstream_v1: str = ""
    upstream_v2: str = ""
    arm_writes: bool = False
    allow_hosts: tuple[str, ...] = ()
    confirm_hosts: tuple[str, ...] = ()
    state: str | Path | None = None
    bounds: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        """Raise `BadSetting` for a value that no setting has."""
        # A frozen value's own field: a list, or one name, is what people write.
        object.__setattr__(self, "app_keys", _app_keys(self.app_keys))
        for name, kinds, expected in _TYPES:
            _require(isinstance(getattr(self, name), kinds), name, expected, getattr(self, name))
        self.clock_mode_and_rate()
        self.start_ms()
        for name, words in _WORDS.items():
            value = getattr(self, name)
            _require(value in words, name, " or ".join(map(repr, words)), value)
        if self.seed is not None:
            # A bool is an integer, too, but not one that is meant as a seed.
            good = type(self.seed) is int and 0 <= self.seed <= limits.MOST_SEED
            _require(good, "seed", f"a whole number from 0 to {limits.MOST_SEED}", self.seed)
        object.__setattr__(self, "replay", _sources(self.replay))
        object.__setattr__(self, "bounds", _bounds(self.bounds))
        for name in ("allow_hosts", "confirm_hosts"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        if self.record and self.replay:
            raise BadSetting("record and replay exclude each other: a record mode plays a folder")
        if self.record and self.state:
            raise BadSetting("record and state exclude each other: recorded answers have no state")
        with _named("breaks"):
            object.__setattr__(self, "breaks", _breaks(self.breaks))
        with _named("audit"):
            object.__setattr__(self, "audit", kinds_named(self.audit))
        with _named("lint"):
            object.__setattr__(self, "lint", lint_words(lint_settings(self.lint)))
        with _named("replay_mode"):
            ReplayMode.of(self.replay_mode)

    def changed(self, **changes: Any) -> "MockSettings":
        """Return the same settings but for some. Raises `BadSetting` for a name nobody knows."""
        known = [field.name for field in fields(self)]
        for name in changes:
            if name not in known:
                near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
                raise BadSetting(f"{name!r} is no setting{near}")
        return replace(self, **changes)

    def require_known(self) -> None:
        """Raise `CrosschainMockError` where there is no such scenario or dialect."""
        load_scenario(self.scenario)
        dialect_of(self.dialect, ContractSource().errata)

    def anchored(self, folder: Path) -> "MockSettings":
        """Return the same settings with relative files taken from a folder, where they are there.

        Tests change the working folder; a file that was named before stays the same one.
        """
        scenario, replay = self.scenario, tuple(anchored(path, folder) for path in self.replay)
        if is_file(scenario):
            scenario = anchored(scenario, folder)
        # Whether it is there or not: a record mode makes the folder.
        recordings = None if self.recordings is None else folder / self.recordings
        state = folder / self.state if self.state else None
        return replace(self, scenario=scenario, replay=replay, recordings=recordings, state=state)

    def clock_mode_and_rate(self) -> tuple[ClockMode, Decimal]:
        """Return how time passes, and how many times faster than the wall clock."""
        with _named("clock"):
            mode, rate = parse_mode(str(self.clock))
            return mode, rate or Decimal(1)

    def options(self) -> WorldOptions:
        """Return the options of the world factory, without scenario and clock."""
        return WorldOptions(
            dialect=self.dialect,
            breaks=self.breaks,
            replay=self.replay,
            replay_mode=ReplayMode.of(self.replay_mode),
            app_keys=self.app_keys,
            verify_wallets=self.verify_wallets,
            stamps=self.stamps,
            bounds=limits.Bounds({**_MORE, **dict(self.bounds)}),
        )

    def start_ms(self) -> int | None:
        """Return the start in ms since 1970; None where it is `now` or the scenario's own."""
        if self.start is None or self.start == "now":
            return None
        with _named("start"):
            return instant_ms(self.start)


@contextmanager
def _named(setting: str) -> Iterator[None]:
    """Raise errors about a setting as a `BadSetting` that names it."""
    try:
        yield
    except (BadControl, ClockRefused) as error:
        raise BadSetting(f"{setting}: {error}") from None
    except BadMode as error:
        raise BadSetting(str(error)) from None


def _require(good: bool, setting: str, expected: str, value: object) -> None:
    if not good:
        raise BadSetting(f"{setting}: expected {expected}, got {value!r}")


def _breaks(names: object) -> tuple[str, ...]:
    """Return the names of breaks, also of one or of several in one text. Raises `BadSetting`."""
    value: Any = names.replace(",", " ").split() if isinstance(names, str) else names
    good = isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)
    _require(good, "breaks", "names of breaks", names)
    return tuple(break_.name for break_ in breaks_named(value))


def _bounds(value: object) -> tuple[tuple[str, int], ...]:
    """Return bounds as pairs, also of a mapping or of `NAME=VALUE`. Raises `BadSetting`."""
    pairs: Any = value
    if isinstance(value, str):
        pairs = [text.strip().partition("=")[::2] for text in value.split(",")]
    elif isinstance(value, Mapping):
        pairs = list(value.items())
    try:
        # Underscores in Python, hyphens on the command line: both are one name.
        named = [(str(name).replace("_", "-"), number) for name, number in pairs]
        return tuple((name, limits.bound_of(name, number)) for name, number in named)
    except limits.BadBound as error:
        raise BadSetting(f"bounds: {error}") from None
    except (TypeError, ValueError):
        raise BadSetting(f"bounds: expected bounds by name, got {value!r}") from None


def _texts(name: str, value: object) -> tuple[str, ...]:
    """Return texts, also one alone. Raises `BadSetting`."""
    texts: Any = [value] if isinstance(value, str) else value
    good = isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts)
    _require(good, name, "names of hosts", value)
    return tuple(texts)


def _app_keys(keys: object) -> tuple[tuple[str, str], ...]:
    """Return pairs of a developer key and its secret, also of a mapping. Raises `BadSetting`."""
    value: Any = list(keys.items()) if isinstance(keys, Mapping) else keys
    good = isinstance(value, list | tuple) and all(
        isinstance(pair, list | tuple) and [type(item) for item in pair] == [str, str]
        for pair in value
    )
    _require(good, "app_keys", "pairs of a key and its secret", keys)
    return tuple((key, secret) for key, secret in value)


def _sources(replay: object) -> tuple[str | Path, ...]:
    """Return sources of recordings, also one or several in one text. Raises `BadSetting`."""
    value: Any = [name.strip() for name in replay.split(",")] if isinstance(replay, str) else replay
    value = [value] if isinstance(value, Path) else value
    good = isinstance(value, list | tuple) and all(
        isinstance(source, str | Path) for source in value
    )
    _require(good, "replay", "shipped names, files or folders", replay)
    return tuple(source for source in value if str(source))
