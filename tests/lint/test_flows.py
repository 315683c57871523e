"""What lint says of flows that were written from the words of the wish alone."""

import pytest

from tests.audit.flows.payer import Flow, Payer
from tests.audit.flows.right import BOOK as HEALTHY
from tests.conftest import Client
from tests.lint.flows.right import BOOK as RIGHT
from tests.lint.flows.wrong import BOOK as WRONG


def found(flow: Flow[Payer], mock: Client, level: str) -> set[str]:
    """Play a flow and return the rules of a level and worse ones that find something."""
    mock.control("POST", "/clock", {"mode": "client"})
    flow.play(Payer(mock))
    return {item["rule"] for item in mock.control("GET", f"/lint?rules={level}")["findings"]}


@pytest.mark.deep(quick=12)
@pytest.mark.parametrize("flow", WRONG.flows, ids=lambda flow: flow.name)
def test_what_is_wrong_is_named(flow: Flow[Payer], mock: Client) -> None:
    rules = found(flow, mock, "note")
    assert rules & flow.kinds, f"{flow.wrong}: {sorted(rules) or 'nothing'} was found"


@pytest.mark.deep(quick=8)
@pytest.mark.parametrize("flow", RIGHT.flows, ids=lambda flow: flow.name)
def test_what_is_right_is_not_warned(flow: Flow[Payer], mock: Client) -> None:
    assert found(flow, mock, "warn") == set()


def test_there_are_enough_of_both() -> None:
    assert len(WRONG.flows) >= 48
    assert len(RIGHT.flows) >= 25


# Payers of the audit's flows read a list of tokens once, and one of chains only if they look up
# where deposits go.
UNREAD = {"no-list-before-use", "stale-lists"}
# Its own minimum is 40 % of what is expected.
TRUE_OF = {"receives_a_part_within_the_minimum": {"no-minimum"}}


@pytest.mark.deep(quick=8)
@pytest.mark.parametrize("flow", HEALTHY.flows, ids=lambda flow: flow.name)
def test_what_the_audit_calls_well_is_not_warned(flow: Flow[Payer], mock: Client) -> None:
    assert found(flow, mock, "warn") - UNREAD == TRUE_OF.get(flow.name, set())


@pytest.mark.parametrize("name", ["submits_late", "restarts_before_the_submission"])
def test_lists_are_as_old_as_the_payment_says(mock: Client, name: str) -> None:
    [flow] = [flow for flow in HEALTHY.flows if flow.name == name]
    assert found(flow, mock, "warn") == set()
