"""What rules look at: the exchanges of an operation, and why there may be none to judge."""

from mockserver.conformance.requests.words import label_of
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive, NotApplicable, Vacuous
from mockserver.contract import Operation

IN_BETWEEN = (429, 502, 503, 504)
"""Statuses with which something in front of a service answers, or the service that is not up."""
_MOST_TOLD = 160


def sent(context: RunContext, operation: Operation) -> tuple[Exchange, ...]:
    """Return every exchange of an operation. Raises `NotRun` where there is none."""
    found = context.of(operation)
    if found:
        return found
    mine = [probe for probe in context.unsent if probe.startswith(f"{operation.id}/")]
    raise context.not_sent(*mine, otherwise=f"no request for {operation.id} was sent")


def check_edges_are_asked(context: RunContext) -> None:
    """Raise `NotApplicable` where the run was not to ask at the edges of inputs."""
    if not any(map(label_of, (*(one.probe for one in context.exchanges), *context.unsent))):
        raise NotApplicable("nothing was to be asked at the edges of inputs (--edges)")


def answered(context: RunContext, operation: Operation) -> tuple[Exchange, ...]:
    """Return the exchanges that the service itself has answered in whole.

    Raises `NotRun` where nothing was sent, `Inconclusive` where nothing came back.
    """
    every = sent(context, operation)
    found = tuple(one for one in every if is_its_own(one))
    if found:
        return found
    raise Inconclusive(f"no request was answered: {said(every[0])}")


def successes(context: RunContext, operation: Operation) -> tuple[Exchange, ...]:
    """Return the exchanges in which the service says yes.

    Raises `NotRun` where nothing was sent, `Inconclusive` where nothing came back or nothing was
    legible, and `Vacuous` where every answer is a refusal.
    """
    every = answered(context, operation)
    found = tuple(one for one in every if one.succeeded)
    if found:
        return found
    if not any(one.refused for one in every):
        raise Inconclusive(f"no answer can be read as yes or no: {said(every[0])}")
    if not any(one.probe.partition("/")[2] == "usual" for one in every):
        raise context.not_sent(
            f"{operation.id}/usual", otherwise="nothing that should succeed was asked"
        )
    raise Vacuous(f"every request was refused: {said(every[0])}")


def said(exchange: Exchange) -> str:
    """Return what came back, in a few words."""
    answer = exchange.answer
    if answer.trouble is not None:
        return f"{answer.trouble} ({answer.reason})" if answer.reason else str(answer.trouble)
    if exchange.code is None:
        return f"HTTP {answer.status}"
    message = exchange.member("msg")
    words = f", {message[:_MOST_TOLD]!r}" if isinstance(message, str) and message else ""
    return f"HTTP {answer.status}, code {_short(exchange.code)}{words}"


def was_refused(exchange: Exchange) -> bool:
    """Tell whether the service said no and not yes. Raises `Inconclusive` where it said neither."""
    if exchange.succeeded or (exchange.refused and is_its_own(exchange)):
        return exchange.refused
    raise Inconclusive(f"{exchange.probe} was not answered: {said(exchange)}")


def is_its_own(exchange: Exchange) -> bool:
    """Tell whether a whole answer came, and from the service itself."""
    return exchange.whole and exchange.answer.status not in IN_BETWEEN


def is_redirect(exchange: Exchange) -> bool:
    """Tell whether an answer sends its client elsewhere."""
    return 300 <= exchange.answer.status < 400


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**20 else "of many digits"
