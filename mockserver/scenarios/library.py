"""Where scenarios and calendars lie: the shipped ones by name, all others by path."""

import re
from pathlib import Path

from mockserver import markdown, resources
from mockserver.errors import InvalidFile, Problem
from mockserver.file_formats import read
from mockserver.suggestions import did_you_mean

_ABOUT = """\
What is shipped, each in the words of its own file in `fixtures`. How to use and write them say
[Choose or write a scenario](../how-to/scenarios.md) and
[Control the clock and outages](../how-to/control-the-clock-and-outages.md#load-a-calendar)."""
_NAME = re.compile(r"[A-Za-z0-9_-]+")


def scenario_names() -> list[str]:
    return _names("scenarios")


def calendar_names() -> list[str]:
    return _names("calendars")


def is_file(name_or_path: str | Path) -> bool:
    """Tell whether this stands for a file, and not for what is shipped under that name."""
    return isinstance(name_or_path, Path) or not _NAME.fullmatch(name_or_path)


def located(folder: str, name_or_path: str | Path, beside: Path | None = None) -> Path:
    """Return the file that a name or a path stands for; `folder` is one below the fixtures.

    A text of letters, digits and hyphens is the name of a shipped file. Anything else is a path,
    taken from the folder `beside` where it is relative. Raises `InvalidFile` for an unknown name.
    """
    text = str(name_or_path)
    # By its form, not by whether it is there: a misspelt path is told as a path.
    if is_file(name_or_path):
        return Path(text) if beside is None else beside / text
    if text in _names(folder):
        return resources.fixtures() / folder / f"{text}.yaml"
    raise InvalidFile([Problem(text, None, "", unknown_name(folder, text))])


def unknown_name(folder: str, name: str) -> str:
    """Return the sentence about a name that is not shipped."""
    names = _names(folder)
    near = did_you_mean(name, names).removesuffix("?")
    kind = folder.removesuffix("s")
    return (
        f"{name!r} is no shipped {kind}{near} (shipped: {', '.join(names)}); "
        "write a file of your own with its ending, as in './mine.yaml'"
    )


def page() -> str:
    """Return the reference page of the shipped scenarios and calendars."""
    lines: list[str] = []
    for folder in ("scenarios", "calendars"):
        kind = folder.removesuffix("s")
        rows = (
            (f"`{name}`", read(located(folder, name), kind).value["description"])
            for name in _names(folder)
        )
        heading = f"## {folder.capitalize()}"
        lines += [heading, "", *markdown.table(("name", "what happens"), rows), ""]
    return markdown.page("Shipped scenarios and calendars", _ABOUT, lines)


def _names(folder: str) -> list[str]:
    return sorted(path.stem for path in (resources.fixtures() / folder).glob("*.yaml"))
