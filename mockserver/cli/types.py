"""The types of options that several commands take; a wrong value is a usage error."""

from decimal import Decimal, InvalidOperation
from functools import cached_property
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from mockserver.clock import ClockRefused, parse_duration, parse_instant
from mockserver.violations import did_you_mean

_LONGEST_MS = 7 * 86_400_000


class Instant(click.ParamType[int]):
    """An ISO 8601 time with its offset, as milliseconds since 1970; these themselves if allowed."""

    name = "time"

    def __init__(self, *, milliseconds: bool = False) -> None:
        self._milliseconds = milliseconds

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the milliseconds."""
        if isinstance(value, int):
            return value
        text = str(value)
        if self._milliseconds and text.isascii() and text.isdecimal() and len(text) < 16:
            return int(text)
        try:
            return parse_instant(text)
        except ClockRefused as error:
            self.fail(str(error), param, ctx)


class Duration(click.ParamType[int]):
    """A duration such as 30s, as milliseconds."""

    name = "duration"

    def __init__(self, *, zero: bool = False) -> None:
        """Take whether none at all is a duration, too."""
        self._least_ms = 0 if zero else 1

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the milliseconds."""
        if isinstance(value, int):
            return value
        try:
            found = parse_duration(str(value))
        except ClockRefused as error:
            self.fail(str(error), param, ctx)
        if not self._least_ms <= found <= _LONGEST_MS:
            least = "more than 0" if self._least_ms else "at least 0"
            self.fail(f"{value!r} is not {least} and at most 7d", param, ctx)
        return found


class Quantity(click.ParamType[Decimal]):
    """A number of something within bounds, after which `sign` may stand."""

    def __init__(self, name: str, of: str, least: str, most: str, sign: str = "") -> None:
        self.name = name
        self._of = of
        self._least, self._most = least, most
        self._sign = sign

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        """Return the number, without the sign."""
        try:
            found = Decimal(str(value).removesuffix(self._sign))
        except InvalidOperation:
            self.fail(f"{value!r} is no number of {self._of}", param, ctx)
        if not (found.is_finite() and Decimal(self._least) <= found <= Decimal(self._most)):
            bounds = f"between {self._least} and {self._most} {self._of}"
            self.fail(f"{value!r} is not {bounds}", param, ctx)
        return found


class Word(click.ParamType[str]):
    """One word of a vocabulary that a module has: shown in the help, completed, and checked.

    `place` is `module:name` of an enumeration or a mapping, which is imported when it is needed.
    """

    name = "word"

    def __init__(self, place: str) -> None:
        """Take where the vocabulary is."""
        self._place = place

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words there are."""
        module, _, name = self._place.partition(":")
        return tuple(map(str, getattr(import_module(module), name)))

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the words as help and usage show them."""
        given = "|".join(self.words)
        return f"[{given}]" if param.param_type_name == "option" else f"{{{given}}}"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the word."""
        text = str(value)
        if text not in self.words:
            near = did_you_mean(text, self.words)
            told = f"{text!r} is none of {', '.join(self.words)}{near}"
            # An argument would be named by all its words, which the sentence has already.
            hint = (param.name or "").upper() if isinstance(param, click.Argument) else None
            raise click.BadParameter(told, ctx, param, hint)
        return text

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the words that begin as what is typed."""
        return [CompletionItem(one) for one in self.words if one.startswith(incomplete)]
