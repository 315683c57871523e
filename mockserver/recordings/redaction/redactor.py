"""Redaction: removes secrets from exchanges before they are kept."""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from urllib.parse import quote_plus, unquote

from mockserver import jsontext
from mockserver.exchange import BadEncoding, Headers, Request, Response, pairs_or, query_pairs
from mockserver.jsontext import Json, NotJson
from mockserver.recordings.bodies import encode, layout_of
from mockserver.recordings.recording import RecordedExchange, StandIns
from mockserver.recordings.redaction.secrets import (
    MASK,
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    is_distinctive,
    is_secret_member,
    masked,
    may_hold_secret,
    occurring,
    parts_of,
)
from mockserver.recordings.redaction.standins import StandInMaker
from mockserver.signing import developer
from mockserver.signing.keyring import DEMO_APP_KEY, DEMO_APP_SECRET
from mockserver.values import dataclass

WALKED = 8 * 1024 * 1024
"""Bodies of more bytes are searched as bytes, and not read as JSON."""

REMEMBERED = 64
"""How many secrets are searched in later exchanges: each request has a new signature."""

_NO_SECRETS = (MASK, DEMO_APP_KEY.encode())
_NAME = re.compile(rb'"([^"\\]{2,40})"\s*:')
_HEX = re.compile(r"(0x)?((?:[0-9a-fA-F]{2}){8,})")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9_-]{16,}={0,2}")
_MASKED = MASK.decode()
_MOST_NESTED = 4
_USER_INFO = re.compile(r"^((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)[^/?#]*@")
_PARAMETER = re.compile(r"([?&;#])([^=&;#]*)=[^&;#]*")
_REDIRECTED = ("token", "code", "state", "ticket")
"""Parameters of a redirect that are credentials; in requests these names may mean others."""


