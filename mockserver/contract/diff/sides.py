"""One version of a contract in the neutral form that both kinds of source are read into."""

from collections.abc import Mapping
from dataclasses import field

from mockserver.contract.diff.changes import DOCUMENTED
from mockserver.contract.diff.nodes import Parts
from mockserver.contract.diff.references import References
from mockserver.contract.facts import Basis
from mockserver.contract.operation import RefusalRule
from mockserver.jsontext import Json
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Input:
    """A header, query parameter, part of the path, or cookie."""

    location: str
    name: str
    required: bool
    schema: Parts
    role: str = ""
    # How it is written, where a document says so: `style`, `explode` and the like.
    form: str = ""
    deprecated: bool = False

    @property
    def place(self) -> str:
        """Where it is, as in `query.amount`."""
        return f"{self.location}.{self.name}"

    @property
    def basis(self) -> Basis:
        """What its schema stands on."""
        schema, basis = self.schema[-1]
        return basis.below(schema) if isinstance(schema, Mapping) else basis


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a request, with a schema for each media type."""

    required: bool
    media: Mapping[str, Parts]


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes with one HTTP status.

    In an enveloped answer `code` is the code of success, `media` are the schemas of a success, and
    `refusal` is the schema of a refusal, where refusals travel with the same status.
    """

    media: Mapping[str, Parts]
    code: Json = None
    enveloped: bool = True
    refusal: Parts | None = None


@dataclass(frozen=True, slots=True)
class SideOperation:
    """An operation of one version. `auth` and `effect` are None where the source is silent."""

    id: str
    generation: str
    method: str
    path: str
    section: Basis
    inputs: tuple[Input, ...]
    body: Body | None
    answers: Mapping[str, Answer]
    words: Mapping[str, str]
    deprecated: bool = False
    auth: frozenset[str] | None = None
    effect: str | None = None
    basis: Basis = DOCUMENTED
    # What holds for the headers or the query as a whole, such as "one of these two".
    together: Mapping[str, Parts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Side:
    """One version of a contract. What only a folder knows is None for a document."""

    label: str
    references: References
    operations: tuple[SideOperation, ...]
    refusals: Mapping[str, RefusalRule] | None = None
    unknown_names: str | None = None
    # By generation: the members of a success beside its data, and how a refusal is worded.
    success: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    failure: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    # Where the two above come from: by generation and member.
    wording: Mapping[tuple[str, str], Basis] = field(default_factory=dict)
