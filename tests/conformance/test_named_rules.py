"""What is said of orders, tickets and accounts that somebody has named."""

import pytest

from mockserver.conformance import run
from mockserver.conformance.checks import named_orders_and_tickets
from mockserver.conformance.checks.all_rules import rules_of
from tests.blind.counting import NAMED
from tests.blind.edits import at
from tests.blind.rows import fault
from tests.blind.serve import blind_service
from tests.blind.world import ACCOUNT

CHECK, TICKET, TICKETS = "v2.checkOrder", "v2.checkTicket", "v2.getAllTicketByAddress"
DETAIL = "v1.getOrderDetailByHashAndEvmAddress"
OF_NAMED = [rule.name for rule in rules_of(named_orders_and_tickets)]


def told(faults=(), rows=(), **how):
    with blind_service(faults, rows=rows) as url:
        result = run(
            url,
            **{**NAMED, "only": OF_NAMED, "edges": False, "delivery": False, "examples": 0, **how},
        )
    return {one.id for one in result.outcomes if one.verdict.is_finding}


def test_nothing_is_told_of_a_healthy_service():
    assert told() == set()


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("check-by-part-of-an-id", f"orders-are-found-as-themselves-only[{CHECK}]"),
        ("ticket-by-part-of-an-id", f"tickets-are-found-as-themselves-only[{TICKET}]"),
        ("v1-detail-of-any-hash", f"v1-orders-are-found-as-themselves-only[{DETAIL}]"),
        ("v1-detail-on-any-chain", f"v1-orders-are-found-as-themselves-only[{DETAIL}]"),
        ("v1-detail-on-every-chain", f"v1-orders-are-found-as-themselves-only[{DETAIL}]"),
        ("check-shows-one-order-for-all", f"named-orders-are-told-apart[{CHECK}]"),
        ("check-timestamp-far-ahead", f"named-orders-are-of-the-past[{CHECK}]"),
        ("check-order-vanishes", f"orders-that-are-named-are-known[{CHECK}]"),
        ("tickets-chain-unknown", f"listed-tickets-are-on-known-chains[{TICKETS}]"),
    ],
)
def test_a_fault_is_told(name, outcome):
    assert told([name]) == {outcome}


def test_a_ticket_on_a_suspended_chain_is_no_finding():
    suspended = at("data.list.*.chain", lambda old: "FTM")
    row = fault("suspended", TICKETS, "1", "tickets on a suspended chain", after=suspended)
    assert told(rows=[row]) == set()


def many(odd):
    """Return a list of seven tickets, one of which is odd."""

    def edit(old):
        plain = [{**old[0], "ticketId": 100 + number, "note": "a"} for number in range(6)]
        return [*plain, {**plain[0], "ticketId": 200, **odd}] if old else old

    return fault("many", TICKETS, "2.3", "seven tickets", after=at("data.list", edit))


@pytest.mark.parametrize(
    ("odd", "places"), [({"note": 5}, ["data.list[].note"]), ({"note": "b"}, [])]
)
def test_the_tickets_of_one_status_have_one_form(odd, places):
    with blind_service(rows=[many(odd)]) as url:
        result = run(
            url,
            address=ACCOUNT,
            only=("tickets-have-one-form",),
            edges=False,
            delivery=False,
            examples=0,
        )
    (outcome,) = result.outcomes
    assert [one.place for one in outcome.findings] == places
