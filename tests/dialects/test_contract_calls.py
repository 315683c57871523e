"""Orders that travel in contract calls, from the call data to the order's end."""

import json
import re

import pytest
import rlp
from eth_abi import decode, encode
from eth_account import Account
from eth_utils import keccak, to_checksum_address

from tests.conftest import NATIVE, USDT_ARB, USDT_BNB, WALLET, certificate
from tests.dialects.conftest import WALLET_KEY

VAULT_OUT = keccak(text="vaultOut(address,uint256,bool,bytes)")[:4]
SWAP = keccak(text="swap(address,uint256,address,address,address,uint256,bytes,bytes)")[:4]
LOG_TOPIC = keccak(text="LogVaultOut(address,address,uint256,uint256,address,bytes)").hex()
TEN = 10_000_000
BRIDGE = (
    f"chainge:BNB:{USDT_BNB}:{WALLET}:0:1_9694000000000000000;2_0;3_2;4_9694000000000000000;5_BNB"
)


def _vault_out(order, token=USDT_ARB, amount=TEN, burnable=False):
    types = ["address", "uint256", "bool", "bytes"]
    return VAULT_OUT + encode(types, [token, amount, burnable, order.encode()])


def _proxies(client, chain):
    listed = {one["nickName"]: one for one in client.get("/v1/getChain").data["list"]}[chain]
    return listed["builtInMinterProxyV2"], listed["builtInSwapProxy"]


def _told(client, data, *, chain="ARB", to=None, value=0, **more):
    return client.control(
        "POST",
        "/transactions",
        {
            "chain": chain,
            "from": WALLET,
            "to": to or _proxies(client, chain)[0],
            "value": str(value),
            "data": "0x" + data.hex(),
            **more,
        },
    )


def _order_of(client, chain, tx_hash):
    return client.get("/v1/getOrderIdByHash", query={"chain": chain, "hash": tx_hash})


def _end(client, order_id):
    client.control("POST", "/clock", {"advance": "10m"})
    return client.get("/v1/checkOrder", query={"id": order_id}).data


def test_a_bridge_order_in_a_vault_out_call(observed):
    seen = _told(observed, _vault_out(BRIDGE))
    order_id = _order_of(observed, "ARB", seen["hash"]).data["id"]
    assert order_id == seen["order"]
    done = _end(observed, order_id)
    assert (done["status"], done["amountOut"]) == ("Succeeded", "9694000000000000000")


def test_a_swap_order_in_a_vault_out_call(observed):
    quote = observed.get(
        "/v1/getAggregateQuote",
        query={
            "fromAmount": str(100 * TEN),
            "fromTokenAddress": USDT_ARB,
            "fromDecimal": "6",
            "fromChain": "ARB",
            "toTokenAddress": NATIVE,
            "toDecimal": "18",
            "toChain": "BNB",
        },
    ).data
    net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
    order = f"chainge:BNB:{NATIVE}:{WALLET}:100:1_{net};2_0;3_2;4_{net * 99 // 100};5_BNB"
    seen = _told(observed, _vault_out(order, amount=100 * TEN))
    done = _end(observed, _order_of(observed, "ARB", seen["hash"]).data["id"])
    assert (done["status"], done["amountOut"]) == ("Succeeded", str(net))


CAKE = "0x0e09fabb73bd3ade0a17ecc321fd13a19e81ce82"


def _quoted(client, amount, source, target):
    """Return a quote, and the order that a client of it puts into its contract call (SDK2)."""
    (from_chain, from_address, from_decimal), (to_chain, to_address, to_decimal) = source, target
    quote = client.get(
        "/v1/getAggregateQuote",
        query={
            "fromAmount": str(amount),
            "fromTokenAddress": from_address,
            "fromDecimal": from_decimal,
            "fromChain": from_chain,
            "toTokenAddress": to_address,
            "toDecimal": to_decimal,
            "toChain": to_chain,
        },
    ).data
    net = int(quote["outAmount"]) - int(quote["serviceFee"]) - int(quote["gasFee"])
    rules = f"1_{net};2_0;3_2;4_{net * 99 // 100};5_{to_chain}"
    return net, f"chainge:{to_chain}:{to_address}:{WALLET}:100:{rules}"


@pytest.mark.parametrize("imported", [CAKE, to_checksum_address(CAKE)])
def test_a_token_that_was_imported_is_bought_and_sold(observed, imported):
    told = observed.get("/v1/getTokenInfo", query={"chain": "BNB", "tokenAddress": imported}).data
    bsc, arb = ("BNB", told["tokenAddress"], told["decimals"]), ("ARB", USDT_ARB, "6")
    for source, target, amount in ((arb, bsc, 100 * TEN), (bsc, arb, 10**20)):
        net, order = _quoted(observed, amount, source, target)
        call = _vault_out(order, token=source[1], amount=amount)
        seen = _told(observed, call, chain=source[0])
        done = _end(observed, _order_of(observed, source[0], seen["hash"]).data["id"])
        assert (done["status"], done["amountOut"]) == ("Succeeded", str(net))


def test_the_native_coin_has_to_come_with_the_call(observed):
    order = f"chainge:ETH:{NATIVE}:{WALLET}:100:1_1;3_2;4_1;5_ETH"
    data = _vault_out(order, token=NATIVE, amount=10**18)
    assert _told(observed, data, chain="BNB", value=10**18)["order"]
    without = _told(observed, data, chain="BNB")
    assert (without["reverted"], without["order"]) == (True, None)
    assert "brings 0 smallest units" in without["reason"]


