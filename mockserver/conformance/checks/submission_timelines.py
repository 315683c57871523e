"""What is submitted and then looked up: its time line, and the properties that all of them have.

For both generations, and for rules and sequences alike. A row of the table of rules names its kind.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from enum import Enum
from functools import lru_cache
from itertools import chain
from typing import Any

from mockserver import jsontext
from mockserver.conformance.checks.judged_exchanges import (
    is_its_own,
    is_refused_now_and_then,
    require_answer,
    says_it_is_away,
)
from mockserver.conformance.checks.rule import JUDGED, Finding, Findings, Judgements
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.member_roles import scalar, text
from mockserver.conformance.requests.all_probes import probes_of
from mockserver.conformance.requests.probe_labels import SOLVED
from mockserver.conformance.requests.probe_table import (
    ORDER_STATUSES,
    V1_ORDER_STATUSES,
    look_ups_of_named,
    probes_about,
)
from mockserver.conformance.requests.valid import valid_request
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange, refusal_of
from mockserver.conformance.session.probe_names import ProbeName, ProbeNames, plain_probe
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.verdict import Inconclusive
from mockserver.contract import Contract, Operation, ids
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json

LOOKS_AT_ALL, LOOKS = 2, 3
"""How often everything that was accepted at edges is looked up, and at most what goes on."""
LOOK_AGAIN_MS = 1_000
"""How long such a look-up waits before it is sent, while something goes on."""
IN_ANOTHER_CASE = "deposit in another case"
"""The words of a submission, and of a look-up before it, with other letters for its deposit."""
# An address that somebody has; an accepted one that is malformed is looked up under the caller's.
_ADDRESS = re.compile("0x[0-9a-fA-F]{40}")


@dataclass(frozen=True, slots=True)
class Submitted:
    """Something that is submitted and then looked at: how its number and its status are read.

    `called` is its name in messages, and `submission` that of submitting it. The operation
    `look_id` looks it up; `named` are the look-ups of those that the user has named. `number` reads
    the answer to a submission, where it stands at `place`; with `always_numbered` every answer has
    to show it. `key` is the input that it is looked up by. `status` reads a look-up, at
    `status_place`; statuses in `final` never change, nor do the `facts` that come with them, and
    those in `resting` not by waiting. In `failed` nothing was paid.
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
    named: Mapping[str, ProbeNames] = field(default_factory=dict)
    final: tuple[str, ...] = ()
    resting: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    always_numbered: bool = True

    @property
    def look_ups(self) -> Mapping[ProbeName, ProbeNames]:
        """The look-ups of what each submission makes, in the order of time."""
        looks = probes_about(self.look_id)
        made = probes_about(self.operation_id)
        return {names[0]: looks.get(about, ()) for about, names in made.items()}

    @property
    def again(self) -> Mapping[ProbeName, ProbeNames]:
        """The further submissions about the same deposit, by the first: the same one before all."""
        made = probes_about(self.operation_id).values()
        return {names[0]: names[1:] for names in made if len(names) > 1}

    @property
    def probes(self) -> ProbeNames:
        """The submissions, with repeated ones, and all look-ups."""
        looks = chain(*self.look_ups.values(), *self.named.values())
        return (*self.look_ups, *chain(*self.again.values()), *looks)

    def is_over(self, exchange: Exchange) -> bool:
        return self.status(exchange) in self.final

    def is_second(self, first: str, again: str) -> bool:
        """Tell whether a repeated submission, by its number, made a second one."""
        return first != again and (self.always_numbered or bool(first and again))

    def planned(self, context: RunContext) -> list[Exchange]:
        return [exchange for exchange in context.sent(*self.look_ups) if exchange.succeeded]

    def made_at_edges(self, context: RunContext) -> list[Exchange]:
        """Return what was accepted at edges, and what the plan submits without looking it up."""
        # By their names: recorded orders, of which each may be of a time of its own, have none.
        beside = _declared(context.contract, self.operation_id).difference(
            self.look_ups, *self.again.values()
        )

        def is_beside(exchange: Exchange) -> bool:
            is_planned = exchange.probe in beside and not exchange.reading.violations
            return exchange.probe.edge is not None or is_planned

        every = context.of(self.operation_id)
        return [exchange for exchange in every if exchange.succeeded and is_beside(exchange)]

    def made(self, context: RunContext) -> list[Exchange]:
        """Return what was accepted, each for a deposit of its own."""
        return [*self.planned(context), *self.made_at_edges(context)]

    def names_of_looks(self, submission: ProbeName) -> ProbeNames:
        """Return the names of the look-ups of a submission, in the order of time."""
        if submission in self.look_ups:
            return self.look_ups[submission]
        turns = range(1, LOOKS + 1)
        words = submission.words
        return tuple(ProbeName(f"{self.look_id}/{words}, look {turn}") for turn in turns)

    def looks(self, context: RunContext, submission: ProbeName) -> list[Exchange]:
        """Return the look-ups of a submission that were sent, in their order."""
        names = self.names_of_looks(submission)
        if submission in self.look_ups:
            return context.sent(*names)
        # What a run did with an answer at an edge no plan declares.
        return [exchange for exchange in context.of(self.look_id) if exchange.probe in names]

    def look(self, context: RunContext, made: Exchange) -> Draft:
        """Return the request that looks up what was accepted. Raises `NotRun`."""
        if self is V1_ORDER:
            # The user has the published name (sic), or that of the other operations.
            names = ("fromChain", "certHash", "evmAddres", "evmAddress")
            chain, deposit, *users = (text(made.members.get(name)) for name in names)
            about = [("from", user) for user in users if _ADDRESS.fullmatch(user)]
            return valid_request(context, self.look_id, chain=chain, hash=deposit, **dict(about))
        return valid_request(
            context, self.look_id, **{self.key.partition(".")[2]: self.number(made)}
        )

    def answered(self, context: RunContext, submission: ProbeName) -> list[Exchange]:
        return [exchange for exchange in self.looks(context, submission) if exchange.succeeded]

    def goes_on(self, context: RunContext, made: Exchange) -> bool:
        """Tell whether the last look-up shows a status, and none that it comes to rest in."""
        looks = self.answered(context, made.probe)
        return bool(looks) and self.status(looks[-1]) not in ("", *self.resting)

    def lines(self, context: RunContext) -> list[list[Exchange]]:
        """Return the successful look-ups of each. Raises where there are none at all."""
        looks = (*self.look_ups.values(), *self.named.values())
        answers = [[each for each in context.sent(*names) if each.succeeded] for names in looks]
        answers += [self.answered(context, made.probe) for made in self.made_at_edges(context)]
        if not any(answers):
            context.require_success(plain_probe(self.look_id))
        return answers

    def named_line(self, context: RunContext, number: int) -> list[Exchange]:
        """Return the successful look-ups of one that the user has named, the first being 0."""
        looks = context.sent(*[*self.named.values()][number])
        return [exchange for exchange in looks if exchange.succeeded]


