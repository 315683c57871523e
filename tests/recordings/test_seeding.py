"""Scenarios made of recordings."""

import json
import re
import time
import urllib.request
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mockserver.cli import _cli
from mockserver.engine.order_statuses import Status
from mockserver.engine.outages import InFlight, Window
from mockserver.engine.world import World
from mockserver.http_messages import Headers
from mockserver.learning.seeding import scenario_text, seed_of
from mockserver.learning.seeding.recorded_successes import number_of
from mockserver.recordings import Recording, Source, text_of
from mockserver.scenarios import load_catalog, load_scenario
from mockserver.testing import running
from tests.conftest import WALLET, order
from tests.recordings.test_replay import exchange, quote
from tests.recordings.test_worlds import control

ROOT = Path(__file__).parents[2]
CATALOG = load_catalog()


def seeded(*exchanges):
    recording = Recording("kept", "captured", exchanges, source="https://service.example")
    return seed_of([Source("kept.yaml", recording)])


def bridge(**data):
    query = {
        "amount": "1", "symbol": "USDT", "fromChain": "ARB", "toChain": "BNB",
        "channelFeeRate": "10",
    }  # fmt: skip
    path = "/v1/getBridgeQuote"
    return exchange("v2.getBridgeQuote", "GET", path, query=query, data=data)


def test_rates_and_gas_of_a_quote_are_found_without_its_channel_fee():
    seed = seeded(
        bridge(
            price="0.5",
            outAmount="1000000",
            outAmountUsd="0.5",
            serviceFee="2100",
            gasFee="600000",
        )
    )
    assert seed.rates.bridge_bps == 11
    assert seed.rates.gas_usd == {"BNB": Decimal("0.3")}
    assert seed.rates.prices == {"USDT": Decimal("0.5")}


def test_a_scenario_of_a_seed_loads(tmp_path):
    file = tmp_path / "seeded.yaml"
    file.write_text(scenario_text(seeded(quote("10000000", "9700000000000000000")), "seeded"))
    scenario = load_scenario(file)
    assert scenario.prices.usd["USDT"] == Decimal("0.97")


def test_refusals_pages_and_nonsense_teach_nothing():
    seed = seeded(
        quote("1", "", raw='{"code":3,"msg":"no","data":{}}'),
        quote("1", "", raw="<p>", status=502),
        bridge(price="much", outAmount="0", outAmountUsd="NaN", serviceFee=True, gasFee=None),
    )
    assert (seed.rates.prices, seed.rates.gas_usd, seed.rates.bridge_bps) == ({}, {}, None)
    assert "prices" not in scenario_text(seed, "nothing")


SWAP_NUMBERS = ("chainDecimal", "outAmount", "outAmountUsd", "serviceFee", "gasFee", "priceImpact")


@pytest.mark.parametrize(
    "power",
    [
        *("22", "90", "-40", "-999999999"),
        # Between those, which are the least and the largest of what is read and left out.
        *(
            pytest.param(power, marks=pytest.mark.deep)
            for power in ("59", "999999999", "-22", "-90")
        ),
    ],
)
@pytest.mark.deep(quick=3)
def test_numbers_of_any_size_are_read_or_left_out(tmp_path, power):
    number = f"1E{power}"
    names = ("price", "outAmount", "outAmountUsd", "serviceFee", "gasFee")
    common = dict.fromkeys(names, "1000000")
    odd = [bridge(**{**common, name: number}) for name in names]
    v1 = [v1_quote(*(number if at == place else "100" for place in range(4))) for at in range(4)]
    swaps = [swap(amount=number), *(swap(**{name: number}) for name in SWAP_NUMBERS)]
    swaps.append(swap(**dict.fromkeys(SWAP_NUMBERS, number)))
    whole = seeded(bridge(**dict.fromkeys(names, number)))
    for seed in (seeded(*odd, *v1, *swaps), seeded(*swaps), seeded(swaps[-1]), whole):
        file = tmp_path / "seeded.yaml"
        file.write_text(scenario_text(seed, "seeded"))
        assert len(file.read_text()) < 10_000
        load_scenario(file)


