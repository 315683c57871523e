"""The calendar: what all outages together mean for lists, quotes, submissions and progress."""

from collections.abc import Sequence
from dataclasses import field
from decimal import Context, Decimal
from enum import StrEnum
from fractions import Fraction

from mockserver.clock import iso
from mockserver.engine import pace
from mockserver.engine.derived import derived_int
from mockserver.engine.outages import Direction, Mode, Route, Window
from mockserver.engine.refusal import Refusal
from mockserver.engine.timetable import Timetable
from mockserver.values import dataclass

_FULL_SPEED = Fraction(1)


class Phase(StrEnum):
    """What a client is about to do, for outages tell quotes from submissions."""

    QUOTE = "quote"
    SUBMIT = "submit"


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a time line: an outage, cut to the time asked for (ms since 1970)."""

    subject: str
    from_ms: int
    until_ms: int
    window: Window


@dataclass(frozen=True, slots=True)
class Calendar:
    """The outages of a world. Every question is answered from the windows and a moment alone."""

    windows: Sequence[Window] = ()
    _table: Timetable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prepare the look-ups, which are made when they are first needed."""
        object.__setattr__(self, "_table", Timetable(self.windows))

    def active(self, now_ms: int) -> Sequence[Window]:
        """Return the windows that cover a moment."""
        return self._table.active(now_ms)

    def announced(self, now_ms: int) -> tuple[Window, ...]:
        """Return the windows that have not begun but are known already."""
        return tuple(
            window
            for window in self.windows
            if window.from_ms - window.lead_ms <= now_ms < window.from_ms
        )

    def list_changes(self, now_ms: int) -> int:
        """Return how often windows have changed the lists up to a moment."""
        return self._table.list_changes(now_ms)

    def check(self, route: Route, phase: Phase, now_ms: int) -> None:
        """Raise `Refusal` where an outage forbids quoting or submitting this route now."""
        for window in self._table.active(now_ms):
            if not window.down(now_ms) or not _forbids(window, phase):
                continue
            for chain, token, end in (
                (route.source_chain, route.source_token, Direction.SOURCE),
                (route.target_chain, route.target_token, Direction.TARGET),
            ):
                if window.concerns(chain, token, end):
                    raise _suspended(window, end)

    def speed(self, route: Route, now_ms: int) -> Fraction:
        """Return how fast orders of a route progress at a moment: the slowest window counts."""
        if not self.windows:
            return _FULL_SPEED
        met = self._table.of(route).active(now_ms)
        return min((window.speed(now_ms) for window in met), default=_FULL_SPEED)

    def progress(self, route: Route, from_ms: int, until_ms: int) -> Fraction:
        """Return the progress made between two moments, in milliseconds at full speed."""
        met = self._table.of(route)
        if not met.windows:
            return Fraction(max(0, until_ms - from_ms))
        return pace.made(met.windows, from_ms, until_ms)

    def when(self, route: Route, from_ms: int, progress_ms: int) -> int | None:
        """Return the first moment by which that much progress is made, or None for never."""
        if not self.windows or progress_ms <= 0:
            return from_ms + max(0, progress_ms)
        return pace.moment(self._table.of(route).windows, from_ms, progress_ms)

    def strike(self, route: Route, since_ms: int) -> tuple[int, Window] | None:
        """Return when, from a moment on, an outage first fails or refunds orders of a route."""
        return self._table.of(route).strike(since_ms) if self.windows else None

    def quiet(self, route: Route, from_ms: int, until_ms: int) -> bool:
        """Tell whether no outage meets orders of a route from a moment up to another one."""
        return not self.windows or self._table.of(route).quiet(from_ms, until_ms)

    def next_boundary(self, now_ms: int) -> int | None:
        """Return the first moment after now at which any window begins, ends or flaps."""
        return self._table.next_boundary(now_ms)

    def timeline(self, from_ms: int, until_ms: int) -> tuple[Span, ...]:
        """Return the outages between two moments by subject, cut to them, in order of time."""
        spans = [
            Span(
                window.subject,
                max(from_ms, window.from_ms),
                until_ms if window.until_ms is None else min(until_ms, window.until_ms),
                window,
            )
            for window in self.windows
        ]
        kept = [span for span in spans if span.from_ms < span.until_ms]
        return tuple(sorted(kept, key=lambda span: (span.subject, span.from_ms)))


@dataclass(frozen=True, slots=True)
class RandomOutages:
    """How a random calendar is drawn: mean time between outages and mean length, both in ms."""

    mean_between_ms: int
    mean_length_ms: int
    modes: Sequence[Mode] = (Mode.LISTED_DEAD,)


def random_windows(
    seed: int, chains: Sequence[str], rule: RandomOutages, from_ms: int, until_ms: int
) -> tuple[Window, ...]:
    """Return the outages of chains between two moments, drawn from the seed alone."""
    windows = []
    for chain in chains:
        moment, number = from_ms, 0
        while True:
            moment += _drawn(rule.mean_between_ms, seed, chain, "gap", number)
            if moment >= until_ms:
                break
            length = _drawn(rule.mean_length_ms, seed, chain, "length", number)
            mode = rule.modes[derived_int(seed, chain, "mode", number) % len(rule.modes)]
            windows.append(
                Window(chain, None, moment, moment + length, mode, lag=4, period_ms=60_000)
            )
            moment, number = moment + length, number + 1
    return tuple(sorted(windows, key=lambda window: (window.from_ms, window.chain or "")))


def _drawn(mean_ms: int, seed: int, *parts: object) -> int:
    # An exponential draw; Decimal's logarithm gives the same digits on every machine.
    context = Context(prec=28)
    share = context.divide(Decimal(derived_int(seed, *parts) % 10**12 + 1), Decimal(10**12))
    return max(1, int(context.multiply(-context.ln(share), Decimal(mean_ms))))


def _forbids(window: Window, phase: Phase) -> bool:
    if window.mode in (Mode.ACCEPT_STALL, Mode.LAGGING):
        return False
    return phase is Phase.SUBMIT or window.mode is not Mode.QUOTE_ONLY


def _suspended(window: Window, end: Direction) -> Refusal:
    until = "until further notice" if window.until_ms is None else f"until {iso(window.until_ms)}"
    because = f" ({window.reason})" if window.reason else ""
    name = "chain-suspended" if window.token is None else "token-suspended"
    return Refusal(
        name,
        f"{window.subject} is suspended as {end} {until}{because}; "
        "take another one, or try again then",
        about=f"{end} {'chain' if window.token is None else 'token'}",
    )
