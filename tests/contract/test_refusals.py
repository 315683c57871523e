"""Every way the engine and the server say no is in the register, and means the same there."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import mockserver
from mockserver import jsontext
from mockserver.contract import load
from mockserver.contract.operation import refusal_near
from mockserver.engine.refusal import REFUSALS, Refusal
from mockserver.responders.refusal_answers import Refuser

REGISTER = load().refusals


@pytest.mark.parametrize("name", sorted(REFUSALS))
def test_every_refusal_of_the_engine_is_registered(name):
    assert REGISTER[name].meaning


def test_the_engine_knows_no_other_refusal():
    with pytest.raises(KeyError):
        Refusal("surprise", "because")


def test_every_refusal_the_server_names_is_registered():
    named = {name for path in _modules() for name in _refused(ast.parse(path.read_text("utf-8")))}
    assert {"unknown-path", "wrong-method", "not-recorded", "internal-error"} <= named
    assert named <= set(REGISTER)


@pytest.mark.parametrize("rule", REGISTER.values(), ids=lambda rule: rule.name)
def test_a_refusal_is_no_success_in_either_generation(rule):
    assert rule.words["v1"].code not in (0, 200)
    assert rule.words["v2"].code != 0
    assert rule.words["v1"].status is not None


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_a_reason_is_written_as_any_text_is(dialect):
    contract = load(dialect)
    for generation in contract.generations.values():
        for told in (generation, replace(generation, failure={"data": "none", "reason": "none"})):
            refuser = Refuser(contract)
            for rule in contract.refusals.values():
                for reason in ("", "why", 'an "odd"\n\\ one\0', "\xe9 \u20ac \U0001f600 \ud800"):
                    body = refuser.refuse(told, rule.name, reason).body
                    assert body == jsontext.encode(told.refusal(rule, reason))


def _modules():
    root = Path(mockserver.__file__).parent
    return [path for folder in ("server", "responders") for path in (root / folder).rglob("*.py")]


def _refused(tree):
    """Yield the name in every call of a method named refuse, where it is a literal.

    It is the first or the second argument; names have no blanks.
    """
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "refuse"
        ):
            yield from (
                one.value
                for one in node.args[:2]
                if isinstance(one, ast.Constant) and " " not in str(one.value)
            )


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("stale-timestamp", "expired"),
        ("Timestamp-Expired", "expired"),
        ("timestamp-in-the-future", "timestamp-ahead"),
        ("address-invalid", "bad-address"),
        ("unknown-chian", "unknown-chain"),
        ("path-unknown", "unknown-path"),
    ],
)
def test_a_refusal_is_suggested_by_what_people_call_it(name, meant):
    assert refusal_near(name, REGISTER) == f"; did you mean {meant!r}?"


def test_nothing_is_suggested_for_what_is_like_no_refusal():
    assert refusal_near("zebra", REGISTER) == ""


def test_no_other_name_of_a_refusal_is_that_of_one():
    others = [other for rule in REGISTER.values() for other in rule.also]
    assert len(others) == len(set(others))
    assert not set(others) & set(REGISTER)
