"""The types of options that several commands take; a wrong value is a usage error."""

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from functools import cached_property
from importlib import import_module
from ipaddress import AddressValueError, IPv6Address
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from mockserver import limits
from mockserver.clock import parse_mode
from mockserver.errors import CrosschainMockError
from mockserver.suggestions import did_you_mean
from mockserver.times_and_durations import ClockRefused, parse_duration, parse_instant

T = TypeVar("T")

_MOST_DURATION_MS = 7 * 86_400_000


class WrongOption(CrosschainMockError):
    """An option that cannot be followed, or does not go with the others; nothing was done."""


class WrongValue(Exception):
    """A value that an option cannot have; the message says what would be right."""


class Parsed(click.ParamType[T]):
    """What a function reads out of a text; its `WrongValue` or `ClockRefused` is a usage error."""

    def __init__(self, name: str, parse: Callable[[str], T]) -> None:
        """Take the name that help and usage show, and the function."""
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> T:
        """Return what the text says; a value that is no text, such as a default, stays as it is."""
        converted: T = value
        if isinstance(value, str):
            try:
                converted = self._parse(value)
            except (WrongValue, ClockRefused) as error:
                self.fail(str(error), param, ctx)
        return converted


def _instant_or_ms(text: str) -> int:
    is_ms = text.isascii() and text.isdecimal() and len(text) < 16
    return int(text) if is_ms else parse_instant(text)


INSTANT_OR_MS = Parsed("time", _instant_or_ms)
"""An ISO 8601 time with its offset, or milliseconds since 1970."""


def duration(*, zero: bool = False) -> Parsed[int]:
    """Return the type of a duration such as 30s, in milliseconds; `zero` tells that 0 is one."""

    def parse(text: str) -> int:
        duration = parse_duration(text)
        if not (0 if zero else 1) <= duration <= _MOST_DURATION_MS:
            least = "at least 0" if zero else "more than 0"
            raise WrongValue(f"{text!r} is not {least} and at most 7d")
        return duration

    return Parsed("duration", parse)


def quantity(name: str, of: str, least: str, most: str, sign: str = "") -> Parsed[Decimal]:
    """Return the type of a number of something within bounds, after which `sign` may stand."""

    def parse(text: str) -> Decimal:
        try:
            number = Decimal(text.removesuffix(sign))
        except InvalidOperation:
            raise WrongValue(f"{text!r} is no number of {of}") from None
        # Decimal reads `NaN` and `Infinity` as well.
        if not (number.is_finite() and Decimal(least) <= number <= Decimal(most)):
            raise WrongValue(f"{text!r} is not between {least} and {most} {of}")
        return number

    return Parsed(name, parse)


def bound(option: str) -> Parsed[int]:
    """Return the type of a bound that an option of this name sets."""

    def parse(text: str) -> int:
        try:
            return limits.bound_of(option, text)
        except limits.BadBound as error:
            raise WrongValue(str(error)) from None

    return Parsed("bound", parse)


class Vocabulary(click.ParamType[str]):
    """One word of a vocabulary that a module has: shown in the help, completed, and checked.

    `place` is `module:name` of an enumeration or a mapping, which is imported when it is needed.
    """

    name = "word"

    def __init__(self, place: str) -> None:
        self._place = place

    @cached_property
    def words(self) -> tuple[str, ...]:
        module, _, name = self._place.partition(":")
        return tuple(map(str, getattr(import_module(module), name)))

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the words as help and usage show them."""
        choices = "|".join(self.words)
        return f"[{choices}]" if param.param_type_name == "option" else f"{{{choices}}}"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        text = str(value)
        if text not in self.words:
            near = did_you_mean(text, self.words)
            message = f"{text!r} is none of {', '.join(self.words)}{near}"
            # Click would name an argument by all its words, which the message already lists.
            hint = (param.name or "").upper() if isinstance(param, click.Argument) else None
            raise click.BadParameter(message, ctx, param, hint)
        return text

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the words that begin as what is typed."""
        return [CompletionItem(word) for word in self.words if word.startswith(incomplete)]


def _key_and_secret(text: str) -> tuple[str, str]:
    """Return a developer key and its secret; what came is not repeated: it may be a secret."""
    key, _, secret = text.partition(":")
    if not key or not secret:
        raise WrongValue("a developer key and its secret belong together, as in KEY:SECRET")
    return key, secret


def _token(text: str) -> str:
    """Return a token that a header can have; what came is not repeated: it is a secret."""
    if not (text.isascii() and text.isprintable() and text == text.strip()):
        raise WrongValue("a token has visible ASCII characters, and no blank at its ends")
    return text


def _host(text: str) -> str:
    """Return a host to listen on; an IPv6 address may stand in brackets, as in an address."""
    bare = text[1:-1] if text[:1] + text[-1:] == "[]" else text
    # A name with a port is refused here: a socket would only say that it is not known.
    if bare.isspace() or not bare or "/" in bare or (":" in bare and not _is_ipv6(bare)):
        right = "a name or an address such as 127.0.0.1 or ::1; the port goes to --port"
        raise WrongValue(f"{text!r} is no host; give {right}")
    return bare


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


NAMED: Mapping[str, click.ParamType[Any]] = {
    "whole": click.INT,
    "seed": click.IntRange(0, limits.MOST_SEED),
    "host": Parsed("text", _host),
    "token": Parsed("text", _token),
    "unprocessed": click.UNPROCESSED,
    "instant": Parsed("time", parse_instant),
    "duration": duration(),
    "percent": quantity("percent", "percent", "0", "1000", sign="%"),
    "clock": Parsed("clock", parse_mode),
    "key-and-secret": Parsed("key:secret", _key_and_secret),
    "path": click.Path(path_type=Path),
    "file": click.Path(path_type=Path, dir_okay=False),
    "existing": click.Path(path_type=Path, dir_okay=False, exists=True),
    "folder": click.Path(path_type=Path, file_okay=False),
}
"""The types that the table of commands names."""
