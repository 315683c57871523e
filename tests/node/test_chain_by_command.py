"""What only a mock's chain can do: reorganise, make blocks, give money, be lenient, be kept."""

import itertools
import json

import pytest
from eth_account import Account
from eth_utils import to_checksum_address

from mockserver.clock import ClockMode
from tests.conftest import frozen, running
from tests.node.behaviours import ORDER, SOMEBODY
from tests.node.mock import PROXY, USDT_ARB, MockChain
from tests.node.rpc import ETHER, GWEI, PAY, UNIT, Session, fetch, invoke, refusal
from tests.node.rpc import call as post
from tests.node.submitting import paid_otherwise, submit


@pytest.fixture
def call_command(call):
    return call


@pytest.fixture
def node(server):
    return Session(MockChain(server))


def _blocks(node, **body):
    return post(f"{node.chain.control}/chains/BNB/blocks", body)


def _faucet(node, **body):
    return post(f"{node.chain.control}/faucet", {"chain": "BNB", "address": SOMEBODY, **body})


def _transferred(node, units=5):
    payer = node.wallet(units=UNIT)
    return payer, payer.invoke(node.chain.token, "transfer(address,uint256)", SOMEBODY, units)


# --- reorganisations ---


def test_a_reorganisation_takes_logs_back_and_tells_them_again(node):
    made = node.rpc("eth_newFilter", {"address": node.chain.token})
    _, sent = _transferred(node)
    [first] = [log for log in node.rpc("eth_getFilterChanges", made) if not log["removed"]][-1:]
    _blocks(node, reorganise=1)
    removed, again = node.rpc("eth_getFilterChanges", made)
    assert removed == {**first, "removed": True}
    assert (again["removed"], again["transactionHash"]) == (False, sent)
    assert again["blockHash"] != first["blockHash"]
    assert node.rpc("eth_getFilterChanges", made) == []


def test_what_a_filter_had_not_shown_is_not_taken_back(node):
    made = node.rpc("eth_newFilter", {"address": node.chain.token})
    _, sent = _transferred(node)
    _blocks(node, reorganise=1)
    shown = node.rpc("eth_getFilterChanges", made)
    assert [log["removed"] for log in shown if log["transactionHash"] == sent] == [False]


def test_a_reorganised_block_is_gone_and_its_receipt_moves(node):
    _, sent = _transferred(node)
    before = node.receipt(sent)
    _blocks(node, reorganise=1)
    after = node.receipt(sent)
    assert node.rpc("eth_getBlockByHash", before["blockHash"], False) is None
    assert refusal(node.ask("eth_getLogs", {"blockHash": before["blockHash"]})) == (
        "-32000 unknown block"
    )
    assert after["blockHash"] != before["blockHash"]
    assert sent in node.rpc("eth_getBlockByHash", after["blockHash"], False)["transactions"]
    assert sent not in node.block(before["blockNumber"])["transactions"]
    assert node.holding(SOMEBODY) == _holding_of_nobody(node) + 5


def _holding_of_nobody(node):
    return node.holding("0x" + "77" * 20)


def test_blocks_below_a_reorganisation_stay(node):
    _, first = _transferred(node)
    _, second = _transferred(node)
    kept = node.block(node.receipt(first)["blockNumber"])
    _blocks(node, reorganise=1)
    assert node.block(node.receipt(first)["blockNumber"]) == kept
    head = node.block()
    assert second in head["transactions"]
    assert node.block(hex(int(head["number"], 16) - 1))["hash"] == head["parentHash"]


def test_a_filter_of_blocks_tells_the_new_ones(node):
    _transferred(node)
    made = node.rpc("eth_newBlockFilter")
    _blocks(node, reorganise=1)
    told = node.rpc("eth_getFilterChanges", made)
    assert told[-1] == node.block()["hash"]


