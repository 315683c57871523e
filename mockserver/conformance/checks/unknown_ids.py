"""Look-ups of what nobody submitted, and tickets that are listed for an address."""

from mockserver.conformance.basis import basis_of_row
from mockserver.conformance.checks import required_members
from mockserver.conformance.checks.check_decorators import each
from mockserver.conformance.checks.judged_exchanges import require_answer
from mockserver.conformance.checks.rule import Finding, Findings, RulePack
from mockserver.conformance.checks.shared_probes import probe, probes
from mockserver.conformance.checks.tickets import entries
from mockserver.conformance.discovery.member_roles import folded, scalar, text
from mockserver.conformance.requests.probe_table import ORDER_STATUSES
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.contract import Layer, Operation, ids, shipped_facts

UNKNOWN_STATUSES = shipped_facts().names["words"]["unknown"]

_PACK = RulePack(Layer.EXCHANGE)


@_PACK.major("v2.get-all-ticket-by-address", ids.TICKETS, each=("usual",))
@each(
    RunContext.successes,
    "data.list[].address",
    vacuous="no list of tickets was given",
    requires=probes(ids.TICKETS, "usual"),
)
def tickets_are_of_the_address(_: RunContext, exchange: Exchange) -> Findings:
    """The tickets listed for an address are its own."""
    wanted = exchange.parameters.get("address", "")
    required_members.skip_unless(wanted)
    for entry in [entry for entry in entries([exchange]) if not entry.is_of(wanted)][:1]:
        address = str(entry.item["address"])
        yield Finding(f"a ticket of {address[:60]!r} is listed for {wanted!r}")


@_PACK.critical("lookups.unknown", ids.CHECK, each=("unknown", "hostile text"))
def unknown_order_is_not_succeeded(context: RunContext, operation: Operation) -> Findings:
    """What was never submitted has not succeeded."""
    return unknown_is_not_succeeded(context, operation)


@_PACK.major("lookups.unknown", ids.CHECK_TICKET, each=("unknown", "hostile text"))
def unknown_ticket_is_not_succeeded(context: RunContext, operation: Operation) -> Findings:
    """What was never submitted has not succeeded."""
    return unknown_is_not_succeeded(context, operation)


def unknown_is_not_succeeded(context: RunContext, operation: Operation) -> Findings:
    exchange = require_answer(context, probe(operation, "unknown"))
    # The hostile text is sent as an id only where it might be mistaken for a submission.
    for look_up in (exchange, *context.sent(probe(operation, "hostile text"))):
        # What is no success has no data.
        status, done = look_up.data.get("status"), look_up.data.get("succeeded")
        what, query = "an id that nobody submitted is reported", look_up.request.query[:80]
        if (is_paid := status == ORDER_STATUSES.paid) or done is True:
            place = "data.status" if is_paid else "data.succeeded"
            basis = basis_of_row(look_up.operation)
            yield Finding(f"{what} as succeeded: {query}", (look_up,), place, basis)
        elif done is False or (isinstance(status, str) and folded(status) not in UNKNOWN_STATUSES):
            place = "data.status" if isinstance(status, str) else "data.succeeded"
            yield Finding(f"{what} like one that was: {query}", (look_up,), place, cause="told of")


@_PACK.critical("lookups.unknown", ids.V1_DETAIL, each=("unknown",))
def unknown_v1_order_is_not_shown(context: RunContext, operation: Operation) -> Findings:
    """A transaction without an order finds no order."""
    exchange = require_answer(context, probe(operation, "unknown"))
    data = exchange.member("data")
    members = [text(scalar(data, role)) for role in ("number", "fromToken", "fromAmount")]
    if exchange.succeeded and any(members):
        values = ", ".join(filter(None, members))[:120]
        message = f"a transaction that nobody submitted shows an order: {values}"
        yield Finding(message, (exchange,), "data")
