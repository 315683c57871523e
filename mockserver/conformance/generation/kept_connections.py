"""Requests in a row on a connection that stays open, and connections that wear out."""

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import takewhile

from mockserver.conformance.checks.judged_exchanges import GATEWAY_STATUSES, in_words, is_its_own
from mockserver.conformance.generation.delivery_forms import DeliveryEdit, applied
from mockserver.conformance.generation.repeated_answers import (
    FEWEST_FLICKERS,
    FIRST_LISTS,
    RepeatedAnswers,
    RepeatedRequest,
)
from mockserver.conformance.session.exchange import Exchange, NoAnswer
from mockserver.wording import counted

# What is asked for again, and the forms that it is asked in.
RequestInForms = tuple[RepeatedRequest, tuple[tuple[str, DeliveryEdit], ...]]
# Whether each further request travels on a connection of its own, beside one that is kept: as none
# is answered by a service that refuses each so many.
_NEW_IN_TURN = (False, True, True, False, False, True)


class KeptConnections(RepeatedAnswers):
    """Asks in a row on one connection."""

    def _on_one_connection(
        self, rows: Sequence[RequestInForms]
    ) -> list[tuple[RepeatedRequest, Exchange | None]]:
        with self._session.transport.kept_connection():
            return [
                (target, self._ask(target, applied(target.make(), *(edit for _, edit in edits))))
                for target, edits in rows
            ]

    def _in_one_packet(self) -> None:
        """Send two requests in one packet: each gets its answer, unless the connection ends.

        Whoever ends it may do so at any time (RFC 9112, 9.3.2 and 9.6).
        """
        lists = [each for each in self._targets if each.operation.id in FIRST_LISTS]
        pair, how = [each for each in lists if each.label == "usual"], "in one packet"
        if len(pair) < len(FIRST_LISTS):
            return
        for last_time in (False, True):
            sent = self._ask_together(pair, in_one_packet=True)
            wrong = [each for each in self._wrong(sent) if not _has_ended(each[2])]
            lost = [(of, each) for of, each in sent[1:] if each and _is_lost(each)]
            if not wrong and not lost:
                return
            if last_time and lost:
                (target, exchange) = lost[0]
                message = "what stands behind another request in one packet is not answered, and "
                message += "its connection stays open"
                pair_sent = (target.sameness.first, exchange)
                self._finds(target, message, pair_sent, "", "delivery.forms", how)
            elif last_time:
                self._report_wrong(wrong, how)

    def _judge_worn_out(self, sent: Sequence[tuple[RepeatedRequest, Exchange | None]]) -> None:
        """Report a connection that only a gateway answers after a number of requests.

        Who is busy is so on every connection, as new ones show that are asked at the same time.
        """
        before = [of for of, _ in takewhile(lambda pair: not _is_of_gateway(pair[1]), sent)]
        rest = sent[len(before) :]
        if not before or not rest:
            return
        target = rest[0][0]
        same = [pair for pair in rest if pair[0].operation is target.operation]
        # A single request may have come at a bad time.
        several = [pairs for pairs in (rest, same) if len(pairs) >= FEWEST_FLICKERS]
        if not any(all(_is_of_gateway(each) for _, each in pairs) for pairs in several):
            return
        transport, answers = self._session.transport, list[Exchange | None]()
        with transport.kept_connection():
            well = [self._ask(of, of.make()) for of in before]
            for is_new in _NEW_IN_TURN:
                with transport.beside_kept() if is_new else nullcontext():
                    answers.append(self._ask(target, target.make()))
        *_, kept, new = answers
        if kept is None or new is None or not all(map(_is_from_service, well)):
            return
        is_worn = (
            _is_from_service(each) if is_new else _is_of_gateway(each)
            for each, is_new in zip(answers, _NEW_IN_TURN, strict=True)
        )
        if all(is_worn):
            how = "on a connection that is used again"
            message = f"{how}: after {counted(len(before), 'request')} all it answers is "
            message += f"{in_words(kept)}, where new ones are answered at the same time"
            self._finds(target, message, (new, kept), "HTTP status", "delivery.forms", how)


def _has_ended(exchange: Exchange) -> bool:
    return exchange.answer.trouble is NoAnswer.CUT and not exchange.answer.status


def _is_lost(exchange: Exchange) -> bool:
    return exchange.answer.trouble is NoAnswer.TIMED_OUT and not exchange.answer.status


def _is_from_service(exchange: Exchange | None) -> bool:
    return exchange is not None and is_its_own(exchange)


def _is_of_gateway(exchange: Exchange | None) -> bool:
    """Tell whether a gateway says that nobody is there, and not when to come again."""
    if exchange is None or not exchange.has_answer or exchange.answer.header("Retry-After"):
        return False
    return exchange.answer.status in GATEWAY_STATUSES and exchange.answer.status != 429
