"""The plugin inside pytest: what passes, what fails, and what the report says then."""

import pytest

pytest_plugins = ["pytester"]


def test_each_test_has_a_world_of_its_own_named_after_it(project):
    result = project(
        """
@pytest.mark.parametrize("turn", ["a", "b"])
def test_it(crosschain_mock, turn):
    assert crosschain_mock.key == f"test_project.py-test_it-{turn}"
    assert crosschain_mock.journal == ()
    assert crosschain_mock.clock.now.isoformat() == "2026-01-01T00:00:00+00:00"
    assert get(crosschain_mock, "/v1/getChain")["data"]["version"] == 1
    crosschain_mock.clock.advance(minutes=5)
    crosschain_mock.suspend("BNB", mode="delisted")
    assert get(crosschain_mock, "/v1/getChain")["data"]["version"] == 2

def test_nothing_is_left(crosschain_mock_server):
    assert [hosted.key for hosted in crosschain_mock_server.locked.service.worlds] == ["default"]
"""
    )
    result.assert_outcomes(passed=3)


def test_an_unexpected_refusal_fails_the_test_with_its_journal(project):
    result = project(
        """
def test_it(crosschain_mock):
    refused(crosschain_mock)
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "unexpected refusal: unknown-order: query parameter 'id': order '7' does not exist*",
            "  of request 1: GET /v1/checkOrder?id=7",
            "*crosschain_mock journal of test_project.py-test_it*",
            "1. 2026-01-01T00:00:00Z GET /v1/checkOrder?id=7",
            "   answered 200 *",
            "   refused  unknown-order: *",
        ]
    )


def test_a_refusal_that_was_expected_or_allowed_passes(project):
    result = project(
        """
def test_expected(crosschain_mock):
    with crosschain_mock.expect_refusal("unknown-order"):
        refused(crosschain_mock)

@pytest.mark.crosschain_mock(refusals="allow")
def test_allowed(crosschain_mock):
    refused(crosschain_mock)

def test_stubbed(crosschain_mock):
    crosschain_mock.stub("checkOrder", refusal="unknown-order")
    refused(crosschain_mock)

def test_of_an_outage(crosschain_mock):
    crosschain_mock.suspend("BNB")
    get(crosschain_mock, "/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB")
"""
    )
    result.assert_outcomes(passed=4)


def test_an_unused_stub_fails_the_test(project):
    result = project(
        """
def test_it(crosschain_mock):
    crosschain_mock.stub("getPrice", refusal="no-price")
    get(crosschain_mock, "/v1/getChain")
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["stub '1' was not used up: expected v2.getPrice once, *never*"])


def test_a_defect_of_the_mock_fails_the_test(project):
    result = project(
        """
import urllib.error

def test_it(crosschain_mock):
    with crosschain_mock.hosted() as hosted:
        kept, hosted.stubs = hosted.stubs, None
    with pytest.raises(urllib.error.HTTPError):
        get(crosschain_mock, "/v1/getChain")
    with crosschain_mock.hosted() as hosted:
        hosted.stubs = kept
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the mock failed: internal-error: *", "  at request 1: GET*"])


def test_a_failure_of_the_test_itself_shows_the_journal_and_what_else_was_wrong(project):
    result = project(
        """
def test_it(crosschain_mock):
    refused(crosschain_mock)
    assert "this" == "that"
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError*",
            "*crosschain_mock complaints*",
            "unexpected refusal: unknown-order*",
            "*crosschain_mock journal*",
        ]
    )


def test_what_comes_after_the_test_is_judged_as_well(project):
    result = project(
        """
@pytest.fixture
def wallet(crosschain_mock):
    yield
    refused(crosschain_mock)

def test_it(wallet):
    pass
"""
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["after the test: unexpected refusal: unknown-order*"])


def test_a_test_that_passes_shows_nothing(project):
    result = project(
        """
def test_it(crosschain_mock):
    get(crosschain_mock, "/v1/getChain")
"""
    )
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*journal*")


SEES = """
def test_it(crosschain_mock):
    with crosschain_mock.hosted() as hosted:
        print(
            "sees", hosted.world.scenario.name, hosted.world.scenario.seed,
            hosted.contract.dialect.name, crosschain_mock.clock.mode, crosschain_mock.clock.now.year
        )
"""