class Redactor:
    """Takes secrets out of exchanges, and puts stand-ins in; one for each set of recordings.

    Headers are kept only where they are on the allow list. What the others held is a secret, and is
    masked wherever it stands: as it is, percent-encoded, in hexadecimal, in base64. Members and
    parameters that are named as secrets are, such as `signature` inside of `sourceCerts`, are
    masked as well. A v1 request whose four headers were there gets those of the mock's own
    developer key, so that its signature still verifies; so does that of an answer
    with `appKey` and `sign`, which signs a request for a browser.
    """

    def __init__(self, stand_ins: StandIns | None = None, secrets: Iterable[str] = ()) -> None:
        """Take what is to be replaced by stand-ins, and secrets known beforehand."""
        self._maker = StandInMaker(stand_ins or StandIns())
        self._named_secrets = tuple(secret.encode() for secret in secrets if secret)
        self._learned: dict[bytes, None] = {}

    def exchange(self, exchange: RecordedExchange) -> RecordedExchange:
        """Return an exchange as it may be kept."""
        self._learn_request(exchange.request)
        self._learn(exchange.response.headers, exchange.response.body)
        message = self._message()
        request = message.request(exchange.request)
        response = message.response(exchange.response)
        if "sign" in message.removed:
            response = replace(response, body=_own_answer(request, response.body))
        # A name may hold a secret itself.
        names = map(message.masked, dict.fromkeys(message.removed))
        removed = dict.fromkeys([*exchange.removed, *names])
        return replace(exchange, request=request, response=response, removed=tuple(removed))

    def request(self, request: Request) -> Request:
        """Return a request as a recording of this set would hold it."""
        self._learn_request(request)
        return self._message().request(request)

    def _learn_request(self, request: Request) -> None:
        self._learn(request.headers.items_sent, request.body)
        self._add(value for name, value in pairs_or(request.query) if is_secret_member(name))

    def _learn(self, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        """Take in what headers, and members that are named as secrets are, hold."""
        for name, value in headers:
            if may_hold_secret(name):
                self._add(parts_of(name, value))
        if members := _secret_members(body):
            self._add(found[2].decode("utf-8", "replace") for found in members.finditer(body))

    def _add(self, values: Iterable[str]) -> None:
        for value in map(_bytes, values):
            if is_distinctive(value) and value not in _NO_SECRETS:
                self._learned.pop(value, None)
                self._learned[value] = None
        while len(self._learned) > REMEMBERED:
            del self._learned[next(iter(self._learned))]

    def _message(self) -> "_Message":
        # Longer ones first: a short one may be part of a long one.
        secrets = {*self._named_secrets, *self._learned}
        return _Message(self._maker, sorted(secrets, key=lambda one: (-len(one), one)))


@dataclass(frozen=True, slots=True)
class _Message:
    """The redaction of one exchange, or of a JSON text that is nested in it `depth` levels deep.

    `every` are all secrets that are known; `secrets` those that are looked for in values. `removed`
    gets the names of what was taken out.
    """

    maker: StandInMaker
    every: list[bytes]
    removed: list[str] = field(default_factory=list)
    depth: int = 0
    narrowed: list[bytes] | None = None

    @property
    def secrets(self) -> list[bytes]:
        """What is looked for here."""
        return self.every if self.narrowed is None else self.narrowed

    def request(self, request: Request) -> Request:
        """Return a request as it may be kept."""
        body = self.body(request.body)
        headers = self._headers(request.headers.items_sent, REQUEST_HEADERS)
        headers += _own_signature(request.headers, headers, body)
        query = self._query(request.query)
        return replace(request, query=query, headers=Headers(headers), body=body)

    def response(self, response: Response) -> Response:
        """Return an answer as it may be kept."""
        headers = self._headers(response.headers, RESPONSE_HEADERS)
        return Response(response.status, headers, self.body(response.body))

    def masked(self, text: str) -> str:
        """Return a text without secrets."""
        return _text(masked(_bytes(text), self.secrets)) if self.secrets else text

    def _headers(
        self, headers: Iterable[tuple[str, str]], allowed: frozenset[str]
    ) -> tuple[tuple[str, str], ...]:
        kept = []
        for name, value in headers:
            if name.lower() in allowed:
                clean = self._address(value) if name.lower() == "location" else value
                kept.append((name, self._stand_in(name, self.masked(clean))))
            elif may_hold_secret(name) or name.lower() == "content-encoding":
                self.removed.append(name)
        return tuple(kept)

    def _address(self, value: str) -> str:
        """Return the target of a redirect without credentials."""
        value = _USER_INFO.sub(rf"\g<1>{MASK.decode()}@", value)
        return _PARAMETER.sub(self._masked_parameter, value)

    def _masked_parameter(self, found: re.Match[str]) -> str:
        if found[2].lower() not in _REDIRECTED and not is_secret_member(unquote(found[2])):
            return found[0]
        self.removed.append(found[2])
        return found[1] + found[2] + "=" + MASK.decode()

    def _query(self, query: str) -> str:
        try:
            pairs = query_pairs(query)
        except BadEncoding:
            return self.masked(query)
        changed = [(name, self._value(name, value)) for name, value in pairs]
        if changed == pairs:
            return query
        return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in changed)

    def body(self, body: bytes) -> bytes:
        """Return a body as it may be kept: by its members where it is JSON, else by its bytes."""
        if not body:
            return body
        if len(body) <= WALKED:
            try:
                return self._json_body(body, jsontext.decode(body))
            except NotJson:
                pass
        raw = masked(self._without_members(body), self.every)
        if not self.maker.active:
            return raw
        try:
            return self.maker.text(raw.decode("utf-8")).encode()
        except UnicodeDecodeError:
            return raw

    def _json_body(self, body: bytes, value: Json) -> bytes:
        # One search of the bytes saves most searches of single texts. JSON escapes would hide a
        # secret from it, so such a body is encoded again first.
        looked_at = encode(value, "compact") if b"\\" in body else body
        secrets = occurring(self._without_members(looked_at), self.every)
        changed = replace(self, narrowed=secrets)._walk("", value)
        raw = body
        if changed != value:
            found = layout_of(body)
            raw = encode(changed, "compact" if found is None else found[0])
        return masked(raw, secrets)

    def _without_members(self, raw: bytes) -> bytes:
        members = _secret_members(raw)
        return raw if members is None else members.sub(self._masked_member, raw)

    def _masked_member(self, found: re.Match[bytes]) -> bytes:
        self.removed.append(found[1].decode("utf-8", "replace"))
        return found[0][: found.start(2) - found.start()] + MASK + b'"'

    def _walk(self, name: str, value: Json) -> Json:
        match value:
            case Mapping():
                if "symbol" in value or "decimals" in value:
                    for member in ("address", "contractAddress"):
                        if isinstance(address := value.get(member), str):
                            self.maker.publish(address)
                return {
                    self.maker.text(self.masked(key)): self._walk(key, item)
                    for key, item in value.items()
                }
            case list():
                return [self._walk(name, item) for item in value]
            case str():
                return self._value(name, value)
            case int() if not isinstance(value, bool):
                changed = self._value(name, str(value))
                if changed == str(value):
                    return value
                return int(changed) if changed.isdigit() and changed[0] != "0" else changed
            case _:
                return value

    def _value(self, name: str, value: str) -> str:
        """Return the value of a member or a parameter as it may be kept."""
        if is_secret_member(name) and value:
            self.removed.append(name)
            return MASK.decode()
        value = self.masked(value)
        if self.depth < _MOST_NESTED:
            value = self._nested(value)
        return self._stand_in(name, value)

    def _stand_in(self, name: str, value: str) -> str:
        return self.maker.named(name, value) if self.maker.active else value

    def _nested(self, value: str) -> str:
        """Return a text whose JSON is redacted, which stands in it as it is, in hex or base64."""
        if value[:1] in ("{", "["):
            return _text(self._inside(_bytes(value)))
        found = _HEX.fullmatch(value)
        if found is not None:
            raw = bytes.fromhex(found[2])
            digits = self._inside(raw).hex()
            if digits != raw.hex():
                return (found[1] or "") + (digits.upper() if found[2].isupper() else digits)
            run = self.maker.hexadecimal_run(found[2]) if self.maker.active else found[2]
            return (found[1] or "") + run
        return self._in_base64(value) if _BASE64.fullmatch(value) else value

    def _in_base64(self, value: str) -> str:
        other = b"-_" if "-" in value or "_" in value else None
        padded = value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4)
        try:
            raw = base64.b64decode(padded, other)
        except ValueError:
            return value
        changed = self._inside(raw)
        if changed == raw:
            return value
        coded = base64.b64encode(changed, other).decode()
        return coded if value.endswith("=") else coded.rstrip("=")

    def _inside(self, raw: bytes) -> bytes:
        if raw[:1] in (b"{", b"["):
            return replace(self, depth=self.depth + 1, narrowed=None).body(raw)
        return raw


