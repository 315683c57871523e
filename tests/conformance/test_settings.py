"""Options of a run by friendly names: what they become, and what is refused."""

from datetime import timedelta
from decimal import Decimal

import pytest

from mockserver.conformance import Options, UnsafeOrWrong
from mockserver.conformance.result import INTERRUPTED, Result
from mockserver.conformance.runs.api import raise_if_interrupted
from mockserver.conformance.runs.option_reading import RunOptions, options_of
from mockserver.conformance.runs.run_journal import journalled
from mockserver.conformance.session.target import Target
from mockserver.contract import load


def test_nothing_given_is_the_careful_default():
    assert options_of({}) == Options()


def test_names_become_options():
    given: RunOptions = {
        "seed": 7,
        "budget": 20,
        "rate": 2.5,
        "time": "10m",
        "request_time": timedelta(seconds=3),
        "allow_hosts": "example.org",
        "confirm_hosts": ["example.org"],
        "arm_writes": True,
        "most_writes": 2,
        "app_key": "key",
        "app_secret": "secret",
        "only": ("schema", "v2.*"),
        "roles": {"chain name": "short"},
    }
    options = options_of(given)
    assert (options.seed, options.budget, options.rate) == (7, 20, Decimal("2.5"))
    assert (options.time_ms, options.request_ms) == (600_000, 3_000)
    assert (options.hosts, options.arming.confirmed) == (("example.org",), ("example.org",))
    assert (options.arming.writes, options.arming.most) == (True, 2)
    assert (options.caller.app_key, options.caller.own_keys) == ("key", True)
    assert options.only == ("schema", "v2.*")
    assert options.bindings.roles == {"chain name": "short"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sed": 1}, "'sed' is no option of a run; did you mean 'seed'"),
        ({"seed": -1}, "seed: expected a whole number from 0, got -1"),
        ({"seed": True}, "seed: expected a whole number from 0, got True"),
        ({"budget": 0}, "budget: expected a whole number from 1, got 0"),
        ({"rate": "fast"}, "rate: expected requests a second from 0.001 to 10000, got 'fast'"),
        ({"rate": 0}, "rate: expected requests a second from 0.001 to 10000, got 0"),
        ({"timestamp": "noon"}, "timestamp: 'noon' is no time"),
        ({"bindings": 3}, "bindings: expected the name of a file, got 3"),
        ({"time": "soon"}, "time: 'soon' is no duration"),
        ({"time": 5}, "time: expected a time such as '10m' or '1.5s', of 1 ms or more, got 5"),
        ({"arm_writes": "yes"}, "arm_writes: expected True or False, got 'yes'"),
        ({"allow_hosts": 5}, "allow_hosts: expected texts, got 5"),
        ({"roles": {"a": 1}}, "roles: expected texts by name"),
        ({"app_key": "key"}, "app_key and app_secret belong together"),
    ],
)
def test_what_is_wrong_is_a_sentence(given, words):
    with pytest.raises(UnsafeOrWrong, match=words):
        options_of(given)


def test_a_secret_of_a_wrong_type_is_not_repeated():
    with pytest.raises(UnsafeOrWrong) as caught:
        options_of({"app_key": "key", "app_secret": ["hush"]})
    assert "hush" not in str(caught.value)


def test_a_journal_is_begun_or_resumed_but_not_both(tmp_path):
    target = Target("http://127.0.0.1:9", None)
    with (
        pytest.raises(UnsafeOrWrong, match="not both"),
        journalled(target, Options(), journal=tmp_path / "a", resume=tmp_path / "b"),
    ):
        pass


def test_an_interruption_reaches_the_caller():
    result = Result(load(), Target("http://127.0.0.1:9", None), 1, (), (), {})
    assert raise_if_interrupted(result) is result
    with pytest.raises(KeyboardInterrupt):
        raise_if_interrupted(Result(load(), result.target, 1, (), (), {}, notes=(INTERRUPTED,)))