@pytest.mark.parametrize("value", ["9" * 101, int("9" * 101), "0." + "1" * 99, "NaN", True, "x"])
def test_a_number_is_read_whole_or_not_at_all(value):
    assert number_of(value) is None
    assert number_of("9" * 100) == Decimal("9" * 100)


def told(operation, path, data, **query):
    return exchange(operation, "GET", path, query=query, data=data)


def windows(*exchanges):
    return [(one.get("chain"), one.get("token"), one["mode"]) for one in seeded(*exchanges).closed]


def test_what_recorded_lists_lack_or_show_as_out_is_out():
    chains: Any = [{"nickName": one.nickname} for one in CATALOG.chains if one.nickname != "ETC"]
    chains[0]["disabled"] = True
    chains[1]["delisted"] = True
    listed = told("v2.getChain", "/v1/getChain", {"version": 1, "list": chains})
    assert windows(listed) == [
        (chains[0]["nickName"], None, "disabled"),
        (chains[1]["nickName"], None, "delisted"),
        ("ETC", None, "delisted"),
    ]
    # The last list counts.
    whole = [{"nickName": one.nickname} for one in CATALOG.chains]
    assert windows(listed, told("v2.getChain", "/v1/getChain", {"list": whole})) == []


def test_tokens_are_out_where_no_recorded_list_has_them():
    tokens: Any = [
        {"symbol": one.symbol, "contracts": {name: {"decimals": 6} for name in one.contracts}}
        for one in CATALOG.tokens
        if one.listed and one.symbol != "DAI"
    ]
    usdt = next(one for one in tokens if one["symbol"] == "USDT")
    del usdt["contracts"]["BNB"]
    usdt["contracts"]["ARB"]["delisted"] = True
    path = "/v1/getAssets"
    assert sorted(windows(told("v2.getAssets", path, {"list": tokens})), key=str) == [
        ("ARB", "USDT", "delisted"),
        ("BNB", "USDT", "delisted"),
        (None, "DAI", "delisted"),
    ]
    one = {"list": [{"symbol": "USDT"}, {"symbol": "NEW"}]}
    seed = seeded(told("v2.getAssetsByChain", "/v1/getAssetsByChain", one, chain="KAS"))
    assert seed.unknown == ()
    assert seed.added.symbols == ["NEW"]
    assert {window["chain"] for window in seed.closed} == {"KAS"}


def test_v1_chains_are_out_that_are_not_active():
    chains = [
        {"name": one.v1_name, "isActive": one.v1_name != "ETH"} for one in CATALOG.v1_chains()
    ]
    path = "/open/v1/base/getSupportChains"
    [window] = windows(told("v1.getSupportChains", path, {"chains": chains}))
    assert window == ("ETH", None, "disabled")


CHAINS, SUPPORTED = "/v1/getChain", "/open/v1/base/getSupportChains"


def chains_called(*bsc):
    """Lists of both generations, in which BNB of the catalog is called so in that of 2.0."""
    others = [{"nickName": one.nickname} for one in CATALOG.chains if one.nickname != "BNB"]
    v1 = [{"name": one.v1_name, "isActive": True} for one in CATALOG.v1_chains()]
    return (
        told("v2.getChain", CHAINS, {"version": 1, "list": [*others, *bsc]}),
        told("v1.getSupportChains", SUPPORTED, {"version": 1, "chains": v1}),
    )


def names_in(url, path):
    with urllib.request.urlopen(url + path) as response:
        data = json.load(response)["data"]
    return {one.get("nickName") or one["name"] for one in data.get("list") or data["chains"]}


