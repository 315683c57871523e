"""Runs the rules over the exchanges of a run, and counts what their checks judged.

A check says only what is wrong. The frame calls it for one thing after another, skips those that
lack what it needs, and says why nothing was judged. A rule can read the answers to the requests
that it declares. Checks name places as our schemas do; an answer may have them elsewhere.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from functools import cache, lru_cache
from inspect import Parameter, signature
from typing import Any

from mockserver.conformance.checks import needs
from mockserver.conformance.checks.evidence import check_edges_requested
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements, Outcome, Rule
from mockserver.conformance.discovery.listing import V1_ROLES, list_place, scalar_place
from mockserver.conformance.requests.catalog import index_of
from mockserver.conformance.requests.probe import Group, Stage
from mockserver.conformance.session.context import Access, RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.names import ProbeName, ProbeNames
from mockserver.conformance.verdict import Unjudged, Verdict
from mockserver.contract import Contract, Operation
from mockserver.jsontext import Json
from mockserver.values import dataclass

log = logging.getLogger("mockserver.conformance")

Names = ProbeName | ProbeNames
"""What a parameter of a check gets: the name of one probe, or of several."""
_Function = Callable[..., Any]
NamedProbes = Mapping[str, Mapping[str, Names]]
"""Names of probes by the parameter of a check, for each operation that is judged."""
DEFECT = "a defect of this rule"
"""How a reason begins where a rule itself raised an error."""
# Every other request is made of them, so every run has them and every rule may read them.
_EVERY_LIST = Group("the lists", lambda probe: probe.stage in (Stage.LISTS, Stage.LAST_LOOK))
_LISTS = ("data.list[]", "data.tokenVos[]", "data.chains[]")
_V1 = ("data.crossChain.", "data.order.")


@dataclass(frozen=True, slots=True)
class FramedCheck:
    """A check in its frame, as a row of the table of rules has it.

    With `things` it judges one thing at a time: an exchange, something that has one, or a tuple of
    these that are compared. With `pair`, the words of two probes of the operation, it judges their
    two answers together; else the operation as a whole. A finding that names no exchange gets those
    that were judged, and one that names no place gets `place`. With `once`, each cause is reported
    once for each place. Where nothing was judged, `nothing` is raised: there was nothing to judge,
    or the description does not show what was looked for. Before that comes a better reason: one of
    the probes in `requires` was not sent or did not succeed, or (`edges`) the run was not to
    request the edges of inputs.

    Functions get what they have parameters for: `context`, `operation`, what the row has `given`
    and, by the operation that is judged, the probes that it has `named`; the other parameters get
    what is judged.
    """

    check: Callable[..., Any]
    things: Callable[[RunContext, Operation], Iterable[Any]] | None = None
    pair: tuple[str, ...] = ()
    place: str = ""
    once: bool = False
    nothing: Unjudged | None = None
    requires: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict, compare=False)
    named: NamedProbes = field(default_factory=dict, compare=False)

    def __call__(self, context: RunContext, operation: Operation) -> Findings:
        """Yield what is wrong. Raises `Unjudged` where nothing could be judged."""
        judged, reported = False, set()
        try:
            for judgement in self._judgements(context, operation):
                judged = True
                if (
                    not isinstance(judgement, Finding)
                    or (judgement.place, judgement.cause) in reported
                ):
                    continue
                if self.once:
                    reported.add((judgement.place, judgement.cause))
                yield judgement
        except needs.Missing:
            if self.nothing is None:
                raise
        if judged or self.nothing is None:
            return
        for probe in self.requires:
            check_edges_requested(context) if probe == "edges" else context.require_success(probe)
        raise type(self.nothing)(*self.nothing.args)

    def _judgements(self, context: RunContext, operation: Operation) -> Judgements:
        known = {"context": context, "operation": operation, **self.arguments}
        known |= self.named.get(operation.id, {})
        if self.things is not None:
            for thing in _called(self.things, known):
                parts = thing if isinstance(thing, tuple) else (thing,)
                shows = (part if isinstance(part, Exchange) else part.exchange for part in parts)
                try:
                    yield from self._findings_about(
                        tuple(shows), _called(self.check, known, *parts)
                    )
                except needs.Missing:
                    continue
                yield JUDGED
        elif self.pair:
            pair = context.require_each(*(f"{operation.id}/{words}" for words in self.pair))
            yield from self._findings_about(pair, _called(self.check, known, *pair))
            yield JUDGED
        else:
            yield from _called(self.check, known)

    def _findings_about(self, exchanges: tuple[Exchange, ...], findings: Findings) -> Findings:
        for finding in findings:
            place = finding.place or self.place
            yield replace(finding, exchanges=finding.exchanges or exchanges, place=place)


def _called(function: _Function, known: Mapping[str, Any], *parts: Any) -> Any:
    rest = iter(parts)
    arguments = [
        known.get(name, default) if name in known or default is not Parameter.empty else next(rest)
        for name, default in _parameters(function)
    ]
    return function(*arguments, *rest)


@cache
def _parameters(function: _Function) -> tuple[tuple[str, Any], ...]:
    every = signature(function).parameters.values()
    return tuple(
        (parameter.name, parameter.default)
        for parameter in every
        if parameter.kind is not parameter.VAR_POSITIONAL
    )


def named(exchange: Exchange, member: str) -> Findings:
    if not needs.text(exchange, member).strip():
        yield Finding(f"{member} is an empty text")


def judged(
    rules: Iterable[Rule], context: RunContext, generations: Iterable[str]
) -> tuple[Outcome, ...]:
    wanted = frozenset(generations)
    return tuple(
        outcome_of(rule, context, operation)
        for rule in rules
        for operation in map(context.contract.operation, rule.operations)
        if operation.generation.id in wanted
    )


def outcome_of(rule: Rule, context: RunContext, operation: Operation) -> Outcome:
    """Return what a rule says of an operation.

    It can read its probes and those they build on, the lists, and whatever was sent for operations
    that it judges or declares to read. If it could read more, its verdict would depend on what
    other rules of the run happened to request, and nobody could tell why.
    """
    try:
        every = rule.every_exchange
        readable = context if every else context.limited(_access(rule, context.contract))
        findings = tuple(map(placed, rule.check(readable, operation)))
    except Unjudged as error:
        return Outcome(rule, operation, error.verdict, reason=str(error))
    except Exception as error:
        # A defect of ours must neither accuse the service nor hide what other rules found.
        log.exception("rule %s failed for %s", rule.name, operation.id)
        reason = f"{DEFECT}: {type(error).__name__}: {error}; please report it"
        return Outcome(rule, operation, Verdict.NOT_RUN, reason=reason)
    return Outcome.of(rule, operation, findings)


# Bounded: a process may make many runs, and each loads a contract of its own.
@lru_cache(maxsize=512)
def _access(rule: Rule, contract: Contract) -> Access:
    index = index_of(contract)
    spelled = [need for need in rule.probes if isinstance(need, str)]
    probes = map(ProbeName, (*index.closure((*rule.probes, _EVERY_LIST)), *spelled))
    return Access(frozenset(probes), frozenset((*rule.operations, *rule.reads)))


def placed(finding: Finding) -> Finding:
    """Return a finding whose place is one of the answer that shows it.

    The form of lists and of all v1 data is not published (section 2.1, 2.3), so checks find
    members by their role; the finding then names where that was, and never a member that the
    answer does not have.
    """
    if not finding.exchanges or not finding.place.startswith("data."):
        return finding
    data = finding.exchanges[-1].member("data")
    place = finding.place
    for name in _LISTS:
        if place.startswith(name) and not _is_there(data, name[5:-2]):
            return replace(finding, place=f"data{list_place(data)}{place.removeprefix(name)}")
    for name in _V1:
        role = place.removeprefix(name)
        if place.startswith(name) and role in V1_ROLES and not _is_there(data, name[5:-1], role):
            return replace(finding, place=f"data{scalar_place(data, role)}")
    return finding


def _is_there(data: Json, *names: str) -> bool:
    for name in names:
        if not isinstance(data, Mapping) or name not in data:
            return False
        data = data[name]
    return True
