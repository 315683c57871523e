"""The control API attacked: by pages of other origins, by rebound names, without the token."""

import http.client

import pytest

from mockserver.server.control.authorization import Guard, guard_for, is_this_machine
from tests.conftest import START_MS, frozen, running

TOKEN = "correct-horse-battery-staple"  # noqa: S105


@pytest.fixture(scope="module")
def _local():
    with running(frozen()) as server:
        yield server


@pytest.fixture(scope="module")
def _remote():
    with running(frozen(guard=Guard(loopback=False, token=TOKEN))) as server:
        yield server


@pytest.fixture
def local(_local):
    """A server that listens on the loopback interface, its clock at the start."""
    _local.service.worlds.drop("default")
    return _local


@pytest.fixture
def remote(_remote):
    """A server that listens beyond it and has a token, its clock at the start."""
    _remote.service.worlds.drop("default")
    return _remote


def sent(port, method="POST", path="/__mock/clock", body=b'{"advance":"1h"}', **headers):
    """Send a request with exactly these headers, over a real socket."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        return response.status, response.read(), response.headers
    finally:
        connection.close()


def moved(server):
    """Return whether an attack has moved the clock."""
    return server.service.worlds.get("default").world.now() != START_MS


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://127.0.0.1",
        "http://localhost:{port}",
        "http://127.0.0.1:{port}.evil.example",
        "http://127.0.0.1:{port}@evil.example",
        "null",
        "",
        "file://",
        "http://[",
        "ftp://127.0.0.1:{port}",
    ],
)
@pytest.mark.parametrize("path", ["/__mock/clock", "/w/default/__mock/clock", "/%5f%5fmock/clock"])
def test_a_foreign_origin_is_403_and_changes_nothing(local, origin, path):
    status, body, headers = sent(local.port, path=path, Origin=origin.format(port=local.port))
    assert (status, b"'Origin'" in body) == (403, True)
    assert "Access-Control-Allow-Origin" not in headers
    assert not moved(local)


def test_a_page_of_another_origin_cannot_even_ask_whether_it_may(local):
    asks = {"Origin": "https://evil.example", "Access_Control_Request_Method": "POST"}
    status, _, headers = sent(local.port, "OPTIONS", body=b"", **asks)
    assert status == 403
    assert "Access-Control-Allow-Methods" not in headers


def test_a_foreign_origin_makes_no_world(local):
    sent(local.port, path="/w/made-by-evil/__mock/clock", Origin="https://evil.example")
    assert "made-by-evil" not in local.service.worlds


def test_the_servers_own_origin_may(local):
    status, _, _ = sent(local.port, Origin=f"http://127.0.0.1:{local.port}")
    assert (status, moved(local)) == (200, True)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", "[::2]:80", ""],
)
def test_a_name_that_was_rebound_to_this_machine_is_403(local, host):
    status, body, _ = sent(local.port, Host=host)
    assert (status, b"'Host'" in body) == (403, True)
    status, _, _ = sent(local.port, Host=host, Origin=f"http://{host}")
    assert status == 403
    assert not moved(local)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:99", "localhost", "LOCALHOST:8", "[::1]:8765", "127.9.9.9", "a.localhost"]
)
def test_names_of_the_loopback_interface_may(local, host):
    assert sent(local.port, Host=host)[0] == 200


def test_the_api_itself_stays_open_to_every_page(remote):
    headers = {"Host": "rebound.example", "Origin": "https://wallet.example"}
    status, _, answered = sent(remote.port, "GET", "/v1/getChain", b"", **headers)
    assert (status, answered["Access-Control-Allow-Origin"]) == (200, "https://wallet.example")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X_Mock_Token": "wrong"},
        {"X_Mock_Token": ""},
        {"X_Mock_Token": TOKEN[:-1]},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer"},
        {"Authorization": TOKEN},
        {"X_Mock_Token": "wrong", "Authorization": f"Bearer {TOKEN}"},
        {"X_Mock_Token": "\u00e4"},
    ],
)
def test_without_the_token_it_is_401_where_there_is_one(remote, headers):
    for path in ("/__mock/clock", "/w/other/__mock/clock"):
        status, body, answered = sent(remote.port, path=path, **headers)
        assert (status, answered["WWW-Authenticate"][:6]) == (401, "Bearer")
        assert TOKEN.encode() not in body
    assert not moved(remote)


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Mock_Token": TOKEN},
        {"Authorization": f"Bearer {TOKEN}"},
        {"Authorization": f"bearer  {TOKEN}"},
    ],
)
def test_with_the_token_it_may(remote, headers):
    status, _, _ = sent(remote.port, Host="mock.internal:8765", **headers)
    assert (status, moved(remote)) == (200, True)


def test_the_token_does_not_help_a_foreign_page(remote):
    status, _, _ = sent(remote.port, X_Mock_Token=TOKEN, Origin="https://evil.example")
    assert (status, moved(remote)) == (403, False)


@pytest.mark.parametrize(("path", "status"), [("/ready", 200), ("/live", 200), ("/version", 401)])
def test_probes_of_the_process_need_no_token(remote, path, status):
    assert sent(remote.port, "GET", f"/__mock{path}", b"")[0] == status


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost.", True),
        ("0.0.0.0", False),  # noqa: S104
        ("::", False),
        ("", False),
        ("192.168.1.5", False),
        ("localhost.evil.example", False),
        ("mock", False),
    ],
)
def test_a_token_is_made_beyond_the_loopback_interface(host, loopback):
    assert is_this_machine(host) is loopback
    guard = guard_for(host)
    assert (guard.token is None) is loopback
    assert guard_for(host, "mine").token == "mine"  # noqa: S105


def test_two_tokens_differ_and_are_not_shown():
    first, second = (guard_for("0.0.0.0") for _ in range(2))  # noqa: S104
    assert first.token != second.token
    assert len(first.token or "") >= 32
    assert (first.token or "") not in repr(first)
