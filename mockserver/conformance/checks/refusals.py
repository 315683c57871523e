"""Rules about requests that are wrong: the service says no to them, and in an orderly way."""

from collections.abc import Iterator

from mockserver.conformance.basis import basis_of_request
from mockserver.conformance.checks.evidence import answered, is_its_own, said
from mockserver.conformance.checks.operations import EVERY
from mockserver.conformance.checks.rule import Check, Finding, Rule, rule
from mockserver.conformance.requests.negative import Kind, NegativeCase
from mockserver.conformance.requests.negative_cases import negative_cases
from mockserver.conformance.requests.probe import PLAIN, Group
from mockserver.conformance.requests.protocol import is_beneath
from mockserver.conformance.requests.targets import wrong_elsewhere
from mockserver.conformance.requests.wrong_values import probes_with_a, with_a
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Severity, Vacuous
from mockserver.contract import Basis, Layer, Operation, assumed, documented


def refuses_missing_input(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """A request that lacks a required input is refused."""
    yield from _refused(context, operation, Kind.MISSING)


def refuses_wrong_type(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """An input that does not have its published type is refused."""
    yield from _refused(context, operation, Kind.TYPE)


def refuses_the_unlisted(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """A chain or a token that the service does not list is refused."""
    yield from _refused(context, operation, Kind.UNLISTED)


def refuses_nonsense_amounts(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """An amount that nobody can move is refused."""
    yield from _refused(context, operation, Kind.AMOUNT)


def refuses_wrong_form(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """A text that does not have its form, or is none of the known words, is refused."""
    yield from _refused(context, operation, Kind.FORM)


def refuses_broken_body(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """A body that is no JSON object is refused."""
    yield from _refused(context, operation, Kind.BODY)


def _refused(context: RunContext, operation: Operation, kind: Kind) -> Iterator[Finding]:
    """Yield a finding for each wrong request of a kind that the service says yes to.

    Raises `NotRun` where none was sent, `Inconclusive` where none was answered, `Vacuous` where the
    service refuses the request that has nothing wrong with it as well.
    """
    odd = [one for one in negative_cases(operation) if one.kind is kind]
    exchanges = [(one, context.get(one.probe_name(operation))) for one in odd]
    there = [(one, exchange) for one, exchange in exchanges if exchange is not None]
    there += [(one, exchange) for one in odd for exchange in _elsewhere(context, operation, one)]
    if not there:
        if not odd:
            raise NotApplicable("the operation has no input that could be wrong in this way")
        names = [one.probe_name(operation) for one in odd]
        raise context.not_sent(*names, otherwise="nothing of the kind was sent")
    found = [finding for one, exchange in there for finding in _taken(context, one, exchange)]
    yield from found
    if found:
        return
    if not any(is_its_own(exchange) for _, exchange in there):
        raise Inconclusive(f"no such request was answered: {said(there[0][1])}")
    _check_that_refusals_mean_something(context, operation)


def _elsewhere(
    context: RunContext, operation: Operation, negative: NegativeCase
) -> Iterator[Exchange]:
    """Yield the requests at the edges that are wrong in the same way, and about something else."""
    begins = wrong_elsewhere(operation, negative)
    return (one for one in context.of(operation) if one.probe.startswith(begins))


def _taken(context: RunContext, negative: NegativeCase, exchange: Exchange) -> Iterator[Finding]:
    basis = _basis(negative, exchange)
    if basis is None or not exchange.succeeded:
        return
    if negative.kind is Kind.UNLISTED and _is_empty(exchange):
        # A list without items says that there is nothing, which is a way of saying no.
        basis = assumed("A-213", basis.says)
    usual = context.get(f"{exchange.operation.id}/usual")
    yield Finding(
        f"{negative.place} is {negative.told}, and the answer is a success"
        if negative.kind is not Kind.MISSING
        else f"{negative.told}, and the answer is a success",
        (exchange,) if usual is None else (usual, exchange),
        place=negative.place,
        basis=basis,
        cause=negative.words,
        should_refuse=True,
    )


def _basis(negative: NegativeCase, exchange: Exchange) -> Basis | None:
    """Return what says that a request is wrong; None where this dialect takes it."""
    if negative.basis is not None:
        return negative.basis
    operation = exchange.operation
    for violation in operation.read(exchange.request).violations:
        if ".".join(map(str, violation.path[:2])) == negative.place:
            basis = basis_of_request(operation, violation)
            # The type is published; that a reader refuses the same value in another one is not.
            return assumed("A-243", basis.says) if negative.as_meant else basis
    return None


def _is_empty(exchange: Exchange) -> bool:
    if exchange.operation.id not in ("v1.getSupportTokens", "v2.getAssetsByChain"):
        return False
    return not any(isinstance(value, list | dict) and value for value in exchange.data.values())


def _check_that_refusals_mean_something(context: RunContext, operation: Operation) -> None:
    """Raise `Vacuous` where a request with nothing wrong with it is refused too.

    Look-ups are spared, since there is nothing to look up while nothing was submitted.
    """
    if "example_needs" in operation.row:
        return
    if not any(exchange.succeeded for exchange in context.of(operation)):
        usual = context.get(f"{operation.id}/usual")
        how = f": {said(usual)}" if usual is not None else ""
        raise Vacuous(f"the same request with nothing wrong with it did not succeed either{how}")


def refusal_carries_code(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """A refusal that HTTP tells of carries a `code` of its own, which is not that of success."""
    success = operation.generation.success_code
    for exchange in answered(context, operation):
        if exchange.answer.status < 400 or exchange.unreadable:
            continue
        if exchange.code == success:
            yield Finding(
                f"HTTP {exchange.answer.status} has the code of success, {success}",
                (exchange,),
                place="code",
                cause="success code",
            )
        elif exchange.code is None and not is_beneath(exchange):
            yield Finding(
                f"HTTP {exchange.answer.status} has no code that is an integer",
                (exchange,),
                place="code",
                cause="no code",
            )


def refusal_is_told(context: RunContext, operation: Operation) -> Iterator[Finding]:
    """The text of a refusal does not say success, and in v1 it has a status like every answer."""
    said: set[str] = set()
    for exchange in answered(context, operation):
        if not exchange.refused or exchange.answer.status >= 300 or is_beneath(exchange):
            continue
        for place, message in _untold(exchange):
            if place not in said:
                said.add(place)
                yield Finding(message, (exchange,), place=place, cause=message)


def _untold(exchange: Exchange) -> Iterator[tuple[str, str]]:
    message = exchange.member("msg")
    if isinstance(message, str) and message.strip().lower() in ("success", "succeeded", "ok"):
        yield "msg", "msg of a refusal says success"
    elif message is not None and not isinstance(message, str):
        yield "msg", "msg of a refusal is no text"
    # A text is seen on success alone; without a status nothing but the code is left.
    if exchange.operation.generation.id == "v1" and exchange.member("status") is None:
        yield "status", "a refusal has no status"


def _about(kind: Kind, check: Check, severity: Severity, fact: str) -> Rule:
    """Return the rule about the wrong requests of a kind that are chosen by hand."""
    names = probes_with_a(kind)
    asked = tuple(dict.fromkeys(f"{name.partition('/')[0]}/usual" for name in names))
    return rule(
        check,
        severity,
        documented(fact),
        layer=Layer.EXCHANGE,
        operations=with_a(kind),
        probes=(*names, *asked),
    )


_MISSING = Group("a request without each required input", lambda probe: probe.kind == Kind.MISSING)
_BROKEN = Group("requests with a broken body", lambda probe: probe.kind == Kind.BODY)
_WITH_BODY = ("v1.getCrossChainQuote", "v1.getTransferToMinterRaw")
_WITH_INPUT = tuple(
    name for name in EVERY if name not in ("v1.getSupportChains", "v2.getChain", "v2.getAssets")
)

REFUSALS = (
    rule(
        refuses_missing_input,
        Severity.MAJOR,
        documented("interface.inputs"),
        layer=Layer.EXCHANGE,
        operations=_WITH_INPUT,
        probes=(_MISSING, PLAIN),
    ),
    _about(
        Kind.UNLISTED,
        refuses_the_unlisted,
        Severity.CRITICAL,
        "service.read-lists-first",
    ),
    _about(
        Kind.AMOUNT,
        refuses_nonsense_amounts,
        Severity.CRITICAL,
        "interface.inputs",
    ),
    _about(Kind.TYPE, refuses_wrong_type, Severity.MAJOR, "interface.inputs"),
    _about(Kind.FORM, refuses_wrong_form, Severity.MINOR, "interface.inputs"),
    rule(
        refuses_broken_body,
        Severity.MINOR,
        documented("interface.inputs"),
        layer=Layer.PROTOCOL,
        operations=_WITH_BODY,
        probes=(_BROKEN.of(_WITH_BODY),),
    ),
    rule(
        refusal_is_told,
        Severity.MINOR,
        assumed("A-017", "a refusal has every field of the envelope, and says why"),
        layer=Layer.SCHEMA,
        operations=EVERY,
        probes=(PLAIN,),
        every_exchange=True,
    ),
    rule(
        refusal_carries_code,
        Severity.MAJOR,
        documented("errors.envelope"),
        layer=Layer.PROTOCOL,
        operations=EVERY,
        probes=(PLAIN,),
        every_exchange=True,
    ),
)
"""Every rule of this file, in the order of reports."""
