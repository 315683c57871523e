"""Calls of a node with wrong parameters: an answer or an error, and never an absurd number."""

import re
from decimal import Decimal
from typing import Any

import pytest

from mockserver import jsontext
from mockserver.worlds import announced_transactions, node
from mockserver.worlds.factory import WorldFactory, WorldOptions
from mockserver.worlds.node_state import Filter
from tests.conftest import USDT_ARB, WALLET

NO_PARAMETERS = {
    *("eth_chainId", "net_version", "net_listening", "web3_clientVersion", "eth_syncing"),
    *("eth_accounts", "eth_blockNumber", "eth_gasPrice", "eth_maxPriorityFeePerGas"),
    *("eth_newBlockFilter", "eth_newPendingTransactionFilter", "txpool_status", "txpool_content"),
}
REFUSING = {"eth_sendTransaction", "eth_subscribe", "eth_unsubscribe"}
"""What is refused whatever comes: a node without keys, over a connection for one answer."""
MINING = {"evm_mine", "anvil_mine", "hardhat_mine"}
FILTER = f"0x{1:032x}"
HASH = f"0x{7:064x}"
RIGHT: dict[str, list[Any]] = {
    "eth_getBlockByNumber": ["0x1", False],
    "eth_getBlockByHash": [HASH, False],
    "eth_feeHistory": ["0x5", "latest", [10, Decimal("50.5")]],
    "eth_estimateGas": [{"from": WALLET, "to": WALLET, "value": "0x1", "data": None}],
    "eth_call": [{"from": WALLET, "to": USDT_ARB, "data": "0x313ce567"}, "latest"],
    "eth_getTransactionCount": [WALLET, "latest"],
    "eth_getBalance": [WALLET, "latest"],
    "eth_getCode": [USDT_ARB, "latest"],
    "eth_sendRawTransaction": ["0x02f8"],
    "eth_getTransactionByHash": [HASH],
    "eth_getTransactionReceipt": [HASH],
    "eth_getLogs": [{"fromBlock": "0x0", "toBlock": "latest", "address": USDT_ARB, "topics": []}],
    "web3_sha3": ["0x00"],
    "eth_getBlockTransactionCountByNumber": ["0x1"],
    "eth_getBlockTransactionCountByHash": [HASH],
    "eth_getUncleCountByBlockNumber": ["0x1"],
    "eth_getUncleCountByBlockHash": [HASH],
    "eth_getBlockReceipts": ["0x1"],
    "eth_getStorageAt": [USDT_ARB, "0x0", "latest"],
    "eth_getRawTransactionByHash": [HASH],
    "eth_getTransactionByBlockNumberAndIndex": ["0x1", "0x0"],
    "eth_getTransactionByBlockHashAndIndex": [HASH, "0x0"],
    "eth_newFilter": [{"address": USDT_ARB}],
    "eth_getFilterChanges": [FILTER],
    "eth_getFilterLogs": [FILTER],
    "eth_uninstallFilter": [FILTER],
    "anvil_setBalance": [WALLET, "0x10"],
    "hardhat_setBalance": [WALLET, "0x10"],
}
HOSTILE: list[Any] = [
    *(None, True, False, 0, -1, 2**70, Decimal("1.5"), Decimal("1e900"), [], [[]], {}, {"a": 1}),
    *("", "0x", "x", "-1", "-0x1", "-0x5", "0x-1", "0x 1", "0x_1", "\u0661", "\ud800", "x" * 9000),
    *("latest", "0x1", f"0x{'f' * 64}", f"0x{'f' * 65}", f"0x{'e' * 40}"),
]
NEVER: list[Any] = [
    True,
    False,
    -1,
    Decimal("1.5"),
    {"a": 1},
    "x",
    "-0x1",
    "0x-1",
    "0x_1",
    "\u0661",
    "\ud800",
]
"""What no method takes in a place that it reads."""

