"""Answers to requests that are asked again: compared, asked once more, and reported."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from mockserver.conformance.checks.judged_exchanges import (
    GATEWAY_STATUSES,
    chains_named,
    is_refused_now_and_then,
    says_it_is_away,
)
from mockserver.conformance.checks.rule import IN_ONE_FORM, Finding
from mockserver.conformance.discovery.inventory import chains_of
from mockserver.conformance.generation.client_variants import (
    OLD_COPY,
    coding_of,
    knows_no_chunks,
)
from mockserver.conformance.generation.equal_answers import Sameness
from mockserver.conformance.generation.stages import DELIVERY, Sender
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, NoAnswer, refusal_of
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.session import Session
from mockserver.contract import Basis, Operation, fact_basis, ids
from mockserver.fast_dataclass import dataclass
from mockserver.wording import counted

FIRST_LISTS = (ids.CHAINS, ids.ASSETS)
# One answer that differs once may be a busy moment; two are not.
FEWEST_FLICKERS = 2
# What was submitted and is known once may not be unknown at the next look.
KNOWN_ONCE = {
    ids.CHECK: "v2.check-order",
    ids.CHECK_TICKET: "v2.check-ticket",
    ids.V1_DETAIL: "v1.get-order-detail",
}
LENGTH_REQUIRED = 411


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


class RepeatedAnswers:
    """Asks again, compares what comes with what came before, and collects what differs."""

    def __init__(self, session: Session, kept: int) -> None:
        """Take the session; `kept` is how many requests of the budget are left to later stages."""
        self._session = session
        self._context = session.context
        self._sender = Sender(session, DELIVERY.words, kept)
        self._findings: defaultdict[str, list[Finding]] = defaultdict(list)
        # Answers that differed once, and not when the same was asked once more.
        self._flickers: defaultdict[str, list[tuple[Exchange, Exchange, str]]] = defaultdict(list)
        self._reported: set[tuple[str, str]] = set()
        self._touched: set[str] = set()
        self._targets: list[RepeatedRequest] = []
        # Lists that lacked something right after a submission, and not later.
        self._short: list[Exchange] = []
        # Whether a list stays compressed once it was, by operation; absent while not asked for.
        self._stays_compressed: dict[str, bool] = {}

    def _ask(self, target: RepeatedRequest, draft: Draft) -> Exchange | None:
        self._touched.add(target.operation.id)
        return self._sender.send(target.operation.id, draft)

    def _ask_together(
        self, group: Sequence[RepeatedRequest], *, in_one_packet: bool = False
    ) -> list[tuple[RepeatedRequest, Exchange | None]]:
        drafts = [(target.operation, target.make()) for target in group]
        sent = self._sent_together(drafts, in_one_packet=in_one_packet)
        return list(zip(group, sent, strict=False))

    def _sent_together(
        self, drafts: Sequence[tuple[Operation, Draft]], *, in_one_packet: bool = False
    ) -> list[Exchange]:
        self._touched.update(operation.id for operation, _ in drafts)
        named = [(operation.id, draft) for operation, draft in drafts]
        return self._sender.send_together(named, in_one_packet=in_one_packet)

    def _differs(self, target: RepeatedRequest, exchange: Exchange) -> str:
        if exchange.answer.status in GATEWAY_STATUSES or is_busy(exchange):
            return ""
        if exchange.answer.status == LENGTH_REQUIRED:
            return ""  # HTTP lets a server insist on a length.
        is_news = not self._stays_compressed.get(target.operation.id)
        if is_news and is_coded_unasked(exchange) and not is_coded_unasked(target.sameness.first):
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
        pair = (target.sameness.first, once_more)
        self._finds(target, f"with {how}: {repeated}", pair, IN_ONE_FORM, "", how)
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
        is_whole = plain.succeeded and not is_coded_unasked(plain)
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
        if sum(map(len, self._flickers.values())) < FEWEST_FLICKERS:
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
                fact = KNOWN_ONCE.get(operation_id, fact)
            basis = _basis_of_change(exchange, fact)
            self._findings[operation_id].append(
                Finding(message, (before, exchange), "", basis, cause="now and then")
            )

    def _finds_in(
        self,
        operation_id: str,
        message: str,
        exchanges: Sequence[Exchange],
        fact: str,
        place: str = "HTTP status",
        cause: str = "two at once",
    ) -> None:
        finding = Finding(message, tuple(exchanges), place, fact_basis(fact), cause=cause)
        self._findings[operation_id].append(finding)

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


def _basis_of_change(exchange: Exchange, otherwise: str) -> Basis:
    """Return the fact that an answer contradicts: the envelope, where none can be read in it."""
    broken = exchange.answer.trouble or exchange.unreadable
    return fact_basis("interface.envelopes" if broken else otherwise)


def is_coded_unasked(exchange: Exchange) -> bool:
    """Tell whether an answer is compressed, though its client names no such coding."""
    coding, accepted = coding_of(exchange), exchange.request.headers.get("Accept-Encoding", "")
    return coding != "identity" and coding not in accepted.lower()


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


def is_busy(exchange: Exchange) -> bool:
    return exchange.answer.status in (429, 503) or exchange.answer.trouble in (
        NoAnswer.UNREACHABLE,
        NoAnswer.TIMED_OUT,
    )
