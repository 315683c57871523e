"""The rules as pytest tests, and the fixture that judges a service in a project of its own."""

import json
import re
import subprocess
import sys

import pytest

from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.requests.all_probes import index_of
from mockserver.conformance.requests.probe import PLAIN
from mockserver.conformance.suite.cases import (
    RuleCase,
    all_cases,
    cases_of,
    rules_for,
)
from mockserver.conformance.suite.results import summary_lines
from mockserver.contract import load
from mockserver.testing import running

pytest_plugins = ["pytester"]

SUITE = ("--pyargs", "mockserver.conformance.suite")
PLANNED = (
    *("--crosschain-mock-edges", "no", "--crosschain-mock-delivery", "no"),
    *("--crosschain-mock-examples", "0"),
)
"""Without what is generated, which most tests here are not about, and which takes half the time."""
STRICT = ("-p", "no:cacheprovider", "-W", "error", "--strict-markers", "-q")


@pytest.fixture(scope="module")
def mock():
    with running(clock="auto") as mock:
        yield mock


@pytest.fixture
def suite(apart):
    """Run the suite in a folder of its own, against an address, with the planned requests alone."""

    def run(url, *arguments, plan=PLANNED):
        where = ("--crosschain-mock-url", url, *plan) if url else ()
        return apart("-m", "pytest", "-p", "crosschain_mock", *STRICT, *SUITE, *where, *arguments)

    return run


def sent_to(world):
    return len(world.journal)


@pytest.mark.deep(quick=1)
def test_a_healthy_service_passes_and_ids_are_rules_and_operations(suite, mock, tmp_path):
    report = tmp_path / "report.xml"
    with mock.world("healthy", refusals="allow") as world:
        ended = suite(world.base_url, "-rA", f"--junit-xml={report}")
        requests = sent_to(world)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    names = set(re.findall(r'name="test_conforms\[([^\]]+)\]"', report.read_text()))
    assert names == {case.id for case in all_cases()}
    assert "body-is-strict-json-v2.getBridgeQuote" in names
    told = re.search(r"(\d+) requests, submissions sent: 0", ended.stdout)
    assert told is not None
    assert int(told[1]) == requests
    assert re.search(r"SKIPPED .*not-applicable: .* needs --arm-writes", ended.stdout)


def test_a_violation_fails_with_all_that_a_reader_needs(suite, mock):
    with mock.world("broken", refusals="allow", breaks=("envelope-code-as-text",)) as world:
        ended = suite(world.base_url, "-k", "envelope-code and (getPrice or getChain)")
    assert ended.returncode == 1
    assert re.search(r"\b1 failed, 1 passed", ended.stdout)
    assert "violation: envelope-code [v2.getPrice]" in ended.stdout
    assert "contradicts section 2.1 (response envelope)" in ended.stdout
    assert re.search(r"^  curl .*/v1/getPrice", ended.stdout, re.MULTILINE)
    assert "Traceback" not in ended.stdout


def test_only_what_is_selected_is_asked_for(suite, mock):
    with mock.world("selected", refusals="allow") as world:
        ended = suite(world.base_url, "-k", "body-is-strict-json-v2.getPrice")
        requests = sent_to(world)
        lists = {"getChain", "getAssets", "getAssetsByChain", "getSupportChains"}
        asked = {entry.operation.partition(".")[2] for entry in world.journal}
    assert ended.returncode == 0, ended.stdout
    assert re.search(r"\b1 passed, \d+ deselected", ended.stdout)
    assert requests <= 20
    # The price that is asked for is that of a token that a quote was taken for.
    assert asked <= {*lists, "getSupportTokens", "getPrice", "getBridgeQuote"}


@pytest.mark.parametrize(
    ("name", "fault", "examples", "sequences"),
    [
        ("generated-requests-v2.getBridgeQuote", "get-bridge-quote-without-amount", 60, 0),
        # A stage like the one above, with other rules.
        pytest.param(
            *("sequence-of-reads-v2.getBridgeQuote", "quote-of-the-one-before", 1, 8),
            marks=pytest.mark.deep,
        ),
    ],
)
@pytest.mark.deep
def test_what_is_generated_has_tests_of_its_own(suite, mock, name, fault, examples, sequences):
    more = (f"--crosschain-mock-examples={examples}", f"--crosschain-mock-sequences={sequences}")
    with mock.world("generated", refusals="allow") as world:
        healthy = suite(world.base_url, "-k", name, *more, plan=())
    with mock.world("generated wrong", refusals="allow", breaks=(fault,)) as world:
        wrong = suite(world.base_url, "-k", name, *more, plan=())
    assert re.search(r"\b1 passed, \d+ deselected", healthy.stdout), healthy.stdout
    assert re.search(r"\b1 failed, \d+ deselected", wrong.stdout), wrong.stdout
    assert f"test_conforms[{name}]" in wrong.stdout