@pytest.mark.parametrize(
    ("bsc", "of_replay", "of_world"),
    [
        ({"nickName": "BSC"}, {"BSC"}, {"BSC"}),
        ({"nickName": "BSC", "network": "of-its-own"}, {"BSC"}, {"BSC"}),
        # Of two chains with one network a catalog can have one, under the name that it knows.
        ({"nickName": "BSC", "network": CATALOG.chain("BNB").network}, {"BSC"}, {"BNB"}),
        ({"nickName": "BNB"}, {"BNB"}, {"BNB"}),
    ],
)
def test_a_chain_that_the_service_calls_otherwise_in_2_0_stays_in_v1(
    tmp_path, bsc, of_replay, of_world
):
    kept = chains_called(bsc)
    file, recorded = tmp_path / "seeded.yaml", tmp_path / "kept.yaml"
    file.write_text(scenario_text(seeded(*kept), "seeded"))
    recorded.write_text(text_of(Recording("kept", "captured", kept, source="https://a.example")))
    v1 = {one.v1_name for one in CATALOG.v1_chains()}
    both = {"BNB", "BSC"}
    for replay, in_2_0 in (((recorded,), of_replay), ((), of_world)):
        with running(scenario=file, replay=replay, clock="frozen") as mock:
            assert names_in(mock.url, CHAINS) & both == in_2_0
            assert names_in(mock.url, SUPPORTED) == v1
            # An outage takes it from both lists by the name that it has there.
            control(mock.url, "/outages", {"chain": min(of_world), "mode": "delisted"})
            assert names_in(mock.url, SUPPORTED) == v1 - {"BSC"}


def test_a_chain_that_is_gone_is_gone_in_v1():
    listed, supported = chains_called()
    assert windows(listed, supported) == [("BNB", None, "delisted")]
    without = [one for one in CATALOG.v1_chains() if one.nickname != "BNB"]
    chains = {"chains": [{"name": one.v1_name} for one in without]}
    renamed, _ = chains_called({"nickName": "BSC"})
    seed = seeded(renamed, told("v1.getSupportChains", SUPPORTED, chains))
    assert [chain.get("v1") for chain in seed.added.chains] == [None]


def test_a_chain_whose_network_is_no_number_has_the_chain_id_0(tmp_path):
    file = tmp_path / "seeded.yaml"
    file.write_text(scenario_text(seeded(*chains_called({"nickName": "BSC"})), "seeded"))
    with running(scenario=file) as mock:
        asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}
        assert control(mock.url, "/chains/BSC", asked)["result"] == "0x0"
        assert control(mock.url, "/chains/ARB", asked)["result"] == "0xa4b1"


def swap(amount="2000000000000000000", **more):
    bnb = CATALOG.chain("BNB")
    usdt = CATALOG.placed(bnb, CATALOG.token("USDT")).contract.address
    asked = {
        "fromAmount": amount, "fromTokenAddress": usdt, "fromDecimal": "18",
        "fromChain": "BNB", "toTokenAddress": "0x" + "e" * 40, "toDecimal": "18", "toChain": "BNB",
    }  # fmt: skip
    data = {
        "chain": "56", "chainDecimal": 18, "aggregator": "Kyber", "outAmount": "4000000000000000",
        "outAmountUsd": "1.9", "minOutAmount": "", "serviceFee": "4000000000000", "gasFee": "0",
        "priceImpact": "-0.5", **more,
    }  # fmt: skip
    return told("v2.getAggregateQuote", "/v1/getAggregateQuote", data, **asked)


def test_a_recorded_swap_tells_the_prices_of_both_tokens():
    seed = seeded(swap())
    assert seed.rates.prices == {"USDT": Decimal("0.95"), "BNB": Decimal(475)}
    [quote] = seed.quotes["aggregate"]
    assert quote["gives"] == {
        "execution": "BNB", "aggregator": "Kyber", "out": "4000000000000000", "out_usd": "1.9",
        "service_fee": "4000000000000", "gas_fee": "0", "rate_bps": 10, "slippage_percent": "1",
        "price_impact_percent": "-0.5",
    }  # fmt: skip
    assert quote["assumed"] == ["gives.slippage_percent"]


