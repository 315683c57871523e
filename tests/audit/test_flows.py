"""What the audit says of flows that were written from the interface description alone."""

from typing import Any

import pytest

from tests.audit.flows.payer import Book, Flow, Payer
from tests.audit.flows.right import BOOK as RIGHT
from tests.audit.flows.wrong import BOOK as WRONG
from tests.conftest import Client

NOT_YET = """
a_gift
believes_a_failed_order
believes_a_refund
believes_a_refund_to_be_one
believes_another_amount
believes_what_arrived
files_an_insoluble_ticket
gives_up_a_stuck_order
leaves_a_stalled_order
looks_once_at_an_order_that_fails
never_follows_its_ticket
never_looks_at_a_dropped_order
never_looks_at_a_stuck_order
never_pays_what_is_expected
orders_a_hash_for_two_recipients
orders_a_token_call_without_transfer
orders_the_approval
pays_a_stranger
pays_a_tenth
pays_a_tenth_of_the_coin
pays_again_on_another_road
pays_again_on_another_road_after_a_lost_answer
pays_coin_for_token
pays_coin_to_a_stranger
pays_in_other_decimals
pays_on_other_chain
pays_other_token
pays_out_on_another_chain
pays_ten_times
pays_the_zero_address
pays_twice_what_is_expected_once
pays_twice_what_is_expected_twice
pays_what_is_expected
pays_without_a_quote
quotes_and_pays_again_when_slow
restarts_before_the_submission
retries_after_a_refusal
sends_a_tenth_of_what_is_expected
sends_to_another_person
submits_again_during_an_outage
submits_late
swaps_to_a_stranger
takes_a_part_for_all
the_first_is_lost_and_submitted_after_the_second
the_first_is_refused_and_submitted_after_the_second
three_quotes_then_three_sends
v1_pays_a_stranger
""".split()
"""Flows of which the audit says nothing yet, or something wrong."""


def parameters(book: Book) -> list[Any]:
    """Return the flows of a book, those of which is known that they fail with a mark."""
    fails = pytest.mark.xfail(strict=True)
    return [
        pytest.param(flow, id=flow.name, marks=[fails] if flow.name in NOT_YET else [])
        for flow in book.flows
    ]


def findings(flow: Flow, mock: Client) -> set[str]:
    """Play a flow and return the kinds that the audit finds."""
    flow.play(Payer(mock))
    return {item["kind"] for item in mock.control("GET", "/audit")["findings"]}


@pytest.mark.parametrize("flow", parameters(WRONG))
def test_what_is_wrong_is_named(flow: Flow, mock: Client) -> None:
    named = findings(flow, mock)
    assert named & flow.kinds, f"{flow.wrong}: {sorted(named) or 'nothing'} was found"


@pytest.mark.parametrize("flow", parameters(RIGHT))
def test_what_is_right_is_not_accused(flow: Flow, mock: Client) -> None:
    assert findings(flow, mock) == set()


def test_there_are_enough_of_both() -> None:
    assert len(WRONG.flows) >= 40
    assert len(RIGHT.flows) >= 40
