"""Rules about wrong requests: the service refuses them, with a code and a message."""

import re

from mockserver.conformance.basis import basis_of
from mockserver.conformance.checks.check_decorators import counting, each
from mockserver.conformance.checks.judged_exchanges import (
    answered,
    check_edges_requested,
    in_words,
    is_its_own,
    last_chains,
)
from mockserver.conformance.checks.rule import (
    EDGES,
    JUDGED,
    Finding,
    Findings,
    Judgements,
    RulePack,
)
from mockserver.conformance.checks.shared_probes import EVERY
from mockserver.conformance.discovery.member_roles import folded
from mockserver.conformance.discovery.unlisted import unidentified_chains
from mockserver.conformance.requests.negative import WRONG_VALUES, NegativeCase, negative_cases
from mockserver.conformance.requests.probe import PLAIN, Group
from mockserver.conformance.requests.unusual_http import is_outside_the_contract
from mockserver.conformance.requests.variations import MistakeKind
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.probe_names import Edge, EdgeKind, plain_probe
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Vacuous
from mockserver.contract import Basis, Layer, Operation, fact_basis, ids, load

MISSING = Group(
    "a request without each required input", lambda probe: probe.kind == MistakeKind.MISSING
)
BROKEN = Group("requests with a broken body", lambda probe: probe.kind == MistakeKind.BODY).of(
    (ids.V1_QUOTE, ids.V1_RAW)
)
WRONG_TYPES = Group("each input as each other type", lambda probe: probe.kind == MistakeKind.TYPE)
_TYPED = tuple(
    operation.id
    for operation in load()
    if any(case.kind is MistakeKind.TYPE for case in negative_cases(operation))
)
_HAVING_REQUIRED_INPUTS = tuple(
    operation.id for operation in load() if any(field.required for field in operation.fields)
)
# What Python, Java, JavaScript, Go and .NET write where an error is not caught.
_STACK_TRACE = re.compile(
    r"Traceback \(most recent call last\)|File \"[^\"]+\", line \d+|goroutine \d+ \["
    r"|\bat [\w.$<>]+ ?\([\w./:\\ -]+:\d+(?::\d+)?\)|\bin [^\s]+\.cs:line \d+"
)
_MOST_READ = 4_000
# The inputs that take the name of a chain, by their roles.
_CHAINS = ("chain", "fromChain", "toChain")
_PACK = RulePack(Layer.EXCHANGE, operations=EVERY, needs=(PLAIN,))


def is_refused(context: RunContext, operation: Operation, kind: str) -> Findings:
    cases = [case for case in negative_cases(operation) if case.kind == kind]
    if not cases:
        raise NotApplicable("the operation has no input that could be wrong in this way")
    names = [case.probe_name(operation) for case in cases]
    planned = zip(cases, map(context.get, names), strict=True)
    there = [(case, exchange) for case, exchange in planned if exchange is not None]
    # Requests at the edges of inputs are wrong in the same way, with other values.
    wrong = _at_edges(context, operation, EdgeKind.WRONG)
    for case in cases:
        there += [(case, exchange) for edge, exchange in wrong if edge.of == case.words]
    if not there:
        raise context.not_sent(*names, otherwise="nothing of the kind was sent")
    findings = [finding for case, exchange in there for finding in _taken(context, case, exchange)]
    yield from findings
    if findings:
        return
    if not any(is_its_own(exchange) for _, exchange in there):
        raise Inconclusive(f"no such request was answered: {in_words(there[0][1])}")
    check_that_refusals_mean_something(context, operation)


def _at_edges(
    context: RunContext, operation: Operation, kind: EdgeKind
) -> list[tuple[Edge, Exchange]]:
    edges = ((exchange.probe.edge, exchange) for exchange in context.of(operation))
    return [(edge, exchange) for edge, exchange in edges if edge and edge.kind is kind]


@_PACK.major("interface.inputs", *_HAVING_REQUIRED_INPUTS, needs=(MISSING, PLAIN))
def refuses_missing_input(context: RunContext, operation: Operation) -> Findings:
    """A request that lacks a required input is refused."""
    return is_refused(context, operation, MistakeKind.MISSING)


