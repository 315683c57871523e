"""Sixty more planted secrets, in the words of other services than those of `planted.py`.

Written from the description of what is masked. Each is one place x nesting x spelling.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Callable, Iterator
from itertools import cycle

from tests.secrets_corpus.planted import (
    SPELLINGS,
    Case,
    Planted,
    answered,
    asked,
    back,
    headed,
    ordered,
    posted,
    text,
    texted,
)

_NAMES = (
    "consumerSecret", "x_shared_secret", "masterKey", "unlockPin", "cvv", "securityCode", "backupCodes", "sessionToken", "deviceToken",
    "bearerToken", "loginPassword", "pass_code", "WalletPassphrase", "keyfile_password", "mnemonicPhrase", "hdSeed", "rootPrivateKey",
    "signerKey", "apiSecretKey", "oauth_token_secret", "refreshJwt", "authCookie", "totp", "smsOtp", "accountPwd", "dbPasswd", "vaultToken",
    "hmac_sha256_key", "wifKey", "keyStoreJson", "PWD_OLD", "clientKeySecret",
)  # fmt: skip
_NESTINGS: dict[str, Callable[[str, str], dict[str, object]]] = {
    "plain": lambda name, value: {name: value},
    "below": lambda name, value: {"meta": {"login": {name: value}}},
    "in a list": lambda name, value: {"items": [1, {"deep": [{name: value}]}]},
    "json text": lambda name, value: {"note": json.dumps({"ctx": {name: value}})},
    "form text": lambda name, value: {"note": f"x=1&{name}={urllib.parse.quote(value, safe='')}"},
    "name and value": lambda name, value: {"extras": [{"name": name, "value": value}]},
    "yaml text": lambda name, value: {"note": f"ctx:\n  {name}: {value}\n"},
}
_SPELLED = ("plain", "base64", "hex", "percent", "gzip-base64", "capitals", "entities", "zlib-hex")


def more_cases() -> Iterator[Case]:
    """Yield them, each with a name of its own."""
    nestings, spelled = cycle(_NESTINGS.items()), cycle(_SPELLED)
    for index, name in enumerate(_NAMES):
        (nesting, make), spelling = next(nestings), next(spelled)
        secret, place = text(f"more {name}"), (answered, ordered)[index % 2]
        planted = place(make(name, SPELLINGS[spelling](secret)))
        yield Case(f"more {name}, {nesting}, {spelling}, {place.__name__}", secret, (planted,))
    for index, (place_name, form) in enumerate(_places().items()):
        secret = text(f"more place {index}")
        yield Case(f"more {place_name}", secret, (form(secret),))


def _places() -> dict[str, Callable[[str], Planted]]:
    return {
        "header X-Consumer-Secret": lambda s: headed(("X-Consumer-Secret", s)),
        "header X-Shopify-Access-Token": lambda s: headed(("X-Shopify-Access-Token", s)),
        "header Private-Token": lambda s: headed(("PRIVATE-TOKEN", s)),
        "header X-Figma-Token": lambda s: headed(("X-Figma-Token", f"figd_{s}")),
        "header Authorization ApiKey": lambda s: headed(("Authorization", f"ApiKey {s}")),
        "header Authorization AWS": lambda s: headed(
            ("Authorization", f"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/2026, Signature={s}")
        ),
        "header cookie of an app": lambda s: headed(("Cookie", f"__Host-auth={s}; lang=de")),
        "header then body": lambda s: Planted(
            headers=(("X-Api-Key", s),), answer=json.dumps({"code": 0, "msg": f"key {s}"}).encode()
        ),
        "answer header X-Auth-Token": lambda s: back(("X-Auth-Token", s)),
        "answer header Set-Cookie": lambda s: back(("Set-Cookie", f"remember_token={s}; Secure")),
        "answer Location": lambda s: back(("Location", f"/done?client_secret={s}")),
        "query oauth_signature": lambda s: asked(f"oauth_signature={s}"),
        "query Password": lambda s: asked(f"Login%5BPassword%5D={s}"),
        "query in base64": lambda s: asked(f"apiKey={SPELLINGS['base64url'](s)}"),
        "path of reset": lambda s: Planted(path=f"/v1/reset/token/{s}", query=""),
        "form body": lambda s: posted(
            f"user=a&loginPassword={s}".encode(), "application/x-www-form-urlencoded"
        ),
        "xml body": lambda s: posted(
            f"<o><auth:ApiSecret xmlns:auth='u'>{s}</auth:ApiSecret></o>".encode(), "text/xml"
        ),
        "properties": lambda s: texted(f"db.url=x\ndb.password={s}\n"),
        "toml": lambda s: texted(f"[vault]\nmaster_key = '{s}'\n"),
        "docker file": lambda s: texted(f"ENV SECRET_KEY={s}\n"),
        "kubernetes": lambda s: texted(
            f"kind: Secret\ndata:\n  password: {SPELLINGS['base64'](s)}\n", "application/yaml"
        ),
        "connection text": lambda s: texted(f"Server=db;Uid=a;Pwd={s};"),
        "mongodb": lambda s: answered({"note": f"mongodb+srv://u:{s}@c.example/x"}),
        "amqp": lambda s: ordered({"extra": f"amqps://u:{s}@mq.example/"}),
        "npm line": lambda s: texted(f"//registry.example/:_authToken={s}\n"),
        "curl -u": lambda s: answered({"note": f"curl -u me:{s} https://a.example"}),
        "curl -H": lambda s: ordered({"extra": f'curl -H "X-Api-Key: {s}" https://a.example'}),
        "javascript": lambda s: texted(
            f"const cfg = {{ clientSecret: `{s}` }};", "text/javascript"
        ),
        "python": lambda s: texted(f"client = Client(api_key='{s}')\n"),
        "table": lambda s: texted(f"| user | password |\n|---|---|\n| me | {s} |\n"),
    }
