"""A hundred more, as programs, shells, protocols and files of others write them; and secrets of few different characters.

Written from the description of what is masked and from general knowledge, before any file of the masking code was opened.
The first measurement, with that code as it was: of 132 places 27 were readable in a recording, of 96 secrets of few characters 60.
"""

from __future__ import annotations

import base64
import gzip
import json
import urllib.parse
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle

from tests.secrets_corpus.planted import (
    SPELLINGS,
    Case,
    Planted,
    answered,
    asked,
    b64,
    back,
    headed,
    hexadecimal,
    jwt,
    ordered,
    posted,
    text,
    texted,
)

_Form = Callable[[str], Planted]
_URL_FORM = "application/x-www-form-urlencoded"


def _noted(value: str) -> Planted:
    return answered({"note": value})


def _deflated(value: str) -> str:
    return base64.b64encode(zlib.compress(value.encode())[2:-4]).decode()


def _filled(rows: Mapping[str, str], placed: _Form) -> dict[str, _Form]:
    """Return a form for each row that has a place for a secret."""

    def form(row: str) -> _Form:
        return lambda secret: placed(row.format(secret))

    return {name: form(row) for name, row in rows.items()}


def _headers() -> dict[str, _Form]:
    return {
        "Hawk": lambda s: headed(("Authorization", f'Hawk id="a", ts="1", nonce="n", mac="{s}"')),
        "shared access signature": lambda s: headed(
            ("Authorization", f"SharedAccessSignature sr=a&sig={s}&se=1&skn=k")
        ),
        "login of old": lambda s: headed(("Authorization", f"GoogleLogin auth={s}")),
        "Negotiate": lambda s: headed(("Authorization", f"Negotiate {b64(s)}")),
        "several schemes": lambda s: headed(("Authorization", f"Basic bWU6bWU=, Bearer {s}")),
        "webhook": lambda s: headed(("Stripe-Signature", f"t=1767225600,v1={s}")),
        "webhook list": lambda s: headed(("Webhook-Signature", f"v1,{s} v1,other")),
        "exchange passphrase": lambda s: headed(("OK-ACCESS-PASSPHRASE", s)),
        "exchange key": lambda s: headed(("X-MBX-APIKEY", s)),
        "monitoring": lambda s: headed(("DD-API-KEY", s), ("DD-APPLICATION-KEY", "x")),
        "quoted cookie": lambda s: headed(("Cookie", f'lang="en"; session="{s}"')),
        "cookie of JSON": lambda s: headed(
            ("Cookie", "state=" + urllib.parse.quote(json.dumps({"token": s})))
        ),
        "forwarded": lambda s: headed(("Forwarded", f"for=10.0.0.1;proto=https;secret={s}")),
        "original URI": lambda s: headed(("X-Original-URI", f"/v1/getPrice?pin={s}")),
        "From": lambda s: headed(("From", f"me:{s}@a.example")),
        "answer alternate": lambda s: back(("Content-Location", f"/v1/x?signature={s}")),
        "answer cookie in base64": lambda s: back(
            ("Set-Cookie", f"s={b64(json.dumps({'jwt': s}))}; Path=/")
        ),
        "answer new password": lambda s: back(("X-Generated-Password", s)),
        "answer source map": lambda s: back(("SourceMap", f"https://me:{s}@a.example/x.map")),
    }


def _queries() -> dict[str, _Form]:
    return {
        "deep brackets": lambda s: asked(f"data%5Buser%5D%5B0%5D%5BapiKey%5D={s}"),
        "state of OAuth": lambda s: asked(
            "state=" + SPELLINGS["base64url"](json.dumps({"csrf_token": s}))
        ),
        "SAML": lambda s: asked(
            "SAMLRequest=" + urllib.parse.quote(_deflated(f"<a><Password>{s}</Password></a>"))
        ),
        "verifier": lambda s: asked(f"code_verifier={s}"),
        "assertion": lambda s: asked(f"client_assertion={s}"),
        "escaped ampersand": lambda s: asked(f"x=1&amp;token={s}"),
        "name with a space": lambda s: asked(f"+password+={s}"),
        "name with a sign": lambda s: asked(f"%24passwd={s}"),
        "curl arguments": lambda s: asked("cmd=" + urllib.parse.quote(f"login --token={s} -v")),
        "path after a question": lambda s: Planted(path=f"/v1/getPrice/access_token={s}"),
        "path of a bot": lambda s: Planted(path=f"/bot123456:{s}/getUpdates", query=""),
    }


