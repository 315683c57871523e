"""Redaction: removes secrets from exchanges before they are kept or shown."""

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import unquote

from mockserver import jsontext
from mockserver.http_messages import Coded, Headers, Request, Response
from mockserver.jsontext import NotJson
from mockserver.recordings.bodies import encode, layout_of
from mockserver.recordings.recording import RecordedExchange, StandIns
from mockserver.recordings.redaction.kept_headers import (
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    is_noted,
    may_tell,
    secrets_of,
)
from mockserver.recordings.redaction.known_secrets import Memory
from mockserver.recordings.redaction.masker import Masker
from mockserver.recordings.redaction.secret_names import Secrecy, secrecy
from mockserver.recordings.redaction.secret_values import MASK, is_public
from mockserver.recordings.redaction.standins import StandInMaker
from mockserver.signing import developer_signatures
from mockserver.signing.keyring import DEMO_APP_KEY, DEMO_APP_SECRET

_PARAMETER = re.compile(r"([?&;#])([^=&;#]*)=([^&;#]*)")
_USER = re.compile(r"^((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)[^/?#]*@")
# Parameters of a redirect that are credentials; in requests these names may mean others.
_REDIRECTED = ("token", "code", "state", "ticket")
_CHARSET = re.compile(r"(?i)charset=\"?([\w-]+)")
# What a header has that holds more than words.
_STRUCTURED = re.compile(r"[=:@%{<]|[\w+/-]{20}")
_TARGET = re.compile(r"/[^\s'\"]*")
_MOST_ROUNDS = 4
# A journal is shown once it was searched; one that is larger than this is searched twice.
_MOST_CLEAN_BYTES = 16 * 1024 * 1024
_OVERHEAD = 200
_Pairs = tuple[tuple[str, str], ...]


def log_line(text: str) -> str:
    """Return a line of a log without secrets, of which nothing else is known."""
    return Redactor().line(text)


class Redactor:
    """Takes secrets out of exchanges, and puts stand-ins in; one for each set of recordings.

    Headers are kept only where they are on an allow list. A v1 request whose four headers were
    there gets those of the mock's own developer key, so that its signature still verifies; so does
    that of an answer with `appKey` and `sign`, which signs a request for a browser.
    """

    def __init__(self, stand_ins: StandIns | None = None, secrets: Iterable[str] = ()) -> None:
        """Take what is to be replaced by stand-ins, and secrets known beforehand."""
        self._maker = StandInMaker(stand_ins or StandIns())
        self.memory = Memory(secrets)
        self._clean = _Clean()

    def exchange(self, exchange: RecordedExchange) -> RecordedExchange:
        """Return an exchange as it may be kept."""
        self.learn(exchange.request, exchange.response)
        for _ in range(_MOST_ROUNDS):
            known, message = self.memory.size, self._message()
            request = message.request(exchange.request)
            response = message.response(request, exchange.response)
            # What a later part has shown to be a secret may stand in an earlier one.
            if self.memory.size == known:
                break
        removed = dict.fromkeys([*exchange.removed, *message.removed])
        masked = dict.fromkeys([*exchange.masked, *message.masker.masked])
        return replace(
            exchange,
            request=request,
            response=response,
            removed=tuple(removed),
            masked=tuple(masked),
        )

    def request(self, request: Request) -> Request:
        """Return a request as a recording of this set would hold it."""
        self.learn(request)
        return self._message().request(request)

    def learn(self, request: Request, response: Response | None = None) -> None:
        """Take in what the headers of an exchange tell of secrets."""
        answered = () if response is None else response.headers
        masker = self._message().masker
        for name, value in (*request.headers.items_sent, *answered):
            if may_tell(name):
                for secret in secrets_of(name, value):
                    self.memory.add(secret)
                if _STRUCTURED.search(value):
                    masker.learn(value)

    def study(self, request: Request, response: Response) -> None:
        """Take in every secret of an exchange, which may stand in others that are shown."""
        self.learn(request, response)
        message = self._message()
        masker = message.masker
        masker.path(request.path)
        masker.query(request.query)
        message.body(masker, request.body, _charset(request.headers.get("Content-Type")))
        message.body(masker, response.body, _charset(response.header("Content-Type")))

    def shown(self, request: Request, response: Response) -> tuple[Request, Response]:
        """Return an exchange as people may see it: all headers stay, without their secrets."""
        message = self._message()
        return message.shown_request(request), message.shown_response(response)

    def shown_response(self, response: Response) -> Response:
        """Return an answer as people may see it."""
        return self._message().shown_response(response)

    def line(self, text: str) -> str:
        """Return a line for people without secrets, also in the requests that it names."""

        def target(match: re.Match[str]) -> str:
            path, mark, query = match[0].partition("?")
            return masker.path(path) + mark + masker.query(query)

        masker = self.masker()
        return self.memory.without_beginnings(masker.text("", _TARGET.sub(target, text)))

    def masker(self) -> Masker:
        """Return the masker of one more text, which knows all secrets so far."""
        return self._message().masker

    def _message(self) -> "_Message":
        return _Message(Masker(self.memory, self._maker), self._clean)


