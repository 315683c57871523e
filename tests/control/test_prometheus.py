"""The counters as Prometheus reads them, by its own parser."""

import json

import pytest

from tests.conftest import Client

# Of the group `test`; environments that were set up before it came lack it.
parser = pytest.importorskip("prometheus_client.parser")

SCRAPE = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"


def _got(mock: Client, query: str = "", accept: str | None = None) -> tuple[int, str, str]:
    headers = {} if accept is None else {"Accept": accept}
    answer = mock.call("GET", "/__mock/metrics", query=query, headers=headers)
    return answer.status, answer.headers["content-type"], answer.raw.decode()


def _samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sample.labels.items())): sample.value
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.parametrize("way", ["accept", "query"])
def test_the_official_parser_reads_what_json_tells(mock: Client, way: str):
    strange = 'a-"name"\\of-its-own: why'
    answer = {"status": 500, "body": "x", "headers": {"X-Mock-Refusal": strange}}
    stub = {"operation": "getPrice", "response": answer}
    assert mock.call("POST", "/__mock/stubs", body=stub).status == 200
    for path in ("getChain", "getBridgeQuote", "getPrice", "nothing"):
        mock.call("GET", f"/v1/{path}")
    if way == "accept":
        status, media, text = _got(mock, accept=SCRAPE)
    else:
        status, media, text = _got(mock, "format=prometheus", "application/json")
    assert (status, media) == (200, "text/plain; version=0.0.4; charset=utf-8")
    samples = _samples(text)
    told = json.loads(_got(mock)[2])
    for name, label in (("requests", "operation"), ("refusals", "refusal"), ("faults", "fault")):
        counted = {
            labels[0][1]: value
            for (metric, labels), value in samples.items()
            if metric == f"crosschain_mock_{name}_total"
        }
        assert counted == told[name]
        assert all(
            labels[0][0] == label
            for (metric, labels) in samples
            if metric == f"crosschain_mock_{name}_total"
        )
    assert samples["crosschain_mock_worlds", ()] == told["worlds"]
    uptime = samples["crosschain_mock_world_uptime_seconds", (("world", told["world"]),)]
    assert uptime * 1000 == pytest.approx(told["uptimeMs"], abs=60_000)


@pytest.mark.parametrize(
    "accept", [None, "*/*", "application/json", "application/json, text/plain"]
)
def test_everybody_else_gets_json(mock: Client, accept: str | None):
    status, media, text = _got(mock, accept=accept)
    assert (status, media.partition(";")[0]) == (200, "application/json")
    assert "uptimeMs" in json.loads(text)


def test_json_can_be_named_and_other_formats_are_refused(mock: Client):
    assert "worlds" in json.loads(_got(mock, "format=json", SCRAPE)[2])
    status, _, text = _got(mock, "format=xml")
    assert (status, "query parameter 'format'" in text) == (400, True)