def test_an_order_arrives_whatever_the_chain_does(node):
    payer = node.wallet(units=100 * UNIT)
    payer.invoke(node.chain.token, "approve(address,uint256)", PROXY, 100 * UNIT)
    payer.invoke(PROXY, PAY, node.chain.token, 100 * UNIT, False, ORDER, gas=500_000)
    _blocks(node, reorganise=3)
    post(f"{node.chain.control}/clock", {"advance": "1h"})
    [order] = fetch(f"{node.chain.control}/orders")["orders"]
    assert order["status"] == "Succeeded"


@pytest.mark.parametrize("depth", [0, -1, 10**6, "2", None])
def test_an_impossible_reorganisation_is_refused(node, depth):
    _transferred(node)
    before = node.block()
    answer = _blocks(node, reorganise=depth)
    assert "reorganise" in json.dumps(answer)
    assert "error" in answer or "msg" in answer
    assert node.block() == before


def test_a_chain_without_a_node_has_no_blocks_to_replace(node):
    answer = post(f"{node.chain.control}/chains/KOIN/blocks", {"mine": 1})
    assert "no node" in json.dumps(answer)


# --- empty blocks ---


def test_blocks_come_at_the_pace_of_the_world_clock(server):
    chain = MockChain(server, blockPace="3s")
    node = Session(chain)
    _transferred(node)
    head = node.block()
    post(f"{chain.control}/clock", {"advance": "30s"})
    latest = node.number("eth_blockNumber")
    assert latest - int(head["number"], 16) in (10, 11)  # a poll may bring one more
    times = [
        int(node.block(hex(number))["timestamp"], 16)
        for number in range(int(head["number"], 16), latest + 1)
    ]
    assert {later - earlier for earlier, later in itertools.pairwise(times[:10])} == {3}
    assert node.block(head["number"]) == head


def test_a_chain_without_pace_makes_none(node):
    _transferred(node)
    height = node.number("eth_blockNumber")
    post(f"{node.chain.control}/clock", {"advance": "1h"})
    assert node.number("eth_blockNumber") == height


def test_blocks_are_made_by_command(node):
    height = node.number("eth_blockNumber")
    assert _blocks(node, mine=7)["height"] == height + 7
    assert node.number("eth_blockNumber") == height + 7
    assert node.block(hex(height + 3))["transactions"] == []


# --- the faucet ---


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"amount": "1", "units": "1"}, "either"),
        ({}, "either"),
        ({"amount": "1.0000001", "token": "USDT", "chain": "ARB"}, "6 decimals"),
        ({"amount": "1", "token": "NOPE"}, "NOPE"),
        ({"amount": "1", "chain": "NOWHERE"}, "NOWHERE"),
        ({"amount": "1", "chain": "KOIN"}, "no node"),
        ({"amount": "1", "address": "0x12"}, "40 hex digits"),
        ({"amount": "-1"}, "amount"),
        ({"units": "1e5"}, "units"),
    ],
)
def test_the_faucet_refuses(node, body, says):
    before = node.coins(SOMEBODY)
    answer = _faucet(node, **body)
    assert says in json.dumps(answer)
    assert "units" not in answer
    assert node.coins(SOMEBODY) == before


