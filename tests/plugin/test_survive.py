"""Tests of users that are searched for failures that cost money."""

import gc
import json
import xml.etree.ElementTree as ET

import pytest

from tests.conftest import WALLET, certificate, order

pytest_plugins = ["pytester"]

# A client that pays with a new deposit each time it does not understand an answer, and one that
# submits the same deposit again.
CLIENTS = f"""
ORDER, HEADERS = {json.dumps(order())!r}, {{"Evmaddress": {WALLET!r}, "Signature": "ab" * 65}}
CERT = {certificate()!r}

def submitted(world, number):
    certs = {{**json.loads(bytes.fromhex(CERT)), "certHash": f"0x{{number:0>63}}f"}}
    certs = json.dumps(certs).encode().hex()
    body = json.dumps({{**json.loads(ORDER), "sourceCerts": certs}}).encode()
    request = urllib.request.Request(world.base_url_v2 + "/v1/submitOrder", body, HEADERS)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            got = json.load(answer)
    except urllib.error.HTTPError as error:
        error.close()
        raise OSError(str(error)) from None
    if got["code"]:
        raise OSError(got["msg"])
    return got["data"]["id"]

def naive(world, tries=3):
    for number in range(tries):
        try:
            return submitted(world, number)
        except (OSError, ValueError) as error:
            last = error
    raise last

def careful(world, tries=6):
    for _ in range(tries):
        try:
            number = submitted(world, 1)
            break
        except (OSError, ValueError) as error:
            last = error
    else:
        raise last
    world.clock.advance("1h")
    status = get(world, "/v1/checkOrder?id=" + number)["data"]["status"]
    assert status == "Succeeded", status
"""
LOST = "lost:once@submitOrder#1"


@pytest.fixture
def searched(project):
    return lambda source, *arguments: project(CLIENTS + source, *arguments)


NAIVE = """
def test_naive(crosschain_mock):
    print("told by the client")
    naive(crosschain_mock)
"""
CAREFUL = """
@pytest.mark.crosschain_mock(survive={"skip": "price,ids", "pairs": False})
def test_careful(crosschain_mock):
    careful(crosschain_mock)
"""


def test_each_defect_is_a_failing_report_of_its_own(searched):
    result = searched(
        NAIVE, "--crosschain-mock-survive", "--crosschain-mock-survive-only", "lost,gateway"
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*FOOLED: 10 USDT paid twice*",
            "*when the service does what it is told, and the answer is lost*",
            "*what it did:*",
            "*> +0ms POST /v1/submitOrder*",
            f"*see it again: pytest 'test_project.py::test_naive[[]survive:{LOST}[]]'*",
            "*failures that cost money*",
            "*test_naive: 1 defect; *failure coverage 100 %*",
        ]
    )


@pytest.mark.deep(quick=1)
def test_a_careful_test_passes_and_says_what_it_withstood(searched):
    result = searched(CAREFUL)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["*test_careful: 0 defects; *survived*left out, since they need a process: killed, *late*"]
    )


def test_nothing_is_searched_unless_somebody_asks(searched):
    result = searched(NAIVE)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*cost money*")


def test_what_moves_no_money_and_what_says_false_stays_as_it_is(searched):
    searched(
        """
def test_lists(crosschain_mock):
    get(crosschain_mock, "/v1/getChain")

@pytest.mark.crosschain_mock(survive=False)
def test_not_this(crosschain_mock):
    naive(crosschain_mock)

@pytest.mark.skip
def test_skipped(crosschain_mock):
    naive(crosschain_mock)

def test_without_a_world():
    pass
""",
        "--crosschain-mock-survive",
    ).assert_outcomes(passed=3, skipped=1)