ORDER = Submitted(
    "order",
    submission="deposit",
    operation_id=ids.ORDER,
    look_id=ids.CHECK,
    key="query.id",
    number=lambda made: made.text("id"),
    place="data.id",
    status=lambda exchange: exchange.text("status"),
    status_place="data.status",
    named=look_ups_of_named(ids.CHECK),
    final=ORDER_STATUSES.final,
    resting=ORDER_STATUSES.resting,
    failed=ORDER_STATUSES.failed,
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
    status=lambda exchange: text(scalar(exchange.member("data"), "status")),
    status_place="data.order.status",
    named=look_ups_of_named(ids.V1_DETAIL),
    final=V1_ORDER_STATUSES.final,
    resting=V1_ORDER_STATUSES.resting,
    failed=V1_ORDER_STATUSES.failed,
    always_numbered=False,
)
TICKET = Submitted(
    "ticket",
    submission="report",
    operation_id=ids.TICKET,
    look_id=ids.CHECK_TICKET,
    key="query.ticketId",
    number=lambda made: text(made.data.get("ticketId")),
    place="data.ticketId",
    status=lambda exchange: SOLVED if exchange.data.get("succeeded") is True else "open",
    status_place="data.succeeded",
    final=(SOLVED,),
)
_BY_OPERATION = {
    operation_id: submitted
    for submitted in (ORDER, V1_ORDER, TICKET)
    for operation_id in (submitted.operation_id, submitted.look_id)
}


@lru_cache(maxsize=8)
def _declared(contract: Contract, operation_id: str) -> frozenset[str]:
    """Return the names of the requests of an operation that the plan knows."""
    probes = probes_of(contract)
    return frozenset(probe.name for probe in probes if probe.operation_id == operation_id)


