"""The same requests for a second side: translated, signed again, sent, or read from a journal."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import quote

from mockserver import contract as contracts
from mockserver import jsontext
from mockserver.clock import wall_ms
from mockserver.conformance.discovery.service_clock import stamp_of, with_stamp
from mockserver.conformance.generation.stages import adopt_service_time
from mockserver.conformance.options import Options
from mockserver.conformance.requests.all_probes import probes_of
from mockserver.conformance.runs.fresh_stamps import SERVICE_TIME
from mockserver.conformance.runs.offline import recorded_entries
from mockserver.conformance.runs.run_journal import MASK, Run, RunEntry, header_of, request_key
from mockserver.conformance.session.caller import SECRET_HEADERS, Caller
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.permit import Refusing, Spent
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.session import ON_PURPOSE_MS, Session
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import if_known
from mockserver.contract import Generation
from mockserver.http_messages import Headers, Request, pairs_or, query_pairs
from mockserver.jsontext import Json
from mockserver.recordings import gather
from mockserver.signing import developer_signatures

# A shorter text may be equal by chance, such as a count.
_SHORTEST_NAME = 3
# How often another time is tried where only the other service refuses a request.
_ATTEMPTS = 4


class Pair(NamedTuple):
    """What both sides answered to the same request."""

    source: Exchange
    counterpart: Exchange

    @property
    def generation(self) -> Generation:
        return self.source.operation.generation


class Mirror:
    """Sends the requests of one service to another; it is a `Watch` of the first."""

    def __init__(self, session: Session, caller: Caller) -> None:
        self._session = session
        self._caller = caller
        self._translation = Translation()
        self._now: Callable[[], int] | None = None
        self._attempts = _ATTEMPTS
        self._taken_ms = 0
        self.pairs: list[Pair] = []
        self.left_out: dict[str, str] = {}

    def sent(self, exchange: Exchange, planned: int) -> None:
        """Send the other service what was just sent to the first."""
        try:
            second_exchange = self._counterpart(exchange, self._translation.of(exchange.request))
        except (Refusing, Spent) as error:
            self.left_out[exchange.probe] = str(error)
            return
        self._translation.learn(exchange, second_exchange)
        if exchange.succeeded and stamp_of(exchange.request) is not None:
            # Refused requests that differ in their time alone were attempts to find the right time.
            self.pairs = [pair for pair in self.pairs if not _is_attempt(pair.source, exchange)]
        self.pairs.append(Pair(exchange, second_exchange))

    def _counterpart(self, exchange: Exchange, request: Request) -> Exchange:
        at_ms = stamp_of(request)
        can_stamp = at_ms is not None and signed_again(request, self._caller) == request
        if at_ms is not None and exchange.succeeded:
            self._taken_ms = at_ms
        elif at_ms is not None and self._taken_ms - at_ms > ON_PURPOSE_MS:
            can_stamp = False  # a time long past is what the request is about
        if self._now is not None and can_stamp:
            request = stamped(request, self._caller, self._now())
        answered = self._session.ask(exchange.probe, draft_from(request))
        if not (can_stamp and exchange.succeeded and answered.refused and self._attempts):
            return answered
        # Only this service may check the time of a request, or it may have a clock of its own.
        self._attempts -= 1
        before = self._now
        for _ in range(2):
            if self._now is None:
                self._now = wall_ms
            elif not self._adopt_its_time():
                break
            again = stamped(request, self._caller, self._now())
            answer = self._session.ask(exchange.probe, draft_from(again))
            if answer.succeeded:
                return answer
        # It was refused for something else, and its time may have been right.
        self._now = before
        return answered

    def _adopt_its_time(self) -> bool:
        """Adopt the time that the other service shows elsewhere; tell whether that is new."""
        context, ask = self._session.context, self._session.ask
        adopted = adopt_service_time(context, lambda of, draft: ask(f"{of}/{SERVICE_TIME}", draft))
        self._now, context.now = context.now if adopted else self._now, None
        return adopted


def _is_attempt(earlier: Exchange, taken: Exchange) -> bool:
    """Tell whether a refused request differs from an accepted one in its time alone."""
    first, second = stamp_of(earlier.request), stamp_of(taken.request)
    what = {(each.probe, each.request.query, each.request.body) for each in (earlier, taken)}
    return earlier.refused and len(what) == 1 and first is not None and first != second


def recorded_run(name: str, options: Options) -> Run:
    """Return recordings as the journal of a run, signed by its caller. Raises `InvalidFile`.

    `name` is a file, a folder or a shipped recording.
    """
    contract = contracts.load(options.dialect)
    caller = options.caller
    entries = recorded_entries(gather([name]), contract, caller)
    signed = (replace(entry, request=signed_again(entry.request, caller)) for entry in entries)
    return Run(header_of(Target(None, None), options, contract), tuple(signed))


class ReplayedRequests:
    """Reads a journal exchange by exchange; what could not be read is in `left_out`."""

    def __init__(self, run: Run, context: RunContext) -> None:
        self._run = run
        self._context = context
        self._probes = {probe.name: probe for probe in probes_of(context.contract)}
        self.left_out: dict[str, str] = {}

    def exchanges(self) -> Iterator[Exchange]:
        """Yield the exchanges; masked secrets are put back as far as they can be made again."""
        for number, entry in enumerate(self._run.entries, 1):
            operation_id = ProbeName(entry.probe).operation_id
            if (operation := self._context.contract.get(operation_id)) is None:
                self.left_out[entry.probe] = f"the contract has no operation {operation_id!r}"
            elif entry.answer is None:
                self.left_out[entry.probe] = "the run of the journal ended before its answer came"
            else:
                request = self._unmasked(entry)
                exchange = Exchange(number, entry.probe, operation, request, entry.answer)
                self._context.add(exchange)
                yield exchange

    def _unmasked(self, entry: RunEntry) -> Request:
        """Return the request as it was sent, signed again where that gives the same request."""
        sent = entry.request.headers.items_sent
        secrets = [value for name, value in sent if name.lower() in SECRET_HEADERS]
        if not any(value and not value.strip(MASK) for value in secrets):
            return entry.request
        if probe := self._probes.get(entry.probe):
            operation = self._context.contract.operation(probe.operation_id)
            draft = if_known(probe.build, self._context)
            made = draft and draft.request(operation)
            if made and request_key(made) == request_key(entry.request):
                return made
        return signed_again(entry.request, self._context.caller)


def paired(left: ReplayedRequests, right: ReplayedRequests) -> tuple[list[Pair], dict[str, str]]:
    """Return the pairs of two journals, and the probes without a partner, with the reason."""
    waiting: dict[str, deque[Exchange]] = defaultdict(deque)
    for exchange in right.exchanges():
        waiting[exchange.probe].append(exchange)
    translation, pairs, left_out = Translation(), list[Pair](), dict[str, str]()
    for exchange in left.exchanges():
        if not waiting[exchange.probe]:
            left_out[exchange.probe] = "the right side's journal does not have it"
            continue
        counterpart = waiting[exchange.probe].popleft()
        if request_key(translation.of(exchange.request)) != request_key(counterpart.request):
            left_out[exchange.probe] = "its requests differ between the two journals"
            continue
        translation.learn(exchange, counterpart)
        pairs.append(Pair(exchange, counterpart))
    rest = [probe for probe, exchanges in waiting.items() if exchanges]
    left_out |= dict.fromkeys(rest, "the left side's journal does not have it")
    return pairs, {**left_out, **left.left_out, **right.left_out}


class Translation:
    """Translates ids that differ between the two sides: of orders, tickets, routes.

    An input that repeats a member of the same name of an earlier answer becomes what the other
    side answered there.
    """

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}

    def learn(self, source: Exchange, exchange: Exchange) -> None:
        theirs = dict(_named(exchange.data))
        for name, value in _named(source.data):
            if name in theirs and theirs[name] != value:
                self._names[name.lower(), value] = theirs[name]

    def of(self, request: Request) -> Request:
        return replace(request, query=self._query(request.query), body=self._body(request.body))

    def _query(self, query: str) -> str:
        known = any((name.lower(), value) in self._names for name, value in pairs_or(query))
        return "&".join(map(self._parameter, query.split("&"))) if known else query

    def _parameter(self, part: str) -> str:
        for name, value in query_pairs(part):
            if (renamed := self._names.get((name.lower(), value))) is not None:
                return f"{part.partition('=')[0]}={quote(renamed, safe='~')}"
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
        signed = developer_signatures.DeveloperHeaders(key, *times)
        return caller.developer_signed(request.body, signed)

    makers = {"appkey": lambda: caller.app_key, "signature": signature}
    items = [
        (name, makers[name.lower()]() if name.lower() in makers else value)
        for name, value in headers.items_sent
    ]
    return replace(request, headers=Headers(items))


def stamped(request: Request, caller: Caller, now_ms: int) -> Request:
    """Return a v1 request at another time, signed again."""
    return signed_again(with_stamp(request, now_ms), caller)
