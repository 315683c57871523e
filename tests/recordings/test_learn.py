"""Learning: what recordings say of assumptions, errata and facts, and the overlay they propose."""

import json

import pytest
from click.testing import CliRunner

from mockserver.cli import _cli
from mockserver.contract import UnknownDialect, load
from mockserver.contract.load import ContractSource, source_for
from mockserver.errors import InvalidFile
from mockserver.learning.register_evidence import evidence_of
from mockserver.recordings import Recording, Source, gather, text_of
from tests.conftest import frozen, running
from tests.recordings.test_replay import exchange, quote


@pytest.fixture
def kept(tmp_path):
    """Write a recording, and return what is learned of it and where it lies."""

    def write(*exchanges):
        recording = Recording("kept", "captured", exchanges, source="https://service.example")
        path = tmp_path / "kept.yaml"
        path.write_text(text_of(recording), "utf-8")
        return path

    return write


def learned(*exchanges):
    recording = Recording("kept", "captured", exchanges, source="https://service.example")
    return evidence_of([Source("kept.yaml", recording)])


def by_id(evidence):
    return {one.id: one for one in evidence}


def price(**data):
    query = {"symbol": "KAS", "chain": "KAS", "contractAddress": "KAS"}
    whole = {"price": "1", "updateTime": "1767225600", "source": "x", **data}
    return exchange("v2.getPrice", "GET", "/v1/getPrice", query=query, data=whole)


def test_shipped_recordings_of_the_description_refute_nothing():
    lesson = evidence_of(gather(["v1", "v2"]))
    assert [one.id for one in lesson.assumptions if one.against] == []
    assert [one.id for one in lesson.errata if one.supported_by] == []
    assert (lesson.violated, lesson.unknown) == ((), ())
    assert "A-026" in by_id(lesson.assumptions)


def test_errata_of_the_field_are_seen_with_the_exchange():
    errata = by_id(evidence_of(gather(["observed"])).errata)
    assert list(errata["E-03"].supported_by) == ["observed/v1-flow.yaml#submitted"]
    assert "observed/v1-flow.yaml#tokens-of-a-chain" in errata["E-01"].supported_by
    assert not errata["E-01"].against


def test_an_erratum_is_contradicted_by_what_fits_the_description_only():
    errata = by_id(evidence_of(gather(["v1"])).errata)
    assert not errata["E-01"].supported_by
    assert errata["E-01"].against


def test_a_wrong_type_violates_the_description_and_names_the_exchange():
    [violated] = {one.place: one for one in learned(price(price=1)).violated}.values()
    assert (violated.operation, violated.place) == ("v2.getPrice", "data.price")
    assert violated.example == "kept.yaml#getprice-0"
    assert violated.basis.startswith("documented in section")


def test_an_assumption_is_refuted_with_the_exchange_and_the_reason():
    order = exchange(
        "v2.checkOrder", "GET", "/v1/checkOrder", query={"id": "7"},
        data={"status": "Succeeded", "amountOut": "9.7", "execHash": "", "reason": "",
              "timestamp": 1767225601},
    )  # fmt: skip
    lesson = learned(order)
    refuted = by_id(one for one in lesson.assumptions if one.against)
    [reason] = refuted["A-026"].against.values()
    assert list(refuted["A-026"].against) == ["kept.yaml#checkorder-0"]
    assert "no whole number of smallest units" in reason


def test_unknown_members_have_their_types_and_how_often_they_came():
    lesson = learned(price(price="1", age=3), quote("1", "2"))
    [member] = [one for one in lesson.unknown if one.operation == "v2.getPrice"]
    assert (member.place, member.types, member.seen) == ("data.age", ("number",), 1)


def test_the_overlay_is_taken_by_validate_conform_and_serve(kept, tmp_path):
    path, overlay = kept(price(price="1", age=3)), tmp_path / "learned.yaml"
    ended = CliRunner().invoke(
        _cli, ["recordings", "learn", str(path), "--json", "--overlay", str(overlay)]
    )
    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.output)["unknown"][0]["place"] == "data.age"
    assert CliRunner().invoke(_cli, ["validate", str(overlay)]).exit_code == 0
    options = ["--fail-on", "extra", "--recordings", str(path)]
    assert CliRunner().invoke(_cli, ["conform", *options]).exit_code == 1
    told = CliRunner().invoke(_cli, ["conform", *options, "--set", f"overlay={overlay}"])
    assert told.exit_code == 0, told.output
    checked = ["validate", "--against-contract", "--overlay", str(overlay), str(path)]
    assert CliRunner().invoke(_cli, checked).exit_code == 0
    with running(frozen(dialect=f"documented+{overlay}")) as mock:
        assert mock.client.contract.operation("v2.getPrice").data_schema["properties"]["age"]
        assert mock.client.get("/v1/getChain").data["list"]


def test_an_overlay_applies_the_errata_that_were_seen(tmp_path):
    overlay = tmp_path / "learned.yaml"
    overlay.write_text("format: crosschain-mock/overlay@1\nerrata: [E-01]\n")
    assert load(f"documented+{overlay}").generations["v1"].success_code == 200
    assert load().generations["v1"].success_code == 0


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("data.price", "is in the contract already; an overlay only adds"),
        ("data.nowhere.age", "stands in what it does not know; an overlay only adds"),
        ("data.list[].age", "does not know; an overlay only adds"),
    ],
)
def test_an_overlay_changes_nothing_that_is_there(tmp_path, place, words):
    overlay = tmp_path / "learned.yaml"
    overlay.write_text(
        "format: crosschain-mock/overlay@1\n"
        f"fields: [{{operation: v2.getPrice, place: '{place}', types: [number]}}]\n"
    )
    with pytest.raises(InvalidFile) as caught:
        load(f"documented+{overlay}")
    assert words in str(caught.value)


def test_members_of_items_and_branches_can_be_added(tmp_path):
    overlay = tmp_path / "learned.yaml"
    overlay.write_text(
        "format: crosschain-mock/overlay@1\n"
        "fields:\n"
        "- {operation: v2.getAssets, place: 'data.list[].age', types: [number]}\n"
        "- {operation: v2.getAssets, place: 'data.list[].contracts.*.age', types: [number]}\n"
    )
    item = {"index": 1, "name": "a", "symbol": "A", "age": "old"}
    contract = {"address": "0x" + "e" * 40, "decimals": 18, "age": "old"}
    body = {
        "code": 0, "msg": "success",
        "data": {"version": 1, "list": [{**item, "contracts": {"ARB": contract}}]},
    }  # fmt: skip
    violations = load(f"documented+{overlay}").operation("v2.getAssets").response_violations(body)
    assert sorted(".".join(map(str, one.path)) for one in violations) == [
        "data.list.0.age",
        "data.list.0.contracts.ARB.age",
    ]


def test_a_server_reads_no_overlay_that_it_was_not_started_with(tmp_path):
    overlay = tmp_path / "learned.yaml"
    overlay.write_text("format: crosschain-mock/overlay@1\n")
    with pytest.raises(UnknownDialect):
        ContractSource().contract(f"documented+{overlay}")
    with running(frozen()) as mock:
        body = {"key": "mine", "dialect": f"documented+{overlay}"}
        answer = mock.client.call("POST", "/__mock/worlds", body=body)
        assert answer.status == 400
        assert b"unknown dialect" in answer.raw
    assert source_for(f"documented+{overlay}").contract(f"documented+{overlay}")