def test_settings_come_from_options_before_ini_keys(project, pytester):
    pytester.makeini(
        "[pytest]\ncrosschain_mock_scenario = outage\ncrosschain_mock_seed = 5\n"
        "crosschain_mock_clock = auto\n"
    )
    given = ["--crosschain-mock-seed", "7", "--crosschain-mock-dialect", "observed"]
    start = ["--crosschain-mock-start", "2030-01-01T00:00:00Z"]
    result = project(SEES, "-s", *given, *start)
    result.stdout.fnmatch_lines(["*sees outage 7 observed auto 2030"])


def test_a_scenario_s_own_start_is_kept_and_a_clock_of_its_own_is_not(project, pytester):
    pytester.makefile(
        ".yaml",
        mine="format: crosschain-mock/scenario@1\ntitle: mine\nextends: default\n"
        "clock:\n  mode: real\n  start: 2028-01-01T00:00:00Z\n",
    )
    result = project(SEES, "-s", "--crosschain-mock-scenario", "./mine.yaml")
    result.stdout.fnmatch_lines(["*sees mine 1 documented frozen 2028"])


def test_a_file_stays_the_same_one_wherever_pytest_starts_and_tests_work(
    project, pytester, monkeypatch
):
    scenario = "format: crosschain-mock/scenario@1\ntitle: mine\nextends: default\nseed: "
    pytester.makefile(".yaml", mine=f"{scenario}5\n", typed=f"{scenario}6\n")
    pytester.makeini("[pytest]\ncrosschain_mock_scenario = ./mine.yaml\n")
    below = pytester.mkdir("below")
    moves = """
@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

@pytest.mark.crosschain_mock(clock="auto")
"""
    result = project(moves + SEES.lstrip(), "-s", "--crosschain-mock-scenario", "./typed.yaml")
    result.stdout.fnmatch_lines(["*sees typed 6 documented auto 2026"])
    monkeypatch.chdir(below)
    result = pytester.runpytest_inprocess("-p", "crosschain_mock", "-s", "..")
    result.stdout.fnmatch_lines(["*sees mine 5 documented auto 2026"])


def test_files_of_a_run_are_those_beside_the_ini_file(project, pytester, monkeypatch):
    pytester.makefile(".jsonl", kept='{"operation": "v2.getChain", "query": ""}\n')
    pytester.makeini("[pytest]\ncrosschain_mock_probes = kept.jsonl\n")
    monkeypatch.chdir(pytester.mkdir("below"))
    source = """
@pytest.mark.crosschain_mock(refusals="allow")
def test_it(crosschain_mock, crosschain_conformance):
    result = crosschain_conformance(
        crosschain_mock.base_url, only="kept-requests", edges=False, delivery=False, examples=0
    )
    result.assert_conforms()
    crosschain_mock.verify("v2.getChain", at_least=1)
"""
    result = project(source, "..")
    result.assert_outcomes(passed=1)


def test_markers_change_settings_the_closest_one_last(project):
    result = project(
        """
pytestmark = pytest.mark.crosschain_mock(scenario="outage", seed=3)

@pytest.mark.crosschain_mock(seed=4, clock="auto", dialect="observed")
"""
        + SEES.lstrip(),
        "-s",
    )
    result.stdout.fnmatch_lines(["*sees outage 4 observed auto 2026"])


def test_the_marker_of_a_parameter_is_closer_than_that_of_the_test(project):
    result = project(
        """
@pytest.mark.crosschain_mock(scenario="slow", seed=3)
@pytest.mark.parametrize("seed", [
    3, pytest.param(9, marks=[pytest.mark.crosschain_mock(seed=9)])
])
def test_it(crosschain_mock, seed):
    settings = crosschain_mock.settings
    assert (settings.scenario, settings.seed) == ("slow", seed)
"""
    )
    result.assert_outcomes(passed=2)


