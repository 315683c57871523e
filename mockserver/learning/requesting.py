"""Sends recorded requests to a service again: reading requests only."""

from collections.abc import Iterable
from dataclasses import replace

from mockserver.clock import wall_ms
from mockserver.conformance.comparison.requests import stamped
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.permit import Limits, Permit, Refusing
from mockserver.conformance.session.target import target_of
from mockserver.conformance.session.transport import Transport
from mockserver.contract import Contract
from mockserver.errors import CrosschainMockError
from mockserver.exchange import Response
from mockserver.recordings import RecordedExchange, Source
from mockserver.wording import counted, listed


class NoAnswers(CrosschainMockError):
    """A service that left requests without an answer, so that nobody knows what has changed."""

    exit_code = 3


def requested_again(
    sources: Iterable[Source],
    address: str,
    contract: Contract,
    hosts: tuple[str, ...] = (),
    unanswered: list[str] | None = None,
) -> tuple[Source, ...]:
    """Return recordings with the answers that a service gives now; submissions are left out.

    `unanswered` gets the operation of each request that had no answer.
    Raises `UnsafeOrWrong` for a host that is not this machine and not among `hosts`, and
    `NoAnswers`.
    """
    target = target_of(address)
    permit = Permit(contract, target, hosts=hosts)
    limits = Limits(rate=Limits().rate if target.is_local else Limits().rate / 250)
    with Transport(target, permit, limits) as transport:
        silent = [] if unanswered is None else unanswered
        source_again = tuple(
            _source_again(transport, contract, source, silent) for source in sources
        )
    if not any(source.recording.exchanges for source in source_again):
        raise NoAnswers(
            f"{address} answered none of the recorded reading requests, so nothing is compared; is "
            "the service running, and is this its address?"
        )
    return source_again


def not_all_answered(address: str, unanswered: list[str]) -> NoAnswers:
    """Return the error of a service that left requests of these operations without an answer."""
    names = listed(list(dict.fromkeys(unanswered)))
    return NoAnswers(
        f"{address} did not answer {counted(len(unanswered), 'recorded request')}, so whether all "
        f"is as it was cannot be known: {names}"
    )


def _source_again(
    transport: Transport, contract: Contract, source: Source, silent: list[str]
) -> Source:
    every = source.recording.exchanges
    answered = (
        _answered(transport, contract, recorded_exchange, silent) for recorded_exchange in every
    )
    exchanges = tuple(
        recorded_exchange for recorded_exchange in answered if recorded_exchange is not None
    )
    return replace(source, recording=replace(source.recording, exchanges=exchanges))


def _answered(
    transport: Transport, contract: Contract, recorded_exchange: RecordedExchange, silent: list[str]
) -> RecordedExchange | None:
    operation = contract.find(recorded_exchange.request.method, recorded_exchange.request.path)
    if operation is None or recorded_exchange.request_omitted:
        return None
    request = recorded_exchange.request
    if "timestamp" in request.headers:
        request = stamped(request, Caller(), wall_ms())
    try:
        answer = transport.send(operation.generation.id, request)
    except Refusing:
        return None
    if answer.trouble is not None:
        silent.append(operation.id)
        return None
    response = Response(answer.status, answer.headers, answer.body)
    return replace(recorded_exchange.answered(response), response_omitted="")
