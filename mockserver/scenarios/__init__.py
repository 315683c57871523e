"""What a world starts from, read from files: catalogs, calendars and scenarios.

`loading.py` reads a scenario; its form is `schemas/meta/scenario.json`.
"""

from mockserver.scenarios.calendars import load_calendar
from mockserver.scenarios.catalogs import load_catalog
from mockserver.scenarios.library import calendar_names, scenario_names
from mockserver.scenarios.loading import load_scenario

__all__ = [
    "calendar_names",
    "load_calendar",
    "load_catalog",
    "load_scenario",
    "scenario_names",
]
