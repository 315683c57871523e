"""Sixty and more odd ones, as files, tools and services of others write them.

Written from the description of what is masked, and measured before the masking code was changed for them.
"""

from __future__ import annotations

import base64
import gzip
import json
import urllib.parse
from collections.abc import Callable, Iterator

from tests.secrets_corpus.planted import (
    Case,
    Planted,
    answered,
    asked,
    back,
    digits,
    headed,
    hexadecimal,
    jwt,
    ordered,
    percent_all,
    phrase,
    posted,
    text,
    texted,
)

_Form = Callable[[str], Planted]


def _b64(value: str | bytes) -> str:
    return base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()


def _noted(value: str) -> Planted:
    return answered({"note": value})


def _requests() -> dict[str, _Form]:
    return {
        "header Rails token": lambda s: headed(("Authorization", f'Token token="{s}", nonce="n"')),
        "header OAuth 1": lambda s: headed(
            ("Authorization", f'OAuth realm="", oauth_consumer_key="k", oauth_token="{s}"')
        ),
        "header Subscription-Key": lambda s: headed(("Ocp-Apim-Subscription-Key", s)),
        "header of a sub-protocol": lambda s: headed(
            ("Sec-WebSocket-Protocol", f"chat, bearer.{_b64(s).rstrip('=')}")
        ),
        "header original URL": lambda s: headed(("X-Original-URL", f"/v1/getPrice?api_key={s}")),
        "header Referer with a fragment": lambda s: headed(
            ("Referer", f"https://w.example/cb#access_token={s}&token_type=bearer")
        ),
        "header baggage": lambda s: headed(("Baggage", f"userId=7,session_token={s};ttl=1")),
        "header signed session": lambda s: headed(("Cookie", f"connect.sid=s%3A{s}.qwe")),
        "header JSON": lambda s: headed(("X-Context", json.dumps({"user": {"pwd": s}}))),
        "header JSON in base64": lambda s: headed(("X-Context", _b64(json.dumps({"apiKey": s})))),
        "query brackets": lambda s: asked(f"filter%5Bpassword%5D={s}"),
        "query JSON": lambda s: asked("q=" + urllib.parse.quote(json.dumps({"a": {"pass": s}}))),
        "query semicolon": lambda s: asked(f"x=1;pwd={s}"),
        "query gzip of a form": lambda s: asked(
            "data="
            + urllib.parse.quote(_b64(gzip.compress(f"a=1&api_key={s}".encode(), mtime=0)), safe="")
        ),
        "query address in address": lambda s: asked(
            "next="
            + urllib.parse.quote(
                "https://a.example/?u="
                + urllib.parse.quote(f"https://b.example/?client_secret={s}", safe=""),
                safe="",
            )
        ),
        "query wide letters": lambda s: asked(
            urllib.parse.quote("\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44") + f"={s}"
        ),
        "query creds": lambda s: asked(f"creds={s}"),
        "path matrix": lambda s: Planted(path=f"/v1/getPrice;jsessionid={s}"),
        "path key": lambda s: Planted(path=f"/v1/apikey/{s}/getPrice"),
        "path escaped": lambda s: Planted(path=f"/v1/token/{percent_all(s)}"),
        "form twice escaped": lambda s: posted(
            f"pass%2577ord={urllib.parse.quote(percent_all(s))}".encode(),
            "application/x-www-form-urlencoded",
        ),
        "batch of requests": lambda s: posted(
            f"--b\r\nContent-Type: application/http\r\n\r\nGET /v1/getPrice HTTP/1.1\r\nX-Api-Key: {s}\r\n\r\n--b--\r\n".encode(),
            "multipart/mixed; boundary=b",
        ),
        "multipart quoted-printable": lambda s: posted(
            (
                '--b\r\nContent-Disposition: form-data; name="passphrase"\r\n'
                "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                + "".join(f"={ord(letter):02X}" for letter in s)
                + "\r\n--b--\r\n"
            ).encode(),
            "multipart/form-data; boundary=b",
        ),
        "MessagePack": lambda s: posted(
            b"\x82\xa4user\xa2me\xa8password" + bytes([0xA0 + len(s)]) + s.encode(),
            "application/msgpack",
        ),
        "CBOR": lambda s: posted(
            b"\xa1\x66apiKey" + bytes([0x78, len(s)]) + s.encode(), "application/cbor"
        ),
    }


