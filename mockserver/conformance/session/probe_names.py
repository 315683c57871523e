"""The names of probes, by which journals, resumed runs and comparisons find a request.

The words after the operation are for people. Code goes by the fields, and never parses a name.
"""

from enum import Enum, auto

from mockserver.contract import Operation
from mockserver.fast_dataclass import dataclass

VALID = "usual"
"""The words of the plain request of an operation."""


class EdgeKind(Enum):
    """What a request at an edge of inputs is for, where a rule looks for it."""

    INPUT = auto()
    ONCE_MORE = auto()
    """The usual request again, which requests of the same meaning are compared with."""
    AFTERWARDS = auto()
    """The usual request again, after the requests of the same meaning."""
    SAME_MEANING = auto()
    """Parameters in reverse order, or hex digits in another case."""
    ROUTE = auto()
    """The usual worth of another token, or of one on another chain."""
    RECIPIENT = auto()
    SLIPPAGE = auto()
    PART = auto()
    SUM = auto()
    """The amount of all parts together."""
    COMBINATION = auto()
    """Some of the optional inputs."""
    WRONG = auto()
    """Wrong like the negative case `of`, but about another route or token."""
    UNLISTED = auto()
    """`name` is known and not in the list; it is the value of the input in the role `of`."""


@dataclass(frozen=True, slots=True)
class Edge:
    """What is at an edge of inputs; `sound` where nothing is wrong with the request."""

    label: str
    kind: EdgeKind = EdgeKind.INPUT
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
    """The stage that generated the request; empty for a planned one."""

    def __new__(cls, text: str, edge: Edge | None = None, stage: str = "") -> "ProbeName":
        if isinstance(text, ProbeName):
            return text
        made = super().__new__(cls, text)
        made.operation_id, _, made.words = text.partition("/")
        made.edge, made.stage = edge, stage
        return made

    @classmethod
    def at(cls, operation_id: str, edge: Edge) -> "ProbeName":
        kind = "edge" if edge.sound else "odd edge"
        return cls(f"{operation_id}/{kind}: {edge.label}", edge)


ProbeNames = tuple[ProbeName, ...]


def plain_probe(operation: Operation | str) -> ProbeName:
    return ProbeName(f"{operation if isinstance(operation, str) else operation.id}/{VALID}")
