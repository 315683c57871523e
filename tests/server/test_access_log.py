"""The access log: a line of JSON for each request, and nothing secret in any."""

import http.client
import json
from pathlib import Path
from typing import Any

import pytest

from mockserver.errors import CannotServe
from mockserver.server.assembly import Settings, build
from mockserver.testing.running import service_in_thread

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRET = "-".join(("a", "very", "secret", "value", "7"))


def lines_for(
    folder: Path, requests: list[tuple[str, str, dict[str, str]]]
) -> list[dict[str, Any]]:
    file = folder / "access.jsonl"
    service = build(Settings(access_log=file))
    with service_in_thread(service, 0) as port:
        for method, target, headers in requests:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request(method, target, headers=headers)
            connection.getresponse().read()
            connection.close()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/w/mine/__mock/journal")
        journal = json.loads(connection.getresponse().read())
        connection.close()
    sent = [dict(entry["request"]["headers"]) for entry in journal["entries"]]
    assert [headers.get("traceparent") for headers in sent][:1] == [TRACE]
    text = file.read_text()
    assert SECRET not in text
    lines = [json.loads(line) for line in text.splitlines()]
    logged = [line["durationMs"] for line in lines if line["world"] == "mine"]
    for entry, logged_ms in zip(journal["entries"], logged, strict=False):
        assert 0 < entry["durationMs"] <= logged_ms
    return lines


def test_each_request_is_a_line_without_secrets(tmp_path: Path) -> None:
    bearer = {"Authorization": f"Bearer {SECRET}"}
    lines = lines_for(
        tmp_path,
        [
            ("GET", "/w/mine/v1/getChain", {"traceparent": TRACE, **bearer}),
            ("GET", f"/w/mine/v1/checkOrder?id={SECRET}", {"traceparent": f"x{SECRET}"}),
            ("GET", f"/w/other/{SECRET}", {}),
            ("GET", f"/w/{SECRET}%20/v1/getChain", {}),
            ("GET", "/__mock/clock", bearer),
        ],
    )
    told = [
        (line["world"], line["operation"], line["status"], line["refusal"], line["traceparent"])
        for line in lines
    ]
    assert told[0] == ("mine", "v2.getChain", 200, None, TRACE)
    assert told[1][:2] == ("mine", "v2.checkOrder")
    assert told[1][3] is not None
    assert told[1][4] is None
    assert told[2][:2] == ("other", None)
    assert told[3][:2] == (None, "v2.getChain")
    assert told[4] == ("default", "control", 200, None, None)
    assert all(0 < line["durationMs"] < 60_000 for line in lines)
    assert len(lines) == 6


def test_without_the_option_nothing_is_written(tmp_path: Path) -> None:
    assert build(Settings()).access is None
    assert not list(tmp_path.iterdir())


def test_a_log_that_cannot_be_written_ends_the_start(tmp_path: Path) -> None:
    with pytest.raises(CannotServe, match="cannot write the access log"):
        build(Settings(access_log=tmp_path / "nowhere" / "access.jsonl"))
