"""A journal as text for a person: bodies are decoded, and shortened between their values alone."""

from collections.abc import Iterable, Mapping

from mockserver import jsontext
from mockserver.jsontext import Json
from mockserver.wording import counted
from mockserver.worlds.journal import Entry, cut_line
from mockserver.worlds.journal_entry_details import decoded

_MOST_ENTRIES = 50
# Lists of chains and assets have hundreds of items, which tell no more than the first ones. Values
# stay whole, so a body may be longer.
_ITEM_COUNTS = (3, 1, 0)
_MOST_CHARACTERS = 1_000


def readable_journal(entries: Iterable[Entry]) -> str:
    """Return the newest entries with their bodies, as a person reads them in a report.

    Secrets are masked. A deposit in `sourceCerts` stands there as JSON.
    """
    kept = list(entries)
    lines = (
        [f"({len(kept) - _MOST_ENTRIES} older ones are not shown)"]
        if len(kept) > _MOST_ENTRIES
        else []
    )
    for entry in kept[-_MOST_ENTRIES:]:
        rendered = entry.render()
        deposits = {item["at"]: item["value"] for item in decoded(entry) if item["is"] == "deposit"}
        sent = _body_text("request", rendered["request"]["body"], deposits)
        answered = _body_text("answer", rendered["response"]["body"], deposits)
        lines.append(f"{entry.sequence}. {rendered['at']} {entry.request_line}")
        if sent:
            lines.append(f"   sent     {sent}")
        by = f"{entry.responder}, fault {entry.fault}" if entry.fault else entry.responder
        if entry.duration_ms is not None:
            by += f", {entry.duration_ms} ms"
        lines.append(f"   answered {entry.response.status} {answered} ({by})")
        if entry.refusal:
            lines.append(f"   refused  {entry.shown_refusal}")
    return "\n".join(lines) or "no request came to this world"


def _body_text(where: str, body: Json, deposits: Mapping[str, Json]) -> str:
    if body is None:
        return ""
    if isinstance(body, str):
        return cut_line(body)
    text = ""
    for most in _ITEM_COUNTS:
        text = jsontext.encode(_shortened(where, body, deposits, most)).decode()
        if len(text) <= _MOST_CHARACTERS:
            break
    return text


def _shortened(where: str, value: Json, deposits: Mapping[str, Json], most: int) -> Json:
    """Return a value with deposits as JSON, and the first items of its lists."""
    if isinstance(deposits.get(where), Mapping):
        value = deposits[where]
    if isinstance(value, Mapping):
        return {
            name: _shortened(f"{where} {name}", inner, deposits, most)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        kept = [
            _shortened(f"{where} {place}", inner, deposits, most)
            for place, inner in enumerate(value[:most])
        ]
        more = len(value) - most
        return [*kept, f"and {more} more" if most else counted(more, "item")] if more > 0 else kept
    return cut_line(value) if isinstance(value, str) else value
