"""Requests that go astray: to a world that nobody made, or stamped with another clock."""

pytest_plugins = ["pytester"]


def test_a_missing_slash_fails_the_test_and_says_so(project):
    result = project("""
def test_lost(crosschain_mock):
    try:
        with urllib.request.urlopen(crosschain_mock.base_url_v2 + "v1/getChain") as answer:
            answer.read()
    except OSError:
        pass

def test_the_next_one_is_not_blamed(crosschain_mock):
    get(crosschain_mock, "/v1/getChain")
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*a request came to world '*test_lostv1', which nobody made: GET */getChain",
            "*a slash is missing behind the base address: write base_url_v2 + '/v1/…'",
        ]
    )


def test_a_base_address_that_lost_its_path_fails_the_test_and_says_so(project):
    result = project("""
from urllib.parse import urljoin

def test_lost(crosschain_mock):
    for path in ("/v1/getChain", "/v1/getAssets"):
        urllib.request.urlopen(urljoin(crosschain_mock.base_url_v2, path)).close()

def test_the_next_one_is_not_blamed(crosschain_mock):
    get(crosschain_mock, "/v1/getChain")

def test_who_asks_for_the_default_world_means_it(crosschain_mock, crosschain_mock_server):
    urllib.request.urlopen(crosschain_mock_server.url + "/v1/getChain").close()

def test_and_so_does_who_chooses_the_port():
    from mockserver.testing import running
    with running(port=0) as server, server.world() as world:
        port = server.port
    with running(port=port) as server, server.world() as world:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/getChain").close()
""")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*twice a request came to the default world*; the first: GET /v1/getChain",
            "*lost its path /w/*urljoin*write base_url + '/v1/getChain'; for the*",
        ]
    )


def test_a_world_that_was_made_is_no_stray(project):
    result = project("""
def test_made(crosschain_mock, crosschain_mock_server):
    with crosschain_mock_server.world("mine") as world:
        get(world, "/v1/getChain")

def test_another_name(crosschain_mock, crosschain_mock_server):
    with urllib.request.urlopen(crosschain_mock_server.url + "/w/other/v1/getChain") as answer:
        answer.read()
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*'other', which nobody made*", "*crosschain_mock_server.world(…)*"]
    )


def test_a_client_with_the_wall_clock_works_and_is_told_the_option_where_it_does_not(project):
    result = project("""
import time
from urllib.parse import urlencode

def status(world, ago_ms=0):
    sent = {
        "appKey": "k" * 16,
        "expireTime": "60000",
        "signature": "s" * 64,
        "timestamp": str(time.time_ns() // 1_000_000 - ago_ms),
    }
    wanted = {"chain": "BSC", "hash": "0x" + "1" * 64, "evmAddress": "0x" + "2" * 40}
    url = world.base_url + "/open/v1/order/getOrderDetailByHashAndEvmAddress?" + urlencode(wanted)
    with urllib.request.urlopen(urllib.request.Request(url, headers=sent)) as answer:
        return json.load(answer)

def test_wall(crosschain_mock):
    for _ in range(2):
        with crosschain_mock.expect_refusal("unknown-order"):
            status(crosschain_mock)
        crosschain_mock.clock.advance(hours=1)

@pytest.mark.crosschain_mock(start="now")
def test_now(crosschain_mock):
    crosschain_mock.clock.advance(hours=1)
    with crosschain_mock.expect_refusal("unknown-order"):
        status(crosschain_mock)

@pytest.mark.crosschain_mock(stamps="world")
def test_world(crosschain_mock):
    status(crosschain_mock)

@pytest.mark.crosschain_mock(stamps="world", start="now")
def test_world_that_is_later(crosschain_mock):
    crosschain_mock.clock.advance(hours=1)
    status(crosschain_mock)

def test_neither(crosschain_mock):
    with crosschain_mock.expect_refusal("timestamp-ahead"):
        status(crosschain_mock, 3_600_000)
""")
    result.assert_outcomes(passed=3, failed=2)
    told = "*the client stamps its requests with the wall clock*stamps='either' takes both*"
    result.stdout.fnmatch_lines([told, told])
