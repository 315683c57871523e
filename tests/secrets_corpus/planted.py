"""Secrets planted in exchanges: place x nesting x spelling.

Written from the interface description alone, before the masking code was read. Each case has one secret that nobody may
read afterwards, wherever the exchanges go.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import urllib.parse
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_WORDS = (
    "abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid acoustic "
    "acquire across act action actor actress actual adapt add addict address adjust admit adult advance advice aerobic affair "
    "afford afraid again age agent agree ahead aim air airport aisle alarm album alcohol alert alien all alley allow almost"
).split()
ADDRESS = "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9"


@dataclass(frozen=True)
class Planted:
    """One request and its answer. `accidental` is everything that is not part of the case."""

    method: str = "GET"
    path: str = "/v1/getPrice"
    query: str = f"chain=ARB&contractAddress={ADDRESS}&symbol=USDT"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    answer_headers: tuple[tuple[str, str], ...] = ()
    answer: bytes = (
        b'{"code":0,"msg":"success","data":{"price":"1","updateTime":"1767225600","source":"feed"}}'
    )
    answer_type: str = "application/json"


@dataclass(frozen=True)
class Case:
    name: str
    secret: str
    exchanges: tuple[Planted, ...] = field(repr=False)


def text(name: str, length: int = 28) -> str:
    """A random text that is always the same for the same name."""
    number = int.from_bytes(hashlib.sha512(name.encode()).digest() * 2)
    letters = []
    for _ in range(length):
        number, index = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[index])
    return "".join(letters)


def digits(name: str, length: int = 8) -> str:
    return "7" + str(int(hashlib.sha256(name.encode()).hexdigest(), 16))[: length - 1]


def hexadecimal(name: str, length: int = 64) -> str:
    return hashlib.sha512(name.encode()).hexdigest()[:length]


def phrase(name: str, words: int = 12) -> str:
    mark = hashlib.sha512(name.encode()).digest()
    return " ".join(_WORDS[mark[index] % len(_WORDS)] for index in range(words))


def _url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def jwt(name: str) -> str:
    head = _url64(b'{"alg":"HS256","typ":"JWT"}')
    return f"{head}.{_url64(json.dumps({'sub': text(name, 10)}).encode())}.{_url64(hashlib.sha256(name.encode()).digest())}"


def pem(name: str, kind: str = "PRIVATE KEY") -> str:
    content = base64.b64encode(hashlib.sha512(name.encode()).digest() * 3).decode()
    lines = "\n".join(content[start : start + 64] for start in range(0, len(content), 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


def pem_line(name: str) -> str:
    """A line of the content, which is what must not be read."""
    return pem(name).splitlines()[1]


def answered(extra: Mapping[str, object]) -> Planted:
    """Members beside those of a price."""
    data = {"price": "1", "updateTime": "1767225600", "source": "feed", **extra}
    return Planted(answer=json.dumps({"code": 0, "msg": "success", "data": data}).encode())


_ORDER = {
    "channel": "wallet", "execStrategy": "", "extra": "", "orderType": "1", "slippage": "0", "sourceCerts": "0x00", "timeout": "0",
    "toAddr": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A", "toChain": "BNB", "toIndex": "1", "triggerPrice": "0",
}  # fmt: skip
_WALLET = (("Evmaddress", "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"),)


def posted(body: bytes, kind: str = "application/json", *headers: tuple[str, str]) -> Planted:
    return Planted(
        "POST", "/v1/submitOrder", "", (("Content-Type", kind), *_WALLET, *headers), body,
        answer=b'{"code":0,"msg":"success","data":{"id":"1001"}}',
    )  # fmt: skip


def ordered(extra: Mapping[str, object]) -> Planted:
    return posted(json.dumps(_ORDER | dict(extra)).encode())


def asked(query: str) -> Planted:
    return Planted(query=f"{Planted.query}&{query}")


def headed(*headers: tuple[str, str]) -> Planted:
    return Planted(headers=headers)


def back(*headers: tuple[str, str]) -> Planted:
    return Planted(answer_headers=headers)


def texted(body: str, kind: str = "text/plain", encoding: str = "utf-8") -> Planted:
    return Planted(answer=body.encode(encoding), answer_type=kind)


def percent_all(value: str) -> str:
    return "".join(f"%{byte:02X}" for byte in value.encode())


def escape_all(value: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in value)


def entities(value: str) -> str:
    return "".join(f"&#x{ord(letter):x};" for letter in value)


def b64(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": percent_all,
    "percent-twice": lambda value: percent_all(value).replace("%", "%25"),
    "base64": b64,
    "base64url": lambda value: _url64(value.encode()),
    "hex": lambda value: value.encode().hex(),
    "hex-capitals": lambda value: value.encode().hex().upper(),
    "0x": lambda value: "0x" + value.encode().hex(),
    "base64-of-hex": lambda value: b64(value.encode().hex()),
    "hex-of-base64": lambda value: b64(value).encode().hex(),
    "gzip-base64": lambda value: base64.b64encode(gzip.compress(value.encode(), mtime=0)).decode(),
    "deflate-base64": lambda value: base64.b64encode(zlib.compress(value.encode())[2:-4]).decode(),
    "zlib-hex": lambda value: zlib.compress(value.encode()).hex(),
    "percent-base64": lambda value: percent_all(b64(value)),
    "entities": entities,
    "utf16-base64": lambda value: base64.b64encode(value.encode("utf-16-le")).decode(),
    "three-deep": lambda value: b64(b64(b64(value))),
    "four-deep": lambda value: b64(b64(value).encode().hex().encode().hex()),
    "in-a-sentence": lambda value: f"you sent {value}, which is wrong",
    "capitals": str.upper,
}  # fmt: skip


def _request_headers() -> Iterator[Case]:
    rows: tuple[tuple[str, str], ...] = (
        ("Authorization", "Bearer {}"), ("Authorization", "Basic {}"), ("Authorization", "{}"), ("authorization", "Token token={}"),
        ("Authorization", 'Digest username="u", realm="r", nonce="abc", uri="/", response="{}"'), ("Proxy-Authorization", "Bearer {}"),
        ("Cookie", "session={}"), ("Cookie", "lang=en; theme=dark; sid={}; a=b"), ("X-Api-Key", "{}"), ("X-API-TOKEN", "{}"),
        ("ApiKey", "{}"), ("api_key", "{}"), ("X-Auth-Token", "{}"), ("X-Access-Token", "{}"), ("X-CSRF-Token", "{}"),
        ("X-Amz-Security-Token", "{}"), ("X-Session-Id", "{}"), ("X-Client-Secret", "{}"), ("X-Vault-Token", "{}"),
        ("Referer", "https://wallet.example/in?token={}"), ("Origin", "https://user:{}@wallet.example"), ("X-Keys", "first, {}, third"),
        ("Link", "<https://a.example/next?api_key={}>; rel=next"), ("Accept", "application/json; token={}"),
        ("Content-Type", "application/json; apikey={}"), ("X-Forwarded-Authorization", "Bearer {}"), ("User-Agent", "wallet/1.0 (key={})"),
        ("Sec-WebSocket-Protocol", "v1, bearer.{}"), ("X-Odd-Thing", "{}"), ("appKey", "{}"), ("signature", "{}"), ("Signature", "0x{}"),
        ("X-Password", "{}"), ("X-Otp", "{}"), ("X-Goog-Iap-Jwt-Assertion", "{}"), ("Chain", "ARB; secret={}"), ("X-Hub-Signature-256", "sha256={}"),
    )  # fmt: skip
    for index, (name, form) in enumerate(rows):
        secret = text(f"header {index}")
        yield Case(f"request header {name} {index}", secret, (headed((name, form.format(secret))),))


def _answer_headers() -> Iterator[Case]:
    rows = (
        ("Set-Cookie", "sid={}; Path=/; HttpOnly"), ("Set-Cookie", "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT, jwt={}; Secure"),
        ("Location", "https://a.example/cb?access_token={}"), ("Location", "https://a.example/cb#access_token={}&type=bearer"),
        ("Location", "https://user:{}@a.example/"), ("Location", "/cb?next=%2Fin%3Ftoken%3D{}"), ("Location", "https://a.example/reset/token/{}"),
        ("X-Refresh-Token", "{}"), ("Authentication-Info", 'nextnonce="{}"'), ("Link", "<https://a.example/?sig={}>; rel=next"),
        ("Content-Type", "application/json; password={}"), ("Cache-Control", 'private="{}", token={}'), ("X-Api-Key", "{}"),
        ("Content-Language", "en; secret={}"), ("Retry-After", "5; key={}"), ("Www-Authenticate", 'Bearer token="{}"'),
    )  # fmt: skip
    for index, (name, form) in enumerate(rows):
        secret = text(f"answer header {index}")
        yield Case(
            f"answer header {name} {index}", secret, (back((name, form.format(secret, secret))),)
        )


def _queries() -> Iterator[Case]:
    names = (
        "token", "access_token", "api_key", "apikey", "API-KEY", "key", "secret", "client_secret", "password", "pwd", "passwd", "pin",
        "otp", "passcode", "sig", "signature", "hmac", "jwt", "session", "auth", "user[password]", "login.passWord", "tok%65n", "token[]",
        "X-Amz-Signature", "private_key", "mnemonic", "wif", "%70wd", "a;password",
    )  # fmt: skip
    for name in names:
        secret = text(f"query {name}")
        yield Case(f"query {name}", secret, (asked(f"{name}={secret}"),))
    for spelling in ("percent", "percent-twice", "base64", "hex"):
        secret = text(f"query value {spelling}")
        yield Case(
            f"query value {spelling}", secret, (asked(f"token={SPELLINGS[spelling](secret)}"),)
        )
    nested = (
        ("json", lambda s: urllib.parse.quote(json.dumps({"password": s}))),
        ("json-base64", lambda s: b64(json.dumps({"user": {"password": s}}))),
        ("url", lambda s: urllib.parse.quote(f"https://a.example/?apiKey={s}", safe="")),
        ("url-with-user", lambda s: urllib.parse.quote(f"https://user:{s}@a.example/", safe="")),
        ("form", lambda s: urllib.parse.quote(f"a=1&pwd={s}")),
        ("bearer", lambda s: urllib.parse.quote(f"Bearer {s}")),
    )  # fmt: skip
    for name, form in nested:
        secret = text(f"query nested {name}")
        yield Case(f"query nested {name}", secret, (asked(f"extra={form(secret)}"),))


def _paths() -> Iterator[Case]:
    rows = (
        "/v1/getPrice;jsessionid={}", "/v1/token/{}/getPrice", "/apikey/{}", "/v1/reset-password/{}", "/bot123456789:{}/send", "/v1/secrets/{}",
        "/v3/{}/", "/user:{}@host/x", "/v1/%74oken/{}", "/auth/Bearer%20{}",
    )  # fmt: skip
    for row in rows:
        secret = text(f"path {row}", 35)
        yield Case(f"path {row}", secret, (Planted(path=row.format(secret), query=""),))


_NAMES = (
    "password", "PassWord", "pass_word", "PASS-WORD", "pass word", "passwd", "pwd", "PWD", "userPassword", "new_password", "passwordConfirm",
    "pin", "PIN", "userPin", "otp", "totpSecret", "passcode", "passphrase", "pass_phrase", "secret", "clientSecret", "SecretAccessKey",
    "apiKey", "APIKEY", "api-key", "x-api-key", "apiKeyV2", "accessToken", "access token", "refresh_token", "idToken", "bearer", "jwt",
    "privateKey", "priv_key", "privKey", "PrivateKeyHex", "secretKey", "signingKey", "encryptionKey", "hmac", "hmacKey", "wif", "keystore",
    "mnemonic", "seed", "seedPhrase", "recoveryPhrase", "credentials", "authorization", "cookie", "sessionId", "csrfToken", "signature", "sign",
    "appSecret", "appKey", "\uff50assword", "auth", "webhookSecret", "2faCode", "mfa_code", "verificationCode", "xprv", "salt",
)  # fmt: skip


def _names() -> Iterator[Case]:
    for index, name in enumerate(_NAMES):
        secret = text(f"name {name}")
        place = (answered, ordered)[index % 2]
        yield Case(f"name {name} in {place.__name__}", secret, (place({name: secret}),))


def _nestings() -> Iterator[Case]:
    rows: dict[str, Callable[[str], dict[str, object]]] = {
        "object": lambda s: {"user": {"password": s}},
        "five deep": lambda s: {"a": {"b": {"c": {"d": {"apiKey": s}}}}},
        "list": lambda s: {"users": [{"name": "a"}, {"password": s}]},
        "list of texts": lambda s: {"tokens": ["a", s]},
        "below a secret member": lambda s: {"password": {"value": s, "hint": "none"}},
        "far below a secret member": lambda s: {"password": {"history": [{"old": {"text": s}}]}},
        "key below a secret member": lambda s: {"tokens": {s: True}},
        "list below a secret member": lambda s: {"secret": [[s]]},
        "name and value": lambda s: {"fields": [{"name": "password", "value": s}]},
        "key and value": lambda s: {"fields": [{"key": "apiKey", "value": s}]},
        "list of pairs": lambda s: {"headers": [["Authorization", s], ["Accept", "*/*"]]},
        "header line": lambda s: {"dump": f"GET / HTTP/1.1\r\nX-Api-Key: {s}\r\nHost: a"},
        "keystore": lambda s: {"keystore": {"crypto": {"ciphertext": s, "mac": "00"}}},
        "keystore form": lambda s: {"wallet": {"version": 3, "crypto": {"cipher": "aes-128-ctr", "ciphertext": s.encode().hex(), "mac": "0" * 64}}},
        "json text": lambda s: {"extra": json.dumps({"password": s})},
        "json text in json text": lambda s: {"extra": json.dumps({"inner": json.dumps({"password": s})})},
        "json text thrice": lambda s: {"extra": json.dumps({"a": json.dumps({"b": json.dumps({"pwd": s})})})},
        "base64 json": lambda s: {"extra": b64(json.dumps({"password": s}))},
        "hex json": lambda s: {"extra": json.dumps({"password": s}).encode().hex()},
        "0x json": lambda s: {"sourceCerts": "0x" + json.dumps({"password": s}).encode().hex()},
        "gzip base64 json": lambda s: {"extra": base64.b64encode(gzip.compress(json.dumps({"pin": s}).encode(), mtime=0)).decode()},
        "deflate hex json": lambda s: {"extra": zlib.compress(json.dumps({"pin": s}).encode())[2:-4].hex()},
        "zlib base64 json": lambda s: {"extra": base64.b64encode(zlib.compress(json.dumps({"otp": s}).encode())).decode()},
        "percent json": lambda s: {"extra": urllib.parse.quote(json.dumps({"password": s}))},
        "percent of base64 json": lambda s: {"extra": percent_all(b64(json.dumps({"password": s})))},
        "base64 of hex json": lambda s: {"extra": b64(json.dumps({"password": s}).encode().hex())},
        "hex of gzip of base64 json": lambda s: {"extra": gzip.compress(b64(json.dumps({"token": s})).encode(), mtime=0).hex()},
        "six deep": lambda s: {"extra": b64(b64(b64(b64(b64(b64(json.dumps({"password": s})))))))},
        "ten deep": lambda s: {"extra": _deep(json.dumps({"password": s}), 10)},
        "form text": lambda s: {"extra": f"a=1&password={s}&b=2"},
        "xml text": lambda s: {"extra": f"<a><password>{s}</password></a>"},
        "yaml text": lambda s: {"extra": f"user: me\npassword: {s}\n"},
        "data url": lambda s: {"extra": "data:application/json;base64," + b64(json.dumps({"password": s}))},
        "escaped name": lambda s: {"extra": f'{{"\\u0070assword": "{s}"}}'},
        "escaped value": lambda s: {"extra": f'{{"password": "{escape_all(s)}"}}'},
        "jsonish text": lambda s: {"extra": f"{{password: '{s}', a: 1}}"},
        "command line": lambda s: {"reason": f"curl --header 'Authorization: Bearer {s}' https://a.example"},
        "command option": lambda s: {"reason": f"tool --password {s} --verbose"},
        "environment": lambda s: {"reason": f"API_KEY={s} HOME=/root"},
        "sentence": lambda s: {"reason": f"the password is: {s}"},
    }  # fmt: skip
    for index, (name, make) in enumerate(rows.items()):
        secret = text(f"nesting {name}")
        for place in (answered, ordered) if index % 2 else (ordered,):
            yield Case(f"nested {name} in {place.__name__}", secret, (place(make(secret)),))


def _deep(value: str, depth: int) -> str:
    for turn in range(depth):
        value = b64(value) if turn % 2 else value.encode().hex()
    return value


_BOUNDARY = "frontier7"


def _multipart(*parts: str) -> Planted:
    body = "".join(f"--{_BOUNDARY}\r\n{part}\r\n" for part in parts) + f"--{_BOUNDARY}--\r\n"
    return posted(body.encode(), f"multipart/form-data; boundary={_BOUNDARY}")


def _bodies() -> Iterator[Case]:
    form = "application/x-www-form-urlencoded"
    rows: dict[str, Callable[[str], Planted]] = {
        "form password": lambda s: posted(f"user=me&password={s}".encode(), form),
        "form pin first": lambda s: posted(f"pin={s}&user=me".encode(), form),
        "form brackets": lambda s: posted(f"user[name]=me&user[pwd]={s}".encode(), form),
        "form escaped name": lambda s: posted(f"%70assword={s}".encode(), form),
        "form escaped value": lambda s: posted(f"password={percent_all(s)}".encode(), form),
        "form json": lambda s: posted(f"payload={urllib.parse.quote(json.dumps({'apiKey': s}))}".encode(), form),
        "form base64 json": lambda s: posted(f"payload={urllib.parse.quote(b64(json.dumps({'apiKey': s})))}".encode(), form),
        "form unlabelled": lambda s: posted(f"grant_type=password&client_secret={s}".encode(), "text/plain"),
        "form labelled json": lambda s: posted(f"grant_type=password&client_secret={s}".encode()),
        "form in capitals": lambda s: posted(f"USER=me&PASSWORD={s}".encode(), form),
        "form utf-16": lambda s: posted(f"user=me&password={s}".encode("utf-16"), f"{form}; charset=utf-16"),
        "multipart password": lambda s: _multipart(f'Content-Disposition: form-data; name="password"\r\n\r\n{s}'),
        "multipart second": lambda s: _multipart(
            'Content-Disposition: form-data; name="a"\r\n\r\n1', f'Content-Disposition: form-data; name="apiKey"\r\n\r\n{s}'
        ),
        "multipart file": lambda s: _multipart(f'Content-Disposition: form-data; name="keystore"; filename="k.json"\r\n\r\n{{"x":"{s}"}}'),
        "multipart json": lambda s: _multipart(
            f'Content-Disposition: form-data; name="data"\r\nContent-Type: application/json\r\n\r\n{{"user":{{"password":"{s}"}}}}'
        ),
        "multipart base64": lambda s: _multipart(
            f'Content-Disposition: form-data; name="pwd"\r\nContent-Transfer-Encoding: base64\r\n\r\n{b64(s)}'
        ),
        "multipart part header": lambda s: _multipart(
            f'Content-Disposition: form-data; name="a"\r\nAuthorization: Bearer {s}\r\n\r\n1'
        ),
        "multipart unquoted": lambda s: _multipart(f"content-disposition: form-data; name=secret\r\n\r\n{s}"),
        "xml element": lambda s: posted(f"<login><password>{s}</password></login>".encode(), "application/xml"),
        "xml attribute": lambda s: posted(f'<login user="me" password="{s}"/>'.encode(), "application/xml"),
        "xml below": lambda s: posted(f"<credentials><a><b>{s}</b></a></credentials>".encode(), "text/xml"),
        "xml namespace": lambda s: posted(f'<x xmlns:wsse="urn:w"><wsse:Password Type="T">{s}</wsse:Password></x>'.encode(), "text/xml"),
        "xml cdata": lambda s: posted(f"<a><apiKey><![CDATA[{s}]]></apiKey></a>".encode(), "text/xml"),
        "xml entities": lambda s: posted(f"<a><apiKey>{entities(s)}</apiKey></a>".encode(), "text/xml"),
        "xml key and value": lambda s: posted(f'<a><entry key="password">{s}</entry></a>'.encode(), "text/xml"),
        "xml name and value": lambda s: posted(f"<p><name>password</name><value>{s}</value></p>".encode(), "text/xml"),
        "xml utf-16": lambda s: posted(f"<login><password>{s}</password></login>".encode("utf-16"), "application/xml"),
        "xml answer": lambda s: texted(f"<r><token>{s}</token></r>", "application/xml"),
        "html input": lambda s: texted(f'<form><input type="hidden" name="csrf_token" value="{s}"></form>', "text/html"),
        "html meta": lambda s: texted(f'<meta name="csrf-token" content="{s}">', "text/html"),
        "html script": lambda s: texted(f'<script>var accessToken = "{s}";</script>', "text/html"),
        "yaml block": lambda s: texted(f"user:\n  name: me\n  password: {s}\n", "application/yaml"),
        "yaml quoted": lambda s: texted(f"'password': \"{s}\"\n", "application/yaml"),
        "yaml list": lambda s: texted(f"tokens:\n  - {s}\n", "application/yaml"),
        "yaml folded": lambda s: texted(f"secret: >-\n  {s}\n", "application/yaml"),
        "yaml below": lambda s: texted(f"password:\n  value:\n    text: {s}\n", "application/yaml"),
        "ini": lambda s: texted(f"[db]\nuser = me\npassword = {s}\n"),
        "env": lambda s: texted(f"export API_KEY={s}\n"),
        "toml": lambda s: texted(f'[auth]\nclient_secret = "{s}"\n', "application/toml"),
        "netrc": lambda s: texted(f"machine a.example login me password {s}\n"),
        "csv": lambda s: texted(f"user,password\nme,{s}\n", "text/csv"),
        "ndjson": lambda s: texted(f'{{"a":1}}\n{{"password":"{s}"}}\n', "application/x-ndjson"),
        "jsonp": lambda s: texted(f'callback({{"token":"{s}"}});', "application/javascript"),
        "json with a comment": lambda s: texted(f'// one\n{{"token": "{s}", }}\n', "application/json"),
        "json cut": lambda s: texted(f'{{"code":0,"data":{{"token":"{s}","x":', "application/json"),
        "json with a mark": lambda s: texted(f'\ufeff{{"token":"{s}"}}', "application/json"),
        "json prefix": lambda s: texted(f")]}}',\n{{\"token\":\"{s}\"}}", "application/json"),
        "json escaped": lambda s: texted(f'{{"tok\\u0065n":"{escape_all(s)}"}}', "application/json"),
        "json twice the name": lambda s: texted(f'{{"token":"{s}","token":"b"}}', "application/json"),
        "event stream": lambda s: texted(f'event: login\ndata: {{"token":"{s}"}}\n\n', "text/event-stream"),
        "graphql": lambda s: posted(json.dumps({"query": f'mutation {{ login(user: "me", password: "{s}") {{ id }} }}'}).encode()),
        "http dump": lambda s: texted(f"POST / HTTP/1.1\r\nAuthorization: Basic {s}\r\n\r\n"),
        "log line": lambda s: texted(f"12:00 INFO user=me password={s} ok\n"),
        "utf-16 with mark": lambda s: texted(f'{{"password":"{s}"}}', "application/json; charset=utf-16", "utf-16"),
        "utf-16 little": lambda s: texted(f'{{"password":"{s}"}}', "application/json", "utf-16-le"),
        "utf-16 big": lambda s: texted(f'{{"password":"{s}"}}', "application/json", "utf-16-be"),
        "utf-32": lambda s: texted(f'{{"password":"{s}"}}', "application/json", "utf-32-le"),
        "utf-16 request": lambda s: posted(json.dumps({"password": s}).encode("utf-16-le")),
        "latin-1": lambda s: texted(f'{{"n\xe4me":"\xfc","password":"{s}"}}', "application/json; charset=iso-8859-1", "latin-1"),
        "gzip unlabelled": lambda s: posted(gzip.compress(json.dumps({"password": s}).encode(), mtime=0), "application/octet-stream"),
        "deflate unlabelled": lambda s: posted(zlib.compress(json.dumps({"password": s}).encode())[2:-4], "application/octet-stream"),
        "gzip coding": lambda s: posted(gzip.compress(json.dumps({"password": s}).encode(), mtime=0), "application/json", ("Content-Encoding", "gzip")),
        "binary": lambda s: posted(b"\x00\xff\x01password=" + s.encode() + b"\x00\xfe", "application/octet-stream"),
        "base64 body": lambda s: posted(base64.b64encode(json.dumps({"password": s}).encode()), "text/plain"),
        "hex body": lambda s: posted(json.dumps({"password": s}).encode().hex().encode(), "text/plain"),
    }  # fmt: skip
    for name, make in rows.items():
        secret = text(f"body {name}")
        yield Case(f"body {name}", secret, (make(secret),))


def _forms() -> Iterator[Case]:
    """Secrets that their form gives away, in members with harmless names."""
    rows: dict[str, tuple[str, str]] = {
        "jwt": (jwt("1"), "{}"),
        "jwt in a sentence": (jwt("2"), "use {} next time"),
        "bearer": (text("bearer"), "Bearer {}"),
        "bearer lower": (text("bearer lower"), "sent bearer {} to us"),
        "basic": (b64("me:" + text("basic")), "Basic {}"),
        "user and password": (text("user"), "https://me:{}@a.example/x"),
        "database": (text("database"), "postgres://me:{}@db.example:5432/x"),
        "redis": (text("redis"), "redis://:{}@cache.example/0"),
        "only user and password": (text("plain user"), "me:{}@a.example"),
        "url key": (text("url key"), "https://a.example/rpc?apikey={}"),
        "infura": (hexadecimal("infura", 32), "https://mainnet.infura.io/v3/{}"),
        "alchemy": (text("alchemy", 32), "https://eth-mainnet.g.alchemy.com/v2/{}"),
        "telegram": (text("telegram", 35), "https://api.telegram.org/bot123456789:{}/getMe"),
        "slack": ("xoxb-" + digits("slack", 12) + "-" + text("slack", 24), "{}"),
        "github": ("ghp_" + text("github", 36), "{}"),
        "gitlab": ("glpat-" + text("gitlab", 20), "{}"),
        "stripe": ("sk_live_" + text("stripe", 24), "{}"),
        "aws id": ("AKIA" + text("aws", 16).upper().replace("0", "2"), "{}"),
        "google": ("AIza" + text("google", 35), "{}"),
        "xprv": ("xprv9s21ZrQH143K" + text("xprv", 95), "{}"),
        "pem": (pem_line("pem"), pem("pem")),
        "signed url": (text("signed url"), "https://s3.example/a?X-Amz-Expires=60&X-Amz-Signature={}"),
        "cookie text": (text("cookie text"), "Cookie: a=b; session={}"),
        "data of a webhook": (text("webhook", 24), "https://hooks.slack.com/services/T00000000/B00000000/{}"),
    }  # fmt: skip
    for index, (name, (secret, form)) in enumerate(rows.items()):
        place = (answered, ordered)[index % 2]
        yield Case(f"form {name}", secret, (place({"extra": form.format(secret)}),))
    for kind in (
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ):
        line = pem(kind, kind).splitlines()[1]
        yield Case(f"form {kind}", line, (texted(pem(kind, kind)),))
    yield Case(
        "form pem in one line",
        pem_line("flat"),
        (answered({"note": pem("flat").replace("\n", " ")}),),
    )
    yield Case(
        "form pem escaped",
        pem_line("escaped"),
        (answered({"note": pem("escaped").replace("\n", "\\n")}),),
    )
    yield Case("form pem base64", pem_line("coded"), (answered({"note": b64(pem("coded"))}),))


def _chains() -> Iterator[Case]:
    """Private keys of chains, where a name or place says what they are."""
    key = hexadecimal
    rows: tuple[tuple[str, str, Planted], ...] = (
        ("hex key", key("k1"), answered({"privateKey": key("k1")})),
        ("0x key", key("k2"), answered({"privkey": "0x" + key("k2")})),
        ("wallet key", key("k3"), ordered({"wallet": {"key": "0x" + key("k3")}})),
        ("sk", key("k4"), ordered({"sk": key("k4")})),
        ("seed", key("k5", 128), ordered({"seedHex": key("k5", 128)})),
        ("wif", "5K" + text("k6", 49), ordered({"wif": "5K" + text("k6", 49)})),
        ("wif with a harmless name", "K" + text("k7", 51), ordered({"walletImportFormat": "K" + text("k7", 51)})),
        ("solana", text("k8", 88), ordered({"solanaKeypair": text("k8", 88)})),
        ("mnemonic of twelve", phrase("m1"), answered({"mnemonic": phrase("m1")})),
        ("mnemonic of 24", phrase("m2", 24), ordered({"recovery_phrase": phrase("m2", 24)})),
        ("mnemonic as a list", phrase("m3").split()[0] + '", "' + phrase("m3").split()[1], ordered({"mnemonic": phrase("m3").split()})),
        ("mnemonic in words", phrase("m4"), ordered({"words": phrase("m4")})),
        ("mnemonic in a sentence", phrase("m5"), answered({"reason": "your seed phrase: " + phrase("m5")})),
        ("key in a sentence", key("k9"), answered({"reason": f"private key 0x{key('k9')} was rejected"})),
        ("key in a url", key("k10"), answered({"note": f"https://a.example/import?privateKey={key('k10')}"})),
        ("keypair list", "17, 231, 99, 4, 187", ordered({"secretKey": [17, 231, 99, 4, 187, 12, 56, 78] * 8})),
    )  # fmt: skip
    for name, secret, exchange in rows:
        yield Case(f"chain {name}", secret, (exchange,))


def _numbers() -> Iterator[Case]:
    for name, place in (
        ("pin", answered),
        ("otp", ordered),
        ("passcode", answered),
        ("cvv", ordered),
        ("mfaCode", answered),
    ):
        number = digits(name)
        yield Case(f"number {name}", number, (place({name: int(number)}),))
    yield Case(
        "number below", digits("below"), (answered({"password": {"value": int(digits("below"))}}),)
    )
    yield Case("number in a list", digits("pins"), (ordered({"pins": [1, int(digits("pins"))]}),))
    yield Case(
        "number as a text", digits("text pin", 6), (answered({"pin": digits("text pin", 6)}),)
    )


def _noise(index: int) -> Planted:
    headers = [(f"X-Noise-{index}-{turn}", text(f"noise {index} {turn}")) for turn in range(40)]
    cookies = "; ".join(f"c{turn}={text(f'cookie {index} {turn}')}" for turn in range(60))
    return replace(
        headed(*headers, ("Cookie", cookies)),
        answer_headers=(("X-Token", text(f"answer noise {index}")),),
    )


def _later() -> Iterator[Case]:
    """Secrets that are sent once, and come again later in another place."""
    noise = tuple(_noise(index) for index in range(3))
    for spelling, form in SPELLINGS.items():
        secret = text(f"later {spelling}")
        yield Case(
            f"later in an answer as {spelling}",
            secret,
            (headed(("X-Api-Key", secret)), answered({"note": form(secret)})),
        )
    for spelling in ("plain", "percent", "base64", "hex", "capitals"):
        secret = text(f"later query {spelling}")
        again = Planted(
            query=f"{Planted.query}&extra={urllib.parse.quote(SPELLINGS[spelling](secret))}"
        )
        yield Case(
            f"later in a query as {spelling}",
            secret,
            (headed(("Authorization", f"Bearer {secret}")), again),
        )
    firsts: dict[str, Callable[[str], Planted]] = {
        "bearer": lambda s: headed(("Authorization", f"Bearer {s}")),
        "password of basic": lambda s: headed(("Authorization", "Basic " + b64(f"me:{s}"))),
        "cookie": lambda s: headed(("Cookie", f"a=1; session={s}; b=2")),
        "set-cookie": lambda s: back(("Set-Cookie", f"session={s}; Path=/")),
        "digest": lambda s: headed(("Authorization", f'Digest username="u", cnonce="{s}", response="00"')),
        "query": lambda s: asked(f"token={s}"),
        "password": lambda s: ordered({"password": s}),
        "answer token": lambda s: answered({"accessToken": s}),
        "form": lambda s: posted(f"password={s}".encode(), "application/x-www-form-urlencoded"),
        "app key": lambda s: headed(("appKey", s)),
        "list of keys": lambda s: headed(("X-Api-Keys", f"first, {s}, third")),
        "xml": lambda s: posted(f"<password>{s}</password>".encode(), "text/xml"),
    }  # fmt: skip
    for name, make in firsts.items():
        secret = text(f"after noise {name}")
        yield Case(
            f"later after noise, {name}",
            secret,
            (make(secret), *noise, answered({"reason": f"we know {secret}"})),
        )
        secret = text(f"at once {name}")
        yield Case(f"later at once, {name}", secret, (make(secret), ordered({"extra": secret})))


def cases() -> list[Case]:
    groups = (
        _request_headers, _answer_headers, _queries, _paths, _names, _nestings, _bodies, _forms, _chains, _numbers, _later,
    )  # fmt: skip
    return [case for group in groups for case in group()]