def test_the_older_order_is_the_body_of_a_submission(observed):
    order = {
        "channel": "chainge",
        "extra": "1_9694000000000000000;3_2;4_9694000000000000000;5_BNB",
        "orderType": "1",
        "slippage": "0",
        "sourceCerts": certificate(certHash=""),
        "timeout": "0",
        "toAddr": WALLET,
        "toChain": "BNB",
        "toIndex": "5",
        "triggerPrice": "0",
        "execStrategy": "",
    }
    seen = _told(observed, _vault_out(json.dumps(order)))
    assert _end(observed, seen["order"])["amountOut"] == "9694000000000000000"


def test_a_recipient_with_a_colon_of_its_own(observed):
    there = "kaspa:qpgmt2dn8wcqf0436n0kueap7yx82n7raurlj6aqjc3t3wm9y5ssqtg9e4lsm"
    order = f"chainge:KAS:{NATIVE}:{there}:100:1_100000000;3_2;4_1;5_KAS"
    seen = _told(observed, _vault_out(order, amount=100 * TEN))
    assert _end(observed, seen["order"])["status"] == "Succeeded"


def _direct(client, *, recipient=WALLET, receives=USDT_BNB, router=None, order=None):
    proxy = _proxies(client, "BNB")[1]
    call = client.get(
        "/v1/getAggregateSwap",
        query={
            "fromAmount": str(10**18),
            "fromTokenAddress": NATIVE,
            "fromDecimal": "18",
            "toTokenAddress": USDT_BNB,
            "toDecimal": "18",
            "chain": "BNB",
            "aggregator": "1inch",
            "sender": proxy,
            "recipient": proxy,
            "slippage": "100",
        },
    ).data
    minimum = int(call["amountOut"]) * 99 // 100
    text = (
        order or f"chainge:BNB:{USDT_BNB}:{WALLET}:100:1_{call['amountOut']};3_2;4_{minimum};5_BNB"
    )
    types = ["address", "uint256", "address", "address", "address", "uint256", "bytes", "bytes"]
    values = [
        NATIVE,
        10**18,
        router or call["to"],
        receives,
        recipient,
        minimum,
        bytes.fromhex(call["data"][2:]),
        text.encode(),
    ]
    return call, proxy, SWAP + encode(types, values)


def test_a_direct_swap(observed):
    call, proxy, data = _direct(observed)
    seen = _told(observed, data, chain="BNB", to=proxy, value=10**18)
    done = _end(observed, _order_of(observed, "BNB", seen["hash"]).data["id"])
    assert (done["status"], done["amountOut"]) == ("Succeeded", call["amountOut"])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"recipient": "0x" + "12" * 20}, "the order pays"),
        ({"receives": NATIVE}, "a direct swap stays on its chain"),
        ({"router": "0x" + "12" * 20}, "router of no aggregator"),
        ({"order": f"chainge:ETH:{NATIVE}:{WALLET}:100:1_1;3_2"}, "a direct swap stays"),
    ],
)
def test_a_direct_swap_that_contradicts_itself_reverts(observed, changes, says):
    _, proxy, data = _direct(observed, **changes)
    seen = _told(observed, data, chain="BNB", to=proxy, value=10**18)
    assert (seen["reverted"], seen["order"]) == (True, None)
    assert says in seen["reason"]
    assert _order_of(observed, "BNB", seen["hash"]).refusal.startswith("unknown-order")


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ("nonsense", "channel:toChain"),
        (f"c:BNB:{USDT_BNB}:{WALLET}:0", "channel:toChain"),
        (f"c:BNB:{USDT_BNB}:{WALLET}:many:1_1", "slippage"),
        ('{"channel": "c"}', "lacks one of"),
        ('{"channel": ', "no JSON"),
    ],
)
def test_an_order_that_cannot_be_read_reverts(observed, order, says):
    seen = _told(observed, _vault_out(order))
    assert (seen["reverted"], seen["order"]) == (True, None)
    assert says in seen["reason"]


@pytest.mark.parametrize(
    ("order", "name"),
    [
        (f"c:MOON:{USDT_BNB}:{WALLET}:0:1_1", "unknown-chain"),
        (f"c:BNB:{WALLET}:{WALLET}:0:1_1", "unknown-token"),
        (f"c:BNB:{USDT_BNB}:{WALLET}:0:what", "bad-extra"),
        (f"c:BNB:{USDT_BNB}:nowhere:0:1_1", "bad-address"),
        (f"c:BNB:{USDT_BNB}:{WALLET}:100:1_1", "slippage-out-of-range"),
    ],
)
def test_an_order_that_the_service_does_not_take_makes_none(observed, order, name):
    seen = _told(observed, _vault_out(order))
    assert (seen["reverted"], seen["order"]) == (False, None)
    assert seen["reason"].startswith(f"{name}: ")


def test_calls_that_end_too_early_or_go_elsewhere(observed):
    short = _told(observed, _vault_out(BRIDGE)[:-64])
    assert (short["reverted"], short["reason"]) == (True, "the arguments of the call end too early")
    bare = _told(observed, VAULT_OUT)
    assert bare["reverted"]
    elsewhere = _told(observed, _vault_out(BRIDGE), to="0x" + "12" * 20)
    assert "has no method 'vaultOut'" in elsewhere["reason"]
    other = _told(observed, bytes.fromhex("a9059cbb"))
    assert (other["reverted"], other["order"]) == (False, None)


def test_the_same_transaction_again_is_the_same_order(observed):
    tx_hash = "0x" + "77" * 32
    first = _told(observed, _vault_out(BRIDGE), hash=tx_hash)
    again = _told(observed, _vault_out(BRIDGE), hash=tx_hash)
    assert (first, first["hash"]) == (again, tx_hash)
    assert len(observed.control("GET", "/transactions")["transactions"]) == 1