def test_a_test_that_fails_by_itself_is_not_searched(searched):
    searched("""
@pytest.mark.crosschain_mock(survive=True)
def test_broken(crosschain_mock):
    naive(crosschain_mock)
    assert False
""").assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("source", "arguments", "words"),
    [
        ("survive='price'", (), "never struck: price"),
        ("survive='killed'", (), "never struck: killed"),
        ("survive=['lost', 'price'], seed=3", (), "never struck: price"),
    ],
)
def test_what_was_asked_for_and_never_struck_is_not_green(searched, source, arguments, words):
    result = searched(
        f"""
@pytest.mark.crosschain_mock({source})
def test_it(crosschain_mock):
    careful(crosschain_mock)
""",
        *arguments,
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([f"*{words}*"])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("survive='lost,lots'", "*'lots' is no kind of failure; did you mean 'lost'?*"),
        ("survive=7", "*survive: expected True, False, kinds of failures or a mapping, got 7*"),
        ("survive={'bugdet': 7}", "*survive: 'bugdet' is no option; did you mean 'budget'?*"),
        ("survive={'budget': 'all'}", "*survive: budget cannot be 'all'*"),
        ("survive={'budget': True}", "*survive: budget cannot be True*"),
        ("survive={'budget': 0}", "*survive: budget has to be above 0, got 0*"),
    ],
)
@pytest.mark.deep(quick=4)
def test_a_wrong_marker_is_a_sentence(searched, source, words):
    result = searched(f"""
@pytest.mark.crosschain_mock({source})
def test_it(crosschain_mock):
    careful(crosschain_mock)
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([words])
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


def test_a_marked_test_without_a_world_is_told(searched):
    result = searched("""
@pytest.mark.crosschain_mock(survive=True)
def test_it():
    pass
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*a search needs a test that uses `crosschain_mock`*"])


def test_a_test_that_differs_each_time_is_unsure_and_not_green(searched, monkeypatch):
    result = searched("""
COUNT = []

@pytest.mark.crosschain_mock(survive="lost")
def test_it(crosschain_mock):
    COUNT.append(1)
    for number in range(1 + len(COUNT) % 2):
        submitted(crosschain_mock, number)
""")
    assert result.parseoutcomes()["failed"] >= 1
    result.stdout.fnmatch_lines(["*unsure: the flow is not the same each time*"])


def test_a_failure_is_selected_by_its_id_and_by_last_failed(searched, pytester):
    quick = ("--crosschain-mock-survive", "--crosschain-mock-survive-only", "lost")
    searched(NAIVE, *quick)
    by_id = f"test_project.py::test_naive[survive:{LOST}]"
    for selection in ([by_id], ["--lf"]):
        result = pytester.runpytest_inprocess("-p", "crosschain_mock", "-v", *selection)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["*FOOLED: 10 USDT paid twice*"])
    # Mended, it passes, and the last failures are forgotten.
    mended = pytester.path / "test_project.py"
    mended.write_text(mended.read_text().replace("    naive(cross", "    careful(cross"))
    result = pytester.runpytest_inprocess("-p", "crosschain_mock", "--lf", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*test_naive[[]survive:{LOST}[]] PASSED*"])


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("lots:always@submitOrder#1", "*is no failure; did you mean 'lost'?*"),
        ("lost:always@submitOrder#7", "*lost:always@submitOrder#7 never struck*"),
    ],
)
def test_an_id_that_is_none_or_strikes_nothing_fails(searched, failure, words):
    result = searched(NAIVE, f"test_project.py::test_naive[survive:{failure}]")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([words])


def test_classes_parameters_and_fixtures_are_made_anew_each_time(searched):
    result = searched("""
MADE, ENDED = [], []

@pytest.fixture
def client(crosschain_mock, tmp_path):
    assert not list(tmp_path.iterdir())
    (tmp_path / "paid").touch()
    MADE.append(1)
    yield lambda tries: naive(crosschain_mock, tries)
    get(crosschain_mock, "/v1/getChain")
    ENDED.append(1)

@pytest.fixture(scope="module")
def module():
    MODULE.append(1)
    yield
    MODULE.append(2)

MODULE = []

@pytest.mark.crosschain_mock(survive="lost")
class TestPay:
    @pytest.mark.parametrize("tries", [1, 3])
    def test_it(self, client, module, tries):
        assert not hasattr(self, "seen")
        self.seen = True
        client(tries)

def test_all_ended():
    assert len(MADE) == len(ENDED) > 8
    assert MODULE == [1, 2] or MODULE == [1]
""")
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines([f"FAILED *::TestPay::test_it[[]3-survive:{LOST}[]]*"])


def test_a_fixture_of_the_module_that_fails_at_its_end_is_still_told(searched):
    result = searched("""
@pytest.fixture(scope="module")
def module():
    yield
    raise RuntimeError("at the end of the module")

@pytest.mark.crosschain_mock(survive="lost")
def test_it(crosschain_mock, module):
    careful(crosschain_mock)
""")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*at the end of the module*"])


