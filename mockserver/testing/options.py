"""The options of outages, faults, stubs and verifications, in Python's spelling."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import TypedDict

from mockserver.jsontext import Json
from mockserver.testing.clock import Duration

Match = Mapping[str, Mapping[str, Json]]
"""Parts that a request must have: `query`, `headers` and `body` by name."""


class Outage(TypedDict, total=False):
    """When and how a chain or a token is out of service; by default from now on, until restored.

    `mode` is one of delisted, disabled, listed-dead, quote-only, accept-stall, lagging, flapping;
    `direction` source, target or both; `in_flight` stall, fail, refund or none.
    """

    starting: str | datetime
    lasting: Duration
    mode: str
    direction: str
    in_flight: str
    announced: Duration
    lag: int
    period: Duration
    down_percent: int
    reason: str


class FaultOptions(TypedDict, total=False):
    """What a fault does and which calls it strikes; `does` tells whether the effect happens.

    The reference of the control API has the options of each kind.
    """

    id: str
    does: str
    generation: str
    effect: str
    phase: str
    chain: str
    order: str
    first: int
    every: int
    probability: Decimal | float
    status: int
    retry_after: int
    body: str
    refusal: str
    code: int
    msg: str
    delay: str
    distribution: str
    until: str
    sigma: Decimal | float
    content_type: str
    field: str
    change: str
    limit: int
    window: str


class StubResponse(TypedDict, total=False):
    """What a stub answers: `data` for a success, or `refusal`, or `status` with `body`."""

    data: Json
    refusal: str
    reason: str
    status: int
    body: Json
    headers: Mapping[str, str]


class Wanted(TypedDict, total=False):
    """What is wanted of the requests that came; `order` are operations one after the other."""

    exactly: int
    at_least: int
    at_most: int
    never: bool
    within: str
    order: list[str]
    match: Match
    refused: bool
    since: int


def spelled(options: Mapping[str, object]) -> dict[str, Json]:
    """Return options in the spelling of the control API: `retry_after` is `retryAfter` there."""
    return {_camel(name): _exact(value) for name, value in options.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _exact(value: object) -> Json:
    """Return a number as JSON has it; the shortest text of a float is what was written."""
    return Decimal(repr(value)) if isinstance(value, float) else value
