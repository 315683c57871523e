"""The catalogue for readers: as JSON, and as a page of the reference."""

from collections.abc import Iterable, Sequence

from mockserver import jsontext
from mockserver.contract import Layer
from mockserver.jsontext import Json
from mockserver.responders.breaks.catalogue import BREAKS
from mockserver.responders.breaks.values import Break

_INTRODUCTION = """Ways in which a re-implementation of the service is wrong all the time, and,
as controls, ways in which it may differ and be right. `crosschain-mock serve --break NAME`
serves one; see [Break the contract](../how-to/break-the-contract.md).

A *verdict* is what a contract test should say: `violation` of the section named,
`differs-from-observed` with the cite key of the observation, `differs-from-assumption` with the
assumption, `undocumented-extra`, or, of a control, `none`. Breaks marked with * show only after a
submission.
"""


def shown(one: Break) -> dict[str, Json]:
    """Return a break as JSON for programs."""
    members = jsontext.members_of(one, "act", "methods", "longer_paths")
    return {**members, "because": one.because or None}


def page(note: str) -> str:
    """Return the page of the reference, in Markdown; the note says how it came to be."""
    parts = ["# Breaks\n", f"{note}\n", _INTRODUCTION]
    real = [one for one in BREAKS if not one.control]
    for layer in Layer:
        found = [one for one in real if one.layer is layer]
        parts.append(f"## {layer.value.capitalize()} ({len(found)})\n\n{_table(found)}")
    controls = [one for one in BREAKS if one.control]
    parts.append(f"## Controls ({len(controls)})\n\n{_allowed(controls)}")
    return "\n".join(parts)


def _table(breaks: Iterable[Break]) -> str:
    heads = ("name", "what is wrong", "operations", "verdict", "by")
    return _rows(heads, ((one, one.summary, ", ".join(one.operations)) for one in breaks))


def _allowed(controls: Iterable[Break]) -> str:
    heads = ("name", "what differs", "why it is allowed", "verdict", "by")
    return _rows(heads, ((one, one.summary, one.because) for one in controls))


def _rows(heads: Sequence[str], found: Iterable[tuple[Break, str, str]]) -> str:
    rows = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for one, what, more in found:
        star = " *" if one.needs_writes else ""
        rows.append(
            f"| `{one.name}`{star} | {what} | {more} | {one.verdict.value} | {one.section} |"
        )
    return "\n".join(rows) + "\n"
