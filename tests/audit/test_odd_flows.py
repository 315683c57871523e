"""What the audit says of flows in odd surroundings, written from the description alone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.audit.flows.odd import BOOK
from tests.audit.flows.payer import Flow, Payer
from tests.audit.flows.right import BOOK as PLAIN_RIGHT
from tests.audit.flows.surroundings import DECIMALS, Mover, Uprooted, moving
from tests.audit.flows.wrong import BOOK as PLAIN_WRONG
from tests.conftest import Client

WRONG = [flow for flow in BOOK.flows if flow.wrong]
RIGHT = [flow for flow in BOOK.flows if not flow.wrong]


@pytest.fixture
def mover(tmp_path: Path) -> Iterator[Mover]:
    scenario = tmp_path / "decimals.yaml"
    scenario.write_text(json.dumps(DECIMALS))
    with moving(tmp_path, settings={"scenario": str(scenario)}) as payer:
        yield payer


def findings(flow: Flow[Mover] | Flow[Payer], mover: Mover) -> dict[str, str]:
    """Play a flow and return what the audit finds where it has ended, by its kind."""
    mover.client.control("GET", "/clock")
    flow.play(mover)
    listed = mover.client.control("GET", "/audit")["findings"]
    return {finding["kind"]: finding["told"] for finding in listed}


@pytest.mark.parametrize("flow", WRONG, ids=lambda flow: flow.name)
def test_what_is_wrong_is_named(flow: Flow[Mover], mover: Mover) -> None:
    named = findings(flow, mover)
    assert named.keys() & flow.kinds, f"{flow.wrong}: {named or 'nothing'} was found"


@pytest.mark.parametrize("flow", RIGHT, ids=lambda flow: flow.name)
def test_what_is_right_is_not_accused(flow: Flow[Mover], mover: Mover) -> None:
    assert findings(flow, mover) == {}


SAMPLE = 12
"""Of how many plain flows each the quick suite plays one in odd surroundings."""


REFUSED_BEFORE = {
    "retries_after_a_refusal": ("fork", "load"),
    "the_first_is_refused_and_submitted_after_the_second": ("fork", "load", "forget"),
}
"""Flows that are accused all the same, and where: a deposit that no chain shows was refused before,
which nothing says any more, and is submitted again when a quote of then would be too old."""


def plain(*books: list[Flow[Payer]]) -> list[object]:
    """Return the flows of books, most of them for a deep run."""
    flows = [flow for book in books for flow in book]
    return [
        pytest.param(flow, id=flow.name, marks=[] if place % SAMPLE == 0 else pytest.mark.deep)
        for place, flow in enumerate(flows)
    ]


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("flow", plain(PLAIN_WRONG.flows, PLAIN_RIGHT.flows))
def test_a_restart_changes_no_verdict(flow: Flow[Payer], late: bool, tmp_path: Path) -> None:
    with moving(tmp_path, Uprooted, late=late) as payer:
        named = findings(flow, payer)
    assert bool(named.keys() & flow.kinds) == bool(flow.wrong), named
    assert flow.wrong or not named


@pytest.mark.parametrize("move", ["fork", "load", "forget"])
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("flow", plain(PLAIN_RIGHT.flows))
def test_nothing_right_is_accused_where_its_past_is_elsewhere(
    flow: Flow[Payer], late: bool, move: str, mock: Client
) -> None:
    if late and move in REFUSED_BEFORE.get(flow.name, ()):
        pytest.skip("what the other journal had cannot be told")
    payer = Uprooted(mock, world=mock.prefix.removeprefix("/w/"), late=late, move=move)
    mock.control("GET", "/clock")
    try:
        assert findings(flow, payer) == {}
    finally:
        mock.control("DELETE", f"/worlds/{payer.world}")
