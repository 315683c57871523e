"""The second service is as described, and everything that it can be asked for changes something."""

import http.client
import json
import zlib
from functools import cache
from itertools import zip_longest
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.blind.faults import FAULTS
from tests.blind.operations import ALL, BY_NAME, MAY_BE_EMPTY, OPERATIONS
from tests.blind.regions import REGIONS
from tests.blind.rows import Example, Row
from tests.blind.serve import blind_service, main
from tests.blind.tour import USUAL, Tour, request_of
from tests.blind.variations import VARIATIONS
from tests.blind.wire import Answer
from tests.blind.world import ACCOUNT, NATIVE

ROWS = {**FAULTS, **REGIONS, **VARIATIONS}
SECTIONS = {"1", "2.1", "2.2", "2.3", "3", "4", "4.1", "4.2", "5", "7", "8", "9"}
BASES = SECTIONS | {"observed", "common sense"}

SHAPES: dict[str, dict[str, type]] = {
    "v2.getChain": {"version": int, "list": list},
    "v2.getAssets": {"version": int, "list": list},
    "v2.getAssetsByChain": {"version": int, "list": list},
    "v2.getBridgeQuote": {
        "price": str,
        "outAmount": str,
        "outAmountUsd": str,
        "serviceFee": str,
        "gasFee": str,
    },
    "v2.getAggregateQuote": {
        "chain": str,
        "chainDecimal": int,
        "aggregator": str,
        "outAmount": str,
        "outAmountUsd": str,
        "minOutAmount": str,
        "serviceFee": str,
        "gasFee": str,
        "priceImpact": str,
    },
    "v2.getAggregateSwap": {
        "amountOut": str,
        "from": str,
        "to": str,
        "gas": str,
        "value": str,
        "data": str,
    },
    "v2.submitOrder": {"id": str},
    "v2.checkOrder": {
        "status": str,
        "timestamp": int,
        "execHash": str,
        "reason": str,
        "amountOut": str,
    },
    "v2.getBalance": {"balance": str, "hrpBalance": str},
    "v2.getPrice": {"price": str, "updateTime": str, "source": str},
    "v2.submitTicket": {"ticketId": int},
    "v2.getAllTicketByAddress": {"list": list},
    "v2.checkTicket": {"succeeded": bool, "solution": str},
}
_V2_QUOTES = ("v2.getBridgeQuote", "v2.getAggregateQuote", "v2.getAggregateSwap")
REFUSED = {
    "most-10-tokens": ("v1.getCrossChainQuote", *_V2_QUOTES),
    "most-one-token-least-nine-usd": ("v1.getCrossChainQuote", *_V2_QUOTES),
    "least-500-usd": _V2_QUOTES,
    "v1-least-500-tokens": ("v1.getCrossChainQuote",),
    "prices-of-some-tokens": ("v2.getPrice",),
}
"""What a variation refuses of the tour's usual calls: their amounts, or the token's price."""

TICKET = {
    "ticketId": int,
    "address": str,
    "chain": str,
    "hash": str,
    "succeeded": bool,
    "solution": str,
}


def decoded(answer: Answer) -> Any:
    assert answer.content_type.startswith(("application/json", "text/json"))
    body = answer.encoded()
    if answer.headers.get("Content-Encoding") == "gzip":
        body = zlib.decompress(body, 31)
    return json.loads(body)


def as_described(operation: str, answer: Answer) -> dict[str, Any]:
    """The data of a success, whose envelope and members are those of sections 2.1 and 2.3."""
    body = decoded(answer)
    assert body["code"] == 0, body
    assert isinstance(body["msg"], str)
    assert isinstance(body["data"], dict)
    if operation.startswith("v1."):
        assert type(body["status"]) is int
    for name, kind in SHAPES.get(operation, {}).items():
        assert type(body["data"][name]) is kind, name
    return body["data"]


@pytest.mark.parametrize("operation", ALL)
def test_healthy_answers_are_as_described(operation):
    as_described(operation, Tour().one(operation))


@pytest.mark.parametrize("name", VARIATIONS)
def test_variations_are_as_described(name):
    tour, refused = Tour(variations=[VARIATIONS[name]]), set()
    for operation in ALL:
        values = {}
        if operation == "v2.checkTicket":
            values["ticketId"] = tour.service.world.tickets[0].key
        answer = tour.one(operation, **values)
        if operation in REFUSED.get(name, ()):
            body = decoded(answer)
            assert body["code"] != 0, body
            assert (type(body["msg"]), body["data"]) == (str, {})
            refused.add(operation)
        else:
            as_described(operation, answer)
    assert refused == set(REFUSED.get(name, ()))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_required_input_is_needed_and_every_optional_one_is_not(operation):
    tour = Tour()
    for name in operation.required:
        assert not tour.one(operation.name, **{name: None}).good, name
        if name not in MAY_BE_EMPTY:
            assert not tour.one(operation.name, **{name: ""}).good, name
    for name in operation.headers:
        assert not tour.send(Example(operation.name, headers={name: None}))[0].good, name
    for name in operation.optional:
        assert tour.one(operation.name, **{name: None}).good, name


