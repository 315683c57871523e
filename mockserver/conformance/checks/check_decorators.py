"""The frames of checks: what they judge one at a time, and what it means if nothing was judged."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Generic, TypeVar

from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.judged_exchanges import check_edges_requested
from mockserver.conformance.checks.rule import EDGES, JUDGED, Check, Finding, Findings, Judgements
from mockserver.conformance.checks.shared_probes import probe
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import NotApplicable, Unjudged, Vacuous
from mockserver.contract import Operation
from mockserver.fast_dataclass import dataclass

_T = TypeVar("_T")
Subjects = Callable[[RunContext, Operation], Iterable[_T]]
"""Returns what a check judges one at a time: exchanges, what has one, or tuples of these."""


@dataclass(frozen=True, slots=True)
class FramedCheck(Generic[_T]):
    """A check in its frame.

    With `subjects` the check judges one at a time, else the operation as a whole. A finding that
    names no exchange gets those that were judged, and one that names no place gets `place`. With
    `once`, each cause is reported once for each place. Where nothing was judged, `nothing` is
    raised. Before that comes a better reason: one of the probes in `requires` was not sent or did
    not succeed, or (`EDGES`) the run was not to request the edges of inputs.
    """

    check: Callable[[RunContext, Any], Judgements]
    subjects: Subjects[_T] | None = None
    place: str = ""
    once: bool = False
    nothing: Unjudged | None = None
    requires: tuple[str, ...] = ()

    @property
    def __wrapped__(self) -> Callable[[RunContext, Any], Judgements]:
        return self.check

    def __call__(self, context: RunContext, operation: Operation) -> Findings:
        """Yield what is wrong. Raises `Unjudged` where nothing could be judged."""
        judged, reported = False, set()
        try:
            for judgement in self._judgements(context, operation):
                judged = True
                if not isinstance(judgement, Finding):
                    continue
                what = (judgement.place, judgement.cause)
                if not self.once or what not in reported:
                    reported.add(what)
                    yield judgement
        except required_members.Missing:
            if self.nothing is None:
                raise
        if judged or self.nothing is None:
            return
        # That something was never sent says more than that nothing was found.
        for name in self.requires:
            check_edges_requested(context) if name in EDGES else context.require_success(name)
        raise type(self.nothing)(*self.nothing.args)

    def _judgements(self, context: RunContext, operation: Operation) -> Judgements:
        if self.subjects is None:
            yield from self.check(context, operation)
            return
        judged, missing = False, None
        # A subject that shows too little is skipped; the next one may show more.
        for subject in self.subjects(context, operation):
            # Several subjects that are compared come as a tuple.
            parts: tuple[Any, ...] = subject if isinstance(subject, tuple) else (subject,)
            shows = (part if isinstance(part, Exchange) else part.exchange for part in parts)
            try:
                yield from self._findings_about(tuple(shows), self.check(context, subject))
            except required_members.Missing as error:
                missing = error
                continue
            judged = True
            yield JUDGED
        # A rule that has no word for it must not pass for want of something to judge.
        if missing is not None and not judged:
            raise missing

    def _findings_about(
        self, exchanges: tuple[Exchange, ...], judgements: Judgements
    ) -> Judgements:
        for judgement in judgements:
            if not isinstance(judgement, Finding):
                yield judgement
                continue
            place = judgement.place or self.place
            yield replace(judgement, exchanges=judgement.exchanges or exchanges, place=place)


def each(
    subjects: Subjects[_T] | None,
    place: str = "",
    *,
    once: bool = False,
    vacuous: str = "",
    not_shown: str = "",
    requires: tuple[str, ...] = (),
) -> Callable[[Callable[[RunContext, _T], Judgements]], FramedCheck[_T]]:
    """Return a decorator of a check that judges subjects one at a time.

    `vacuous` is why there may be nothing to judge, `not_shown` where that is for want of a
    description.
    """

    unshown = NotApplicable(not_shown) if not_shown else None
    nothing = Vacuous(vacuous) if vacuous else unshown

    def framed(check: Callable[[RunContext, _T], Judgements]) -> FramedCheck[_T]:
        return FramedCheck(check, subjects, place, once, nothing, requires)

    return framed


def counting(
    *,
    once: bool = False,
    vacuous: str = "",
    not_shown: str = "",
    requires: tuple[str, ...] = (),
) -> Callable[[Check], FramedCheck[Operation]]:
    """Return a decorator of a check that says itself what it judged, by `JUDGED`."""

    return each(None, once=once, vacuous=vacuous, not_shown=not_shown, requires=requires)


def answers_to(first: str, second: str) -> Subjects[tuple[Exchange, Exchange]]:
    """Return what yields the answers to two probes of an operation, which are judged together."""

    def pair(context: RunContext, operation: Operation) -> Iterator[tuple[Exchange, Exchange]]:
        names = (probe(operation, words) for words in (first, second))
        answer, second_answer = context.require_each(*names)
        yield answer, second_answer

    return pair
