"""The requests that rules share: `schemas/probes.yaml`, and what follows from a contract."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from mockserver import documents, resources, tables
from mockserver.conformance.discovery.settling import (
    orders_settled,
    tickets_settled,
    v1_orders_settled,
)
from mockserver.conformance.requests import comparisons, lists, named, reads, valid, writes
from mockserver.conformance.requests.alternative_forms import contrast_probes
from mockserver.conformance.requests.further import further_probes
from mockserver.conformance.requests.negative_cases import negative_probes
from mockserver.conformance.requests.probe import Build, Probe, Stage
from mockserver.conformance.session.context import RunContext
from mockserver.contract import Contract
from mockserver.documents import Document
from mockserver.jsontext import Json
from mockserver.tables import UnknownName, by_name, function_of, known

_FILES = by_name(comparisons, lists, named, reads, valid, writes)
_SETTLED: Mapping[str, Callable[[RunContext], bool]] = {
    "orders": orders_settled,
    "v1 orders": v1_orders_settled,
    "tickets": tickets_settled,
}


def probes_of(contract: Contract) -> tuple[Probe, ...]:
    """Return every probe that rules may name, in the order in which they are sent."""
    return (
        *PLANNED,
        *contrast_probes(),
        *negative_probes(contract),
        *further_probes(one for one in contract if one.id not in _PLANNED_FOR),
    )


def read(document: Document) -> Iterator[Probe]:
    """Yield the probes of a table. Raises `InvalidFile` for a name that nothing has."""
    sets = document.value["sets"]
    found: set[str] = set()
    for number, block in enumerate(document.value["probes"]):
        for one in block.get("each", ("",)):
            for name, row in block["rows"].items():
                with tables.row(document, "probes", number, "rows", name):
                    probe = _probe(name, row, block["stage"], one, sets)
                    _check_known(probe.after, found)
                found.add(probe.name)
                yield probe


def _probe(
    name: str, row: Mapping[str, Json], stage: str, one: str, sets: Mapping[str, Sequence[str]]
) -> Probe:
    after = [place.replace("{}", one) for place in row.get("after", ())]
    probe = Probe(
        name.replace("{}", one),
        _build(row, name.replace("{}", one), one),
        Stage[stage.upper().replace(" ", "_")],
        tuple(before for place in after for before in sets.get(place, (place,))),
        wait_ms=row.get("wait", 0),
        conditional=row.get("conditional", False),
    )
    if "awaits" in row:
        probe = replace(probe, settled=known(_SETTLED, row["awaits"]))
    return probe


def _check_known(names: Sequence[str], found: set[str]) -> None:
    for name in names:
        if name not in found:
            raise UnknownName(f"{name!r} is neither a set nor a probe further up")


def _build(row: Mapping[str, Json], probe: str, one: str) -> Build:
    if "asks" not in row:
        return partial(valid.valid_request, operation_id=probe.partition("/")[0])
    module, _, name = row["asks"].partition(".")
    function = function_of(known(_FILES, module), name)
    if function is None:
        raise UnknownName(f"{row['asks']!r} is no function")
    if "given" not in row:
        made: Build = function
        return made
    told = row["given"].replace("{}", one)
    return lambda context: function(context, told)


PLANNED: tuple[Probe, ...] = tuple(
    read(documents.read(resources.schemas() / "probes.yaml", "probes"))
)
"""The probes of the table that is shipped."""
_PLANNED_FOR = frozenset(probe.name.partition("/")[0] for probe in PLANNED)