READ: list[tuple[str, tuple[Any, ...]]] = [
    ("eth_feeHistory", (1,)),
    ("eth_feeHistory", (2,)),
    *(("eth_estimateGas", (0, name)) for name in ("from", "to", "value", "data", "input")),
    *(("eth_call", (0, name)) for name in ("from", "to", "value", "data")),
    *(("eth_getLogs", (0, name)) for name in ("fromBlock", "toBlock", "blockHash", "address")),
    *((method, (0,)) for method in RIGHT if not isinstance(RIGHT[method][0], dict)),
]


@pytest.fixture(scope="module")
def hosted():
    factory = WorldFactory(WorldOptions(dialect="observed"), lambda: 1_767_225_600_000)
    hosted = factory.create("default")
    approval = f"0x095ea7b3{USDT_ARB[2:]:0>64}{5:064x}"
    announced_transactions.announce(
        hosted, {"chain": "ARB", "from": WALLET, "to": USDT_ARB, "data": approval}
    )
    return hosted


def _answer(hosted, method, params):
    call = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    answer = node.answer(hosted, "ARB", call)
    assert answer["jsonrpc"] == "2.0"
    assert answer["id"] == 7
    assert ("result" in answer) is not ("error" in answer)
    # A number below 0 has its sign before or behind the 0x.
    assert not re.search(rb'"(?:-|0x-)|:-', jsontext.encode(answer.get("result")))
    return answer


def _changed(params, place, value):
    """Return parameters with another value at a place; before it they are right."""
    first, *rest = place
    if not rest:
        return [*params[:first], value, *params[first + 1 :]]
    return _changed(params, (first,), {**params[first], rest[0]: value})


def test_every_method_is_in_the_table():
    assert set(node.METHODS) == NO_PARAMETERS | REFUSING | MINING | set(RIGHT)


@pytest.mark.parametrize("method", RIGHT)
def test_right_parameters_are_taken(hosted, method):
    hosted.node.filters[FILTER] = Filter("ARB", "logs", 0)
    answer = _answer(hosted, method, RIGHT[method])
    assert ("result" in answer) is (method != "eth_sendRawTransaction")


@pytest.mark.parametrize("method", node.METHODS)
def test_whatever_the_parameters_are_there_is_an_answer_or_an_error(hosted, method):
    right = RIGHT.get(method, [])
    for value in HOSTILE:
        _answer(hosted, method, value)
        for count in range(4):
            _answer(hosted, method, [value] * count)
            _answer(hosted, method, _changed(right, (count,), value))
        for name in right[0] if right and isinstance(right[0], dict) else ():
            _answer(hosted, method, _changed(right, (0, name), value))


@pytest.mark.parametrize(("method", "place"), READ)
def test_what_cannot_be_meant_is_an_error_that_says_what_came(hosted, method, place):
    for value in NEVER:
        error = _answer(hosted, method, _changed(RIGHT[method], place, value))["error"]
        assert error["code"] == -32602
        assert ": expected " in error["message"]
        assert len(error["message"]) < 200


@pytest.mark.parametrize("method", RIGHT)
def test_the_first_parameter_cannot_be_left_out(hosted, method):
    assert _answer(hosted, method, [])["error"]["code"] == -32602


@pytest.mark.parametrize("block", ["-0x5", "-5", "-0x1", -5])
def test_the_fees_of_a_block_below_zero_are_those_of_none(hosted, block):
    error = _answer(hosted, "eth_feeHistory", [1, block])["error"]
    assert error["message"].startswith(
        "invalid argument 1: expected a tag such as 'latest', or 0x and hex"
    )


def test_the_fees_of_blocks_begin_with_the_first(hosted):
    result = _answer(hosted, "eth_feeHistory", [2**70, "0x1"])["result"]
    assert (result["oldestBlock"], len(result["gasUsedRatio"])) == ("0x0", 2)
    assert _answer(hosted, "eth_feeHistory", [0, "0x1"])["result"]["gasUsedRatio"] == []
