"""No secret reaches a file, wherever it stands; stand-ins keep the form of what they replace."""

import base64
import gzip
import html
import json
import re
from dataclasses import replace
from functools import partial
from urllib.parse import quote_plus, urlencode

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mockserver.http_messages import Headers, Request, Response
from mockserver.recordings import (
    RecordedExchange,
    Recording,
    RecordingFolder,
    StandIns,
    load,
    text_of,
)
from mockserver.recordings.redaction import Redactor
from mockserver.recordings.redaction.masker import WALKED
from mockserver.recordings.redaction.secret_names import contract_words
from mockserver.signing import developer_signatures
from mockserver.signing.keyring import DEMO_APP_KEY, DEMO_APP_SECRET
from tests.conftest import HASH, WALLET, certificate, costly, order

SALT = "0123456789abcdef" * 2
EVERY_KIND = StandIns(("addresses", "hashes", "orders"), SALT)
CERTAINLY_SECRET = ("appKey", "signature", "Authorization", "Cookie", "X-Api-Key")


def exchange(request=None, response=None):
    """An exchange of 2.0."""
    return RecordedExchange(
        name="one",
        operation="v2.submitOrder",
        request=request or Request("POST", "/v1/submitOrder"),
        response=response or Response(200, (), b"{}"),
        origin="captured",
    )


