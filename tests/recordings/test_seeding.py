"""Scenarios made of recordings."""

from decimal import Decimal

from click.testing import CliRunner

from mockserver.cli import _cli
from mockserver.learning.seeding import scenario_text, seed_of
from mockserver.recordings import Recording, Source
from mockserver.scenarios import load_catalog, load_scenario
from tests.recordings.test_replay import exchange, quote

CATALOG = load_catalog()


def seeded(*exchanges):
    recording = Recording("kept", "captured", exchanges, source="https://service.example")
    return seed_of([Source("kept.yaml", recording)], CATALOG)


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
    assert seed.bridge_bps == 11
    assert seed.gas_usd == {"BNB": Decimal("0.3")}
    assert seed.prices == {"USDT": Decimal("0.5")}


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
    assert (seed.prices, seed.gas_usd, seed.bridge_bps) == ({}, {}, None)
    assert "prices" not in scenario_text(seed, "nothing")


def test_what_the_catalog_lacks_is_named(tmp_path):
    query = {"symbol": "NEWCOIN"}
    one = exchange("v2.getPrice", "GET", "/v1/getPrice", query=query, data={"price": "2"})
    assert seeded(one).unknown == {"NEWCOIN"}
    ended = CliRunner().invoke(_cli, ["world", "from-recording", "v2/getPrice"])
    assert ended.exit_code == 0
    assert "KAS: '0.11'" in ended.output
