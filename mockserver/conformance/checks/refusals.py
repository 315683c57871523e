"""Rules about requests that are wrong: the service says no to them, and in an orderly way."""

from collections.abc import Iterator

from mockserver.conformance.basis import basis_of_request
from mockserver.conformance.checks.evidence import answered, is_its_own, said
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.requests.negative import Kind, NegativeCase
from mockserver.conformance.requests.negative_cases import negative_cases
from mockserver.conformance.requests.probe import Group
from mockserver.conformance.requests.protocol import is_beneath
from mockserver.conformance.requests.words import is_odd_target, label_of, wrong_elsewhere
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Vacuous
from mockserver.contract import Basis, Operation, assumed


def is_refused(context: RunContext, operation: Operation, *, kind: str) -> Iterator[Finding]:
    odd = [one for one in negative_cases(operation) if one.kind == kind]
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
    check_that_refusals_mean_something(context, operation)


def _elsewhere(
    context: RunContext, operation: Operation, negative: NegativeCase
) -> Iterator[Exchange]:
    """Yield the requests at the edges that are wrong in the same way, and about something else."""
    begins = wrong_elsewhere(negative.words)
    return (
        one
        for one in context.of(operation)
        if is_odd_target(one.probe) and label_of(one.probe).startswith(begins)
    )


def _taken(context: RunContext, negative: NegativeCase, exchange: Exchange) -> Iterator[Finding]:
    basis = _basis(negative, exchange)
    if basis is None or not exchange.succeeded:
        return
    if negative.kind is Kind.UNLISTED and is_empty(exchange):
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


def is_empty(exchange: Exchange) -> bool:
    """Tell whether the list of a chain's tokens holds none: a way of saying no."""
    if exchange.operation.id not in ("v1.getSupportTokens", "v2.getAssetsByChain"):
        return False
    return not any(isinstance(value, list | dict) and value for value in exchange.data.values())


def check_that_refusals_mean_something(context: RunContext, operation: Operation) -> None:
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


MISSING = Group("a request without each required input", lambda probe: probe.kind == Kind.MISSING)
BROKEN = Group("requests with a broken body", lambda probe: probe.kind == Kind.BODY).of(
    ("v1.getCrossChainQuote", "v1.getTransferToMinterRaw")
)
