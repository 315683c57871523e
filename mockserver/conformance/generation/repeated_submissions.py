"""Submissions twice at the same time, in other forms, and looked up on other connections."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import permutations

from mockserver.conformance.checks.judged_exchanges import in_words, is_refused_now_and_then
from mockserver.conformance.checks.lists import items_without_prices
from mockserver.conformance.checks.rule import IN_ONE_FORM
from mockserver.conformance.checks.submission_timelines import (
    ORDER,
    TICKET,
    V1_ORDER,
    Submitted,
    Timeline,
    certificate_of,
)
from mockserver.conformance.checks.tickets import entries
from mockserver.conformance.discovery.token_routes import TokenRoute, bridges, plain_tokens
from mockserver.conformance.generation.delivery_forms import FORMS_OF_SUBMISSIONS, escaped_body
from mockserver.conformance.generation.equal_requests import equal_requests
from mockserver.conformance.generation.repeated_answers import (
    FIRST_LISTS,
    KNOWN_ONCE,
    LENGTH_REQUIRED,
    RepeatedAnswers,
    RepeatedRequest,
    is_busy,
)
from mockserver.conformance.requests.covering import in_random_order
from mockserver.conformance.requests.probe_labels import FILTERS
from mockserver.conformance.requests.valid import fresh_address, fresh_hash, valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Answer, Exchange
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.verdict import if_known
from mockserver.contract import Operation, ids, shipped_facts

# How often an order or a ticket is looked up in a row: of four replicas of which one is behind, all
# but one run in thirty meet it.
LOOKS = 12
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
_AFTER_SUBMISSION = "a submission right before"
# Caches of lists are filled again within milliseconds.
_SETTLING_MS = 400


class RepeatedSubmissions(RepeatedAnswers):
    """Submits twice at once and in other forms, and looks at what came of it again and again."""

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
                self._finds_in(operation.id, message, pair, "orders.one-deposit", "data.id")
            number = kind.number(other)
            if beside is not None and other.succeeded and number and number in numbers:
                message = (
                    f"two {kind.submission}s at the same time are both {kind.called} {number!r}"
                )
                first = next(each for each in accepted if kind.number(each) == number)
                self._finds_in(
                    operation.id, message, (first, other), _NUMBERED[operation.id], kind.place
                )
            for exchange in pair:
                if exchange.answer.status == 500:
                    message = f"submitted twice at the same time: {in_words(exchange)}"
                    self._finds_in(operation.id, message, (exchange,), "refusals.no-breakdown")
                    break
            if len(numbers) == 1:
                self._claim_for_another(operation, kind, accepted[0], about)
            self._of_another_chain(operation, kind)
            self._lists_after(operation)
            if ended is not None:
                self._look_after_its_ticket(ended, other)
            newest = self._forms_of_submission(operation, kind, accepted)
            if newest is not None:
                self._look_often(kind, newest)
                self._judge_lost(kind, [each for each in sent if each.succeeded], newest)

    def _judge_lost(self, kind: Submitted, at_once: Sequence[Exchange], newest: Exchange) -> None:
        """Report what was accepted beside something else and is unknown, where newer is known: who
        writes back all that he has read loses what came meanwhile.
        """
        lost = [
            (made, denial)
            for made in at_once
            if (denial := self._denial(self._look_at(kind, made))) is not None
        ]
        known = self._look_at(kind, newest) if lost else None
        if known is None or not known.succeeded:
            return
        for made, denial in lost[:1]:
            message = f"a {kind.called} that was submitted beside another at the same time is "
            message += f"unknown ({in_words(denial)}), and one that was submitted later is known"
            fact, exchanges = KNOWN_ONCE[kind.look_id], (made, denial, known)
            self._finds_in(made.operation.id, message, exchanges, fact, kind.key, "lost at once")

    def _claim_for_another(
        self, operation: Operation, kind: Submitted, made: Exchange, about: Mapping[str, str]
    ) -> None:
        """Submit the deposit of an order, or what a ticket is about, from another address.

        A deposit pays once, whoever claims it; a report of another takes nobody's ticket away.
        """
        number = kind.number(made)
        was_listed = self._listing_of(number) if kind is TICKET else None
        stranger = fresh_address(self._context, "another who claims it")
        draft = if_known(valid_request, self._context, operation.id, **about, **{"from": stranger})
        claimed = None if draft is None else self._sender.send(operation.id, draft)
        if claimed is None or not claimed.succeeded or not number:
            return
        if kind is TICKET:
            if was_listed is not None and self._listing_of(number) is None:
                message = f"ticket {number} is listed no more for who reported it, since another "
                message += "has reported the same transaction"
                exchanges, fact = (made, was_listed, claimed), "v2.get-all-ticket-by-address"
                self._finds_in(operation.id, message, exchanges, fact, "query.address", "claimed")
        elif kind.number(claimed) and kind.number(claimed) != number:
            message = f"one deposit makes order {number!r}, and {kind.number(claimed)!r} for "
            message += "another address"
            self._finds_in(operation.id, message, (made, claimed), "orders.one-deposit", kind.place)

    def _listing_of(self, number: str) -> Exchange | None:
        """Return a list of the caller's tickets that has one of them."""
        for status in FILTERS:
            ours = if_known(valid_request, self._context, ids.TICKETS, filter=status)
            listing = None if ours is None else self._sender.send(ids.TICKETS, ours)
            if listing is not None and number in {each.number for each in entries([listing])}:
                return listing
        return None

    def _of_another_chain(self, operation: Operation, kind: Submitted) -> None:
        """Submit what has one hash on two chains: a fork has the transactions of before it, too."""
        ends = [] if kind is V1_ORDER else _on_two_chains(self._context)
        what = "on two chains"
        made = list[Exchange]()
        for number, route in enumerate((*ends, *ends[1:])):
            spelled = fresh_hash(self._context, what if number < len(ends) else f"not {what}")
            about = {"deposit": spelled, "route": route}
            if kind is TICKET:
                about = {"hash": spelled, "chain": route.source.chain}
            draft = if_known(valid_request, self._context, operation.id, **about)
            exchange = None if draft is None else self._sender.send(operation.id, draft)
            if exchange is None:
                return
            made.append(exchange)
        if len(made) < 3 or not (made[0].succeeded and made[2].succeeded):
            return
        first, second, _ = made
        chains = " and on ".join(route.source.chain for route in ends)
        message, fact = "", _NUMBERED[operation.id]
        if second.refused and not is_busy(second):
            message = f"a hash on {chains} is refused as the second ({in_words(second)})"
            fact = "orders.one-deposit" if kind is ORDER else "v2.submit-ticket"
        elif second.succeeded and kind.number(first) and kind.number(first) == kind.number(second):
            message = f"{kind.submission}s of one hash on {chains} are both {kind.called} "
            message += repr(kind.number(first))
        if message:
            self._finds_in(operation.id, message, (first, second), fact, kind.place)

    def _forms_of_submission(
        self, operation: Operation, kind: Submitted, accepted: Sequence[Exchange]
    ) -> Exchange | None:
        """Submit something else in each form, where it is taken in the usual one.

        Returns what was accepted last.
        """
        newest = accepted[0] if accepted else None
        signed_raw = operation.auth == "developer-key"
        transport, is_first = self._session.transport, True
        asked_early = list[tuple[Exchange, Exchange]]()
        for how, change in FORMS_OF_SUBMISSIONS.items() if accepted else ():
            if signed_raw and change is escaped_body:
                continue
            about = {_DEPOSIT.get(operation.id, "deposit"): fresh_hash(self._context, how)}
            draft = if_known(valid_request, self._context, operation.id, **about)
            if draft is None:
                continue
            early = self._look_before(kind, operation, draft) if is_first else None
            with transport.kept_connection() if is_first else nullcontext():
                exchange = self._sender.send(operation.id, change(draft))
                here = self._look_at(kind, exchange) if is_first else None
                if is_first and kind is TICKET:
                    self._report_for_another(operation)
            if here is not None and here.succeeded:
                self._judge_elsewhere(kind, here, self._look_at(kind, exchange))
            elif here is not None and exchange is not None and early is not None:
                asked_early.append((early, exchange))
            is_first = False
            if exchange is None:
                return newest
            newest = exchange if exchange.succeeded else newest
            # How a body is signed that is written otherwise is not shown.
            of_keys = any(word in in_words(exchange).lower() for word in _KEYS)
            length_required = exchange.answer.status == LENGTH_REQUIRED
            if exchange.refused and not (is_busy(exchange) or of_keys or length_required):
                plain = self._sender.send(operation.id, draft)
                if plain is not None and plain.succeeded:
                    message = f"with {how}: the submission is refused ({in_words(exchange)})"
                    pair, fact = (plain, exchange), "delivery.forms"
                    self._finds_in(operation.id, message, pair, fact, IN_ONE_FORM, how)
            elif exchange.succeeded and kind.number(exchange) in map(kind.number, accepted):
                message = f"with {how}: it is answered as the one before, of another deposit"
                self._finds_in(
                    operation.id, message, (accepted[0], exchange), "order.id", "data.id"
                )
        for early, made in asked_early:
            self._judge_asked_early(kind, early, made, newest)
        return newest

    def _look_before(self, kind: Submitted, operation: Operation, draft: Draft) -> Exchange | None:
        """Ask for what is submitted next, where its key is known before: as who asks too early."""
        if kind is not V1_ORDER:
            return None
        made = Exchange(0, f"{operation.id}/early", operation, draft.request(operation), Answer(0))
        look_up = if_known(kind.look, self._context, made)
        return None if look_up is None else self._sender.send(kind.look_id, look_up)

    def _judge_asked_early(
        self, kind: Submitted, early: Exchange, made: Exchange, newest: Exchange | None
    ) -> None:
        """Report what stays unknown since it was asked for too early, while newer ones are known.

        Whoever is slow to know of what was submitted is so of all.
        """
        later = self._look_at(kind, newest) if early.refused and newest is not made else None
        still = self._look_at(kind, made) if later is not None and later.succeeded else None
        if later is None or still is None or not still.refused or is_busy(still):
            return
        message = f"a {kind.called} that was asked for before it was submitted stays unknown "
        message += f"({in_words(still)}), and one that was submitted later is known"
        fact, exchanges = KNOWN_ONCE[kind.look_id], (early, made, still)
        self._touched.add(kind.look_id)
        self._finds_in(kind.look_id, message, exchanges, fact, kind.key, "asked early")

    def _report_for_another(self, operation: Operation) -> None:
        """Report for another address on the same connection, and see whether it becomes ours."""
        what = "report for another"
        stranger = fresh_address(self._context, what)
        about = {"from": stranger, _DEPOSIT[operation.id]: fresh_hash(self._context, what)}
        draft = if_known(valid_request, self._context, operation.id, **about)
        made = None if draft is None else self._sender.send(operation.id, draft)
        if made is None or not made.succeeded:
            return
        listing = self._listing_of(TICKET.number(made))
        if listing is not None:
            message = "a ticket that another address reports on a connection that is used"
            message += " again is listed for the address before"
            pair, fact = (made, listing), "v2.get-all-ticket-by-address"
            self._finds_in(operation.id, message, pair, fact, "query.address", "for another")

    def _look_at(self, kind: Submitted, made: Exchange | None) -> Exchange | None:
        """Look up what was submitted just now; None where it was not accepted."""
        draft = if_known(kind.look, self._context, made) if made and made.succeeded else None
        return None if draft is None else self._sender.send(kind.look_id, draft)

    def _judge_elsewhere(self, kind: Submitted, here: Exchange, there: Exchange | None) -> None:
        """Report what its own connection knows, and the next one does not."""
        denial = self._denial(there)
        if denial is not None:
            message = f"what its own connection knows is refused on another ({in_words(denial)})"
            fact, operation = KNOWN_ONCE[kind.look_id], here.operation
            self._touched.add(operation.id)
            self._finds_in(operation.id, message, (here, denial), fact, "", "elsewhere")

    def _denial(self, look_up: Exchange | None) -> Exchange | None:
        """Return a look-up that was refused, None where the service is busy or answered."""
        if look_up is None or not look_up.refused or is_busy(look_up):
            return None
        return None if is_refused_now_and_then(self._context, look_up) else look_up

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
            exchanges = (looks[-1], ticket, now)
            self._touched.add(ORDER.look_id)
            self._finds_in(ORDER.look_id, message, exchanges, "orders.final", place, cause)
            return

    def _look_often(self, kind: Submitted, made: Exchange) -> None:
        """Look up the newest again and again: a replica that is behind does not know it yet.

        What stays refused may be so for the stamp of the request, where a clock has jumped.
        """
        known: Exchange | None = None
        line, flickers = Timeline(kind), self._flickers[kind.look_id]
        refused = list[tuple[Exchange, Exchange, str]]()
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
                flickers += refused
                refused.clear()
            elif known is not None and exchange.refused:
                what = f"what was there before is refused ({in_words(exchange)})"
                refused.append((known, exchange, what))

    def _lists_after(self, operation: Operation) -> None:
        """Ask for the lists right after a submission; where items are missing, once they are back,
        after another one: what alternates under one version is told.
        """
        short = list[tuple[RepeatedRequest, Exchange, Exchange]]()
        for target in [each for each in self._targets if each.operation.id in FIRST_LISTS]:
            first = target.sameness.first
            before = [first, *equal_requests(self._context, first)][-1]
            exchange = self._ask(target, target.make())
            if exchange is not None and _is_short_of(before, exchange):
                short.append((target, before, exchange))
            elif exchange is not None:
                self._look(target, exchange, _AFTER_SUBMISSION)
        if short:
            self._session.transport.wait(_SETTLING_MS)
        back = list[RepeatedRequest]()
        for target, before, exchange in short:
            now = self._ask(target, target.make())
            if now is not None and _is_short_of(before, now):
                self._look(target, now, _AFTER_SUBMISSION)
            elif now is not None:
                back.append(target)
                self._short.append(exchange)
                if difference := self._differs(target, exchange):
                    self._flicker(target, exchange, difference)
        about = {_DEPOSIT.get(operation.id, "deposit"): fresh_hash(self._context, "lists after")}
        draft = if_known(valid_request, self._context, operation.id, **about) if back else None
        if draft is not None and self._session.transport.writes_left:
            self._sender.send(operation.id, draft)
            for target in back:
                self._ask(target, target.make())


def _on_two_chains(context: RunContext) -> list[TokenRoute]:
    """Return routes from two EVM chains, of which one is named as a fork of the other where there
    are such; nothing where no two can be told.
    """
    routes = dict[str, TokenRoute]()
    is_plain = plain_tokens(context)
    for route in in_random_order(context, "of two chains", if_known(bridges, context) or ()):
        if is_plain(route.source):
            routes.setdefault(route.source.chain, route)
    forks = [
        [routes[chain], routes[fork]]
        for chain, fork in permutations(routes, 2)
        if fork.startswith(chain)
    ]
    return next(iter(forks), [*routes.values()][:2])


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


def _is_short_of(before: Exchange, now: Exchange) -> bool:
    """Tell whether items of a list are missing, and nothing else has changed in it."""
    is_same_version = before.data.get("version") == now.data.get("version")
    is_less = items_without_prices(now) < items_without_prices(before)
    return now.succeeded and is_same_version and is_less
