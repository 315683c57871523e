"""Requests that are wrong in one way: what is wrong, where, and what says so."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum

from mockserver import jsontext
from mockserver.conformance.discovery.amount_units import (
    ATTEMPT_NAMES,
    BRIDGE,
    SWAP_QUOTE,
    V1_QUOTE,
)
from mockserver.conformance.discovery.routes import OTHER_AMOUNTS
from mockserver.conformance.requests.probe import Build, Probe, Stage
from mockserver.conformance.requests.valid import fresh_hash, unknown, valid_request
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft, draft_of
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.contract import Basis, Operation
from mockserver.signing import developer
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
    """A way in which a request of an operation is made wrong.

    `words` name its probe; `place` is the input (`query.amount`), `told` what is wrong with it.
    Without `basis` the keyword of the request schema that is broken gives it. `resigned` tells that
    a v1 request is signed after the change, so that it is not refused for its signature. `as_meant`
    tells that the value is the right one but for its type, so that a lenient reader takes it for
    what was meant.
    """

    words: str
    kind: Kind
    place: str
    told: str
    change: Change
    basis: Basis | None = None
    resigned: bool = True
    as_meant: bool = False

    def probe_name(self, operation: Operation) -> str:
        """Return the name of its probe."""
        return f"{operation.id}/{self.words}"


def probe_of(operation: Operation, negative: NegativeCase) -> Probe:
    """Return the probe that sends a request with an oddity."""

    def build(context: RunContext) -> Draft:
        draft = negative.change(_base_for(context, operation, negative), context)
        return signed(draft, operation, context.caller) if negative.resigned else draft

    return replace(negative_probe(operation, negative.words, build), kind=negative.kind)


def _base_for(context: RunContext, operation: Operation, negative: NegativeCase) -> Draft:
    """Return what an oddity is put into: of submissions one of a deposit that is not used yet.

    Else a service that lets the oddity pass might refuse it as the other use of a deposit.
    """
    deposit = fresh_hash(context, negative.probe_name(operation))
    if operation.writes:
        with suppress(NotRun, Inconclusive):
            return valid_request(context, operation.id, deposit=deposit)
    return base_of(context, operation)


def negative_probe(operation: Operation, words: str, build: Build, *after: str) -> Probe:
    """Return a probe that is sent once it is known which requests of its operation succeed.

    Look-ups of what was submitted come last, since only then there may be something to look up.
    """
    if "example_needs" in operation.row:
        return Probe(f"{operation.id}/{words}", build, Stage.WRITES, after)
    stage = Stage.WRITES if operation.writes else Stage.ODD
    last = _ATTEMPTS.get(operation.id, "usual")
    return Probe(f"{operation.id}/{words}", build, stage, (f"{operation.id}/{last}", *after))


def base_of(context: RunContext, operation: Operation) -> Draft:
    """Return the request that is made wrong: the usual one, else one that looks up nothing.

    Where the lists do not show enough it is the example of the contract, so that a service whose
    lists are broken is still asked.
    """
    if "example_needs" in operation.row or operation.writes or context.now is not None:
        return _base_of(context, operation)
    # Once quotes are settled it follows from the lists alone.
    return context.cached(("odd base", operation.id), lambda: _base_of(context, operation))


def _base_of(context: RunContext, operation: Operation) -> Draft:
    for make in (valid_request, unknown):
        try:
            return make(context, operation.id)
        except (NotRun, Inconclusive):
            continue
    example = draft_of(operation.row["example"], operation)
    if operation.auth == "developer-key":
        # It is signed by another key, for another time.
        example = replace(example, headers={})
    return signed(example, operation, context.caller)


def signed(draft: Draft, operation: Operation, caller: Caller) -> Draft:
    """Return a v1 request signed as it stands, odd headers included; others as they are."""
    if operation.auth != "developer-key":
        return draft
    texts = {
        "appKey": caller.app_key,
        "expireTime": str(caller.expire_ms),
        "timestamp": str(caller.timestamp_ms),
    }
    texts |= {name: str(draft.headers[name]) for name in texts if name in draft.headers}
    named = developer.DeveloperHeaders(texts["appKey"], texts["expireTime"], texts["timestamp"])
    body = draft.raw_body
    if body is None:
        body = b"" if draft.body is None else jsontext.encode(draft.body)
    try:
        text = developer.signed_text(body, named)
    except jsontext.NotJson:
        # Nothing says how such a body would be signed.
        text = named.text()
    headers = {**draft.headers, **texts, "signature": developer.signature(text, caller.app_secret)}
    return replace(draft, headers=headers)
