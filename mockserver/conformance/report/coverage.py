"""Fact coverage: which facts of the contract a run could prove, and which it did."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from mockserver import jsontext
from mockserver.conformance.basis import SchemaPath, basis_at, general, joined
from mockserver.conformance.checks.schema import (
    AppliedSchema,
    SchemaPart,
    parts_of,
    parts_of_request,
)
from mockserver.conformance.checks.submission_timelines import ORDER, TICKET, V1_ORDER
from mockserver.conformance.generation.constraints import KEYWORDS
from mockserver.conformance.result import Result
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.contract import Basis, Contract, Operation, ids
from mockserver.fast_dataclass import dataclass, grouped
from mockserver.http_messages import Request
from mockserver.jsontext import Json
from mockserver.validation import Violation

_KEYWORDS = (*KEYWORDS, "const", "not")
_BRANCHES = ("then", "else", "items")
# Where answers are about what was submitted; the list of tickets is there without any.
_OF_SUBMITTED = {
    **{kind.look_id: "" for kind in (ORDER, V1_ORDER, TICKET)},
    ids.TICKETS: "data.list[]",
}


@dataclass(frozen=True, slots=True)
class CoveredFact:
    """One thing that the contract says: one keyword at one place of an operation's messages.

    `side` is `request` or `answer`; `place` the input or field, for all items of a list alike; `id`
    is stable as long as the fact is. `values` are the members of an `enum`. A request can break it
    where it is `breakable`: an answer breaks its facts by mistake only.
    """

    id: str
    operation: str
    side: str
    place: str
    keyword: str
    basis: Basis
    path: SchemaPath
    breakable: bool
    values: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Its id, and those of its members."""
        return (self.id, *self.members)

    @property
    def members(self) -> tuple[str, ...]:
        """The ids of the members of an `enum`; none of another keyword."""
        return tuple(_member(self.id, value) for value in self.values)


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some facts could be proven with the requests of a run, and how many were."""

    total: int
    within_reach: int
    proven: int

    @property
    def index(self) -> int:
        """The part that could be proven, in percent, rounded down."""
        return 100 * self.within_reach // self.total if self.total else 100

    @property
    def score(self) -> int:
        """The part that was proven, in percent, rounded down."""
        return 100 * self.proven // self.total if self.total else 100


@dataclass(frozen=True, slots=True)
class KeywordUses:
    """How messages of a run have used the keywords of the schemas, each member of an `enum` too.

    `right` are those that a message had to keep and kept, `wrong` those that a message broke: a
    request on purpose, or an answer by mistake. The others of `every` were never of any effect;
    `beyond` are those of them that only submissions reach: their own messages, and what a look-up
    says of the order or ticket that they make. `breakable` are those that a request can break, and
    `answered` those of answers.
    """

    every: tuple[str, ...]
    right: frozenset[str]
    wrong: frozenset[str]
    breakable: frozenset[str]
    answered: frozenset[str]
    beyond: frozenset[str] = frozenset()

    @property
    def never(self) -> tuple[str, ...]:
        return tuple(name for name in self.every if name not in self.right | self.wrong)

    @property
    def reasons(self) -> Mapping[str, tuple[str, ...]]:
        """Those that were never of any effect, by the reason."""

        def why(name: str) -> str:
            if name in self.beyond:
                return "needs --arm-writes: of submissions, and of what they make"
            if name in self.answered:
                return "the service decides: no answer had it"
            return "no request had it"

        return {reason: tuple(names) for reason, names in grouped(self.never, why).items()}

    @property
    def unbroken(self) -> tuple[str, ...]:
        """Those that a request of this run could have broken, and none did."""
        left = self.breakable - self.beyond - self.wrong
        return tuple(name for name in self.every if name in left)

    @property
    def broken(self) -> int:
        return len(self.breakable & self.wrong)

    @property
    def could_be_broken(self) -> int:
        return self.broken + len(self.unbroken)

    @property
    def total(self) -> int:
        return len(self.every)

    @property
    def exercised(self) -> int:
        return self.total - len(self.never)

    @property
    def score(self) -> int:
        """The part that was exercised, in percent, rounded down."""
        return 100 * self.exercised // self.total if self.total else 100

    @property
    def reachable(self) -> int:
        """How many the requests that the run was allowed could exercise."""
        return self.total - len(self.beyond)

    @property
    def reach_score(self) -> int:
        """The part of the reachable ones that was exercised, in percent, rounded down."""
        return 100 * self.exercised // self.reachable if self.reachable else 100


@dataclass(frozen=True, slots=True)
class Targets:
    """The edge cases of inputs that a run has tried, and why others have no answer.

    There are none in a run without edge cases.
    """

    hit: tuple[str, ...] = ()
    missed: Mapping[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return len(self.hit) + len(self.missed)

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many were missed for each reason, the most frequent first."""
        return dict(Counter(self.missed.values()).most_common())


