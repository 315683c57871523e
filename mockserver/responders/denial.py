"""Why a request is not let in, as a value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Denial:
    """The name of a refusal and the reason."""

    name: str
    reason: str