def test_the_faucet_gives_and_sets(node):
    _faucet(node, units="0", set=True, token="USDT")  # noqa: S106
    assert _faucet(node, amount="2.5", token="USDT")["units"] == str(5 * UNIT // 2)  # noqa: S106
    assert node.holding(SOMEBODY) == 5 * UNIT // 2
    _faucet(node, units="7", set=True)
    assert node.coins(SOMEBODY) == 7


# --- the lenient chain ---


def test_a_lenient_chain_takes_what_a_chain_refuses(server):
    strict, lenient = Session(MockChain(server)), Session(MockChain(server, lenientChain=True))
    for node, taken in ((strict, False), (lenient, True)):
        poor = node.wallet(wei=0)
        raw = poor.signed(to=SOMEBODY, value=5 * ETHER, nonce=9)
        answer = node.ask("eth_sendRawTransaction", raw)
        assert ("result" in answer) is taken
        if taken:
            assert node.receipt(answer["result"])["status"] == "0x1"
            assert node.coins(poor.address) == 0
    transfer = lenient.wallet(units=5).invoke(
        lenient.chain.token, "transfer(address,uint256)", SOMEBODY, 10**30
    )
    [log] = lenient.receipt(transfer)["logs"]
    assert int(log["data"], 16) == 5  # no more than there is


# --- the service's contracts ---


def test_the_vault_holds_what_was_paid_into_it(node):
    before = node.holding(PROXY)
    payer = node.wallet(units=100 * UNIT)
    payer.invoke(node.chain.token, "approve(address,uint256)", PROXY, 100 * UNIT)
    payer.invoke(PROXY, PAY, node.chain.token, 100 * UNIT, False, ORDER, gas=500_000)
    assert node.holding(PROXY) == before + 100 * UNIT
    [order] = fetch(f"{node.chain.control}/orders")["orders"]
    post(f"{node.chain.control}/orders/{order['id']}", {"course": "refund"})
    post(f"{node.chain.control}/clock", {"advance": "1h"})
    assert node.holding(PROXY) == before
    assert node.holding(payer.address) == 100 * UNIT
    [order] = fetch(f"{node.chain.control}/orders")["orders"]
    [log] = node.receipt(order["backHash"])["logs"]
    assert log["topics"][1:] == [
        "0x" + end[2:].lower().rjust(64, "0") for end in (PROXY, payer.address)
    ]
    assert (
        order["backHash"]
        in node.block(node.receipt(order["backHash"])["blockNumber"])["transactions"]
    )


def test_a_vault_that_lacks_money_is_lent_it_in_the_same_transaction(server):
    chain = MockChain(server)
    node = Session(chain)
    post(
        f"{chain.control}/faucet",
        {
            "chain": "ARB",
            "token": "USDT",
            "units": "0",
            "set": True,
            "address": _vault(chain, "ARB"),
        },
    )
    paid = chain.payout()
    arrival = {"jsonrpc": "2.0", "id": 1, "method": "eth_getTransactionReceipt"}
    receipt = post(paid["url"], {**arrival, "params": [paid["hash"]]})["result"]
    lent, given = [log for log in receipt["logs"] if log["address"] == paid["token"]]
    assert int(lent["topics"][1], 16) == 0
    assert lent["data"] == given["data"]
    assert int(given["data"], 16) == int(paid["amount"])
    assert node.chain is chain


def _vault(chain, nickname):
    listed = fetch(f"{chain.server}/v1/getChain")["data"]["list"]
    return next(each["builtInMinterProxyV2"] for each in listed if each["nickName"] == nickname)


# --- what is kept ---


def _with_a_pool(node):
    """Return a wallet with a transaction that waits for the one before it, and its hash."""
    waiting = node.wallet()
    late = waiting.send(to=SOMEBODY, value=2, nonce=1)
    assert node.transaction(late)["blockNumber"] is None
    return waiting, late


def _goes_on(node, wallet, late):
    """Check that the pool is as it was: what fills the gap frees what waits."""
    assert node.transaction(late)["blockNumber"] is None
    assert node.rpc("txpool_status")["queued"] == "0x1"
    node.pass_on(wallet.signed(to=SOMEBODY, value=1, nonce=0))
    assert node.receipt(late)["status"] == "0x1"


def test_a_dump_keeps_pool_blocks_and_filters(node):
    made = node.rpc("eth_newBlockFilter")
    _transferred(node)
    _blocks(node, reorganise=1)
    wallet, late = _with_a_pool(node)
    before = [node.block(hex(number)) for number in range(node.number("eth_blockNumber") + 1)]
    dump = fetch(f"{node.chain.control}/dump")
    post(f"{node.chain.control}/reset", {})
    post(f"{node.chain.control}/load", dump)
    assert [node.block(hex(number)) for number in range(len(before))] == before
    assert len(node.rpc("eth_getFilterChanges", made)) > 0
    _goes_on(node, wallet, late)


def test_a_snapshot_brings_the_pool_back(node):
    wallet, late = _with_a_pool(node)
    post(f"{node.chain.control}/snapshots", {"name": "gap"})
    wallet.send(to=SOMEBODY, value=1, nonce=0)
    assert node.rpc("txpool_status")["queued"] == "0x0"
    post(f"{node.chain.control}/revert", {"name": "gap"})
    _goes_on(node, wallet, late)


def test_a_fork_has_the_pool_and_leaves_the_first_world_alone(node, server):
    wallet, late = _with_a_pool(node)
    key = node.chain.server.rsplit("/", 1)[1]
    answer = post(f"{node.chain.control}/fork", {"to": f"{key}-fork"})
    assert "error" not in answer, answer
    twin = MockChain.__new__(MockChain)
    twin.control = f"{server}/w/{key}-fork/__mock"
    twin.url = f"{twin.control}/chains/BNB"
    _goes_on(Session(twin), wallet, late)
    assert node.transaction(late)["blockNumber"] is None


def test_a_restart_keeps_pool_blocks_and_marks(tmp_path):
    from tests.state.conftest import Server  # noqa: PLC0415

    state = Server(tmp_path / "state", dialect="observed", clock=ClockMode.FROZEN)
    try:
        asked = "/__mock/chains/BNB"

        def rpc(method, *params):
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
            return state.call("POST", asked, body).get("result")

        key = Account.from_key("0x" + "07" * 32)
        state.call(
            "POST", "/__mock/faucet", {"chain": "BNB", "address": key.address, "amount": "5"}
        )

        def raw(nonce, key=key):
            members = {
                "to": to_checksum_address(SOMEBODY),
                "value": 1,
                "gas": 21_000,
                "nonce": nonce,
                "chainId": 56,
            }
            members |= {"gasPrice": 200 * GWEI}
            return "0x" + key.sign_transaction(members).raw_transaction.hex().removeprefix("0x")

        late = rpc("eth_sendRawTransaction", raw(1))
        loser = Account.from_key("0x" + "08" * 32)
        gone = [rpc("eth_sendRawTransaction", raw(nonce, loser)) for nonce in (0, 1)]
        state.call("POST", "/__mock/chains/BNB/blocks", {"reorganise": 2, "lose": "all"})
        again = rpc("eth_sendRawTransaction", raw(0, loser))
        state.call("POST", "/__mock/chains/BNB/blocks", {"mine": 3})
        state.call("POST", "/__mock/chains/BNB/blocks", {"reorganise": 2})
        height = int(rpc("eth_getBlockByNumber", "pending", False)["number"], 16)
        before = [rpc("eth_getBlockByNumber", hex(number), False) for number in range(height)]
        state.restart()
        after = [rpc("eth_getBlockByNumber", hex(number), False) for number in range(height)]
        assert after == before
        assert rpc("eth_getTransactionByHash", late)["blockNumber"] is None
        assert again == gone[0]
        assert rpc("eth_getTransactionReceipt", again)["status"] == "0x1"
        assert rpc("eth_getTransactionReceipt", gone[1]) is None
        assert rpc("eth_getTransactionCount", loser.address, "latest") == "0x1"
        rpc("eth_sendRawTransaction", raw(0))
        assert rpc("eth_getTransactionReceipt", late)["status"] == "0x1"
    finally:
        state.kill()


def test_a_capsule_goes_through_a_pool_and_a_reorganisation_again(call_command):
    """Its journal has the requests of the node too, and each answer is byte for byte the same."""
    with running(frozen(dialect="observed")) as started:
        chain = MockChain.__new__(MockChain)
        chain.server = f"http://127.0.0.1:{started.port}"
        chain.control = f"{chain.server}/__mock"
        chain.url = f"{chain.control}/chains/BNB"
        node = Session(chain)
        wallet, late = _with_a_pool(node)
        _transferred(node)
        _blocks(node, reorganise=1)
        fetch(f"{chain.server}/v1/getChain")
        _goes_on(node, wallet, late)
        saved = call_command("capsule", "save", "a.capsule", "--url", chain.server)
        assert saved.returncode == 0, saved.stdout + saved.stderr
        assert "byte for byte" in saved.stdout, saved.stdout


# --- a vault without a faucet ---


def test_a_finite_vault_reverts_what_it_could_not_pay(server):
    """The vault of ARB has 20 USDT; what orders underway are owed counts."""
    chain = MockChain(server, finiteVault=True)
    node, vault = Session(chain), _vault(chain, "ARB")
    stock = {"chain": "ARB", "token": "USDT", "address": vault}
    post(f"{chain.control}/faucet", {**stock, "amount": "20", "set": True})
    payer = node.wallet(units=100 * UNIT)
    payer.invoke(chain.token, "approve(address,uint256)", PROXY, 100 * UNIT)

    def pays(tokens, status):
        order = f"chainge:ARB:{USDT_ARB}:{SOMEBODY}:0:1_{99 * 10**6};3_2;4_1;5_ARB".encode()
        sent = payer.invoke(PROXY, PAY, chain.token, tokens * UNIT, False, order, gas=500_000)
        assert node.receipt(sent)["status"] == status
        return sent, {"from": payer.address, "to": PROXY, "data": node.transaction(sent)["input"]}

    sent, call = pays(25, "0x0")
    reasons = {each["hash"]: each["reason"] for each in _seen(chain)}
    assert "has 20000000 smallest units of USDT that it owes nobody" in reasons[sent]
    for method in ("eth_call", "eth_estimateGas"):
        assert refusal(node.ask(method, call)) == "3 execution reverted"
    pays(15, "0x1")
    pays(15, "0x0")
    post(f"{chain.control}/faucet", {**stock, "amount": "20"})
    pays(15, "0x1")
    post(f"{chain.control}/clock", {"advance": "1h"})
    orders = fetch(f"{chain.control}/orders")["orders"]
    arrival = Session(chain)
    chain.url = f"{chain.control}/chains/ARB"
    for order in orders:
        assert order["status"] == "Succeeded"
        senders = [log["topics"][1] for log in arrival.receipt(order["execHash"])["logs"][:-1]]
        assert [int(sender, 16) for sender in senders] == [int(vault, 16)]  # lent nothing


def _seen(chain):
    return fetch(f"{chain.control}/transactions")["transactions"]


# --- reorganisations that lose transactions ---


def _state(node, payer):
    pending = node.number("eth_getTransactionCount", payer.address, "pending")
    return (
        node.holding(payer.address),
        node.coins(payer.address),
        node.number("eth_getTransactionCount", payer.address, "latest"),
        pending,
    )


def test_what_a_reorganisation_takes_is_gone_for_good(node):
    payer = node.wallet(units=UNIT)
    made = node.rpc("eth_newFilter", {"address": node.chain.token})
    before, somebody = _state(node, payer), node.holding(SOMEBODY)
    raw = payer.signed(to=node.chain.token, data=invoke(*_TRANSFER, SOMEBODY, 5))
    sent = node.pass_on(raw)
    after = _state(node, payer)
    [log] = [log for log in node.rpc("eth_getFilterChanges", made) if log["data"][-1] == "5"]
    receipt = node.receipt(sent)
    assert _blocks(node, reorganise=1, lose="all")["height"] == int(receipt["blockNumber"], 16) + 1
    assert (node.receipt(sent), node.transaction(sent)) == (None, None)
    assert _state(node, payer) == before
    assert node.holding(SOMEBODY) == somebody
    assert node.rpc("eth_getFilterChanges", made) == [{**log, "removed": True}]
    assert node.rpc("eth_getFilterChanges", made) == []
    assert node.rpc("eth_getBlockByHash", receipt["blockHash"], False) is None
    assert node.block(receipt["blockNumber"])["transactions"] == []
    again = node.pass_on(raw)
    assert again == sent
    assert node.receipt(sent)["blockHash"] != receipt["blockHash"]
    assert _state(node, payer) == after


_TRANSFER = ("transfer(address,uint256)",)


def test_what_goes_back_to_the_pool_comes_with_the_next_block(node):
    payer, sent = _transferred(node)
    after = _state(node, payer)
    _blocks(node, reorganise=1, lose="pool")
    assert node.transaction(sent)["blockNumber"] is None
    assert node.receipt(sent) is None
    assert _state(node, payer)[2:] == (after[2] - 1, after[3])
    _blocks(node, mine=1)
    assert node.receipt(sent)["status"] == "0x1"
    assert _state(node, payer) == after


def test_an_approval_that_is_taken_allows_nothing(node):
    payer = node.wallet(units=UNIT)
    payer.invoke(node.chain.token, "approve(address,uint256)", PROXY, 7)
    payer.invoke(node.chain.token, "approve(address,uint256)", PROXY, 9)
    allowed = ("allowance(address,address)", payer.address, PROXY)
    _blocks(node, reorganise=1, lose="all")
    assert node.read(node.chain.token, *allowed) == 7
    _blocks(node, reorganise=3, lose="all")
    assert node.read(node.chain.token, *allowed) == 0


def test_orders_and_what_they_rest_on_stay(node):
    payer = node.wallet(units=100 * UNIT)
    approved = payer.invoke(node.chain.token, "approve(address,uint256)", PROXY, 100 * UNIT)
    paid = payer.invoke(PROXY, PAY, node.chain.token, 100 * UNIT, False, ORDER, gas=500_000)
    late = payer.invoke(node.chain.token, *_TRANSFER, SOMEBODY, 0)
    _blocks(node, reorganise=6, lose="all")
    assert [bool(node.receipt(sent)) for sent in (approved, paid, late)] == [True, True, False]
    assert len(fetch(f"{node.chain.control}/orders")["orders"]) == 1


def test_money_that_was_passed_on_stays(node):
    payer = node.wallet(units=5)
    second = node.wallet(units=0)
    got = payer.invoke(node.chain.token, *_TRANSFER, second.address, 5)
    second.invoke(node.chain.token, "approve(address,uint256)", PROXY, 5)
    order = ORDER.replace(b"4_1;", b"4_0;")
    passed = second.invoke(PROXY, PAY, node.chain.token, 5, False, order, gas=500_000)
    ordered = bool(fetch(f"{node.chain.control}/orders")["orders"])
    _blocks(node, reorganise=4, lose="all")
    assert bool(node.receipt(passed)) == ordered
    assert bool(node.receipt(got)) == ordered


def test_the_audit_names_a_deposit_that_a_reorganisation_took(server):
    for lose, says in ({"lose": "all"}, ["a reorganisation has taken it"]), ({}, []):
        chain = MockChain(server)
        node = Session(chain)
        payer = node.wallet(units=25 * UNIT)
        sent = payer.invoke(chain.token, *_TRANSFER, PROXY, 25 * UNIT)
        _blocks(node, reorganise=1, **lose)
        submit(chain.control, "BNB", payer.address, sent, units=25 * UNIT, target="ARB")
        assert paid_otherwise(chain.control, says)


def test_what_was_taken_is_kept_over_a_dump(server, node):
    payer, sent = _transferred(node)
    _transferred(node)
    _blocks(node, reorganise=1, lose="all")
    again = payer.invoke(node.chain.token, *_TRANSFER, SOMEBODY, 1)
    key = f"loaded-{node.chain.control.split('/')[-2]}"
    dump = fetch(f"{node.chain.control}/dump")
    loaded = post(f"{server}/w/{key}/__mock/load", dump)
    assert "error" not in loaded, loaded
    there = f"{server}/w/{key}/__mock/chains/BNB"
    for method, params in (
        ("eth_getTransactionReceipt", [sent]),
        ("eth_getTransactionReceipt", [again]),
        ("eth_getBlockByNumber", ["latest", True]),
        ("eth_getLogs", [{"fromBlock": "earliest"}]),
        ("eth_getTransactionCount", [payer.address, "latest"]),
    ):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        assert post(there, body) == post(node.chain.url, body)


def test_losing_goes_with_a_reorganisation(node):
    assert "goes with" in _blocks(node, lose="all")["error"]
    assert (
        "no pool"
        in post(
            f"{node.chain.control}/chains/TRX/blocks", {"mine": 2, "reorganise": 1, "lose": "pool"}
        )["error"]
    )