def test_two_transactions_of_one_address_are_two_orders(observed):
    one, other = (_told(observed, _vault_out(BRIDGE)) for _ in range(2))
    assert one["hash"] != other["hash"]
    assert one["order"] != other["order"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "chain"),
        ({"chain": "MOON", "from": WALLET}, "MOON"),
        ({"chain": "KAS", "from": WALLET, "data": "0x"}, "has no contracts"),
        ({"chain": "KAS", "from": WALLET, "raw": "0x"}, "has no contracts"),
        ({"chain": "ARB", "from": WALLET, "memo": "x"}, "give 'data'"),
        ({"chain": "ARB"}, "from"),
        ({"chain": "ARB", "from": "me"}, "'from'"),
        ({"chain": "ARB", "from": WALLET, "value": "-1"}, "'value'"),
        ({"chain": "ARB", "from": WALLET, "value": "0xzz"}, "'value'"),
        ({"chain": "ARB", "from": WALLET, "data": "0xabc"}, "'data'"),
        ({"chain": "ARB", "from": WALLET, "hash": "0x12"}, "'hash'"),
        ({"chain": "ARB", "raw": "0xc0"}, "list of 9"),
        ({"chain": "ARB", "raw": "nope"}, "'raw'"),
        ({"chain": "ARB", "from": WALLET, "when": "now"}, "when"),
    ],
)
def test_what_tells_of_no_transaction_changes_nothing(observed, body, says):
    answer = observed.call("POST", "/__mock/transactions", body=body)
    assert answer.status == 400
    assert says in answer.json["error"]
    assert observed.control("GET", "/transactions")["transactions"] == []


KOINOS = "15Rvm1bQyQjnVQkBTFTHsqMnZmBRsiJRwA"


def _paid(client, memo, **changes):
    vault = client.get("/v1/getVaultAddress").data["list"]["KOIN"]
    told = {"chain": "KOIN", "from": KOINOS, "to": vault, "value": str(10**11), "memo": memo}
    return client.control("POST", "/transactions", {**told, **changes})


def test_an_order_in_the_memo_of_a_transfer_to_the_vault(observed):
    order = f"chainge:BNB:{USDT_BNB}:{WALLET}:100:1_{10**20};2_0;3_2;4_1;5_BNB"
    seen = _paid(observed, order, hash="koinos-transaction-1")
    order_id = _order_of(observed, "KOIN", "koinos-transaction-1").data["id"]
    assert order_id == seen["order"]
    done = _end(observed, order_id)
    assert done["status"] == "Succeeded"
    assert int(done["amountOut"]) > 10**18


@pytest.mark.parametrize(
    ("memo", "changes", "reverted", "says"),
    [
        ("1_5;3_2", {}, False, "carries no order"),
        ("", {}, False, "carries no order"),
        (f"c:BNB:{USDT_BNB}:{WALLET}:0:1_5", {"to": KOINOS}, False, "carries no order"),
        ("c:BNB:nowhere", {}, True, "channel:toChain"),
        (f"c:BNB:{USDT_BNB}:{WALLET}:100:1_5", {"token": "who"}, False, "unknown-token"),
    ],
)
def test_a_transfer_without_an_order(observed, memo, changes, reverted, says):
    seen = _paid(observed, memo, **changes)
    assert (seen["order"], seen["reverted"]) == (None, reverted)
    assert says in seen["reason"]


def test_an_order_in_a_call_on_tron(observed):
    usdt = "0xa614f803b6fd780986a42c78ec9c7f77e6ded13c"
    data = _vault_out(BRIDGE, token=usdt)
    proxy = observed.get("/v1/getChain").data["list"]
    proxy = next(one["builtInMinterProxyV2"] for one in proxy if one["nickName"] == "TRX")
    told = {"chain": "TRX", "from": "T" + "a" * 33, "to": proxy, "data": "0x" + data.hex()}
    seen = observed.control("POST", "/transactions", {**told, "hash": "ab" * 32})
    assert (seen["reverted"], seen["reason"]) == (False, "")
    assert _order_of(observed, "TRX", "0x" + "AB" * 32).data["id"] == seen["order"]
    assert _end(observed, seen["order"])["status"] == "Succeeded"
    wrong = {**told, "to": "T" + "b" * 33}
    assert "no method" in observed.control("POST", "/transactions", wrong)["reason"]


@pytest.mark.parametrize("chain", ["KOIN", "SOL", "KAS", "APT", "RADIX", "BTC", "TRX"])
def test_a_transfer_that_is_told_without_a_hash_gets_one_of_its_chain(observed, chain):
    memo = f"chainge:BNB:{USDT_BNB}:{WALLET}:100:1_{10**20};2_0;3_2;4_1;5_BNB"
    vault = observed.get("/v1/getVaultAddress").data["list"][chain]
    told = {"chain": chain, "from": "somebody", "to": vault, "value": str(10**20), "memo": memo}
    seen = observed.control("POST", "/transactions", told)
    assert seen["reason"] == ""
    assert _order_of(observed, chain, seen["hash"]).data["id"] == seen["order"]


EXEC_FORMS = {
    "BNB": r"0x[0-9a-f]{64}",
    "KAS": r"[0-9a-f]{64}",
    "TRX": r"[0-9a-f]{64}",
    "SOL": r"[1-9A-HJ-NP-Za-km-z]{64,88}",
}


