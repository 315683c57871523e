"""The names of probes, by which journals, resumed runs and comparisons find a request.

What a name says beside the operation is for people. What others go by are fields: nobody else takes
a name apart.
"""

from enum import Enum, auto

from mockserver.contract import Operation
from mockserver.values import dataclass

VALID = "usual"
"""The words of the plain request of an operation."""


class EdgeKind(Enum):
    """What a request at an edge of inputs is for, where a rule looks for it."""

    OTHER = auto()
    ONCE_MORE = auto()
    """The usual request again, which those that mean the same are held against."""
    AFTERWARDS = auto()
    """The usual request again, after those that mean the same."""
    SAME_MEANING = auto()
    """Parameters in reverse order, or hex digits in another case."""
    RECIPIENT = auto()
    SLIPPAGE = auto()
    PART = auto()
    WHOLE = auto()
    """The amount of all parts together."""
    COMBINATION = auto()
    """Some of the optional inputs."""
    WRONG = auto()
    """Wrong as the case `of` is, and about something else."""
    UNLISTED = auto()
    """`name` is known and not in the list; it is the value of the input in the role `of`."""


@dataclass(frozen=True, slots=True)
class Edge:
    """What is at an edge of inputs; `sound` tells that nothing can be wrong with the request."""

    label: str
    kind: EdgeKind = EdgeKind.OTHER
    sound: bool = True
    of: str = ""
    name: str = ""


class ProbeName(str):
    """The name of a probe, `<operation id>/<words>`: unique and stable."""

    operation_id: str
    words: str
    edge: Edge | None
    """What is at the edge, in a request at one."""
    stage: str
    """The words of the stage that has made the request up; empty for a planned one."""

    def __new__(cls, text: str, edge: Edge | None = None, stage: str = "") -> "ProbeName":
        """Take a name as text; one that is none yet has no operation that is known."""
        if isinstance(text, ProbeName):
            return text
        made = super().__new__(cls, text)
        made.operation_id, _, made.words = text.partition("/")
        made.edge, made.stage = edge, stage
        return made

    @classmethod
    def at(cls, operation_id: str, edge: Edge) -> "ProbeName":
        """Return the name of a request at an edge."""
        kind = "edge" if edge.sound else "odd edge"
        return cls(f"{operation_id}/{kind}: {edge.label}", edge)


ProbeNames = tuple[ProbeName, ...]


def usual(operation: Operation | str) -> ProbeName:
    """Return the name of the plain request of an operation."""
    return ProbeName(f"{operation if isinstance(operation, str) else operation.id}/{VALID}")
