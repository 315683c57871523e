"""Every way the engine and the server say no is in the register, and means the same there."""

import ast
from pathlib import Path

import pytest

import mockserver
from mockserver.contract import load
from mockserver.engine.refusal import REFUSALS, Refusal

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
    assert rule.sayings["v1"].code not in (0, 200)
    assert rule.sayings["v2"].code != 0
    assert rule.sayings["v1"].status is not None


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