@pytest.mark.parametrize("chain", EXEC_FORMS)
def test_what_delivers_an_order_has_a_hash_as_its_chain_writes_it(observed, chain):
    usdt = next(
        one["contractAddress"]
        for one in observed.get("/v1/getAssetsByChain", query={"chain": chain}).data["list"]
        if one["symbol"] == "USDT"
    )
    recipients = {**observed.get("/v1/getVaultAddress").data["list"], "BNB": WALLET}
    order = f"chainge:{chain}:{usdt}:{recipients[chain]}:0:3_2"
    seen = _told(observed, _vault_out(order, amount=5 * TEN))
    done = _end(observed, seen["order"])
    assert done["status"] == "Succeeded"
    assert re.fullmatch(EXEC_FORMS[chain], done["execHash"])
    headers = {"EvmAddress": WALLET, "Signature": "00"}
    body = {"hash": done["execHash"], "chain": chain}
    assert observed.post("/v1/submitTicket", body, headers=headers).json["code"] == 0


def test_a_memo_holds_the_route_of_a_quote(observed):
    # SDK2 packs hex(aggregator)_hex(routeSummary) into the memo of a transfer on Solana.
    seen = _paid(
        observed, f"{b'ChaingeDex'.hex()}_{(b'r' * 128).hex()}", hash="koinos-transaction-2"
    )
    assert (seen["order"], seen["reverted"]) == (None, False)


def _rpc(client, chain, method, *params):
    call = {"jsonrpc": "2.0", "id": 7, "method": method, "params": list(params)}
    answer = client.control("POST", f"/chains/{chain}", call)
    assert answer["id"] == 7
    return answer["result"]


def _refused(client, chain, method, *params):
    call = {"jsonrpc": "2.0", "id": 7, "method": method, "params": list(params)}
    return client.control("POST", f"/chains/{chain}", call)["error"]


def _sent(client, data, *, to=None, value=0, chain="ARB"):
    """Send a transaction as a wallet does, of the fees that the node names; return its receipt."""
    head = _rpc(client, chain, "eth_getBlockByNumber", "latest", False)
    tip = int(_rpc(client, chain, "eth_maxPriorityFeePerGas"), 16)
    signed = Account.sign_transaction(
        {
            "type": 2,
            "nonce": int(_rpc(client, chain, "eth_getTransactionCount", WALLET, "pending"), 16),
            "maxFeePerGas": 2 * int(head["baseFeePerGas"], 16) + tip,
            "maxPriorityFeePerGas": tip,
            "gas": 300_000,
            "to": to_checksum_address(to or _proxies(client, chain)[0]),
            "value": value,
            "data": data,
            "chainId": int(_rpc(client, chain, "eth_chainId"), 16),
        },
        WALLET_KEY,
    )
    raw = "0x" + signed.raw_transaction.hex()
    tx_hash = _rpc(client, chain, "eth_sendRawTransaction", raw)
    assert tx_hash == "0x" + signed.hash.hex()
    return _rpc(client, chain, "eth_getTransactionReceipt", tx_hash)


def _approval(amount, chain_proxy):
    selector = keccak(text="approve(address,uint256)")[:4]
    return selector + encode(["address", "uint256"], [chain_proxy, amount])


def _allowance(client, owner, spender):
    data = keccak(text="allowance(address,address)")[:4]
    data += encode(["address", "address"], [owner, spender])
    call = {"to": to_checksum_address(USDT_ARB), "data": "0x" + data.hex()}
    return int(_rpc(client, "ARB", "eth_call", call, "latest"), 16)


def _topic(signature):
    return "0x" + keccak(text=signature).hex()


VAULT_IN_TOPIC = _topic("LogVaultIn(address,uint256,address,uint256,uint256,uint256)")
TRANSFER = _topic("Transfer(address,address,uint256)")


def test_a_wallet_approves_and_sends_through_a_node_of_the_chain(observed):
    proxy = _proxies(observed, "ARB")[0]
    assert _rpc(observed, "ARB", "eth_getTransactionCount", WALLET, "pending") == "0x0"
    assert _allowance(observed, WALLET, proxy) == 0
    approved = _sent(observed, _approval(TEN + 1, proxy), to=USDT_ARB)
    assert [log["topics"][0] for log in approved["logs"]] == [
        _topic("Approval(address,address,uint256)")
    ]
    assert _allowance(observed, WALLET.lower(), to_checksum_address(proxy)) == TEN + 1
    receipt = _sent(observed, _vault_out(BRIDGE))
    assert receipt["status"] == "0x1"
    assert _rpc(observed, "ARB", "eth_getTransactionCount", WALLET, "latest") == "0x2"
    order_id = _order_of(observed, "ARB", receipt["transactionHash"]).data["id"]
    moved, logged = receipt["logs"]
    assert (moved["address"], moved["topics"][0], int(moved["data"], 16)) == (
        USDT_ARB,
        TRANSFER,
        TEN,
    )
    # The contract's event names the order, its token and its sender.
    topics = logged["topics"]
    assert (topics[0], logged["address"]) == ("0x" + LOG_TOPIC, proxy)
    assert int(topics[3], 16) == int(order_id)
    assert topics[1].endswith(USDT_ARB[2:])
    assert topics[2].endswith(WALLET[2:].lower())
    sent = _rpc(observed, "ARB", "eth_getTransactionByHash", receipt["transactionHash"])
    assert sent["to"] == proxy
    # What the contract has taken may not be taken again.
    assert _allowance(observed, WALLET, proxy) == 1


def test_an_approval_without_limit_is_not_counted_down(observed):
    proxy = _proxies(observed, "ARB")[0]
    _sent(observed, _approval(2**256 - 1, proxy), to=USDT_ARB)
    assert _sent(observed, _vault_out(BRIDGE))["status"] == "0x1"
    assert _allowance(observed, WALLET, proxy) == 2**256 - 1
    _sent(observed, _approval(0, proxy), to=USDT_ARB)
    assert _allowance(observed, WALLET, proxy) == 0


