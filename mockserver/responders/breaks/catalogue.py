"""The catalogue: every break and every control of `schemas/breaks.yaml`, by name."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from mockserver import documents, resources, tables
from mockserver.contract import Layer
from mockserver.contract.facts import shipped_facts
from mockserver.jsontext import Json
from mockserver.responders.breaks.values import Break, Verdict
from mockserver.responders.breaks.verbs import VERBS, only

_ASSUMPTION = re.compile(r"A-\d+")


def read(file: Path) -> Iterator[Break]:
    """Yield the breaks of a file, the controls last. Raises `InvalidFile`."""
    document = documents.read(file, "breaks")
    table = document.value
    for part in ("breaks", "controls"):
        for layer, rows in table[part].items():
            for name, row in rows.items():
                with tables.row(document, part, layer, name):
                    one = _break(name, Layer(layer), row, table["groups"], part == "controls")
                yield one


def _break(
    name: str, layer: Layer, row: Mapping[str, Json], groups: Mapping[str, Json], control: bool
) -> Break:
    ((verb, spec),) = ((verb, row[verb]) for verb in VERBS if verb in row)
    act = VERBS[verb](spec)
    basis = row["fact"]
    documented = basis[0].islower()
    natural = Verdict.OBSERVED
    if documented:
        natural = Verdict.VIOLATION
    elif _ASSUMPTION.fullmatch(basis):
        natural = Verdict.ASSUMED
    return Break(
        name=name,
        layer=layer,
        summary=row["says"],
        fact=basis,
        section=shipped_facts().fact(basis).section if documented else basis,
        verdict=Verdict(row.get("verdict", natural)),
        operations=tuple(one for place in row["at"] for one in groups.get(place, [place])),
        act=only(row["when"], act) if "when" in row else act,
        control=control,
        needs_writes=row.get("writes", False),
        because=row.get("because", ""),
        methods=tuple(row.get("methods", ())),
        longer_paths=row.get("longer-paths", False),
    )


BREAKS: tuple[Break, ...] = tuple(read(resources.schemas() / "breaks.yaml"))
"""All of them, the controls last."""

CATALOGUE: Mapping[str, Break] = MappingProxyType({one.name: one for one in BREAKS})
"""The same by name."""
