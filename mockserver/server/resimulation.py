"""Recordings made by the simulation: the same requests give the same bytes."""

from dataclasses import replace

from mockserver.clock import ClockMode, parse_instant
from mockserver.contract import Contract, Operation
from mockserver.errors import CrosschainMockError
from mockserver.exchange import Headers, Request, Response
from mockserver.recordings import RecordedExchange, Recording
from mockserver.responders.refusing import REFUSAL_HEADER
from mockserver.server.assembly import Settings, build
from mockserver.server.service import Service

_START = "2026-01-01T00:00:00Z"
_KEPT_HEADERS = (REFUSAL_HEADER,)
_WALLET_SIGNATURE = "ab" * 65
"""Stands for a wallet signature that was taken out: 65 bytes, which nobody verifies here."""


class NotReproducible(CrosschainMockError):
    """A recording that the simulation cannot make again."""


def answered_anew(recording: Recording) -> Recording:
    """Return a recording with the answers that a fresh world of its scenario gives.

    The clock stands still but for the `advance` of an exchange.
    """
    service = build(
        Settings(
            scenario=recording.scenario,
            dialect=recording.dialect or "documented",
            clock=ClockMode.FROZEN,
            start_ms=parse_instant(recording.start or _START),
            check_answers=True,
        )
    )
    exchanges = tuple(_answered(service, exchange) for exchange in recording.exchanges)
    if service.failures:
        raise NotReproducible(f"{recording.title}: {'; '.join(service.failures)}")
    return replace(recording, exchanges=exchanges)


def _answered(service: Service, exchange: RecordedExchange) -> RecordedExchange:
    if exchange.advance_ms:
        service.worlds.get("default").world.time.advance(exchange.advance_ms)
    response = service.answer(exchange.request).response
    headers = tuple(pair for pair in response.headers if pair[0] in _KEPT_HEADERS)
    return exchange.answered(Response(response.status, headers, response.body))


def with_signature(contract: Contract, exchange: RecordedExchange) -> Request:
    """Return a recorded request with what stands for a wallet signature that was taken out."""
    request = exchange.request
    operation = contract.find(request.method, request.path)
    missing = any(_is_signature(operation, name) for name in exchange.removed)
    if not missing or "Signature" in request.headers:
        return request
    signature = ("Signature", _WALLET_SIGNATURE)
    return replace(request, headers=Headers((*request.headers.items_sent, signature)))


def _is_signature(operation: Operation | None, name: str) -> bool:
    declared = operation.header_names if operation is not None else ()
    return name.lower() == "signature" in map(str.lower, declared)