def v1_quote(amount, out, fee, gas, **asked):
    query = {"amount": amount, "token": "USDT", "fromChain": "ETH", "toChain": "BSC", **asked}
    told_so = {"amountIn": amount, "amountOut": out, "fee": fee, "gas": gas, "tokenIn": "USDT"}
    path = "/open/v1/order/getCrossChainQuote"
    return told("v1.getCrossChainQuote", path, {"crossChain": told_so}, **query)


def test_a_recorded_v1_quote_is_answered_to_the_digit(tmp_path):
    seed = seeded(
        v1_quote("100.0", "95", "4", "1"),
        v1_quote("100", "97.123457", "2.5", "0.376543"),
        v1_quote("100", "96", "3", "1", feeLevel="2"),
        # What cannot be asked for, or is no quote of what was asked.
        v1_quote("0", "0", "0", "0"),
        v1_quote("1", "much", "0", "0"),
        v1_quote("1", "1", "0", "0", feeLevel="11"),
        v1_quote("1", "1", "0", "0", toChain="NOWHERE"),
        v1_quote("1.0000001", "1", "0", "0"),
    )
    assert len(seed.quotes["cross_chain"]) == 2
    file = tmp_path / "seeded.yaml"
    file.write_text(scenario_text(seed, "seeded"))
    world = World(load_scenario(file), lambda: 0)

    def asked(amount, level=0):
        one = world.quotes.cross_chain(
            Decimal(amount), *world.scenario.catalog.ends("USDT", "ETH", "BNB"), level
        )
        assert one.out_units == one.amount_out * 10**18
        return tuple(map(str, (one.amount_in, one.amount_out, one.fee, one.gas)))

    assert asked("100.0") == ("100", "97.123457", "2.5", "0.376543")
    assert asked("100", 2) == ("100", "96", "3", "1")
    # A near amount: its fee follows the rate, gas stays.
    assert asked("120") == ("120.000000", "116.623457", "3.000000", "0.376543")
    # Far away, and another fee level: prices and fees alone.
    for far in (asked("130"), asked("100", 1)):
        assert far[3] != "0.376543"


def test_an_order_that_nobody_here_can_read_is_named():
    one = exchange(
        "v2.submitOrder", "POST", "/v1/submitOrder", data={"id": "7"}, body={"toChain": "ARB"}
    )
    seed = seeded(one)
    assert seed.orders.known == []
    [sentence] = seed.orders.left_out
    assert "missing, it is required" in sentence


def test_orders_on_their_way_go_on_from_where_they_were_seen():
    body, sent = order(), {"Evmaddress": WALLET}
    submitted = exchange(
        "v2.submitOrder", "POST", "/v1/submitOrder", body=body, data={"id": "42"},
        removed=("Signature",),
    )  # fmt: skip
    request = replace(submitted.request, headers=Headers(tuple(sent.items())))
    submitted = replace(submitted, request=request)
    looks = [
        exchange(
            "v2.checkOrder",
            "GET",
            "/v1/checkOrder",
            query={"id": "42"},
            data={
                "status": status,
                "timestamp": 10**11,
                "execHash": "",
                "reason": why,
                "amountOut": "",
            },
            at_s=after,
        )
        for status, why, after in (
            ("Pending", "", 2),
            ("Lost", "", 3),
            ("Refunding", "no liquidity", 9),
        )
    ]
    seed = seeded(submitted, *looks)
    [known] = seed.orders.known
    assert (known["id"], known["ago"]) == ("42", "9s")
    assert known["steps"] == [
        {"status": "Pending", "after": "0ms"},
        {"status": "Refunding", "after": "9s", "reason": "no liquidity"},
        {
            "status": "Refunded",
            "after": "49s",
            "reason": "could not proceed, the deposit was refunded",
        },
    ]


def test_what_the_catalog_lacks_is_named(tmp_path):
    query = {"symbol": "NEWCOIN"}
    one = exchange("v2.getPrice", "GET", "/v1/getPrice", query=query, data={"price": "2"})
    assert seeded(one).unknown == ("NEWCOIN",)
    ended = CliRunner().invoke(_cli, ["world", "from-recording", "v2/getPrice"])
    assert ended.exit_code == 0
    assert "KAS: '0.11'" in ended.output


