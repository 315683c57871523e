"""Times and durations as text, and what they are in milliseconds."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from mockserver.errors import CrosschainMockError

Duration = str | timedelta
"""A length of time: `9h`, `1h30m`, `250ms`, or a `timedelta`."""
_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


class ClockRefused(CrosschainMockError):
    """A time that cannot be read, or one that would turn the clock back."""


def parse_duration(text: str) -> int:
    """Return milliseconds for a duration such as `15s`, `1h30m`, `2.5d` or `250ms`; `0` is none.

    Raises `ClockRefused` for anything else.
    """
    if text == "0":
        return 0
    if not _DURATION.fullmatch(text):
        raise ClockRefused(f"{text!r} is no duration; write for example '15s', '1h30m' or '250ms'")
    total = sum(Decimal(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    return int(total)


def parse_instant(text: str) -> int:
    """Return milliseconds since 1970 for an ISO 8601 time with its offset.

    Raises `ClockRefused` for anything else; a time without offset is not guessed at.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ClockRefused(f"{text!r} is no time; write for example '2026-01-01T00:00:00Z'")
    return int((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000)


def duration(ms: int) -> str:
    """Return a duration as `parse_duration` reads it, such as `1h30m`; before 0 with a `-`."""
    if not ms:
        return "0ms"
    text, ms = "-" if ms < 0 else "", abs(ms)
    for unit, size in reversed(_UNITS.items()):
        count, ms = divmod(ms, size)
        text += f"{count}{unit}" if count else ""
    return text


def iso(ms: int) -> str:
    """Return a time in milliseconds as ISO 8601 text in UTC, with milliseconds where it has any."""
    seconds, rest = divmod(ms, 1000)
    try:
        text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return f"{ms} ms"
    return f"{text}.{rest:03d}Z" if rest else f"{text}Z"


EXAMPLE_START = "2026-01-01T00:00:00Z"
"""The time of examples, and of worlds whose start nobody names."""
EXAMPLE_START_MS = parse_instant(EXAMPLE_START)
