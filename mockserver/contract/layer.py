"""How closely one has to look to see that a service is wrong: for rules, and for breaks."""

from enum import StrEnum


class Layer(StrEnum):
    """The cheapest oracle that can see what a rule looks for, or what a break does."""

    SCHEMA = "schema"
    """One body against its schema."""
    PROTOCOL = "protocol"
    """HTTP and JSON beneath the body."""
    EXCHANGE = "exchange"
    """An answer against its own request."""
    CROSS = "cross"
    """Two reads compared."""
    STATEFUL = "stateful"
    """A submission and what is read after it."""
    GENERATION = "generation"
    """v1 against 2.0."""
    TIMING = "timing"
    """How long it takes."""
