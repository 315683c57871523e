"""The catalogue: every break and control of the table, by name, as JSON and as a reference page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from types import MappingProxyType

from mockserver import documents, jsontext, markdown, resources, tables
from mockserver.contract import Layer, Verdict, fact_basis, load
from mockserver.jsontext import Json
from mockserver.responders.breaks.mutations import Break
from mockserver.responders.breaks.verbs import VERBS, in_turn, only

NOTHING = "none"
"""The verdict for a control, which is right, in the table, the page and programs."""


def read(file: Path) -> Iterator[Break]:
    """Yield the breaks of a file, the controls last. Raises `InvalidFile`."""
    document = documents.read(file, "breaks")
    table = document.value
    groups = load().groups
    for part in ("breaks", "controls"):
        for layer, rows in table[part].items():
            for name, row in rows.items():
                with tables.row(document, part, layer, name):
                    one = _break(name, Layer(layer), row, groups, part == "controls")
                yield one


def _break(
    name: str,
    layer: Layer,
    row: Mapping[str, Json],
    groups: Mapping[str, Sequence[str]],
    control: bool,
) -> Break:
    act = reduce(in_turn, (VERBS[verb](spec) for verb, spec in row.items() if verb in VERBS))
    basis = fact_basis(row["fact"])
    verdict = row.get("verdict", basis.kind.contradicted)
    return Break(
        name=name,
        layer=layer,
        summary=row["says"],
        fact=basis.fact,
        section=basis.reference,
        verdict=None if verdict == NOTHING else Verdict(verdict),
        operations=tuple(one for place in row["at"] for one in groups.get(place, [place])),
        act=only(row["when"], act) if "when" in row else act,
        control=control,
        needs_writes=row.get("writes", False),
        because=row.get("because", ""),
        methods=tuple(row.get("methods", ())),
        longer_paths=row.get("longer-paths", False),
    )


BREAKS: tuple[Break, ...] = tuple(read(resources.schemas() / "breaks.yaml"))
"""All breaks, the controls last."""

CATALOGUE: Mapping[str, Break] = MappingProxyType({one.name: one for one in BREAKS})
"""All breaks by name."""


_INTRODUCTION = """Ways in which a re-implementation of the service is wrong all the time, and,
as controls, ways in which it may differ and be right. `crosschain-mock serve --break NAME`
serves one; see [Break the contract](../how-to/break-the-contract.md).

A *verdict* is what a contract test should say: `violation` of the section named,
`differs-from-observed` with the cite key of the observation, `differs-from-assumption` with the
assumption, `undocumented-extra`, or, of a control, `none`. Breaks marked with * show only after a
submission.
"""


def break_json(one: Break) -> dict[str, Json]:
    """Return a break as JSON for programs."""
    members = jsontext.members_of(one, "act", "methods", "longer_paths")
    return {**members, "verdict": _verdict(one), "because": one.because or None}


def page(note: str) -> str:
    """Return the page of the reference, in Markdown; the note says how it came to be."""
    parts = ["# Breaks\n", f"{note}\n", _INTRODUCTION]
    for layer in Layer:
        found = [one for one in BREAKS if one.layer is layer and not one.control]
        rows = ((one, ", ".join(one.operations)) for one in found)
        parts.append(_section(layer.capitalize(), ("what is wrong", "operations"), rows))
    controls = ((one, one.because) for one in BREAKS if one.control)
    parts.append(_section("Controls", ("what differs", "why it is allowed"), controls))
    return "\n".join(parts)


def _section(title: str, heads: tuple[str, str], breaks: Iterable[tuple[Break, str]]) -> str:
    rows = [
        (f"`{one.name}`{' *' * one.needs_writes}", one.summary, more, _verdict(one), one.section)
        for one, more in breaks
    ]
    table = "\n".join(markdown.table(("name", *heads, "verdict", "by"), rows))
    return f"## {title} ({len(rows)})\n\n{table}\n"


def _verdict(one: Break) -> str:
    return one.verdict or NOTHING
