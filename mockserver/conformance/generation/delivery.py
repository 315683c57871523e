"""The stage of delivery: what was judged is asked again in other ways, and must be answered alike.

Gateways, caches, connection pools and replicas stand between a client and a service. The plan asks
each request by itself, on a connection of its own and uncompressed; here the same requests travel
as browsers and proxies send them, on a connection that is used again, and side by side.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import chain, combinations
from urllib.parse import urlencode

from mockserver import jsontext
from mockserver.conformance.checks.judged_exchanges import (
    GATEWAY_STATUSES,
    chains_named,
    in_words,
    is_refused_now_and_then,
    request_key,
    says_it_is_away,
)
from mockserver.conformance.checks.rule import Finding, Outcome
from mockserver.conformance.checks.shared_probes import V2_LISTS
from mockserver.conformance.checks.submission_timelines import (
    ORDER,
    TICKET,
    V1_ORDER,
    Submitted,
    Timeline,
    certificate_of,
    is_over,
)
from mockserver.conformance.checks.tickets import entries
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.inventory import chains_of, inventory_of
from mockserver.conformance.discovery.token_routes import addressed_tokens, v1_chain_pair
from mockserver.conformance.generation.client_variants import (
    OLD_COPY,
    allowed_to_differ,
    cookies_for,
    forms_of_clients,
    kept_for,
    knows_no_chunks,
)
from mockserver.conformance.generation.equal_answers import Sameness
from mockserver.conformance.generation.equal_requests import (
    alternating,
    conditions_of,
    equal_requests,
    stale_validators,
)
from mockserver.conformance.generation.stages import DELIVERY, Sender, is_answered
from mockserver.conformance.options import Options
from mockserver.conformance.requests.probe_labels import FILTERS
from mockserver.conformance.requests.valid import (
    first_chains,
    fresh_address,
    fresh_hash,
    plain_or_unknown,
    valid_request,
)
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, NoAnswer, refusal_of
from mockserver.conformance.session.probe_names import EdgeKind
from mockserver.conformance.session.request_draft import JSON_TYPE, Draft
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import NotRun, Verdict, if_known
from mockserver.contract import Basis, Operation, fact_basis, ids, shipped_facts
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.signing.developer_signatures import HEADERS
from mockserver.wording import counted

_LETTER = re.compile(r"(%[0-9A-Fa-f]{2})|([0-9A-Za-z])")
_ROUND_AMOUNT = re.compile(rb'("amount": *[1-9])(0+)(?=[,} ])')
# Clients show quotes for seconds; whoever keeps one for an hour shows another market.
_HOUR_S, _DAY_S = 3600, 86_400
# How often an order or a ticket is looked up in a row: of four replicas of which one is behind, all
# but one run in thirty meet it.
LOOKS = 12
# One answer that differs once may be a busy moment; two are not.
_FEWEST_FLICKERS = 2
_AT_ONCE, _AGAIN, _MOST_NEAR, _LISTS_AT_ONCE = 8, 2, 2, 4
# How many requests of an operation are compared with each other.
_MOST_COMPARED = 40
# As many signed requests as a client sends on one connection.
_IN_A_ROW = 14
_FIRST_LISTS = (ids.CHAINS, ids.ASSETS)
# What was submitted and is known once may not be unknown at the next look.
_KNOWN_ONCE = {
    ids.CHECK: "v2.check-order",
    ids.CHECK_TICKET: "v2.check-ticket",
    ids.V1_DETAIL: "v1.get-order-detail",
}
# What a submission gets a number of its own by.
_NUMBERED = {
    ids.ORDER: "order.id",
    ids.V1_ORDER: "v1-orders.number",
    ids.TICKET: "ticket.submitted",
}
_KINDS = (ORDER, V1_ORDER, TICKET)
_KEYS = shipped_facts().names["words"]["keys"]
# What the hash of a deposit is called where a valid request is made about it.
_DEPOSIT = {ids.TICKET: "hash"}
_LENGTH_REQUIRED = 411
# What goes from here to there, by the fact that says so. A rate this far from 1 is not its reverse.
_DIRECTED = {
    ids.BRIDGE: "get-bridge-quote",
    ids.SWAP_QUOTE: "get-aggregate-quote",
    ids.SWAP: "get-aggregate-swap",
}
_STEEP = 2
_CHANGING = (*ids.QUOTES, ids.SWAP, ids.CHECK, ids.PRICE, ids.BALANCE, ids.V1_DETAIL)
_FURTHER, _SHORT, _LONG = "utm_source", 3, 600
# Lists are to be read before they are used, and change less often.
_KEPT_LESS_THAN_S = {
    **dict.fromkeys((*_CHANGING, ids.CHECK_TICKET, ids.TICKETS), _HOUR_S),
    **dict.fromkeys(ids.LISTS, _DAY_S + 1),
}

DeliveryEdit = Callable[[Draft], Draft]


def _headers(**changes: str) -> DeliveryEdit:
    named = {name.replace("_", "-"): value for name, value in changes.items()}
    return lambda draft: replace(draft, headers={**draft.headers, **named})


def _header_names(spell: Callable[[str], str]) -> DeliveryEdit:
    return lambda draft: replace(
        draft, headers={spell(name): value for name, value in draft.headers.items()}
    )


def _escaped(draft: Draft) -> Draft:
    """Return a request with each letter and digit of each value as an escape: three times as long,
    which cuts show in that gateways make.
    """

    def escape(match: re.Match[str]) -> str:
        return match[1] or f"%{ord(match[2]):02X}"

    pairs = (part.partition("=") for part in (draft.raw_query or "").split("&") if part)
    return replace(
        draft,
        raw_query="&".join(
            name + equals + _LETTER.sub(escape, value) for name, equals, value in pairs
        ),
    )


def _escaped_body(draft: Draft) -> Draft:
    """Return a submission with each character of its texts as an escape of JSON."""

    def escaped(value: Json) -> str:
        text = value if isinstance(value, str) else ""
        units = text.encode("utf-16-be", "surrogatepass").hex()
        digits = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
        return f'"{digits}"' if isinstance(value, str) else jsontext.encode(value).decode()

    body = jsontext.decode_or(draft.sent_body, None)
    if not isinstance(body, Mapping):
        return draft
    members = (f'"{name}":{escaped(value)}' for name, value in body.items())
    return replace(draft, raw_body=f"{{{','.join(members)}}}".encode())


def _with_exponents(draft: Draft) -> Draft:
    """Return a request whose round amounts are written as 1e2: the same numbers in JSON."""

    def exponent(match: re.Match[bytes]) -> bytes:
        return match[1] + b"e%d" % len(match[2])

    return replace(draft, raw_body=_ROUND_AMOUNT.sub(exponent, draft.sent_body) or None)


def _with_further_input(length: int) -> DeliveryEdit:
    """Return a change that puts an input in front which no operation has, as trackers do.

    The query is longer then, so that cuts show. v1 may sign the query, so it stays as it is there.
    """

    def change(draft: Draft) -> Draft:
        if not draft.raw_query or "signature" in {name.lower() for name in draft.headers}:
            return draft
        return replace(draft, raw_query=f"{_FURTHER}={'x' * length}&{draft.raw_query}")

    return change


def _with_white_space(draft: Draft) -> Draft:
    """Return a request with white space around its body and inside of it, as people write JSON."""
    body = draft.sent_body.strip()
    is_object = body.startswith(b"{") and body.endswith(b"}")
    return replace(draft, raw_body=b"\n { " + body[1:-1] + b" \n}\r\n") if is_object else draft


def _blanks_as_plus(draft: Draft) -> Draft:
    return replace(draft, raw_query=(draft.raw_query or "").replace("%20", "+"))


def _named_charset(draft: Draft) -> Draft:
    return replace(draft, content_type=f"{JSON_TYPE}; charset=utf-8")


def _in_chunks(draft: Draft) -> Draft:
    """Return a request whose body travels in chunks, as that of a client does that streams."""
    return _headers(Transfer_Encoding="chunked")(draft) if draft.sent_body else draft


_COMPRESSED = "compression accepted"
_LONGER_QUERY = f"a further input of {_LONG} characters in front"
_LONG_INPUT = _with_further_input(_LONG)

# Ways of sending that change nothing of the meaning. All of a group are sent in one request, and
# one by one only where that is answered otherwise.
_FORMS: Mapping[str, Mapping[str, DeliveryEdit]] = {
    "as browsers send it": {
        "names of headers in lower case": _header_names(str.lower),
        _COMPRESSED: _headers(Accept_Encoding="gzip, deflate, br"),
        "another language accepted": _headers(Accept_Language="de-DE, fr;q=0.8"),
        "the name of a browser": _headers(User_Agent="Mozilla/5.0 (X11; Linux x86_64)"),
        "cookies": _headers(Cookie="seen=1"),
        "letters as escapes": _escaped,
        "blanks as +": _blanks_as_plus,
        _LONGER_QUERY: _LONG_INPUT,
        "the charset of the body named": _named_charset,
        "white space in the body": _with_white_space,
        "several types accepted": _headers(Accept="application/json, text/plain;q=0.9, */*;q=0.8"),
    },
    "as proxies send it": {
        "names of headers in upper case": _header_names(str.upper),
        "compression accepted, plain preferred": _headers(Accept_Encoding="identity, gzip;q=0.5"),
        "nothing from a cache": _headers(Cache_Control="no-cache", Pragma="no-cache"),
        "the names of proxies": _headers(Via="1.1 proxy", X_Forwarded_For="192.0.2.7"),
        "any type accepted": _headers(Accept="*/*"),
        "a third language accepted": _headers(Accept_Language="zh-CN, ar;q=0.8"),
        "the body in chunks": _in_chunks,
        "letters of the body as escapes": _escaped_body,
        "amounts with an exponent": _with_exponents,
    },
}


# Ways of sending a submission, each for a deposit of its own.
_FORMS_OF_SUBMISSIONS: Mapping[str, DeliveryEdit] = {
    "names of headers in lower case": _header_names(str.lower),
    "letters of its body as escapes": _escaped_body,
    "the charset of the body named": _named_charset,
    "the body in chunks, with white space": lambda draft: _in_chunks(_with_white_space(draft)),
}


@dataclass(frozen=True, slots=True)
class RepeatedRequest:
    """A request that is asked again: a `label`, what makes it anew, and its answers so far."""

    label: str
    operation: Operation
    make: Callable[[], Draft]
    sameness: Sameness

    @property
    def succeeded(self) -> bool:
        return self.sameness.first.succeeded


# What is asked for again, and the forms that it is asked in.
_Row = tuple[RepeatedRequest, tuple[tuple[str, DeliveryEdit], ...]]


def delivery(session: Session, options: Options) -> tuple[Outcome, ...]:
    """Return an outcome for each operation that may be called.

    Submissions are sent only where they are armed: one deposit twice at the same time.
    """
    chosen = [
        operation
        for operation in session.context.contract
        if options.chooses(DELIVERY.rule(), operation.id) and is_answered(session, operation)
    ]
    reads = [operation for operation in chosen if not operation.writes]
    # One generated request of each operation shows more than the same answers once more.
    stage = _Delivery(session, reads, kept=len(reads) if options.examples else 0)
    stage.run()
    writes = [operation for operation in chosen if operation.writes]
    if options.arming.writes:
        stage.submissions(writes)
    return stage.outcomes(chosen, never=() if options.arming.writes else writes)


class _Delivery:
    """The requests of the stage, and what was found by operation."""

    def __init__(self, session: Session, reads: Sequence[Operation], kept: int) -> None:
        self._session = session
        self._context = session.context
        self._sender = Sender(session, DELIVERY.words, kept)
        self._findings: defaultdict[str, list[Finding]] = defaultdict(list)
        # Answers that differed once, and not when the same was asked once more.
        self._flickers: defaultdict[str, list[tuple[Exchange, Exchange, str]]] = defaultdict(list)
        self._reported: set[tuple[str, str]] = set()
        self._touched: set[str] = set()
        self._reads = reads
        self._targets: list[RepeatedRequest] = []
        # Places in answers of an operation whose words differ from time to time.
        self._free: defaultdict[str, set[str]] = defaultdict(set)
        self._made: defaultdict[str, set[str]] = defaultdict(set)
        # Of each operation requests that differ from the usual in as little as can be.
        self._near: dict[str, list[Exchange]] = {}
        # What is answered otherwise of some operation, by what it is called.
        self._told: set[str] = set()
        # Whether a generation ignores inputs that are not known.
        self._further: dict[str, bool] = {}
        # How compression is asked for, in a way that this service can be read in.
        self._compressed = _FORMS["as browsers send it"][_COMPRESSED]

    def run(self) -> None:
        """Send everything that reads; stop where nothing more may leave."""
        steps = (self._begin, self._forms, self._http, self._turned, self._kept, self._together)
        for step in steps:
            step()
            if self._sender.stopped:
                return
        self._begin_again()

    def _judge_equal_requests(self) -> None:
        """Report what all answers to what is asked again show together."""
        for target in self._targets:
            every = equal_requests(self._context, target.sameness.first)
            fact, cause = "delivery.validators", "stale tag"
            for message, before, now in stale_validators(every):
                if (target.operation.id, cause) not in self._reported:
                    self._reported.add((target.operation.id, cause))
                    self._finds(target, message, (before, now), "HTTP headers", fact, cause)
            turn = alternating(every) if target.operation.id in V2_LISTS else None
            if turn and not self._findings[target.operation.id]:
                message = "the list changes, and changes back, under the same version"
                self._finds(target, message, turn, "data.list", "lists.version", "alternating")

    def outcomes(
        self, chosen: Sequence[Operation], never: Sequence[Operation]
    ) -> tuple[Outcome, ...]:
        """Return an outcome for each of them; those that are `never` asked lack no budget."""
        self._judge_equal_requests()
        self._forget_outages()
        self._report_flickers()
        return tuple(self._outcome(operation, never) for operation in chosen)

    def _outcome(self, operation: Operation, never: Sequence[Operation]) -> Outcome:
        rule, stopped = DELIVERY.rule(operation.id), self._sender.stopped
        if operation.id in self._touched:
            return self._sender.outcome(rule, operation, self._findings[operation.id], stopped)
        if stopped and operation not in never:
            return Outcome(rule, operation, Verdict.NOT_RUN, reason=stopped)
        reason = "no answer of it was there to be asked for again"
        return Outcome(rule, operation, Verdict.NOT_APPLICABLE, reason=reason)

    # What is asked again.

    def _begin(self) -> None:
        """Choose what is asked again, and ask each once more as it was."""
        for operation in self._reads:
            self._cacheable(operation)
            for label, first in self._chosen(operation):
                target = self._repeated(label, operation, first)
                if self._is_steady(target):
                    self._targets.append(target)

    def _repeated(self, label: str, operation: Operation, first: Exchange) -> RepeatedRequest:
        sameness = Sameness(first, self._free[operation.id], self._made[operation.id])
        return RepeatedRequest(label, operation, self._maker(operation, first), sameness)

    def _is_steady(self, target: RepeatedRequest) -> bool:
        """Ask for what was answered; tell whether it is taken, or refused, as it was before."""
        # What is taken now and refused then shows nothing more when it is asked in other ways.
        # The plan may have asked for it again already, a while after the first time.
        equal = [each for each in self._context.of(target.operation) if _is_equal(each, target)]
        again = equal[-1] if equal else self._ask(target, target.make())
        if again is None or not again.has_answer or _is_busy(again):
            return False
        if again.succeeded == target.succeeded:
            target.sameness.add(again)
            return True
        once_more = self._ask(target, target.make())
        if once_more is not None and once_more.succeeded == target.succeeded:
            difference = target.sameness.difference(again)
            self._flickers[target.operation.id] += [(once_more, again, difference)] * 2
        return False

    def _chosen(self, operation: Operation) -> Iterator[tuple[str, Exchange]]:
        """Yield the usual request of an operation, and the one that differs from it most."""
        every = [
            exchange
            for exchange in self._context.of(operation)
            if exchange.request.method == operation.method
            and exchange.request.path == operation.path
            and exchange.has_answer
            and exchange.answer.status not in GATEWAY_STATUSES
            and not exchange.unreadable
        ]
        # What an order has come to stays, and tells it from others.
        good = sorted(
            (exchange for exchange in every if exchange.succeeded),
            key=lambda exchange: not is_over(exchange),
        )
        first = next(iter(good), None)
        usual = if_known(plain_or_unknown, self._context, operation) if first is None else None
        if usual is not None:
            query = usual.request(operation).query
            known = next((each for each in every if each.request.query == query), None)
            first = known or self._sender.send(operation.id, usual)
        if first is None or not first.has_answer:
            return
        yield "usual", first
        # The last answer to each: what is submitted changes some.
        latest = {request_key(each): each for each in every if each.succeeded}
        latest.pop(request_key(first), None)
        others = sorted(latest.values(), key=lambda exchange: not is_over(exchange))
        draft = if_known(_other_request, self._context, operation, others)
        second = None if draft is None else self._sender.send(operation.id, draft)
        if second is not None and second.succeeded:
            others.append(second)
        if not others:
            return
        self._near[operation.id] = _nearest(first, others)
        yield (
            "other",
            max(others, key=lambda each: (len(_varied(each, first)), _distance(each, first))),
        )

    def _maker(self, operation: Operation, exchange: Exchange) -> Callable[[], Draft]:
        request = exchange.request
        headers = _without(dict(request.headers.items_sent), {*HEADERS, "content-type"})
        draft = Draft(headers, raw_query=request.query, raw_body=request.body or None)
        needs_key = operation.auth == "developer-key"
        return lambda: self._context.caller_now.sign_v1(draft) if needs_key else draft

    # Ways of sending.

    def _forms(self) -> None:
        for target in [target for target in self._targets if target.label == "usual"]:
            # Where nothing but the usual headers travels, one form with others shows enough.
            has_own = any(field.location == "headers" for field in target.operation.fields)
            for words, every in [*_FORMS.items()][: 2 if has_own else 1]:
                changes = dict(every)
                if _COMPRESSED in changes:
                    changes[_COMPRESSED] = self._compressed
                if _LONGER_QUERY in changes and not self._takes_further_inputs(target):
                    del changes[_LONGER_QUERY]
                exchange = self._ask(target, _applied(target.make(), *changes.values()))
                if exchange is not None and _is_packed_otherwise(exchange):
                    self._compressed = changes[_COMPRESSED] = _headers(Accept_Encoding="gzip")
                    exchange = self._ask(target, _applied(target.make(), *changes.values()))
                if exchange is None:
                    return
                if not self._differs(target, exchange):
                    continue
                if _LONGER_QUERY in changes and not self._is_taken(
                    target, _with_further_input(_SHORT)
                ):
                    # This operation alone refuses what it does not know.
                    del changes[_LONGER_QUERY]
                self._narrowed(target, words, changes)

    def _narrowed(
        self, target: RepeatedRequest, words: str, changes: Mapping[str, DeliveryEdit]
    ) -> None:
        """Report which of several changes is answered otherwise: all together where none is.

        Those that are told of another operation come first, and may be all of it.
        """
        told = {part: change for part, change in changes.items() if part in self._told}
        rest = {part: change for part, change in changes.items() if part not in told}
        alone = [self._tells(target, part, change) for part, change in told.items()]
        together = partial(_applied, target.make(), *rest.values())
        if any(alone):
            exchange = self._ask(target, together())
            if exchange is None or not self._differs(target, exchange):
                return
        alone += [self._tells(target, part, change) for part, change in rest.items()]
        if not any(alone):
            self._confirmed(target, partial(_applied, target.make(), *changes.values()), words)

    def _tells(self, target: RepeatedRequest, part: str, change: DeliveryEdit) -> bool:
        make = partial(_applied, target.make(), change)
        exchange = self._ask(target, make())
        if exchange is None or part in allowed_to_differ(exchange):
            return False
        is_told = self._confirmed(target, make, part, (exchange,))
        self._told |= {part} if is_told else set()
        return is_told

    def _as_others(self, target: RepeatedRequest) -> None:
        """Ask as clients of other kinds do, without what the service need not answer alike."""
        cookies = cookies_for(self._context.exchanges, target.sameness.first)
        further = self._takes_further_inputs(target)
        changes = forms_of_clients(target.make(), cookies, takes_further=further)
        while True:
            exchange = self._ask(target, _applied(target.make(), *changes.values()))
            if exchange is None or not (difference := self._differs(target, exchange)):
                return
            if exchange.answer.status == 304:
                message = "HTTP 304 (not modified) to a client that has nothing but a copy of 1994"
                place, fact = "HTTP status", "delivery.validators"
                self._finds(target, message, (exchange,), place, fact, "not modified")
            allowed = allowed_to_differ(exchange) & changes.keys()
            if not allowed:
                break
            for words in allowed:
                del changes[words]
        again = self._ask(target, _applied(target.make(), *changes.values()))
        if again is None or not self._differs(target, again):
            self._flicker(target, exchange, difference)
            return
        self._narrowed(target, "as other clients send it", changes)

    def _takes_further_inputs(self, target: RepeatedRequest) -> bool:
        """Tell whether its generation ignores an input that is not known: it may refuse it."""
        generation, short = target.operation.generation.id, _with_further_input(_SHORT)
        changes_it = short(target.make()).raw_query != target.make().raw_query
        if generation not in self._further and changes_it and target.succeeded:
            self._further[generation] = self._is_taken(target, short)
        return changes_it and self._further.get(generation, False)

    def _is_taken(self, target: RepeatedRequest, change: DeliveryEdit) -> bool:
        exchange = self._ask(target, change(target.make()))
        return exchange is not None and not self._differs(target, exchange)

    def _http(self) -> None:
        """Ask for the head alone, as others do, and with a slash at the end of the path."""
        for target in [target for target in self._targets if target.label == "usual"]:
            if target.operation.id not in (*ids.LISTS, ids.BRIDGE, ids.CHECK, ids.PRICE):
                self._as_others(target)
                continue
            draft = target.make()
            head = self._ask(target, replace(draft, method="HEAD"))
            again = self._ask(target, replace(draft, method="HEAD")) if _fails(head) else None
            if _fails(again) and again is not None:
                message = f"HEAD fails, where GET is answered: {in_words(again)}"
                self._finds(target, message, (again,), "HTTP status", "delivery.head", "HEAD")
            elif head is not None and head.answer.status == target.sameness.first.answer.status:
                self._judge_length(target, head)
            # A cache may keep the head, which has no body, for whoever asks next.
            self._as_others(target)
            self._judge_tags(target)
            if target.operation.id not in ids.LISTS:
                continue
            slash = self._ask(target, replace(draft, path=f"{target.operation.path}/"))
            if slash is not None and slash.succeeded:
                self._look(target, slash, "a slash at the end of the path")

    def _judge_length(self, target: RepeatedRequest, head: Exchange) -> None:
        """Report a length of nothing, where GET has a body: who trusts it asks for nothing."""
        body = target.sameness.first.answer.body
        if body and (head.answer.header("Content-Length") or "").strip() == "0":
            message = f"HEAD says that the answer has no bytes, GET has {len(body)}"
            exchanges, place = (target.sameness.first, head), "HTTP headers"
            self._finds(target, message, exchanges, place, "delivery.head", "length")

    def _judge_tags(self, target: RepeatedRequest) -> None:
        """Ask with validators, where answers have some: their own, and those of other answers."""
        usual = target.sameness.first
        own = conditions_of(usual)
        if not own:
            return
        known = self._ask(target, _headers(**own)(target.make()))
        if known is not None and known.answer.status != 304:
            self._look(target, known, "validators of the same answer")
        others = [each for each in self._targets if each.operation is target.operation]
        pairs = [(each, usual) for each in others if each is not target]
        # And what it was answered once, when that was something else.
        before = [each for each in equal_requests(self._context, usual) if each.body != usual.body]
        pairs += [(target, each) for each in before[:1]]
        for each, first in pairs:
            # Two of one second share a date, so that only tags tell them apart.
            tag = first.answer.header("ETag")
            if not tag or each.sameness.first.answer.body == first.answer.body:
                continue
            exchange = self._ask(each, _headers(If_None_Match=tag)(each.make()))
            if exchange is None or exchange.answer.status != 304:
                continue
            now = self._ask(each, each.make())
            if now is not None and now.answer.body != first.answer.body:
                message = (
                    "HTTP 304 (not modified) to a client that has the answer to something else"
                )
                place, fact = "HTTP status", "delivery.validators"
                self._finds(each, message, (first, exchange), place, fact, "tag of another")

    def _turned(self) -> None:
        """Ask for the other direction in the same amount: no rate is that of its own reverse."""
        for operation in self._reads:
            if operation.id not in _DIRECTED:
                continue
            good = [each for each in self._context.of(operation) if each.succeeded]
            first = max(good, key=_steepness, default=None)
            if first is None or _steepness(first) < _STEEP:
                continue
            target = self._repeated("turned", operation, first)
            before = self._ask(target, target.make())
            exchange = self._ask(target, replace(target.make(), raw_query=_query_turned(first)))
            if exchange is None or before is None or not (before.succeeded and exchange.succeeded):
                continue
            target.sameness.add(before)
            if _steepness(exchange) >= _STEEP and target.sameness.is_answered_by(exchange):
                message = "the other direction in the same amount has the same answer"
                fact = f"v2.{_DIRECTED[operation.id]}"
                self._finds(target, message, (before, exchange), "", fact, "other direction")

    def _kept(self) -> None:
        """Ask for everything in a row on a connection that stays open, twice if need be."""
        self._unsigned()
        rows = self._in_browsers()
        wrong = self._wrong(self._on_one_connection(rows))
        plain = [(target, ()) for target, _ in rows]
        again = self._wrong(self._on_one_connection(plain)) if wrong else []
        if again:
            self._report_wrong(again, "on a connection that is used again")
            return
        edits = {id(target): changes for target, changes in rows}
        for target, *_ in wrong:
            for part, change in edits[id(target)]:
                self._confirmed(target, partial(_applied, target.make(), change), part)

    def _in_browsers(self) -> list[_Row]:
        """Return everything with what is nearest to it right behind, in a form of its own.

        All of it is compressed, for which a cache may have a key of its own; and behind an input
        as long, a cache that looks at the front of a query knows no other.
        """
        rows = list[_Row]()
        packed, long = (_COMPRESSED, self._compressed), (_LONGER_QUERY, _LONG_INPUT)
        for target in self._targets:
            is_far = target.label == "other" and self._takes_further_inputs(target)
            rows.append((target, (packed, long) if is_far else (packed,)))
            if target.label == "usual":
                rows += [(each, (packed,)) for each in self._near_to(target)]
        # Who counts what comes on a connection may count one operation alone.
        signed = (row for row in rows if row[0].operation.auth == "developer-key")
        usual = [row for row in signed if row[0].succeeded][:1]
        count = sum(row[0].operation is each[0].operation for row in rows for each in usual)
        return [*rows, *rows[:_AGAIN], *usual * (_IN_A_ROW - count)]

    def _on_one_connection(
        self, rows: Sequence[_Row]
    ) -> list[tuple[RepeatedRequest, Exchange | None]]:
        with self._session.transport.kept_connection():
            return [
                (target, self._ask(target, _applied(target.make(), *(edit for _, edit in edits))))
                for target, edits in rows
            ]

    def _unsigned(self) -> None:
        """Ask without a signature right behind a signed request, on one connection."""
        signed = (each for each in self._targets if each.operation.auth == "developer-key")
        target = next((each for each in signed if each.succeeded), None)
        if target is None:
            return
        draft = target.make()
        bare = replace(draft, headers=_without(draft.headers, HEADERS))
        with self._session.transport.kept_connection():
            before, exchange = self._ask(target, draft), self._ask(target, bare)
        if before is None or exchange is None or not exchange.succeeded:
            return
        alone = self._ask(target, bare)
        if alone is not None and alone.refused:
            message = "unsigned, and refused alone, it is taken behind a signed one on a connection"
            exchanges, fact = (before, exchange, alone), "auth.v1"
            self._finds(target, message, exchanges, "headers.signature", fact, "unsigned")

    def _together(self) -> None:
        """Ask for several things at once: for others of the same operation, and for all kinds."""
        apart = [target for target in self._targets if target.label == "usual"]
        # Each that is taken is asked for twice at once as well, lists of all there is four times.
        taken = [each for each in apart if each.succeeded and each.operation.id != ids.CHAINS]
        alike = [[*self._near_to(usual), usual, usual] for usual in taken]
        groups = [apart[start : start + _AT_ONCE] for start in range(0, len(apart), _AT_ONCE)]
        lists = [target for target in apart if target.operation.id in _FIRST_LISTS]
        how, seldom = "with other requests at the same time", []
        for group in chain(alike, groups, [lists * _LISTS_AT_ONCE]):
            once = self._wrong(self._ask_together(group))
            again = self._wrong(self._ask_together(group)) if once else []
            if again:
                self._report_wrong(again, how)
            else:
                seldom += once
        if not any(reported == how for _, reported in self._reported):
            for target, _, exchange, difference in seldom:
                self._flicker(target, exchange, difference)

    def _near_to(self, usual: RepeatedRequest) -> list[RepeatedRequest]:
        operation = usual.operation
        return [
            self._repeated("near", operation, near) for near in self._near.get(operation.id, ())
        ]

    def _begin_again(self) -> None:
        """Ask for the lists once more at the end: those of a replica that is behind fall back."""
        for target in [each for each in self._targets if each.operation.id in ids.LISTS]:
            exchange = self._ask(target, target.make())
            if exchange is not None:
                self._look(target, exchange, "the same request")

    # Submissions.

    def submissions(self, operations: Sequence[Operation]) -> None:
        """Submit one deposit twice at the same time, and look at what came of it again and again.

        That is one order, or one and a refusal; and what is known once stays known.
        """
        for operation in operations:
            kind = next((kind for kind in _KINDS if kind.operation_id == operation.id), None)
            about = {
                _DEPOSIT.get(operation.id, "deposit"): fresh_hash(self._context, "two at once")
            }
            draft = if_known(valid_request, self._context, operation.id, **about)
            if kind is None or draft is None:
                continue
            another = {name: fresh_hash(self._context, "another at once") for name in about}
            ended = _ended_order(self._context) if kind is TICKET else None
            if ended is not None:
                another = _deposit_of(ended)
            beside = if_known(valid_request, self._context, operation.id, **another)
            sent = self._sent_together(
                [(operation, draft), (operation, draft), (operation, beside or draft)]
            )
            if not sent:
                continue
            *pair, other = sent
            accepted = [exchange for exchange in pair if exchange.succeeded]
            numbers = list(dict.fromkeys(map(kind.number, accepted)))
            if len(numbers) > 1 and kind is not TICKET:
                made = " and ".join(map(repr, numbers))
                message = (
                    f"one deposit that is submitted twice at the same time makes orders {made}"
                )
                self._finds_in(operation, message, pair, "orders.one-deposit", "data.id")
            number = kind.number(other)
            if beside is not None and other.succeeded and number and number in numbers:
                message = (
                    f"two {kind.submission}s at the same time are both {kind.called} {number!r}"
                )
                first = next(each for each in accepted if kind.number(each) == number)
                self._finds_in(
                    operation, message, (first, other), _NUMBERED[operation.id], kind.place
                )
            for exchange in pair:
                if exchange.answer.status == 500:
                    message = f"submitted twice at the same time: {in_words(exchange)}"
                    self._finds_in(operation, message, (exchange,), "refusals.no-breakdown")
                    break
            self._lists_after()
            if ended is not None:
                self._look_after_its_ticket(ended, other)
            newest = self._forms_of_submission(operation, kind, accepted)
            if newest is not None:
                self._look_often(kind, newest)

    def _forms_of_submission(
        self, operation: Operation, kind: Submitted, accepted: Sequence[Exchange]
    ) -> Exchange | None:
        """Submit something else in each form, where it is taken in the usual one.

        Returns what was accepted last.
        """
        newest = accepted[0] if accepted else None
        signed_raw = operation.auth == "developer-key"
        transport, is_first = self._session.transport, True
        for how, change in _FORMS_OF_SUBMISSIONS.items() if accepted else ():
            if signed_raw and change is _escaped_body:
                continue
            about = {_DEPOSIT.get(operation.id, "deposit"): fresh_hash(self._context, how)}
            draft = if_known(valid_request, self._context, operation.id, **about)
            if draft is None:
                continue
            with transport.kept_connection() if is_first else nullcontext():
                exchange = self._sender.send(operation.id, change(draft))
                here = self._look_at(kind, exchange) if is_first else None
                if is_first and kind is TICKET:
                    self._report_for_another(operation)
            if here is not None and here.succeeded:
                self._judge_elsewhere(kind, here, self._look_at(kind, exchange))
            is_first = False
            if exchange is None:
                return newest
            newest = exchange if exchange.succeeded else newest
            # How a body is signed that is written otherwise is not shown.
            of_keys = any(word in in_words(exchange).lower() for word in _KEYS)
            length_required = exchange.answer.status == _LENGTH_REQUIRED
            if exchange.refused and not (_is_busy(exchange) or of_keys or length_required):
                plain = self._sender.send(operation.id, draft)
                if plain is not None and plain.succeeded:
                    message = f"with {how}: the submission is refused ({in_words(exchange)})"
                    basis = fact_basis("delivery.forms")
                    finding = Finding(message, (plain, exchange), "", basis, cause=how)
                    self._findings[operation.id].append(finding)
            elif exchange.succeeded and kind.number(exchange) in map(kind.number, accepted):
                message = f"with {how}: it is answered as the one before, of another deposit"
                self._finds_in(operation, message, (accepted[0], exchange), "order.id", "data.id")
        return newest

    def _report_for_another(self, operation: Operation) -> None:
        """Report for another address on the same connection, and see whether it becomes ours."""
        what = "report for another"
        stranger = fresh_address(self._context, what)
        about = {"from": stranger, _DEPOSIT[operation.id]: fresh_hash(self._context, what)}
        draft = if_known(valid_request, self._context, operation.id, **about)
        made = None if draft is None else self._sender.send(operation.id, draft)
        for status in FILTERS if made is not None and made.succeeded else ():
            ours = if_known(valid_request, self._context, ids.TICKETS, filter=status)
            listing = None if ours is None else self._sender.send(ids.TICKETS, ours)
            if listing is None or made is None:
                return
            if TICKET.number(made) in {entry.number for entry in entries([listing])}:
                message = "a ticket that another address reports on a connection that is used"
                message += " again is listed for the address before"
                basis, place = fact_basis("v2.get-all-ticket-by-address"), "query.address"
                finding = Finding(message, (made, listing), place, basis, cause="for another")
                self._findings[operation.id].append(finding)
                return

    def _look_at(self, kind: Submitted, made: Exchange | None) -> Exchange | None:
        """Look up what was submitted just now; None where it was not accepted."""
        draft = if_known(kind.look, self._context, made) if made and made.succeeded else None
        return None if draft is None else self._sender.send(kind.look_id, draft)

    def _judge_elsewhere(self, kind: Submitted, here: Exchange, there: Exchange | None) -> None:
        """Report what its own connection knows, and the next one does not."""
        if there is None or not there.refused or _is_busy(there):
            return
        if not is_refused_now_and_then(self._context, there):
            message = f"what its own connection knows is refused on another ({in_words(there)})"
            fact, operation = _KNOWN_ONCE[kind.look_id], here.operation
            self._touched.add(operation.id)
            finding = Finding(message, (here, there), "", fact_basis(fact), cause="elsewhere")
            self._findings[operation.id].append(finding)

    def _look_after_its_ticket(self, made: Exchange, ticket: Exchange) -> None:
        """Look up an order that had come to its end before its deposit was reported."""
        looks, line = ORDER.answered(self._context, made.probe), Timeline(ORDER)
        now = self._sender.send(ORDER.look_id, ORDER.look(self._context, made))
        if now is None or not now.succeeded:
            return
        for exchange in looks:
            line.follow(exchange)
        for change in line.follow(now):
            message = f"{change.name} of an order that had ended is {change.now!r}, and was "
            message += f"{change.was!r} until a ticket was submitted about its deposit"
            place, cause = f"data.{change.name}", "ticket about an order"
            finding = Finding(
                message, (looks[-1], ticket, now), place, fact_basis("orders.final"), cause=cause
            )
            self._touched.add(ORDER.look_id)
            self._findings[ORDER.look_id].append(finding)
            return

    def _look_often(self, kind: Submitted, made: Exchange) -> None:
        """Look up the newest again and again: a replica that is behind does not know it yet."""
        known: Exchange | None = None
        line, flickers = Timeline(kind), self._flickers[kind.look_id]
        for _ in range(LOOKS):
            exchange = self._look_at(kind, made)
            if exchange is None:
                return
            self._touched.add(kind.look_id)
            if exchange.succeeded:
                known = exchange
                for change in line.follow(exchange):
                    what = f"{change.name} is {change.now!r}, and was {change.was!r} before"
                    flickers.append((change.looks[0], exchange, what))
            elif known is not None and exchange.refused:
                what = f"what was there before is refused ({in_words(exchange)})"
                flickers.append((known, exchange, what))

    def _lists_after(self) -> None:
        for target in [each for each in self._targets if each.operation.id in _FIRST_LISTS]:
            exchange = self._ask(target, target.make())
            if exchange is not None:
                self._look(target, exchange, "a submission right before")

    # How answers are compared.

    def _cacheable(self, operation: Operation) -> None:
        longest = _KEPT_LESS_THAN_S.get(operation.id)
        if longest is None:
            return
        for exchange in self._context.of(operation):
            if exchange.succeeded and (age := kept_for(exchange)) >= longest:
                message = f"its headers let others keep the answer for {age} s"
                basis = fact_basis("delivery.caching")
                self._touched.add(operation.id)
                self._findings[operation.id].append(
                    Finding(message, (exchange,), "HTTP headers", basis, cause="kept")
                )
                return

    def _ask(self, target: RepeatedRequest, draft: Draft) -> Exchange | None:
        self._touched.add(target.operation.id)
        return self._sender.send(target.operation.id, draft)

    def _ask_together(
        self, group: Sequence[RepeatedRequest]
    ) -> list[tuple[RepeatedRequest, Exchange | None]]:
        sent = self._sent_together([(target.operation, target.make()) for target in group])
        return list(zip(group, sent, strict=False))

    def _sent_together(self, drafts: Sequence[tuple[Operation, Draft]]) -> list[Exchange]:
        self._touched.update(operation.id for operation, _ in drafts)
        return self._sender.send_together([(operation.id, draft) for operation, draft in drafts])

    def _differs(self, target: RepeatedRequest, exchange: Exchange) -> str:
        if exchange.answer.status in GATEWAY_STATUSES or _is_busy(exchange):
            return ""
        if exchange.answer.status == _LENGTH_REQUIRED:
            return ""  # HTTP lets a server insist on a length.
        if _is_coded_unasked(exchange) and not _is_coded_unasked(target.sameness.first):
            return "the body is compressed, which was not requested"
        if knows_no_chunks(exchange):
            return "the body comes in chunks, which HTTP/1.0 does not know"
        return target.sameness.difference(exchange)

    def _look(self, target: RepeatedRequest, exchange: Exchange, how: str) -> None:
        """Report an answer that differs, if it differs again."""
        if not self._differs(target, exchange):
            return
        request = exchange.request
        draft = replace(target.make(), path=request.path, method=request.method)
        extra = {name: value for name, value in request.headers.items_sent if name in OLD_COPY}
        self._confirmed(
            target, lambda: replace(draft, headers={**draft.headers, **extra}), how, (exchange,)
        )

    def _confirmed(
        self,
        target: RepeatedRequest,
        make: Callable[[], Draft],
        how: str,
        before: tuple[Exchange, ...] = (),
    ) -> bool:
        """Ask in a form and plainly, in turn; tell whether the form is answered otherwise."""
        # A difference that does not come back is a flicker, which counts with others.
        exchange = before[0] if before else self._ask(target, make())
        if exchange is None:
            return False
        difference = self._differs(target, exchange)
        if not difference:
            return False
        plain = next((each for each in self._plainly(target) if self._differs(target, each)), None)
        if plain is not None:
            # The plain request is answered otherwise as well: something has moved meanwhile.
            again = self._ask(target, target.make())
            if again is not None and not self._differs(target, again):
                self._flicker(target, plain, self._differs(target, plain))
            target.sameness.add(plain)
            return False
        once_more = self._ask(target, make())
        repeated = "" if once_more is None else self._differs(target, once_more)
        if once_more is None or not repeated:
            self._flicker(target, exchange, difference)
            return False
        self._finds(
            target, f"with {how}: {repeated}", (target.sameness.first, once_more), "", "", how
        )
        return True

    def _wrong(
        self, exchanges: Sequence[tuple[RepeatedRequest, Exchange | None]]
    ) -> list[tuple[RepeatedRequest, Exchange, Exchange, str]]:
        """Return what differs among several answers, with the answer before."""
        return [
            (target, target.sameness.first, exchange, difference)
            for target, exchange in exchanges
            if exchange is not None and (difference := self._differs(target, exchange))
        ]

    def _report_wrong(
        self, wrong: Sequence[tuple[RepeatedRequest, Exchange, Exchange, str]], how: str
    ) -> None:
        # An answer to somebody else's request is the worst that can be said, and explains the rest.
        foreign = any(self._is_foreign(target, exchange) for target, _, exchange, _ in wrong)
        for target, before, exchange, difference in wrong:
            # What was learned of another of them since may explain it.
            if (target.operation.id, how) in self._reported or not self._differs(target, exchange):
                continue
            plain = self._plainly(target)
            moved = [each for each in plain if self._has_moved(target, each)]
            if moved:
                target.sameness.add(moved[0])
            # Without an answer in the usual way nothing tells whether the way matters.
            if moved or not plain:
                continue
            self._reported.add((target.operation.id, how))
            is_foreign = self._is_foreign(target, exchange)
            what = "this is the answer to another request: " if is_foreign else ""
            fact = "interface.inputs" if foreign else ""
            self._finds(target, f"{how}: {what}{difference}", (before, exchange), "", fact, how)

    def _plainly(self, target: RepeatedRequest) -> list[Exchange]:
        """Ask twice in a row as usual: where answers take turns, one alone may be the old one."""
        answers = [self._ask(target, target.make()) for _ in range(2)]
        return [answer for answer in answers if answer is not None]

    def _has_moved(self, target: RepeatedRequest, plain: Exchange) -> bool:
        """Tell whether something else is answered now, whichever way it is asked for."""
        is_whole = plain.succeeded and not _is_coded_unasked(plain)
        return target.succeeded and is_whole and bool(self._differs(target, plain))

    def _is_foreign(self, target: RepeatedRequest, exchange: Exchange) -> bool:
        return exchange.succeeded and any(
            other.succeeded and other.sameness.is_answered_by(exchange)
            for other in self._targets
            if other is not target
        )

    def _flicker(self, target: RepeatedRequest, exchange: Exchange, difference: str) -> None:
        self._flickers[target.operation.id].append((target.sameness.first, exchange, difference))

    def _forget_outages(self) -> None:
        """Drop what is about a chain that was out of service: the lists may be late to show it."""
        for operation_id, findings in self._findings.items():
            self._findings[operation_id] = [
                each
                for each in findings
                if not any(_was_away(self._context, last) for last in each.exchanges[-1:])
            ]
        for operation_id, flickers in self._flickers.items():
            self._flickers[operation_id] = [
                each for each in flickers if not _was_away(self._context, each[1])
            ]

    def _report_flickers(self) -> None:
        if sum(map(len, self._flickers.values())) < _FEWEST_FLICKERS:
            return
        for operation_id, flickers in self._flickers.items():
            if self._findings[operation_id] or not flickers:
                continue
            before, exchange, difference = flickers[0]
            times = counted(len(flickers), "time")
            message = f"{difference}, and is answered as before when asked again ({times})"
            refused = next((each for each in (exchange, before) if each.refused), None)
            fact = "requests.equal"
            if refused is not None and not is_refused_now_and_then(self._context, refused):
                fact = _KNOWN_ONCE.get(operation_id, fact)
            basis = _basis_of_change(exchange, fact)
            self._findings[operation_id].append(
                Finding(message, (before, exchange), "", basis, cause="now and then")
            )

    def _finds_in(
        self,
        operation: Operation,
        message: str,
        exchanges: Sequence[Exchange],
        fact: str,
        place: str = "HTTP status",
    ) -> None:
        finding = Finding(message, tuple(exchanges), place, fact_basis(fact), cause="two at once")
        self._findings[operation.id].append(finding)

    def _finds(
        self,
        target: RepeatedRequest,
        message: str,
        exchanges: tuple[Exchange, ...],
        place: str,
        fact: str,
        cause: str,
    ) -> None:
        basis = fact_basis(fact) if fact else _basis_of_change(exchanges[-1], "delivery.forms")
        self._findings[target.operation.id].append(
            Finding(message, exchanges, place, basis, cause=cause)
        )


def _ended_order(context: RunContext) -> Exchange | None:
    """Return an order of ours that was last seen at its end, and whose deposit can be reported."""
    for made in reversed(ORDER.planned(context)):
        looks = ORDER.answered(context, made.probe)
        if looks and ORDER.is_over(looks[-1]) and _deposit_of(made):
            return made
    return None


def _deposit_of(order: Exchange) -> dict[str, str]:
    """Return the chain and the hash that an order of ours was made for, where it has them."""
    paid = certificate_of(order)
    if "fromChain" not in paid or "certHash" not in paid:
        return {}
    return {"chain": str(paid["fromChain"]), "hash": str(paid["certHash"])}


def _other_request(context: RunContext, operation: Operation, known: Sequence[Exchange]) -> Draft:
    """Return a request for something else than usual, or than what is known. Raises `NotRun`."""
    if operation.id == ids.BALANCE:
        somebody, tokens = fresh_address(context, "delivery"), addressed_tokens(context)
        asset = context.draw("balances of others").choice(tokens)
        return valid_request(context, operation.id, address=somebody, asset=asset)
    if known:
        raise NotRun("others were asked for already")
    if operation.amount is not None:
        return valid_request(context, operation.id, times=3)
    if operation.id == ids.OF_CHAIN:
        chain = inventory_of(context).listing_name(first_chains(context)[-1])
        return valid_request(context, operation.id, chain=chain)
    if operation.id == ids.V1_TOKENS:
        return valid_request(context, operation.id, chain=v1_chain_pair(context)[-1].name)
    raise NotRun("nothing else is known to ask for")


def _basis_of_change(exchange: Exchange, otherwise: str) -> Basis:
    """Return the fact that an answer contradicts: the envelope, where none can be read in it."""
    broken = exchange.answer.trouble or exchange.unreadable
    return fact_basis("interface.envelopes" if broken else otherwise)


def _applied(draft: Draft, *changes: DeliveryEdit) -> Draft:
    for change in changes:
        draft = change(draft)
    return draft


def _without(headers: Mapping[str, Json], names: Collection[str]) -> dict[str, Json]:
    left_out = {name.lower() for name in names}
    return {name: value for name, value in headers.items() if name.lower() not in left_out}


def _is_coded_unasked(exchange: Exchange) -> bool:
    """Tell whether an answer is compressed, though its client names no such coding."""
    coding, accepted = _coding(exchange), exchange.request.headers.get("Accept-Encoding", "")
    return coding != "identity" and coding not in accepted.lower()


def _coding(exchange: Exchange) -> str:
    return (exchange.answer.header("Content-Encoding") or "identity").strip().lower()


def _is_packed_otherwise(exchange: Exchange) -> bool:
    """Tell whether an answer is packed as its client accepts it, and cannot be read here."""
    trouble = exchange.answer.trouble
    return (
        trouble is NoAnswer.BROKEN_HTTP
        and not _is_coded_unasked(exchange)
        and _coding(exchange) != "identity"
    )


def _fails(exchange: Exchange | None) -> bool:
    return exchange is not None and (
        not exchange.has_answer or exchange.answer.status in (500, 502)
    )


def _was_away(context: RunContext, refused: Exchange) -> bool:
    """Tell whether a refusal is about a chain that is, or was for a while, out of service.

    A chain that is refused now and then, and taken in between, is another matter.
    """
    if not refused.refused:
        return False
    for name in chains_named(refused):
        every = [each for each in context.exchanges if name in chains_named(each)]
        # Lists may show a chain that is suspended.
        asked = [
            each
            for each in every
            if each.operation.id not in ids.LISTS or each.operation is refused.operation
        ]
        like = [n for n, each in enumerate(asked) if refusal_of(each) == refusal_of(refused)]
        spell = asked[like[0] : like[-1] + 1] if like else []
        is_one_spell = spell and not any(each.succeeded for each in spell)
        if is_one_spell and (says_it_is_away(refused) or _was_not_offered(context, name)):
            return True
    return False


def _was_not_offered(context: RunContext, name: str) -> bool:
    """Tell whether a list of chains showed a chain as one that is out of service, or not at all."""
    for operation_id in (ids.CHAINS, ids.V1_CHAINS):
        lists = [
            {
                called
                for chain in chains_of(each, context.bindings)
                if chain.offered
                for called in chain.names
            }
            for each in context.of(operation_id)
            if each.succeeded
        ]
        if 0 < sum(name in offered for offered in lists) < len(lists):
            return True
    return False


def _is_busy(exchange: Exchange) -> bool:
    return exchange.answer.status in (429, 503) or exchange.answer.trouble in (
        NoAnswer.UNREACHABLE,
        NoAnswer.TIMED_OUT,
    )


def _is_equal(exchange: Exchange, target: RepeatedRequest) -> bool:
    """Tell whether the plan has asked for the same once more, on purpose."""
    edge, first = exchange.probe.edge, target.sameness.first
    again = edge is not None and edge.kind in (EdgeKind.ONCE_MORE, EdgeKind.AFTERWARDS)
    return again and exchange is not first and request_key(exchange) == request_key(first)


def _nearest(first: Exchange, others: Sequence[Exchange]) -> list[Exchange]:
    """Return requests that are mistaken for the usual one, or for each other, the most easily.

    The rest of them is equal, and what is other begins alike: a key of a cache that is cut, or
    leaves something out, is the same then. What a connection remembers may be any input.
    """
    unlike = [
        each
        for each in others
        if each.answer.body != first.answer.body
        and (each.probe.edge is None or each.probe.edge.kind is not EdgeKind.SAME_MEANING)
    ]
    alone: dict[frozenset[str], Exchange] = {}
    for each in sorted(unlike, key=lambda each: _strangeness(each, first)):
        alone.setdefault(_varied(each, first), each)
    alone.pop(frozenset(), None)
    least = min(map(len, alone), default=0)
    near = [each for varied, each in alone.items() if len(varied) == least][:_MOST_NEAR]
    if not near or _begins_alike(near[0], first):
        return near
    pairs = (
        pair
        for pair in combinations(unlike[:_MOST_COMPARED], 2)
        if _begins_alike(*pair) and pair[0].answer.body != pair[1].answer.body
    )
    twins = min(pairs, key=lambda pair: _strangeness(*pair), default=near)
    return [*twins, *near][:_MOST_NEAR]


def _strangeness(exchange: Exchange, first: Exchange) -> tuple[int, bool, int]:
    """Return how little two requests are alike: what varies, its beginnings, its lengths."""
    pairs = [(_inputs(exchange).get(name), value) for name, value in _inputs(first).items()]
    varied = [(str(one), str(two)) for one, two in pairs if one != two]
    lengths = sum(len(one) != len(two) for one, two in varied)
    return len(_varied(exchange, first)), not _begins_alike(exchange, first), lengths


def _begins_alike(exchange: Exchange, first: Exchange) -> bool:
    """Tell whether whatever is other in two requests has the same first letter."""
    here, there = _inputs(exchange), _inputs(first)
    names = _varied(exchange, first)
    return bool(names) and all(
        str(here.get(name))[:1] == str(there.get(name))[:1] for name in names
    )


def _inputs(exchange: Exchange) -> dict[str, Json]:
    chain = exchange.request.headers.get("chain", "")
    return {"chain": chain, **exchange.parameters, **exchange.members}


def _varied(exchange: Exchange, first: Exchange) -> frozenset[str]:
    """Return the inputs that have other values than in the usual request."""
    here, there = _inputs(exchange), _inputs(first)
    return frozenset(name for name in {*here, *there} if here.get(name) != there.get(name))


def _steepness(exchange: Exchange) -> Decimal:
    """Return by which factor output and amount differ, of which the larger counts; 0 without."""
    field = exchange.operation.amount
    put = amounts.number(exchange.parameters.get(field.name)) if field else None
    shown = (exchange.data.get(name) for name in ("outAmount", "amountOut"))
    got = next((number for value in shown if (number := amounts.number(value))), None)
    return max(put / got, got / put) if put and got and put > 0 and got > 0 else Decimal(0)


def _query_turned(exchange: Exchange) -> str:
    """Return the query of a request in which source and target have changed places."""
    sent = exchange.parameters
    places = {
        name: other
        for name in sent
        if (other := name.replace("from", "to")) != name and other in sent
    }
    places |= {other: name for name, other in places.items()}
    return urlencode({name: sent[places.get(name, name)] for name in sent})


def _distance(exchange: Exchange, first: Exchange) -> int:
    """Tell how much one answer differs from another: by its size, which cuts show in."""
    same = exchange.answer.body == first.answer.body
    return -1 if same else len(exchange.answer.body)