def _members() -> dict[str, _Form]:
    return {
        "HAR header": lambda s: answered(
            {"h": [{"name": "Authorization", "value": f"Bearer {s}"}]}
        ),
        "HAR cookie": lambda s: answered({"cookies": [{"name": "sid", "value": s, "path": "/"}]}),
        "header with a list": lambda s: ordered({"headers": {"x-api-key": [s]}}),
        "header pairs": lambda s: ordered({"headers": [["accept", "*/*"], ["x-api-key", s]]}),
        "raw headers": lambda s: answered({"rawHeaders": ["Host", "a.example", "X-Api-Key", s]}),
        "environment": lambda s: answered({"env": ["HOME=/root", f"DB_PASSWORD={s}"]}),
        "arguments": lambda s: answered({"args": ["--user", "me", "--password", s]}),
        "argument with an equals sign": lambda s: answered({"args": ["-v", f"--api-key={s}"]}),
        "connection text": lambda s: ordered({"dsn": f"Server=a;User Id=b;Password={s};"}),
        "key of JWK": lambda s: answered(
            {"jwk": {"kty": "EC", "crv": "P-256", "d": s, "x": "MKBC", "y": "4Etl"}}
        ),
        "otpauth": lambda s: _noted(f"otpauth://totp/a:me?secret={s}&issuer=a"),
        "hash of a password": lambda s: answered({"PassWord_Hash": f"$2b$10${s}"}),
        "name of a member": lambda s: answered({"tokens": {s: {"user": 1}}}),
        "zero width": lambda s: answered({"pass\u200bword": s}),
        "letters of another script": lambda s: answered({"p\u0430ssw\u043erd": s}),
        "dotted": lambda s: answered({"spring.datasource.password": s}),
        "extended JSON": lambda s: answered({"apiKey": {"$binary": {"base64": _b64(s)}}}),
        "bytes": lambda s: answered({"privateKey": {"type": "Buffer", "data": list(s.encode())}}),
        "JSON patch": lambda s: ordered(
            {"ops": [{"op": "add", "path": "/me/password", "value": s}]}
        ),
        "what was rejected": lambda s: answered(
            {"errors": [{"field": "password", "rejectedValue": s}]}
        ),
        "what was put in": lambda s: answered(
            {"detail": [{"loc": ["body", "apiKey"], "input": s}]}
        ),
        "columns": lambda s: answered({"columns": ["user", "password"], "rows": [["me", s]]}),
        "a sentence": lambda s: answered({"reason": f"the password '{s}' is too weak"}),
        "a sentence with is": lambda s: answered({"reason": f"Your new API key is {s}. Keep it."}),
        "one of three": lambda s: answered({"note": f"token: {s} / plan: free / seats: 3"}),
    }


def _texts() -> dict[str, _Form]:
    return {
        "Python's": lambda s: _noted(f"{{'user': 'me', 'token': '{s}'}}"),
        "SQL insert": lambda s: _noted(f"INSERT INTO users (name, password) VALUES ('me', '{s}')"),  # noqa: S608
        "SQL user": lambda s: _noted(f"CREATE USER me IDENTIFIED BY '{s}'"),
        "PowerShell": lambda s: _noted(_b64(f"$env:API_KEY='{s}'".encode("utf-16-le"))),
        "XML key and value": lambda s: texted(
            f'<c><add key="ApiKey" value="{s}"/></c>', "text/xml"
        ),
        "property list": lambda s: texted(
            f"<plist><dict><key>password</key><string>{s}</string></dict></plist>", "text/xml"
        ),
        "YAML anchor": lambda s: texted(f"password: &p {s}\nagain: *p\n", "application/yaml"),
        "YAML flow": lambda s: texted(f"db: {{user: me, password: {s}}}\n", "application/yaml"),
        "YAML question": lambda s: texted(f"? password\n: {s}\n", "application/yaml"),
        "YAML binary": lambda s: texted(f"password: !!binary |\n  {_b64(s)}\n", "application/yaml"),
        "properties with a space": lambda s: texted(f"db.password   {s}\n"),
        "nginx": lambda s: texted(f'proxy_set_header Authorization "Bearer {s}";\n'),
        "registry": lambda s: texted(f'[HKEY_LOCAL_MACHINE\\X]\n"Password"="{s}"\n'),
        "events over lines": lambda s: texted(
            f'data: {{"token":\ndata: "{s}"}}\n\n', "text/event-stream"
        ),
        "HTML area": lambda s: texted(f'<textarea name="keystore">{s}</textarea>', "text/html"),
        "HTML data": lambda s: texted(f'<body data-csrf-token="{s}"></body>', "text/html"),
        "HTML comment": lambda s: texted(f"<p>hi</p><!-- password: {s} -->", "text/html"),
        "CSV with semicolons": lambda s: texted(f'"user";"password"\n"me";"{s}"\n', "text/csv"),
        "tabs": lambda s: texted(f"user\tapi_key\nme\t{s}\n", "text/tab-separated-values"),
        "difference": lambda s: texted(
            f"--- a\n+++ b\n@@ -1 +1 @@\n-password: x\n+password: {s}\n"
        ),
        "LDIF": lambda s: texted(f"dn: cn=me\nuserPassword:: {_b64(s)}\n"),
        "WireGuard": lambda s: texted(f"[Interface]\nPrivateKey = {s}=\nListenPort = 1\n"),
        "Terraform": lambda s: texted(f'variable "x" {{}}\nadmin_password = "{s}"\n'),
        "chat": lambda s: texted(f"me: what is the pin?\nyou: the PIN is {s}\n"),
        "YAML in JSON in base64": lambda s: _noted(_b64(json.dumps({"conf": f"a: 1\npwd: {s}\n"}))),
        "form in base64 in hex": lambda s: _noted(_b64(f"u=me&password={s}").encode().hex()),
    }


