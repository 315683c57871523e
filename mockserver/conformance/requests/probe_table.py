"""The requests that rules share: `schemas/probes.yaml`, and what some of them wait for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

from mockserver import tables
from mockserver.conformance.discovery import amount_units
from mockserver.conformance.discovery.member_roles import scalar, text
from mockserver.conformance.requests import probe_functions, valid
from mockserver.conformance.requests.probe import UNKNOWN, Probe, Stage
from mockserver.conformance.requests.probe_labels import (
    FILTERS,
    LISTED,
    NAMED,
    for_each_status,
    shipped_probes,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.verdict import NotRun
from mockserver.contract import ids, shipped_facts
from mockserver.fast_dataclass import dataclass, grouped
from mockserver.file_formats import Document
from mockserver.jsontext import Json
from mockserver.tables import UnknownTableName, function_of, look_up

# Where the functions of the table are looked for.
_MODULES = (probe_functions, valid, amount_units)
ORDER_STATUSES = shipped_facts().statuses["v2"]
"""The statuses in which orders of 2.0 stop."""
V1_ORDER_STATUSES = shipped_facts().statuses["v1"]
"""The statuses in which orders of v1 stop: completed, failed and partially completed."""


def orders_settled(context: RunContext) -> bool:
    """Tell whether each order that is looked at again, of 2.0 and of v1, has come to its end.

    Of v1, that is the usual one: whatever the others show, waiting would show no more of them. An
    order that shows no status counts as settled: there is nothing to wait for.
    """
    if _is_not_known_yet(context, ids.ORDER, ids.CHECK, "id"):
        return False
    statuses = {exchange.text("status") for exchange in _last_looks(context, ids.CHECK)}
    every = context.sent(*probes_about(ids.V1_DETAIL)["usual"])
    looks = [exchange for exchange in every if exchange.succeeded][-1:]
    v1_statuses = {text(scalar(exchange.member("data"), "status")) for exchange in looks}
    at_rest = statuses <= {"", *ORDER_STATUSES.resting}
    return at_rest and v1_statuses <= {"", *V1_ORDER_STATUSES.resting}


def v1_orders_settled(context: RunContext) -> bool:
    """Tell whether each v1 order has come to its end; those of 2.0 were waited for before."""
    if context.successes(ids.ORDER):
        return True
    made = {
        (text(exchange.members.get("fromChain")), text(exchange.members.get("certHash")))
        for exchange in context.successes(ids.V1_ORDER)
    }
    looks = {
        (exchange.parameters.get("chain", ""), exchange.parameters.get("hash", "")): exchange
        for exchange in context.of(ids.V1_DETAIL)
        if exchange.parameters.get("evmAddress") == context.caller.address
    }
    return not any(looks[key].refused for key in made & looks.keys()) and orders_settled(context)


def tickets_settled(context: RunContext) -> bool:
    if _is_not_known_yet(context, ids.TICKET, ids.CHECK_TICKET, "ticketId"):
        return False
    looks = _last_looks(context, ids.CHECK_TICKET)
    return all(exchange.data.get("succeeded") is not False for exchange in looks)


def _last_looks(context: RunContext, operation_id: str) -> list[Exchange]:
    """Return the last look that was answered with success, of each thing that was looked up."""
    looks = context.successes(operation_id)
    return list({exchange.request.query: exchange for exchange in looks}.values())


def _is_not_known_yet(context: RunContext, submission: str, look_up: str, key: str) -> bool:
    """Tell whether the last look-up of an accepted submission was refused: it may show later."""
    made = {text(exchange.data.get(key)) for exchange in context.successes(submission)}
    looks = {text(exchange.parameters.get(key)): exchange for exchange in context.of(look_up)}
    return any(looks[key].refused for key in made & looks.keys())


_SETTLED: Mapping[str, Callable[[RunContext], bool]] = {
    "orders": orders_settled,
    "v1 orders": v1_orders_settled,
    "tickets": tickets_settled,
}


@dataclass(frozen=True, slots=True)
class Planned:
    """The request of a row: about what is `fixed`, and what is `chosen` in a run.

    It is sent only where each probe of `refused` was refused, none of `unless` was accepted, and
    each of `made` has succeeded.
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
            if any(exchange.succeeded for exchange in context.sent(probe)):
                raise NotRun(f"not needed, {probe} was taken")
        context.require_each(*self.made)
        name = ProbeName(self.name)
        if name.words == UNKNOWN:
            return valid.unknown(context, name.operation_id)
        chosen = {name: choose(context) for name, choose in self.chosen.items()}
        return valid.valid_request(context, name.operation_id, **{**self.fixed, **chosen, **about})