def test_a_coroutine_is_searched(searched):
    pytest.importorskip("pytest_asyncio")
    result = searched(
        """
import asyncio

@pytest.mark.asyncio
@pytest.mark.crosschain_mock(survive="lost")
async def test_it(crosschain_mock):
    await asyncio.to_thread(naive, crosschain_mock)
""",
        "-p",
        "pytest_asyncio.plugin",
        "-o",
        "asyncio_default_fixture_loop_scope=function",
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*FOOLED: 10 USDT paid twice*"])


@pytest.mark.deep(quick=1)
def test_a_test_that_goes_on_for_ever_is_ended(searched):
    result = searched("""
@pytest.mark.crosschain_mock(survive={"only": "refused", "wall": 20})
def test_it(crosschain_mock):
    while True:
        try:
            submitted(crosschain_mock, 1)
            break
        except OSError:
            crosschain_mock.clock.advance("1h")
""")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*1 hung*1 went on for ever, with no money lost*"])


def test_what_a_test_had_open_when_it_was_ended_fails_no_later_test(searched):
    result = searched(
        """
import socket

def kept_open(crosschain_mock):
    # As `socket.create_connection` does: closed after its own errors alone.
    line = socket.socket()
    try:
        while True:
            submitted(crosschain_mock, 1)
            crosschain_mock.clock.advance("1h")
    except OSError:
        line.close()
        raise
    except BaseException as ended:
        last = ended  # a circle: the frame lives until the collector comes
        raise

@pytest.mark.crosschain_mock(survive={"only": "refused", "wall": 20})
def test_it(crosschain_mock):
    try:
        submitted(crosschain_mock, 1)
    except OSError:
        kept_open(crosschain_mock)
""",
        "-W",
        "error",
    )
    result.assert_outcomes(passed=2)
    # What is left open complains when it is collected, and fails this test.
    gc.collect()


def test_a_test_that_failed_is_started_again_where_it_keeps_something(searched):
    source = """
@pytest.mark.crosschain_mock(survive="lost")
def test_it(crosschain_mock, {folder}):
    paid = {folder} / "paid"
    number = int(paid.read_text()) if paid.exists() else 0
    paid.write_text(str(number + {step}))
    submitted(crosschain_mock, number)
"""
    searched(source.format(folder="crosschain_mock_state", step=0)).assert_outcomes(passed=2)
    result = searched(source.format(folder="crosschain_mock_state", step=1))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*10 USDT paid twice*", "*then, started again, exited with 0*"])
    # Without the folder nobody starts it again: it has failed, and somebody will look.
    searched(source.format(folder="tmp_path", step=1)).assert_outcomes(passed=2)


def test_exitfirst_ends_with_the_first_defect(searched):
    result = searched(NAIVE + CAREFUL, "-x", "--crosschain-mock-survive")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*stopping after 1 failures*"])


@pytest.mark.deep(quick=1)
def test_workers_and_junit_tell_the_same(searched, pytester):
    pytest.importorskip("xdist")
    lost = "lost:once@submitOrder#1"
    arguments = ("--crosschain-mock-survive", "--crosschain-mock-survive-quick")
    workers = ("-p", "xdist.plugin", "-n", "2", "--junitxml=j.xml")
    result = searched(NAIVE + CAREFUL, *arguments, *workers)
    assert result.parseoutcomes()["failed"] >= 2
    result.stdout.fnmatch_lines(
        ["*test_naive: 2 defects*", f"*FAILED *test_naive[[]survive:{lost}[]]*"]
    )
    result.stdout.fnmatch_lines(["*[[]100%]*"])
    result.stdout.no_fnmatch_line("*INTERNALERROR*")
    cases = ET.parse(pytester.path / "j.xml").iter("testcase")  # noqa: S314
    names = {case.get("name"): case.find("failure") is not None for case in cases}
    assert names["test_naive"] is False
    assert names[f"test_naive[survive:{lost}]"] is True


def test_ini_keys_ask_for_a_search_as_well(searched, pytester):
    pytester.makeini(
        "[pytest]\ncrosschain_mock_survive = true\ncrosschain_mock_survive_only = lost\n"
    )
    searched(NAIVE).assert_outcomes(passed=1, failed=1)
