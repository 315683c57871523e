"""Each rule of lint, both ways: a careful client hears nothing of it, a careless one exactly it."""

import json
from collections.abc import Callable

import pytest
from eth_abi import encode

from mockserver.operations.deposit_transactions import VAULT_OUT
from mockserver.worlds.lint import RULES
from tests.audit.wallets import Wallet
from tests.conftest import NATIVE, USDT_ARB, USDT_BNB, WALLET, Client, certificate, order

V1_BODY = {
    "fromAmount": 10,
    "fromChain": "ARB",
    "evmAddres": WALLET,
    "fromToken": "USDT",
    "fromAddress": int(WALLET, 16),
    "certHash": f"0x{'7' * 64}",
    "toChain": "BSC",
    "feeLevel": 1,
}


@pytest.fixture
def wallet(mock: Client) -> Wallet:
    """A wallet that moves the clock itself, as a client does that sleeps."""
    mock.control("POST", "/clock", {"mode": "client"})
    return Wallet(mock)


def rules(wallet: Wallet, query: str = "") -> dict[str, str]:
    """Return what is said, by rule."""
    findings = wallet.client.control("GET", f"/lint{query}")["findings"]
    return {finding["rule"]: finding["told"] for finding in findings}


def read_lists(wallet: Wallet) -> None:
    for path in ("/v1/getChain", "/v1/getAssets"):
        wallet.client.get(path)


def send(wallet: Wallet, amount: int = 10_000_000, **changes: str) -> str | None:
    """Do all that a careful client does for a transfer."""
    read_lists(wallet)
    wallet.quote(amount)
    order_id = wallet.submit(amount=amount, **changes)
    if order_id:
        wallet.follow(order_id)
    return order_id


def swap_quote(wallet: Wallet, amount: int = 100_000_000, **changes: str) -> None:
    query = {
        "fromAmount": str(amount),
        "fromTokenAddress": USDT_ARB,
        "fromDecimal": "6",
        "fromChain": "ARB",
        "toTokenAddress": NATIVE,
        "toDecimal": "18",
        "toChain": "BNB",
    }
    wallet.client.get("/v1/getAggregateQuote", query={**query, **changes})


def swap(wallet: Wallet, amount: int = 100_000_000, **changes: str) -> None:
    """Swap USDT on ARB into BNB as a careful client does."""
    read_lists(wallet)
    swap_quote(wallet, amount)
    [bnb] = [
        token
        for token in wallet.client.get("/v1/getAssets").data["list"]
        if token["symbol"] == "BNB"
    ]
    settings = {"orderType": "2", "slippage": "100", "toIndex": str(bnb["index"]), **changes}
    wallet.follow(wallet.submit(amount=amount, **settings))


def v1_send(wallet: Wallet, **changes: object) -> None:
    client = wallet.client
    client.get("/open/v1/base/getSupportChains")
    client.get("/open/v1/base/getSupportTokens", headers={"chain": "ARB"})
    body = {**V1_BODY, **changes}
    quoted = {name: body[name] for name in ("fromChain", "toChain", "feeLevel")}
    quoted |= {"amount": body["fromAmount"], "token": "USDT"}
    client.post("/open/v1/order/getCrossChainQuote", quoted, headers=client.keys)
    client.post("/open/v1/order/submitCrossChain", body, headers=client.keys)
    query = {"chain": "ARB", "hash": str(body["certHash"]), "evmAddress": WALLET}
    path = "/open/v1/order/getOrderDetailByHashAndEvmAddress"
    client.get(path, query=query, headers=client.keys)


def test_a_careful_client_hears_nothing(wallet):
    send(wallet)
    said = wallet.client.control("GET", "/lint")
    assert said.pop("ground")["requests"] == 5
    counts = {"error": 0, "warn": 0, "note": 0}
    expected = {"ok": True, "findings": [], "counts": counts, "more": 0, "requests": 5, "lost": 0}
    assert said == expected


def test_a_careful_swap_hears_nothing(wallet):
    swap(wallet)
    assert rules(wallet) == {}


def test_a_careful_client_of_the_first_generation_is_told_that_it_is_deprecated(wallet):
    v1_send(wallet)
    assert rules(wallet) == {"deprecated": "v1.submitCrossChain is deprecated"}


def wrong_name(wallet: Wallet) -> None:
    query = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "BSC"}
    assert wallet.client.get("/v1/getBridgeQuote", query=query).refusal


