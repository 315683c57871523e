"""Reads a calendar: windows given one by one, and windows drawn from a seed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mockserver.engine.catalog import Catalog
from mockserver.engine.outage_calendar import RandomOutages, random_windows
from mockserver.engine.outages import Mode, Window, window_problems
from mockserver.errors import InvalidFile
from mockserver.fast_dataclass import dataclass
from mockserver.file_formats import Complaint, read
from mockserver.jsontext import FieldPath
from mockserver.scenarios.catalog_files import load_catalog
from mockserver.scenarios.library import located
from mockserver.scenarios.problems import unknown_name
from mockserver.scenarios.scenario_values import nicknames
from mockserver.times_and_durations import ClockRefused, parse_duration, parse_instant

MOST_DRAWN = 1_000
"""The most outages a random calendar may be expected to draw, so that it stays quick."""

_FIELDS = {"from": "at", "lead": "announced"}


@dataclass(frozen=True, slots=True)
class WorldStart:
    """What a calendar is read against: the catalog, the world's start (ms since 1970), its seed."""

    catalog: Catalog
    start_ms: int
    seed: int = 0


def load_calendar(
    name_or_path: str | Path, *, start_ms: int, catalog: Catalog | None = None, seed: int = 0
) -> tuple[Window, ...]:
    """Return the windows of a shipped calendar or of a file.

    Times such as `+2h` count from `start_ms` (ms since 1970); chains and tokens are those of the
    catalog, by default the shipped one. Raises `InvalidFile` with every problem of the file.
    """
    start = WorldStart(load_catalog() if catalog is None else catalog, start_ms, seed)
    document = read(located("calendars", name_or_path), "calendar")
    windows, complaints = calendar_windows(document.value, start)
    if complaints:
        raise InvalidFile([document.problem(path, text) for path, text in complaints])
    return windows


def calendar_windows(
    value: Mapping[str, Any], start: WorldStart
) -> tuple[tuple[Window, ...], list[Complaint]]:
    """Return the windows of a calendar's value, and all that is wrong with them."""
    complaints: list[Complaint] = []
    windows: list[Window] = []
    places: list[FieldPath] = []
    for number, item in enumerate(value.get("windows", ())):
        place: FieldPath = ("windows", number)
        try:
            begin = _moment(item, "at", start.start_ms)
            end = _end(item, begin, start.start_ms)
            windows.append(Window.of(item, begin, end, parse_duration))
            places.append(place)
        except _UnreadableWindow as error:
            complaints.append(((*place, error.field), str(error)))
    if "random" in value:
        drawn, wrong = _drawn(value["random"], start)
        complaints += wrong
        windows += drawn
        # One place each, so that a problem's number finds the entry that its window came from.
        places += [("random",)] * len(drawn)
    for index, field, message in window_problems(windows, start.catalog):
        # Of what was drawn there is no field to name.
        place = places[index]
        inside = () if place == ("random",) else (_FIELDS.get(field, field),)
        complaints.append(((*place, *inside), message))
    return tuple(windows), complaints


class _UnreadableWindow(ValueError):
    """A field whose text has the right form and yet no meaning, such as a 13th month."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def _end(item: Mapping[str, Any], begin_ms: int, start_ms: int) -> int | None:
    if "for" in item:
        return begin_ms + parse_duration(item["for"])
    return _moment(item, "until", start_ms) if "until" in item else None


def _moment(item: Mapping[str, Any], field: str, start_ms: int) -> int:
    text: str = item[field]
    if text.startswith("+"):
        return start_ms + parse_duration(text[1:])
    try:
        return parse_instant(text)
    except ClockRefused as error:
        raise _UnreadableWindow(field, str(error)) from None


def _drawn(
    item: Mapping[str, Any], start: WorldStart
) -> tuple[tuple[Window, ...], list[Complaint]]:
    """Return the windows that are drawn from the seed, or all that is wrong with their rule."""
    known = nicknames(start.catalog)
    chains = item.get("chains") or known
    complaints: list[Complaint] = [
        (("random", "chains", number), unknown_name(chain, "nickname", known))
        for number, chain in enumerate(chains)
        if chain not in known
    ]
    try:
        begin = _moment(item, "at", start.start_ms)
        # Without an end it ends where it begins, and is refused: drawing would never stop.
        end = _end(item, begin, start.start_ms) or begin
    except _UnreadableWindow as error:
        return (), [*complaints, (("random", error.field), str(error))]
    if end <= begin:
        text = "ends before it begins; the end must be later than the beginning"
        complaints.append((("random", "until"), text))
    mean_between = parse_duration(item["mean_between"])
    # Before anything is drawn, since a file is anybody's.
    expected = (end - begin) * len(chains) // max(1, mean_between)
    if expected > MOST_DRAWN:
        text = f"would draw about {expected} outages, at most {MOST_DRAWN} are right"
        text += "; make it longer or name fewer chains"
        complaints.append((("random", "mean_between"), text))
    if complaints:
        return (), complaints
    modes = tuple(Mode(mode) for mode in item.get("modes", ["listed-dead"]))
    rule = RandomOutages(mean_between, parse_duration(item["mean_length"]), modes)
    return random_windows(item.get("seed", start.seed), chains, rule, begin, end), []
