"""No mode sends a submission that was not armed, and none more than the cap; the server counts."""

from dataclasses import replace

import pytest

from mockserver import conformance
from mockserver.conformance import comparison
from mockserver.conformance.options import Options
from mockserver.conformance.runs.runner import run
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.contract import load
from mockserver.testing import running

WRITES = [operation.id for operation in load() if operation.writes]
pytestmark = pytest.mark.usefixtures("tables")
GENERATED = ("v2.getPrice", "v2.submitTicket", "v1.submitCrossChain", "v2.submitOrder")
MODES = {
    "the plan": Options(),
    "another dialect": Options(dialect="observed", only=("stateful", "protocol")),
    "a small budget": Options(budget=20, only=("schema", "stateful")),
    "only submissions": Options(only=("v2.submitOrder", "v2.submitTicket", "v1.submitCrossChain")),
    "generated requests": Options(examples=3, only=GENERATED),
    "sequences": Options(sequences=2, only=("stateful",)),
    "Schemathesis": Options(deep=1, only=("v2.getPrice", "v2.submitTicket")),
}


@pytest.fixture(scope="module")
def world():
    with running(clock="auto", refusals="allow") as mock, mock.world("safety") as world:
        yield world


def arrived(world):
    """How many submissions came, whatever was answered."""
    with world.hosted() as hosted:
        entries = list(hosted.journal)
        hosted.journal.clear()
    assert entries, "nothing came at all"
    return sum(entry.operation in WRITES for entry in entries), len(entries)


@pytest.mark.parametrize("options", MODES.values(), ids=MODES)
@pytest.mark.deep(quick=3)
def test_no_submission_leaves_unarmed(world, options):
    result = run(Target(world.base_url, world.base_url), options)
    submissions, all_of_them = arrived(world)
    assert submissions == 0
    assert all_of_them == result.requests
    assert [result.sent[operation] for operation in WRITES] == [0, 0, 0]


@pytest.mark.parametrize(
    ("mode", "cap"),
    [
        ("the plan", 1),
        ("only submissions", 0),
        ("only submissions", 5),
        ("generated requests", 2),
        ("sequences", 3),
        ("Schemathesis", 1),
    ],
)
@pytest.mark.deep(quick=3)
def test_armed_submissions_stay_within_the_cap(world, mode, cap):
    options = replace(MODES[mode], arming=Arming(writes=True, most=cap))
    result = run(Target(world.base_url, world.base_url), options)
    submissions, all_of_them = arrived(world)
    assert submissions <= cap
    assert submissions == result.submissions
    assert all_of_them == result.requests
    if mode in ("the plan", "only submissions"):
        assert submissions == cap


def test_comparing_two_services_submits_nothing(world):
    comparison.compare(world.base_url, world.base_url, Options(only=("stateful",)))
    assert arrived(world)[0] == 0


def test_the_friendly_interface_submits_nothing(world):
    conformance.run(world.base_url, only="stateful")
    assert arrived(world)[0] == 0


@pytest.mark.parametrize("options", [Options(), Options(examples=1), Options(deep=1)])
def test_a_host_that_nobody_named_gets_nothing(options):
    # The name does not exist; reaching for it would take time and fail in another way.
    target = Target("http://service.invalid", "http://service.invalid")
    with pytest.raises(UnsafeOrWrong, match="--allow-host"):
        run(target, options)


def test_a_named_host_gets_no_submission_before_its_name_is_typed_again():
    target = Target("http://service.invalid", "http://service.invalid")
    armed = Options(hosts=("service.invalid",), arming=Arming(writes=True))
    with pytest.raises(UnsafeOrWrong, match="--set confirm-host="):
        run(target, armed)
