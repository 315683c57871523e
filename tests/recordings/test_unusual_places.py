"""Secrets in places that few think of, in a request and its answer; and healthy texts like them.

The places were written from a description of what is masked, without a look at how.
"""

import json
import re

import pytest

from mockserver.http_messages import Headers, Request, Response
from mockserver.recordings import RecordedExchange
from mockserver.recordings.redaction import Redactor
from mockserver.recordings.redaction.scan import scan

SECRET = "zV7wQ2nK9xTb4Lr8Yc3mPd6F"  # noqa: S105 (of nobody)

PLACES = {
    "key and value by one letter": '{"params":[{"k":"pwd","v":"S"}]}',
    "names and values in turn": '{"rawHeaders":["Host","x","X-Api-Key","S"]}',
    "a typed value": '{"type":"password","data":"S"}',
    "a change of a document": '[{"op":"replace","path":"/user/password","value":"S"}]',
    "rows below columns": '{"columns":["user","password"],"rows":[["bob","S"],["al","S"]]}',
    "values beside names": '{"fields":["id","apiSecret"],"values":[1,"S"]}',
    "a property list": "<dict><key>password</key><string>S</string></dict>",
    "a comment of XML": "<a><!-- password: S --></a>",
    "a field of a page": '<form><input type="password" value="S"></form>',
    "credentials of curl": '{"cmd":"curl -u bob:S https://h.example"}',
    "credentials of curl, in full": '{"cmd":"curl --user=bob:S https://h.example"}',
    "an option with a blank": '{"cmd":"tool --password S -h x"}',
    "an option with a sign": '{"cmd":"mysql --password=S -h x"}',
    "what PHP writes": 'a:1:{s:8:"password";s:24:"S";}',
    "a sentence with quotes": '{"msg":"invalid password \'S\' for user bob"}',
    "Spanish": '{"contraseña":"S"}',
    "French": '{"motDePasse":"S"}',
    "Portuguese": "senha=S",
    "Chinese": '{"密码":"S"}',
    "Russian": '{"пароль":"S"}',
    "Japanese": "<パスワード>S</パスワード>",
}

HEALTHY = (
    '{"required":["username","password","email","phone"]}',
    '{"columns":["chain","symbol"],"rows":[["ARB","USDC"],["BNB","USDT"]]}',
    '{"type":"token","data":"0xaf88d065e77c8cC2239327C5EDb3A432268e5831"}',
    '{"op":"test","path":"/order/status","value":"zV7wQ2nK9xTb4Lr8Yc3mPd6F"}',
    '{"list":["ARB","0xaf88d065e77c8cC2239327C5EDb3A432268e5831","18"]}',
    '{"msg":"tool --chain ARB --token USDC -u ARB"}',
    '<a><!-- chain: ARB --><input type="text" value="USDC"></a>',
    'a:1:{s:5:"chain";s:3:"ARB";}',
    '{"contrast":"high","mots":"deux","链":"ARB"}',
    '{"msg":"the password must have 8 characters"}',
)


def kept(body: bytes) -> RecordedExchange:
    request = Request("POST", "/v1/submitTicket", "", Headers(), body)
    made = RecordedExchange("a", "v2.submitTicket", request, Response(200, (), body), "captured")
    return Redactor().exchange(made)


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_masked_where_few_look(place, tmp_path):
    body = re.sub(r"\bS\b", SECRET, PLACES[place])
    exchange = kept(body.encode())
    for content in (exchange.request.body, exchange.response.body):
        assert SECRET not in content.decode()
        assert b"redacted" in content
    assert exchange.masked
    if body.startswith("{"):
        json.loads(exchange.response.body)
    (tmp_path / "found.txt").write_text(body, "utf-8")
    problems, _ = scan((tmp_path,), ())
    assert problems


@pytest.mark.parametrize("text", HEALTHY)
def test_what_only_looks_like_it_stays(text):
    exchange = kept(text.encode())
    assert exchange.request.body == exchange.response.body == text.encode()
    assert exchange.masked == ()