def _json() -> dict[str, _Form]:
    return {
        "GraphQL": lambda s: posted(
            json.dumps({"query": f'mutation {{ login(user: "me", password: "{s}") {{ ok }} }}'}).encode()
        ),
        "GraphQL variables": lambda s: posted(
            json.dumps({"query": "mutation($a: In!)", "variables": {"a": {"passcode": s}}}).encode()
        ),
        "comment between": lambda s: texted(f'{{"password": /* of me */ "{s}"}}', "application/json"),
        "callback": lambda s: texted(f'cb({{"token":"{s}"}});', "text/javascript"),
        "prefix": lambda s: texted(f')]}}\',\n{{"apiKey":"{s}"}}', "application/json"),
        "mark at the start": lambda s: texted(f'\ufeff{{"pwd":"{s}"}}', "application/json"),
        "the same member twice": lambda s: posted(f'{{"password":"{s}","password":"x"}}'.encode()),
        "lines": lambda s: texted(f'{{"a":1}}\n{{"secret":"{s}"}}\n', "application/x-ndjson"),
        "cut short": lambda s: texted(f'{{"data":{{"passphrase":"{s}","x":', "application/json"),
        "type and value": lambda s: answered({"inputs": [{"type": "password", "value": s}]}),
        "id and text": lambda s: answered({"inputs": [{"id": "api_key", "text": s}]}),
        "label and content": lambda s: answered({"rows": [{"label": "API key", "content": s}]}),
        "typed": lambda s: ordered({"Item": {"password": {"S": s}}}),
        "basic pair": lambda s: ordered({"basicAuth": ["me", s]}),
        "user and password": lambda s: ordered({"userpass": f"me:{s}"}),
        "jar": lambda s: answered({"cookieJar": [f"sid={s}; Path=/"]}),
        "registry": lambda s: answered({"auths": {"r.example": {"auth": b64(f"me:{s}")}}}),
        "header text": lambda s: answered({"headers": f"Accept: */*\nAuthorization: Bearer {s}\n"}),
        "request as a text": lambda s: answered(
            {"raw": b64(f"POST /x HTTP/1.1\r\nCookie: a=b; session={s}\r\n\r\n")}
        ),
        "gzip twice": lambda s: _noted(
            base64.b64encode(gzip.compress(gzip.compress(f'{{"pin":"{s}"}}'.encode(), mtime=0), mtime=0)).decode()
        ),
        "base64 over lines": lambda s: _noted(
            base64.encodebytes(json.dumps({"user": "me" * 20, "password": s}).encode()).decode()
        ),
        "hex of UTF-16": lambda s: _noted(f'{{"password":"{s}"}}'.encode("utf-16").hex()),
        "percent of hex of JSON": lambda s: _noted(
            SPELLINGS["percent"](json.dumps({"keystore": s}).encode().hex())
        ),
        "JSON of form of JSON": lambda s: _noted(
            json.dumps({"f": "a=1&p=" + urllib.parse.quote(json.dumps({"hmac": s}))})
        ),
    }  # fmt: skip


def _shells() -> dict[str, _Form]:
    rows = {
        "mysql": "mysql -u root --password='{}' -h db", "database": "PGPASSWORD={} psql -h db", "sshpass": "sshpass -p '{}' ssh me@a.example",
        "registry": "docker login -u me --password {} r.example", "openssl": "openssl rsa -in k.pem -passin pass:{}", "redis": "redis-cli -a {} ping",
        "curl bearer": "curl --oauth2-bearer {} https://a.example", "wget": "wget --http-password={} https://a.example", "export": 'export API_TOKEN="{}"',
        "windows": "set DB_PASSWORD={}", "power shell": "$Password = ConvertTo-SecureString '{}' -AsPlainText", "helm": "helm install x --set auth.password={},a=b",
    }  # fmt: skip
    return _filled(rows, _noted)


def _addresses() -> dict[str, _Form]:
    rows = {
        "redis": "redis://:{}@cache.example:6379/0", "jdbc": "jdbc:postgresql://h/db?user=a&password={}", "storage": "AccountName=a;AccountKey={}==;EndpointSuffix=c",
        "bus": "Endpoint=sb://a.example/;SharedAccessKeyName=r;SharedAccessKey={}=", "oracle": "jdbc:oracle:thin:me/{}@h:1521", "odbc": "DRIVER={{x}};UID=a;PWD={};",
        "mail": "smtps://me%40a.example:{}@mail.example:465", "git": "https://oauth2:{}@git.example/a.git", "node": "https://eth.example/v2/?apikey={}", "proxy": "socks5h://me:{}@p.example:1080",
    }  # fmt: skip
    return _filled(rows, lambda filled: ordered({"endpoint": filled}))


