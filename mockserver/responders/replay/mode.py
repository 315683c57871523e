"""How recordings are served, as the words of options and markers."""

from collections.abc import Iterable

from mockserver.errors import CrosschainMockError
from mockserver.validation import did_you_mean
from mockserver.values import dataclass

WORDS = {
    "strict": "refuse what was not recorded (the default)",
    "fallback": "let the simulation answer what was not recorded",
    "naked": "serve recordings as they are: no outage of the world, no dialect stands above them",
    "counted": "move on with each request, and not at the recorded pace",
}
"""What the words of a mode mean."""


class BadMode(CrosschainMockError):
    """A mode of replaying that does not exist."""


@dataclass(frozen=True, slots=True)
class ReplayMode:
    """How recordings are served.

    `strict` refuses what was not recorded; otherwise the simulation answers it. `naked` lets
    neither outages nor the dialect of the world stand above recorded answers. `counted` moves a
    sequence on with each request; otherwise it moves as it was recorded, on the world's clock.
    """

    strict: bool = True
    naked: bool = False
    counted: bool = False

    @classmethod
    def of(cls, words: str | Iterable[str]) -> "ReplayMode":
        """Return the mode of some words, such as `fallback,naked`. Raises `BadMode`."""
        told = words.replace(",", " ").split() if isinstance(words, str) else list(words)
        for word in told:
            if word not in WORDS:
                near = did_you_mean(str(word), list(WORDS))
                known = ", ".join(WORDS)
                raise BadMode(
                    f"replay_mode: {word!r} is no way to replay{near} (there are {known})"
                )
        if "strict" in told and "fallback" in told:
            raise BadMode("replay_mode: 'strict' and 'fallback' exclude each other")
        return cls("fallback" not in told, "naked" in told, "counted" in told)
