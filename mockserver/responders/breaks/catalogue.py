"""The catalogue: every break and control of the table, by name, as JSON and as a reference page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from types import MappingProxyType

from mockserver import file_formats, jsontext, markdown, resources, tables
from mockserver.contract import Layer, Verdict, fact_basis, load
from mockserver.jsontext import Json
from mockserver.responders.breaks.mutations import Break
from mockserver.responders.breaks.verbs import VERBS, in_turn, only

NOTHING = "none"
"""The verdict for a control, which is right, in the table, the page and programs."""


def read(file: Path) -> Iterator[Break]:
    """Yield the breaks of a file, the controls last. Raises `InvalidFile`."""
    document = file_formats.read(file, "breaks")
    table = document.value
    groups = load().groups
    for part in ("breaks", "controls"):
        for layer, rows in table[part].items():
            for name, row in rows.items():
                with tables.row(document, part, layer, name):
                    break_ = _break(name, Layer(layer), row, groups, part == "controls")
                yield break_


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
        operations=tuple(
            operation_id for place in row["at"] for operation_id in groups.get(place, [place])
        ),
        act=only(row["when"], act) if "when" in row else act,
        control=control,
        needs_writes=row.get("writes", False),
        needs_edges=row.get("edges", False),
        because=row.get("because", ""),
        methods=tuple(row.get("methods", ())),
        longer_paths=row.get("longer-paths", False),
    )


BREAKS: tuple[Break, ...] = tuple(read(resources.schemas() / "breaks.yaml"))
"""All breaks, the controls last."""

CATALOGUE: Mapping[str, Break] = MappingProxyType({break_.name: break_ for break_ in BREAKS})
"""All breaks by name."""


_INTRODUCTION = """Ways in which a re-implementation of the service is wrong all the time, and,
as controls, ways in which it may differ and be right. `crosschain-mock serve --break NAME`
serves one; see [Break the contract](../how-to/break-the-contract.md).

A *verdict* is what a contract test should say: `violation` of the section named,
`differs-from-observed` with the cite key of the observation, `differs-from-assumption` with the
assumption, `undocumented-extra`, or, of a control, `none`. Breaks marked with * show only after a
submission.
"""


def break_json(break_: Break) -> dict[str, Json]:
    members = jsontext.members_of(break_, "act", "needs_edges", "methods", "longer_paths")
    return {**members, "verdict": _verdict(break_), "because": break_.because or None}


def page(note: str) -> str:
    """Return the page of the reference, in Markdown; the note says how it came to be."""
    parts = ["# Breaks\n", f"{note}\n", _INTRODUCTION]
    for layer in Layer:
        breaks = [break_ for break_ in BREAKS if break_.layer is layer and not break_.control]
        rows = ((break_, ", ".join(break_.operations)) for break_ in breaks)
        parts.append(_section(layer.capitalize(), ("what is wrong", "operations"), rows))
    controls = ((break_, break_.because) for break_ in BREAKS if break_.control)
    parts.append(_section("Controls", ("what differs", "why it is allowed"), controls))
    return "\n".join(parts)


def _section(title: str, heads: tuple[str, str], breaks: Iterable[tuple[Break, str]]) -> str:
    rows = [
        (
            f"`{break_.name}`{' *' * break_.needs_writes}",
            break_.summary,
            more,
            _verdict(break_),
            break_.section,
        )
        for break_, more in breaks
    ]
    table = "\n".join(markdown.table(("name", *heads, "verdict", "by"), rows))
    return f"## {title} ({len(rows)})\n\n{table}\n"


def _verdict(break_: Break) -> str:
    return break_.verdict or NOTHING