def wrong_member(wallet: Wallet) -> None:
    query = {"fromAmount": "10000000", "token": "USDT", "fromChain": "ARB", "toChain": "BNB"}
    assert wallet.client.get("/v1/getBridgeQuote", query=query).refusal


def eighteen_decimals(wallet: Wallet) -> None:
    send(wallet, amount=3 * 10**18)


def far_too_little(wallet: Wallet) -> None:
    wallet.client.get(
        "/v1/getBridgeQuote",
        query={"amount": "3000000", "symbol": "USDT", "fromChain": "BNB", "toChain": "ARB"},
    )


def smallest_units_in_v1(wallet: Wallet) -> None:
    v1_send(wallet, fromAmount=10_000_000)


def cut_off(wallet: Wallet) -> None:
    send(wallet, amount=int(8.29 * 10**6))


def javascript_number(wallet: Wallet) -> None:
    query = {"symbol": "XCHNG", "fromChain": "ARB", "toChain": "FSN"}
    amount = {"amount": "1234567890123456800000"}
    wallet.client.get("/v1/getBridgeQuote", query={**query, **amount})


def python_float(wallet: Wallet) -> None:
    amount = {"amount": str(int(1234.567890123456789 * 10**18))}
    query = {"symbol": "XCHNG", "fromChain": "ARB", "toChain": "FSN"}
    wallet.client.get("/v1/getBridgeQuote", query={**query, **amount})


def javascript_exponent(wallet: Wallet) -> None:
    query = {"symbol": "XCHNG", "fromChain": "ARB", "toChain": "FSN", "amount": "1e+21"}
    assert wallet.client.get("/v1/getBridgeQuote", query=query).refusal


def whole_tokens(wallet: Wallet) -> None:
    query = {"symbol": "USDT", "fromChain": "ARB", "toChain": "BNB", "amount": "10.5"}
    assert wallet.client.get("/v1/getBridgeQuote", query=query).refusal


def one_percent_sign(wallet: Wallet) -> None:
    read_lists(wallet)
    swap_quote(wallet)
    assert wallet.submit(amount=100_000_000, orderType="2", toIndex="8", slippage="1%") is None


def ticker(wallet: Wallet) -> None:
    query = {"chain": "ARB", "contractAddress": USDT_ARB, "symbol": "USDT"}
    for _ in range(20):
        wallet.client.get("/v1/getPrice", query=query)
        wallet.wait("50ms")


def signs_anew_and_hammers(wallet: Wallet) -> None:
    read_lists(wallet)
    wallet.quote()
    paid = wallet.pay()
    wallet.client.control("POST", "/faults", {"kind": "http-status", "status": 503, "first": 5})
    for number in range(6):
        certs = certificate(certHash=paid, signature=f"{number:06}")
        made = wallet.client.post(
            "/v1/submitOrder", order(sourceCerts=certs), headers=wallet.client.wallet
        )
        wallet.wait("1s")
    wallet.follow(made.data["id"])


def long_of_java(wallet: Wallet) -> None:
    """25 USDT of 18 decimals, as 64 bits keep them."""
    query = {"symbol": "USDT", "fromChain": "BNB", "toChain": "ARB"}
    amount = {"amount": str(25 * 10**18 % 2**64)}
    wallet.client.get("/v1/getBridgeQuote", query={**query, **amount})


def unsigned_of_c(wallet: Wallet) -> None:
    """5000 USDT of 6 decimals, as 32 bits keep them."""
    send(wallet, amount=5000 * 10**6 % 2**32)


def another_amount(wallet: Wallet) -> None:
    read_lists(wallet)
    wallet.quote(9_000_000)
    wallet.follow(wallet.submit())


def another_token(wallet: Wallet) -> None:
    read_lists(wallet)
    wallet.quote()
    certs = certificate(certHash=wallet.pay(), fromIndex="6")
    body = order(sourceCerts=certs, toIndex="6")
    made = wallet.client.post("/v1/submitOrder", body, headers=wallet.client.wallet)
    wallet.follow(made.data["id"])


def wrong_decimals(wallet: Wallet) -> None:
    read_lists(wallet)
    swap_quote(wallet, fromDecimal="18")


def to_a_contract(wallet: Wallet) -> None:
    send(wallet, toAddr=USDT_BNB)


def to_a_contract_elsewhere(wallet: Wallet) -> None:
    send(wallet, toAddr=USDT_ARB)


