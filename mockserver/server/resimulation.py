"""Recordings made by the simulation: the same requests give the same bytes."""

from dataclasses import replace

from mockserver.clock import ClockMode
from mockserver.contract import Contract
from mockserver.errors import CrosschainMockError
from mockserver.http_messages import Headers, Request, Response
from mockserver.mock_headers import REFUSAL_HEADER
from mockserver.recordings import RecordedExchange, Recording
from mockserver.server.assembly import Settings, build
from mockserver.server.service import Service
from mockserver.signing.keyring import DEMO_APP_KEY
from mockserver.times_and_durations import EXAMPLE_START, parse_instant
from mockserver.worlds.hosted import DEFAULT_WORLD

_KEPT_HEADERS = {REFUSAL_HEADER.lower()}
# By headers in lower case. The signature has the form of a wallet's; nobody verifies it here.
_STAND_INS = {"appkey": DEMO_APP_KEY, "signature": "ab" * 65}


class NotReproducible(CrosschainMockError):
    """A recording that the simulation cannot make again."""


def answered_anew(recording: Recording) -> Recording:
    """Return a recording with the answers that a fresh world of its scenario gives.

    Headers and fields that were removed from a request count as sent.
    The clock stands still but for the `advance` of an exchange.
    """
    service = build(
        Settings(
            scenario=recording.scenario,
            dialect=recording.dialect or "documented",
            clock=ClockMode.FROZEN,
            start_ms=parse_instant(recording.start or EXAMPLE_START),
            check_answers=True,
        )
    )
    exchanges = tuple(_answered(service, exchange) for exchange in recording.exchanges)
    if service.failures:
        raise NotReproducible(f"{recording.title}: {'; '.join(service.failures)}")
    return replace(recording, exchanges=exchanges)


def _answered(service: Service, exchange: RecordedExchange) -> RecordedExchange:
    hosted = service.worlds.get(DEFAULT_WORLD)
    if exchange.advance_ms:
        hosted.world.time.advance(exchange.advance_ms)
    response = service.answer(with_credentials(hosted.contract, exchange)).response
    kept = {name.lower() for name, _ in exchange.response.headers} | _KEPT_HEADERS
    headers = tuple(pair for pair in response.headers if pair[0].lower() in kept)
    return exchange.answered(Response(response.status, headers, response.body))


def with_credentials(contract: Contract, exchange: RecordedExchange) -> Request:
    """Return a recorded request with stand-ins for the key and the signature that were removed."""
    request = exchange.request
    operation = contract.find(request.method, request.path)
    removed = exchange.hidden("request")
    stand_ins = tuple(
        (name, _STAND_INS[name.lower()])
        for name in (operation.header_names if operation is not None else ())
        if name.lower() in removed & _STAND_INS.keys() and name not in request.headers
    )
    headers = Headers((*request.headers.items_sent, *stand_ins))
    return replace(request, headers=headers) if stand_ins else request
