"""What a world starts from, read from files: catalogs, calendars and scenarios.

`scenario_files.py` reads a scenario; its form is `schemas/meta/scenario.json`.
"""

from mockserver.scenarios.calendar_files import load_calendar
from mockserver.scenarios.catalog_files import load_catalog
from mockserver.scenarios.library import calendar_names, is_file, scenario_names
from mockserver.scenarios.scenario_files import digest, load_scenario

__all__ = [
    "calendar_names",
    "digest",
    "is_file",
    "load_calendar",
    "load_catalog",
    "load_scenario",
    "scenario_names",
]