@_PACK.critical(
    "service.read-lists-first",
    *WRONG_VALUES.operations_with_a(MistakeKind.UNLISTED),
    needs=WRONG_VALUES.probes_with_a(MistakeKind.UNLISTED),
    each=("usual",),
)
def refuses_the_unlisted(context: RunContext, operation: Operation) -> Findings:
    """A chain or a token that the service does not list is refused."""
    return is_refused(context, operation, MistakeKind.UNLISTED)


@_PACK.critical(
    "interface.inputs",
    *WRONG_VALUES.operations_with_a(MistakeKind.AMOUNT),
    needs=WRONG_VALUES.probes_with_a(MistakeKind.AMOUNT),
    each=("usual",),
)
def refuses_nonsense_amounts(context: RunContext, operation: Operation) -> Findings:
    """An amount that cannot be moved, such as a negative one, is refused."""
    return is_refused(context, operation, MistakeKind.AMOUNT)


@_PACK.major("interface.inputs", *_TYPED, needs=(WRONG_TYPES,), each=("usual",))
def refuses_wrong_type(context: RunContext, operation: Operation) -> Findings:
    """An input that does not have its published type is refused."""
    return is_refused(context, operation, MistakeKind.TYPE)


@_PACK.minor(
    "interface.inputs",
    *WRONG_VALUES.operations_with_a(MistakeKind.FORM),
    needs=WRONG_VALUES.probes_with_a(MistakeKind.FORM),
    each=("usual",),
)
def refuses_wrong_form(context: RunContext, operation: Operation) -> Findings:
    """A text in the wrong form, or that is not one of the allowed words, is refused."""
    return is_refused(context, operation, MistakeKind.FORM)


@_PACK.critical(
    "auth.v1",
    *WRONG_VALUES.operations_with_a(MistakeKind.SIGNATURE),
    needs=(*WRONG_VALUES.probes_with_a(MistakeKind.SIGNATURE), PLAIN),
)
def refuses_false_signatures(context: RunContext, operation: Operation) -> Findings:
    """A signature that is not the request's is refused where the account is the user's own."""
    return is_refused(context, operation, MistakeKind.SIGNATURE)


@_PACK.minor("interface.inputs", ids.V1_QUOTE, ids.V1_RAW, layer=Layer.PROTOCOL, needs=(BROKEN,))
def refuses_broken_body(context: RunContext, operation: Operation) -> Findings:
    """A body that is not a JSON object is refused."""
    return is_refused(context, operation, MistakeKind.BODY)


def _taken(context: RunContext, case: NegativeCase, exchange: Exchange) -> Findings:
    basis = _basis(case, exchange)
    if basis is None or not exchange.succeeded:
        return
    if case.kind is MistakeKind.UNLISTED and is_empty(exchange):
        # A list without items is a way of refusing.
        basis = fact_basis("inputs.listed")
    what = case.problem if case.kind is MistakeKind.MISSING else f"{case.place} is {case.problem}"
    message = f"{what}, and the answer is a success"
    exchanges = (*context.sent(plain_probe(exchange.operation)), exchange)
    yield Finding(message, exchanges, case.place, basis, cause=case.words, should_refuse=True)


def _basis(negative: NegativeCase, exchange: Exchange) -> Basis | None:
    """Return what says that a request is wrong; None where this dialect takes it."""
    if negative.basis is not None:
        return negative.basis
    operation = exchange.operation
    for violation in exchange.reading.violations:
        if ".".join(map(str, violation.path[:2])) == negative.place:
            basis = basis_of(operation, violation, "request")
            # The type is published; that a value of another type is refused is not.
            return fact_basis("inputs.types") if negative.as_meant else basis
    return None


def is_empty(exchange: Exchange) -> bool:
    """Tell whether a list of a chain's tokens has none, which is a way of refusing."""
    if exchange.operation.id not in (ids.V1_TOKENS, ids.OF_CHAIN):
        return False
    return not any(isinstance(value, list | dict) and value for value in exchange.data.values())


def check_that_refusals_mean_something(context: RunContext, operation: Operation) -> None:
    """Raise `Vacuous` where a request with nothing wrong with it is refused too.

    Not for look-ups: until something was submitted there is nothing to find.
    """
    if "example_needs" in operation.row:
        return
    if not context.successes(operation):
        plain = context.sent(plain_probe(operation))
        how = "".join(f": {in_words(exchange)}" for exchange in plain)
        raise Vacuous(f"the same request with nothing wrong with it did not succeed either{how}")