@dataclass(frozen=True, slots=True)
class Coverage:
    """The facts of a contract against the exchanges of a run.

    A fact about answers is within reach where its operation got a request, and proven where an
    answer has the member that it is about. A fact about requests is within reach where a request
    tested it, and proven by a whole answer: a success where the request keeps the fact, a refusal
    where it breaks that fact alone.
    """

    facts: tuple[CoveredFact, ...]
    within_reach: frozenset[str]
    proven: frozenset[str]
    keywords: KeywordUses
    targets: Targets = Targets()

    @property
    def overall(self) -> Share:
        return self._share(self.facts)

    @property
    def operations(self) -> Mapping[str, Share]:
        """Each operation by itself, in the order of the contract."""
        by_operation = grouped(self.facts, lambda fact: fact.operation)
        return {name: self._share(facts) for name, facts in by_operation.items()}

    @property
    def unproven(self) -> tuple[CoveredFact, ...]:
        return tuple(fact for fact in self.facts if fact.id not in self.proven)

    def masked(self, mask: Callable[[str], str]) -> "Coverage":
        """Return the same with a mask over what a service has named."""
        missed = {mask(name): mask(why) for name, why in self.targets.missed.items()}
        return replace(self, targets=Targets(tuple(map(mask, self.targets.hit)), missed))

    def _share(self, facts: Sequence[CoveredFact]) -> Share:
        return Share(
            len(facts),
            sum(fact.id in self.within_reach for fact in facts),
            sum(fact.id in self.proven for fact in facts),
        )


def coverage_of(result: Result) -> Coverage:
    """Return which facts of the contract a run exercised, of the generations that have a target."""
    facts = [
        fact
        for fact in facts_of(result.contract)
        if result.contract.operation(fact.operation).generation.id in result.target.bases
    ]
    targets = targets_of_run(result.exchanges, result.unsent or {})
    coverage = exercised(facts, result.exchanges)
    if not result.submissions:
        submitted = (fact for fact in facts if _needs_a_submission(fact, result.contract))
        only_submitted = {name for fact in submitted for name in fact.names}
        beyond = only_submitted.intersection(coverage.keywords.never)
        coverage = replace(coverage, keywords=replace(coverage.keywords, beyond=frozenset(beyond)))
    return replace(coverage, targets=targets)


def _needs_a_submission(fact: CoveredFact, contract: Contract) -> bool:
    if contract.operation(fact.operation).writes:
        return True
    place = _OF_SUBMITTED.get(fact.operation)
    return place is not None and fact.side == "answer" and fact.place.startswith(place)


def targets_of_run(exchanges: Iterable[Exchange], unsent: Mapping[str, str]) -> Targets:
    """Return the targets that the exchanges of a run hit, and those that were left out of it."""
    tried = [exchange for exchange in exchanges if exchange.probe.edge]
    missed = {name: why for name, why in unsent.items() if ProbeName(name).edge}
    cut = [exchange.probe for exchange in tried if not exchange.has_answer]
    missed |= dict.fromkeys(cut, "no whole answer came")
    return Targets(tuple(exchange.probe for exchange in tried if exchange.has_answer), missed)


