"""Matching rules: which parts of a request a recorded answer depends on, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from mockserver import documents, resources

Part = tuple[str, ...]
"""A part of a request: `headers`, `query` or `body`, and the names that lead to it."""


@dataclass(frozen=True, slots=True)
class End:
    """Where a request names the chain and the token of one end of a transfer."""

    chain: Part
    token: Part = ()


@dataclass(frozen=True, slots=True)
class RouteParts:
    """Where a request names both ends of a transfer; `phase` is `quote` or `submit`."""

    phase: str
    source: End
    target: End | None = None


@dataclass(frozen=True, slots=True)
class MatchRule:
    """How requests of an operation are compared with recorded ones.

    `ignored` parts are not compared. `bound` ones are chosen anew by each client; the answer and
    later requests follow the choice. `near` gives by how many percent an amount may be off.
    """

    ignored: tuple[Part, ...] = ()
    bound: tuple[Part, ...] = ()
    near: Mapping[Part, Decimal] = field(default_factory=dict)
    route: RouteParts | None = None


@dataclass(frozen=True, slots=True)
class MatchRules:
    """The rules of every operation; `every` holds for those that have none of their own."""

    every: MatchRule = field(default_factory=MatchRule)
    operations: Mapping[str, MatchRule] = field(default_factory=dict)

    def of(self, operation: str) -> MatchRule:
        """Return the rule of an operation."""
        return self.operations.get(operation, self.every)


def load_rules(file: Path | None = None) -> MatchRules:
    """Return the rules of a file, by default the shipped ones. Raises `InvalidFile`."""
    value = documents.read(file or resources.schemas() / "matching.yaml", "matching").value
    every = _rule(value.get("every", {}), MatchRule())
    rows = value.get("operations", {})
    return MatchRules(every, {name: _rule(row, every) for name, row in rows.items()})


def _rule(row: Mapping[str, Any], every: MatchRule) -> MatchRule:
    return MatchRule(
        ignored=(*every.ignored, *map(_part, row.get("ignored", ()))),
        bound=(*every.bound, *map(_part, row.get("bound", ()))),
        near={_part(name): Decimal(most) for name, most in row.get("near", {}).items()},
        route=_route(row["route"]) if "route" in row else None,
    )


def _route(row: Mapping[str, Any]) -> RouteParts:
    target = _end(row["target"]) if "target" in row else None
    return RouteParts(row["phase"], _end(row["source"]), target)


def _end(row: Mapping[str, str]) -> End:
    return End(_part(row["chain"]), _part(row["token"]) if "token" in row else ())


def _part(text: str) -> Part:
    where, *names = text.split(".")
    return (where, *(name.lower() for name in names)) if where == "headers" else (where, *names)
