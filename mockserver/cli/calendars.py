"""The command `calendar`: a calendar of outages as a time line."""

import shutil
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import click

from mockserver import standard_streams
from mockserver.cli.printing import print_json, print_table

if TYPE_CHECKING:
    from mockserver.engine.outages import Window

_DAY_MS = 86_400_000
_MARKS = {
    "delisted": ("D", "red"),
    "disabled": ("X", "magenta"),
    "listed-dead": ("#", "bright_red"),
    "quote-only": ("q", "yellow"),
    "accept-stall": ("s", "blue"),
    "lagging": ("~", "cyan"),
    "flapping": ("%", "bright_magenta"),
}
_WORKING, _ANNOUNCED = ".", "-"


def calendar_list(as_json: bool) -> None:
    """List the shipped calendars; `calendar show NAME` draws one."""
    from mockserver.scenarios import calendar_names

    names = calendar_names()
    if as_json:
        print_json(names)
    else:
        click.echo("\n".join(names))


def calendar_show(name: str, start: str | None, days: int | None, width: int | None) -> None:
    """Draw the calendar NAME, a shipped one or a file, as a time line."""
    from mockserver.clock import wall_ms
    from mockserver.scenarios import load_calendar
    from mockserver.times_and_durations import parse_instant

    begin = parse_instant(start) if start else wall_ms() // _DAY_MS * _DAY_MS
    windows = load_calendar(name, start_ms=begin)
    begin = min([begin, *(window.from_ms for window in windows)])
    last = max([begin + 1, *(window.until_ms or window.from_ms + _DAY_MS for window in windows)])
    if width is None:
        columns = shutil.get_terminal_size((100, 24)).columns
        width = max(20, columns - 2 - max((len(window.subject) for window in windows), default=0))
    _print(windows, begin, begin + days * _DAY_MS if days else last, width)


def _mark(windows: Sequence["Window"], from_ms: int, until_ms: int) -> str:
    for window in windows:
        if window.from_ms < until_ms and (window.until_ms is None or window.until_ms > from_ms):
            return _MARKS[window.mode.value][0]
    for window in windows:
        if window.from_ms - window.lead_ms < until_ms and from_ms < window.from_ms:
            return _ANNOUNCED
    return _WORKING


def _print(windows: Sequence["Window"], begin_ms: int, end_ms: int, width: int) -> None:
    from rich.text import Text

    from mockserver.times_and_durations import iso

    # Where the columns begin and end.
    edges = [begin_ms + (end_ms - begin_ms) * column // width for column in range(width + 1)]
    subjects = dict.fromkeys(window.subject for window in windows)
    label = max(map(len, subjects), default=0)
    styles = dict(_MARKS.values())
    # A pipe gets the marks alone, without colours and without folding.
    console = standard_streams.terminal(
        highlight=False, soft_wrap=True, no_color=not sys.stdout.isatty()
    )
    console.print(f"{iso(begin_ms)} to {iso(end_ms)}")
    for subject in subjects:
        mine = [window for window in windows if window.subject == subject]
        text = Text(f"{subject.ljust(label)}  ")
        for from_ms, until_ms in pairwise(edges):
            mark = _mark(mine, from_ms, max(from_ms + 1, until_ms))
            text.append(mark, styles.get(mark, "dim"))
        console.print(text)
    used = sorted({window.mode.value for window in windows})
    key = [f"{_MARKS[mode][0]} {mode}" for mode in used]
    console.print(f"{'  '.join([*key, f'{_ANNOUNCED} announced', f'{_WORKING} in service'])}\n")
    print_table(
        ("subject", "from", "until", "mode", "direction", "reason"),
        [
            (
                window.subject,
                iso(window.from_ms),
                "open" if window.until_ms is None else iso(window.until_ms),
                window.mode.value,
                window.direction.value,
                window.reason,
            )
            for window in sorted(windows, key=lambda window: (window.from_ms, window.subject))
        ],
    )
