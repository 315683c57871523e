"""A name that the fixture does not have, and a marker that does not exist, say what is right."""

import copy
import pickle

import pytest

from mockserver.testing import MockWorld
from mockserver.testing.near_misses import _SYNONYMS

pytest_plugins = ["pytester"]

WRONG = {
    "advance": "it is crosschain_mock.clock.advance",
    "assert_audit": "it is crosschain_mock.audit",
    "assert_called": "use crosschain_mock.verify(",
    "steer": "it is crosschain_mock.orders.steer",
    "wait": "use crosschain_mock.clock.advance(seconds=15)",
    "freeze": "use crosschain_mock.clock.switch('frozen')",
    "assert_no_findings": "use crosschain_mock.audit()",
    "scenario": "@pytest.mark.crosschain_mock(scenario=…) sets it, and settings.scenario has it",
    "breaks": "@pytest.mark.crosschain_mock(breaks=…) sets it",
    "suspnd": "did you mean 'suspend'?",
    "zzz": "there is announce, at, audit, ",
    "clock.forward": "use crosschain_mock.clock.advance(minutes=5)",
    "clock.suspend": "it is crosschain_mock.suspend",
    "clock.advnce": "did you mean 'advance'?",
    "orders.set": "use crosschain_mock.orders.force(",
    "orders.advance": "it is crosschain_mock.clock.advance",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_name_that_is_elsewhere_says_where(crosschain_mock, name):
    *path, last = name.split(".")
    view = crosschain_mock
    for part in path:
        view = getattr(view, part)
    with pytest.raises(AttributeError) as raised:
        getattr(view, last)
    assert str(raised.value).startswith(f"crosschain_mock.{name} does not exist")
    assert WRONG[name] in str(raised.value)


def test_every_place_that_is_proposed_exists(crosschain_mock):
    for meant in _SYNONYMS.values():
        first = meant.partition(" or ")[0].partition(",")[0].partition("(")[0].partition("[")[0]
        view: object = crosschain_mock
        for part in first.split("."):
            view = getattr(view, part)


def test_private_names_are_refused_as_python_does(crosschain_mock):
    assert not hasattr(crosschain_mock, "__html__")
    assert not hasattr(MockWorld.__new__(MockWorld), "_url")
    with pytest.raises((TypeError, pickle.PicklingError)):
        pickle.dumps(crosschain_mock)
    with pytest.raises(TypeError):
        copy.deepcopy(crosschain_mock)


WITHOUT_WORLD = "def test_it():"
WITH_WORLD = "def test_it(crosschain_mock):"
UNKNOWN_MARKS_PASS = ("-W", "ignore::pytest.PytestUnknownMarkWarning")


@pytest.mark.parametrize("head", [WITH_WORLD, WITHOUT_WORLD])
@pytest.mark.parametrize(
    ("marker", "told"),
    [
        ('crosschain_mok(scenario="outage")', "'crosschain_mok' is no marker; did you mean"),
        ("crosschainmock", "'crosschainmock' is no marker; did you mean 'crosschain_mock'?"),
        ("Crosschain_Mock", "'Crosschain_Mock' is no marker; did you mean 'crosschain_mock'?"),
        ("crosschain_mock_settings", "'crosschain_mock_settings' is no marker; did you mean"),
        ('crosschain(audit="all")', "'crosschain' is no marker; did you mean 'crosschain_mock'?"),
        ('crosschain_mock("outage")', "the marker crosschain_mock takes settings by name"),
        ('crosschain_mock(scenaro="outage")', "'scenaro' is no setting; did you mean 'scenario'?"),
        ('crosschain_mock(scenario="outge")', "'outge' is no shipped scenario"),
        ('crosschain_mock(clock="frozn")', "clock: 'frozn' is none of "),
        ('crosschain_mock(dialect="observd")', "unknown dialect 'observd'; did you mean"),
        ('crosschain_mock(breaks="no-such")', "breaks: "),
        ('crosschain_mock(audit="two-ordrs")', "audit: "),
    ],
)
def test_a_mistyped_marker_fails_a_test_with_a_world_or_without(project, marker, told, head):
    ended = project(f"@pytest.mark.{marker}\n{head} pass", *UNKNOWN_MARKS_PASS)
    ended.assert_outcomes(errors=1)
    ended.stdout.fnmatch_lines([f"*{told}*"])
    ended.stdout.no_fnmatch_line("*Traceback*")


def test_other_markers_are_left_alone(project, pytester):
    pytester.makeini("[pytest]\nmarkers =\n    crosschain_mocks: of the project itself\n")
    project(
        f"""
@pytest.mark.crosschain_mocks
{WITH_WORLD} pass

@pytest.mark.crosschain
@pytest.mark.crosschain_smoke
@pytest.mark.mock(scenario="outage")
@pytest.mark.slow
def test_of_the_project():
    pass

@pytest.mark.crosschain_mock(scenario="outage", audit="all", clock="auto", state=None)
class TestOfBoth:
    def test_without_a_world(self):
        pass

    def test_with_one(self, crosschain_mock):
        crosschain_mock.clock.advance(minutes=5)
        get(crosschain_mock, "/v1/getChain")

@pytest.mark.crosschain_mok
@pytest.mark.skip
def test_that_does_not_run():
    pass
""",
        *UNKNOWN_MARKS_PASS,
    ).assert_outcomes(passed=4, skipped=1)
