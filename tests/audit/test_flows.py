"""What the audit says of flows that were written from the interface description alone."""

import pytest

from tests.audit.flows.payer import Flow, Payer
from tests.audit.flows.right import BOOK as RIGHT
from tests.audit.flows.wrong import BOOK as WRONG
from tests.conftest import Client


def findings(flow: Flow[Payer], mock: Client) -> set[str]:
    """Play a flow and return the kinds that the audit finds."""
    # A question about a world that nobody has used makes none.
    mock.control("GET", "/clock")
    flow.play(Payer(mock))
    answer = mock.get("/__mock/audit")
    # A flow that sends nothing has no world, and asking makes none.
    return {item["kind"] for item in answer.json.get("findings", ())}


@pytest.mark.parametrize("flow", WRONG.flows, ids=lambda flow: flow.name)
def test_what_is_wrong_is_named(flow: Flow[Payer], mock: Client) -> None:
    named = findings(flow, mock)
    assert named & flow.kinds, f"{flow.wrong}: {sorted(named) or 'nothing'} was found"


@pytest.mark.parametrize("flow", RIGHT.flows, ids=lambda flow: flow.name)
def test_what_is_right_is_not_accused(flow: Flow[Payer], mock: Client) -> None:
    assert findings(flow, mock) == set()


def test_there_are_enough_of_both() -> None:
    assert len(WRONG.flows) >= 40
    assert len(RIGHT.flows) >= 40
