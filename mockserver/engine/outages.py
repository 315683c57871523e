"""Outages: one window in which a chain, a token or a token on a chain is out of service.

What an outage does to orders in flight is assumed (A-157).
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from mockserver.engine.catalog import Catalog
from mockserver.engine.refusal import Naming, Refusal
from mockserver.fast_dataclass import dataclass, value_class


class Direction(StrEnum):
    """Which end of a transfer is out."""

    SOURCE = "source"
    TARGET = "target"
    BOTH = "both"


class Mode(StrEnum):
    """What clients see of an outage."""

    DELISTED = "delisted"
    """Gone from the lists, whose version rises; quotes and submissions are refused."""
    DISABLED = "disabled"
    """Listed with the flag that says so; quotes and submissions are refused."""
    LISTED_DEAD = "listed-dead"
    """Listed as always; quotes and submissions are refused."""
    QUOTE_ONLY = "quote-only"
    """Quotes work; submissions are refused."""
    ACCEPT_STALL = "accept-stall"
    """Orders are accepted and make no progress until the end."""
    LAGGING = "lagging"
    """Orders progress `lag` times slower."""
    FLAPPING = "flapping"
    """Dead for the first `down_percent` of each period, alive for the rest."""


class InFlight(StrEnum):
    """What happens to orders on their way when a window begins."""

    STALL = "stall"
    FAIL = "fail"
    REFUND = "refund"
    NONE = "none"


WORDS: Mapping[str, type[StrEnum]] = MappingProxyType(
    {"mode": Mode, "direction": Direction, "in_flight": InFlight}
)
"""The options of an outage that are a word out of a few."""
LIST_CHANGING = (Mode.DELISTED, Mode.DISABLED)
"""The modes that change lists."""

OutageSubject = tuple[str | None, str | None]
"""What is out: a chain (nickname), a token (symbol), or a token on a chain."""
Out = tuple[Mode, str | None, str | None]
"""A subject that is out, and in which mode."""

# From when until when a window lasts, and its number.
_Time = tuple[int, int, int]

_FOREVER = 10**18

# What a mode needs and nobody has to name; files name it, so that they say all that they do.
_OF_MODES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {Mode.LAGGING: {"lag": 4}, Mode.FLAPPING: {"period": "1m"}}
)

MIN_PERIOD_MS = 5_000
"""The shortest period of flapping, so that no calendar makes a poll expensive."""


@value_class(frozen=True, slots=True)
class OrderRoute:
    """The two ends of an order: chains by nickname, tokens by symbol."""

    source_chain: str
    source_token: str
    target_chain: str
    target_token: str


@dataclass(frozen=True, slots=True)
class Window:
    """A time in which a subject is out: from `from_ms` up to but not including `until_ms`.

    The subject is a chain (nickname), a token (symbol) on every chain, or a token on one chain.
    Without `until_ms` the window is open. It is announced `lead_ms` before it begins. `closed`
    marks a window ended by hand: a flapping phase that began at its very end has happened.
    """

    chain: str | None
    token: str | None
    from_ms: int
    until_ms: int | None = None
    mode: Mode = Mode.LISTED_DEAD
    direction: Direction = Direction.BOTH
    in_flight: InFlight = InFlight.STALL
    lead_ms: int = 0
    lag: int = 1
    period_ms: int = 0
    down_percent: int = 50
    closed: bool = False
    reason: str = ""

    @classmethod
    def of(
        cls,
        options: Mapping[str, Any],
        from_ms: int,
        until_ms: int | None,
        ms: Callable[[Any], int],
    ) -> "Window":
        """Return the window that options describe, called as in a calendar's file.

        `ms` reads their durations. Raises `ValueError` for a word that has no meaning.
        """
        # What is named wins over what the mode brings.
        options = {**_OF_MODES.get(options.get("mode", ""), {}), **options}
        settings: dict[str, Any] = {
            name: options[name] for name in ("lag", "down_percent", "reason") if name in options
        }
        settings |= {name: kind(options[name]) for name, kind in WORDS.items() if name in options}
        spans = {"announced": "lead_ms", "period": "period_ms"}
        settings |= {
            name: ms(options[option]) for option, name in spans.items() if option in options
        }
        return cls(options.get("chain"), options.get("token"), from_ms, until_ms, **settings)

    @property
    def out(self) -> Out:
        """The mode, and the subject as chain and token."""
        return self.mode, self.chain, self.token

    @property
    def subject(self) -> str:
        """The subject in words: `chain BNB`, `token USDT` or `token USDT on BNB`."""
        return self.called(str)

    def called(self, naming: Naming) -> str:
        """Return the subject in words, with the chain as an interface calls it."""
        chain = "" if self.chain is None else naming(self.chain)
        if self.token is None:
            return f"chain {chain}"
        return f"token {self.token} on {chain}" if chain else f"token {self.token}"

    def covers(self, now_ms: int) -> bool:
        """Whether a moment lies in the window, also where flapping has the subject up just then."""
        return self.from_ms <= now_ms and (self.until_ms is None or now_ms < self.until_ms)

    def down(self, now_ms: int) -> bool:
        if not self.covers(now_ms):
            return False
        if self.mode is not Mode.FLAPPING:
            return True
        return (now_ms - self.from_ms) % self.period_ms < self.down_ms

    @property
    def down_ms(self) -> int:
        """How long each period of flapping is down, in milliseconds."""
        return self.period_ms * self.down_percent // 100

    def concerns(self, chain: str, token: str | None, end: Direction) -> bool:
        """Whether the window is about a token on a chain, at that end of a transfer."""
        return (
            self.direction in (Direction.BOTH, end)
            and self.chain in (None, chain)
            and self.token in (None, token)
        )

    def speed(self, now_ms: int) -> Fraction:
        """Return how fast orders progress at a moment: 1 as usual, 0 not at all."""
        if not self.down(now_ms):
            return Fraction(1)
        if self.mode is Mode.LAGGING:
            return Fraction(1, self.lag)
        # `accept-stall` says itself what becomes of orders on their way, whatever `in_flight` is.
        if self.mode is not Mode.ACCEPT_STALL and self.in_flight is InFlight.NONE:
            return Fraction(1)
        return Fraction(0)

    def next_boundary(self, now_ms: int) -> int | None:
        """Return the first moment after `now_ms` at which this window changes something."""
        if now_ms < self.from_ms:
            return self.from_ms
        if not self.covers(now_ms):
            return None
        if self.mode is not Mode.FLAPPING:
            return self.until_ms
        phase = (now_ms - self.from_ms) % self.period_ms
        turn = now_ms - phase + (self.down_ms if phase < self.down_ms else self.period_ms)
        return turn if self.until_ms is None else min(turn, self.until_ms)

    def strikes(self, since_ms: int) -> int | None:
        """Return the first moment, from `since_ms` on, at which it fails or refunds orders."""
        if self.in_flight not in (InFlight.FAIL, InFlight.REFUND):
            return None
        if since_ms <= self.from_ms:
            return self.from_ms
        if self.mode is not Mode.FLAPPING:
            return None
        # Rounded up: a turn at the very moment counts.
        periods = -(-(since_ms - self.from_ms) // self.period_ms)
        turn = self.from_ms + periods * self.period_ms
        if self.until_ms is None or turn < self.until_ms or (self.closed and turn == self.until_ms):
            return turn
        return None


WindowProblem = tuple[int, str, str]
"""What is wrong with a window of a calendar: its place, the field and what would be right."""


def window_problems(windows: Sequence[Window], catalog: Catalog) -> tuple[WindowProblem, ...]:
    """Return everything that is wrong with a calendar, in its order."""
    taken = OccupiedTimes()
    problems: list[WindowProblem] = []
    for index, window in enumerate(windows):
        problems += [(index, *issue) for issue in window_issues(window, catalog, taken)]
        taken.add(window)
    return tuple(problems)


class OccupiedTimes:
    """The times that windows take of each subject; tells whether another one overlaps them."""

    def __init__(self, windows: Iterable[Window] = ()) -> None:
        self._count = 0
        self._times: dict[tuple[str | None, str | None, Direction], list[_Time]] = {}
        for window in windows:
            self.add(window)

    def add(self, window: Window) -> None:
        for times in self._of(window):
            insort(times, (window.from_ms, _end(window), self._count))
        self._count += 1

    def overlapped(self, window: Window) -> int | None:
        """Return the number of the window, by its order, that another one overlaps first."""
        numbers = []
        for times in self._of(window):
            # Earlier windows do not overlap each other, or were reported: neighbours are enough.
            place = bisect_left(times, (window.from_ms, -1, -1))
            for begin, end, number in times[max(0, place - 1) : place + 1]:
                if begin < _end(window) and window.from_ms < end:
                    numbers.append(number)
                    break
        return min(numbers, default=None)

    def _of(self, window: Window) -> Iterator[list[_Time]]:
        # A window of both ends is kept under each, since it overlaps those of either.
        ends = (Direction.SOURCE, Direction.TARGET)
        for end in ends if window.direction is Direction.BOTH else (window.direction,):
            yield self._times.setdefault((window.chain, window.token, end), [])


def _end(window: Window) -> int:
    return _FOREVER if window.until_ms is None else window.until_ms


def window_issues(
    window: Window, catalog: Catalog, taken: OccupiedTimes
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one window beside others: the field, and what would be right."""
    if window.chain is None and window.token is None:
        yield "chain", "neither a chain nor a token is named; name at least one"
    for field, name, kind, find in (
        ("chain", window.chain, "nickname", catalog.chain),
        ("token", window.token, "symbol", catalog.token),
    ):
        try:
            if name is not None:
                find(name)
        except Refusal as refusal:
            meant = " or ".join(map(repr, refusal.nearest))
            near = f"; did you mean {meant}?" if meant else ""
            yield field, f"{name!r} is no {kind} of the catalog{near}"
    if window.until_ms is not None and window.until_ms <= window.from_ms:
        yield "until", "ends before it begins; the end must be later than the beginning"
    if window.lead_ms < 0:
        yield "lead", f"{window.lead_ms} ms is negative; 0 or more is right"
    if window.mode is Mode.LAGGING and window.lag < 2:
        yield "lag", f"{window.lag} slows nothing down; 2 or more is right"
    if window.mode is Mode.FLAPPING and window.period_ms < MIN_PERIOD_MS:
        yield "period", f"{window.period_ms} ms is too short; {MIN_PERIOD_MS} ms or more is right"
    if window.mode is Mode.FLAPPING and not 1 <= window.down_percent <= 99:
        yield "down_percent", f"{window.down_percent} is outside 1 to 99"
    earlier = taken.overlapped(window)
    if earlier is not None:
        yield "from", f"overlaps window {earlier} of {window.subject}; leave a gap or join them"