def _answers() -> dict[str, _Form]:
    return {
        "header Refresh": lambda s: back(("Refresh", f"0; url=/done?token={s}")),
        "header Link": lambda s: back(("Link", f"<https://a.example/p?sig={s}>; rel=next")),
        "header Location with a fragment": lambda s: back(
            ("Location", f"https://a.example/#id_token={s}")
        ),
        "header nonce": lambda s: back(("Authentication-Info", f'nextnonce="{s}", qop=auth')),
        "header debug": lambda s: back(("X-Debug", f"login me password={s} ok")),
        "header warning": lambda s: back(("Warning", f'199 - "deprecated key: apiKey={s}"')),
    }


def _by_form() -> Iterator[Case]:
    words = phrase("odd numbered")
    listed = " ".join(f"{number}. {word}" for number, word in enumerate(words.split(), 1))
    rows: tuple[tuple[str, str, Planted], ...] = (
        ("age", "AGE-SECRET-KEY-1" + text("age", 58).upper(), texted(f"# created\nAGE-SECRET-KEY-1{text('age', 58).upper()}\n")),
        ("PASETO", "v4.local." + text("paseto", 90), _noted("v4.local." + text("paseto", 90))),
        ("SendGrid", "SG." + text("sg", 22) + "." + text("sg2", 43), _noted("SG." + text("sg", 22) + "." + text("sg2", 43))),
        ("npm", "npm_" + text("npm", 36), _noted("npm_" + text("npm", 36))),
        ("Shopify", "shpat_" + hexadecimal("shop", 32), _noted("shpat_" + hexadecimal("shop", 32))),
        ("JWT in a path", jwt("odd path"), Planted(path=f"/v1/getPrice/{jwt('odd path')}")),
        ("phrase in capitals", phrase("odd capitals"), _noted(phrase("odd capitals").upper())),
        ("phrase with hyphens", phrase("odd hyphens"), ordered({"mnemonic": phrase("odd hyphens").replace(" ", "-")})),
        ("phrase with numbers", words.split()[3] + " 5. " + words.split()[4], _noted(f"write down: {listed}")),
        ("key in an env line", hexadecimal("odd env"), _noted(f"PRIVATE_KEY=0x{hexadecimal('odd env')} node deploy.js")),
        ("key with colons", hexadecimal("odd colons"), ordered({"signerPrivateKey": ":".join(
            hexadecimal("odd colons")[at : at + 2] for at in range(0, 64, 2))})),
        ("otp in a sentence", digits("odd otp", 6), answered({"reason": f"Your verification code is {digits('odd otp', 6)}."})),
    )  # fmt: skip
    for name, secret, exchange in rows:
        yield Case(f"odd form {name}", secret, (exchange,))


def _sent_again() -> Iterator[Case]:
    """Secrets that are sent once and come again in a spelling of another program."""
    again: dict[str, Callable[[str], str]] = {
        "as bytes in hex with spaces": lambda s: " ".join(f"{byte:02x}" for byte in s.encode()),
        "escaped for JavaScript": lambda s: "".join(f"\\x{byte:02x}" for byte in s.encode()),
        "in two lines": lambda s: f"{s[:14]}\n  {s[14:]}",
    }
    for name, spelled in again.items():
        secret = text(f"odd again {name}")
        yield Case(
            f"odd again {name}",
            secret,
            (headed(("X-Api-Key", secret)), answered({"note": spelled(secret)})),
        )


def odd_cases() -> list[Case]:
    tables = {"request": _requests(), "member": _members(), "text": _texts(), "answer": _answers()}
    made = [
        Case(f"odd {kind} {name}", secret, (form(secret),))
        for kind, forms in tables.items()
        for name, form in forms.items()
        for secret in (text(f"odd {kind} {name}"),)
    ]
    return [*made, *_by_form(), *_sent_again()]