class _Clean:
    """Bodies in which nothing was found, with the size of the memory then."""

    def __init__(self) -> None:
        self._sizes: dict[tuple[bytes, str], int] = {}
        self._bytes = 0

    def has(self, body: bytes, charset: str, size: int) -> bool:
        return self._sizes.get((body, charset)) == size

    def note(self, body: bytes, charset: str, size: int) -> None:
        if (body, charset) not in self._sizes:
            self._bytes += len(body) + _OVERHEAD
        if self._bytes > _MOST_CLEAN_BYTES:
            self._sizes.clear()
            self._bytes = len(body) + _OVERHEAD
        self._sizes[body, charset] = size


class _Message:
    """The redaction of one exchange; `removed` gets the names of headers that were left out."""

    def __init__(self, masker: Masker, clean: _Clean) -> None:
        self.masker = masker
        self._clean = clean
        self.removed: dict[str, None] = {}

    def request(self, request: Request) -> Request:
        """Return a request as it may be kept."""
        body = self.masker.within("request", "body").body(
            request.body, _charset(request.headers.get("Content-Type"))
        )
        headers = self._headers("request", request.headers.items_sent, REQUEST_HEADERS)
        headers += _own_signature(request.headers, headers, body)
        query = self.masker.within("request", "query").query(request.query)
        path = self.masker.within("request", "path").path(request.path)
        return replace(request, path=path, query=query, headers=Headers(headers), body=body)

    def response(self, request: Request, response: Response) -> Response:
        """Return an answer as it may be kept."""
        headers = self._headers("response", response.headers, RESPONSE_HEADERS)
        masker = self.masker.within("response", "body")
        body = self.body(masker, response.body, _charset(response.header("Content-Type")))
        body = _own_answer(request, body)
        return Response(response.status, headers, body, _coded(response, body))

    def body(self, masker: Masker, body: bytes, charset: str) -> bytes:
        """Return a body without secrets.

        Clients ask for the same lists again and again, and walking one takes long. As long as no
        secret has come, one in which nothing was found has none.
        """
        memory = masker.memory
        if self._clean.has(body, charset, memory.size):
            return body
        known, masked = memory.size, len(masker.masked)
        kept = masker.body(body, charset)
        if kept == body and memory.size == known and len(masker.masked) == masked:
            self._clean.note(body, charset, known)
        return kept

    def _headers(
        self, part: str, headers: Iterable[tuple[str, str]], allowed: frozenset[str]
    ) -> _Pairs:
        kept = []
        for name, value in headers:
            lowered = name.lower()
            if lowered in allowed:
                self.masker.within(part, "headers")
                kept.append(
                    (
                        name,
                        self._location(value)
                        if lowered == "location"
                        else self.masker.value(name, value),
                    )
                )
            elif is_noted(name) or lowered == "content-encoding":
                # A name may hold a secret itself.
                self.removed[self.masker.memory.without(name)] = None
        return tuple(kept)

    def shown_request(self, request: Request) -> Request:
        """Return a request as people may see it."""
        masker = self.masker
        return replace(
            request,
            path=masker.path(request.path),
            query=masker.query(request.query),
            headers=Headers(self._shown(request.headers.items_sent)),
            body=self.body(masker, request.body, _charset(request.headers.get("Content-Type"))),
        )

    def shown_response(self, response: Response) -> Response:
        """Return an answer as people may see it."""
        charset = _charset(response.header("Content-Type"))
        body = self.body(self.masker, response.body, charset)
        headers = self._shown(response.headers)
        return Response(response.status, headers, body, _coded(response, body))

    def _shown(self, headers: Iterable[tuple[str, str]]) -> _Pairs:
        return tuple((str(name), self._shown_value(name, value)) for name, value in headers)

    def _shown_value(self, name: str, value: str) -> str:
        is_secret = secrecy(name) is Secrecy.CERTAIN or (secrecy(name) and not is_public(value))
        if name.lower() == "location":
            return self._location(value)
        if value and is_secret and not self.masker.memory.is_public(value):
            return MASK
        return self.masker.value(name, value)

    def _location(self, value: str) -> str:
        """Return the target of a redirect without credentials."""

        def parameter(match: re.Match[str]) -> str:
            name = unquote(match[2])
            if name.lower() not in _REDIRECTED and not secrecy(name):
                return match[0]
            self._hide(name, match[3])
            return match[1] + match[2] + "=" + MASK

        value = _PARAMETER.sub(parameter, _USER.sub(rf"\g<1>{MASK}@", value))
        before, mark, rest = value.partition("?")
        return self.masker.value("Location", self.masker.path(before) + mark + rest)

    def _hide(self, name: str, value: str) -> None:
        self.masker.memory.add(unquote(value))
        self.masker.masked["response.headers.Location." + name, "name"] = None


