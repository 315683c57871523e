"""Searching a journal: the entries that a person or a check asks for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mockserver.contract import Contract
from mockserver.jsontext import Json
from mockserver.responders.faults.trigger import operation_id
from mockserver.responders.forms import (
    instant_ms,
)
from mockserver.responders.journal import Entry
from mockserver.responders.subsets import Subset, subset_of


@dataclass(frozen=True, slots=True)
class Search:
    """Which entries are meant; None does not narrow. Times are the world's, ms since 1970."""

    operation: str | None = None
    method: str | None = None
    path: str | None = None
    refused: bool | None = None
    since: int = 0
    from_ms: int | None = None
    until_ms: int | None = None
    match: Subset | None = None

    def takes(self, entry: Entry) -> bool:
        """Tell whether an entry is meant."""
        return self.near(entry) and (self.match is None or self.match.takes(entry.request))

    def near(self, entry: Entry) -> bool:
        """Tell whether an entry is meant but for the parts of its request."""
        if entry.sequence <= self.since:
            return False
        if self.operation not in (None, entry.operation) or self.path not in (None, entry.path):
            return False
        if self.method not in (None, entry.request.method):
            return False
        if self.from_ms is not None and entry.at_ms < self.from_ms:
            return False
        if self.until_ms is not None and entry.at_ms >= self.until_ms:
            return False
        return self.refused in (None, entry.refusal is not None)

    def found(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return the entries that are meant, in their order."""
        return [entry for entry in entries if self.takes(entry)]


def search_of(told: Mapping[str, Json], contract: Contract) -> Search:
    """Return the search of a checked request. Raises `BadControl`, `ClockRefused`."""
    name = told.get("operation")
    return Search(
        operation=operation_id(name, contract) if name is not None else None,
        method=told.get("method"),
        path=told.get("path"),
        refused=told.get("refused"),
        since=told.get("since", 0),
        from_ms=instant_ms(told["from"]) if "from" in told else None,
        until_ms=instant_ms(told["until"]) if "until" in told else None,
        match=subset_of(told["match"]) if "match" in told else None,
    )
