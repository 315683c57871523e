"""A service asked what was recorded of another: reading requests only."""

from collections.abc import Iterable
from dataclasses import replace

from mockserver.clock import wall_ms
from mockserver.conformance.comparison.requests import stamped
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.permit import Limits, Permit, Refusing
from mockserver.conformance.session.target import target_of
from mockserver.conformance.session.transport import Transport
from mockserver.contract import Contract
from mockserver.exchange import Response
from mockserver.recordings import RecordedExchange, Source


def asked_anew(
    sources: Iterable[Source], address: str, contract: Contract, hosts: tuple[str, ...] = ()
) -> tuple[Source, ...]:
    """Return recordings with the answers that a service gives now; submissions are left out.

    Raises `UnsafeOrWrong` for a host that is not this machine and not among `hosts`.
    """
    target = target_of(address)
    permit = Permit(contract, target, hosts=hosts)
    limits = Limits(rate=Limits().rate if target.is_local else Limits().rate / 250)
    with Transport(target, permit, limits) as transport:
        return tuple(
            replace(
                source,
                recording=replace(
                    source.recording,
                    exchanges=tuple(
                        answered
                        for one in source.recording.exchanges
                        if (answered := _answered(transport, contract, one)) is not None
                    ),
                ),
            )
            for source in sources
        )


def _answered(
    transport: Transport, contract: Contract, one: RecordedExchange
) -> RecordedExchange | None:
    operation = contract.find(one.request.method, one.request.path)
    if operation is None or one.request_omitted:
        return None
    request = one.request
    if "timestamp" in request.headers:
        request = stamped(request, Caller(), wall_ms())
    try:
        answer = transport.send(operation.generation.id, request)
    except Refusing:
        return None
    if answer.trouble is not None:
        return None
    response = Response(answer.status, answer.headers, answer.body)
    return replace(one.answered(response), response_omitted="")