def _files() -> dict[str, _Form]:
    rows = {
        "netrc": "machine a.example login me password {}\n", "htpasswd": "me:$apr1$salt${}\n", "shadow": "me:$6$salt${}:19000:0:::::\n",
        "aws": "[default]\naws_access_key_id = x\naws_secret_access_key = {}\n", "php": "<?php define('DB_PASSWORD', '{}');\n", "java": 'config.setPassword("{}");\n',
        "go": '\tPassword: "{}",\n', "ruby": '{{:user => "me", :password => "{}"}}\n', "clojure": '{{:user "me" :password "{}"}}\n', "lua": "cfg.token = [[{}]]\n",
        "heredoc": "password = <<EOF\n{}\nEOF\n", "toml three quotes": 'api_key = """{}"""\n', "toml inline": 'db = {{ user = "me", password = "{}" }}\n',
        "logfmt": "level=info msg=login token={} user=me\n", "call in a log": "DEBUG login(user=me, password={}, retry=1)\n", "python object": "Credentials(user='me', password='{}')\n",
        "java object": "User{{name='me', password='{}'}}\n", "ruby object": '#<User id: 1, password: "{}">\n', "go object": "{{Name:me Password:{} Age:3}}\n",
        "php dump": 'array(1) {{\n  ["password"]=>\n  string(28) "{}"\n}}\n', "php serial": 'a:1:{{s:8:"password";s:28:"{}";}}', "perl": "'password' => '{}',\n",
        "trace of http": "> GET / HTTP/1.1\n> authorization: Bearer {}\n< HTTP/1.1 200\n", "mail login": "220 a\nUSER me\n331 ok\nPASS {}\n230 in\n",
        "markdown table": "| name | value |\n|---|---|\n| password | {} |\n", "markdown bold": "**Password:** `{}`\n", "bencode": "d8:password28:{}e",
        "container": "env:\n  - name: DB_PASSWORD\n    value: {}\n", "yaml folded": "password: >-\n  {}\nuser: me\n", "yaml quoted": '"api key": "{}"\n', "yaml in a list": "- user: me\n- password: {}\n",
    }  # fmt: skip
    return _filled(rows, texted)


def _markup() -> dict[str, _Form]:
    rows = {
        "preferences": '<map><string name="auth_token">{}</string></map>', "field of a page": '<input type="password" name="p" value="{}">',
        "hidden field": "<input type=hidden name=csrf_token value={}>", "meta": '<meta name="csrf-token" content="{}">', "meta turned": '<meta content="{}" name="csrf-token">',
        "entity": '<!DOCTYPE a [<!ENTITY password "{}">]><a/>', "setting": '<Setting Name="Password"><Value>{}</Value></Setting>', "state of a page": '<script>window.S={{"authToken":"{}"}}</script>',
        "link of a page": '<a href="/x?a=1&amp;token={}">x</a>', "table of a page": "<tr><td>Password</td><td>{}</td></tr>", "list of a page": "<dl><dt>API key</dt><dd>{}</dd></dl>",
        "soap": '<s:Header><wsse:Password Type="#PasswordText">{}</wsse:Password></s:Header>', "in an attribute": "<login><data pwd = '{}'\n/></login>", "with a child between": "<secret><!-- c --><v>{}</v></secret>",
    }  # fmt: skip
    return _filled(rows, lambda filled: texted(filled, "text/html"))


def _forms() -> dict[str, _Form]:
    return {
        "form in JSON in form": lambda s: posted(
            ("x=" + urllib.parse.quote(json.dumps({"b": f"u=1&pwd={s}"}))).encode(), _URL_FORM
        ),
        "multipart without a type": lambda s: posted(
            f'--q\r\nContent-Disposition: form-data; name="otp"\r\n\r\n{s}\r\n--q--\r\n'.encode(),
            "text/plain",
        ),
        "multipart in capitals": lambda s: posted(
            f'--q\nCONTENT-DISPOSITION: FORM-DATA; NAME="ApiKey"\n\n{s}\n--q--\n'.encode(),
            "multipart/form-data; boundary=q",
        ),
        "form with a plus": lambda s: posted(f"api+key={s}&a=b".encode(), _URL_FORM),
        "form with dots": lambda s: posted(f"user.credentials.pin={s}".encode(), _URL_FORM),
    }