def to_nobody(wallet: Wallet) -> None:
    send(wallet, toAddr=f"0x{'0' * 40}")


def to_kaspa(wallet: Wallet) -> None:
    read_lists(wallet)
    query = {"amount": "10000000", "symbol": "USDT", "fromChain": "ARB", "toChain": "SOL"}
    wallet.client.get("/v1/getBridgeQuote", query=query)
    wallet.follow(wallet.submit(toChain="SOL"))


def rounded_id(wallet: Wallet) -> None:
    send(wallet)
    wallet.client.get("/v1/checkOrder", query={"id": "30000000001.0"})


def padded_id(wallet: Wallet) -> None:
    send(wallet)
    wallet.client.get("/v1/checkOrder", query={"id": "00030000000001"})


def invented_id(wallet: Wallet) -> None:
    send(wallet)
    wallet.client.get("/v1/checkOrder", query={"id": "77"})


def two_minutes(wallet: Wallet) -> None:
    read_lists(wallet)
    wallet.quote()
    wallet.wait("2m")
    wallet.follow(wallet.submit())


def no_lists(wallet: Wallet) -> None:
    wallet.quote()
    wallet.follow(wallet.submit())


def morning_lists(wallet: Wallet) -> None:
    read_lists(wallet)
    wallet.wait("1h")
    wallet.quote()
    wallet.follow(wallet.submit())


def one_percent(wallet: Wallet) -> None:
    swap(wallet, slippage="1")


def any_price(wallet: Wallet) -> None:
    swap(wallet, slippage="5000")


def tight_loop(wallet: Wallet) -> None:
    order_id = send(wallet)
    for _ in range(7):
        wallet.look(order_id)


def hammering(wallet: Wallet) -> None:
    send(wallet)
    wallet.client.control("POST", "/faults", {"kind": "http-status", "status": 503})
    for _ in range(5):
        wallet.client.get("/v1/getChain")
        wallet.wait("1s")


def impatient(wallet: Wallet) -> None:
    send(wallet)
    fault = {"kind": "http-status", "status": 503, "retryAfter": 30}
    wallet.client.control("POST", "/faults", fault)
    wallet.client.get("/v1/getChain")
    wallet.wait("5s")
    wallet.client.get("/v1/getChain")


def never_asks(wallet: Wallet) -> None:
    read_lists(wallet)
    wallet.quote()
    wallet.submit()


def changes_its_mind(wallet: Wallet) -> None:
    read_lists(wallet)
    wallet.quote()
    paid = wallet.pay()
    order_id = wallet.submit(paid)
    wallet.submit(paid, timeout="5")
    wallet.follow(order_id)


def number_in_deposit(wallet: Wallet) -> None:
    read_lists(wallet)
    wallet.quote()
    deposit = json.loads(bytes.fromhex(certificate(certHash=wallet.pay())))
    certs = json.dumps({**deposit, "fromAmount": 10_000_000}).encode().hex()
    body = order(sourceCerts=certs)
    made = wallet.client.post("/v1/submitOrder", body, headers=wallet.client.wallet)
    wallet.follow(made.data["id"])


def number_in_body(wallet: Wallet) -> None:
    read_lists(wallet)
    wallet.quote()
    body: dict[str, object] = {**order(), "toIndex": 5}
    assert wallet.client.post("/v1/submitOrder", body, headers=wallet.client.wallet).refusal


def reads_twice(wallet: Wallet) -> None:
    wallet.client.get("/v1/getChain")
    wallet.client.get("/v1/getChain")


def quotes_elsewhere(wallet: Wallet) -> None:
    wallet.quote(target="POLYGON")
    send(wallet)


