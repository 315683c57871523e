"""The same requests for a second side: translated, signed again, sent, or read from a journal."""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import quote

from mockserver import jsontext
from mockserver.clock import wall_ms
from mockserver.conformance.requests.catalog import probes_of
from mockserver.conformance.runs.journal import MASK, Entry, Run, request_key
from mockserver.conformance.session.caller import SECRET_HEADERS, Caller
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.names import ProbeName
from mockserver.conformance.session.permit import Refusing, Spent
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import Inconclusive, NotRun
from mockserver.exchange import BadEncoding, Headers, Request, query_pairs
from mockserver.jsontext import Json
from mockserver.signing import developer
from mockserver.values import dataclass

_SHORTEST_NAME = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """What both sides answered to the same request."""

    source: Exchange
    other: Exchange


class Mirror:
    """Sends another service what one was sent; it is a `Watch` of the first."""

    def __init__(self, session: Session, caller: Caller) -> None:
        """Take the conversation with the other service."""
        self._session = session
        self._caller = caller
        self._translation = Translation()
        self._checks_time: bool | None = None
        self.pairs: list[Pair] = []
        self.left_out: dict[str, str] = {}

    def sent(self, exchange: Exchange, planned: int) -> None:
        """Send the other service what was just sent to the first."""
        try:
            other = self._other(exchange, self._translation.of(exchange.request))
        except (Refusing, Spent) as error:
            self.left_out[exchange.probe] = str(error)
            return
        self._translation.learn(exchange, other)
        self.pairs.append(Pair(exchange, other))

    def _other(self, exchange: Exchange, request: Request) -> Exchange:
        can_stamp = (
            "timestamp" in request.headers and signed_again(request, self._caller) == request
        )
        if self._checks_time and can_stamp:
            request = stamped(request, self._caller, wall_ms())
        other = self._session.ask(exchange.probe, draft_from(request))
        if self._checks_time is not None or not can_stamp or not exchange.succeeded:
            return other
        if not other.refused:
            self._checks_time = False
            return other
        # A service may hold the time of a request against its clock, where the first did not.
        now = stamped(request, self._caller, wall_ms())
        again = self._session.ask(exchange.probe, draft_from(now))
        self._checks_time = again.succeeded
        return again if again.succeeded else other


class Replay:
    """Reads a journal exchange by exchange; what could not be read is in `left_out`."""

    def __init__(self, run: Run, context: RunContext) -> None:
        """Take the journal, and where to remember what it shows."""
        self._run = run
        self._context = context
        self._probes = {probe.name: probe for probe in probes_of(context.contract)}
        self.left_out: dict[str, str] = {}

    def exchanges(self) -> Iterator[Exchange]:
        """Yield the exchanges; masked secrets are put back as far as they can be made again."""
        known = {operation.id: operation for operation in self._context.contract}
        for number, entry in enumerate(self._run.entries, 1):
            operation_id = ProbeName(entry.probe).operation_id
            if operation_id not in known:
                self.left_out[entry.probe] = f"the contract has no operation {operation_id!r}"
            elif entry.answer is None:
                self.left_out[entry.probe] = "the run of the journal ended before its answer came"
            else:
                request, operation = self._unmasked(entry), known[operation_id]
                exchange = Exchange(number, entry.probe, operation, request, entry.answer)
                self._context.add(exchange)
                yield exchange

    def _unmasked(self, entry: Entry) -> Request:
        """Return the request as it was sent: made once more where that gives the same request."""
        masked = any(
            name.lower() in SECRET_HEADERS and value and not value.strip(MASK)
            for name, value in entry.request.headers.items_sent
        )
        if not masked:
            return entry.request
        if entry.probe in self._probes:
            probe = self._probes[entry.probe]
            operation = self._context.contract.operation(probe.operation_id)
            try:
                made = probe.build(self._context).request(operation)
            except (NotRun, Inconclusive):
                pass
            else:
                if request_key(made) == request_key(entry.request):
                    return made
        return signed_again(entry.request, self._context.caller)


