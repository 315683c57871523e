"""Requests that are wrong in one way: what is wrong, where, and what says so."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum

from mockserver.conformance.discovery.amount_units import (
    ATTEMPT_NAMES,
    BRIDGE,
    SWAP_QUOTE,
    V1_QUOTE,
)
from mockserver.conformance.discovery.routes import OTHER_AMOUNTS
from mockserver.conformance.requests.probe import Probe, Stage
from mockserver.conformance.requests.valid import fresh_hash, usual_or_unknown, valid_request
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft, draft_of
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.contract import Basis, Operation
from mockserver.values import dataclass

_ATTEMPTS: Mapping[str, str] = {
    BRIDGE: [*OTHER_AMOUNTS][-1],
    SWAP_QUOTE: ATTEMPT_NAMES[-1],
    V1_QUOTE: [*OTHER_AMOUNTS][-1],
}


class Kind(StrEnum):
    """In which way a request is wrong; each has a rule of its own."""

    MISSING = "missing"
    """A required input is not there."""
    TYPE = "type"
    """An input has another JSON type, or its text stands for one."""
    UNLISTED = "unlisted"
    """A chain or a token that the lists do not show."""
    AMOUNT = "amount"
    """An amount that nobody can move."""
    FORM = "form"
    """A text that does not have the form or is none of the words it should be."""
    BODY = "body"
    """A body that is no JSON object."""


Change = Callable[[Draft, RunContext], Draft]


@dataclass(frozen=True, slots=True)
class NegativeCase:
    """A way in which the usual request of an operation is changed, mostly into a wrong one.

    `words` name its probe, `after` the probes that it needs besides. `kind` is in which way it is
    wrong, where it is, `place` the input (`query.amount`), and `told` what is wrong with it.
    Without `basis` the keyword of the request schema that is broken gives it. `resigned` tells that
    a v1 request is signed after the change, so that it is not refused for its signature. `as_meant`
    tells that the value is the right one but for its type, so that a lenient reader takes it for
    what was meant.
    """

    words: str
    change: Change
    kind: Kind | None = None
    place: str = ""
    told: str = ""
    basis: Basis | None = None
    resigned: bool = True
    as_meant: bool = False
    after: tuple[str, ...] = ()

    def probe_name(self, operation: Operation) -> str:
        """Return the name of its probe."""
        return f"{operation.id}/{self.words}"


def probe_of(operation: Operation, altered: NegativeCase) -> Probe:
    """Return the probe of a request, sent once it is known which of its operation succeed.

    Look-ups of what was submitted come last, since only then there may be something to look up.
    """
    name = altered.probe_name(operation)

    def build(context: RunContext) -> Draft:
        draft = altered.change(_base_for(context, operation, name), context)
        return signed(draft, operation, context.caller) if altered.resigned else draft

    stage = Stage.WRITES if operation.writes or "example_needs" in operation.row else Stage.ODD
    last = f"{operation.id}/{_ATTEMPTS.get(operation.id, 'usual')}"
    after = altered.after if "example_needs" in operation.row else (last, *altered.after)
    return Probe(name, build, stage, after, kind=altered.kind or "")


def _base_for(context: RunContext, operation: Operation, probe: str) -> Draft:
    """Return what is changed: of submissions one of a deposit that is not used yet.

    Else a service that lets the change pass might refuse it as the other use of a deposit.
    """
    if operation.writes:
        with suppress(NotRun, Inconclusive):
            return valid_request(context, operation.id, deposit=fresh_hash(context, probe))
    if "example_needs" in operation.row or operation.writes or context.now is not None:
        return _base_of(context, operation)
    # Once quotes are settled it follows from the lists alone.
    return context.cached(("odd base", operation.id), lambda: _base_of(context, operation))


def _base_of(context: RunContext, operation: Operation) -> Draft:
    """Return the usual request, else one that looks up nothing.

    Where the lists do not show enough it is the example of the contract, so that a service whose
    lists are broken is still asked.
    """
    return usual_or_unknown(context, operation) or example_of(context, operation)


def example_of(context: RunContext, operation: Operation) -> Draft:
    """Return the example that the contract has of a request, signed by the caller."""
    draft = draft_of(operation.row["example"], operation)
    if operation.auth == "developer-key":
        # It is signed by another key, for another time.
        draft = replace(draft, headers={})
    return signed(draft, operation, context.caller)


def signed(draft: Draft, operation: Operation, caller: Caller) -> Draft:
    """Return a v1 request signed as it stands, odd headers included; others as they are."""
    return caller.sign_v1(draft, as_it_stands=True) if operation.auth == "developer-key" else draft
