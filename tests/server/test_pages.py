"""The pages of the server: the console and its files, the page at `/`, and who gets them."""

import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from mockserver.server.control.authorization import Guard

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
STATIC = sorted(file.name for file in (files("mockserver.server.console") / "static").iterdir())


class Text(HTMLParser):
    """Collects the elements and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def read(raw: bytes) -> Text:
    page = Text()
    page.feed(raw.decode())
    return page


def test_a_browser_finds_base_addresses_operations_and_the_console(mock):
    answer = mock.get("/", headers=HTML)
    page = read(answer.raw)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert f"http://127.0.0.1:{mock.port}{mock.prefix}" in page.text
    for operation in mock.contract:
        assert operation.path in page.text
    assert {"href": "__mock/"} in [attributes for tag, attributes in page.tags if tag == "a"]


def test_a_client_that_wants_no_page_gets_the_refusal_it_always_got(mock):
    for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}):
        answer = mock.get("/", headers=headers)
        assert (answer.status, answer.refusal.partition(":")[0]) == (404, "unknown-path")
    assert mock.call("POST", "/", headers=HTML).status == 404


def test_a_host_of_markup_is_refused_and_never_a_page(mock):
    answer = mock.get("/", headers={**HTML, "Host": "<script>alert(1)</script>"})
    assert answer.status == 400
    assert answer.headers["content-type"].startswith("application/json")


@pytest.mark.parametrize("path", ["/", *(f"/console/{name}" for name in STATIC)])
def test_pages_and_files_come_with_a_strict_policy(mock, path):
    answer = mock.get(f"/__mock{path}")
    assert answer.status == 200
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_address_without_its_slash_leads_to_the_console(mock):
    answer = mock.get("/__mock")
    assert (answer.status, answer.headers["location"]) == (308, "__mock/")
    world = mock.get("", headers=HTML)
    assert (world.status, world.headers["location"]) == (308, f"{mock.prefix}/")


@pytest.mark.parametrize("name", STATIC)
def test_no_file_names_another_host_or_makes_markup_of_text(name):
    text = (files("mockserver.server.console") / "static" / name).read_text("utf-8")
    assert re.findall(r"(?:https?:)?//[a-z][a-z0-9.-]*\.[a-z]+", text) in (
        [],
        ["http://www.w3.org"],
    )
    for danger in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "style="):
        assert danger not in text
    assert not re.search(r"\bon[a-z]+=", text)


def test_the_console_is_given_without_the_token_but_to_no_rebound_name(serve):
    client = serve(guard=Guard(token="right")).client  # noqa: S106
    assert client.get("/__mock/").status == 200
    assert client.get("/__mock/console/app.js").status == 200
    assert client.get("/__mock/events").status == 401
    assert client.get("/__mock/", headers={"Host": "evil.example"}).status == 403


def test_looking_at_a_page_leaves_no_trace_in_the_journal(mock):
    mock.get("/", headers=HTML)
    mock.get("/__mock/")
    assert mock.control("GET", "/journal")["last"] == 0