def read(document: Document) -> Iterator[Probe]:
    """Yield the probes of a table. Raises `InvalidFile` for a name that nothing has."""
    sets = {name: for_each_status(row) for name, row in document.value["sets"].items()}
    words = {"lists": shipped_facts().lists, "statuses": FILTERS, **document.value["words"]}
    known: set[str] = set()
    for number, block in enumerate(document.value["probes"]):
        with tables.row(document, "probes", number, "each"):
            every = look_up(words, block["each"]) if "each" in block else ("",)
        for value, (name, row) in product(every, block["rows"].items()):
            with tables.row(document, "probes", number, "rows", name):
                filled = name.replace("{}", value), _filled(row, value)
                probe = _probe(*filled, block["stage"], sets)
                for before in probe.after:
                    if before not in known:
                        problem = f"{before!r} is neither a set nor a probe further up"
                        raise UnknownTableName(problem)
            known.add(probe.name)
            yield probe


def _filled(row: Json, filling: str) -> Any:
    if isinstance(row, Mapping):
        return {name: _filled(value, filling) for name, value in row.items()}
    if isinstance(row, list):
        return [_filled(value, filling) for value in row]
    return row.replace("{}", filling) if isinstance(row, str) else row


def _probe(
    name: str, row: Mapping[str, Any], stage: str, sets: Mapping[str, Sequence[str]]
) -> Probe:
    conditions = {what: row.get(what, ()) for what in ("refused", "unless", "made")}
    chosen = {role: _choice(choice) for role, choice in row.get("of", {}).items()}
    probe = Probe(
        name,
        Planned(name, row.get("with", {}), chosen, **conditions),
        Stage[stage.upper().replace(" ", "_")],
        tuple(before for place in row.get("after", ()) for before in sets.get(place, (place,))),
        wait_ms=row.get("wait", 0),
        conditional=row.get("conditional", False),
        about=row.get("about", ""),
    )
    return replace(probe, settled=look_up(_SETTLED, row["awaits"])) if "awaits" in row else probe


def _choice(words: str) -> Callable[[RunContext], Any]:
    """Return a function of the table by its name, with the words after it as arguments."""
    name, _, argument = words.partition(" ")
    own = (function_of(module, name) for module in _MODULES)
    choice = probe_functions.CHOICES.get(name) or next(filter(None, own), None)
    if choice is None:
        raise UnknownTableName(f"{name!r} is no function")
    return lambda context: choice(context, argument) if argument else choice(context)


PLANNED: tuple[Probe, ...] = tuple(read(shipped_probes()))
"""The probes of the table that is shipped."""
_BY_NAME = {probe.name: probe.build for probe in PLANNED}


@cache
def probes_about(operation_id: str) -> Mapping[str, tuple[ProbeName, ...]]:
    """Return the probes of an operation that are about one thing, in the order of time.

    They are by the word that the table has for it: that of a submission, or of what was named.
    """
    probes = (probe for probe in PLANNED if probe.about and probe.operation_id == operation_id)
    by_thing = grouped(probes, lambda probe: probe.about)
    return {about: tuple(ProbeName(each.name) for each in by_thing[about]) for about in by_thing}


def look_ups_of_named(operation_id: str) -> Mapping[str, tuple[ProbeName, ...]]:
    """Return the look-ups of what the user has named, or what lists show."""
    named = (*NAMED, *LISTED)
    return {about: names for about, names in probes_about(operation_id).items() if about in named}


def planned(context: RunContext, name: str, **about: Any) -> Draft:
    """Return the request of a planned probe, about something else where that is given."""
    build = _BY_NAME[name]
    assert isinstance(build, Planned)  # noqa: S101  # the table makes no others
    return build(context, **about)