def test_every_listed_token_can_be_quoted_priced_and_looked_up():
    tour = Tour()
    for chain in tour.data("v2.getChain")["list"]:
        nick = chain["nickName"]
        tokens = tour.data("v2.getAssetsByChain", chain=nick)["list"]
        assert tokens
        for token in tokens:
            where = {"chain": nick, "contractAddress": token["contractAddress"]}
            tour.data("v2.getPrice", symbol=token["symbol"], **where)
            tour.data("v2.getBalance", **where)
            end = "BNB" if nick != "BNB" else "ETH"
            decimals = str(token["decimals"])
            tour.data(
                "v2.getAggregateQuote",
                fromAmount="1" + "0" * (token["decimals"] + 2),
                fromTokenAddress=token["contractAddress"],
                fromDecimal=decimals,
                fromChain=nick,
                toTokenAddress=NATIVE,
                toChain=end,
            )


def test_the_two_lists_of_tokens_agree():
    tour = Tour()
    everything = {
        (chain, item["symbol"], item["index"], place["address"], place["decimals"])
        for item in tour.data("v2.getAssets")["list"]
        for chain, place in item["contracts"].items()
    }
    by_chain = {
        (nick, item["symbol"], item["index"], item["contractAddress"], item["decimals"])
        for nick in (chain["nickName"] for chain in tour.data("v2.getChain")["list"])
        for item in tour.data("v2.getAssetsByChain", chain=nick)["list"]
    }
    assert everything == by_chain


def test_v1_lists_agree_with_2_0_and_are_evm_alone():
    tour = Tour()
    chains = tour.data("v2.getChain")["list"]
    networks = {chain["network"]: chain for chain in chains if chain["family"] == 1}
    for chain in tour.data("v1.getSupportChains")["chains"]:
        second = networks[str(chain["chainId"])]
        tokens = tour.data("v2.getAssetsByChain", chain=second["nickName"])["list"]
        first = tour.data("v1.getSupportTokens", chain=chain["name"])["tokenVos"]
        assert [(token["address"], token["decimals"]) for token in first] == [
            (token["contractAddress"], token["decimals"]) for token in tokens
        ]


def test_a_bridge_keeps_the_amount_between_decimals():
    quote = Tour().data("v2.getBridgeQuote", amount="12345678")
    assert quote["outAmount"] == "12345678" + "0" * 12
    assert quote["outAmountUsd"] == "12.345678000000000000"


def test_call_data_carries_amount_and_recipient():
    swap = Tour().data("v2.getAggregateSwap", fromAmount="12500000")
    assert f"{12_500_000:064x}" in swap["data"]
    assert USUAL["v2.getAggregateSwap"]["recipient"][2:].lower() in swap["data"]
    assert swap["from"] == ACCOUNT


def test_an_order_goes_its_way():
    tour = Tour()
    key = tour.data("v2.submitOrder")["id"]
    seen = []
    for _ in range(5):
        seen.append(tour.data("v2.checkOrder", id=key)["status"])
        tour.now += 0.2
    assert seen[0] == "Unknown"
    assert seen[-1] == "Succeeded"
    done = tour.data("v2.checkOrder", id=key)
    assert done["execHash"].startswith("0x")
    assert done["amountOut"] == "9694000000000000000"


def test_a_ticket_goes_its_way():
    tour = Tour()
    key = tour.data("v2.submitTicket")["ticketId"]
    for state, step in (("Unknown", 0.5), ("Pending", 1.0), ("Succeeded", 0)):
        listed = tour.data("v2.getAllTicketByAddress", filter=state)["list"]
        (ticket,) = [item for item in listed if item["ticketId"] == key]
        assert {name: type(value) for name, value in ticket.items()} == TICKET
        assert ticket["succeeded"] is (state == "Succeeded")
        one = tour.data("v2.checkTicket", ticketId=str(key))
        assert one == {name: ticket[name] for name in ("succeeded", "solution")}
        tour.now += step


def test_a_v1_order_goes_its_way():
    tour = Tour()
    raw = tour.data("v1.getTransferToMinterRaw")["raw"].partition("_")[0]
    assert bytes.fromhex(raw)[0] >= 0xC0
    tour.data("v1.submitCrossChain")
    where = {"hash": USUAL["v1.submitCrossChain"]["certHash"]}
    assert tour.data("v1.getOrderDetail", **where)["order"]["status"] == 1
    tour.now += 1
    assert tour.data("v1.getOrderDetail", **where)["order"]["status"] == 2