CARELESS: list[tuple[Callable[[Wallet], None], dict[str, str]]] = [
    (wrong_name, {"other-generation-name": "toChain 'BSC' is the name of v1; 2.0 calls it 'BNB'"}),
    (
        wrong_member,
        {"other-generation-name": "'fromAmount', 'token' are names of v1, and 'amount', 'symbol'"},
    ),
    (eighteen_decimals, {"amount-magnitude": "with 18 decimals in place of 6 it would be 3 USDT"}),
    (far_too_little, {"amount-magnitude": "worth less than 0.01 USD; with 6 decimals"}),
    (
        smallest_units_in_v1,
        {
            "amount-magnitude": "v1 takes whole tokens (section 2.2), and 10 were meant",
            "deprecated": "",
        },
    ),
    (cut_off, {"float-amount": "8.289999 USDT (8289999 smallest units) is 1 beside 8.29 USDT"}),
    (javascript_number, {"float-amount": "has 17 digits and then zeros, as a double is printed"}),
    (python_float, {"float-amount": "is exactly a double"}),
    (javascript_exponent, {"float-amount": "1e+21 is how a double is printed"}),
    (whole_tokens, {"amount-magnitude": "10.5 is no number of smallest units, which 2.0 counts"}),
    (one_percent_sign, {"slippage-in-percent": "slippage 1% is 0.01 %"}),
    (ticker, {"polls-too-fast": "6 look-ups of the same within 250 ms, 20 in all"}),
    (
        signs_anew_and_hammers,
        {"retry-without-backoff": "it failed 5 times in a row"},
    ),
    (long_of_java, {"overflowed-amount": "smallest units) is what 64 bits keep of 25 USDT"}),
    (unsigned_of_c, {"overflowed-amount": "705.032704 USDT (705032704 smallest units) is what 32"}),
    (another_amount, {"quoted-other-than-paid": "10 USDT was paid, and 9 USDT was quoted"}),
    (
        another_token,
        {
            "quoted-other-than-paid": "and 10 USDT from ARB to USDT on BNB was quoted",
            "unused-quote": "",
        },
    ),
    (wrong_decimals, {"decimals-not-of-list": "fromDecimal is 18, and the list has 6 for USDT"}),
    (to_a_contract, {"recipient-cannot-receive": "on BNB is the contract of USDT"}),
    (to_a_contract_elsewhere, {"recipient-cannot-receive": "the contract of USDT, on ARB"}),
    (to_nobody, {"recipient-cannot-receive": "is the zero address"}),
    (to_kaspa, {"recipient-cannot-receive": "is an address of EVM chains, and Solana is none"}),
    (rounded_id, {"ids-as-numbers": "id '30000000001.0' has gone through a number; the answer"}),
    (padded_id, {"ids-as-numbers": "the answer had '30000000001'"}),
    (invented_id, {"unknown-id": "no answer has an order '77'"}),
    (two_minutes, {"stale-quote": "the quote was 2m old when it was paid on"}),
    (no_lists, {"no-list-before-use": "a list of chains (v2.getChain)", "no-token-list": ""}),
    (morning_lists, {"stale-lists": "the list of chains was 1h old when money was moved"}),
    (one_percent, {"slippage-in-percent": "slippage 1 is 0.01 %"}),
    (any_price, {"no-minimum": "with a slippage of 50 % and no minimum of its own"}),
    (tight_loop, {"polls-too-fast": "6 look-ups of the same within 0 ms, 8 in all"}),
    (hammering, {"retry-without-backoff": "it failed 5 times in a row, with 1000 to 1000 ms"}),
    (impatient, {"retry-without-backoff": "before the 30 s of Retry-After were over"}),
    (never_asks, {"never-followed": "order 30000000001 was never looked up"}),
    (changes_its_mind, {"same-hash-other-body": "submitted again with another 'timeout'"}),
    (number_in_deposit, {"ids-as-numbers": "fromAmount of the deposit are JSON numbers"}),
    (number_in_body, {"ids-as-numbers": "toIndex: a JSON number, where a text is expected"}),
    (reads_twice, {"list-read-twice": "the same list was read twice in a row"}),
    (quotes_elsewhere, {"unused-quote": "USDT from ARB to USDT on POLYGON was quoted"}),
]


@pytest.mark.parametrize(
    ("client", "expected"), [pytest.param(*row, id=row[0].__name__) for row in CARELESS]
)
def test_a_careless_client_hears_of_exactly_that(wallet, client, expected):
    client(wallet)
    said = rules(wallet)
    assert set(said) == set(expected), said
    for rule, words in expected.items():
        assert words in said[rule]


def test_every_rule_is_shown():
    shown = {rule for _, expected in CARELESS for rule in expected}
    assert shown == set(RULES)


@pytest.mark.parametrize("minimum", [9_000_000_000_000_000_000, 1])
def test_a_minimum_of_its_own_bounds_a_swap_only_if_it_is_near(wallet, minimum):
    read_lists(wallet)
    swap_quote(wallet)
    extra = f"1_10000000000000000000;4_{minimum}"
    swap(wallet, slippage="5000", extra=extra)
    told = rules(wallet).get("no-minimum", "")
    assert ("a minimum of 0.000000000000000001 BNB where 10 BNB are" in told) == (minimum == 1)
    assert bool(told) == (minimum == 1)


