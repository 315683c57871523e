"""A comparison written out: for a terminal, for programs, as a page, as notes of a CI run."""

from collections.abc import Iterator
from itertools import groupby

from mockserver import jsontext
from mockserver.contract.diff.changes import Change, Comparison, Level
from mockserver.jsontext import Json, picked
from mockserver.wording import counted, github_command, one_line

FORMAT = "crosschain-mock/diff@1"
_TITLES = {Level.BREAKING: "breaking", Level.MAY_BREAK: "may break", Level.HARMLESS: "harmless"}
_COMMANDS = {Level.BREAKING: "error", Level.MAY_BREAK: "warning", Level.HARMLESS: "notice"}
_MOST_SHOWN, _MOST_EXPLAINED = 200, 1000


def as_text(comparison: Comparison) -> Iterator[tuple[Level | None, str]]:
    """Yield the lines for a terminal, each heading with its level so that it can be coloured."""
    title = f"{_cut(comparison.old)} -> {_cut(comparison.new)}"
    yield None, f"{title}: {summary(comparison)}"
    for level in Level:
        changes = comparison.of(level)
        if changes:
            yield None, ""
            yield level, f"{_TITLES[level]} ({len(changes)})"
        for operation, group in groupby(changes, key=lambda one: one.operation):
            yield None, f"  {_cut(operation)}"
            for change in group:
                yield None, f"    {_head(change)}"
                yield None, f"      {_tail(change)}"
    if comparison.hidden:
        yield None, ""
        yield None, f"{counted(comparison.hidden, 'change')} of wording only not shown (--all)"


def as_json(comparison: Comparison) -> str:
    """Return the comparison in the format `crosschain-mock/diff@1` (schemas/meta/diff.json)."""
    found = {
        "format": FORMAT,
        "old": comparison.old,
        "new": comparison.new,
        "summary": {
            "breaking": len(comparison.of(Level.BREAKING)),
            "mayBreak": len(comparison.of(Level.MAY_BREAK)),
            "harmless": len(comparison.of(Level.HARMLESS)),
            "hidden": comparison.hidden,
        },
        "changes": [_row(change) for change in comparison.changes],
    }
    return jsontext.pretty(found)


def as_markdown(comparison: Comparison) -> str:
    """Return the comparison as a page with a table for each level."""
    lines = [
        f"# {_cell(comparison.old)} -> {_cell(comparison.new)}",
        "",
        f"{summary(comparison)}.",
    ]
    for level in Level:
        changes = comparison.of(level)
        if not changes:
            continue
        lines += ["", f"## {_TITLES[level].capitalize()} ({len(changes)})", ""]
        lines += ["| operation | place | was | is | why it matters | basis |"]
        lines += ["|---|---|---|---|---|---|"]
        lines += [_line(change) for change in changes]
    return "\n".join(lines)


def as_github(comparison: Comparison) -> str:
    """Return the comparison as workflow commands, which become notes of a run."""
    lines = [
        github_command(
            _COMMANDS[change.level],
            _cut(f"{change.operation} {change.place}".strip()),
            f"{_TITLES[change.level]}: {_head(change)}; {_tail(change)}",
        )
        for change in comparison.changes
    ]
    return "\n".join([*lines, summary(comparison)])


def summary(comparison: Comparison) -> str:
    """Return how many changes there are of each level, in words."""
    counts = [(level, len(comparison.of(level))) for level in Level]
    words = ", ".join(f"{count} {_TITLES[level]}" for level, count in counts if count)
    return words or "nothing changes for clients"


def _head(change: Change) -> str:
    place = f"{_cut(change.place)}: " if change.place else ""
    return f"{place}{_cut(change.was)} -> {_cut(change.now)} ({change.kind})"


def _tail(change: Change) -> str:
    example = change.example
    if example and " is " not in example:
        example = f"such as {example}"
    return _cut("; ".join(filter(None, (change.why, example, change.basis))), _MOST_EXPLAINED)


def _row(change: Change) -> dict[str, Json]:
    row = {
        **picked(change, "level", "kind", "operation", "place", "was"),
        "is": change.now,
        "why": change.why,
    }
    optional = {"basis": change.basis, "example": change.example}
    return row | {key: value for key, value in optional.items() if value}


def _line(change: Change) -> str:
    why = f"{change.why}; {change.example}" if change.example else change.why
    cells = (
        change.operation,
        change.place,
        f"{_cut(change.was)} ({change.kind})",
        _cut(change.now),
        why,
        change.basis,
    )
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    plain = _cut(text, _MOST_EXPLAINED)
    for char in "\\`*_[]<>|":
        plain = plain.replace(char, f"\\{char}")
    return plain


def _cut(text: str, most: int = _MOST_SHOWN) -> str:
    """Return a text on one line, cut short; what a terminal would act on is escaped."""
    line = one_line(text)
    cut = line if len(line) <= most else f"{line[: most - 3]}..."
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in cut)
