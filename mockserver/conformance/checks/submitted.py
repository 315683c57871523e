"""What is true of whatever was submitted: of both generations, for rules and sequences alike."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery.listing import text
from mockserver.conformance.discovery.settling import ORDER_STATUSES, V1_ORDER_STATUSES
from mockserver.conformance.discovery.v1_data import scalar
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Inconclusive


@dataclass(frozen=True, slots=True)
class Submitted:
    """Something that is submitted and then looked at: how its number and its status are read.

    `submission` is how sending it is called, and `many` how a finding about two of them begins.
    `number` reads an answer to a submission, and `place` is where it stands there; `shown` tells
    that every answer has to show it. `status` reads a look, and those in `final` never change, nor
    do the `facts` that are told with them.
    """

    operation_id: str
    submission: str
    many: str
    number: Callable[[Exchange], str]
    place: str
    status: Callable[[Exchange], str]
    final: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    shown: bool = True

    def is_over(self, look: Exchange) -> bool:
        """Tell whether a look shows that it has come to its end."""
        return self.status(look) in self.final

    def left_its_end(self, before: str, now: str) -> bool:
        """Tell whether a status follows a final one that is another."""
        return before in self.final and now != before

    def is_second(self, first: str, again: str) -> bool:
        """Tell whether the number that the same submission got again is that of a second one."""
        return first != again and (self.shown or bool(first and again))

    def twice(self, context: RunContext) -> Iterator[Finding]:
        """Yield a finding where the same submission, sent twice, makes two.

        Raises `NotRun` where it was not sent twice, `Inconclusive` where it was not answered.
        """
        one = context.require_success(f"{self.operation_id}/usual")
        again = context.require(f"{self.operation_id}/same again")
        if not again.whole:
            what = f"the second {self.submission} was not answered"
            raise Inconclusive(f"{what}: {again.answer.reason}")
        numbers = self.number(one), self.number(again)
        if again.succeeded and self.is_second(*numbers):
            message = f"{self.many} {numbers[0]!r} and {numbers[1]!r}"
            yield Finding(message, (one, again), self.place)


ORDER = Submitted(
    "v2.submitOrder",
    submission="submission",
    many="one deposit makes the orders",
    number=lambda made: made.text("id"),
    place="data.id",
    status=lambda look: look.text("status"),
    final=ORDER_STATUSES.final,
    facts=("execHash", "amountOut", "reason"),
)
V1_ORDER = Submitted(
    "v1.submitCrossChain",
    submission="submission",
    many="one deposit makes the orders",
    number=lambda made: text(scalar(made.member("data"), "number")),
    place="data.sn",
    status=lambda look: text(scalar(look.member("data"), "status")),
    final=V1_ORDER_STATUSES.final,
    shown=False,
)
TICKET = Submitted(
    "v2.submitTicket",
    submission="report",
    many="one report makes the tickets",
    number=lambda made: text(made.data.get("ticketId")),
    place="data.ticketId",
    status=lambda look: "Succeeded" if look.data.get("succeeded") is True else "",
)