def test_a_call_that_nobody_approved_reverts_when_it_is_tried_and_when_it_is_sent(observed):
    proxy = _proxies(observed, "ARB")[0]
    call = {"from": WALLET, "to": proxy, "data": "0x" + _vault_out(BRIDGE).hex()}
    for method in ("eth_call", "eth_estimateGas"):
        error = _refused(observed, "ARB", method, call)
        assert error["code"] == 3
        assert "execution reverted: ERC20: insufficient allowance" in error["message"]
        assert error["data"].startswith("0x08c379a0")
        assert bytes.fromhex(error["data"][138:])[:29] == b"ERC20: insufficient allowance"
    receipt = _sent(observed, _vault_out(BRIDGE))
    assert (receipt["status"], receipt["logs"]) == ("0x0", [])
    # The control API says what would help; a contract has but its own words.
    told = observed.control("GET", "/transactions")["transactions"][-1]
    assert "call 'approve' of the token first" in told["reason"]
    _sent(observed, _approval(TEN - 1, proxy), to=USDT_ARB)
    assert _sent(observed, _vault_out(BRIDGE))["status"] == "0x0"
    _sent(observed, _approval(TEN, proxy), to=USDT_ARB)
    assert _rpc(observed, "ARB", "eth_call", call) == "0x"
    assert 100_000 < int(_rpc(observed, "ARB", "eth_estimateGas", call), 16) < 200_000
    # What is told of is taken as it is: a test that stubs its wallet approves nothing.
    assert _told(observed, _vault_out(BRIDGE))["order"]


def test_neither_the_coin_nor_what_the_service_burns_needs_an_approval(observed):
    order = f"c:BNB:{NATIVE}:{WALLET}:100:3_2"
    coin = _vault_out(order, NATIVE, 10**17)
    receipt = _sent(observed, coin, value=10**17)
    assert receipt["status"] == "0x1"
    assert [log["topics"][0] for log in receipt["logs"]] == ["0x" + LOG_TOPIC]
    usdt = "0x8a20c13b42d7fe418f10f922f2cee06246c24269"
    burnt = _sent(observed, _vault_out(BRIDGE, usdt, burnable=True), chain="FSN")
    assert burnt["status"] == "0x1"
    assert int(burnt["logs"][0]["topics"][2], 16) == 0


def test_confirmations_come_by_polls_and_blocks_hold_what_they_should(observed):
    receipts = [_sent(observed, _approval(TEN, WALLET), to=USDT_ARB) for _ in range(2)]
    heights = [int(_rpc(observed, "ARB", "eth_blockNumber"), 16) for _ in range(100)]
    numbers = [int(receipt["blockNumber"], 16) for receipt in receipts]
    assert numbers[0] < numbers[1]
    # The clock stands: polls bring empty blocks in its place, and end after some dozens.
    assert heights[:13] == list(range(heights[0], heights[0] + 13))
    head = numbers[1] + 64
    assert heights[-1] == heights[-2] == head
    observed.control("POST", "/chains/BNB/blocks", {"mine": 9})
    for receipt in receipts:
        block = _rpc(observed, "ARB", "eth_getBlockByNumber", receipt["blockNumber"], False)
        assert block["transactions"] == [receipt["transactionHash"]]
        assert block["hash"] == receipt["blockHash"]
        assert _rpc(observed, "ARB", "eth_getBlockByHash", block["hash"], False) == block
        whole = _rpc(observed, "ARB", "eth_getBlockByNumber", receipt["blockNumber"], True)
        assert whole["transactions"][0]["hash"] == receipt["transactionHash"]
        # The transaction was sent on ARB and nowhere else.
        other = _rpc(observed, "BNB", "eth_getBlockByNumber", receipt["blockNumber"], False)
        assert other["transactions"] == []
    latest = _rpc(observed, "ARB", "eth_getBlockByNumber", "latest", False)
    assert (int(latest["number"], 16), latest["transactions"]) == (head, [])
    before = _rpc(observed, "ARB", "eth_getBlockByNumber", hex(head - 1), False)
    assert latest["parentHash"] == before["hash"]
    assert int(before["timestamp"], 16) <= int(latest["timestamp"], 16)
    assert _rpc(observed, "ARB", "eth_getBlockByNumber", hex(head + 1), False) is None
    assert _rpc(observed, "ARB", "eth_getBlockByHash", "0x" + "ff" * 32, False) is None
    # Members that strictly decoding clients cannot do without.
    roots = {"stateRoot", "receiptsRoot", "transactionsRoot", "sha3Uncles", "mixHash"}
    assert {len(latest[name]) for name in roots} == {66}
    assert len(latest["logsBloom"]) == 2 + 512


def test_what_was_paid_out_has_a_receipt_on_its_chain(observed):
    seen = _told(observed, _vault_out(BRIDGE))
    done = _end(observed, seen["order"])
    receipt = _rpc(observed, "BNB", "eth_getTransactionReceipt", done["execHash"])
    moved, delivered = receipt["logs"]
    assert (moved["address"], moved["topics"][0]) == (USDT_BNB, TRANSFER)
    assert int(moved["data"], 16) == int(done["amountOut"])
    receiver = "0x" + WALLET[2:].lower().rjust(64, "0")
    token = "0x" + USDT_BNB[2:].rjust(64, "0")
    named = [VAULT_IN_TOPIC, token, f"0x{int(seen['order']):064x}", receiver]
    assert delivered["topics"] == named
    figures = decode(["uint256"] * 3, bytes.fromhex(delivered["data"][2:]))
    assert figures == (int(done["amountOut"]), 6 * 10**15, 3 * 10**17)
    assert receipt["status"] == "0x1"
    paid = _rpc(observed, "BNB", "eth_getTransactionByHash", done["execHash"])
    block = _rpc(observed, "BNB", "eth_getBlockByHash", paid["blockHash"], True)
    assert block["transactions"] == [paid]
    asked = {"topics": [TRANSFER, None, receiver], "blockHash": block["hash"]}
    assert _rpc(observed, "BNB", "eth_getLogs", asked) == [moved]
    assert _rpc(observed, "ARB", "eth_getTransactionReceipt", done["execHash"]) is None
    assert _rpc(observed, "BNB", "eth_getTransactionReceipt", "0x" + "00" * 32) is None