def facts_of(contract: Contract) -> tuple[CoveredFact, ...]:
    """Return every fact of a contract, operation by operation, requests before answers."""
    facts, alike = list[CoveredFact](), Counter[str]()
    for operation in contract:
        sides = ("request", operation.request_schema), ("answer", operation.response_schema)
        for side, schema in sides:
            for path, keyword, node in _keywords((), schema):
                fact = _fact(operation, side, path, (keyword, node))
                alike[fact.id] += 1
                # Branches of a schema may have the same keyword for a place: each is a fact.
                again = f"~{alike[fact.id]}" if alike[fact.id] > 1 else ""
                facts.append(replace(fact, id=fact.id + again))
    return tuple(facts)


def exercised(facts: Iterable[CoveredFact], exchanges: Iterable[Exchange]) -> Coverage:
    known = tuple(facts)
    by_path: dict[tuple[str, str], dict[SchemaPath, str]] = {}
    for fact in known:
        by_path.setdefault((fact.operation, fact.side), {})[fact.path] = fact.id
    within_reach: set[str] = set()
    proven: set[str] = set()
    right: set[str] = set()
    wrong: set[str] = set()
    walked: set[tuple[str, bytes]] = set()
    for exchange in exchanges:
        operation = exchange.operation
        answers = by_path.get((operation.id, "answer"), {})
        requests = by_path.get((operation.id, "request"), {})
        within_reach.update(answers.values())
        # Lists, which take longest to walk through, come again and again with the same bytes.
        came = (operation.id, exchange.answer.body)
        asked = _of_request(exchange)
        answered = _NO_USES if came in walked else _of_answer(exchange)
        if answered is not _NO_USES:
            walked.add(came)
        tested, held = _put_to_the_test(exchange, asked)
        within_reach.update(requests[path] for path in tested if path in requests)
        proven.update(requests[path] for path in held if path in requests)
        proven.update(answers[path] for path in answered.touched if path in answers)
        for uses, ids_by_path in ((asked, requests), (answered, answers)):
            broken = {ids_by_path[path] for path in uses.broken if path in ids_by_path}
            wrong |= broken
            kept = {ids_by_path[path] for path in uses.touched if path in ids_by_path} - broken
            right |= kept
            right.update(
                _member(ids_by_path[path], value)
                for path, value in uses.members
                if ids_by_path.get(path) in kept
            )
    keywords = KeywordUses(
        tuple(name for fact in known for name in fact.names),
        frozenset(right),
        frozenset(wrong),
        breakable=frozenset(fact.id for fact in known if fact.breakable),
        answered=frozenset(name for fact in known if fact.side == "answer" for name in fact.names),
    )
    return Coverage(known, frozenset(within_reach), frozenset(proven), keywords)


_Paths = frozenset[SchemaPath]


@dataclass(frozen=True, slots=True)
class _Uses:
    """What a schema says of one message: the keywords that apply, and those that are broken.

    `members` are the values that stand where an `enum` applies, with its path.
    """

    touched: _Paths = frozenset()
    broken: _Paths = frozenset()
    members: frozenset[tuple[SchemaPath, str]] = frozenset()


_NO_USES = _Uses()


def _of_answer(exchange: Exchange) -> _Uses:
    if not exchange.has_answer or exchange.unreadable:
        return _NO_USES
    return _uses(parts_of(exchange), exchange.violations)


def _of_request(exchange: Exchange) -> _Uses:
    operation, reading = exchange.operation, exchange.reading
    if reading.refusal is not None:
        return _NO_USES
    instance = _instance(operation, exchange.request)
    return _uses(parts_of_request(operation, instance), reading.violations)


def _put_to_the_test(exchange: Exchange, uses: _Uses) -> tuple[_Paths, _Paths]:
    """Return the facts that a request puts to the test, and those that its answer proves."""
    if uses.broken:
        # Where several facts are broken, nobody knows which one the service has refused.
        proven = uses.broken if len(uses.broken) == 1 and exchange.refused else frozenset()
        return uses.broken, proven
    return uses.touched, uses.touched if exchange.succeeded else frozenset()


