"""The catalogue: every break and every control, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from mockserver.responders.breaks import (
    books,
    claims,
    controls,
    cross,
    exchange,
    generation,
    manners,
    protocol,
    schema,
    stateful,
    taken,
    timing,
)
from mockserver.responders.breaks.values import Break

BREAKS: tuple[Break, ...] = (
    *schema.BREAKS,
    *protocol.BREAKS,
    *exchange.BREAKS,
    *cross.BREAKS,
    *stateful.BREAKS,
    *generation.BREAKS,
    *timing.BREAKS,
    *taken.BREAKS,
    *manners.BREAKS,
    *claims.BREAKS,
    *books.BREAKS,
    *controls.BREAKS,
)
"""All of them, the controls last."""

CATALOGUE: Mapping[str, Break] = MappingProxyType({one.name: one for one in BREAKS})
"""The same by name."""
