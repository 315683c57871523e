"""What a world has seen: entries by operation, and the journal as text for a report."""

from collections.abc import Iterable

from mockserver.contract import Contract
from mockserver.errors import CrosschainMockError
from mockserver.validation import did_you_mean
from mockserver.worlds.journal import Entry, cut_line

_SHOWN = 50


class UnknownName(CrosschainMockError):
    """An operation or a refusal that the contract does not have."""


def operation_ids(name: str, contract: Contract) -> set[str]:
    """Return the ids that a name stands for: `v2.submitOrder`, or `submitOrder` in any generation.

    Raises `UnknownName`.
    """
    known = [operation.id for operation in contract]
    found = {one for one in known if name in (one, one.partition(".")[2])}
    if found:
        return found
    short = [one.partition(".")[2] for one in known]
    near = did_you_mean(name, [*known, *short]) or f"; there are {', '.join(known)}"
    raise UnknownName(f"{name!r} is no operation of dialect {contract.dialect.name!r}{near}")


def refusal_name(name: str, contract: Contract) -> str:
    """Return the name of a refusal. Raises `UnknownName` where the contract has no such."""
    if name in contract.refusals:
        return name
    near = did_you_mean(name, list(contract.refusals)) or "; `docs/reference/refusals.md` lists all"
    raise UnknownName(f"{name!r} is no refusal{near}")


def name_of_refusal(entry: Entry) -> str:
    """Return the name of the refusal that answered a request; empty where the service said yes."""
    return (entry.refusal or "").partition(":")[0]


def told(entries: Iterable[Entry]) -> str:
    """Return a line for each entry: what came, and what the service said to it."""
    lines = [f"  {entry.sequence}. {entry.asked} -> {entry.outcome}" for entry in entries]
    return "\n".join(lines) or "  nothing"


def journal_text(entries: Iterable[Entry]) -> str:
    """Return the newest entries with their bodies, as a person reads them in a report."""
    found = list(entries)
    lines = [f"({len(found) - _SHOWN} older ones are not shown)"] if len(found) > _SHOWN else []
    for entry in found[-_SHOWN:]:
        lines.append(f"{entry.sequence}. {entry.render()['at']} {entry.asked}")
        if entry.request.body:
            lines.append(f"   sent     {cut_line(_text(entry.request.body))}")
        by = f"{entry.responder}, fault {entry.fault}" if entry.fault else entry.responder
        body = cut_line(_text(entry.response.body))
        lines.append(f"   answered {entry.response.status} {body} ({by})")
        if entry.refusal:
            lines.append(f"   refused  {entry.refusal}")
    return "\n".join(lines) or "no request came to this world"


def _text(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")