def _uses(every: Iterable[SchemaPart], violations: Iterable[Violation]) -> _Uses:
    parts = [part for part in every if isinstance(part, AppliedSchema)]
    # The items of a list, of which there may be thousands, are at one path.
    kinds = {(part.path, isinstance(part.value, Mapping)): part for part in parts}
    return _Uses(
        frozenset(path for part in kinds.values() for path in _paths(part)),
        frozenset(map(_broken, violations)),
        frozenset(
            ((*part.path, "enum"), str(part.value)) for part in parts if "enum" in part.schema
        ),
    )


def _member(fact_id: str, value: Json) -> str:
    return f"{fact_id}={value}"


def _broken(violation: Violation) -> SchemaPath:
    is_required = violation.keyword == "required"
    return (*violation.schema_path, *(violation.path[-1:] if is_required else ()))


def _paths(part: AppliedSchema) -> Iterator[SchemaPath]:
    yield from ((*part.path, keyword) for keyword in _KEYWORDS if keyword in part.schema)
    if isinstance(part.value, Mapping):
        yield from ((*part.path, "required", name) for name in part.schema.get("required", ()))


def _instance(operation: Operation, request: Request) -> dict[str, Json]:
    """Return a request as its schema sees it, but for the types of texts."""
    names = (name for name in operation.header_names if name in request.headers)
    headers = {name: request.headers[name] for name in names}
    body = jsontext.decode_or(request.body, ...)
    there = {"query": request.parameters, "headers": headers}
    return there if body is ... else {**there, "body": body}


def _keywords(
    path: SchemaPath, node: Mapping[str, Any]
) -> Iterator[tuple[SchemaPath, str, Mapping[str, Any]]]:
    """Yield each keyword of a schema that can be broken, with its path and its node.

    Each required member is one; its path ends with its name.
    """
    yield from (((*path, keyword), keyword, node) for keyword in _KEYWORDS if keyword in node)
    yield from (((*path, "required", name), "required", node) for name in node.get("required", ()))
    for name, member in node.get("properties", {}).items():
        yield from _keywords((*path, "properties", name), member)
    for number, branch in enumerate(node.get("allOf", ())):
        yield from _keywords((*path, "allOf", number), branch)
    for keyword in (*_BRANCHES, "additionalProperties"):
        inner = node.get(keyword)
        if isinstance(inner, Mapping):
            yield from _keywords((*path, keyword), inner)


def _fact(
    operation: Operation, side: str, path: SchemaPath, what: tuple[str, Mapping[str, Any]]
) -> CoveredFact:
    keyword, node = what
    above, name = (path[:-1], path[-1:]) if keyword == "required" else (path, ())
    place = joined([*general(above), *map(str, name)])
    says = _says(node, keyword, place)
    basis = basis_at(operation, side, above, (place, keyword), says)
    fact_id = f"{operation.id}/{side}/{place or 'whole'}/{keyword}"
    values = tuple(map(str, node["enum"])) if keyword == "enum" else ()
    breakable = side == "request" and _can_be_broken(place, keyword, node)
    return CoveredFact(
        fact_id,
        operation.id,
        side,
        place,
        keyword,
        basis=basis,
        path=path,
        breakable=breakable,
        values=values,
    )


def _can_be_broken(place: str, keyword: str, node: Mapping[str, Any]) -> bool:
    """Tell whether HTTP carries what breaks a keyword of a request.

    A request has a query and headers, be they empty, and all that these carry are texts.
    """
    location, _, name = place.partition(".")
    if location == "body":
        return True
    return bool(name) and (keyword != "type" or "string" not in node["type"])


def _says(node: Mapping[str, Any], keyword: str, place: str) -> str:
    subject = place or "the whole"
    if keyword == "required":
        return f"{subject} is required"
    if keyword == "type":
        kinds = node["type"]
        return f"{subject} is of type {kinds if isinstance(kinds, str) else ' or '.join(kinds)}"
    if keyword == "enum":
        return f"{subject} is one of {', '.join(map(str, node['enum']))}"
    words = node.get("x-expects") or f"{keyword} {node[keyword]}"
    return f"{subject} is {words}"