def test_what_is_not_generated_is_skipped_with_the_option_that_would(suite, mock):
    with mock.world("nothing generated", refusals="allow") as world:
        ended = suite(
            *(world.base_url, "-k", "generated-requests-v2.getPrice", "-rs"),
            "--crosschain-mock-examples=0",
        )
    assert "--crosschain-mock-examples" in ended.stdout
    assert re.search(r"\b1 skipped", ended.stdout)


@pytest.mark.deep
def test_workers_share_one_run_and_agree_on_ids(suite, mock):
    selected = [case for case in all_cases() if case.operation_id == "v2.getPrice"]
    plan = ("--crosschain-mock-examples", "0")
    with mock.world("parallel", refusals="allow") as world:
        ended = suite(
            world.base_url, "-k", "v2.getPrice", "-p", "xdist", "-n", "2", "-vv", plan=plan
        )
        requests = sent_to(world)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {"gw0", "gw1"} <= set(re.findall(r"\bgw\d", ended.stdout))
    assert f"{requests} requests, submissions sent: 0" in ended.stdout
    assert requests <= 250
    # What needs an option, such as edges or a deep run, is skipped.
    passed, skipped = (
        re.search(rf"\b(\d+) {word}", ended.stdout) for word in ("passed", "skipped")
    )
    assert passed is not None
    assert skipped is not None
    assert int(passed[1]) + int(skipped[1]) == len(selected)
    assert int(passed[1]) > 0.8 * len(selected)


@pytest.mark.deep
def test_a_difference_that_is_no_violation_passes_and_is_told(suite, mock):
    # A name that nobody documents: the rule about undocumented members is the one that minds.
    with mock.world("extra", refusals="allow", breaks=("allowed-extra-field",)) as world:
        selected = (world.base_url, "-k", "no-undocumented-members and (getPrice or getChain)")
        mild = suite(*selected)
        hard = suite(*selected, "--crosschain-mock-fail-on", "extra")
    assert mild.returncode == 0, mild.stdout
    assert re.search(r"^undocumented-extra: no-undocumented-members \[v", mild.stdout, re.MULTILINE)
    assert hard.returncode == 1
    assert "undocumented-extra: no-undocumented-members" in hard.stdout


@pytest.mark.deep
def test_strict_fails_what_could_not_be_judged(suite, mock):
    selected = ("-k", "body-is-strict-json-v2.getPrice", "--crosschain-mock-budget", "1")
    with mock.world("strict", refusals="allow") as world:
        mild = suite(world.base_url, *selected, "-rs")
        strict = suite(world.base_url, *selected, "--crosschain-mock-strict")
    assert (mild.returncode, strict.returncode) == (0, 1)
    assert "SKIPPED [1]" in mild.stdout
    assert "not-run: the budget of 1 request" in mild.stdout


def test_where_nobody_answers_no_run_is_green(suite, mock, dead_port):
    gone = f"http://127.0.0.1:{dead_port}"
    selected = ("-k", "body-is-strict-json and (getPrice or getSupportChains or submitOrder)")
    with mock.world("half", refusals="allow") as world:
        ended = suite(world.base_url, "--crosschain-mock-v1-url", gone, *selected)
    assert ended.returncode == 1
    assert f"{gone} does not answer as the service: nothing answers" in ended.stdout
    assert "1 failed, 1 passed, 1 skipped" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "ERROR: no service is named: give --crosschain-mock-url URL"),
        # The sentences below come from the same two places, which the command's tests reach too.
        pytest.param(
            ("--crosschain-mock-url", "nonsense"),
            "ERROR: 'nonsense' is no base address",
            marks=pytest.mark.deep,
        ),
        pytest.param(
            ("--crosschain-mock-url", "http://example.org"),
            "name it with --crosschain-mock-allow-host example.org",
            marks=pytest.mark.deep,
        ),
        (
            (
                *("--crosschain-mock-url", "http://example.org", "--crosschain-mock-arm-writes"),
                *("--crosschain-mock-allow-host", "example.org"),
            ),
            "again with --crosschain-mock-confirm-host example.org",
        ),
        (
            ("--crosschain-mock-url", "http://127.0.0.1:9", "--crosschain-mock-budget", "x"),
            "budget: expected a whole number from 1, got 'x'",
        ),
        pytest.param(
            ("--crosschain-mock-url", "http://127.0.0.1:9", "--crosschain-mock-fail-on", "x"),
            "fail-on: expected one of violation, observed, assumption, extra, got 'x'",
            marks=pytest.mark.deep,
        ),
    ],
)
@pytest.mark.deep(quick=1)
def test_what_could_not_be_sent_is_one_sentence(suite, arguments, words):
    ended = suite(None, *arguments)
    assert ended.returncode == 4
    told = ended.stdout + ended.stderr
    assert words in told
    assert len(told.strip().splitlines()) == 1


def test_ids_are_listed_without_a_service(suite):
    ended = suite(None, "--collect-only")
    assert ended.returncode == 0, ended.stdout
    assert f"{len(all_cases())} tests collected" in ended.stdout