def test_what_a_recorded_chain_or_token_may_not_have_is_left_away_and_told(tmp_path):
    eth, usdt = CATALOG.chain("ETH"), CATALOG.token("USDT")
    chains = [
        *({"nickName": one.nickname} for one in CATALOG.chains),
        {
            "nickName": "NOVA", "chainIndex": eth.index, "network": "n", "decimals": -4, "poll": 5,
            "baseCoin": "NOVA",
        },
        {"nickName": "TWIN", "network": eth.network},
        {"nickName": "no name", "network": "m"},
    ]  # fmt: skip
    tokens = [
        {"symbol": "GLEAM", "index": usdt.index, "contracts": {
            "NOVA": {"address": "0x" + "e" * 40, "decimals": 18},
            "BNB": {"address": usdt.contracts["BNB"].address.upper(), "decimals": 18},
            "ETH": {"address": "0x" + "a" * 40, "decimals": 18, "burnable": "perhaps"},
            "ARB": {"address": "0x" + "a" * 40},
        }},
    ]  # fmt: skip
    seed = seeded(
        told("v2.getChain", "/v1/getChain", {"list": chains}),
        told("v2.getAssets", "/v1/getAssets", {"list": tokens}),
    )
    [chain], [token] = seed.added.chains, seed.added.assets
    assert chain["index"] not in {one.index for one in CATALOG.chains}
    assert (chain["poll"], "decimals" in chain) == (5, False)
    assert token["contracts"] == {"ETH": {"address": "0x" + "a" * 40, "decimals": 18}}
    told_of_it = "\n".join(seed.added.remarks)
    for words in (
        f"the index of chain 'NOVA' was recorded as {eth.index}",
        "chain 'TWIN', its network '1' is that of another chain",
        "'no name' is no nickname",
        "'GLEAM' on 'NOVA', the chain's own coin is 'NOVA' of 18 decimals",
        "'GLEAM' on 'BNB', 0X55D398326F99059FF775485246999027B3197955 is the address of another",
        "'GLEAM' on 'ARB', no recorded list shows its address and decimals",
        "the price of 'GLEAM' is 1 USD",
    ):
        assert words in told_of_it
    file = tmp_path / "seeded.yaml"
    file.write_text(scenario_text(seed, "seeded"))
    assert load_scenario(file).catalog.token("GLEAM").index == token["index"]


@pytest.mark.parametrize("address", ["native", "0x" + "e" * 40])
def test_the_coin_of_a_recorded_chain_is_the_token_that_its_lists_call_native(address):
    shown = {"symbol": "GLOW", "contracts": {"NOVA": {"address": address, "decimals": 9}}}
    seed = seeded(
        told("v2.getChain", "/v1/getChain", {"list": [{"nickName": "NOVA"}]}),
        told("v2.getAssets", "/v1/getAssets", {"list": [shown]}),
    )
    catalog = seed.added.catalog()
    chain = catalog.chain("NOVA")
    assert (chain.base_coin, chain.decimals) == ("GLOW", 9)
    assert catalog.token_on("NOVA", "GLOW").contract.native


def test_a_chain_that_only_v1_lists_show_is_added():
    chains: Any = [{"name": one.v1_name, "isActive": True} for one in CATALOG.v1_chains()]
    chains.append({"id": 90, "name": "OLD", "chainId": 909, "fullName": "Old", "isActive": False})
    tokens = [{"symbol": "RUST", "name": "Rust", "address": "0xab", "decimals": 7, "price": "3"}]
    seed = seeded(
        told("v1.getSupportChains", "/open/v1/base/getSupportChains", {"chains": chains}),
        told(
            "v1.getSupportTokens",
            "/open/v1/base/getSupportTokens",
            {"tokens": tokens},
            chain="OLD",
        ),
    )
    [chain], [token] = seed.added.chains, seed.added.assets
    assert (chain["nickname"], chain["network"], chain["v1"]) == (
        "OLD",
        "909",
        {"name": "OLD", "id": 90},
    )
    assert (chain["full_name"], chain["disabled"]) == ("Old", True)
    assert token["contracts"] == {"OLD": {"address": "0xab", "decimals": 7}}
    assert seed.rates.prices == {"RUST": Decimal(3)}