@_PACK.minor("refusals.envelope", layer=Layer.SCHEMA, every_exchange=True)
@each(answered, once=True)
def refusal_is_told(_: RunContext, exchange: Exchange) -> Findings:
    """The `msg` of a refusal neither says success nor shows where a program broke, and a v1 refusal
    has a `status` like every answer.
    """
    if not exchange.refused or exchange.answer.status >= 300 or is_outside_the_contract(exchange):
        return
    message = exchange.member("msg")
    wrong = ""
    if isinstance(message, str) and message.strip().lower() in ("success", "succeeded", "ok"):
        wrong = "msg of a refusal says success"
    elif message is not None and not isinstance(message, str):
        wrong = "msg of a refusal is no text"
    if wrong:
        yield Finding(wrong, place="msg", cause=wrong)
    elif isinstance(message, str) and (trace := _STACK_TRACE.search(message[:_MOST_READ])):
        shown = f"msg of a refusal shows where a program broke: {trace[0][:80]!r}"
        basis = fact_basis("refusals.no-breakdown")
        yield Finding(shown, place="msg", basis=basis, cause="stack trace")
    # Only successes were observed with a text; without a status only the code is left.
    if exchange.operation.generation.id == "v1" and exchange.member("status") is None:
        yield Finding("a refusal has no status", place="status", cause="a refusal has no status")


@_PACK.major("errors.envelope", layer=Layer.PROTOCOL, every_exchange=True)
@each(answered, "code")
def refusal_carries_code(_: RunContext, exchange: Exchange) -> Findings:
    """A refusal with an HTTP error status also has a `code`, which is not the success code."""
    status, success = exchange.answer.status, exchange.operation.generation.success_code
    if status < 400 or exchange.unreadable:
        return
    if exchange.code == success:
        yield Finding(f"HTTP {status} has the code of success, {success}", cause="success code")
    elif exchange.code is None and not is_outside_the_contract(exchange):
        yield Finding(f"HTTP {status} has no code that is an integer", cause="no code")


@_PACK.major(
    "lists.not-listed",
    ids.V1_TOKENS,
    ids.V1_QUOTE,
    ids.OF_CHAIN,
    ids.BRIDGE,
    ids.SWAP_QUOTE,
    layer=Layer.CROSS,
    needs=(),
    every_exchange=True,
)
@counting(vacuous="every chain and token that is known here is listed", requires=EDGES)
def refuses_what_is_known_and_not_listed(context: RunContext, operation: Operation) -> Judgements:
    """A chain or token that is known, but not in the list of the service, is refused."""
    places = {field.role: f"{field.location}.{field.name}" for field in operation.fields}
    requested = _at_edges(context, operation, EdgeKind.UNLISTED)
    unsent = (name.edge for name in context.unsent_probes)
    if not requested and not any(edge and edge.kind is EdgeKind.UNLISTED for edge in unsent):
        check_edges_requested(context)
        raise NotApplicable("every chain and token that is known here is listed")
    back = {
        folded(name)
        for chain in last_chains(context, operation.generation.id) or ()
        for name in chain.names
    }
    # A chain whose names say nothing may be one of those that are known: as many may be taken.
    doubtful = unidentified_chains(context, operation.generation.id)
    taken = {edge.name for edge, exchange in requested if edge.of in _CHAINS and exchange.succeeded}
    reported: set[str] = set()
    for edge, exchange in requested:
        role, name = edge.of, edge.name
        if not is_its_own(exchange) or folded(name) in back:
            continue
        if name in taken and len(taken) <= doubtful:
            continue
        yield JUDGED
        if exchange.succeeded and not is_empty(exchange) and role not in reported:
            reported.add(role)
            unlisted, exchanges = f"{name}, which is known and not listed", (exchange,)
            message, cause = f"{role} is {unlisted}, and the answer is a success", f"{role} known"
            yield Finding(message, exchanges, places[role], cause=cause, should_refuse=True)
    if requested and not reported:
        check_that_refusals_mean_something(context, operation)
