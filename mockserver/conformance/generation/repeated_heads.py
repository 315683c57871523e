"""What HEAD and validators say of an answer, held against the answer itself."""

from collections.abc import Callable
from dataclasses import replace

from mockserver.conformance.generation.client_variants import coding_of
from mockserver.conformance.generation.delivery_forms import with_headers
from mockserver.conformance.generation.equal_requests import conditions_of, equal_requests
from mockserver.conformance.generation.repeated_answers import RepeatedAnswers, RepeatedRequest
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import ids

# How many bytes of an answer are asked for, of those that are offered in parts.
_PART = 100


class RepeatedHeads(RepeatedAnswers):
    """Asks for the head of an answer, and whether it is still the same."""

    def _judge_head(self, target: RepeatedRequest, head: Exchange) -> None:
        """Report what HEAD says of an answer, and GET does not: who trusts it asks for nothing, or
        for something else.
        """
        first = target.sameness.first
        if first.answer.body and _length(head) == "0":
            message = f"HEAD says that the answer has no bytes, GET has {len(first.answer.body)}"
            self._finds(target, message, (first, head), "HTTP headers", "delivery.head", "length")
            return
        # The length of an answer with prices in it changes as they do.
        is_list = target.operation.id in ids.LISTS
        readers = {
            "Content-Type": lambda each: each.answer.media_type,
            **({"Content-Length": _length} if is_list else {}),
        }
        for name, read in readers.items():
            if not self._says_otherwise(target, head, read):
                continue
            get = self._ask(target, target.make())
            again = self._ask(target, replace(target.make(), method="HEAD"))
            if get and again and self._says_otherwise(target, again, read):
                message = f"{name} is {read(again)[:60]} in the answer to HEAD, "
                message += f"and {read(get)[:60]} in that to GET"
                place = "HTTP headers"
                self._finds(target, message, (get, again), place, "delivery.head", name)
                return

    def _says_otherwise(
        self, target: RepeatedRequest, head: Exchange, read: Callable[[Exchange], str]
    ) -> bool:
        """Tell whether HEAD shows another header than GET, which shows the same each time.

        It may leave it out (RFC 9110, 9.3.2), and is that of another coding where that differs.
        """
        first = target.sameness.first
        every = equal_requests(self._context, first) or [first]
        shown = {read(each) for each in every if coding_of(each) == coding_of(head)}
        is_alike = head.has_answer and head.answer.status == first.answer.status
        shows_both = len(shown) == 1 and "" not in {read(head), *shown}
        return is_alike and shows_both and read(head) not in shown

    def _judge_tags(self, target: RepeatedRequest) -> None:
        """Ask with validators, where answers have some: their own, and those of other answers."""
        usual = target.sameness.first
        own = conditions_of(usual)
        if not own:
            return
        known = self._ask(target, with_headers(**own)(target.make()))
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
            exchange = self._ask(each, with_headers(If_None_Match=tag)(each.make()))
            if exchange is None or exchange.answer.status != 304:
                continue
            now = self._ask(each, each.make())
            if now is not None and now.answer.body != first.answer.body:
                message = (
                    "HTTP 304 (not modified) to a client that has the answer to something else"
                )
                place, fact = "HTTP status", "delivery.validators"
                self._finds(each, message, (first, exchange), place, fact, "tag of another")

    def _judge_conditions(self, target: RepeatedRequest) -> None:
        """Ask for something else than GET under a condition: HTTP 304 is none of its answers."""
        tag = target.sameness.first.answer.header("ETag")
        for condition in (tag, "*") if tag and target.operation.method != "GET" else ():
            self._ask(target, with_headers(If_None_Match=condition)(target.make()))

    def _judge_range(self, target: RepeatedRequest) -> None:
        """Ask for the beginning of an answer, where parts of it are offered (RFC 9110, 14.2)."""
        if (target.sameness.first.answer.header("Accept-Ranges") or "").strip() != "bytes":
            return
        part = self._ask(target, with_headers(Range=f"bytes=0-{_PART - 1}")(target.make()))
        complete = self._ask(target, target.make())
        if part is None or complete is None or part.answer.status != 206 or not complete.succeeded:
            return
        # Those of a list that has changed meanwhile are others.
        is_steady = complete.answer.body == target.sameness.first.answer.body
        if is_steady and part.answer.body != complete.answer.body[:_PART]:
            message = f"the first {_PART} bytes of it are others than those of the whole answer"
            self._finds(target, message, (complete, part), "HTTP headers", "http.headers", "range")


def _length(exchange: Exchange) -> str:
    return (exchange.answer.header("Content-Length") or "").strip()
