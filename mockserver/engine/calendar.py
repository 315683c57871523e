"""The calendar: what all outages together mean for lists, quotes, submissions and progress."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from enum import StrEnum
from fractions import Fraction

from mockserver.clock import iso
from mockserver.engine.amounts import ceil
from mockserver.engine.derived import derived_int
from mockserver.engine.outages import LIST_CHANGING, Direction, Mode, Route, Window
from mockserver.engine.refusal import Refusal

_MAX_PIECES = 20_000
"""Stretches looked at before an order counts as one that never arrives: a day of flapping."""


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

    def active(self, now_ms: int) -> tuple[Window, ...]:
        """Return the windows that cover a moment."""
        return tuple(window for window in self.windows if window.covers(now_ms))

    def announced(self, now_ms: int) -> tuple[Window, ...]:
        """Return the windows that have not begun but are known already."""
        return tuple(
            window
            for window in self.windows
            if window.from_ms - window.lead_ms <= now_ms < window.from_ms
        )

    def list_changes(self, now_ms: int) -> int:
        """Return how often windows have changed the lists up to a moment."""
        changes = 0
        for window in self.windows:
            if window.mode in LIST_CHANGING:
                changes += window.from_ms <= now_ms
                changes += window.until_ms is not None and window.until_ms <= now_ms
        return changes

    def check(self, route: Route, phase: Phase, now_ms: int) -> None:
        """Raise `Refusal` where an outage forbids quoting or submitting this route now."""
        for window in self.windows:
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
        return _slowest([window for window in self.windows if window.touches(route)], now_ms)

    def progress(self, route: Route, from_ms: int, until_ms: int) -> Fraction:
        """Return the progress made between two moments, in milliseconds at full speed."""
        windows = [window for window in self.windows if window.touches(route)]
        if not windows:
            return Fraction(max(0, until_ms - from_ms))
        made = Fraction(0)
        for begin, end, speed in _pieces(windows, from_ms):
            if begin >= until_ms:
                break
            made += ((until_ms if end is None else min(end, until_ms)) - begin) * speed
        return made

    def when(self, route: Route, from_ms: int, progress_ms: int) -> int | None:
        """Return the first moment by which that much progress is made, or None for never."""
        windows = [window for window in self.windows if window.touches(route)]
        if not windows or progress_ms <= 0:
            return from_ms + max(0, progress_ms)
        made = Fraction(0)
        for number, (begin, end, speed) in enumerate(_pieces(windows, from_ms)):
            if speed > 0:
                moment = begin + ceil((progress_ms - made) / speed)
                if end is None or moment <= end:
                    return moment
            if end is None or number >= _MAX_PIECES:
                return None
            made += (end - begin) * speed
        return None

    def strike(self, route: Route, after_ms: int) -> tuple[int, Window] | None:
        """Return when, after a moment, an outage first fails or refunds orders of a route."""
        strikes = [
            (moment, window)
            for window in self.windows
            if window.touches(route) and (moment := window.strikes(after_ms)) is not None
        ]
        return min(strikes, key=lambda strike: strike[0], default=None)

    def next_boundary(self, now_ms: int) -> int | None:
        """Return the first moment after now at which any window begins, ends or flaps."""
        moments = (window.next_boundary(now_ms) for window in self.windows)
        return min((moment for moment in moments if moment is not None), default=None)

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


def _slowest(windows: Sequence[Window], now_ms: int) -> Fraction:
    return min((window.speed(now_ms) for window in windows), default=Fraction(1))


def _pieces(windows: Sequence[Window], from_ms: int) -> Iterator[tuple[int, int | None, Fraction]]:
    """Yield stretches of constant speed from a moment on; the last one has no end."""
    begin = from_ms
    while True:
        speed = _slowest(windows, begin)
        end = _end_of_piece(windows, begin, speed)
        yield begin, end, speed
        if end is None:
            return
        begin = end


def _end_of_piece(windows: Sequence[Window], begin: int, speed: Fraction) -> int | None:
    if speed == 0:
        # A plain halt hides everything else until it ends, so flapping inside it is skipped.
        for window in windows:
            if window.mode is not Mode.FLAPPING and window.speed(begin) == 0:
                return window.until_ms
    moments = (window.next_boundary(begin) for window in windows)
    return min((moment for moment in moments if moment is not None), default=None)
