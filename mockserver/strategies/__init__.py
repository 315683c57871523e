"""Hypothesis strategies of everything the contract allows, for the tests of clients and services.

`answers` makes what a client may get, `requests` and `invalid_requests` what a service may get,
`services` a whole service for `crosschain_mock.permissive(…)`. All are derived from the contract.
"""

from mockserver.strategies.answers_and_requests import (
    InvalidRequest,
    UnknownOperation,
    amounts,
    answers,
    chains,
    invalid_requests,
    orders,
    refusals,
    requests,
)
from mockserver.strategies.generated_service import GeneratedService, service_of, services

__all__ = [
    "GeneratedService",
    "InvalidRequest",
    "UnknownOperation",
    "amounts",
    "answers",
    "chains",
    "invalid_requests",
    "orders",
    "refusals",
    "requests",
    "service_of",
    "services",
]
