"""The pages are true: their Python blocks are files of a project, and its tests pass."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"```python\n# (\S+\.py)\n(.*?)```", re.DOTALL)


def written(page, folder):
    files = BLOCK.findall((DOCS / page).read_text())
    for name, source in files:
        (folder / name).write_text(source)
    return [name for name, _ in files]


@pytest.mark.parametrize(
    ("page", "passed"),
    [
        ("tutorial/pytest.md", 6),
        ("how-to/test-frameworks.md", 3),
        ("how-to/break-the-contract.md", 4),
    ],
)
def test_the_blocks_of_a_page_are_tests_that_pass(page, passed, apart, tmp_path):
    assert written(page, tmp_path)
    ended = apart(
        *("-m", "pytest", "-q", "-p", "crosschain_mock", "-p", "hypothesispytest"),
        *("-p", "no:cacheprovider", "--strict-markers"),
    )
    assert ended.returncode == 0, ended.stdout
    assert f"{passed} passed" in ended.stdout


def test_every_method_that_the_tutorial_names_exists(world):
    text = (DOCS / "tutorial/pytest.md").read_text()
    for name in set(re.findall(r"crosschain_mock\.(\w+)", text)):
        assert hasattr(world, name), name
