"""The requests that rules share: `schemas/probes.yaml`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mockserver import tables
from mockserver.conformance.discovery import amount_units
from mockserver.conformance.discovery.settling import (
    orders_settled,
    tickets_settled,
    v1_orders_settled,
)
from mockserver.conformance.requests import choices, valid
from mockserver.conformance.requests.probe import UNKNOWN, Probe, Stage
from mockserver.conformance.requests.words import shipped_probes
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.verdict import NotRun
from mockserver.documents import Document
from mockserver.jsontext import Json
from mockserver.tables import UnknownName, function_of, known
from mockserver.values import dataclass

_MODULES = (choices, valid, amount_units)
"""Where the functions of the table are looked for."""
_SETTLED: Mapping[str, Callable[[RunContext], bool]] = {
    "orders": orders_settled,
    "v1 orders": v1_orders_settled,
    "tickets": tickets_settled,
}


@dataclass(frozen=True, slots=True)
class Planned:
    """What a row asks for: a request about what is `fixed` and what is `chosen` in a run.

    It is not needed unless each probe of `refused` was refused and none of `unless` was taken; each
    of `made` must have succeeded.
    """

    name: str
    fixed: Mapping[str, Json]
    chosen: Mapping[str, Callable[[RunContext], Any]]
    refused: Sequence[str] = ()
    unless: Sequence[str] = ()
    made: Sequence[str] = ()

    def __call__(self, context: RunContext, **about: Any) -> Draft:
        """Return the request, about something else where that is given. Raises `NotRun`."""
        for probe in self.refused:
            if not context.require(probe).refused:
                raise NotRun(f"not needed, {probe} was taken")
        for probe in self.unless:
            if any(one.succeeded for one in context.sent(probe)):
                raise NotRun(f"not needed, {probe} was taken")
        context.require_each(*self.made)
        operation_id, _, words = self.name.partition("/")
        if words == UNKNOWN:
            return valid.unknown(context, operation_id)
        chosen = {name: choose(context) for name, choose in self.chosen.items()}
        return valid.valid_request(context, operation_id, **{**self.fixed, **chosen, **about})


def read(document: Document) -> Iterator[Probe]:
    """Yield the probes of a table. Raises `InvalidFile` for a name that nothing has."""
    sets, words = document.value["sets"], document.value["words"]
    found: set[str] = set()
    for number, block in enumerate(document.value["probes"]):
        with tables.row(document, "probes", number, "each"):
            every = known(words, block["each"]) if "each" in block else ("",)
        for one in every:
            for name, row in block["rows"].items():
                with tables.row(document, "probes", number, "rows", name):
                    probe = _probe(name.replace("{}", one), _filled(row, one), block["stage"], sets)
                    for before in probe.after:
                        if before not in found:
                            raise UnknownName(f"{before!r} is neither a set nor a probe further up")
                found.add(probe.name)
                yield probe


def _filled(row: Json, one: str) -> Any:
    """Return a row with a word in its places."""
    if isinstance(row, Mapping):
        return {name: _filled(value, one) for name, value in row.items()}
    if isinstance(row, list):
        return [_filled(value, one) for value in row]
    return row.replace("{}", one) if isinstance(row, str) else row


def _probe(
    name: str, row: Mapping[str, Any], stage: str, sets: Mapping[str, Sequence[str]]
) -> Probe:
    conditions = {what: row.get(what, ()) for what in ("refused", "unless", "made")}
    chosen = {role: _choice(told) for role, told in row.get("of", {}).items()}
    probe = Probe(
        name,
        Planned(name, row.get("with", {}), chosen, **conditions),
        Stage[stage.upper().replace(" ", "_")],
        tuple(before for place in row.get("after", ()) for before in sets.get(place, (place,))),
        wait_ms=row.get("wait", 0),
        conditional=row.get("conditional", False),
    )
    return replace(probe, settled=known(_SETTLED, row["awaits"])) if "awaits" in row else probe


def _choice(told: str) -> Callable[[RunContext], Any]:
    """Return what a function of the table chooses; the words behind its name are given to it."""
    name, _, given = told.partition(" ")
    own = (function_of(module, name) for module in _MODULES)
    found = choices.CHOICES.get(name) or next(filter(None, own), None)
    if found is None:
        raise UnknownName(f"{name!r} is no function")
    return lambda context: found(context, given) if given else found(context)


PLANNED: tuple[Probe, ...] = tuple(read(shipped_probes()))
"""The probes of the table that is shipped."""
_BY_NAME = {probe.name: probe.build for probe in PLANNED}


def planned(context: RunContext, name: str, **about: Any) -> Draft:
    """Return the request of a planned probe, about something else where that is given."""
    build = _BY_NAME[name]
    assert isinstance(build, Planned)  # noqa: S101  # the table makes no others
    return build(context, **about)
