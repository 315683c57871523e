"""What is submitted and looked at, its time line, and what holds of everything that is submitted.

Of both generations, for rules and sequences alike; which thing a rule is about, the table says.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from enum import Enum
from typing import Any

from mockserver.conformance.checks.evidence import require_answer, says_it_is_away
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements
from mockserver.conformance.discovery.listing import scalar, text
from mockserver.conformance.requests import words
from mockserver.conformance.requests.planned import ORDER_STATUSES, V1_ORDER_STATUSES
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive
from mockserver.contract import Operation, ids
from mockserver.values import dataclass

_OF_NAMED = {name: tuple(f"{name}{look}" for look in words.LOOK_UPS) for name in words.NAMED}


@dataclass(frozen=True, slots=True)
class Submitted:
    """Something that is submitted and then looked at: how its number and its status are read.

    `called` is what it is, and `submission` how sending it is called. `looks` names the looks at
    it by `look_id`, in the order of time, by the submission that made it; `named` those at what the
    user has named. `number` reads an answer to a submission, where it stands at `place`; `shown`
    tells that every answer has to show it. `key` is the input that it is looked up by. `status`
    reads a look, at `status_place`; those in `final` never change, nor do the `facts` that are told
    with them.
    """

    called: str
    submission: str
    operation_id: str
    look_id: str
    key: str
    number: Callable[[Exchange], str]
    place: str
    status: Callable[[Exchange], str]
    status_place: str
    looks: Mapping[str, tuple[str, ...]]
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    final: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    shown: bool = True

    @property
    def probes(self) -> tuple[str, ...]:
        """The submissions, also one that is sent again, and all looks."""
        looks = (name for names in {**self.looks, **self.named}.values() for name in names)
        return (
            *(f"{self.operation_id}/{name}" for name in (*self.looks, "same again")),
            *(f"{self.look_id}/{name}" for name in looks),
        )

    def is_over(self, look: Exchange) -> bool:
        """Tell whether a look shows that it has come to its end."""
        return self.status(look) in self.final

    def is_second(self, first: str, again: str) -> bool:
        """Tell whether the number that the same submission got again is that of a second one."""
        return first != again and (self.shown or bool(first and again))

    def made(self, context: RunContext) -> dict[str, Exchange]:
        """Return the submissions of different things that were accepted, by name."""
        sent = {name: context.get(f"{self.operation_id}/{name}") for name in self.looks}
        return {name: one for name, one in sent.items() if one is not None and one.succeeded}

    def look_ups(self, context: RunContext, name: str) -> list[Exchange]:
        """Return the looks at one of them that were sent, by the name of it."""
        names = self.looks.get(name) or self.named.get(name, ())
        return context.sent(*(f"{self.look_id}/{look}" for look in names))

    def answered(self, context: RunContext, name: str) -> list[Exchange]:
        """Return the looks at one of them that were answered with success."""
        return [look for look in self.look_ups(context, name) if look.succeeded]

    def lines(self, context: RunContext) -> list[list[Exchange]]:
        """Return what was told of each of them. Raises where there is nothing of any."""
        found = [self.answered(context, name) for name in (*self.looks, *self.named)]
        if not any(found):
            context.require_success(f"{self.look_id}/usual")
        return found


ORDER = Submitted(
    "order",
    submission="deposit",
    operation_id=ids.ORDER,
    look_id=ids.CHECK,
    key="query.id",
    number=lambda made: made.text("id"),
    place="data.id",
    status=lambda look: look.text("status"),
    status_place="data.status",
    looks={
        "usual": ("usual", *words.POLLS, words.END, words.END_AGAIN),
        "second": (
            "second",
            *(f"second {poll}" for poll in words.FEW_POLLS),
            f"second {words.END}",
        ),
        "impossible": (
            *(f"impossible {poll}" for poll in words.FEW_POLLS),
            f"impossible {words.END}",
        ),
    },
    named=_OF_NAMED,
    final=ORDER_STATUSES.final,
    facts=("execHash", "amountOut", "reason"),
)
V1_ORDER = Submitted(
    "v1 order",
    submission="deposit",
    operation_id=ids.V1_ORDER,
    look_id=ids.V1_DETAIL,
    key="query.hash",
    number=lambda made: text(scalar(made.member("data"), "number")),
    place="data.sn",
    status=lambda look: text(scalar(look.member("data"), "status")),
    status_place="data.order.status",
    looks={
        "usual": ("usual", *words.FEW_POLLS, words.END, words.END_AGAIN),
        "second": ("second", f"second {words.END}"),
    },
    named=_OF_NAMED,
    final=V1_ORDER_STATUSES.final,
    shown=False,
)
TICKET = Submitted(
    "ticket",
    submission="report",
    operation_id=ids.TICKET,
    look_id=ids.CHECK_TICKET,
    key="query.ticketId",
    number=lambda made: text(made.data.get("ticketId")),
    place="data.ticketId",
    status=lambda look: "Succeeded" if look.data.get("succeeded") is True else "open",
    status_place="data.succeeded",
    looks={"usual": ("usual", words.END, words.END_AGAIN), "second": ()},
    final=("Succeeded",),
)
KINDS: Mapping[str, Submitted] = {"order": ORDER, "v1-order": V1_ORDER, "ticket": TICKET}


class Property(Enum):
    """What is true of every time line; a change breaks one of them."""

    ENDS_ONCE = "a status that is final stays"
    GOES_ON = "the time of the last change never goes back"
    FACTS_STAY = "what is told of something that has come to its end stays"


@dataclass(frozen=True, slots=True)
class Change:
    """A look that breaks a property, after the look that it follows.

    `name` is the member that changed, `was` and `now` are what it was.
    """

    breaks: Property
    name: str
    was: str | int
    now: str | int
    looks: tuple[Exchange, Exchange]


@dataclass(slots=True)
class Timeline:
    """The looks at one thing that was submitted, in their order.

    Of its status and its time it keeps what was told last, of the facts that are told with its end
    what was told first, each with the look that shows it.
    """

    kind: Submitted
    _values: dict[str, tuple[str | int, Exchange]] = field(default_factory=dict)

    def value(self, name: str) -> str | int:
        """Return what is kept of a member; an empty text where it was not told."""
        return self._values[name][0] if name in self._values else ""

    def follow(self, look: Exchange) -> list[Change]:
        """Take the next look, which was answered with success; return what it breaks."""
        now: list[tuple[Property, str, str | int]] = [
            (Property.ENDS_ONCE, "status", self.kind.status(look))
        ]
        time = time_of(look)
        if time is not None:
            now.append((Property.GOES_ON, "timestamp", time))
        if self.kind.is_over(look):
            now += [(Property.FACTS_STAY, name, look.text(name)) for name in self.kind.facts]
        return [change for one in now for change in self._changes(look, *one)]

    def _changes(self, look: Exchange, of: Property, name: str, now: str | int) -> Iterator[Change]:
        was, before = self._values.get(name, (now, look))
        if of is not Property.FACTS_STAY or name not in self._values:
            self._values[name] = (now, look)
        if _BREAKS[of](self.kind, was, now):
            yield Change(of, name, was, now, (before, look))


_BREAKS: Mapping[Property, Callable[[Submitted, Any, Any], bool]] = {
    Property.ENDS_ONCE: lambda kind, was, now: was in kind.final and now != was,
    Property.GOES_ON: lambda kind, was, now: now < was,
    Property.FACTS_STAY: lambda kind, was, now: now != was,
}


def time_of(look: Exchange) -> int | None:
    """Return the time of the last change that a look shows, None where it shows no whole number."""
    now = look.data.get("timestamp")
    return now if isinstance(now, int) and not isinstance(now, bool) else None


def breaking(line: Timeline, look: Exchange, broken: Property) -> Change | None:
    """Take the next look, and return the change that breaks a property; None where none does."""
    return next((change for change in line.follow(look) if change.breaks is broken), None)


def is_known(context: RunContext, _: Operation, *, kind: str, cause: str = "") -> Judgements:
    what = KINDS[kind]
    for name, made in what.made(context).items():
        looks = [one for one in what.look_ups(context, name) if one.succeeded or one.refused]
        for number, look in enumerate(looks):
            yield JUDGED
            later = any(one.succeeded for one in looks[number + 1 :])
            # It was busy, or what was submitted took its time to show: not that it is unknown.
            if look.refused and not later and not says_it_is_away(look):
                if what is V1_ORDER and look.probe.partition("/")[2] not in what.looks:
                    # A later refusal may be about the age of the stamp that v1 requests carry.
                    controls = context.sent(f"{ids.V1_QUOTE}/{words.END}")
                    if not any(control.succeeded for control in controls):
                        raise Inconclusive(
                            "v1 no longer takes requests with these stamps, a quote neither"
                        )
                said = text(look.member("msg"))[:160]
                message = f"{what.called} {what.number(made)!r} was accepted, and is not known"
                message += f": {said!r}" if said else ""
                yield Finding(message, (made, look), what.key, cause=cause)
                break


def has_its_own_number(
    context: RunContext, _: Operation, *, kind: str, cause: str = ""
) -> Judgements:
    what = KINDS[kind]
    found: dict[str, Exchange] = {}
    called = what.place.rpartition(".")[2]
    for one in what.made(context).values():
        number = what.number(one).strip()
        before = found.setdefault(number, one) if number else None
        if before is None:
            if what.shown and isinstance(one.data.get(called), str):
                yield Finding(f"{called} is an empty text", (one,), what.place)
        elif before is not one:
            message = f"two {what.called}s have the {called} {number!r}"
            yield Finding(message, (before, one), what.place, cause=cause)
        elif len(found) > 1:
            yield JUDGED


def is_one(context: RunContext, _: Operation, *, kind: str) -> Findings:
    what = KINDS[kind]
    one = context.require_success(f"{what.operation_id}/usual")
    again = require_answer(context, f"{what.operation_id}/same again")
    first, second = what.number(one), what.number(again)
    if again.succeeded and what.is_second(first, second):
        message = f"one {what.submission} makes the {what.called}s {first!r} and {second!r}"
        yield Finding(message, (one, again), what.place)


def keeps_its_end(context: RunContext, _: Operation, *, kind: str, cause: str = "") -> Judgements:
    what = KINDS[kind]
    for looks in what.lines(context):
        line = Timeline(what)
        for look in looks:
            change = breaking(line, look, Property.ENDS_ONCE)
            if change is not None:
                now = str(change.now)[:60]
                message = f"the {what.called} was {change.was!r}, and is {now!r} later"
                yield Finding(message, change.looks, what.status_place, cause=cause)
                break
            if what.is_over(look):
                yield JUDGED
