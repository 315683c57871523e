"""Redaction: what an exchange loses before it is kept, by denial."""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from urllib.parse import quote_plus

from mockserver import jsontext
from mockserver.exchange import BadEncoding, Headers, Request, Response, pairs_or, query_pairs
from mockserver.jsontext import Json, NotJson
from mockserver.recordings.bodies import encode, layout_of
from mockserver.recordings.recording import RecordedExchange, StandIns
from mockserver.recordings.redaction.secrets import (
    MASK,
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    is_secret_member,
    is_telling,
    masked,
    may_hold_secret,
    occurring,
    parts_of,
)
from mockserver.recordings.redaction.standins import StandInMaker
from mockserver.signing import developer
from mockserver.signing.keyring import DEMO_APP_KEY, DEMO_APP_SECRET
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class _Search:
    """What is looked for in one message: the secrets that it may hold, and how deep it is nested.

    `taken` gets the names of what was taken out.
    """

    taken: list[str]
    secrets: list[bytes]
    depth: int = 0

    def masked(self, text: str) -> str:
        """Return a text without these secrets."""
        if not self.secrets:
            return text
        raw = text.encode("utf-8", "surrogatepass")
        return masked(raw, self.secrets).decode("utf-8", "surrogatepass")


WALKED = 8 * 1024 * 1024
"""Bodies of more bytes are searched as bytes, and not read as JSON."""

REMEMBERED = 64
"""How many secrets are looked for in later exchanges: signatures are new in every request."""

_NO_SECRETS = (MASK, DEMO_APP_KEY.encode())
_NAMED = re.compile(rb'"((?:[^"\\]|\\.){2,40})"\s*:\s*"((?:[^"\\]|\\.)*)"')
_HEX = re.compile(r"(0x)?((?:[0-9a-fA-F]{2}){8,})")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9_-]{16,}={0,2}")
_MOST_NESTED = 4
_SIGNED = ("appkey", "expiretime", "timestamp", "signature")