def test_what_is_paid_out_has_no_receipt_before(observed):
    seen = _told(observed, _vault_out(f"c:BNB:{NATIVE}:{WALLET}:100:3_2", amount=10 * TEN))
    coming = observed.control("GET", "/dump")["world"]["orders"][0]["exec_hash"]
    assert _rpc(observed, "BNB", "eth_getTransactionReceipt", coming) is None
    assert _end(observed, seen["order"])["execHash"] == coming
    receipt = _rpc(observed, "BNB", "eth_getTransactionReceipt", coming)
    # A chain's own coin moves without a log of a token.
    assert [log["topics"][0] for log in receipt["logs"]] == [VAULT_IN_TOPIC]


MINTER = "0x8a4aa176007196d48d39c89402d3753c39ae64c1"


def _transfer(amount, to=MINTER):
    return keccak(text="transfer(address,uint256)")[:4] + encode(
        ["address", "uint256"], [to, amount]
    )


def _held(client, address, token=USDT_ARB):
    query = {"chain": "ARB", "contractAddress": token, "address": address}
    return int(client.get("/v1/getBalance", query=query).data["balance"])


def _submitted(client, tx_hash, amount=TEN):
    """Submit the order of a deposit that was sent before, as clients of 2024-03 do (DEMO)."""
    deposit = certificate(certHash=tx_hash, fromAmount=str(amount))
    body = {"channel": "c", "execStrategy": "", "extra": "3_2", "orderType": "1", "slippage": "0"}
    body |= {"sourceCerts": deposit, "timeout": "0", "toAddr": WALLET, "toChain": "BNB"}
    headers = {"EvmAddress": WALLET, "Signature": "00"}
    body |= {"toIndex": "5", "triggerPrice": "0"}
    return client.post("/v1/submitOrder", body, headers=headers).data["id"]


def test_a_deposit_that_was_sent_is_taken_once(observed):
    before, vault = _held(observed, WALLET), _held(observed, MINTER)
    receipt = _sent(observed, _transfer(TEN), to=USDT_ARB)
    assert (_held(observed, WALLET), _held(observed, MINTER)) == (before - TEN, vault + TEN)
    order_id = _submitted(observed, receipt["transactionHash"])
    assert _held(observed, WALLET) == before - TEN
    assert _end(observed, order_id)["status"] == "Succeeded"
    assert _held(observed, WALLET) == before - TEN
    dump = observed.control("GET", "/dump")
    observed.control("POST", "/load", dump)
    assert (_held(observed, WALLET), _held(observed, MINTER)) == (before - TEN, vault + TEN)
    assert observed.control("GET", "/dump")["transactions"] == dump["transactions"]


def test_the_raw_transaction_of_v1_has_the_nonce_that_the_node_tells(observed):
    body = {"amount": "10", "chain": "ARB", "token": "USDT"}
    body |= {"evmAddress": WALLET, "fromAddress": WALLET}

    def nonces():
        path = "/open/v1/order/getTransferToMinterRaw"
        raw = observed.post(path, body, headers=observed.keys).data["raw"]
        first = rlp.decode(bytes.fromhex(raw.partition("_")[0]))[0]
        told = _rpc(observed, "ARB", "eth_getTransactionCount", WALLET, "pending")
        return int.from_bytes(first, "big"), int(told, 16)

    assert nonces() == (0, 0)
    _sent(observed, _approval(1, WALLET), to=USDT_ARB)
    receipt = _sent(observed, _transfer(TEN), to=USDT_ARB)
    assert nonces() == (2, 2)
    _submitted(observed, receipt["transactionHash"])
    assert nonces() == (2, 2)
    # A deposit that nobody told of was sent all the same.
    _submitted(observed, "0x" + "cd" * 32)
    _told(observed, _vault_out(BRIDGE))
    assert nonces() == (4, 4)
    assert _rpc(observed, "BNB", "eth_getTransactionCount", WALLET, "latest") == "0x0"
    observed.control("POST", "/load", observed.control("GET", "/dump"))
    assert nonces() == (4, 4)


def test_a_deposit_that_is_refunded_comes_back_whole(observed):
    before = _held(observed, WALLET)
    receipt = _sent(observed, _transfer(TEN), to=USDT_ARB)
    order_id = _submitted(observed, receipt["transactionHash"])
    observed.control("POST", f"/orders/{order_id}", {"course": "refund"})
    assert _end(observed, order_id)["status"] == "Refunded"
    assert _held(observed, WALLET) == before


def test_transfers_move_what_there_is_and_what_no_order_has_moved(observed):
    before, friend = _held(observed, WALLET), "0x" + "5f" * 20
    told = _told(observed, b"", to=friend, value=10**15)
    coins = _held(observed, friend, NATIVE)
    fresh = _held(observed, "0x" + "6f" * 20, NATIVE)
    assert (told["order"], coins - fresh) == (None, 10**15)
    # An order that was there before its transaction was told of has booked the deposit.
    tx_hash = "0x" + "ab" * 32
    _submitted(observed, tx_hash)
    _told(observed, _transfer(TEN), to=USDT_ARB, hash=tx_hash)
    assert _held(observed, WALLET) == before - TEN
    _told(observed, _transfer(10**15), to=USDT_ARB)
    assert _held(observed, WALLET) == 0
    # What is in it is no transfer of a token that anybody knows.
    _told(observed, _transfer(TEN), to=MINTER)
    _told(observed, b"")
    moved = [one["moved"] for one in observed.control("GET", "/dump")["transactions"]]
    assert moved == [10**15, 0, before - TEN, 0, 0]


