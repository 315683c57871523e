"""Which field of a scenario file a field of the engine's scenario comes from."""

import re

from mockserver.documents import FieldPath

_PART = re.compile(r"[^.\[\]]+")

_FIELDS: tuple[tuple[FieldPath, FieldPath], ...] = (
    (("prices", "drift"), ("prices", "drift")),
    (("prices",), ("prices", "usd")),
    (("rates", "depth_usd"), ("fees", "pool_depth_usd")),
    (("default_course",), ("orders", "course")),
    (("order_rules",), ("orders", "rules")),
    (("start_ms",), ("clock", "start")),
    (("clock_rate",), ("clock", "rate")),
    (("openings",), ("balances",)),
)


def file_path(engine_field: str) -> FieldPath:
    """Return the path in a scenario file for a field such as `order_rules[2].course`."""
    path: FieldPath = tuple(
        int(part) if part.isdecimal() else part for part in _PART.findall(engine_field)
    )
    for engine, file in _FIELDS:
        if path[: len(engine)] == engine:
            return (*file, *path[len(engine) :])
    return path
