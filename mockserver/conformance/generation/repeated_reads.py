"""Reads that are asked again: in other forms, on a connection that stays open, and side by side."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice

from mockserver.conformance.checks.balances_and_prices import (
    moved_under_one_time,
    moving_under_one_time,
)
from mockserver.conformance.checks.http_protocol import wrong_headers
from mockserver.conformance.checks.judged_exchanges import GATEWAY_STATUSES, in_words, request_key
from mockserver.conformance.checks.shared_probes import V2_LISTS
from mockserver.conformance.checks.submission_timelines import is_over
from mockserver.conformance.discovery import amounts
from mockserver.conformance.generation.client_variants import (
    age_of,
    allowed_to_differ,
    coding_of,
    cookies_for,
    forms_of_clients,
    is_stale,
    kept_for,
    kept_without_vary,
)
from mockserver.conformance.generation.delivery_forms import (
    COMPRESSED,
    FORMS,
    LONG_INPUT,
    LONGER_QUERY,
    SHORT,
    DeliveryEdit,
    applied,
    with_further_input,
    with_headers,
)
from mockserver.conformance.generation.equal_answers import Sameness
from mockserver.conformance.generation.equal_requests import (
    alternating,
    equal_requests,
    stale_validators,
)
from mockserver.conformance.generation.kept_connections import KeptConnections, RequestInForms
from mockserver.conformance.generation.repeated_answers import (
    FIRST_LISTS,
    RepeatedRequest,
    is_busy,
    is_coded_unasked,
)
from mockserver.conformance.generation.repeated_heads import RepeatedHeads
from mockserver.conformance.generation.similar_requests import (
    distance,
    in_other_letters,
    nearest,
    other_request,
    owner_of,
    query_turned,
    steepness,
    twin_request,
    varied,
)
from mockserver.conformance.generation.stages import DELIVERY
from mockserver.conformance.requests.valid import plain_or_unknown
from mockserver.conformance.session.exchange import Exchange, NoAnswer
from mockserver.conformance.session.probe_names import EdgeKind
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.session import Session
from mockserver.conformance.verdict import if_known
from mockserver.contract import Operation, ids
from mockserver.jsontext import Json
from mockserver.signing.developer_signatures import HEADERS

# Clients show quotes for seconds; whoever keeps one for an hour shows another market.
_HOUR_S, _DAY_S = 3600, 86_400
_AT_ONCE, _AGAIN, _LISTS_AT_ONCE = 8, 2, 4
# Within the first a Date has moved, unless it is written anew each second: then in the second.
_MOVES_MS, _MOVED_MS = 1_100, 2_600
# How long an answer may take that its client did not wait for.
_LEFT_MS = 20
# What may be kept for longer a run does not wait for.
_SOON_S = 2
# As many signed requests as a client sends on one connection.
_IN_A_ROW = 14
# What goes from here to there, by the fact that says so. A rate this far from 1 is not its reverse.
_DIRECTED = {
    ids.BRIDGE: "get-bridge-quote",
    ids.SWAP_QUOTE: "get-aggregate-quote",
    ids.SWAP: "get-aggregate-swap",
}
_STEEP = 2
_CHANGING = (*ids.QUOTES, ids.SWAP, ids.CHECK, ids.PRICE, ids.BALANCE, ids.V1_DETAIL)
# Lists are to be read before they are used, and change less often.
_KEPT_LESS_THAN_S = {
    **dict.fromkeys((*_CHANGING, ids.CHECK_TICKET, ids.TICKETS), _HOUR_S),
    **dict.fromkeys(ids.LISTS, _DAY_S + 1),
}


class RepeatedReads(KeptConnections, RepeatedHeads):
    """Asks for what the plan has read: in other forms, on one connection, and side by side."""

    def __init__(self, session: Session, reads: Sequence[Operation], kept: int) -> None:
        super().__init__(session, kept)
        self._reads = reads
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
        self._compressed = FORMS["as browsers send it"][COMPRESSED]

    def read_again(self) -> None:
        """Send everything that reads; stop where nothing more may leave."""
        # Then a rule of the plan reports it.
        has_moved = any(moved_under_one_time(self._context))
        steps = (
            self._begin,
            self._forms,
            self._http,
            self._turned,
            self._in_other_letters,
            self._kept,
            self._in_one_packet,
            self._together,
        )
        for step in steps:
            step()
            if self._sender.stopped:
                return
        self._begin_again()
        self._judge_dates()
        if not has_moved:
            self._judge_times_of_prices()
        self._wait_until_stale()

    def _wait_until_stale(self) -> None:
        """Ask again, when that is too old, for what changes and may be kept for seconds."""
        kept, wait_s = list[RepeatedRequest](), 0
        for target in [each for each in self._targets if each.operation.id in _CHANGING]:
            for last in equal_requests(self._context, target.sameness.first)[-1:]:
                if last.answer.header("Age") and 0 < kept_for(last) <= _SOON_S:
                    kept.append(target)
                    wait_s = max(wait_s, kept_for(last) + 1 - age_of(last))
        self._session.transport.wait(wait_s * 1000)
        for target in kept:
            self._ask(target, target.make())

    def _judge_times_of_prices(self) -> None:
        """Report prices that move under one time until that has to be another one."""
        for _, prices in islice(moving_under_one_time(self._context), 1):
            first = prices[0]
            lasted_ms = self._context.exchanges[-1].answer.came_ms - first.answer.came_ms
            self._session.transport.wait(_MOVED_MS - lasted_ms)
            target = self._repeated("usual", first.operation, first)
            self._ask(target, target.make())
            self._findings[first.operation.id] += moved_under_one_time(self._context)

    def _judge_dates(self) -> None:
        """Report a Date that stays while time passes: ages are counted from it (RFC 9110, 6.6.1).

        A cache shows the Date of what it has kept, with its Age, and never that of all answers.
        """
        good = [each for each in self._context.exchanges if each.succeeded and each.answer.came_ms]
        dated = [
            each for each in good if each.answer.header("Date") and not each.answer.header("Age")
        ]
        dates = {each.answer.header("Date") for each in dated}
        lasted_ms = dated[-1].answer.came_ms - dated[0].answer.came_ms if dated else 0
        if len(dates) > 1 or lasted_ms < _MOVES_MS or not self._targets:
            return
        self._session.transport.wait(_MOVED_MS - lasted_ms)
        target = self._targets[0]
        last = self._ask(target, target.make())
        if last is not None and last.answer.header("Date") in dates:
            seconds = (last.answer.came_ms - dated[0].answer.came_ms) / 1000
            message = f"Date is {last.answer.header('Date')} in all answers of {seconds:.1f} s"
            pair = (dated[0], last)
            self._finds(target, message, pair, "HTTP headers", "http.headers", "Date")

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
                short = next((each for each in every[1:] if each in self._short), None)
                if short is not None:
                    message += ": items are missing right after a submission"
                    turn = every[every.index(short) - 1], short
                self._finds(target, message, turn, "data.list", "lists.version", "alternating")
        for operation in self._reads:
            self._cacheable(operation)
            self._judge_headers(operation)

    def _judge_headers(self, operation: Operation) -> None:
        """Report what the headers of answers contradict in these forms alone."""
        first = dict[str, tuple[str, Exchange]]()
        for exchange in self._context.of(operation):
            for message, cause in wrong_headers(exchange):
                first.setdefault(cause, (message, exchange))
        for cause, (message, exchange) in first.items():
            if DELIVERY.has_sent(exchange):
                self._finds_in_headers(operation, message, (exchange,), "http.headers", cause)

    def _begin(self) -> None:
        """Choose what is asked again, and ask each once more as it was."""
        for operation in self._reads:
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
        if again is None or not again.has_answer or is_busy(again):
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
        for make in (twin_request,) if others else (other_request, twin_request):
            draft = if_known(make, self._context, operation)
            second = None if draft is None else self._sender.send(operation.id, draft)
            if second is not None and second.succeeded:
                others.append(second)
                self._judge_twins(operation, first, second)
        if not others:
            return
        self._near[operation.id] = nearest(first, others)
        yield (
            "other",
            max(others, key=lambda each: (len(varied(each, first)), distance(each, first))),
        )

    def _judge_twins(self, operation: Operation, first: Exchange, second: Exchange) -> None:
        """Report a balance that belongs to another address, which begins and ends alike.

        Balances tell addresses apart where everybody else has another one of the same token.
        """
        owned, place = amounts.number(first.data.get("balance")), "query.address"
        if operation.id != ids.BALANCE or not owned or varied(first, second) != {"address"}:
            return
        shown = amounts.number(second.data.get("balance"))
        strangers = [
            each
            for each in self._context.of(operation)
            if each.succeeded
            and each is not second
            and varied(first, each) == {"address"}
            and owner_of(each).lower() != owner_of(first).lower()
        ]
        # Where somebody has the same, all may have it who were paid nothing.
        own = [amounts.number(each.data.get("balance")) != owned for each in strangers]
        if shown == owned and own and all(own):
            stranger = strangers[0]
            message = "an address that begins and ends alike has the same balance, where another "
            message += "one has its own"
            exchanges, fact = (first, stranger, second), "v2.get-balance"
            self._finds_in(operation.id, message, exchanges, fact, place, "alike")

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
            for words, every in [*FORMS.items()][: 2 if has_own else 1]:
                changes = dict(every)
                if COMPRESSED in changes:
                    changes[COMPRESSED] = self._compressed
                if LONGER_QUERY in changes and not self._takes_further_inputs(target):
                    del changes[LONGER_QUERY]
                exchange = self._ask(target, applied(target.make(), *changes.values()))
                if exchange is not None and _is_packed_otherwise(exchange):
                    self._compressed = changes[COMPRESSED] = with_headers(Accept_Encoding="gzip")
                    exchange = self._ask(target, applied(target.make(), *changes.values()))
                if exchange is None:
                    return
                if not self._differs(target, exchange):
                    continue
                if LONGER_QUERY in changes and not self._is_taken(
                    target, with_further_input(SHORT)
                ):
                    # This operation alone refuses what it does not know.
                    del changes[LONGER_QUERY]
                self._narrowed(target, words, changes)
        self._plain_lists()

    def _plain_lists(self) -> None:
        """Ask plainly for lists that came compressed, once each: a cache may keep them so."""
        for target in [each for each in self._targets if each.label == "usual"]:
            operation_id, first = target.operation.id, target.sameness.first
            accepted = (
                each
                for each in equal_requests(self._context, first)
                if coding_of(each) != "identity" and not is_coded_unasked(each)
            )
            is_list = operation_id in ids.LISTS and operation_id not in self._stays_compressed
            before = next(accepted, None) if is_list and not is_coded_unasked(first) else None
            plain = None if before is None else self._ask(target, target.make())
            if before is None or plain is None:
                continue
            again = self._ask(target, target.make()) if is_coded_unasked(plain) else None
            stays = again is not None and is_coded_unasked(again)
            self._stays_compressed[operation_id] = stays
            if again is not None and stays:
                message = f"{COMPRESSED} before: the body is compressed, which was not requested"
                exchanges = (first, before, again)
                self._finds(target, message, exchanges, "", "delivery.forms", COMPRESSED)

    def _narrowed(
        self, target: RepeatedRequest, words: str, changes: Mapping[str, DeliveryEdit]
    ) -> None:
        """Report which of several changes is answered otherwise: all together where none is.

        Those that are told of another operation come first, and may be all of it.
        """
        told = {part: change for part, change in changes.items() if part in self._told}
        rest = {part: change for part, change in changes.items() if part not in told}
        alone = [self._tells(target, part, change) for part, change in told.items()]
        together = partial(applied, target.make(), *rest.values())
        if any(alone):
            exchange = self._ask(target, together())
            if exchange is None or not self._differs(target, exchange):
                return
        alone += [self._tells(target, part, change) for part, change in rest.items()]
        if not any(alone):
            self._confirmed(target, partial(applied, target.make(), *changes.values()), words)

    def _tells(self, target: RepeatedRequest, part: str, change: DeliveryEdit) -> bool:
        make = partial(applied, target.make(), change)
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
        media_type = target.sameness.first.answer.media_type
        changes = forms_of_clients(target.make(), cookies, media_type, takes_further=further)
        while True:
            exchange = self._ask(target, applied(target.make(), *changes.values()))
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
        again = self._ask(target, applied(target.make(), *changes.values()))
        if again is None or not self._differs(target, again):
            self._flicker(target, exchange, difference)
            return
        self._narrowed(target, "as other clients send it", changes)

    def _takes_further_inputs(self, target: RepeatedRequest) -> bool:
        """Tell whether its generation ignores an input that is not known: it may refuse it."""
        generation, short = target.operation.generation.id, with_further_input(SHORT)
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
                self._judge_conditions(target)
                continue
            draft = target.make()
            head = self._ask(target, replace(draft, method="HEAD"))
            again = self._ask(target, replace(draft, method="HEAD")) if _fails(head) else None
            if _fails(again) and again is not None:
                message = f"HEAD fails, where GET is answered: {in_words(again)}"
                self._finds(target, message, (again,), "HTTP status", "delivery.head", "HEAD")
            elif head is not None and head.answer.status == target.sameness.first.answer.status:
                self._judge_head(target, head)
            # A cache may keep the head, which has no body, for whoever asks next.
            self._as_others(target)
            self._judge_tags(target)
            if target.operation.id not in ids.LISTS:
                continue
            self._judge_range(target)
            slash = self._ask(target, replace(draft, path=f"{target.operation.path}/"))
            if slash is not None and slash.succeeded:
                self._look(target, slash, "a slash at the end of the path")

    def _turned(self) -> None:
        """Ask for the other direction in the same amount: no rate is that of its own reverse."""
        for operation in self._reads:
            if operation.id not in _DIRECTED:
                continue
            good = [each for each in self._context.of(operation) if each.succeeded]
            first = max(good, key=steepness, default=None)
            if first is None or steepness(first) < _STEEP:
                continue
            target = self._repeated("turned", operation, first)
            before = self._ask(target, target.make())
            exchange = self._ask(target, replace(target.make(), raw_query=query_turned(first)))
            if exchange is None or before is None or not (before.succeeded and exchange.succeeded):
                continue
            target.sameness.add(before)
            if steepness(exchange) >= _STEEP and target.sameness.is_answered_by(exchange):
                message = "the other direction in the same amount has the same answer"
                fact = f"v2.{_DIRECTED[operation.id]}"
                place = "data.outAmount"
                self._finds(target, message, (before, exchange), place, fact, "other direction")

    def _in_other_letters(self) -> None:
        """Ask in other letters around a request that nobody has asked: what keeps answers may take
        both for the same. Who takes any letters is asked once.
        """
        for operation in self._reads:
            known = in_other_letters(self._context, operation)
            if known is None:
                continue
            (name, make), send = known, partial(self._sender.send, operation.id)
            wrong = send(make(1, True))
            right = send(make(1, False)) if wrong is not None and wrong.refused else None
            if wrong is None or right is None:
                continue
            behind = send(make(1, True))
            message = ""
            # Another amount shows that nothing but the request before was the reason.
            if right.refused:
                alone = send(make(2, False))
                if alone is not None and alone.succeeded:
                    message = f"{name} is refused right behind the same in other letters"
            elif right.succeeded and behind is not None and behind.succeeded:
                alone = send(make(2, True))
                if alone is not None and alone.refused:
                    message = f"{name} in other letters is refused, and taken behind the right one"
            if message:
                exchanges = tuple(filter(None, (wrong, right, behind)))
                place, fact = f"query.{name}", "delivery.forms"
                self._finds_in(operation.id, message, exchanges, fact, place, "other letters")
                self._touched.add(operation.id)

    def _kept(self) -> None:
        """Ask for everything in a row on a connection that stays open, twice if need be."""
        self._unsigned()
        rows = self._in_browsers()
        sent = self._on_one_connection(rows)
        self._judge_worn_out(sent)
        wrong = self._wrong(sent)
        plain = [(target, ()) for target, _ in rows]
        again = self._wrong(self._on_one_connection(plain)) if wrong else []
        if again:
            self._report_wrong(again, "on a connection that is used again")
            return
        edits = {id(target): changes for target, changes in rows}
        for target, *_ in wrong:
            for part, change in edits[id(target)]:
                self._confirmed(target, partial(applied, target.make(), change), part)
        self._plain_lists()

    def _in_browsers(self) -> list[RequestInForms]:
        """Return everything with what is nearest to it right behind, in a form of its own.

        All of it is compressed, for which a cache may have a key of its own; and behind an input
        as long, a cache that looks at the front of a query knows no other.
        """
        rows = list[RequestInForms]()
        packed, long = (COMPRESSED, self._compressed), (LONGER_QUERY, LONG_INPUT)
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
        lists = [target for target in apart if target.operation.id in FIRST_LISTS]
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
        self._after_others_left()
        for target in [each for each in self._targets if each.operation.id in ids.LISTS]:
            exchange = self._ask(target, target.make())
            if exchange is not None:
                self._look(target, exchange, "the same request")

    def _after_others_left(self) -> None:
        """Ask right after a client that did not wait: its answer is for nobody else."""
        taken = [each for each in self._targets if each.label == "usual" and each.succeeded]
        lists = [each for each in taken if each.operation.id in ids.LISTS]
        for last_time in (False, True) if lists and len(taken) > 1 else ():
            target = lists[0]
            before = next(each for each in taken if each is not target)
            self._sender.leave(before.operation.id, before.make())
            self._session.transport.wait(_LEFT_MS)
            wrong = self._wrong([(target, self._ask(target, target.make()))])
            if not wrong:
                return
            if last_time:
                self._report_wrong(wrong, "after a client that did not wait for its answer")

    def _cacheable(self, operation: Operation) -> None:
        longest = _KEPT_LESS_THAN_S.get(operation.id)
        if longest is None:
            return
        every = [exchange for exchange in self._context.of(operation) if exchange.succeeded]
        for exchange in every:
            lets, was = kept_for(exchange), age_of(exchange)
            too_old = operation.id in _CHANGING and is_stale(exchange)
            if max(lets, was) < longest and not too_old:
                continue
            message = f"its headers let others keep the answer for {lets} s"
            if lets < longest:
                message = f"its headers say that the answer was kept for {was} s"
                message += f", where they let others keep it for {lets} s" if too_old else ""
            self._finds_in_headers(operation, message, (exchange,))
            return
        unnamed = kept_without_vary(every)
        if unnamed is not None:
            name, *pair = unnamed
            message = f"others may keep the answer, and Vary does not name the header {name}, by "
            message += "which it differs"
            self._finds_in_headers(operation, message, pair)

    def _finds_in_headers(
        self,
        operation: Operation,
        message: str,
        exchanges: Sequence[Exchange],
        fact: str = "delivery.caching",
        cause: str = "kept",
    ) -> None:
        self._touched.add(operation.id)
        self._finds_in(operation.id, message, exchanges, fact, "HTTP headers", cause)


def _without(headers: Mapping[str, Json], names: Collection[str]) -> dict[str, Json]:
    left_out = {name.lower() for name in names}
    return {name: value for name, value in headers.items() if name.lower() not in left_out}


def _is_packed_otherwise(exchange: Exchange) -> bool:
    """Tell whether an answer is packed as its client accepts it, and cannot be read here."""
    trouble = exchange.answer.trouble
    return (
        trouble is NoAnswer.BROKEN_HTTP
        and not is_coded_unasked(exchange)
        and coding_of(exchange) != "identity"
    )


def _fails(exchange: Exchange | None) -> bool:
    return exchange is not None and (
        not exchange.has_answer or exchange.answer.status in (500, 502)
    )


def _is_equal(exchange: Exchange, target: RepeatedRequest) -> bool:
    """Tell whether the plan has asked for the same once more, on purpose."""
    edge, first = exchange.probe.edge, target.sameness.first
    again = edge is not None and edge.kind in (EdgeKind.ONCE_MORE, EdgeKind.AFTERWARDS)
    return again and exchange is not first and request_key(exchange) == request_key(first)
