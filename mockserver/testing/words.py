"""Words and names as a test writes them: read with a hint, and told in Python's spelling."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from mockserver.clock import ClockRefused, parse_duration, parse_instant
from mockserver.jsontext import camel
from mockserver.responders.forms import BadControl
from mockserver.validation import did_you_mean

_Word = TypeVar("_Word", bound=StrEnum)
_MEANT = {"times": "exactly", "count": "exactly", "duration": "lasting"}
"""What somebody means by the word that another library has for it."""
_PLACE = re.compile(r"\bbody field '(?:response\.)?([^']+)'")


class WrongWord(BadControl):
    """A name or a word that has no meaning where it was given; nothing has changed."""


def word(name: str, kind: type[_Word], value: object) -> _Word:
    """Return a word of a closed vocabulary. Raises `WrongWord` with the nearest one."""
    try:
        return kind(str(value))
    except ValueError:
        known = [one.value for one in kind]
        near = did_you_mean(str(value), known)
        raise WrongWord(
            f"{name}: expected one of {', '.join(known)}, got {value!r}{near}"
        ) from None


def check_names(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Raise `WrongWord` for the first name that is not among those known."""
    names = list(known)
    for name in given:
        if name not in names:
            near = did_you_mean(_MEANT.get(name, name), names) or f"; there are {', '.join(names)}"
            raise WrongWord(f"{name!r} is no option of {what}{near}")


def in_python(text: str, names: Iterable[str]) -> str:
    """Return a sentence of the control API with these names as Python spells them."""
    spelled = {camel(name): name for name in names if "_" in name}
    text = _PLACE.sub(lambda found: f"option {found[1]!r}", text).replace("body: ", "")
    return re.sub(r"\b[a-z]+[A-Z]\w*", lambda found: spelled.get(found[0], found[0]), text)


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