@pytest.mark.deep
def test_addresses_come_from_the_ini_file_and_from_the_environment(apart, mock, tmp_path):
    with mock.world("named", refusals="allow") as world:
        (tmp_path / "pytest.ini").write_text(
            f"[pytest]\ncrosschain_mock_v2_url = {world.base_url_v2}\n"
        )
        arguments = ("-m", "pytest", "-p", "crosschain_mock", *STRICT, *SUITE, "-rs")
        ended = apart(*arguments, "-k", "media-type-is-json and getPrice or getSupportChains")
    assert "not-run: no base address is given for v1" in ended.stdout
    assert re.search(r"\b1 passed", ended.stdout)


@pytest.mark.deep
def test_the_environment_of_the_run_command_names_the_service(tmp_path, apart):
    ended = apart(
        *("-m", "mockserver", "run", "--no-check", "--", sys.executable, "-m", "pytest", "-p"),
        *("crosschain_mock", *STRICT, *SUITE, *PLANNED, "-k", "media-type-is-json and getPrice"),
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"\d+ passed", ended.stdout)


def test_a_rule_is_narrowed_to_what_is_selected():
    rule = next(rule for rule in RULES if PLAIN in rule.probes)
    every = cases_of((rule,))
    assert rules_for(every, every) == (rule,)
    [narrowed] = rules_for([RuleCase(rule, "v2.getPrice")], every)
    assert narrowed.operations == ("v2.getPrice",)
    assert index_of(load()).names(narrowed.probes) == ("v2.getPrice/usual",)


def test_case_ids_are_unique():
    ids = [case.id for case in all_cases()]
    assert len(ids) == len(set(ids))


def test_the_summary_puts_one_cause_of_several_operations_in_a_line():
    runs = [
        json.dumps(
            {"target": ["http://x"], "seed": 1, "requests": n, "submissions": 0, "notes": []}
        )
        for n in (3, 1)
    ]
    differences = [
        json.dumps({"cause": c, "verdict": "v", "rule": "r", "operation": o, "message": "m"})
        for c, o in (("1", "a"), ("1", "b"), ("2", "a"))
    ]
    assert list(summary_lines(runs, differences)) == [
        "http://x (seed 1): 4 requests, submissions sent: 0",
        "v: r [a, b]: m",
        "v: r [a]: m",
    ]


GATEWAY = """
import pytest

@pytest.mark.crosschain_mock(refusals="allow", clock="auto"{breaks})
def test_my_gateway_conforms(crosschain_conformance, crosschain_mock):
    result = crosschain_conformance(
        crosschain_mock.base_url,
        only=["schema", "protocol"],
        edges=False,
        delivery=False,
        examples=0,
    )
    assert result.submissions == 0
    result.assert_conforms()
"""


def test_the_fixture_judges_a_service_of_the_users_own(project):
    project(GATEWAY.format(breaks="")).assert_outcomes(passed=1)


def test_the_fixture_names_the_causes(project):
    ended = project(GATEWAY.format(breaks=', breaks=("envelope-code-as-text",)'))
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines(
        [
            "*DoesNotConform: http://127.0.0.1:*: does not conform: * cause*",
            "*violation: envelope-code ?*v2.getPrice*",
            "*contradicts section 2.1 (response envelope)*",
            "*curl *",
        ]
    )
    ended.stdout.no_fnmatch_line("*def assert_conforms*")


def test_the_fixture_takes_its_settings_from_options(project, mock):
    with mock.world("by-option", refusals="allow") as world:
        source = """
def test_it(crosschain_conformance):
    result = crosschain_conformance(only=["schema"], edges=False, delivery=False, examples=0)
    print("told", result.seed, *result.target.bases.values())
"""
        given = ("-s", "--crosschain-mock-url", world.base_url, "--crosschain-mock-seed", "7")
        ended = project(source, *given)
        ended.stdout.fnmatch_lines([f"*told 7 {world.base_url} {world.base_url}"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("()", "no address is given*"),
        ("(8080)", "an address is a text as in 'http://127.0.0.1:8080', got 8080"),
        ("('http://example.org')", "'example.org' is not this machine*"),
        ("('http://127.0.0.1:9', onli=['schema'])", "'onli' is no option of a run; did you mean*"),
    ],
)
def test_a_wrong_call_is_a_sentence(project, call, words):
    ended = project(f"def test_it(crosschain_conformance):\n    crosschain_conformance{call}\n")
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines([words])


def test_importing_the_package_costs_nothing():
    heavy = ["aiohttp", "yaml", "jsonschema", "click", "rich", "mockserver.contract"]
    script = (
        "import sys, mockserver.conformance as c\n"
        f"assert not [name for name in {heavy!r} if name in sys.modules]\n"
        "assert set(c.__all__) <= set(dir(c))\n"
        "assert all(getattr(c, name).__doc__ for name in c.__all__)\n"
        "assert 'mockserver.contract' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)