def paired(left: Replay, right: Replay) -> tuple[list[Pair], dict[str, str]]:
    """Return what two journals have in common, and what they have not, with the reason."""
    waiting: dict[str, deque[Exchange]] = defaultdict(deque)
    for exchange in right.exchanges():
        waiting[exchange.probe].append(exchange)
    translation = Translation()
    pairs: list[Pair] = []
    left_out: dict[str, str] = {}
    for exchange in left.exchanges():
        if not waiting[exchange.probe]:
            left_out[exchange.probe] = "the right side's journal does not have it"
            continue
        other = waiting[exchange.probe].popleft()
        if request_key(translation.of(exchange.request)) != request_key(other.request):
            left_out[exchange.probe] = "the two journals asked for it in different ways"
            continue
        translation.learn(exchange, other)
        pairs.append(Pair(exchange, other))
    for probe, rest in waiting.items():
        if rest:
            left_out[probe] = "the left side's journal does not have it"
    return pairs, {**left_out, **left.left_out, **right.left_out}


class Translation:
    """Knows what one side calls what the other calls otherwise: orders, tickets, routes.

    An input that repeats a member of the same name of an earlier answer becomes what the other
    side answered there.
    """

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._names: dict[tuple[str, str], str] = {}

    def learn(self, source: Exchange, other: Exchange) -> None:
        """Take in a pair of answers."""
        theirs = dict(_named(other.data))
        for name, value in _named(source.data):
            if name in theirs and theirs[name] != value:
                self._names[name.lower(), value] = theirs[name]

    def of(self, request: Request) -> Request:
        """Return a request with the names of the other side."""
        return replace(request, query=self._query(request.query), body=self._body(request.body))

    def _query(self, query: str) -> str:
        try:
            known = any((name.lower(), value) in self._names for name, value in query_pairs(query))
        except BadEncoding:
            return query
        return "&".join(map(self._parameter, query.split("&"))) if known else query

    def _parameter(self, part: str) -> str:
        for name, value in query_pairs(part):
            other = self._names.get((name.lower(), value))
            if other is not None:
                return f"{part.partition('=')[0]}={quote(other, safe='~')}"
        return part

    def _body(self, body: bytes) -> bytes:
        members = jsontext.decode_or(body)
        if not isinstance(members, dict):
            return body
        changed = {
            name: self._names.get((name.lower(), value), value) if isinstance(value, str) else value
            for name, value in members.items()
        }
        return body if changed == members else jsontext.encode(changed)


def _named(data: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for name, value in data.items():
        is_text = isinstance(value, str | int) and not isinstance(value, bool)
        if is_text and len(str(value)) >= _SHORTEST_NAME:
            yield name, str(value)


def draft_from(request: Request) -> Draft:
    """Return a draft that makes the same request, byte for byte."""
    sent = request.headers.items_sent
    typed = request.headers.get("content-type")
    return Draft(
        headers={name: value for name, value in sent if name.lower() != "content-type"},
        raw_query=request.query,
        raw_body=request.body,
        method=request.method,
        path=request.path,
        body=None if typed is None else {},
        content_type=typed or "",
    )


def signed_again(request: Request, caller: Caller) -> Request:
    """Return a request with the secrets of a caller, signed over what it carries."""
    headers = request.headers

    def signature() -> str:
        is_v1 = "timestamp" in headers or "appKey" in headers or request.path.startswith("/open/")
        if not is_v1:
            return caller.wallet_signed(request.body, headers.get("EvmAddress", ""))
        key = caller.app_key if "appKey" in headers else ""
        times = (headers.get("expireTime", ""), headers.get("timestamp", ""))
        return caller.developer_signed(request.body, developer.DeveloperHeaders(key, *times))

    makers = {"appkey": lambda: caller.app_key, "signature": signature}
    items = [
        (name, makers[name.lower()]() if name.lower() in makers else value)
        for name, value in headers.items_sent
    ]
    return replace(request, headers=Headers(items))


def stamped(request: Request, caller: Caller, now_ms: int) -> Request:
    """Return a v1 request at another time, signed again."""
    items = [
        (name, str(now_ms) if name.lower() == "timestamp" else value)
        for name, value in request.headers.items_sent
    ]
    return signed_again(replace(request, headers=Headers(items)), caller)