def is_over(exchange: Exchange) -> bool:
    """Tell whether an answer shows something that has come to its end, and stays as it is."""
    kind = _BY_OPERATION.get(exchange.operation.id)
    return kind is not None and exchange.succeeded and kind.is_over(exchange)


class Property(Enum):
    """What is true of every time line; a change breaks one of them."""

    ENDS_ONCE = "a status that is final stays"
    GOES_ON = "the time of the last change never goes back"
    FACTS_STAY = "what is reported of something that has come to its end stays"


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A look-up that breaks a property, after the look-up that it follows.

    `name` is the member that changed, `was` and `now` are its values.
    """

    breaks: Property
    name: str
    was: str | int
    now: str | int
    looks: tuple[Exchange, Exchange]


@dataclass(slots=True)
class Timeline:
    """The look-ups of one thing that was submitted, in their order.

    Of its status and its time it keeps the last values, of the facts that come with its end the
    first values, each with the look-up that shows it.
    """

    kind: Submitted
    _values: dict[str, tuple[str | int, Exchange]] = field(default_factory=dict)

    def value(self, name: str) -> str | int:
        """Return the value that is kept of a member; an empty text where it was never shown."""
        return self._values[name][0] if name in self._values else ""

    def follow(self, exchange: Exchange) -> list[StatusChange]:
        """Take the next successful look-up; return what it breaks."""
        now: list[tuple[Property, str, str | int]]
        now = [(Property.ENDS_ONCE, "status", self.kind.status(exchange))]
        if (time := time_of(exchange)) is not None:
            now.append((Property.GOES_ON, "timestamp", time))
        if self.kind.is_over(exchange):
            now += [(Property.FACTS_STAY, name, exchange.text(name)) for name in self.kind.facts]
        return [change for entry in now for change in self._changes(exchange, *entry)]

    def _changes(
        self, exchange: Exchange, of: Property, name: str, now: str | int
    ) -> Iterator[StatusChange]:
        was, before = self._values.get(name, (now, exchange))
        if of is not Property.FACTS_STAY or name not in self._values:
            self._values[name] = (now, exchange)
        if _BREAKS[of](self.kind, was, now):
            yield StatusChange(of, name, was, now, (before, exchange))


_BREAKS: Mapping[Property, Callable[[Submitted, Any, Any], bool]] = {
    Property.ENDS_ONCE: lambda kind, was, now: was in kind.final and now != was,
    Property.GOES_ON: lambda kind, was, now: now < was,
    Property.FACTS_STAY: lambda kind, was, now: now != was,
}


def certificate_of(order: Exchange) -> Mapping[str, Json]:
    """Return what an order of ours says of its deposit; nothing where it cannot be read."""
    try:
        paid = jsontext.decode(bytes.fromhex(str(order.members.get("sourceCerts"))))
    except ValueError:
        return {}
    return paid if isinstance(paid, Mapping) else {}


def time_of(exchange: Exchange) -> int | None:
    """Return the time of the last change in a look-up, None where that is no whole number."""
    now = exchange.data.get("timestamp")
    return now if isinstance(now, int) and not isinstance(now, bool) else None


def breaking(line: Timeline, exchange: Exchange, broken: Property) -> StatusChange | None:
    """Take the next look-up; return the change that breaks a property, None where none does."""
    return next((change for change in line.follow(exchange) if change.breaks is broken), None)


@dataclass(frozen=True, slots=True)
class StampControls:
    """What tells whether a look-up was refused for the age of its stamp: a request that is stamped
    like it, one with a stamp that is long past, and a look-up of what never was.
    """

    now: ProbeName
    stale: ProbeName
    unknown: ProbeName

    def explain(self, context: RunContext, refused: Exchange) -> bool:
        def is_like(name: ProbeName) -> bool:
            every = context.sent(name)
            return any(each.refused and refusal_of(each) == refusal_of(refused) for each in every)

        return is_like(self.stale) and not is_like(self.unknown)


def is_known(
    context: RunContext,
    operation: Operation,
    cause: str = "",
    controls: StampControls | None = None,
) -> Judgements:
    what = _BY_OPERATION[operation.id]
    for made in what.made(context):
        names = what.names_of_looks(made.probe)
        sent = what.looks(context, made.probe)
        looks = [exchange for exchange in sent if exchange.succeeded or exchange.refused]
        for number, exchange in enumerate(looks):
            yield JUDGED
            before = any(exchange.succeeded for exchange in looks[:number])
            later = any(exchange.succeeded for exchange in looks[number + 1 :])
            # A service that is busy, or shows a submission late, has not lost it; one that knew it
            # and knows it again later has somebody who does not.
            lost = before or not later
            if not (exchange.refused and lost and is_its_own(exchange)):
                continue
            if not (says_it_is_away(exchange) or is_refused_now_and_then(context, exchange)):
                # It may be about the age of the stamp that v1 requests carry.
                if controls and controls.explain(context, exchange):
                    continue
                if (
                    controls
                    and exchange.probe != names[0]
                    and not any(now.succeeded for now in context.sent(controls.now))
                ):
                    raise Inconclusive(
                        "v1 no longer accepts requests with these stamps, not even a quote"
                    )
                reason = text(exchange.member("msg"))[:160]
                was = "known" if before else "accepted"
                message = f"{what.called} {what.number(made)!r} was {was}, and is not known"
                message += f": {reason!r}" if reason else ""
                yield Finding(message, (made, exchange), what.key, cause=cause)
                break


def has_its_own_number(context: RunContext, operation: Operation, cause: str = "") -> Judgements:
    what = _BY_OPERATION[operation.id]
    exchanges: dict[str, Exchange] = {}
    called = what.place.rpartition(".")[2]
    for exchange in what.made(context):
        number = what.number(exchange).strip()
        before = exchanges.setdefault(number, exchange) if number else None
        if before is None:
            if what.always_numbered and isinstance(exchange.data.get(called), str):
                yield Finding(f"{called} is an empty text", (exchange,), what.place)
        elif before is not exchange:
            message = f"two {what.called}s have the {called} {number!r}"
            yield Finding(message, (before, exchange), what.place, cause=cause)
        elif len(exchanges) > 1:
            yield JUDGED


def is_one(context: RunContext, operation: Operation) -> Findings:
    what = _BY_OPERATION[operation.id]
    [(name, repeated)] = what.again.items()
    exchange, *_ = context.require_success(name), require_answer(context, repeated[0])
    first = what.number(exchange)
    for again in context.sent(*repeated):
        second = what.number(again)
        # Who looks deposits up by the letters as well may take others for another deposit.
        if again.probe.words == IN_ANOTHER_CASE and not _folds(context, what, first):
            continue
        if again.succeeded and what.is_second(first, second):
            message = f"one {what.submission} makes the {what.called}s {first!r} and {second!r}"
            yield Finding(message, (exchange, again), what.place)
            return


def _folds(context: RunContext, what: Submitted, number: str) -> bool:
    """Tell whether what was submitted is found by its deposit in other letters."""
    look = context.get(ProbeName(f"{what.look_id}/{IN_ANOTHER_CASE}"))
    shown = scalar(look.member("data"), "number") if look is not None and look.succeeded else None
    return bool(number) and text(shown) == number


def keeps_its_end(context: RunContext, operation: Operation, cause: str = "") -> Judgements:
    what = _BY_OPERATION[operation.id]
    for looks in what.lines(context):
        line = Timeline(what)
        for exchange in looks:
            change = breaking(line, exchange, Property.ENDS_ONCE)
            if change is not None:
                now = str(change.now)[:60]
                message = f"the {what.called} was {change.was!r}, and is {now!r} later"
                yield Finding(message, change.looks, what.status_place, cause=cause)
                break
            if what.is_over(exchange):
                yield JUDGED


def pays_nothing_where_it_failed(context: RunContext, operation: Operation) -> Judgements:
    what = _BY_OPERATION[operation.id]
    for exchange in chain(*what.lines(context)):
        status, data = what.status(exchange), exchange.member("data")
        if status not in what.failed:
            continue
        yield JUDGED
        paid, payout = scalar(data, "paid"), text(scalar(data, "payout"))
        # What was to be paid may stay there; a transaction without an amount may have reverted.
        if amounts.number(paid) and payout:
            message = f"the {what.called} is {status!r}, and pays {paid} by {payout[:70]!r}"
            yield Finding(message, (exchange,), what.status_place)
            return
