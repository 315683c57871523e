"""A conversation with the service: each request is sent, put into the journal, and remembered."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Protocol

from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Answer, Exchange
from mockserver.conformance.session.probe_names import ProbeName
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.session.retry_after_and_giving_up import (
    AnswersByGeneration,
    check_somebody_answers,
    retry_after_s,
)
from mockserver.conformance.session.transport import Transport
from mockserver.contract import Operation
from mockserver.http_messages import Request
from mockserver.mock_headers import WORLD_HEADER

_PATIENCE_MS, _WAIT_MS = 6_000, 1_000
# A stamp younger than the first stays as it is; one older than the second was set on purpose.
_MOMENT_MS, ON_PURPOSE_MS = 1_000, 1_800_000


class Watch(Protocol):
    """Hears how a run goes."""

    def sent(self, exchange: Exchange, planned: int) -> None:
        """Hear of an exchange; `planned` is how many requests the whole plan has."""


class ExchangeKeeper(Protocol):
    """Somebody who keeps exchanges for a run that resumes, or that compares."""

    def recall(self, probe: str, request: Request) -> Answer | None:
        """Return the answer that an earlier run got to the same request, or None."""

    def begin(self, probe: str, request: Request) -> None:
        """Hear of a submission at the moment it leaves, before anybody knows its answer."""

    def keep(self, exchange: Exchange) -> None:
        """Keep an exchange at once, so that an interruption loses nothing."""


class Session:
    """Sends requests and remembers every exchange, so that rules see it whichever stage sent it."""

    def __init__(
        self,
        transport: Transport,
        context: RunContext,
        *,
        keeper: ExchangeKeeper | None = None,
        watch: Watch | None = None,
        planned: int = 0,
        patience_ms: int | None = None,
    ) -> None:
        """Take the transport and where to remember; `planned` is for `watch`.

        `patience_ms` is how long requests may wait in all before they are sent; by default six
        seconds, and no time where the mock answers.
        """
        self.transport = transport
        self.context = context
        self._keeper = keeper
        self._watch = watch
        self._planned = planned
        self._patience_ms = patience_ms
        self._growth = _growth(patience_ms or 0)
        self._longer = 1
        # Requests that are to leave together, and wait for one another.
        self.collected: list[tuple[str, Draft]] = []
        # Of each generation, the operations that got a request, and whether an answer came.
        self._answered: AnswersByGeneration = defaultdict(list)

    @property
    def sent(self) -> dict[str, int]:
        """How many requests left for each operation, zero for those that got none."""
        counts = {operation.id: 0 for operation in self.context.contract}
        for (method, path), number in self.transport.sent.items():
            if operation := self.context.contract.find(method, path):
                counts[operation.id] += number
        return counts

    @property
    def left(self) -> int:
        """How many requests the budget has room for beside those that were collected."""
        return self.transport.left - len(self.collected)

    def ask(self, probe: str, draft: Draft, wait_ms: int = 0) -> Exchange:
        """Send a request under the name of a probe and return the exchange.

        A request waits `wait_ms` as far as patience goes, unless its answer is there already.
        Raises `Refusing` where it may not leave or where the service no longer answers, `Spent`
        where budget or time is used up.
        """
        operation = self.context.contract.operation(ProbeName(probe).operation_id)
        request = self._fresh(draft, operation).request(operation)
        if recalled := self._keeper.recall(probe, request) if self._keeper else None:
            self.transport.take_over(request)
        else:
            self._wait(wait_ms)
        answer = recalled or self._answer(probe, operation, request)
        return self._note(probe, request, answer, is_new=recalled is None)

    def ask_together(
        self,
        drafts: Sequence[tuple[str, Draft]],
        *,
        patiently: bool = False,
        in_one_packet: bool = False,
    ) -> list[Exchange]:
        """Send requests at the same time, each under the name of its probe, maybe in one packet.

        With `patiently`, one that the service puts off is sent again after the time that it names,
        as `ask` does. Raises as `ask` does; then none has left.
        """
        requests = [
            (probe, self._fresh(draft, operation).request(operation), operation)
            for probe, draft in drafts
            for operation in (self.context.contract.operation(ProbeName(probe).operation_id),)
        ]
        recalled = [
            self._keeper.recall(probe, request) if self._keeper else None
            for probe, request, _ in requests
        ]
        waiting = [parts for parts, answer in zip(requests, recalled, strict=True) if not answer]
        for operation in {id(parts[2]): parts[2] for parts in waiting}.values():
            check_somebody_answers(operation, self._answered)

        def leaving(number: int) -> None:
            probe, request, operation = waiting[number]
            if self._keeper is not None and operation.writes:
                self._keeper.begin(probe, request)

        answers = iter(
            self.transport.send_together(
                [(operation.generation.id, request) for _, request, operation in waiting],
                leaving,
                in_one_packet=in_one_packet,
            )
            if waiting
            else ()
        )
        exchanges = []
        for (probe, request, operation), known in zip(requests, recalled, strict=True):
            if known is not None:
                self.transport.take_over(request)
                exchanges.append(self._note(probe, request, known, is_new=False))
                continue
            answer = next(answers)
            if patiently:
                answer = self._when_asked_to_wait(answer, operation, request)
            self._answered[operation.generation.id].append((operation.id, answer.trouble))
            exchanges.append(self._note(probe, request, answer, is_new=True))
        return exchanges

    def leave(self, operation_id: str, draft: Draft) -> None:
        """Send a reading that nobody waits for. Raises as `ask` does."""
        operation = self.context.contract.operation(operation_id)
        request = self._fresh(draft, operation).request(operation)
        self.transport.send_and_leave(operation.generation.id, request)

    def _note(self, probe: str, request: Request, answer: Answer, *, is_new: bool) -> Exchange:
        operation = self.context.contract.operation(ProbeName(probe).operation_id)
        exchange = Exchange(len(self.context.exchanges) + 1, probe, operation, request, answer)
        self.context.add(exchange)
        if self._keeper is not None and is_new:
            self._keeper.keep(exchange)
        if self._watch is not None:
            self._watch.sent(exchange, self._planned)
        return exchange

    def _fresh(self, draft: Draft, operation: Operation) -> Draft:
        """Return a 2.0 submission signed, and a v1 request stamped with the time when it leaves."""
        # Many requests are made at once and sent one after the other, so that the stamps of the
        # last ones would be too old. A time that a probe sets on purpose is far from now, or not
        # signed; it stays.
        if operation.auth == "wallet-signature":
            return self.context.caller.sign_v2(draft)
        made, now = str(draft.headers.get("timestamp", "")), self.context.caller_now
        if not (made.isascii() and made.isdecimal()):
            return draft
        if not _MOMENT_MS < now.timestamp_ms - int(made[:20]) < ON_PURPOSE_MS:
            return draft
        then = replace(now, timestamp_ms=int(made))
        return now.sign_v1(draft) if then.sign_v1(draft) == draft else draft

    def _wait(self, ms: int) -> None:
        if ms <= 0:
            return
        if self._patience_ms is None:
            # Orders of the mock progress by a clock that its user sets: real waiting may not help.
            first = self.context.exchanges[:1]
            mocked = any(exchange.answer.header(WORLD_HEADER) for exchange in first)
            self._patience_ms = 0 if mocked else _PATIENCE_MS
        ms = min(ms * self._longer, self._patience_ms)
        self._longer *= self._growth
        self._patience_ms -= ms
        self.transport.wait(ms)

    def _answer(self, probe: str, operation: Operation, request: Request) -> Answer:
        generation, leaving = operation.generation.id, None
        check_somebody_answers(operation, self._answered)
        if self._keeper is not None and operation.writes:
            leaving = partial(self._keeper.begin, probe, request)
        answer = self.transport.send(generation, request, leaving)
        answer = self._when_asked_to_wait(answer, operation, request)
        self._answered[generation].append((operation.id, answer.trouble))
        return answer

    def _when_asked_to_wait(self, answer: Answer, operation: Operation, request: Request) -> Answer:
        """Return the answer to a second request where the service puts a GET off."""
        pause = retry_after_s(answer)
        if pause is None or request.method != "GET":
            return answer
        self.transport.wait(pause * 1000)
        return self.transport.send(operation.generation.id, request)


def _growth(patience_ms: int) -> int:
    """Return the factor by which each wait is longer than the one before it."""
    # All waits together use up the patience. For the usual patience each is a second long, so that
    # a service that settles quickly gets the next request quickly.
    turns, factors = range(_PATIENCE_MS // _WAIT_MS), count(1)
    waits_ms = ((factor, sum(factor**turn for turn in turns) * _WAIT_MS) for factor in factors)
    return next(factor for factor, all_ms in waits_ms if all_ms >= patience_ms)
