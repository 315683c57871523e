"""Requests that are saved: a finding prints its line, and the line finds it again by itself."""

import json
import os
import subprocess
import sys

import pytest

from mockserver.conformance import UnsafeOrWrong, run
from mockserver.conformance.generation.stages import saved_line
from tests.blind.edits import boom, when
from tests.blind.rows import Row
from tests.blind.serve import blind_service

BRIDGE, V1_QUOTE = "v2.getBridgeQuote", "v1.getCrossChainQuote"
LONG = Row(
    "long",
    (BRIDGE,),
    "500 for long amounts",
    "2.3",
    after=when(lambda call: len(call.text("amount")) > 12, boom),
)


def findings(result, name):
    return [
        (outcome.operation.id, finding)
        for outcome in result.outcomes
        if outcome.rule.name == name
        for finding in outcome.findings
    ]


@pytest.fixture(scope="module")
def line():
    with blind_service(rows=[LONG]) as url:
        result = run(url, examples=20, edges=False, only=["generated-requests", BRIDGE])
    [(operation, finding), *_] = findings(result, "generated-requests")
    assert operation == BRIDGE
    return saved_line(finding.exchanges[-1])


def test_a_line_finds_again_what_chance_has_found(line, tmp_path):
    file = tmp_path / "probes.jsonl"
    file.write_text(f"# found in November\n\n{line}\n")
    with blind_service(rows=[LONG]) as url:
        again = run(url, examples=0, edges=False, delivery=False, probes=file, only="kept-requests")
    assert {name for name, _ in findings(again, "kept-requests")} == {BRIDGE}
    with blind_service() as url:
        mended = run(
            url, examples=0, edges=False, delivery=False, probes=file, only="kept-requests"
        )
    assert findings(mended, "kept-requests") == []
    assert [one.verdict.name for one in mended.outcomes] == ["HOLDS"]


def test_a_signed_request_is_kept_without_its_keys_and_signed_anew(tmp_path):
    file = tmp_path / "probes.jsonl"
    with blind_service() as url:
        result = run(url, examples=4, edges=False, only=["generated-requests", V1_QUOTE])
        lines = [saved_line(one) for one in result.exchanges if one.operation.id == V1_QUOTE]
        signed = [one for one in lines if one and json.loads(one).get("signed")]
        assert signed
        file.write_text("\n".join(signed))
        again = run(url, examples=0, edges=False, delivery=False, probes=file, only="kept-requests")
    secrets = {
        value
        for one in result.exchanges
        for name, value in one.request.headers.items_sent
        if name.lower() in ("appkey", "signature") and len(value) > 8
    }
    assert not any(secret in "".join(signed) for secret in secrets)
    asked = [one for one in again.exchanges if "/kept " in one.probe]
    assert len(asked) == len(signed)
    assert all(one.request.headers.get("signature") for one in asked)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no JSON", r"probes.jsonl:1: expected a JSON object"),
        ("[]", "expected an object with 'operation'"),
        ('{"operation": 7}', "operation is 7; expected operation"),
        ('\n{"operation": "v2.getPrice", "quary": ""}', r"probes.jsonl:2: quary is ''"),
        ('{"operation": "v2.getPrise"}', "has no operation 'v2.getPrise'.*did you mean"),
    ],
)
def test_a_line_that_is_none_is_told_before_anything_is_sent(text, told, tmp_path):
    file = tmp_path / "probes.jsonl"
    file.write_text(text)
    with pytest.raises(UnsafeOrWrong, match=told):
        run("http://127.0.0.1:9", probes=file)
    with pytest.raises(UnsafeOrWrong, match=r"the probes .* cannot be read"):
        run("http://127.0.0.1:9", probes=tmp_path / "nothing.jsonl")


@pytest.mark.deep
def test_the_suite_keeps_lines_in_the_database_of_hypothesis_and_follows_its_seed(tmp_path):
    def suite(url, *options):
        words = ["-p", "no:cacheprovider", "-q", "-k", f"requests-{BRIDGE}"]
        module = "mockserver.conformance.suite"
        # On the machines of CI Hypothesis has no database.
        elsewhere = {k: v for k, v in os.environ.items() if k not in ("CI", "GITHUB_ACTIONS")}
        return subprocess.run(
            [
                *(sys.executable, "-m", "pytest", *words, "--pyargs", module),
                *("--crosschain-mock-url", url, *options),
            ],
            cwd=tmp_path,
            env=elsewhere,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        ).stdout

    no_chance = ("--crosschain-mock-examples", "0")
    with blind_service(rows=[LONG]) as url:
        found = suite(url, "--crosschain-mock-examples", "20", "--hypothesis-seed", "5")
        assert "a line of --probes FILE" in found
        assert "seed 5" in found
        assert f"kept-requests-{BRIDGE}" in suite(url, *no_chance).partition("summary")[2]
    with blind_service() as url:
        assert "1 passed" in suite(url, *no_chance)