def test_outages_touch_orders_that_are_there_from_the_beginning(tmp_path):
    page = (ROOT / "docs" / "how-to" / "seed-a-world.md").read_text("utf-8")
    block, _ = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    file = tmp_path / "seeded.yaml"
    file.write_text(block.replace("ago: 3m", "ago: 12s"))
    world = World(load_scenario(file), lambda: 0)
    quoted = [
        world.quotes.bridge(amount, *world.scenario.catalog.ends("USDT", "ARB", "BNB"))
        for amount in AMOUNTS
    ]
    assert [one.gross for one in quoted] == [amount * 10**12 for amount in AMOUNTS]
    assert [one.service_fee for one in quoted] == [amount * 11 * 10**8 for amount in AMOUNTS]
    assert [one.gas_fee for one in quoted[:2]] == [721649484536082474] * 2
    assert [one.out_usd for one in quoted[:2]] == ["9.700000000000000000", "12.125000000000000000"]
    [known] = world.orders.all()
    assert (known.status, known.since_ms) == (Status.PENDING, -12_000)
    window = Window("BNB", None, 5_000, 9_000, in_flight=InFlight.FAIL)
    calm = world.fork()
    world.outages.suspend(window)
    for one, ended in ((world, Status.FAILED), (calm, Status.SUCCEEDED)):
        one.time.set(60_000)
        assert one.orders.peek("30000000001").status is ended
    assert calm.orders.peek("30000000001").amount_out == 9267350515463917526


AMOUNTS = (10_000_000, 12_500_000, 200_000_000)
"""As recorded, a near amount, and one that follows prices and fees alone."""


def answers_of_its_own(count):
    """A recording of a service with forms of its own: so many prices and balances."""
    exchanges = []
    for number in range(count):
        token = {"chain": f"C{number % 40}", "contractAddress": f"0x{number:040x}"}
        shown = {"value": number * 7919 % 10007, "kind": "abcdef"[number % 6]}
        asked = {**token, "symbol": f"T{number}"}
        exchanges.append(exchange("v2.getPrice", "GET", "/v1/getPrice", query=asked, data=shown,
                                  name=f"price-{number}", at_s=2 * number))  # fmt: skip
        asked = {**token, "address": f"0x{number % 9:040x}"}
        amount = {"amount": number * 104729 % 10009}
        exchanges.append(exchange("v2.getBalance", "GET", "/v1/getBalance",
                                  query=asked, data=amount,
                                  name=f"balance-{number}", at_s=2 * number + 1))  # fmt: skip
    recording = Recording("kept", "captured", tuple(exchanges), source="https://service.example")
    return [Source("kept.yaml", recording)]


def test_a_large_recording_makes_a_world_of_bounded_size_and_says_what_it_leaves_out():
    took = []
    for count in (200, 1600):
        sources = answers_of_its_own(count)
        began = time.process_time()
        seed = seed_of(sources)
        took.append(time.process_time() - began)
        remarks = "\n".join(seed.learned.remarks)
        [row] = seed.learned.templates["operations"]["v2.getPrice"]["answers"]
        left_out = f"{count - 200} of {count} answers of v2.getPrice, as no more than the last 200"
        assert (left_out in remarks) is (count > 200)
        assert row["body"]["data"]["value"]["rows"][-1][0] == [f"0x{count - 1:040x}"]
        assert len(row["body"]["data"]["value"]["rows"]) == 200
    # Eight times the exchanges are read in that much more time; what is tried with them is not.
    assert took[1] < 16 * took[0]