class Redactor:
    """Takes secrets out of exchanges, and puts stand-ins in; one for each set of recordings.

    Headers are kept only where they are on the allow list. What the others held is a secret, and is
    masked wherever it stands: as it is, percent-encoded, in hexadecimal, in base64. Members and
    parameters that are called as secrets are, such as `signature` inside of `sourceCerts`, are
    masked as well. A v1 request whose four headers were there gets those of the mock's own
    developer key, so that its signature still verifies.
    """

    def __init__(self, stand_ins: StandIns | None = None, secrets: Iterable[str] = ()) -> None:
        """Take what is to be replaced by stand-ins, and secrets known beforehand."""
        self._maker = StandInMaker(stand_ins or StandIns())
        self._named_secrets = tuple(secret.encode() for secret in secrets if secret)
        self._seen: dict[bytes, None] = {}

    def exchange(self, exchange: RecordedExchange) -> RecordedExchange:
        """Return an exchange as it may be kept."""
        taken: list[str] = []
        self._learn(exchange.request.headers.items_sent)
        self._learn(exchange.response.headers)
        self._learn_members(exchange.request.body)
        self._learn_members(exchange.response.body)
        self._learn_query(exchange.request.query)
        request = self._request(exchange.request, taken)
        response = self._response(exchange.response, taken)
        # A name may hold a secret itself.
        removed = tuple(dict.fromkeys([*exchange.removed, *map(self._masked_text, taken)]))
        return replace(exchange, request=request, response=response, removed=removed)

    def request(self, request: Request) -> Request:
        """Return a request as a recording of this set would hold it."""
        self._learn(request.headers.items_sent)
        self._learn_members(request.body)
        self._learn_query(request.query)
        return self._request(request, [])

    def _request(self, request: Request, taken: list[str]) -> Request:
        body = self._body(request.body, taken)
        headers = self._headers(request.headers.items_sent, REQUEST_HEADERS, taken)
        query = self._query(request.query, taken)
        return replace(
            request,
            query=query,
            headers=Headers((*headers, *_own_signature(request.headers, headers, body))),
            body=body,
        )

    def _response(self, response: Response, taken: list[str]) -> Response:
        headers = self._headers(response.headers, RESPONSE_HEADERS, taken)
        return Response(response.status, headers, self._body(response.body, taken))

    def _learn(self, headers: Iterable[tuple[str, str]]) -> None:
        for name, value in headers:
            if may_hold_secret(name):
                self._add(*parts_of(name, value))

    def _learn_query(self, query: str) -> None:
        for name, value in pairs_or(query):
            if is_secret_member(name):
                self._add(value)

    def _learn_members(self, body: bytes) -> None:
        """Take in what members that are called as secrets are hold: it may stand elsewhere."""
        for name, value in _NAMED.findall(body):
            if is_secret_member(name.decode("utf-8", "replace")):
                self._add(value.decode("utf-8", "replace"))

    def _add(self, *values: str) -> None:
        for value in (value.encode("utf-8", "surrogatepass") for value in values):
            if is_telling(value) and value not in _NO_SECRETS:
                self._seen.pop(value, None)
                self._seen[value] = None
        while len(self._seen) > REMEMBERED:
            del self._seen[next(iter(self._seen))]

    def _headers(
        self, headers: Iterable[tuple[str, str]], allowed: frozenset[str], taken: list[str]
    ) -> tuple[tuple[str, str], ...]:
        kept = []
        for name, value in headers:
            if name.lower() in allowed:
                kept.append((name, self._named(name, self._masked_text(value))))
            elif may_hold_secret(name) or name.lower() == "content-encoding":
                taken.append(name)
        return tuple(kept)

    def _query(self, query: str, taken: list[str]) -> str:
        try:
            pairs = query_pairs(query)
        except BadEncoding:
            return self._masked_text(query)
        search = _Search(taken, self._sorted())
        changed = [(name, self._value(name, value, search)) for name, value in pairs]
        if changed == pairs:
            return query
        return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in changed)

    def _body(self, body: bytes, taken: list[str], depth: int = 0) -> bytes:
        if not body:
            return body
        if len(body) <= WALKED:
            changed = self._json_body(body, taken, depth)
            if changed is not None:
                return changed
        raw = masked(body, self._sorted())
        raw = _NAMED.sub(lambda found: _mask_member(found, taken), raw)
        if not self._maker.active:
            return raw
        try:
            return self._maker.text(raw.decode("utf-8")).encode()
        except UnicodeDecodeError:
            return raw

    def _json_body(self, body: bytes, taken: list[str], depth: int) -> bytes | None:
        """Return a JSON body redacted by its members, or None where it is no JSON."""
        try:
            value = jsontext.decode(body)
        except NotJson:
            return None
        # Escapes can hide a secret from a look at the bytes; without any, a look saves the search.
        secrets = self._sorted() if b"\\" in body else occurring(body, self._sorted())
        changed = self._walk("", value, _Search(taken, secrets, depth))
        raw = body
        if changed != value:
            found = layout_of(body)
            raw = encode(changed, "compact" if found is None else found[0])
        return masked(raw, secrets)

    def _walk(self, name: str, value: Json, search: _Search) -> Json:
        match value:
            case Mapping():
                if "symbol" in value or "decimals" in value:
                    for member in ("address", "contractAddress"):
                        if isinstance(address := value.get(member), str):
                            self._maker.publish(address)
                return {
                    self._maker.text(search.masked(key)): self._walk(key, item, search)
                    for key, item in value.items()
                }
            case list():
                return [self._walk(name, item, search) for item in value]
            case str():
                return self._value(name, value, search)
            case int() if not isinstance(value, bool):
                changed = self._value(name, str(value), search)
                return value if changed == str(value) else _number(changed)
            case _:
                return value

    def _value(self, name: str, value: str, search: _Search) -> str:
        """Return the value of a member or a parameter as it may be kept."""
        if is_secret_member(name) and value:
            search.taken.append(name)
            return MASK.decode()
        value = search.masked(value)
        if search.depth < _MOST_NESTED:
            value = self._nested(value, search.taken, search.depth)
        return self._named(name, value)

    def _named(self, name: str, value: str) -> str:
        return self._maker.named(name, value) if self._maker.active else value

    def _nested(self, value: str, taken: list[str], depth: int) -> str:
        """Return a text whose JSON is redacted, which stands in it as it is, in hex or base64."""
        if value[:1] in ("{", "["):
            return self._body(value.encode("utf-8", "surrogatepass"), taken, depth + 1).decode(
                "utf-8", "surrogatepass"
            )
        found = _HEX.fullmatch(value)
        if found is not None:
            raw = bytes.fromhex(found[2])
            changed = self._inside(raw, taken, depth)
            if changed != raw:
                digits = changed.hex()
                return (found[1] or "") + (digits.upper() if found[2].isupper() else digits)
            run = self._maker.hexadecimal_run(found[2]) if self._maker.active else found[2]
            return (found[1] or "") + run
        if _BASE64.fullmatch(value):
            return self._in_base64(value, taken, depth)
        return value

    def _in_base64(self, value: str, taken: list[str], depth: int) -> str:
        url = "-" in value or "_" in value
        decode: Callable[[str], bytes] = base64.urlsafe_b64decode if url else base64.b64decode
        recode = base64.urlsafe_b64encode if url else base64.b64encode
        padded = value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4)
        try:
            raw = decode(padded)
        except (ValueError, binascii.Error):
            return value
        changed = self._inside(raw, taken, depth)
        if changed == raw:
            return value
        coded = recode(changed).decode()
        return coded if value.endswith("=") else coded.rstrip("=")

    def _inside(self, raw: bytes, taken: list[str], depth: int) -> bytes:
        if raw[:1] in (b"{", b"["):
            return self._body(raw, taken, depth + 1)
        return raw

    def _masked_text(self, text: str) -> str:
        raw = text.encode("utf-8", "surrogatepass")
        return masked(raw, self._sorted()).decode("utf-8", "surrogatepass")

    def _sorted(self) -> list[bytes]:
        """Return the secrets, longer ones first: a short one may be part of a long one."""
        return sorted(
            {*self._named_secrets, *self._seen}, key=lambda secret: (-len(secret), secret)
        )


def _own_signature(
    came: Headers, kept: Iterable[tuple[str, str]], body: bytes
) -> tuple[tuple[str, str], ...]:
    """Return `appKey` and `signature` of the mock's own key for a request that was signed."""
    if not all(name in came for name in _SIGNED):
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


def _mask_member(found: re.Match[bytes], taken: list[str]) -> bytes:
    name = found[1].decode("utf-8", "replace")
    if not is_secret_member(name):
        return found[0]
    taken.append(name)
    return found[0][: found.start(2) - found.start()] + MASK + b'"'


def _number(text: str) -> Json:
    return int(text) if text.isdigit() and text[:1] != "0" else text
