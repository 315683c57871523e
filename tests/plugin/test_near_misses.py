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


@pytest.mark.parametrize("marker", ["crosschain_mok", "crosschainmock"])
def test_a_mistyped_marker_fails_the_test(project, marker):
    ended = project(
        f"""
@pytest.mark.{marker}(scenario="outage")
def test_it(crosschain_mock):
    pass
""",
        "-W",
        "ignore::pytest.PytestUnknownMarkWarning",
    )
    ended.assert_outcomes(errors=1)
    ended.stdout.fnmatch_lines([f"*'{marker}' is no marker; did you mean 'crosschain_mock'?*"])


def test_a_marker_of_the_project_that_is_alike_is_left_alone(project, pytester):
    pytester.makeini("[pytest]\nmarkers =\n    crosschain_mocks: of the project itself\n")
    project("""
@pytest.mark.crosschain_mocks
def test_it(crosschain_mock):
    pass
""").assert_outcomes(passed=1)
