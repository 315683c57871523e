"""From a service to a folder and back: recorded, served, learned from, and seen to drift."""

import json
import time
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner

from mockserver.cli import _cli
from mockserver.clock import ClockMode
from mockserver.conformance.comparison import Terms, compare
from mockserver.conformance.options import Options
from mockserver.contract import load
from mockserver.learning.register_evidence import evidence_of
from mockserver.learning.seeding import scenario_text, seed_of
from mockserver.recordings import gather
from mockserver.responders.replay import ReplayMode
from mockserver.scenarios import load_catalog
from tests.blind.rows import Example
from tests.blind.serve import blind_service
from tests.blind.tour import request_of
from tests.conftest import Client, frozen, running
from tests.recordings.conftest import Recorder, recording

OBSERVED = load("observed")
OTHER = """\
format: crosschain-mock/scenario@1
title: not as by default
extends: default
prices: {usd: {USDT: "0.97", KAS: "0.42"}}
fees: {bridge_bps: 11, v1_bps: 9, gas_usd: {BNB: "0.7"}}
"""


@pytest.fixture
def service(tmp_path):
    """Serve as the real service does; more options are those of settings."""
    file = tmp_path / "other.yaml"
    file.write_text(OTHER)

    def serve(**more):
        return running(
            frozen(**{"scenario": file, "dialect": "observed", "clock": ClockMode.AUTO, **more})
        )

    return serve


def flows(client):
    """Run both flows to their end, and return what a client keeps of them."""
    seen = {"price": client.operation("v2.getPrice").data["price"]}
    quote = client.operation("v2.getBridgeQuote").data
    seen |= {"out": quote["outAmount"], "fee": quote["serviceFee"], "gas": quote["gasFee"]}
    order = client.operation("v2.submitOrder").data["id"]
    seen["v2"] = settled(lambda: client.operation("v2.checkOrder", query={"id": order}).data)
    seen["v1 out"] = client.operation("v1.getCrossChainQuote").data["crossChain"]["amountOut"]
    serial = client.operation("v1.submitCrossChain").data["sn"]
    detail = "v1.getOrderDetailByHashAndEvmAddress"
    seen["v1"] = settled(lambda: client.operation(detail).data)
    return {**seen, "order": order, "serial": serial}


def settled(look):
    """Look until two answers are alike, as a client that polls does."""
    before, after = None, look()
    while after != before:
        before, after = after, look()
    return after