def on_disk(folder, one, redactor):
    """All bytes of all files, after an exchange was kept."""
    head = Recording("t", "captured", (), source="a test")
    with RecordingFolder(folder, head) as writing:
        writing.keep("v2.submitOrder", redactor.exchange(one) if redactor else one)
    return b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def traces(secret, raw):
    """In which forms a secret is found in bytes."""
    plain = secret.encode()
    found = [
        name
        for name, form in {
            "plain": plain,
            "percent": quote_plus(secret).encode(),
            "json": json.dumps(secret)[1:-1].encode(),
        }.items()
        if form in raw
    ]
    found += ["hex"] if plain.hex().encode() in raw.lower() else []
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + plain)
        core = coded[-(-shift * 8 // 6) : (shift + len(plain)) * 8 // 6]
        found += [f"base64 at {shift}"] if core in raw else []
        found += [f"url base64 at {shift}"] if core.translate(TO_URL) in raw else []
    return found


OWN_WORDS = " ".join(
    (
        text_of(Recording("t", "captured", (), source="a test")),
        "name: operation: v2.submitOrder removed: request: response: headers: bodyText:",
        "bodyBase64:",
        "method: POST path: /v1/submitOrder sha256: bodyFile: status: layout: spaced",
        "query: Location",
        json.dumps(order()),
        certificate(),
        "Authorization Cookie X-Api-Key X-Anything appKey signature password app_secret mnemonic",
        "privateKey redacted before after",
        DEMO_APP_KEY,
    )
)
"""What stands in the files anyway; Hypothesis likes to draw words that it finds in our code."""

TO_URL = bytes.maketrans(b"+/", b"-_")
SECRETS = st.text(
    st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=40
).filter(
    lambda text: (
        len(set(text)) >= 6
        and text.strip(";,\"'= ") == text
        and ";" not in text
        and text not in OWN_WORDS
    )
)


def certificate_with(name, value):
    """`sourceCerts` with one more member."""
    told = {"fromAmount": "10000000", "fromAddr": WALLET, "certHash": HASH, name: value}
    return json.dumps(told, separators=(",", ":")).encode().hex()


def planted(place, secret):
    """A request and an answer with a secret in one place."""
    request, response = Request("POST", "/v1/submitOrder"), Response(200, (), b"{}")
    body = {
        "body": {"extra": f"before {secret} after"},
        "deep": {"list": [{"inner": [secret]}]},
        "key": {secret: 1},
        "name": {f"sig-{secret}": "x", f"{secret}.SIG": "y", "sig": {secret: secret}},
        "hex": {"extra": secret.encode().hex()},
        "HEX": {"extra": "0x" + f"a{secret}z".encode().hex().upper()},
        "base64": {"extra": base64.b64encode(f"x{secret}".encode()).decode()},
        "url": {"extra": base64.urlsafe_b64encode(f"xy{secret}yx".encode()).decode().rstrip("=")},
        "sourceCerts": order(sourceCerts=certificate_with("memo", secret)),
        "signature in sourceCerts": order(sourceCerts=certificate_with("signature", secret)),
        "text in text": {"extra": json.dumps({"note": secret})},
    }
    where = place.removeprefix("answer ")
    if where in body:
        raw = json.dumps(body[where]).encode()
        if where != place:
            return request, Response(200, (), raw)
        return replace(request, body=raw), response
    if where == "query":
        return replace(request, query=urlencode({"a": "1", "memo": secret})), response
    if where == "allowed header":
        return replace(request, headers=Headers((("Accept", f"x/{secret}"),))), response
    if where == "bytes":
        return request, Response(200, (), b"\xff\x00" + secret.encode() + b"\x01")
    if where == "large":
        return request, Response(200, (), b"\xff" * 70_000 + secret.encode())
    assert where == "location"
    return request, Response(302, (("Location", f"/next?t={quote_plus(secret)}"),), b"")


PLACES = (
    *("body", "deep", "key", "name", "hex", "HEX", "base64", "url", "sourceCerts"),
    *("signature in sourceCerts", "text in text", "query", "allowed header"),
    *("answer body", "answer deep", "answer key", "answer hex", "answer base64"),
    *("answer sourceCerts", "answer text in text", "bytes", "large", "location"),
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("header", CERTAINLY_SECRET)
@costly(3, 60)
@given(secret=SECRETS)
@pytest.mark.deep(quick=30)
def test_what_a_header_told_stands_nowhere(tmp_path_factory, place, header, secret):
    # A word of the contract, in whatever letters, or what could be one: it is kept by its role.
    assume(not secret.isalpha() and secret.lower() not in contract_words())
    # Numbers are never masked because a header had the same text.
    assume(not secret.replace(".", "").isdecimal())
    request, response = planted(place, secret)
    value = {"Cookie": f"id=1; session={secret}", "Authorization": f"Bearer {secret}"}.get(
        header, secret
    )
    request = replace(request, headers=Headers((*request.headers.items_sent, (header, value))))
    raw = on_disk(tmp_path_factory.mktemp("kept"), exchange(request, response), Redactor())
    assert traces(secret, raw) == [], secret


FEW = st.sampled_from(["0-", "1+", "_7", "12:", "T0:-", "$1", "#9", "3=", "/5", "|0", "a9"])
OF_FEW_CHARACTERS = FEW.flatmap(lambda few: st.text(few, min_size=7, max_size=24)).filter(
    lambda text: len(set(text)) > 1 and text.strip(";,\"'= ") == text and text not in OWN_WORDS
)
"""What looks like a date that is none, like a line, or like nothing at all."""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("header", ["Authorization", "X-Api-Key", "Cookie"])
@costly(3, 60)
@given(secret=OF_FEW_CHARACTERS)
@pytest.mark.deep(quick=8)
def test_what_has_few_characters_stands_nowhere(tmp_path_factory, place, header, secret):
    # Numbers are never masked because a header had the same text.
    assume(not secret.lstrip("+-").replace(".", "").isdecimal())
    request, response = planted(place, secret)
    value = {"Cookie": f"id=1; session={secret}", "Authorization": f"Bearer {secret}"}.get(
        header, secret
    )
    request = replace(request, headers=Headers((*request.headers.items_sent, (header, value))))
    raw = on_disk(tmp_path_factory.mktemp("kept"), exchange(request, response), Redactor())
    assert traces(secret, raw) == [], secret


@pytest.mark.parametrize("secret", ["0x0x0x", "aa#a#a", "-1-1-1-1"])
@pytest.mark.parametrize(
    "packed",
    [
        base64.b64encode,
        lambda raw: base64.urlsafe_b64encode(raw).rstrip(b"="),
        lambda raw: base64.b64encode(gzip.compress(raw, mtime=0)),
        lambda raw: base64.b64encode(raw.hex().encode()),
    ],
)
def test_a_short_secret_is_found_where_it_is_packed(packed, secret):
    told = Request("GET", "/v1/getChain", "", Headers((("X-Api-Key", secret),)))
    body = json.dumps({"note": packed(secret.encode()).decode(), "symbol": "USDTUSDT"}).encode()
    kept = Redactor().exchange(exchange(told, Response(200, (), body))).response.body
    assert packed(secret.encode()) not in kept
    assert b'"USDTUSDT"' in kept


@pytest.mark.parametrize("word", ["priceChange24h", "PRICECHANGE24H"])
def test_a_word_of_the_contract_stays_whatever_a_header_told(word):
    request, response = planted("answer key", word)
    told = replace(request, headers=Headers((("Authorization", f"Bearer {word}"),)))
    kept = Redactor().exchange(exchange(told, response))
    assert kept.response.body == response.body
    assert "Authorization" not in kept.request.headers


@pytest.mark.parametrize("place", PLACES)
def test_the_search_would_find_what_is_planted(tmp_path, place):
    secret = "".join(("Pl4nted", "/Secret", "+value?of%mine"))
    found = traces(secret, on_disk(tmp_path, exchange(*planted(place, secret)), None))
    assert found


@pytest.mark.parametrize("place", PLACES)
@costly(3, 60)
@given(secret=SECRETS)
def test_what_the_user_named_stands_nowhere(tmp_path_factory, place, secret):
    redactor = Redactor(secrets=[secret])
    raw = on_disk(tmp_path_factory.mktemp("kept"), exchange(*planted(place, secret)), redactor)
    assert traces(secret, raw) == [], secret


@pytest.mark.parametrize(
    "name", ["signature", "appKey", "app_secret", "privateKey", "password", "Api-Key", "mnemonic"]
)
@pytest.mark.parametrize("wrapped", ["plain", "hex", "base64", "query", "answer", "odd json"])
@costly(2, 40)
@given(secret=SECRETS)
@pytest.mark.deep(quick=12)
def test_members_that_are_called_as_secrets_are_masked(tmp_path_factory, name, wrapped, secret):
    told = json.dumps({"deep": [{name: secret}], "other": "stays"}).encode()
    request, response = Request("POST", "/v1/submitOrder"), Response(200, (), b"{}")
    match wrapped:
        case "plain":
            request = replace(request, body=told)
        case "hex":
            request = replace(request, body=json.dumps({"sourceCerts": told.hex()}).encode())
        case "base64":
            coded = base64.b64encode(told).decode()
            request = replace(request, body=json.dumps({"extra": coded}).encode())
        case "query":
            request = replace(request, query=urlencode({name: secret, "other": "stays"}))
        case "answer":
            response = Response(200, (), told)
        case _:
            response = Response(200, (), told[:-1])
    raw = on_disk(tmp_path_factory.mktemp("kept"), exchange(request, response), Redactor())
    assert traces(secret, raw) == [], secret
    if wrapped in ("plain", "query", "answer"):
        assert b"stays" in raw


def test_headers_are_kept_only_where_they_are_allowed():
    sent = (("Accept", "a/b"), ("User-Agent", "x"), ("X-New-Tomorrow", "value-of-it"))
    came = (("Set-Cookie", "sid=0123456789; Path=/"), ("Date", "now"), ("X-Internal-Host", "ten"))
    kept = Redactor().exchange(
        exchange(Request("GET", "/v1/getChain", "", Headers(sent)), Response(200, came, b""))
    )
    assert kept.request.headers.items_sent == (("Accept", "a/b"),)
    assert kept.response.headers == (("Date", "now"),)
    assert kept.removed == ("X-New-Tomorrow", "Set-Cookie", "X-Internal-Host")


def test_a_cookie_that_was_set_is_found_in_a_later_body():
    redactor = Redactor()
    cookie = (("Set-Cookie", "sid=0123456789ab; Path=/"),)
    redactor.exchange(exchange(response=Response(200, cookie, b"")))
    later = redactor.exchange(exchange(response=Response(200, (), b'{"you":"0123456789ab"}')))
    assert later.response.body == b'{"you":"redacted"}'


def test_what_holds_no_secret_is_not_touched():
    body = b'{ "price": 1.00,\n "token": "USDT", "list": ["deadbeefdeadbeefdeadbeef"] }'
    one = exchange(Request("GET", "/v1/getPrice", "a=%41&b=x+y"), Response(200, (), body))
    kept = Redactor().exchange(one)
    assert (kept.request.query, kept.response.body) == ("a=%41&b=x+y", body)
    assert kept.removed == ()


def test_a_name_that_tells_of_a_secret_or_has_its_letters_holds_none():
    told = {
        "secretary": "Ann",
        "secretariat": "Lyon",
        "standardBearer": "Bob",
        "desenhadoPor": "Rui",
        "oneTimeFee": "0.1",
        "passRate": "0.98",
        "passThrough": "all",
        "sigFigs": "5",
        "isAuthorized": "yes",
        "authorizedSpender": "0x" + "9f" * 20,
        "hasPassword": "no",
        "numSignatures": "3",
        "requiredSignatures": "2",
        "signatureValid": "true",
        "passwordChangedAt": "1767225600",
        "jwtExpiresIn": "3600",
        "activationCodeSent": "no",
        "cookieConsent": "given",
        "cookieDomain": "x.example",
        "otpDigits": "6",
    }
    assert _masked(told) == set()
    secrets = ("secretaryPassword", "authorization", "senha", "oneTimeCode", "bearer", "isoPin")
    assert _masked(dict.fromkeys(secrets, "vqx7-Kd2mQ")) == set(secrets)


def _masked(told):
    """Return which members of an answer are masked."""
    answer = Response(200, (), json.dumps(told).encode())
    kept = json.loads(Redactor().exchange(exchange(response=answer)).response.body)
    return {name for name, value in told.items() if kept[name] != value}


def test_a_signed_request_is_signed_again_with_the_key_of_the_mock():
    body = b'{"amount":10.0,"fromChain":"BSC"}'
    headers = (
        ("appKey", "real-key-1"),
        ("expireTime", "15000"),
        ("timestamp", "1767225600000"),
        ("signature", "e" * 60 + "0123"),
    )
    kept = (
        Redactor()
        .exchange(
            exchange(
                Request("POST", "/open/v1/order/getCrossChainQuote", "", Headers(headers), body)
            )
        )
        .request
    )
    assert kept.headers["appKey"] == DEMO_APP_KEY
    signed = developer_signatures.DeveloperHeaders(DEMO_APP_KEY, "15000", "1767225600000")
    assert developer_signatures.matches(
        kept.headers["signature"], kept.body, signed, DEMO_APP_SECRET
    )
    again = Redactor().exchange(exchange(kept)).request
    assert again.headers.items_sent == kept.headers.items_sent


@pytest.mark.parametrize(
    ("body", "is_signed"),
    [
        (b'{"appKey":"real-key-1","sign":"%s"}' % (b"e" * 64), True),
        (b'{"sign":"%s"}' % (b"e" * 64), False),
        (b'{"appKey":["real-key-1"],"sign":{"real":1}}', False),
    ],
)
def test_an_answer_that_signs_has_the_signature_of_the_mock(body, is_signed):
    sent = Headers((("expireTime", "15000"), ("timestamp", "1767225600000")))
    request = Request("POST", "/sign/getSign", "", sent, b'{"amount":10.0}')
    made = replace(exchange(request), response=Response(200, (), body))
    kept = Redactor().exchange(made).response
    assert b"real-key-1" not in kept.body
    signed = developer_signatures.DeveloperHeaders(DEMO_APP_KEY, "15000", "1767225600000")
    sign = json.loads(kept.body)["sign"]
    if is_signed:
        assert json.loads(kept.body)["appKey"] == DEMO_APP_KEY
    assert (
        isinstance(sign, str)
        and developer_signatures.matches(sign, request.body, signed, DEMO_APP_SECRET)
    ) is is_signed


ADDRESS = "0x" + "a1b2c3d4e5" * 4
DIGEST = "0x" + "0123456789abcdef" * 4


def test_stand_ins_have_the_form_of_what_they_replace_and_are_the_same_everywhere():
    redactor = Redactor(EVERY_KIND)
    request = Request(
        "POST",
        "/v1/submitOrder",
        "",
        Headers((("Evmaddress", ADDRESS),)),
        json.dumps(
            order(toAddr=ADDRESS, sourceCerts=certificate_with("fromAddr", ADDRESS))
        ).encode(),
    )
    answer = Response(200, (), b'{"code":0,"data":{"id":"30000000001"}}')
    first = redactor.exchange(exchange(request, answer))
    stand_in = first.request.headers["Evmaddress"]
    assert stand_in != ADDRESS
    assert len(stand_in) == len(ADDRESS)
    assert int(stand_in, 16)
    sent = json.loads(first.request.body)
    assert sent["toAddr"] == stand_in
    deposit = json.loads(bytes.fromhex(sent["sourceCerts"]))
    assert deposit["fromAddr"] == stand_in
    assert len(deposit["certHash"]) == 66
    number = json.loads(first.response.body)["data"]["id"]
    assert (number != "30000000001", len(number), number.isdigit()) == (True, 11, True)
    poll = Request("GET", "/v1/checkOrder", "id=30000000001")
    told = (
        b'{"msg":"order 30000000001 of '
        + ADDRESS.encode()
        + b'","hash":"'
        + DIGEST.encode()
        + b'"}'
    )
    second = redactor.exchange(exchange(poll, Response(200, (), told)))
    assert second.request.query == f"id={number}"
    assert json.loads(second.response.body)["msg"] == f"order {number} of {stand_in}"
    assert ADDRESS.encode() not in second.response.body
    assert DIGEST.encode() not in second.response.body


def test_a_stand_in_of_an_order_number_keeps_the_letters_that_tell_its_kind():
    redactor = Redactor(EVERY_KIND)

    def seen(number):
        body = json.dumps({"code": 0, "data": {"sn": number}}).encode()
        request = Request("GET", "/open/v1/order/getOrderDetailByHashAndEvmAddress", "")
        answer = redactor.exchange(exchange(request, Response(200, (), body))).response
        return json.loads(answer.body)["data"]["sn"]

    for kind in ("CC", "AG", ""):
        number = f"{kind}1160520261123080707633"
        made = seen(number)
        assert made.startswith(f"{kind}5050")
        assert (len(made), made.removeprefix(kind).isdigit()) == (len(number), True)
        assert made != number
        assert seen(number) == made == seen(made)


def test_a_known_address_is_replaced_also_where_something_is_written_behind_it():
    redactor = Redactor(EVERY_KIND)
    get = partial(Request, "GET", "/v1/getBalance")
    stand_in = redactor.request(get(f"address={ADDRESS}")).query.removeprefix("address=")
    told = Response(
        200, (("X-Mock-Refusal", f"got {ADDRESS}xxx"),), b"no " + ADDRESS.encode() + b"x"
    )
    kept = redactor.exchange(exchange(get(f"address={ADDRESS}x"), told)).response
    assert kept.header("X-Mock-Refusal") == f"got {stand_in}xxx"
    assert kept.body.decode() == f"no {stand_in}x"


def test_a_stand_in_does_not_depend_on_what_was_replaced_before():
    upper = f"address=0x{ADDRESS[2:].upper()}"
    asked = [Request("GET", "/v1/getBalance", query) for query in (f"address={ADDRESS}", upper)]
    redactor = Redactor(EVERY_KIND)
    kept = [redactor.request(one).query for one in asked]
    assert kept == [Redactor(EVERY_KIND).request(one).query for one in asked]


def test_another_salt_gives_other_stand_ins_and_the_same_the_same():
    def of(salt):
        redactor = Redactor(StandIns(("addresses",), salt))
        return redactor.request(Request("GET", "/v1/getBalance", f"address={ADDRESS}")).query

    assert of(SALT) == of(SALT)
    assert of(SALT) != of("f" * 32)


@pytest.mark.parametrize("address", [ADDRESS, "0x" + "0" * 20 + "a1" * 10])
def test_an_address_as_a_number_has_the_same_stand_in(address):
    sent = {"evmAddress": address, "fromAddress": int(address, 16)}
    request = Request("POST", "/open/v1/order/submitCrossChain", body=json.dumps(sent).encode())
    once = Redactor(EVERY_KIND).request(request)
    kept = json.loads(once.body)
    assert kept["evmAddress"] != address
    assert int(kept["evmAddress"], 16) == kept["fromAddress"]
    assert Redactor(EVERY_KIND).request(once) == once
    longer = b'{"fromAddress":%s}' % (b"9" * 4000)
    assert len(Redactor(EVERY_KIND).request(replace(request, body=longer)).body) == len(longer)


def test_stand_ins_are_not_replaced_again():
    redactor = Redactor(EVERY_KIND)
    query = urlencode({"address": ADDRESS, "hash": DIGEST, "id": "30000000001"})
    once = redactor.request(Request("GET", "/v1/getBalance", query))
    assert Redactor(EVERY_KIND).request(once) == once
    assert once.query != query


def test_tokens_keep_their_addresses():
    token = "0x" + "b1" * 20
    body = json.dumps(
        {
            "data": {"list": [{"symbol": "USDT", "address": token}]},
            "contractAddress": token,
            "said": f"of {token}",
        }
    ).encode()
    redactor = Redactor(EVERY_KIND)
    assert redactor.exchange(exchange(response=Response(200, (), body))).response.body == body
    coin = Request(
        "GET", "/v1/getBalance", f"contractAddress={'0x' + 'e' * 40}&address=0x{'c1' * 20}"
    )
    assert f"contractAddress=0x{'e' * 40}&" in redactor.request(coin).query


def test_addresses_of_other_chains_keep_their_form():
    address = "kaspa:qqkqkzjvr7zwxxmjxjkmxx0123456789abcdefghijklmnopqrstuvwxyz"
    request = Request("GET", "/v1/getBalance", urlencode({"chain": "KAS", "address": address}))
    kept = Redactor(EVERY_KIND).request(request).query
    made = dict(pair.split("=") for pair in kept.split("&"))["address"].replace("%3A", ":")
    assert made.startswith("kaspa:")
    assert (made != address, len(made)) == (True, len(address))


@given(body=st.binary(max_size=300), query=st.text(max_size=40))
def test_any_message_can_be_redacted_and_read_again(tmp_path_factory, body, query):
    folder = tmp_path_factory.mktemp("kept")
    headers = Headers((("appKey", "0123456789"),))
    request = Request("POST", "/v1/x", query, headers, body)
    on_disk(folder, exchange(request, Response(200, (), body[::-1])), Redactor(EVERY_KIND))
    (file,) = folder.glob("*.yaml")
    load(file)


SPELLED = "K3yOfS0meb0dy+with/odd=signs&more"
HEX_KEY = "0xAbCdEf0123456789aBcDeF0123456789"


@pytest.mark.parametrize(
    ("secret", "written"),
    [
        (SPELLED, html.escape(SPELLED).encode()),
        (SPELLED, re.sub(r"[^A-Za-z0-9]", lambda odd: f"&#{ord(odd[0])};", SPELLED).encode()),
        (SPELLED, re.sub(r"[^A-Za-z0-9]", lambda odd: f"&#x{ord(odd[0]):X};", SPELLED).encode()),
        (SPELLED, re.sub(r"[^A-Za-z0-9]", lambda odd: f"\\u{ord(odd[0]):04x}", SPELLED).encode()),
        (SPELLED, quote_plus(quote_plus(SPELLED)).encode()),
        (SPELLED, quote_plus(quote_plus(quote_plus(SPELLED))).encode()),
        (SPELLED, SPELLED.encode("utf-16-le")),
        (SPELLED, SPELLED.encode("utf-16-be")),
        (HEX_KEY, HEX_KEY.lower().encode()),
        (HEX_KEY, HEX_KEY.upper().encode()),
    ],
)
def test_a_secret_is_found_as_pages_of_errors_and_redirects_write_it(secret, written):
    told = Request("GET", "/v1/getChain", "", Headers((("X-Api-Key", secret),)))
    page = b"<p>no such key: " + written + b" (502)</p>"
    kept = Redactor().exchange(exchange(told, Response(502, (), page)))
    assert written not in kept.response.body
    masked = kept.response.body
    assert (masked[:16], masked[-10:]) == (page[:16], page[-10:])
    assert re.search(rb"redacted|0x0{32}", masked.replace(b"\0", b""))


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("https://me:Passw0rd@a.example/x?b=1", "https://redacted@a.example/x?b=1"),
        ("//me@a.example/x", "//redacted@a.example/x"),
        ("/x?token=abc&chain=ARB#access_token=def", None),
        ("/x?chain=ARB&mail=a@b.example", "/x?chain=ARB&mail=a@b.example"),
        ("https://a.example:8080/v1/getChain", "https://a.example:8080/v1/getChain"),
    ],
)
def test_a_redirect_lets_nobody_in(sent, kept):
    response = Redactor().exchange(exchange(response=Response(302, (("Location", sent),), b"")))
    expected = kept or "/x?token=redacted&chain=ARB#access_token=redacted"
    assert response.response.header("Location") == expected


@pytest.mark.deep
def test_members_of_a_large_body_are_masked_as_well():
    rows = b",".join(b'{"price":"%d","api_key":"Key%dOfR0w"}' % (n, n) for n in range(300))
    body = b"[" + rows + b',{"apiKey" : "Quoted\\"Value","token":"USDT"}]'
    large = body + b" " * (WALKED - len(body) + 1)
    for one in (body, large):
        kept = Redactor().exchange(exchange(response=Response(200, (), one))).response.body
        assert kept.count(b"redacted") == 301
        assert b"OfR0w" not in kept
        assert b"Quoted" not in kept
        assert b'"token":"USDT"' in kept


@pytest.mark.parametrize("cut", [b"", b"\x7b", b"\x00\xd8"])
@pytest.mark.parametrize("name", ["utf-16", "utf-16-be", "utf-16-le"])
def test_a_text_of_two_bytes_a_character_may_be_cut_anywhere(name, cut):
    mark = b"\xfe\xff" if name == "utf-16-be" else b"\xff\xfe" if name == "utf-16-le" else b""
    raw = mark + '{"password": "correct-horse"} '.encode(name) + cut
    request = Request("POST", "/v1/submitTicket", "", Headers(), raw)
    kept = Redactor().request(request).body
    # Half a character stays as it came; a whole one is written in the order of the other bytes.
    assert len(cut) % 2 == 0 or kept.endswith(cut)
    assert b"correct" not in kept.replace(b"\0", b"")


@pytest.mark.parametrize(
    "raw", [b"\xff\xfe{", b"\xfe\xff\x00", b"\xef\xbb\xbf\xff", b"\xff\xfe\0\0ab"]
)
def test_marks_of_an_encoding_that_it_is_not_are_kept_as_bytes(raw):
    request = Request("POST", "/v1/submitTicket", "", Headers(), raw)
    assert Redactor().request(request).body == raw


def test_a_list_that_was_clean_is_searched_again_once_a_secret_is_known():
    redactor = Redactor()
    body = b'{"code":0,"note":"see Zq8xK2mP9vLw4tRb7nYc for more"}'
    request, answer = Request("GET", "/v1/getChain"), Response(200, (), body)

    def kept(headers: Headers) -> RecordedExchange:
        sent = replace(request, headers=headers)
        return redactor.exchange(RecordedExchange("a", "v2.getChain", sent, answer, "captured"))

    assert [kept(Headers()).response.body for _ in range(2)] == [body, body]
    bearer = Headers((("Authorization", "Bearer Zq8xK2mP9vLw4tRb7nYc"),))
    for headers in (bearer, Headers()):
        again = kept(headers)
        assert b"Zq8xK2mP9vLw4tRb7nYc" not in again.response.body
        assert again.masked


@pytest.mark.parametrize("most", [20, 40, 80])
def test_the_beginning_of_a_packed_secret_is_no_part_of_a_message(most):
    """Messages quote values cut short, and the beginning of packed bytes can be unpacked."""
    inner = json.dumps({"password": "kT9wQ2nB7xLm4Rz8Yc3mPd6F"}).encode()
    coded = base64.b64encode(gzip.compress(inner, mtime=0)).decode()
    redactor = Redactor()
    redactor.study(Request("GET", "/"), Response(200, (), json.dumps({"note": coded}).encode()))
    shown = redactor.line(f"note is {coded[:most]!r}... ({len(coded)} characters)")
    assert coded[:12] not in shown
    assert shown.startswith("note is '")
    assert shown.endswith(f"... ({len(coded)} characters)")
    healthy = "note is 'c29tZXRoaW5nIGVsc2U'..."
    assert redactor.line(healthy) == healthy