def _secret_members(body: bytes) -> re.Pattern[bytes] | None:
    """Return an expression of the members of a text that are named as secrets are.

    None where it has none. Large bodies have millions of members, but few names: each is looked at
    once.
    """
    names = set(_NAME.findall(body))
    named = [name for name in names if is_secret_member(name.decode("utf-8", "replace"))]
    if not named:
        return None
    any_name = b"|".join(map(re.escape, named))
    return re.compile(rb'"(' + any_name + rb')"\s*:\s*"([^"\\]*+(?:\\.[^"\\]*+)*+)"')


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


def _own_answer(request: Request, body: bytes) -> bytes:
    """Return the answer of the service that signs, as the mock's own key would have it.

    Any other body stays as it is.
    """
    value = jsontext.decode_or(body)
    if not isinstance(value, dict) or any(value.get(one) != _MASKED for one in ("appKey", "sign")):
        return body
    sent = [request.headers.get(name, "") for name in ("expireTime", "timestamp")]
    headers = developer.DeveloperHeaders(DEMO_APP_KEY, *sent)
    try:
        text = developer.signed_text(request.body, headers)
    except NotJson:
        return body
    own = {"appKey": DEMO_APP_KEY, "sign": developer.signature(text, DEMO_APP_SECRET)}
    found = layout_of(body)
    changed = {name: own.get(name, item) for name, item in value.items()}
    return encode(changed, "compact" if found is None else found[0])


def _own_signature(
    came: Headers, kept: Iterable[tuple[str, str]], body: bytes
) -> tuple[tuple[str, str], ...]:
    """Return `appKey` and `signature` of the mock's own key for a request that was signed."""
    if not all(name in came for name in developer.HEADERS):
        return ()
    sent = Headers(tuple(kept))
    headers = developer.DeveloperHeaders(DEMO_APP_KEY, sent["expireTime"], sent["timestamp"])
    try:
        text = developer.signed_text(body, headers)
    except NotJson:
        return ()
    return (
        (came.spelled("appKey") or "appKey", DEMO_APP_KEY),
        (came.spelled("signature") or "signature", developer.signature(text, DEMO_APP_SECRET)),
    )
