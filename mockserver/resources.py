"""Where the shipped data lies: in a wheel, in an editable install and in a bare checkout alike."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


def schemas() -> Path:
    """Return the folder that holds the contract: the endpoint table and the JSON Schemas."""
    return _data("schemas")


def fixtures() -> Path:
    """Return the folder that holds catalogs, scenarios, calendars and recordings."""
    return _data("fixtures")


@cache
def _data(name: str) -> Path:
    packed = _PACKAGE / "_data" / name
    return packed if packed.is_dir() else _PACKAGE.parent / name
