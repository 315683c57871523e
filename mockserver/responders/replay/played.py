"""What a world remembers of the recordings it has played."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mockserver.engine.layered import Layered

if TYPE_CHECKING:
    from mockserver.recordings import RequestForm


@dataclass(slots=True)
class Played:
    """How far recordings have been played in one world.

    `counts` is how often a form was answered, `reached` which of its answers came last, both from 1
    on. `asked` is when a form was asked first, `began` when an exchange was played first, in the
    world's milliseconds. `choices` leads from a value that this client chose, in lower case, to the
    one that the recorded client had chosen; `sent` leads back.
    """

    counts: "Layered[RequestForm, int]" = field(default_factory=Layered)
    reached: "Layered[RequestForm, int]" = field(default_factory=Layered)
    asked: "Layered[RequestForm, int]" = field(default_factory=Layered)
    began: Layered[int, int] = field(default_factory=Layered)
    choices: Layered[str, str] = field(default_factory=Layered)
    sent: Layered[str, str] = field(default_factory=Layered)

    def copy(self) -> "Played":
        """Return the same, apart from now on."""
        return Played(
            self.counts.copy(),
            self.reached.copy(),
            self.asked.copy(),
            self.began.copy(),
            self.choices.copy(),
            self.sent.copy(),
        )