def test_balances_are_listed_alike_in_a_world_that_was_loaded(observed):
    _told(observed, b"", to="0x" + "5f" * 20, value=10**15, chain="BNB")
    _submitted(observed, "0x" + "ab" * 32)
    _told(observed, b"", to="0x" + "4f" * 20, value=10**15)
    listed = observed.control("GET", "/balances")
    assert listed["total"] == len(listed["balances"]) == 6
    observed.control("POST", "/load", observed.control("GET", "/dump"))
    assert observed.control("GET", "/balances") == listed


def test_a_snapshot_takes_back_what_transfers_have_moved(observed):
    before = _held(observed, WALLET)
    observed.control("POST", "/snapshots", {"name": "before"})
    _sent(observed, _transfer(TEN), to=USDT_ARB)
    assert _held(observed, WALLET) == before - TEN
    observed.control("POST", "/revert", {"name": "before"})
    assert _held(observed, WALLET) == before


def test_a_contract_keeps_what_it_took_for_an_order_that_was_refused(observed):
    proxy, before = _proxies(observed, "ARB")[0], _held(observed, WALLET)
    _sent(observed, _approval(3 * TEN, proxy), to=USDT_ARB)
    observed.control("POST", "/outages", {"chain": "BNB", "for": "1h"})
    receipt = _sent(observed, _vault_out(BRIDGE))
    assert (receipt["status"], [log["topics"][0] for log in receipt["logs"]]) == ("0x1", [TRANSFER])
    left = before - TEN, 2 * TEN
    assert (_held(observed, WALLET), _allowance(observed, WALLET, proxy)) == left
    [finding] = observed.control("GET", "/audit")["findings"]
    assert finding["told"].startswith("10 USDT on ARB, ")
    observed.control("POST", "/load", observed.control("GET", "/dump"))
    assert (_held(observed, WALLET), _allowance(observed, WALLET, proxy)) == left
    # Submitted after the outage, the same deposit is not taken once more.
    observed.control("DELETE", "/outages?chain=BNB")
    order_id = _submitted(observed, receipt["transactionHash"])
    assert (_held(observed, WALLET), _end(observed, order_id)["status"]) == (left[0], "Succeeded")
    coins, coin = _held(observed, WALLET, NATIVE), f"c:BNB:{WALLET}:{WALLET}:0:1_1"
    receipt = _sent(observed, _vault_out(coin, NATIVE, TEN), value=TEN)
    gas = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
    assert (receipt["logs"], _held(observed, WALLET, NATIVE)) == ([], coins - TEN - gas)


def test_a_contract_takes_nothing_that_it_may_not_take_whatever_the_order_is(observed):
    before = _held(observed, WALLET)
    unknown = f"c:MOON:{USDT_BNB}:{WALLET}:0:1_1"
    for data in (_vault_out(unknown), _vault_out(unknown, token=NATIVE)):
        assert _sent(observed, data)["status"] == "0x0"
    assert _held(observed, WALLET) == before


def test_a_filter_finds_the_logs_of_orders(observed):
    proxy = _proxies(observed, "ARB")[0]
    _sent(observed, _approval(TEN, proxy), to=USDT_ARB)
    receipt = _sent(observed, _vault_out(BRIDGE))

    def found(**wanted):
        since = {} if "blockHash" in wanted else {"fromBlock": "earliest"}
        return _rpc(observed, "ARB", "eth_getLogs", {**since, **wanted})

    own = receipt["logs"]
    assert found()[1:] == own
    assert found(address=to_checksum_address(proxy)) == own[1:]
    assert found(address=[proxy, USDT_ARB], topics=[[TRANSFER, "0x" + LOG_TOPIC]]) == own
    sender = "0x" + WALLET[2:].lower().rjust(64, "0")
    assert found(topics=["0x" + LOG_TOPIC, None, sender]) == own[1:]
    assert found(topics=["0x" + LOG_TOPIC, sender]) == []
    assert found(blockHash=receipt["blockHash"]) == own
    unknown = _refused(observed, "ARB", "eth_getLogs", {"blockHash": f"0x{0:064x}"})
    assert unknown == {"code": -32000, "message": "unknown block"}
    after = hex(int(receipt["blockNumber"], 16) + 1)
    assert found(fromBlock=after) == found(topics=[TRANSFER] * 4) == []


def test_a_node_knows_balances_and_tokens(observed):
    query = {"chain": "ARB", "contractAddress": USDT_ARB, "address": WALLET}
    held = int(observed.get("/v1/getBalance", query=query).data["balance"])
    owner = WALLET[2:].lower().rjust(64, "0")

    def read(data):
        return _rpc(observed, "ARB", "eth_call", {"to": USDT_ARB, "data": data}, "latest")

    assert int(read(f"0x70a08231{owner}"), 16) == held
    assert int(read("0x313ce567"), 16) == 6
    assert bytes.fromhex(read("0x95d89b41")[2:])[64:68] == b"USDT"
    assert bytes.fromhex(read("0x06fdde03")[2:])[64:74] == b"Tether USD"
    assert int(read("0x" + _approval(5, WALLET).hex()), 16) == 1
    assert int(_rpc(observed, "ARB", "eth_getBalance", WALLET, "latest"), 16) > 0
    assert _rpc(observed, "ARB", "eth_estimateGas", {"to": WALLET}) == hex(21_000)
    approve = {"to": USDT_ARB, "data": "0x" + _approval(5, WALLET).hex()}
    assert 40_000 < int(_rpc(observed, "ARB", "eth_estimateGas", approve), 16) < 60_000
    assert _rpc(observed, "ARB", "eth_getCode", USDT_ARB, "latest") != "0x"
    assert _rpc(observed, "ARB", "eth_getCode", _proxies(observed, "ARB")[1], "latest") != "0x"
    assert _rpc(observed, "ARB", "eth_getCode", WALLET, "latest") == "0x"


