"""What a run came to: survived, noticed, or money that is gone without anybody knowing."""

from collections.abc import Sequence
from enum import StrEnum

from mockserver.survive.runs import Line, Run
from mockserver.values import dataclass
from mockserver.worlds.audit import Finding


class Outcome(StrEnum):
    """What a failure did to the money of a flow, and whether the flow knows."""

    SURVIVED = "survived"
    """All that was meant has happened, and the flow says so."""
    NOTICED = "noticed"
    """The flow failed, or reported it; nothing is lost: done by a later run, or returned."""
    FOOLED = "fooled"
    """The flow says that all is done, and it is not."""
    HARMED = "harmed"
    """The flow failed, and money is lost or was paid too often, also after it ran again."""
    HUNG = "hung"
    """The flow did not end."""
    NOT_REACHED = "not reached"
    """The failure met no call, so nothing is known."""
    UNSURE = "unsure"
    """The run cannot be judged."""


BAD = (Outcome.FOOLED, Outcome.HARMED, Outcome.HUNG)
"""The outcomes that fail by default."""
_UNDONE = ("missing", "returned", "lost")
# Losses that a flow may leave to people, if it says so: the service owes the money.
_OF_THE_SERVICE = ("lost",)


@dataclass(frozen=True, slots=True)
class Result:
    """A run with its outcome: `costs` is what it cost, in words, and `why` what is wrong."""

    run: Run
    outcome: Outcome
    why: str
    costs: tuple[str, ...]
    kinds: tuple[str, ...]
    diverged: int
    """The number of the first request that differs from the undisturbed run, from 0."""

    @property
    def name(self) -> str:
        return "+".join(map(str, self.run.failures))

    @property
    def bad(self) -> bool:
        """Whether money is lost; a flow that only goes on for ever loses none."""
        return self.outcome in BAD and (self.outcome is not Outcome.HUNG or bool(self.costs))

    @property
    def signature(self) -> tuple[object, ...]:
        place = self.run.lines[self.diverged].operation if self._diverges else None
        return self.kinds or self.outcome, place

    @property
    def _diverges(self) -> bool:
        return self.diverged < len(self.run.lines)


def judged(run: Run, base: Run, *, refund_is_fine: bool = False) -> Result:
    """Return what a run came to, beside the undisturbed one."""
    known = {_alike(finding) for finding in base.verdict}
    findings = [one for one in run.verdict if _alike(one) not in known or one.costs]
    costly = [one for one in findings if one.costs and _alike(one) not in known]
    # One payment too many is told once: beside what was meant, the kind of the audit adds nothing.
    counted = {order for one in costly if one.cause == "times" for order in one.orders}
    costly = [one for one in costly if one.kind != "two-orders" or not counted & set(one.orders)]
    undone = [one for one in findings if one.cause in _UNDONE]
    outcome, telling = _outcome(run, costly, undone, refund_is_fine=refund_is_fine)
    if outcome in (Outcome.SURVIVED, Outcome.NOTICED, Outcome.NOT_REACHED):
        telling = []
    why = telling[0].message if telling else _plain(run, outcome)
    costs = tuple(dict.fromkeys(_cost(one) for one in telling if one.costs))
    kinds = tuple(sorted({f"{one.kind}/{one.cause}" for one in telling}))
    return Result(run, outcome, why, costs, kinds, _diverged(run.lines, base.lines))


def _outcome(
    run: Run, costly: Sequence[Finding], undone: Sequence[Finding], *, refund_is_fine: bool
) -> tuple[Outcome, Sequence[Finding]]:
    if run.failures and not run.reached:
        return Outcome.NOT_REACHED, ()
    if run.verdict.unjudged:
        return Outcome.UNSURE, ()
    fair = all(failure.kind.notice_is_fair for failure in run.failures)
    excused = [one for one in costly if not (fair and _is_of_the_service(one))]
    if any(step.hung for step in run.steps):
        # It claims nothing, so what the service owes is not forgotten.
        return Outcome.HUNG, excused
    if run.steps[-1].good:
        if costly:
            return (Outcome.FOOLED if run.first.good else Outcome.HARMED), costly
        left = [one for one in undone if not (refund_is_fine and one.cause == "returned")]
        if left:
            return Outcome.FOOLED, left
        return (Outcome.SURVIVED if run.first.good else Outcome.NOTICED), ()
    return (Outcome.HARMED, excused) if excused else (Outcome.NOTICED, ())


def _is_of_the_service(finding: Finding) -> bool:
    """Tell whether an order lost the money, which its flow has said that it did not get."""
    lost = finding.cause in _OF_THE_SERVICE or finding.kind in (
        *("drop-not-reported", "order-not-followed", "left-underway", "refund-not-noticed"),
        "short",
    )
    return lost and bool(finding.orders)


def _alike(finding: Finding) -> tuple[object, ...]:
    return finding.kind, finding.cause, tuple(map(str, finding.costs))


def _cost(finding: Finding) -> str:
    """Return what a finding cost, in words: `10 USDT paid twice`."""
    money = " and ".join(map(str, finding.costs))
    how = {
        "times": "paid too often",
        "lost": "lost",
        "otherwise": "sent otherwise than meant",
        "unexpected": "moved that was not meant",
        "less": "missing on arrival",
    }.get(finding.cause, "")
    kinds = {
        "two-orders": "paid twice",
        "deposit-without-order": "paid without an order",
        "drop-not-reported": "dropped, and not reported",
        "order-not-followed": "in an order that nobody followed",
        "refund-not-noticed": "returned, unnoticed",
    }
    return f"{money} {how or kinds.get(finding.kind, finding.kind)}"


def _plain(run: Run, outcome: Outcome) -> str:
    if outcome is Outcome.NOT_REACHED:
        return "the flow made no such call"
    if outcome is Outcome.HUNG:
        return next(step.hung for step in run.steps if step.hung)
    if outcome is Outcome.UNSURE:
        return "the journal has dropped requests about its orders"
    first = run.first.ended.code
    if run.first.good:
        return "all is done"
    how = f"was ended by signal {-first}" if first < 0 else f"exited with {first}"
    again = "" if len(run.steps) == 1 else f", and was started {len(run.steps) - 1} times again"
    return f"it {how}{again}"


def _diverged(lines: Sequence[Line], base: Sequence[Line]) -> int:
    """Return the number of the first request that is not as in the undisturbed run."""
    for number, (ours, theirs) in enumerate(zip(lines, base, strict=False)):
        if ours.same != theirs.same:
            return number
    return min(len(lines), len(base))
