"""Times and durations as tests write them, in whole milliseconds."""

from datetime import UTC, datetime, timedelta

from mockserver.clock import ClockRefused, parse_duration, parse_instant

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)

Duration = str | timedelta
"""A length of time: `9h`, `1h30m`, `250ms`, or a `timedelta`."""


def duration_ms(duration: Duration) -> int:
    """Return a duration in whole milliseconds (floor). Raises `ClockRefused` for other texts."""
    if isinstance(duration, str):
        return parse_duration(duration)
    if isinstance(duration, timedelta):
        return duration // _MS
    raise ClockRefused(
        f"{duration!r} has no unit; write '15s', timedelta(seconds=15) or, to advance, seconds=15"
    )


def instant_ms(moment: str | datetime) -> int:
    """Return a time in ms since 1970. Raises `ClockRefused` for one without an offset."""
    text = moment.isoformat() if isinstance(moment, datetime) else moment
    if not isinstance(text, str):
        raise ClockRefused(f"{moment!r} is no time; write '2026-01-01T00:00:00Z' or a datetime")
    return parse_instant(text)


def moment(ms: int) -> datetime:
    """Return ms since 1970 as a time in UTC."""
    return _EPOCH + ms * _MS