def test_what_libraries_ask_before_they_send(observed):
    assert _rpc(observed, "ARB", "eth_chainId") == hex(42161)
    assert _rpc(observed, "ARB", "net_version") == "42161"
    assert _rpc(observed, "ARB", "web3_clientVersion")
    assert _rpc(observed, "ARB", "net_listening") is True
    assert _rpc(observed, "ARB", "eth_syncing") is False
    assert _rpc(observed, "ARB", "eth_accounts") == []
    price, tip = (
        int(_rpc(observed, "ARB", f"eth_{name}"), 16)
        for name in ("gasPrice", "maxPriorityFeePerGas")
    )
    base = int(_rpc(observed, "ARB", "eth_getBlockByNumber", "latest", False)["baseFeePerGas"], 16)
    assert (base + tip, base > tip > 0) == (price, True)
    observed.control("POST", "/chains/ARB/blocks", {"mine": 9})
    history = _rpc(observed, "ARB", "eth_feeHistory", "0x5", "latest", [10, 50])
    assert history["baseFeePerGas"] == [hex(base)] * 6
    assert (history["reward"], len(history["gasUsedRatio"])) == ([[hex(tip)] * 2] * 5, 5)
    assert int(history["oldestBlock"], 16) + 4 == int(_rpc(observed, "ARB", "eth_blockNumber"), 16)
    few = _rpc(observed, "ARB", "eth_feeHistory", 1024, "0x1")
    assert (few["oldestBlock"], len(few["gasUsedRatio"]), "reward" in few) == ("0x0", 2, False)


LEGACY = """\
format: crosschain-mock/scenario@1
title: a chain without EIP-1559
extends: default
prices: {usd: {OLD: '2'}}
catalog:
  chains:
  - {nickname: OLDC, full_name: Old, index: 907, network: "90700", base_coin: OLD,
     evm_is_legacy: true, basis: assumed, source: this test}
  assets:
  - {symbol: OLD, name: Old, index: 4321, contracts: {OLDC: {address: "%s", decimals: 18}},
     basis: assumed, source: this test}
"""


def test_a_legacy_chain_has_no_base_fee(serve, tmp_path):
    scenario = tmp_path / "legacy.yaml"
    scenario.write_text(LEGACY % NATIVE)
    client = serve(scenario=scenario).client
    block = _rpc(client, "OLDC", "eth_getBlockByNumber", "latest", False)
    assert "baseFeePerGas" not in block
    client.control("POST", "/chains/OLDC/blocks", {"mine": 9})
    history = _rpc(client, "OLDC", "eth_feeHistory", 2, "latest", [50])
    price = _rpc(client, "OLDC", "eth_gasPrice")
    assert (history["baseFeePerGas"], history["reward"]) == (["0x0"] * 3, [[price]] * 2)


@pytest.mark.parametrize(
    ("chain", "call", "code"),
    [
        ("MOON", {"method": "eth_chainId"}, -32600),
        ("ARB", {"id": 1}, -32600),
        ("ARB", {"method": "eth_mine"}, -32601),
        ("ARB", {"method": "eth_call", "params": []}, -32602),
        ("ARB", {"method": "eth_call", "params": "x"}, -32602),
        ("ARB", {"method": "eth_getBalance", "params": [5]}, -32602),
        ("ARB", {"method": "eth_getBalance", "params": ["me"]}, -32602),
        ("ARB", {"method": "eth_sendRawTransaction", "params": ["0xc0"]}, -32000),
        ("ARB", {"method": "eth_call", "params": [{"to": USDT_ARB, "data": "0x12"}]}, 3),
        ("ARB", {"method": "eth_call", "params": [{"to": USDT_ARB, "data": "0x123"}]}, -32602),
        ("ARB", {"method": "eth_call", "params": [{"to": USDT_ARB, "value": "ten"}]}, -32602),
        ("ARB", {"method": "eth_getBlockByNumber", "params": ["soon", False]}, -32602),
        ("ARB", {"method": "eth_feeHistory", "params": ["many", "latest"]}, -32602),
        ("ARB", {"method": "eth_getLogs", "params": ["all"]}, -32602),
        ("ARB", {"method": "eth_getLogs", "params": [{"topics": 5}]}, -32602),
        ("ARB", {"method": "eth_getLogs", "params": [{"topics": "0x0"}]}, -32602),
        ("KAS", {"method": "eth_chainId"}, -32000),
        ("KAS", {"method": "eth_blockNumber"}, -32000),
    ],
)
def test_a_node_says_no_in_its_own_way(observed, chain, call, code):
    answer = observed.control("POST", f"/chains/{chain}", {"jsonrpc": "2.0", "id": 1, **call})
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]


def test_a_transaction_for_another_chain_is_refused(observed):
    wanted = {"nonce": 0, "gasPrice": 1, "gas": 21_000, "to": WALLET, "value": 1, "chainId": 1}
    signed = Account.sign_transaction(wanted, WALLET_KEY)
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "eth_sendRawTransaction",
        "params": ["0x" + signed.raw_transaction.hex()],
    }
    height = {"jsonrpc": "2.0", "id": 2, "method": "eth_blockNumber"}
    batch = observed.control("POST", "/chains/ARB", [call, height])
    assert "invalid chain id for signer: have 1" in batch[0]["error"]["message"]
    assert int(batch[1]["result"], 16) < 64
