# mypy: ignore-errors
"""Makes pytest fork once its plugins are imported, and go on in each fork: it saves seconds a run.

A plugin that stands alone, since it runs in the interpreter of the client's tests. It forks before
any conftest.py is read, so that what these read of the environment is that of their run.
"""

import importlib.util
import os

import pytest

FORK, CACHE = "CROSSCHAIN_GRADE_FORK", "CROSSCHAIN_GRADE_CACHE"
# A fork has the environment of its run.
_cache = os.environ.get(CACHE, "")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests():
    """Wait for orders; each fork goes on as the pytest that was started."""
    path = os.environ.pop(FORK, None)
    if path is not None:
        _fork(path)
    yield


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Keep what fails because of a break out of the project's cache, unless it has none."""
    try:
        config.getini("cache_dir")
        config._inicache["cache_dir"] = _cache
    except (AttributeError, KeyError, ValueError):
        pass


def _fork(path):
    spec = importlib.util.spec_from_file_location("crosschain_zygote", path)
    zygote = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(zygote)
    _import_mock()
    orders, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    if not zygote.serve(orders, answers, None):
        os._exit(0)


def _import_mock():
    """Have ready what the mock of a test needs, where it is there: all forks share it."""
    try:
        from mockserver.testing.warming import warm

        warm(_cache)
    except Exception:
        pass
