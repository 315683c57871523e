"""Recordings held against the contract and judged by the rules, without a request."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from mockserver.cli import _cli
from mockserver.conformance import run
from mockserver.conformance.options import Options
from mockserver.conformance.runs.offline import run_recorded
from mockserver.conformance.verdict import Verdict
from mockserver.contract import load
from mockserver.http_messages import Response
from mockserver.recordings import RecordedExchange, Recording, Source, gather, text_of
from mockserver.recordings import load as load_recording
from mockserver.responders.contract_breaches import breaches
from mockserver.signing.keyring import DEMO_APP_KEY
from mockserver.testing import running as server
from tests.conftest import frozen, running
from tests.recordings.test_replay import TAKEN, exchange, quote, submitted


def recorded(*exchanges, **more):
    recording = Recording("kept", "captured", exchanges, source="https://service.example", **more)
    return Source("kept.yaml", recording)


def command(*words):
    return CliRunner().invoke(_cli, list(words))


@pytest.fixture
def file(tmp_path):
    """Write a recording to a file."""

    def write(*exchanges):
        path = tmp_path / "kept.yaml"
        path.write_text(text_of(recorded(*exchanges).recording), "utf-8")
        return str(path)

    return write


def test_shipped_recordings_break_no_rule():
    result = run_recorded(gather(["v1", "v2"]))
    assert [one.id for one in result.outcomes if one.findings] == []
    assert result.counts[Verdict.HOLDS] > 300
    assert result.requests == 0
    assert result.exit_code() == 0


def test_a_rule_finds_in_a_recording_what_it_finds_in_a_service():
    wrong = quote("10000000", "9700000000000000000")
    broken = wrong.answered(
        type(wrong.response)(200, (), wrong.response.body.replace(b'"gasFee": "2"', b'"gasFee": 2'))
    )
    result = run_recorded([recorded(broken)])
    found = [one for one in result.outcomes if one.verdict is Verdict.VIOLATION]
    assert "data.gasFee" in {finding.place for one in found for finding in one.findings}
    assert result.exit_code() == 1
    assert result.target.v2 == "https://service.example"
    assert result.target.v1 is None


def test_what_a_recorder_took_out_is_no_fault_of_the_service():
    order = submitted()
    assert order.removed == TAKEN
    result = run_recorded([recorded(order)])
    assert [one.id for one in result.outcomes if one.findings] == []
    contract = load()
    assert list(breaches(recorded(order).recording, contract)) == []
    bare = recorded(replace(order, removed=())).recording
    assert any("Evmaddress" in message for *_, message in breaches(bare, contract))


@pytest.mark.parametrize(
    ("masked", "is_blamed"),
    [
        ("response.body.data.amountOut", False),
        ("response.body.data", False),
        ("response.body.data.amount", True),
        ("request.body.data.amountOut", True),
    ],
)
def test_what_is_masked_is_not_blamed(masked, is_blamed):
    [order] = [
        each
        for source in gather(["v2/checkOrder"])
        for each in source.recording.exchanges
        if each.name == "succeeded"
    ]
    body = re.sub(rb'"amountOut":"[0-9]*"', b'"amountOut":"red.acted"', order.response.body)
    broken = replace(order, response=replace(order.response, body=body))
    hidden = replace(broken, masked=((masked, "name"),))
    blamed = [
        [finding.place for outcome in run_recorded([recorded(each)]).outcomes
         for finding in outcome.findings]
        for each in (broken, hidden)
    ]  # fmt: skip
    assert "data.amountOut" in blamed[0]
    assert ("data.amountOut" in blamed[1]) is is_blamed


def test_a_recorded_run_is_judged_as_the_run_was():
    layers = ("schema", "exchange")
    with running(frozen()) as mock:
        lived = run(f"http://127.0.0.1:{mock.port}", only=layers, examples=0, delivery=False)
    exchanges = tuple(
        RecordedExchange(
            f"n{one.number}",
            one.operation.id,
            one.request,
            Response(one.answer.status, one.answer.headers, one.answer.body),
            "captured",
        )
        for one in lived.exchanges
    )
    again = run_recorded([recorded(*exchanges)], Options(only=layers))
    was = {one.id: one.verdict for one in lived.outcomes}
    now = {one.id: one.verdict for one in again.outcomes}
    # What the run was not let to ask is not there to be judged.
    unasked = (now[name] for name, one in was.items() if one is Verdict.NOT_APPLICABLE)
    assert set(unasked) <= {Verdict.NOT_APPLICABLE, Verdict.NOT_RUN}
    other = {
        name: verdict
        for name, verdict in now.items()
        if verdict != was[name] and was[name] is not Verdict.NOT_APPLICABLE
    }
    # A request that two probes have in common was recorded once.
    assert {name: one for name, one in other.items() if one is not Verdict.NOT_RUN} == {}
    assert len(other) < len(now) / 50


def test_a_second_request_of_a_path_is_none_of_a_path_that_is_unknown():
    chains = next(
        one
        for source in gather(["v2/getChain"])
        for one in source.recording.exchanges
        if b'"code":0' in one.response.body
    )
    result = run_recorded([recorded(*(replace(chains, name=f"n{number}") for number in range(4)))])
    verdicts = {one.id: one.verdict for one in result.outcomes}
    assert verdicts["unknown-path-is-no-success[v2.getChain]"] is Verdict.NOT_RUN
    assert [one.id for one in result.outcomes if one.findings] == []


@pytest.mark.deep
def test_a_recorded_run_whose_requests_were_stamped_anew_is_judged_as_the_run_was(tmp_path):
    journal = tmp_path / "run.jsonl"
    only = ("exchange",)
    with server(clock="real", stamps="world") as mock:
        lived = run(mock.url, only=only, journal=str(journal), examples=0, delivery=False)
    done = command("recordings", "import", str(journal), "--out", str(tmp_path / "kept"))
    assert done.exit_code == 0
    again = run_recorded(gather([str(tmp_path / "kept")]), Options(only=only))
    now = {one.id: one.verdict for one in again.outcomes}
    held = [one for one in lived.outcomes if one.verdict is Verdict.HOLDS]
    stamped = ("v1.getTransferToMinterRaw", "v1.getCrossChainQuote")
    was = [one.id for one in held if one.operation.id in stamped]
    assert len(was) >= 10
    other = {name: now[name] for name in was if now[name] is not Verdict.HOLDS}
    # A time that is wrong on purpose counts from the time of the run, which nobody kept.
    assert other == {"refuses-wrong-form[v1.getCrossChainQuote]": Verdict.NOT_RUN}


def test_no_recorded_success_is_taken_for_one_of_a_false_signature(tmp_path, monkeypatch):
    journal, kept = str(tmp_path / "run.jsonl"), str(tmp_path / "kept")
    plain = "v1-output-grows-with-input"
    with server(clock="auto", app_keys=(("K", "S"),)) as mock:
        run(mock.url, only=plain, journal=journal, examples=0, app_key="K", app_secret="S")  # noqa: S106
    command("recordings", "import", journal, "--out", kept)
    monkeypatch.setenv("CROSSCHAIN_MOCK_APP_KEY", "K")
    monkeypatch.setenv("CROSSCHAIN_MOCK_APP_SECRET", "S")
    ended = command("conform", "--recordings", kept, "--only", "refuses-false-signatures")
    assert ended.exit_code == 3, ended.output
    assert "keys and signatures are not recorded: refuses-false-signatures[v1" in ended.output
    ended = command("conform", "--recordings", kept, "--only", plain)
    assert ended.exit_code == 0, ended.output


def test_submissions_with_masked_secrets_are_judged_as_the_run_was(tmp_path):
    journal = tmp_path / "run.jsonl"
    only = ("same-deposit-is-one-order", "refuses-the-unlisted", "order-ids-are-unique")
    with server(clock="auto") as mock:
        lived = run(
            mock.url, only=only, arm_writes=True, journal=str(journal), examples=0, delivery=False
        )
    command("recordings", "import", str(journal), "--out", str(tmp_path / "kept"))
    again = run_recorded(gather([str(tmp_path / "kept")]), Options(only=only))
    now = {one.id: one.verdict for one in again.outcomes}
    held = [one.id for one in lived.outcomes if one.verdict is Verdict.HOLDS]
    assert "same-deposit-is-one-order[v2.submitOrder]" in held
    assert {name: now[name] for name in held if now[name] is not Verdict.HOLDS} == {}


def test_the_command_reports_as_ever_and_refuses_what_sends(file, tmp_path):
    kept = file(quote("10000000", "9700000000000000000"))
    report = tmp_path / "report.json"
    ended = command("conform", "--recordings", kept, "--report", f"json={report}")
    assert ended.exit_code == 0, ended.output
    assert "recorded exchanges judged: 1; nothing was sent" in ended.output
    assert json.loads(report.read_text())
    for words in (
        ["http://127.0.0.1:1"],
        ["--arm-writes"],
        ["--examples", "3"],
        ["--journal", "x"],
    ):
        refused = command("conform", *words, "--recordings", kept)
        assert refused.exit_code != 0
        assert "--recordings" in str(refused.exception)


def test_validate_holds_exchanges_against_the_contract(file):
    good = file(quote("10000000", "9700000000000000000"))
    assert command("validate", "--against-contract", good).exit_code == 0
    wrong = file(quote("10000000", "97", raw='{"code":0,"msg":"success","data":{}}'))
    assert command("validate", wrong).exit_code == 0
    ended = command("validate", "--against-contract", wrong)
    assert ended.exit_code == 1
    assert "kept.yaml:" in ended.output
    assert "exchanges[0].response: getbridgequote-0: data.outAmount: missing" in ended.output


def test_a_wrong_request_counts_only_where_it_was_taken(file):
    path, query = "/v1/getBridgeQuote", {"amount": "ten"}
    refused = exchange("v2.getBridgeQuote", "GET", path, query=query, raw='{"code":3,"msg":"no"}')
    assert command("validate", "--against-contract", file(refused)).exit_code == 0
    taken = exchange("v2.getPrice", "GET", "/v1/getPrice", data={"price": "1"})
    ended = command("validate", "--against-contract", file(taken))
    assert "was taken although" in ended.output


def test_an_operation_that_no_dialect_has_is_refused_by_plain_commands_too(file):
    observed = exchange("v2.getVaultAddress", "GET", "/v1/getVaultAddress", data={})
    kept = file(observed)
    for words in (("validate",), ("recordings", "simulate", "--check")):
        assert command(*words, kept).exit_code == 0
    assert command("validate", "--dialect", "documented", kept).exit_code == 2
    misspelt = file(quote("1", ""), replace(observed, operation="v2.getVaultAdress"))
    told = "exchanges[1].operation: 'v2.getVaultAdress' is no operation; did you mean"
    assert told in command("validate", misspelt).output
    assert told in str(command("recordings", "simulate", misspelt).exception)


def test_many_complaints_are_cut_and_counted(file):
    wrong = quote("10000000", "97", raw='{"code":0,"msg":"success","data":{}}')
    kept = file(*[replace(wrong, name=f"n-{number}") for number in range(70)])
    lines = command("validate", "--against-contract", kept).output.splitlines()
    recording = load_recording(Path(kept))
    every = list(breaches(recording, load("documented")))
    assert len(lines) == 1 + 50 + 1
    assert lines[-1] == f"and {len(every) - 50} more"
    text = Path(kept).read_text("utf-8").replace("status: 200", "status: none")
    Path(kept).write_text(text, "utf-8")
    for words in (("validate",), ("recordings", "learn")):
        ended = command(*words, kept)
        told = (ended.output + str(ended.exception)).splitlines()
        assert any(line.startswith("and 20 more") for line in told)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"format":"crosschain-mock/run@1","seed":1}\n{"probe":"x"}\n', "the journal of a run of"),
        ('{"sequence":1}\n{"sequence":2}\n', "a journal of the mock; `crosschain-mock recordings"),
        ('{"last":1,"entries":[]}', "a journal of the mock; `crosschain-mock recordings import`"),
        ('{\n  "log": {"entries": []}}', "a HAR file; `crosschain-mock recordings import` makes"),
        ('{"mappings": []}', "a file of WireMock mappings; `crosschain-mock recordings import`"),
        ("interactions: []\n", "a cassette of VCR.py; `crosschain-mock recordings import` makes"),
        ("PK\3\4\xff", "if it is a capsule, `crosschain-mock capsule replay` reads it"),
        (
            '{"format": "crosschain-mock/world@1"}',
            "the dump of a world; `crosschain-mock world load",
        ),
        ("format: crosschain-mock/scenario@1\n", "got 'crosschain-mock/scenario@1'"),
        ("a: 1\n", "expected one of crosschain-mock/recording@2, got None"),
    ],
)
def test_a_file_of_another_use_is_called_so(tmp_path, content, says):
    given = tmp_path / "given"
    given.write_bytes(content.encode("latin-1"))
    for words in (("conform", "--recordings"), ("recordings", "learn")):
        assert says in str(command(*words, str(given)).exception)


def test_a_page_and_an_operation_nobody_knows_are_named(file):
    page = quote("1", "", raw="<p>", status=502)
    lost = exchange("v2.getVaultAddress", "GET", "/v1/getVaultAddress", data={})
    ended = command("validate", "--against-contract", file(page, lost))
    assert "the answer is no JSON" in ended.output
    assert "the dialect 'documented' has no operation 'v2.getVaultAddress'" in ended.output
    assert DEMO_APP_KEY not in ended.output