@pytest.mark.parametrize("amount", [10_000_001, 8_290_000, 3_333_333, 12_345_678, 999_999_999])
def test_amounts_with_few_or_with_many_digits_are_fine(wallet, amount):
    send(wallet, amount=amount)
    expected = {"float-amount"} if amount in (10_000_001, 999_999_999) else set()
    assert set(rules(wallet)) == expected


def test_a_retry_that_waits_longer_each_time_is_fine(wallet):
    send(wallet)
    wallet.client.control("POST", "/faults", {"kind": "http-status", "status": 503})
    for seconds in (1, 2, 4, 8, 16):
        wallet.client.get("/v1/getChain")
        wallet.wait(f"{seconds}s")
    assert rules(wallet) == {}


def test_where_the_clock_stands_nobody_is_too_fast(mock):
    wallet = Wallet(mock)
    tight_loop(wallet)
    hammering(wallet)
    assert rules(wallet) == {}


def test_a_late_submission_of_a_paid_deposit_does_not_make_its_quote_old(wallet):
    read_lists(wallet)
    wallet.quote()
    fault = {"kind": "http-status", "status": 503, "operation": "submitOrder", "first": 1}
    wallet.client.control("POST", "/faults", fault)
    paid = wallet.pay()
    wallet.submit(paid)
    wallet.wait("2h")
    wallet.follow(wallet.submit(paid))
    assert rules(wallet) == {}


def contract_call(wallet: Wallet) -> None:
    """Pay 10 USDT on ARB by a call that carries its order."""
    [arb] = [
        chain
        for chain in wallet.client.get("/v1/getChain").data["list"]
        if chain["nickName"] == "ARB"
    ]
    text = f"demo:BNB:{USDT_BNB}:{WALLET}:0:3_2".encode()
    data = encode(["address", "uint256", "bool", "bytes"], [USDT_ARB, 10_000_000, False, text])
    call = {"chain": "ARB", "from": WALLET, "hash": wallet.pay()}
    call |= {"to": arb["builtInMinterProxyV2"], "data": f"0x{(VAULT_OUT + data).hex()}"}
    assert wallet.client.control("POST", "/transactions", call)["order"]


@pytest.mark.parametrize(
    ("amount", "pause", "expected"),
    [
        (10_000_000, "20s", set()),
        (10_000_000, "2m", {"stale-quote"}),
        (9_000_000, "20s", {"quoted-other-than-paid"}),
    ],
)
def test_an_order_in_a_contract_call_is_judged_as_well(wallet, amount, pause, expected):
    read_lists(wallet)
    wallet.quote(amount)
    wallet.wait(pause)
    contract_call(wallet)
    assert set(rules(wallet)) == expected


def test_wrong_requests_that_were_announced_are_no_mistake(wallet):
    wallet.client.control("POST", "/expect", {"refusal": "unknown-chain"})
    wrong_name(wallet)
    assert rules(wallet) == {}


def test_what_a_forked_world_has_read_is_not_known(wallet):
    read_lists(wallet)
    wallet.quote()
    wallet.submit()
    twin = f"{wallet.client.prefix.removeprefix('/w/')}-twin"
    wallet.client.control("POST", "/fork", {"to": twin})
    forked = Wallet(Client(wallet.client.port, wallet.client.contract, f"/w/{twin}"), paid=1)
    forked.follow(forked.submit())
    assert rules(forked) == {}
    forked.client.control("DELETE", f"/worlds/{twin}")
    forked.client.close()


def test_opaque_and_unreadable_requests_break_nothing(wallet):
    client = wallet.client
    for body in (
        order(sourceCerts="ab"),
        order(sourceCerts="zz"),
        {**order(), "toIndex": "999999999"},
        order(toAddr="nobody"),
        [1, 2],
        b"\xff",
        {"sourceCerts": {"deep": [1]}, "slippage": "1e999999", "orderType": "2"},
    ):
        client.post("/v1/submitOrder", body, headers=client.wallet)
    client.get("/v1/checkOrder", query="id=%ff")
    client.get("/v1/checkOrder", query={"id": "1e400"})
    client.get("/v1/getAggregateQuote", query={"fromAmount": "9" * 300})
    assert "never-followed" in rules(wallet)
