"""Recorded exchanges are played back: strictly, or with the simulation behind them."""

from functools import cache
from pathlib import Path

import pytest

from mockserver.contract import load as load_contract
from mockserver.recordings import load
from mockserver.responders.replay import ReplayMode
from tests.conftest import WALLET

FOLDER = Path(__file__).parents[2] / "fixtures" / "recordings"
SHIPPED = [
    (file, recording.dialect, exchange)
    for file in sorted(FOLDER.rglob("*.yaml"))
    for recording in (load(file),)
    # What fits no dialect is held by tests/dialects/test_published_recordings.py.
    if recording.dialect is not None
    for exchange in recording.exchanges
]


@pytest.fixture
def playing(serve):
    """A server that answers from the shipped recordings alone."""
    return serve(replay=(FOLDER / "v2",)).client


def test_what_was_recorded_is_answered(playing):
    answer = playing.get(
        "/v1/getPrice", query={"symbol": "KAS", "chain": "KAS", "contractAddress": "0x" + "e" * 40}
    )
    assert answer.data["price"] == "0.11"
    assert answer.headers["x-mock-source"] == "getPrice.yaml#success"


def test_what_was_not_recorded_names_the_nearest_recording_and_the_difference(playing):
    answer = playing.get(
        "/v1/getPrice", query={"symbol": "KAS", "chain": "ARB", "contractAddress": "0x" + "e" * 40}
    )
    assert answer.refusal.startswith(
        "not-recorded: nearest recording getPrice.yaml#success differs"
    )
    assert "query parameter 'chain' is 'ARB', recorded 'KAS'" in answer.refusal


def test_an_operation_without_any_recording_says_so(playing):
    answer = playing.get("/open/v1/base/getSupportChains")
    assert answer.refusal == "not-recorded: nothing is recorded for v1.getSupportChains"


def test_equal_requests_get_the_recorded_answers_in_their_order(playing):
    seen = [_status(playing) for _ in range(5)]
    assert seen == ["Pending", "Verified", "Succeeded", "Succeeded", "Succeeded"]


def test_every_world_begins_its_recordings_anew(playing):
    assert _status(playing) == "Pending"
    other = type(playing)(playing.port, playing.contract, prefix="/w/other")
    assert _status(other) == "Pending"
    assert _status(playing) == "Verified"
    other.close()


def test_keys_and_times_are_not_compared(serve):
    client = serve(replay=(FOLDER / "v1",)).client
    body = {"amount": 10, "fromChain": "MATIC", "toChain": "BSC", "token": "USDT", "feeLevel": 2}
    headers = {"appKey": "mine", "expireTime": "1", "timestamp": "1", "signature": "mine"}
    path = "/open/v1/order/getCrossChainQuote"
    assert client.post(path, body, headers=headers).data["crossChain"]["tokenIn"] == "USDT"


def test_the_simulation_answers_the_rest_where_it_may(serve):
    client = serve(replay=(FOLDER / "v2",), replay_mode=ReplayMode(strict=False)).client
    assert client.get(
        "/v1/getPrice", query={"symbol": "KAS", "chain": "KAS", "contractAddress": "0x" + "e" * 40}
    ).data
    balance = client.get(
        "/v1/getBalance",
        query={"chain": "KAS", "address": WALLET, "contractAddress": "0x" + "e" * 40},
    )
    assert "x-mock-source" not in balance.headers
    assert balance.data["balance"]


@pytest.mark.parametrize(
    ("file", "dialect", "exchange"),
    SHIPPED,
    ids=[f"{file.stem}-{one.name}" for file, _, one in SHIPPED],
)
def test_a_shipped_recording_keeps_the_contract(file, dialect, exchange):
    operation = contract_of(dialect).operation(exchange.operation)
    assert (operation.method, operation.path) == (exchange.request.method, exchange.request.path)
    assert operation.response_violations(exchange.response_json()) == ()


@cache
def contract_of(dialect):
    """The contract in a dialect, made once."""
    return load_contract(dialect)


def _status(client):
    return client.get("/v1/checkOrder", query={"id": "30000000001"}).data["status"]
