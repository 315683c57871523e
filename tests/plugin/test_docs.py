"""The tutorial is true beyond its blocks, which tests/docs runs."""

import re
from pathlib import Path

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial" / "pytest.md"


def test_every_method_that_the_tutorial_names_exists(world):
    for name in set(re.findall(r"crosschain_mock\.(\w+)", TUTORIAL.read_text("utf-8"))):
        assert hasattr(world, name), name
