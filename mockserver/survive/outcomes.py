"""What a run came to: survived, noticed, or money that is gone without anybody knowing."""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from mockserver.fast_dataclass import dataclass
from mockserver.survive.runs import Line, RunOfFlow
from mockserver.wording import counted, times
from mockserver.worlds.audit import Expected, Finding
from mockserver.worlds.lint import LintFinding


class RunOutcome(StrEnum):
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


BAD = (RunOutcome.FOOLED, RunOutcome.HARMED, RunOutcome.HUNG)
"""The outcomes that fail by default."""
_OF_IDS = ("ids-as-numbers", "unknown-id")
_CALM = (RunOutcome.SURVIVED, RunOutcome.NOTICED)
UNDISTURBED = "undisturbed"
"""The id of the run in which nothing goes wrong."""

_UNDONE = ("missing", "returned", "lost")
# Losses that a flow may leave to people, if it says so: the service owes the money.
_OF_THE_SERVICE = frozenset(
    {"drop-not-reported", "order-not-followed", "left-underway", "refund-not-noticed", "short"}
)
# Findings that cost money where nobody can say how much.
_COSTLY = frozenset({"deposit-without-order"})
# Causes and kinds of what a flow that failed, and knows it, cannot mend when it is started again.
_BEYOND_REPAIR = frozenset({"times", "otherwise", "unexpected", "two-orders", "paid-otherwise"})
# Failures that let time pass behind the client's back: an old quote is no mistake of its own then.
_OF_TIME = frozenset({"clock", "late"})
# An answer that does not come, or cannot be read, is one circumstance for a client.
_CIRCUMSTANCES = {
    "lost": "answer",
    "gateway": "answer",
    "late": "answer",
    "unreadable": "answer",
    "unsent": "answer",
    "down": "answer",
}


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run with its outcome: `costs` is what it cost, in words, and `why` what is wrong."""

    run: RunOfFlow
    outcome: RunOutcome
    why: str
    costs: tuple[str, ...]
    kinds: tuple[str, ...]
    diverged: int
    """The number of the first request that differs from the undisturbed run, from 0."""

    @property
    def name(self) -> str:
        return "+".join(map(str, self.run.failures)) or UNDISTURBED

    @property
    def bad(self) -> bool:
        """Whether money is lost; a flow that only goes on for ever loses none."""
        return self.outcome in BAD and (self.outcome is not RunOutcome.HUNG or bool(self.kinds))

    @property
    def signature(self) -> tuple[object, ...]:
        """What results share that show one defect: what is wrong, in which circumstance, and where.

        The place is the call after which the flow went another way.
        """
        lines = self.run.lines
        place = lines[self.diverged].operation if self.diverged < len(lines) else None
        names = (failure.kind.name for failure in self.run.failures)
        circumstance = frozenset(_CIRCUMSTANCES.get(name, name) for name in names)
        return self.kinds or self.outcome, circumstance, place


def undisturbed(base: RunOfFlow) -> RunResult | None:
    """Return what is wrong with the money of the undisturbed run; None where all is well."""
    costly = [finding for finding in base.verdict if _is_costly(finding)]
    if costly:
        return _result(base, RunOutcome.FOOLED, costly, base, ())
    errors = [finding for finding in base.lint if finding.rule.level == "error"]
    if not errors:
        return None
    # Amounts that are wrong now are no failure's doing, and arrive as they were sent.
    kinds = tuple(sorted({f"lint/{finding.rule.name}" for finding in errors}))
    why = errors[0].message
    return RunResult(base, RunOutcome.FOOLED, why, (), kinds, len(base.lines))


def judged(
    run: RunOfFlow,
    base: RunOfFlow,
    meant: Sequence[Expected] = (),
    *,
    refund_is_fine: bool = False,
) -> RunResult:
    """Return what a run came to, beside the undisturbed one."""
    findings = _new(run.verdict, base.verdict)
    costly = [finding for finding in findings if _is_costly(finding)]
    # One payment too many is told once: beside what was meant, the kind of the audit adds nothing.
    known_orders = {
        number for finding in costly if finding.cause == "times" for number in finding.orders
    }
    costly = [
        finding
        for finding in costly
        if finding.kind != "two-orders" or not known_orders & set(finding.orders)
    ]
    # What was paid beside the call at which a client was killed is heard of after its restart.
    of_time = _OF_TIME | {"killed"} if run.at_once else _OF_TIME
    if not any(failure.kind.name in of_time for failure in run.failures):
        costly += [
            finding
            for finding in findings
            if finding.kind == "other-quote" and finding.cause == "old"
        ]
    undone = [finding for finding in findings if finding.cause in _UNDONE]
    outcome, wrong = _outcome(run, costly, undone, refund_is_fine=refund_is_fine)
    if outcome in _CALM and run.steps[-1].good and run.left_open and not base.left_open:
        # All came well in the end, and the flow could not know that when it said so.
        why = f"it says that all is done while {counted(run.left_open, 'order')} can still fail"
        diverged = _diverged(run.lines, base.lines)
        return RunResult(run, RunOutcome.FOOLED, why, (), ("claim/too-early",), diverged)
    if outcome in _CALM and (misread := _misread(run, base)) is not None:
        # Whether this order is followed or another one is luck, and the money is in the first.
        kinds = (f"lint/{misread.rule.name}",)
        diverged = _diverged(run.lines, base.lines)
        return RunResult(run, RunOutcome.HARMED, misread.message, (), kinds, diverged)
    return _result(run, outcome, wrong, base, meant)


def _misread(run: RunOfFlow, base: RunOfFlow) -> LintFinding | None:
    """Return what tells that ids of another form are not kept as they came."""
    known = {finding.rule.name for finding in base.lint}
    wrong = (finding for finding in run.lint if finding.rule.name in _OF_IDS)
    return next((finding for finding in wrong if finding.rule.name not in known), None)


def _result(
    run: RunOfFlow,
    outcome: RunOutcome,
    wrong: Sequence[Finding],
    base: RunOfFlow,
    meant: Sequence[Expected],
) -> RunResult:
    if outcome not in BAD:
        wrong = ()
    why = wrong[0].message if wrong else _plain(run, outcome)
    kinds = tuple(sorted({f"{finding.kind}/{finding.cause}" for finding in wrong}))
    diverged = _diverged(run.lines, base.lines) if run.failures else len(run.lines)
    return RunResult(run, outcome, why, _costs(wrong, meant), kinds, diverged)


def _new(findings: Iterable[Finding], known: Iterable[Finding]) -> list[Finding]:
    """Return the findings that the undisturbed run does not have as well, as often as it has."""
    left = Counter(map(_sort_of, known))
    fresh = []
    for finding in findings:
        sort = _sort_of(finding)
        if left[sort]:
            left[sort] -= 1
        else:
            fresh.append(finding)
    return fresh


def _sort_of(finding: Finding) -> tuple[object, ...]:
    return finding.kind, finding.cause, tuple(map(str, finding.costs))


def _is_costly(finding: Finding) -> bool:
    return bool(finding.costs) or finding.kind in _COSTLY or finding.kind == "paid-otherwise"


def _outcome(
    run: RunOfFlow, costly: Sequence[Finding], undone: Sequence[Finding], *, refund_is_fine: bool
) -> tuple[RunOutcome, Sequence[Finding]]:
    if run.failures and not run.reached:
        return RunOutcome.NOT_REACHED, ()
    if run.verdict.unjudged or any(start.unsure for start in run.steps):
        return RunOutcome.UNSURE, ()
    fair = [failure.kind.notice_is_fair for failure in run.failures]
    excused = [
        finding
        for finding in costly
        # Whoever has failed and reported a payment with a ticket has done what a client can.
        if finding.cause != "reported" and not _is_of_the_service(finding, fair)
    ]
    if not run.restartable:
        excused = [finding for finding in excused if _is_beyond_repair(finding)]
    if any(start.too_slow for start in run.steps):
        return RunOutcome.HUNG, ()
    if any(start.hung for start in run.steps):
        # It claims nothing, so what the service owes is not forgotten.
        return RunOutcome.HUNG, excused
    if run.steps[-1].good:
        if costly:
            return (RunOutcome.FOOLED if run.first.good else RunOutcome.HARMED), costly
        left = [
            finding for finding in undone if not (refund_is_fine and finding.cause == "returned")
        ]
        if left:
            return RunOutcome.FOOLED, left
        return (RunOutcome.SURVIVED if run.first.good else RunOutcome.NOTICED), ()
    return (RunOutcome.HARMED, excused) if excused else (RunOutcome.NOTICED, ())


def _is_beyond_repair(finding: Finding) -> bool:
    """Tell whether money went where no later run brings it back from."""
    return finding.cause in _BEYOND_REPAIR or finding.kind in _BEYOND_REPAIR


def _is_of_the_service(finding: Finding, fair: Sequence[bool]) -> bool:
    """Tell whether an order kept the money back, which its flow has said that it did not get.

    `fair` tells of each failure whether it is enough to notice it.
    """
    # Beside another failure the service owes what it owes alone, since that makes no order fail.
    # But whoever misses an answer has to ask for the order all the same.
    enough = all if finding.kind == "order-not-followed" else any
    owed = finding.cause in ("lost", "less") or finding.kind in _OF_THE_SERVICE
    return owed and bool(finding.orders) and enough(fair)


def _costs(findings: Sequence[Finding], meant: Sequence[Expected]) -> tuple[str, ...]:
    """Return what findings cost, in words: `10 USDT paid twice`."""
    extra = Counter(
        " and ".join(map(str, finding.costs)) for finding in findings if finding.cause == "times"
    )
    once = all(expected.times == 1 for expected in meant)
    texts = []
    for finding in findings:
        money = " and ".join(map(str, finding.costs))
        if not money:
            continue
        if finding.cause == "times" and once:
            times = extra[money] + 1
            texts.append(f"{money} paid {'twice' if times == 2 else f'{times} times'}")
        else:
            texts.append(f"{money} {_CAUSES.get(finding.cause) or _KINDS.get(finding.kind, '')}")
    return tuple(dict.fromkeys(text.rstrip() for text in texts))


_CAUSES = {
    "times": "paid too often",
    "lost": "lost",
    "otherwise": "sent otherwise than meant",
    "unexpected": "moved that was not meant",
    "less": "paid, and less arrived than meant",
}
_KINDS = {
    "two-orders": "paid twice",
    "deposit-without-order": "paid without an order",
    "drop-not-reported": "dropped, and not reported",
    "order-not-followed": "in an order that nobody followed",
    "refund-not-noticed": "returned, unnoticed",
    "left-underway": "in an order that never ends, and that nobody reports",
    "paid-otherwise": "paid otherwise than ordered",
    "short": "short on arrival",
    "other-quote": "paid on an old quote",
}


def _plain(run: RunOfFlow, outcome: RunOutcome) -> str:
    if outcome is RunOutcome.NOT_REACHED:
        return "the flow made no such call"
    if outcome is RunOutcome.HUNG:
        return next(start.hung for start in run.steps if start.hung)
    if outcome is RunOutcome.UNSURE:
        unsure = next((start.unsure for start in run.steps if start.unsure), "")
        return unsure or "the journal has dropped requests about its orders"
    first = run.first.ended.code
    if run.first.good:
        return "all is done"
    how = f"was ended by signal {-first}" if first < 0 else f"exited with {first}"
    again = "" if len(run.steps) == 1 else f", and was started again {times(len(run.steps) - 1)}"
    return f"it {how}{again}"


def _diverged(lines: Sequence[Line], base: Sequence[Line]) -> int:
    """Return the number of the first request that is not as in the undisturbed run."""
    for number, (ours, theirs) in enumerate(zip(lines, base, strict=False)):
        if ours.same != theirs.same:
            return number
    return min(len(lines), len(base))
