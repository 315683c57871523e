"""Drift in one call for tests, and as text, JSON, JUnit XML, or a test that finds it again."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from mockserver import jsontext
from mockserver.contract import Contract, load
from mockserver.learning.drift import Change, Drift, Level, drift
from mockserver.learning.requesting import NoAnswers, not_all_answered, requested_again
from mockserver.recordings import gather
from mockserver.wording import counted


def compared(
    old: Sequence[str | Path],
    new: str | Path | Sequence[str | Path],
    contract: Contract,
    hosts: tuple[str, ...] = (),
) -> tuple[Drift, NoAnswers | None]:
    """Return how recordings differ from newer ones, or from what a service at an address answers.

    With it comes the error of a service that left some requests without an answer. Raises
    `InvalidFile`, `NoAnswers` and `UnsafeOrWrong`.
    """
    before, unanswered = gather(old), list[str]()
    if isinstance(new, str) and new.startswith(("http://", "https://")):
        after = requested_again(before, new, contract, hosts, unanswered)
        silent = not_all_answered(new, unanswered) if unanswered else None
        return drift(before, after, contract), silent
    after = gather([new] if isinstance(new, str | Path) else new)
    return drift(before, after, contract), None


def drift_of(
    old: str | Path | Sequence[str | Path],
    new: str | Path | Sequence[str | Path],
    dialect: str = "observed",
    hosts: tuple[str, ...] = (),
) -> tuple[Change, ...]:
    """Return what changed between recordings, each a shipped name, a file or a folder.

    `new` may be the base address of a service; `hosts` allows one that is not this machine. Raises
    what `compared` does, and `NoAnswers` where the service left any request without an answer.
    """
    before = [old] if isinstance(old, str | Path) else old
    found, silent = compared(before, new, load(dialect), hosts)
    if silent is not None:
        raise silent
    return found.changes


_TEST_TEMPLATE = '''\
"""What has changed in the answers of a service: each test fails for as long as it is so."""

import os

import pytest

from mockserver.learning.drifting import drift_of

OLD = {old}
NEW = os.environ.get("RECORDINGS", {new})
DIALECT = {dialect}
HOSTS = {hosts}


@pytest.fixture(scope="module")
def changes():
    """What has changed, as `crosschain-mock recordings drift` says it."""
    return drift_of(OLD, NEW, DIALECT, HOSTS)


@pytest.mark.parametrize(
    ("operation", "place", "kind"),
    [
{rows}    ],
)
def test_is_as_it_was(changes, operation, place, kind):
    wanted = operation, place, kind
    found = [str(one) for one in changes if (one.operation, one.place, one.kind) == wanted]
    assert not found, found[0]
'''


def as_lines(found: Drift) -> Iterator[tuple[Level | None, str]]:
    """Yield the lines of the text, those of changes with their level."""
    for level in Level:
        changes = [change for change in found.changes if change.level is level]
        if changes:
            yield level, f"{level} ({len(changes)})"
        for change in changes:
            yield None, f"  {change}"
            yield None, f"    seen in {change.example}"
    total = counted(len(found.changes), "change") if found.changes else "nothing has changed"
    yield None, f"{total} in {counted(len(found.compared), 'operation')} that both show"
    for names, side in ((found.only_old, "old"), (found.only_new, "new")):
        if names:
            yield None, f"only in the {side} recordings: {', '.join(names)}"


def as_facts(found: Drift) -> dict[str, Any]:
    """Return the drift as data."""
    changes = [jsontext.members_of(change) for change in found.changes]
    return {**jsontext.members_of(found), "changes": changes}


def as_junit(found: Drift, least: str) -> str:
    """Return the drift as XML: a testcase an operation, a failure a change of that level."""
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", name="drift", errors="0")
    every = found.failing(least)
    for operation in found.compared:
        case = SubElement(suite, "testcase", classname="drift", name=operation)
        mine = [change for change in found.changes if change.operation == operation]
        failing = [change for change in every if change.operation == operation]
        for one in failing:
            failure = SubElement(case, "failure", message=str(one), type=one.kind)
            failure.text = f"seen in {one.example}"
        if len(failing) < len(mine):
            milder = "\n".join(str(one) for one in mine if one not in failing)
            SubElement(case, "system-out").text = milder
    suite.attrib |= {"tests": str(len(suite)), "failures": str(len(every))}
    text: str = tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'


def as_test(found: Drift, old: str, new: str, dialect: str, hosts: tuple[str, ...] = ()) -> str:
    """Return a pytest file that fails for as long as what has changed stays changed."""
    rows = "".join(
        f"        ({', '.join(map(json.dumps, (one.operation, one.place, one.kind)))}),\n"
        for one in found.changes
    )
    names = {"old": json.dumps(old), "new": json.dumps(new), "dialect": json.dumps(dialect)}
    return _TEST_TEMPLATE.format(rows=rows, hosts=hosts, **names)