def test_settings_can_be_overridden(project, pytester):
    pytester.makeconftest(
        """
import pytest

@pytest.fixture(scope="session")
def crosschain_mock_settings(crosschain_mock_settings):
    return crosschain_mock_settings.changed(scenario="slow")
"""
    )
    result = project(SEES, "-s")
    result.stdout.fnmatch_lines(["*sees slow 1 documented frozen 2026"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--crosschain-mock-scenario", "nope"], "*'nope' is no shipped scenario*"),
        (
            ["--crosschain-mock-clock", "slow"],
            "clock: 'slow' is none of real, frozen, auto, client or scaled:60*",
        ),
        (["--crosschain-mock-seed", "x"], "seed: expected a whole number*"),
        (["--crosschain-mock-start", "x"], "start: 'x' is no time*"),
    ],
)
def test_a_bad_option_is_a_sentence_without_traceback(project, arguments, words):
    result = project("def test_it(crosschain_mock): pass", *arguments)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([words])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*During handling*")


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        ("'outage'", "the marker crosschain_mock takes settings by name*"),
        ("scenaro='outage'", "'scenaro' is no setting; did you mean 'scenario'?"),
        ("clock='slow'", "clock: 'slow' is none of *"),
    ],
)
def test_a_bad_marker_is_a_sentence(project, marker, words):
    result = project(
        f"@pytest.mark.crosschain_mock({marker})\ndef test_it(crosschain_mock): pass",
        "--strict-markers",
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([words])


def test_markers_and_options_are_documented(project):
    project("", "--markers").stdout.fnmatch_lines(["@pytest.mark.crosschain_mock(scenario=*"])
    project("", "--help").stdout.fnmatch_lines(
        ["*--crosschain-mock-scenario=SCENARIO*", "*crosschain_mock_scenario (string)*"]
    )


def test_a_world_for_each_example_of_hypothesis(project):
    result = project(
        """
from hypothesis import given, settings, strategies

seen, tried = [], []

@settings(max_examples=10, database=None)
@given(strategies.integers(1, 10**9))
def test_it(crosschain_mock_server, amount):
    with crosschain_mock_server.world("example") as world:
        assert len(world.journal) == 0
        target = f"/v1/getBridgeQuote?amount={amount}000000&symbol=USDT&fromChain=ARB&toChain=BNB"
        assert get(world, target)["code"] == 0
        world.clock.advance(minutes=5)
        seen.append(world.key)

@settings(max_examples=10, database=None)
@given(strategies.integers(0, 3))
def test_the_check_of_an_example_is_shrunk_as_any_failure(crosschain_mock_server, number):
    tried.append(number)
    with crosschain_mock_server.world("example") as world:
        if number > 1:
            refused(world)

def test_all_of_them_were_new():
    assert len(seen) == 10

def test_the_smallest_one_that_fails_came_last():
    assert tried[-1] == 2
""",
        "-p",
        "hypothesispytest",
    )
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*MockCheckFailed: unexpected refusal*"])


def test_async_tests_use_the_same_fixture(project, pytester):
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    result = project(
        """
import asyncio
import aiohttp

async def chains(world):
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{world.base_url_v2}/v1/getChain") as answer:
            return (await answer.json())["data"]["list"]

@pytest.mark.asyncio
async def test_it(crosschain_mock):
    assert len(await chains(crosschain_mock)) == 28
    crosschain_mock.suspend("BNB", mode="delisted")
    many = await asyncio.gather(*(chains(crosschain_mock) for _ in range(20)))
    assert {len(one) for one in many} == {27}

@pytest.mark.asyncio
async def test_it_is_judged(crosschain_mock):
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{crosschain_mock.base_url}/v1/checkOrder?id=7") as answer:
            await answer.read()
""",
        "-p",
        "asyncio",
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["unexpected refusal: unknown-order*"])


def test_a_test_case_of_unittest_can_have_a_world(project):
    result = project(
        """
import unittest

class TestWallet(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _mock(self, crosschain_mock):
        self.mock = crosschain_mock

    def test_it(self):
        assert get(self.mock, "/v1/getChain")["code"] == 0

    def test_it_is_judged(self):
        refused(self.mock)

    def test_it_is_judged_beside_a_failure(self):
        refused(self.mock)
        self.fail("on its own")
"""
    )
    result.assert_outcomes(passed=1, failed=2)
    lines = result.stdout.lines
    assert sum(line.startswith("unexpected refusal: unknown-order") for line in lines) == 2
    result.stdout.fnmatch_lines(["*on its own*", "*crosschain_mock complaints*"])


def test_a_mutation_that_changes_nothing_fails_the_test(project):
    result = project("""
def quote(world):
    return get(world, "/v1/getBridgeQuote?amount=10000000&symbol=USDT&fromChain=ARB&toChain=BNB")

def test_misspelt(crosschain_mock):
    crosschain_mock.fail("getBridgeQuote", "mutation", field="outAmountt", change="type")
    quote(crosschain_mock)

def test_changed_in_one_of_two_answers(crosschain_mock):
    crosschain_mock.fail(None, "mutation", field="outAmount", change="type")
    get(crosschain_mock, "/v1/getChain")
    quote(crosschain_mock)

def test_changed_and_once_delayed_without_change(crosschain_mock):
    crosschain_mock.fail("getChain", "latency", delay="1s")
    test_changed_in_one_of_two_answers(crosschain_mock)
""")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*fault mutation (1) changed nothing: no answer that it struck has*"]
    )
