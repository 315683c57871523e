# mypy: ignore-errors
"""Moves the world in place of sleeping, in every Python that finds this folder on its path."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [place for place in sys.path if os.path.abspath(place or ".") != _HERE]
if os.environ.get("CROSSCHAIN_MOCK_CLOCK"):
    sys.path.insert(0, _HERE)
    import crosschain_timeshim

    del sys.path[0]
    crosschain_timeshim.install(os.environ["CROSSCHAIN_MOCK_CLOCK"])
# A sitecustomize of the installation itself has its turn as well.
own = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # noqa: F401
except ImportError:
    pass
# The interpreter looks for the module that it has begun to import.
sys.modules.setdefault("sitecustomize", own)
