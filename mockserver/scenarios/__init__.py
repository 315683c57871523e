"""What a world starts from, read from files: catalogs, calendars and scenarios.

`loading.py` reads a scenario; its form is `schemas/meta/scenario.json`.
"""

from mockserver.scenarios.calendars import load_calendar
from mockserver.scenarios.catalogs import load_catalog
from mockserver.scenarios.library import calendar_names, is_file, scenario_names
from mockserver.scenarios.loading import digest, load_scenario

__all__ = [
    "calendar_names",
    "digest",
    "is_file",
    "load_calendar",
    "load_catalog",
    "load_scenario",
    "scenario_names",
]
