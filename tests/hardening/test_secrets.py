"""Secrets: in no output that ends up in the logs of others, and on no command line by need."""

import json
from collections import defaultdict

import pytest

from mockserver import jsontext
from mockserver.cli.serving import settings_of
from mockserver.server.control.event_stream import summary
from tests.conftest import order

SECRETS = {
    "Authorization": "Bearer s3cr3t-0",
    "Cookie": "session=s3cr3t-1",
    "X-Mock-Token": "s3cr3t-2",
    "Signature": "ab" * 64 + "s3cr3t-3",
    "X-Api-Key": "s3cr3t-4",
    "X-Auth-Token": "s3cr3t-5",
    "Proxy-Authorization": "s3cr3t-6",
}


def test_the_journal_and_the_check_show_no_secret(mock):
    mock.post("/v1/submitOrder", order(toAddr="nobody"), headers={**mock.wallet, **SECRETS})
    mock.get("/v1/getChain", query="access_token=s3cr3t-7&chain=ARB")
    headers = {**mock.keys, "signature": "s3cr3t-8"}
    mock.post("/open/v1/order/getCrossChainQuote", {"amount": 1}, headers=headers)
    for path in ("/journal", "/check"):
        shown = json.dumps(mock.control("GET", path), default=str)
        assert "s3cr3t" not in shown
        assert '["Authorization", "redacted"]' in shown
        assert mock.wallet["Evmaddress"] in shown
        assert "demo-app-key" in shown
    verified = {"match": {"headers": {"Authorization": "Bearer s3cr3t-0"}}, "exactly": 1}
    assert mock.control("POST", "/verify", verified)["held"], "what came is still there to match"


@pytest.mark.parametrize(
    "query",
    ["access_token=s3cr3t&chain=ARB", "chain=ARB&a%63cess_token=s3cr3t", "%ff&token=s3cr3t"],
)
def test_no_line_about_a_request_shows_a_secret_of_its_query(serve, query):
    mock = serve()
    mock.client.get("/v1/getChain", query=query)
    hosted = mock.service.worlds.get("default")
    (entry,) = hosted.journal
    told = jsontext.encode(summary(hosted, entry)).decode()
    for shown in (told, entry.request_line, jsontext.encode(entry.render()).decode()):
        assert "s3cr3t" not in shown
        assert "redacted" in shown
    assert "s3cr3t" in entry.request.query


@pytest.mark.parametrize(
    "body",
    [
        {"appKey": "k", "appSecret": "s3cr3t" * 200},
        {"appKey": "k", "appSecret": 73723},
        {"appKey": "k", "appSecret": ["s3cr3t"]},
        {"appKey": "k", "appSecret": ""},
        {"appSecret": "s3cr3t"},
        {"appKey": "k", "secret": "s3cr3t"},
        {"appKey": "k", "appSecret": {"s3cr3t": 1}},
    ],
)
def test_a_refused_secret_is_not_repeated(mock, body):
    answer = mock.post("/__mock/keys", body)
    assert answer.status == 400
    assert "s3cr3t" not in answer.raw.decode()
    assert "73723" not in answer.raw.decode()


def options(**changes):
    """Return the options of `serve`: these, and the rest as they are where nothing is given."""
    given = {"erratum": (), "app_keys": (), "dialect": "observed", "replay": ()}
    return defaultdict(lambda: None, given | changes)


def test_developer_keys_come_from_a_file(tmp_path):
    file = tmp_path / "keys"
    file.write_text("# mine\none:s3cr3t:with-colon\n\n two:other \n")
    settings = settings_of(options(app_keys_file=str(file)))
    assert settings.app_keys == (("one", "s3cr3t:with-colon"), ("two", "other"))
    file.write_text("one:s3cr3t\ntwo-s3cr3t\n")
    with pytest.raises(Exception, match=":2: expected KEY:SECRET") as caught:
        settings_of(options(app_keys_file=str(file)))
    assert "s3cr3t" not in str(caught.value)
