"""Clients in a browser: what a preflight is told, and which answers a page may read."""

import pytest

from mockserver.errors import CrosschainMockError
from mockserver.server.control.authorization import Guard, checked_origin, guard_for

WALLET_PAGE = "https://wallet.example"


def preflight(client, path="/v1/getChain", **asks):
    """Ask as a browser does before it lets a page send something unusual."""
    headers = {
        "Origin": WALLET_PAGE,
        "Access-Control-Request-Method": "GET",
        **{name.replace("_", "-"): value for name, value in asks.items()},
    }
    return client.call("OPTIONS", path, headers=headers)


def listed(answer, name):
    """Return the names that a header lists, in lower case."""
    return answer.headers[name].lower().split(", ")


@pytest.mark.parametrize(
    "name",
    [
        *("traceparent", "sentry-trace", "Authorization", "X-Requested-With", "Cache-Control"),
        *("baggage", "x-anything_at.all", "appKey"),
    ],
)
def test_whatever_header_a_page_asks_for_it_may_send(mock, name):
    answer = preflight(mock, Access_Control_Request_Headers=f"{name},x-other")
    assert {name.lower(), "x-other"} <= set(listed(answer, "access-control-allow-headers"))


def test_a_name_that_is_none_is_left_out(mock):
    asked = "good, bad name, b\u00e4d, <script>, , " + ",".join(f"x-{n}" for n in range(500))
    answer = preflight(mock, Access_Control_Request_Headers=asked.encode().decode("latin-1"))
    names = listed(answer, "access-control-allow-headers")
    assert "good" in names
    assert "x-400" not in names
    assert not any(" " in name or "<" in name for name in names)


def test_cookies_may_go_along_so_the_page_is_named(mock):
    for answer in (preflight(mock), mock.get("/v1/getChain", headers={"Origin": WALLET_PAGE})):
        assert answer.headers["access-control-allow-origin"] == WALLET_PAGE
        assert answer.headers["access-control-allow-credentials"] == "true"
        assert answer.headers["vary"] == "Origin"


def test_without_an_origin_nothing_is_reflected(mock):
    answer = mock.get("/v1/getChain")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("path", ["/v1/nothing", "/w/bad key/v1/getChain".replace(" ", "%20")])
def test_a_page_can_read_why_it_was_refused(mock, path):
    mock.prefix = "" if path.startswith("/w/") else mock.prefix
    answer = mock.get(path, headers={"Origin": WALLET_PAGE})
    assert answer.refusal
    assert answer.headers["access-control-allow-origin"] == WALLET_PAGE
    assert "x-mock-refusal" in listed(answer, "access-control-expose-headers")


def test_a_wrong_method_gets_through_to_the_answer_that_says_so(mock):
    answer = preflight(mock, Access_Control_Request_Method="PUT")
    assert "put" in listed(answer, "access-control-allow-methods")


def test_preflights_are_in_the_journal_and_count_as_no_operation(mock):
    preflight(mock)
    mock.get("/v1/getChain")
    entries = mock.control("GET", "/journal")["entries"]
    assert [(one["request"]["method"], one["operation"], one["responder"]) for one in entries] == [
        ("OPTIONS", None, "preflight"),
        ("GET", "v2.getChain", "simulation"),
    ]
    assert mock.control("POST", "/verify", {"operation": "getChain", "exactly": 1})["held"]
    assert mock.control("GET", "/check")["ok"]


def test_a_public_page_may_reach_this_machine_where_the_browser_asks(mock):
    answer = preflight(mock, Access_Control_Request_Private_Network="true")
    assert answer.headers["access-control-allow-private-network"] == "true"


def test_a_named_page_controls_the_worlds_and_still_needs_the_token(serve):
    guard = Guard(token="right", origins=frozenset([WALLET_PAGE]))  # noqa: S106
    client = serve(guard=guard).client
    asked = preflight(
        client,
        "/__mock/clock",
        Access_Control_Request_Method="POST",
        Access_Control_Request_Headers="x-mock-token,content-type",
    )
    assert asked.status == 204
    assert {"x-mock-token", "content-type"} <= set(listed(asked, "access-control-allow-headers"))
    denied = client.get("/__mock/clock", headers={"Origin": WALLET_PAGE})
    assert (denied.status, denied.headers["access-control-allow-origin"]) == (401, WALLET_PAGE)
    headers = {"Origin": WALLET_PAGE, "X-Mock-Token": "right"}
    told = client.get("/__mock/clock", headers=headers)
    assert (told.status, told.headers["access-control-allow-origin"]) == (200, WALLET_PAGE)
    for other in ("https://evil.example", f"{WALLET_PAGE}.evil.example", "null"):
        answer = client.get("/__mock/clock", headers={**headers, "Origin": other})
        assert answer.status == 403
        assert "access-control-allow-origin" not in answer.headers
        assert preflight(client, "/__mock/clock", Origin=other).status == 403


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("http://localhost:3000", "http://localhost:3000"),
        ("https://Wallet.Example/", "https://wallet.example"),
        ("https://wallet.example:443", "https://wallet.example"),
        ("http://[::1]:5173", "http://[::1]:5173"),
        ("chrome-extension://abcdefghijklmnop", "chrome-extension://abcdefghijklmnop"),
    ],
)
def test_an_origin_is_taken_as_browsers_send_it(text, origin):
    assert checked_origin(text) == origin
    assert guard_for("127.0.0.1", origins=[text]).names(origin)


@pytest.mark.parametrize(
    "text",
    ["", "*", "null", "localhost:3000", "http://", "http://a/page", "http://u:p@a", "http://a:x"],
)
def test_what_is_no_origin_is_said_to_be_none(text):
    with pytest.raises(CrosschainMockError, match="is no origin"):
        checked_origin(text)


def test_the_command_refuses_what_is_no_origin(call):
    ended = call("serve", "--port", "0", "--control-origin", "wallet.example")
    assert ended.returncode == 2
    assert "'wallet.example' is no origin of a page" in ended.stderr


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        ("text/html", "sandbox"),
        ("image/svg+xml", "sandbox"),
        ("Application/XHTML+XML; charset=utf-8", "sandbox"),
        ("application/json", None),
        ("text/plain", None),
    ],
)
def test_a_page_of_a_stub_runs_no_scripts_beside_the_console(mock, kind, policy):
    # With an error, since a success would have to keep the contract.
    response = {"status": 500, "headers": {"Content-Type": kind}, "body": "{}"}
    stub = {"operation": "getChain", "response": response}
    assert mock.call("POST", "/__mock/stubs", body=stub).status == 200
    answer = mock.call("GET", "/v1/getChain")
    assert answer.headers.get("content-security-policy") == policy
