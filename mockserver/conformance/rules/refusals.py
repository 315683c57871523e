"""Rules about requests that are wrong: the service says no to them, and in an orderly way."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mockserver.conformance.basis import basis_of_request
from mockserver.conformance.exchange import Exchange
from mockserver.conformance.probes.odd import Kind, Oddity
from mockserver.conformance.probes.oddities import oddities
from mockserver.conformance.probes.protocol import is_beneath
from mockserver.conformance.probes.wrong import probes_with_a, with_a
from mockserver.conformance.rules.evidence import answered, is_its_own, said
from mockserver.conformance.rules.operations import EVERY, USUAL
from mockserver.conformance.verdict import (
    Basis,
    Check,
    Finding,
    Grounds,
    Inconclusive,
    Layer,
    NotRun,
    Rule,
    Severity,
    Vacuous,
    documented,
    rule,
)
from mockserver.contract import Operation

if TYPE_CHECKING:
    from mockserver.conformance.seen import Seen


def refuses_missing_input(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """A request that lacks a required input is refused."""
    yield from _refused(seen, operation, Kind.MISSING)


def refuses_wrong_type(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """An input that does not have its published type is refused."""
    yield from _refused(seen, operation, Kind.TYPE)


def refuses_the_unlisted(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """A chain or a token that the service does not list is refused."""
    yield from _refused(seen, operation, Kind.UNLISTED)


def refuses_nonsense_amounts(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """An amount that nobody can move is refused."""
    yield from _refused(seen, operation, Kind.AMOUNT)


def refuses_wrong_form(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """A text that does not have its form, or is none of the known words, is refused."""
    yield from _refused(seen, operation, Kind.FORM)


def refuses_broken_body(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """A body that is no JSON object is refused."""
    yield from _refused(seen, operation, Kind.BODY)


def _refused(seen: "Seen", operation: Operation, kind: Kind) -> Iterator[Finding]:
    """Yield a finding for each wrong request of a kind that the service says yes to.

    Raises `NotRun` where none was sent, `Inconclusive` where none was answered, `Vacuous` where the
    service refuses the request that has nothing wrong with it as well.
    """
    odd = [one for one in oddities(operation) if one.kind is kind]
    exchanges = [(one, seen.maybe(one.probe_name(operation))) for one in odd]
    there = [(one, exchange) for one, exchange in exchanges if exchange is not None]
    if not there:
        names = [one.probe_name(operation) for one in odd]
        reasons = [seen.unsent[name] for name in names if name in seen.unsent]
        raise NotRun(reasons[0] if reasons else "nothing of the kind was sent")
    found = [finding for one, exchange in there for finding in _taken(seen, one, exchange)]
    yield from found
    if found:
        return
    if not any(is_its_own(exchange) for _, exchange in there):
        raise Inconclusive(f"no such request was answered: {said(there[0][1])}")
    _check_that_refusals_mean_something(seen, operation)


def _taken(seen: "Seen", oddity: Oddity, exchange: Exchange) -> Iterator[Finding]:
    basis = _basis(oddity, exchange)
    if basis is None or not exchange.succeeded:
        return
    if oddity.kind is Kind.UNLISTED and _is_empty(exchange):
        # A list without items says that there is nothing, which is a way of saying no.
        basis = Basis(Grounds.ASSUMED, "A-213", basis.says)
    usual = seen.maybe(f"{exchange.operation.id}/usual")
    yield Finding(
        f"{oddity.place} is {oddity.told}, and the answer is a success"
        if oddity.kind is not Kind.MISSING
        else f"{oddity.told}, and the answer is a success",
        (exchange,) if usual is None else (usual, exchange),
        place=oddity.place,
        basis=basis,
        cause=oddity.words,
        should_refuse=True,
    )


def _basis(oddity: Oddity, exchange: Exchange) -> Basis | None:
    """Return what says that a request is wrong; None where this dialect takes it."""
    if oddity.basis is not None:
        return oddity.basis
    operation = exchange.operation
    for violation in operation.read(exchange.request).violations:
        if ".".join(map(str, violation.path[:2])) == oddity.place:
            basis = basis_of_request(operation, violation)
            # The type is published; that a reader refuses the same value in another one is not.
            return Basis(Grounds.ASSUMED, "A-243", basis.says) if oddity.as_meant else basis
    return None


def _is_empty(exchange: Exchange) -> bool:
    if exchange.operation.id not in ("v1.getSupportTokens", "v2.getAssetsByChain"):
        return False
    return not any(isinstance(value, list | dict) and value for value in exchange.data.values())


def _check_that_refusals_mean_something(seen: "Seen", operation: Operation) -> None:
    """Raise `Vacuous` where a request with nothing wrong with it is refused too.

    Look-ups are spared, since there is nothing to look up while nothing was submitted.
    """
    if "example_needs" in operation.row:
        return
    if not any(exchange.succeeded for exchange in seen.of(operation)):
        usual = seen.maybe(f"{operation.id}/usual")
        how = f": {said(usual)}" if usual is not None else ""
        raise Vacuous(f"the same request with nothing wrong with it did not succeed either{how}")


def refusal_carries_code(seen: "Seen", operation: Operation) -> Iterator[Finding]:
    """A refusal that HTTP tells of carries a `code` of its own, which is not that of success."""
    success = operation.generation.success_code
    for exchange in answered(seen, operation):
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


def _about(kind: Kind, check: Check, severity: Severity, says: str) -> Rule:
    """Return the rule about the wrong requests of a kind that are chosen by hand."""
    basis = documented("4", says)
    names = probes_with_a(kind)
    asked = tuple(dict.fromkeys(f"{name.partition('/')[0]}/usual" for name in names))
    return rule(
        check,
        severity,
        basis,
        layer=Layer.EXCHANGE,
        operations=with_a(kind),
        probes=(*names, *asked),
    )


_WITH_BODY = ("v1.getCrossChainQuote", "v1.getTransferToMinterRaw")
_WITH_INPUT = tuple(
    name for name in EVERY if name not in ("v1.getSupportChains", "v2.getChain", "v2.getAssets")
)

REFUSALS = (
    rule(
        refuses_missing_input,
        Severity.MAJOR,
        documented("4", "an input with an asterisk is required"),
        layer=Layer.EXCHANGE,
        operations=_WITH_INPUT,
        probes=("*/without *.*", *USUAL),
    ),
    _about(
        Kind.UNLISTED,
        refuses_the_unlisted,
        Severity.CRITICAL,
        "chains and tokens are those of the lists",
    ),
    _about(
        Kind.AMOUNT,
        refuses_nonsense_amounts,
        Severity.CRITICAL,
        "an amount is a quantity of a token",
    ),
    _about(Kind.TYPE, refuses_wrong_type, Severity.MAJOR, "inputs have the types of the tables"),
    _about(Kind.FORM, refuses_wrong_form, Severity.MINOR, "texts have the form that is published"),
    rule(
        refuses_broken_body,
        Severity.MINOR,
        documented("4.1", "POST requests have a JSON body"),
        layer=Layer.PROTOCOL,
        operations=_WITH_BODY,
        probes=tuple(f"{name}/body *" for name in _WITH_BODY),
    ),
    rule(
        refusal_carries_code,
        Severity.MAJOR,
        documented("7", "results are reported in the envelope, and code 0 is success"),
        layer=Layer.PROTOCOL,
        operations=EVERY,
        probes=USUAL,
        every_exchange=True,
    ),
)
"""Every rule of this file, in the order of reports."""
