"""What the package stands on is bounded where versions break, and held against known weaknesses."""

import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WORKFLOWS = ROOT / ".github" / "workflows"
_BOUNDS = ("<", "<=", "==", "~=")
UNBOUNDED = {
    # Nobody says which of their next versions breaks: the first number never or always changes.
    *("hypothesis", "orjson", "uvloop"),
}


def bounded(requirement: str) -> bool:
    return any(
        one.operator in ("<", "<=", "==", "~=") for one in Requirement(requirement).specifier
    )


def required() -> list[str]:
    project = PROJECT["project"]
    extras = project["optional-dependencies"].values()
    return sorted({*project["dependencies"], *(one for extra in extras for one in extra)})


@pytest.mark.parametrize("requirement", required())
def test_what_users_install_has_an_upper_bound(requirement):
    assert bounded(requirement) is (Requirement(requirement).name not in UNBOUNDED)


def test_the_library_that_signatures_are_held_against_has_an_upper_bound():
    [oracle] = [
        one for one in PROJECT["dependency-groups"]["test"] if one.startswith("eth-account")
    ]
    assert bounded(oracle)


def test_what_makes_a_server_faster_is_there_for_the_tests():
    assert set(PROJECT["project"]["optional-dependencies"]["speed"]) <= set(
        PROJECT["dependency-groups"]["test"]
    )


@pytest.mark.parametrize(("text", "right"), [("rich>=13,<16", True), ("rich>=13", False)])
def test_a_bound_is_seen(text, right):
    assert bounded(text) is right


def test_nothing_is_published_before_dependencies_are_held_against_known_weaknesses():
    jobs = yaml.safe_load((WORKFLOWS / "release.yml").read_text("utf-8"))["jobs"]
    audit = jobs["audit"]["uses"].rpartition("/")[2]
    assert "audit" in jobs["publish"]["needs"]
    steps = yaml.safe_load((WORKFLOWS / audit).read_text("utf-8"))["jobs"]["audit"]["steps"]
    runs = [step["run"] for step in steps if "run" in step]
    extras = ",".join(PROJECT["project"]["optional-dependencies"])
    assert any(run.startswith("pip-audit") for run in runs)
    assert any(f".[{extras}]" in run for run in runs)