def _coded(response: Response, body: bytes) -> Coded | None:
    """Return what a body came in, without the bytes where something else stands for a value."""
    coded = response.coded
    if coded is None or coded.omitted or body == response.body:
        return coded
    reason = "something else stands for a value of the body, which is therefore sent as it is shown"
    return Coded(coded.coding, b"", coded.unasked, reason)


def _charset(content_type: str | None) -> str:
    match = _CHARSET.search(content_type or "")
    return match[1].lower() if match else ""


def _own_answer(request: Request, body: bytes) -> bytes:
    """Return the answer of the service that signs, as the mock's own key would have it."""
    value = jsontext.decode_or(body) if b'"sign"' in body else None
    if not isinstance(value, dict) or not all(
        isinstance(value.get(name), str) for name in ("appKey", "sign")
    ):
        return body
    sent = [request.headers.get(name, "") for name in ("expireTime", "timestamp")]
    headers = developer_signatures.DeveloperHeaders(DEMO_APP_KEY, *sent)
    try:
        text = developer_signatures.signed_text(request.body, headers)
    except NotJson:
        return body
    own = {"appKey": DEMO_APP_KEY, "sign": developer_signatures.signature(text, DEMO_APP_SECRET)}
    named = layout_of(body)
    changed = {name: own.get(name, item) for name, item in value.items()}
    return encode(changed, "compact" if named is None else named[0])


def _own_signature(came: Headers, kept: Iterable[tuple[str, str]], body: bytes) -> _Pairs:
    """Return `appKey` and `signature` of the mock's own key for a request that was signed."""
    if not all(name in came for name in developer_signatures.HEADERS):
        return ()
    sent = Headers(tuple(kept))
    headers = developer_signatures.DeveloperHeaders(
        DEMO_APP_KEY, sent["expireTime"], sent["timestamp"]
    )
    try:
        text = developer_signatures.signed_text(body, headers)
    except NotJson:
        return ()
    return (
        (came.spelled("appKey") or "appKey", DEMO_APP_KEY),
        (
            came.spelled("signature") or "signature",
            developer_signatures.signature(text, DEMO_APP_SECRET),
        ),
    )