def test_from_recordings_alone_a_client_runs_both_flows_to_the_end(service, record):
    with service() as real:
        recorder = record("--arm-writes", url=f"http://127.0.0.1:{real.port}")
        client = Client(recorder.port, OBSERVED)
        lived = flows(client)
        client.close()
    sources = gather([recorder.folder])
    with service(scenario="default", replay=(recorder.folder,)) as second:
        assert "replaying" in second.service.replaying
        assert "not:" not in second.service.replaying
        assert flows(second.client) == lived
        example = OBSERVED.operation("v2.getBridgeQuote").row["example"]["query"]
        near = {**example, "amount": str(int(example["amount"]) * 1005 // 1000)}
        answer = second.client.operation("v2.getBridgeQuote", query=near)
        assert answer.data["outAmount"] == lived["out"]
        assert "; near amount=" in answer.headers["x-mock-source"]
    lesson = evidence_of(sources)
    assert [one.place for one in lesson.violated if one.place.startswith("data")] == []
    errata = {one.id: one for one in lesson.errata}
    assert errata["E-01"].supported_by
    assert not errata["E-01"].against
    told = {one.id: one for one in lesson.assumptions}
    assert {"A-026", "A-151", "A-015"} <= {name for name, one in told.items() if one.confirmed}
    # Usual names of chains are accepted under every alternative.
    assert "A-002" not in told
    # The clock of this service stands still, so that it takes what is old by that of the recorder.
    assert [name for name, one in told.items() if one.against] == ["A-212"]
    assert told["A-212"].alternative == "the timestamp is only signed"


def test_a_seeded_world_goes_on_where_the_recordings_end(service, record, tmp_path):
    swap = OBSERVED.operation("v2.getAggregateQuote").row["example"]["query"]
    lacking = tmp_path / "lacking.yaml"
    lacking.write_text(f'{OTHER}calendar: [{{chain: ETC, mode: delisted, at: "+0s"}}]\n')
    with service(scenario=lacking) as real:
        recorder = record("--arm-writes", url=f"http://127.0.0.1:{real.port}")
        client = Client(recorder.port, OBSERVED)
        lived = flows(client)
        chains = client.operation("v2.getChain").data["list"]
        swapped = client.operation("v2.getAggregateQuote", query=swap).data
        client.close()
    seeded = tmp_path / "seeded.yaml"
    seeded.write_text(scenario_text(seed_of(gather([recorder.folder])), "seeded"))
    with service(scenario=seeded) as second:
        ask = second.client.operation
        order = ask("v2.checkOrder", query={"id": lived["order"]}).data
        assert {**order, "timestamp": lived["v2"]["timestamp"]} == lived["v2"]
        one = lived["v1"]["order"]
        asked = {
            "chain": one["fromChain"],
            "hash": one["certHash"],
            "evmAddress": one["fromAddress"],
        }
        assert (
            ask("v1.getOrderDetailByHashAndEvmAddress", query=asked).data["order"]
            == lived["v1"]["order"]
        )
        listed = [item["nickName"] for item in ask("v2.getChain").data["list"]]
        assert listed == [item["nickName"] for item in chains]
        assert "ETC" not in listed
        assert ask("v2.getAggregateQuote", query=swap).data == swapped
        near = {**swap, "fromAmount": str(int(swap["fromAmount"]) * 11 // 10)}
        followed = ask("v2.getAggregateQuote", query=near).data
        assert int(followed["outAmount"]) == int(swapped["outAmount"]) * 11 // 10
        assert second.service.worlds.get("default").world.orders.count() == 2
        assert ask("v2.submitOrder").json["msg"] == "hash already used"


def test_near_quotes_of_a_seeded_world_follow_the_recorded_rates(service, record, tmp_path):
    with service() as real:
        recorder = record("--arm-writes", url=f"http://127.0.0.1:{real.port}")
        client = Client(recorder.port, OBSERVED)
        flows(client)
        example = OBSERVED.operation("v2.getBridgeQuote").row["example"]["query"]
        near = {**example, "amount": str(int(example["amount"]) * 7)}
        expected = real.client.operation("v2.getBridgeQuote", query=near).data
        client.close()
    seeded = tmp_path / "seeded.yaml"
    seeded.write_text(scenario_text(seed_of(gather([recorder.folder])), "seeded"))
    loose = ReplayMode(strict=False, counted=False)
    with service(scenario=seeded, replay=(recorder.folder,), replay_mode=loose) as second:
        answer = second.client.operation("v2.getBridgeQuote", query=near)
        assert "x-mock-source" not in answer.headers
        assert answer.data == expected


INVENTED = """\
catalog:
  chains:
  - nickname: NOVA
    full_name: Nova Chain
    index: 907
    network: "90700"
    base_coin: NOVA
    v1: {name: NOVAV1, id: 77}
    scan_url: https://nova.example
    confirmations: 9
    swap_proxy: "0x00000000000000000000000000000000000000aa"
    basis: assumed
    source: this test
  assets:
  - symbol: GLEAM
    name: Gleam
    index: 4321
    cmcid: 99
    contracts:
      NOVA: {address: "0x00000000000000000000000000000000000000a1", decimals: 8}
      BNB: {address: "0x00000000000000000000000000000000000000a2", decimals: 18}
    basis: assumed
    source: this test
  - symbol: USDT
    name: Tether USD
    index: 8
    contracts:
      NOVA: {address: "0x00000000000000000000000000000000000000a3", decimals: 6}
    basis: assumed
    source: this test
"""


def test_chains_and_tokens_that_nobody_ships_are_in_a_seeded_world(service, record, tmp_path):
    file = tmp_path / "invented.yaml"
    priced = OTHER.replace("{usd: {USDT", '{usd: {GLEAM: "2.5", USDT')
    assert priced != OTHER
    file.write_text(priced + INVENTED.replace("name: Tether USD\n    index: 8", tether()))
    ways = {
        "v2.getBridgeQuote": {
            "amount": "500000000", "symbol": "GLEAM", "fromChain": "NOVA", "toChain": "BNB",
        },
        "v2.getChain": {},
        "v2.getAssets": {},
        "v2.getPrice": {
            "symbol": "GLEAM",
            "chain": "NOVA",
            "contractAddress": "0x00000000000000000000000000000000000000a1",
        },
        "v1.getSupportChains": {},
    }  # fmt: skip
    with service(scenario=file) as real:
        recorder = record(url=f"http://127.0.0.1:{real.port}")
        client = Client(recorder.port, OBSERVED)
        lived = {name: client.operation(name, query=query).data for name, query in ways.items()}
        client.close()
        near = {**ways["v2.getBridgeQuote"], "amount": "550000000"}
        expected = real.client.operation("v2.getBridgeQuote", query=near).data
    assert {"NOVA"} <= {one["nickName"] for one in lived["v2.getChain"]["list"]}
    seeded = tmp_path / "seeded.yaml"
    command = ["world", "from-recording", str(recorder.folder), "-o", str(seeded)]
    ended = CliRunner().invoke(_cli, command)
    assert ended.exit_code == 0, ended.output
    for sentence in ("added chain 'NOVA'", "added token 'GLEAM'", "added to token 'USDT': NOVA"):
        assert sentence in ended.output
    assert "left out" not in ended.output
    with service(scenario=seeded) as second:
        for name, query in ways.items():
            assert second.client.operation(name, query=query).data == lived[name], name
        assert second.client.operation("v2.getBridgeQuote", query=near).data == expected


def tether():
    """What the shipped catalog says of USDT, as an asset that adds contracts repeats it."""
    token = load_catalog().token("USDT")
    return f"name: {token.name}\n    index: {token.index}"


def drifted(folder):
    """Return the only change of form between the recordings in two folders."""
    old, new = (str(folder / side) for side in ("old", "new"))
    [cause] = compare(old, new, Options(dialect="observed"), Terms(forms=True)).causes
    one = cause.occurrences[0].difference
    return (*cause.operations, cause.place, cause.kind, one.left, one.right)


def test_drift_finds_exactly_the_change_that_was_planted(service, tmp_path):
    example = OBSERVED.operation("v2.getBridgeQuote").row["example"]["query"]
    for side, breaks in (("old", ()), ("new", ("bridge-gas-fee-null",))):
        out = str(tmp_path / side)
        with service(breaks=breaks) as real:
            base = f"http://127.0.0.1:{real.port}"
            with recording("--out", out, "--upstream-v2", base) as (port, _):
                asked = Recorder(port, tmp_path / side)
                asked.call(target="/v1/getChain")
                asked.call(target=f"/v1/getBridgeQuote?{urlencode(example)}")
    assert drifted(tmp_path) == ("v2.getBridgeQuote", "data.gasFee", "type", "text", "null")


@pytest.mark.parametrize(("breaks", "contradicted"), [((), []), (("balance-negative",), ["A-022"])])
def test_learn_contradicts_what_the_service_does_otherwise(service, record, breaks, contradicted):
    with service(breaks=breaks) as real:
        recorder = record(url=f"http://127.0.0.1:{real.port}")
        for name in ("v2.getBalance", "v2.getPrice"):
            row = OBSERVED.operation(name).row
            recorder.call(target=f"{row['path']}?{urlencode(row['example']['query'])}")
    told = {one.id: one for one in evidence_of(gather([recorder.folder])).assumptions}
    assert [name for name, one in told.items() if one.against] == contradicted
    assert list(told["A-022"].against if breaks else told["A-022"].supported_by) == [
        "v2.getBalance.yaml#v2-get-balance"
    ]
    # Its time is a number, as erratum E-10 has it.
    assert told["A-023"].confirmed


def blind_flows(recorder, settled=None):
    """Run both flows with the examples of the second service; return each answer's status and body.

    Orders are looked at until they have come to the end, or to one that is given.
    """
    seen = {}
    for name in ("v2.getBridgeQuote", "v2.getAggregateQuote", "v2.getAggregateSwap"):
        seen[name] = asked(recorder, name)
    seen["v2.submitOrder"] = asked(recorder, "v2.submitOrder")
    order = json.loads(seen["v2.submitOrder"][1])["data"]["id"]
    seen["v2.checkOrder"] = looked(
        lambda: asked(recorder, "v2.checkOrder", id=order),
        lambda body: body["data"]["status"] == "Succeeded",
    )
    for name in ("v1.getCrossChainQuote", "v1.getTransferToMinterRaw", "v1.submitCrossChain"):
        seen[name] = asked(recorder, name)
    seen["v1.getOrderDetail"] = looked(
        lambda: asked(recorder, "v1.getOrderDetail", hash="0x" + "77" * 32),
        lambda body: body["data"]["order"]["status"] == 2,
    )
    return seen


def asked(recorder, operation, **inputs):
    """Send the usual request of an operation of the second service."""
    method, target, headers, body = request_of(Example(operation, inputs))
    status, _, answer = recorder.call(method, target, body or None, headers)
    assert status == 200, answer
    return status, answer


def looked(look, ended):
    """Look until an order has ended, as a client that polls does."""
    until = time.monotonic() + 60
    while True:
        status, body = look()
        if ended(json.loads(body)) or time.monotonic() > until:
            return status, body


def test_a_service_that_is_not_ours_is_recorded_and_served_again(record):
    lists = ("v2.getChain", "v2.getAssets", "v2.getAssetsByChain", "v1.getSupportChains")
    with blind_service() as url:
        recorder = record("--arm-writes", url=url)
        listed = {name: asked(recorder, name) for name in lists}
        lived = blind_flows(recorder)
    sources = gather([recorder.folder])
    assert b"Succeeded" in lived["v2.checkOrder"][1]
    assert json.loads(lived["v1.getOrderDetail"][1])["data"]["order"]["status"] == 2
    with running(frozen(replay=(recorder.folder,), clock=ClockMode.AUTO)) as second:
        assert "not:" not in second.service.replaying
        replayed = Recorder(second.port, recorder.folder)
        assert {name: asked(replayed, name) for name in lists} == listed
        assert blind_flows(replayed) == lived
        _, near = asked(replayed, "v2.getBridgeQuote", amount="12505000")
        assert near == lived["v2.getBridgeQuote"][1]
    lesson = evidence_of(sources)
    assert lesson.violated == ()
    told = {one.id: one for one in lesson.assumptions}
    # This service only verifies the timestamp: the examples have one of years ago, and it takes it.
    assert [name for name, one in told.items() if one.against] == ["A-212"]
    assert told["A-212"].alternative == "the timestamp is only signed"
    assert told["A-026"].confirmed


def test_drift_finds_the_change_of_a_service_that_is_not_ours(tmp_path):
    for side, faults in (("old", ()), ("new", ("bridge-gasFee-is-a-number",))):
        with (
            blind_service(faults) as url,
            recording("--out", str(tmp_path / side), "--upstream-v2", url) as (port, _),
        ):
            for name in ("v2.getChain", "v2.getBridgeQuote"):
                asked(Recorder(port, tmp_path / side), name)
    assert drifted(tmp_path) == ("v2.getBridgeQuote", "data.gasFee", "type", "text", "number")