_FEW = (
    "0000-00-12T3", "000000++|000123", "0-0-0-0-0-0-0-7", "1.2.3.4.5.6.7.8", "aaaaaaaaaaa1", "A1A1A1A1A1A1", "$$$$$$$$$$$$", "............a",
    "000000000000=", "++++++++++++1==", "12:34:56:78:90", "12/34/56/78/90", "1,000,000,000,0", "+49-170-0000000", "0x0000000000zz", "99-99-9999-99:99",
    "1e10e10e10e1", "________0001", "1_000_000_000_000x", "T00:00:00.000Z", "2026-99-99T99", "v1.0.0-rc.0001", "10.0.0.1:80:80", "-1-1-1-1-1-1",
    "00000000-0000-0000-0000-000000000001", "aa11aa11aa11", "1234567890ab", "abc123abc123", "#############", "1=1=1=1=1=1=1", "1+1+1+1+1+1+1", "(000)000-0000",
)  # fmt: skip
"""Nobody would guess that one is a secret but for the header that brings it."""

_BRINGS: dict[str, str] = {
    "Authorization": "Bearer {}",
    "X-Api-Key": "{}",
    "Cookie": "a=1; session={}",
    "appKey": "{}",
    "X-Auth-Token": "{}",
}
_TAKES: dict[str, Callable[[str], Planted]] = {
    "certificate in hex": lambda s: ordered({"sourceCerts": json.dumps({"fromAmount": "1", "memo": s}).encode().hex()}),
    "base64 behind a letter": lambda s: ordered({"extra": base64.b64encode(b"x" + s.encode()).decode()}),
    "base64 between": lambda s: answered({"note": base64.b64encode(b"xy" + s.encode() + b"yx").decode()}),
    "url base64": lambda s: answered({"note": SPELLINGS["base64url"](s)}),
    "hex in capitals": lambda s: answered({"note": "0x" + f"a{s}z".encode().hex().upper()}),
    "JSON in text": lambda s: answered({"note": json.dumps({"memo": s})}),
    "gzip": lambda s: ordered({"extra": SPELLINGS["gzip-base64"](s)}),
    "raw deflate in hex": lambda s: answered({"note": zlib.compress(f"see {s} there".encode())[2:-4].hex()}),
    "base64 of hex": lambda s: answered({"note": SPELLINGS["base64-of-hex"](s)}),
    "percent": lambda s: answered({"note": SPELLINGS["percent"](s)}),
    "sentence": lambda s: answered({"reason": f"you sent {s} to us"}),
    "member": lambda s: answered({s: 1}),
    "hex of JSON in base64": lambda s: ordered({"extra": b64(json.dumps({"a": [s]}).encode().hex())}),
}  # fmt: skip


def _of_few_characters() -> Iterator[Case]:
    """Each with one header and three nestings, and so each nesting with several of them."""
    brings, takes = cycle(_BRINGS.items()), cycle(_TAKES.items())
    for secret in _FEW:
        for _ in range(3):
            (header, form), (nesting, make) = next(brings), next(takes)
            exchanges = (headed((header, form.format(secret))), make(secret))
            yield Case(f"few {secret}, {header}, {nesting}", secret, exchanges)


def _by_form() -> Iterator[Case]:
    rows: tuple[tuple[str, str, Planted], ...] = (
        ("JWT in a sentence", jwt("fresh sentence"), answered({"reason": f"expired: {jwt('fresh sentence')}!"})),
        ("JWT as DPoP", jwt("fresh dpop"), headed(("DPoP", jwt("fresh dpop")))),
        ("bearer in a page", text("fresh page"), texted(f"<code>Bearer {text('fresh page')}</code>", "text/html")),
        ("key to import", hexadecimal("fresh import"), posted(
            json.dumps({"method": "personal_importRawKey", "params": [hexadecimal("fresh import"), "p"]}).encode())),
        ("key of Solana", text("fresh solana", 88), answered({"solanaPrivateKey": text("fresh solana", 88)})),
        ("JWT in base64 in hex", jwt("fresh packed"), _noted(b64(jwt("fresh packed")).encode().hex())),
    )  # fmt: skip
    for name, secret, exchange in rows:
        yield Case(f"fresh form {name}", secret, (exchange,))


def fresh_cases() -> list[Case]:
    tables = {
        "header": _headers(), "query": _queries(), "json": _json(), "shell": _shells(), "address": _addresses(), "file": _files(),
        "markup": _markup(), "form": _forms(),
    }  # fmt: skip
    made = [
        Case(f"fresh {kind} {name}", secret, (form(secret),))
        for kind, forms in tables.items()
        for name, form in forms.items()
        for secret in (text(f"fresh {kind} {name}"),)
    ]
    return [*made, *_by_form(), *_of_few_characters()]
