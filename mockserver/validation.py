"""JSON Schema validation: a fast check, and a list of violations where it fails."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from mockserver.compiledschema import Compiled, compiled
from mockserver.jsontext import Json, Schema
from mockserver.violations import Violation, dotted, excerpt, kind_of

if TYPE_CHECKING:
    from mockserver.schemaerrors import Explainer


__all__ = ["SchemaCheck", "Violation", "dotted", "excerpt", "kind_of"]


class SchemaCheck:
    """A schema, compiled once, that finds what is wrong with a value.

    `jsonschema-rs` decides, some twenty times as fast as `jsonschema`, which lists the violations
    and is imported when they are first needed.
    """

    def __init__(self, schema: Schema, *, compiled: bool = True) -> None:
        """Keep the schema; it is compiled at its first use. `compiled` allows `jsonschema-rs`."""
        self.schema = schema
        self._compiled = compiled

    @cached_property
    def accepts(self) -> Callable[[Json], bool]:
        if not self._compiled:
            return self._explainer.accepts
        quick = self._quick.is_valid

        def accepts(value: Json) -> bool:
            try:
                return quick(value)
            except ValueError:
                # Half a surrogate pair is text for Python, and none for the compiled library.
                return self._explainer.accepts(value)

        return accepts

    def violations(self, value: Json) -> tuple[Violation, ...]:
        """Return everything that is wrong with the value, in the order of its fields."""
        return () if self.accepts(value) else self.explained(value)

    def explained(self, value: Json, *, long: bool = False) -> tuple[Violation, ...]:
        """Return everything that is wrong with a value, which may be `long`."""
        return self._explainer.violations(value, long=long)

    @cached_property
    def _quick(self) -> Compiled:
        return compiled(self.schema)

    @cached_property
    def _explainer(self) -> "Explainer":
        from mockserver.schemaerrors import Explainer  # noqa: PLC0415 - slow to import, seldom needed

        return Explainer(self.schema, self._quick if self._compiled else None)