@cache
def healthy(operations: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return list(Tour().fingerprints(operations))


def differs(row: Row, tour: Tour) -> bool:
    """Whether any answer is another; the first one that is ends the tour."""
    pairs = zip_longest(tour.fingerprints(row.operations), healthy(row.operations))
    return any(one != other for one, other in pairs)


def test_equal_tours_are_equal():
    assert list(Tour().fingerprints()) == healthy(ALL)


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_changes_something(name):
    assert differs(FAULTS[name], Tour([FAULTS[name]]))


@pytest.mark.parametrize("name", VARIATIONS)
def test_each_variation_changes_something(name):
    row = VARIATIONS[name]
    if name == "gzip":
        plain, zipped = Tour(), Tour((), [row])
        example = Example("v2.getPrice", headers={"Accept-Encoding": "gzip"})
        assert zipped.send(example)[0].encoded() != plain.send(example)[0].encoded()
        return
    assert differs(row, Tour((), [row]))


@pytest.mark.parametrize("name", REGIONS)
def test_each_region_shows_in_its_example(name):
    row = REGIONS[name]
    assert row.example is not None
    faulty, sound = Tour([row]).send(row.example), Tour().send(row.example)
    assert [a.fingerprint() for a in faulty] != [a.fingerprint() for a in sound]


def in_the_usual_request(row: Row) -> bool:
    """Whether the example of a region is the usual request of its operation."""
    assert row.example is not None
    usual = USUAL[row.example.operation]
    return row.example.times == 1 and {**usual, **row.example.inputs} == usual


@pytest.mark.parametrize(
    "name", [name for name, row in REGIONS.items() if not in_the_usual_request(row)]
)
def test_no_region_shows_outside_of_itself(name):
    row = REGIONS[name]
    assert row.example is not None
    operation = row.example.operation
    assert Tour([row]).one(operation).fingerprint() == Tour().one(operation).fingerprint()


def test_there_are_enough_of_each_and_on_every_operation():
    assert len(FAULTS) >= 120
    assert len(REGIONS) >= 60
    assert len(VARIATIONS) >= 30
    assert not {*FAULTS} & {*REGIONS}
    for operation in ALL:
        assert sum(operation in row.operations for row in FAULTS.values()) >= 3, operation


def test_every_row_is_filled_in():
    for row in ROWS.values():
        assert row.operations
        assert {*row.operations} <= {*BY_NAME}
        assert row.sentence
        assert row.section in (SECTIONS if row.name in VARIATIONS else BASES)
        assert row.setup or row.before or row.after


def over(url: str, example: Example, count: int = 1) -> list[tuple[int, bytes]]:
    """Send an example over one connection."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        answers = []
        for _ in range(count):
            method, target, headers, body = request_of(example)
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            answers.append((response.status, response.read()))
        return answers
    finally:
        connection.close()


def test_over_a_socket():
    with blind_service() as url:
        for operation in ALL:
            for status, body in over(url, Example(operation), count=2):
                assert status == 200
                assert json.loads(body)["code"] == 0


def test_what_is_no_operation():
    with blind_service() as url:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        seen = []
        for request in ("GET /v1/none", "POST /v1/getChain", "HEAD /v1/getChain"):
            method, path = request.split()
            connection.request(method, path)
            response = connection.getresponse()
            response.read()
            seen.append(response.status)
        connection.close()
        assert seen == [404, 405, 200]


@pytest.mark.parametrize(
    ("name", "error"),
    [("hang-up", http.client.RemoteDisconnected), ("cut-body", http.client.IncompleteRead)],
)
def test_broken_connections(name, error):
    with blind_service(faults=[name]) as url, pytest.raises(error):
        over(url, Example(FAULTS[name].operations[0]))


@pytest.mark.parametrize("name", ["chunked", "connection-closed-each-time", "answers-after-50-ms"])
def test_other_ways_to_send(name):
    with blind_service(variations=[name]) as url:
        for status, body in over(url, Example("v2.getChain"), count=2):
            assert (status, json.loads(body)["code"]) == (200, 0)


def test_a_faulty_and_varied_service():
    with blind_service(faults=["price-missing"], variations=["members-reversed"]) as url:
        ((_, body),) = over(url, Example("v2.getPrice"))
    assert json.loads(body)["data"].keys() == {"updateTime", "source"}


def test_the_command_lists_everything(capsys):
    main(["--list"])
    assert len(capsys.readouterr().out.splitlines()) == len(ROWS)
