"""The requests that the how-to pages show are sent to a server, page by page."""

import json
import re
from pathlib import Path

import pytest

from mockserver.http_messages import Headers, Request
from mockserver.server.assembly import build
from tests.conftest import frozen

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
_SHOWN = re.compile(r"```http\n(GET|POST|PUT|DELETE) (\S+)\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", sorted(HOW_TO.glob("*.md")), ids=lambda page: page.stem)
def test_every_request_shown_works(page):
    service = build(frozen())
    # A question makes no world, and the pages show what one that is there answers.
    service.worlds.get("default")
    for method, target, text in _SHOWN.findall(page.read_text("utf-8")):
        path, _, query = target.partition("?")
        body = json.dumps(json.loads(text)).encode() if text.strip() else b""
        request = Request(method, path, query, Headers((("Host", "127.0.0.1"),)), body)
        response = service.answer(request).response
        assert response.status == 200, (target, text, response.body)


def test_the_pages_show_requests():
    shown = [page.stem for page in HOW_TO.glob("*.md") if _SHOWN.search(page.read_text("utf-8"))]
    assert len(shown) >= 4
