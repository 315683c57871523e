"""The pytest plugin: a server for the session, a world for each test, and a check after it.

Nothing of the mock but the table of options is imported before a test uses it, so that a project
which does not use it pays nothing.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from mockserver.conformance.option_table import OPTIONS

if TYPE_CHECKING:
    import ssl
    from pathlib import Path

    from mockserver.conformance import Result
    from mockserver.conformance.option_table import Option
    from mockserver.survive.in_pytest import ItemRun
    from mockserver.testing import MockServer, MockSettings, MockWorld

_MARKER = "crosschain_mock"
# How much of a name is ours where it is taken for a mistyped one: `crosschain_mok` is, and
# `crosschain`, which a project may have, only with one of our settings.
_MISTYPED, _ALIKE = 0.9, 0.75
_WORLDS: "pytest.StashKey[list[MockWorld]]" = pytest.StashKey()
_COMPLAINTS: pytest.StashKey[list[str]] = pytest.StashKey()
_PASSED: pytest.StashKey[bool] = pytest.StashKey()

_OPTIONS = {
    "scenario": "a shipped scenario or a file; by default 'default'",
    "clock": "frozen (the default), auto, real or scaled:60",
    "start": "the clock's first time, such as 2026-01-01T00:00:00Z, or now",
    "seed": "another seed than the scenario's",
    "dialect": "documented (the default), observed, or errata such as E-01,E-02",
    "breaks": "permanent bugs of the mock, separated by commas; see `crosschain-mock breaks`",
    "replay": "recordings to answer from: shipped names, files and folders, separated by commas",
    "replay_mode": "strict (the default), fallback, naked, paced, or several with commas",
    "record": "a record mode: once, none, new or all; typed, it is for tests that have one",
    "recordings": "the folder of recordings beside each test file; by default 'recordings'",
    "state": "a folder that keeps the worlds: the next session goes on with the world of each test",
    "bounds": "bounds of the page of limits, such as journal-entries=50000, separated by commas",
    "upstream_v1": "the base address of v1 that is recorded",
    "upstream_v2": "the base address of 2.0 that is recorded",
    "audit": "all, or kinds of findings that fail a test, such as two-orders; -NAME leaves one out",
    "lint": "all, or rules of lint that fail a test; -NAME leaves one out, NAME=LIMIT sets one",
    "stamps": "the clock of v1 timestamps: either (the default) the world's or the wall, or world",
    "unused": "fail (the default): a stub, fault or outage that no request met fails it; or allow",
    "refusals": "fail (the default): an unexpected refusal fails the test; or allow",
}

# A setting of which no marker says anything.
_UNSAID = object()
_SURVIVE = {
    "survive-only": ("KINDS", "the kinds of failures to search, separated by commas"),
    "survive-skip": ("KINDS", "kinds of failures to leave out"),
    "survive-budget": ("N", "how many runs a search of one test has at most; 200 by default"),
}
_SURVIVE_HELP = "search every test that moves money for failures that cost it"
_QUICK_HELP = "search six likely failures of each test"
_SEARCH_IDS: pytest.StashKey[list[str]] = pytest.StashKey()

_SUITE = "mockserver.conformance.suite"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option and an ini key for each setting."""
    group = parser.getgroup("crosschain-mock", "the mock of the cross-chain service")
    for name, help_text in _OPTIONS.items():
        group.addoption(
            f"--crosschain-mock-{name.replace('_', '-')}",
            dest=f"{_MARKER}_{name}",
            metavar=name.upper(),
            help=help_text,
        )
        parser.addini(f"{_MARKER}_{name}", help=help_text)
    for flag, text in (("survive", _SURVIVE_HELP), ("survive-quick", _QUICK_HELP)):
        dest = f"{_MARKER}_{flag.replace('-', '_')}"
        group.addoption(f"--crosschain-mock-{flag}", dest=dest, action="store_true", help=text)
        parser.addini(dest, help=text, type="bool", default=False)
    for name, (metavar, text) in _SURVIVE.items():
        dest = f"{_MARKER}_{name.replace('-', '_')}"
        group.addoption(f"--crosschain-mock-{name}", dest=dest, metavar=metavar, help=text)
        parser.addini(dest, help=text)
    add_run_options(parser, [row for row in OPTIONS if row.key not in _OPTIONS])


def add_run_options(parser: pytest.Parser, rows: "Iterable[Option]") -> None:
    """Add the options of a conformance run, by rows of the option table."""
    group = parser.getgroup("crosschain-mock conformance", "judging a service")
    value: dict[str, Any] = {"metavar": "VALUE"}
    kinds = {"flag": {"action": "store_true"}, "texts": {**value, "action": "append"}}
    for row in rows:
        if name := row.in_form("pytest"):
            group.addoption(
                f"--crosschain-mock-{name}",
                dest=f"{_MARKER}_{row.key}",
                help=row.described,
                **kinds.get(row.kind, value),
            )
        if name := row.in_form("ini"):
            parser.addini(f"{_MARKER}_{name}", help=row.described)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    settings = ", ".join(f"{name}=…" for name in (*_OPTIONS, "survive"))
    config.addinivalue_line("markers", f"{_MARKER}({settings}): how the world of a test is to be")
    if not config.option.collectonly and any(arg.startswith(_SUITE) for arg in config.args):
        _check_run(config)


def _check_run(config: pytest.Config) -> None:
    """End with one sentence where the suite is selected and could not send anything."""
    from mockserver.conformance.suite.options import requested_run
    from mockserver.errors import CrosschainMockError

    try:
        requested_run(config)
    except CrosschainMockError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name a report of a search, which a worker of xdist has sent as one of the test it ran."""
    nodeid = getattr(report, "crosschain_mock_nodeid", None)
    if nodeid is not None and hasattr(report, "node"):
        report.nodeid = nodeid
        session = report.node.config.pluginmanager.get_plugin("session")
        session.testscollected += report.when == "setup"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what searches came to, what a conformance run sent, and what fails no test in it."""
    properties = [
        (report.nodeid, name, value)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, value in report.user_properties
    ]
    searched = [noted for noted in properties if noted[1] == f"{_MARKER}_survive"]
    if searched:
        from mockserver.survive.in_pytest import summary_lines as lines_of_searches

        terminalreporter.section("failures that cost money")
        for line in lines_of_searches(searched):
            terminalreporter.write_line(line)
    runs = [value for _, name, value in properties if name == f"{_MARKER}_run"]
    if not runs:
        return
    from mockserver.conformance.suite.results import summary_lines

    differences = [value for _, name, value in properties if name == f"{_MARKER}_difference"]
    terminalreporter.section("conformance")
    for line in summary_lines(runs, differences):
        terminalreporter.write_line(line)


@pytest.fixture
def crosschain_conformance(pytestconfig: pytest.Config) -> "Callable[..., Result]":
    """Judge a service: `crosschain_conformance(url).assert_conforms()`.

    Takes what `mockserver.conformance.run` takes; what is left out comes from pytest's options.
    """
    from mockserver.conformance import run
    from mockserver.conformance.suite.options import addresses, settings

    def judge(
        url: str | None = None, *, v1: str | None = None, v2: str | None = None, **options: Any
    ) -> "Result":
        if url is None and v1 is None and v2 is None:
            named = addresses(pytestconfig)
            url, v1, v2 = named.get("url"), named.get("v1"), named.get("v2")
        with _readable_failures():
            run_options: Any = {**settings(pytestconfig), **options}
            return run(url, v1=v1, v2=v2, **run_options)

    return judge


@pytest.fixture(scope="session")
def crosschain_mock_settings(pytestconfig: pytest.Config) -> "MockSettings":
    """The settings of worlds, from options and ini keys; override it in a conftest.py."""
    from mockserver.testing import MockSettings

    started, inipath = pytestconfig.invocation_params.dir, pytestconfig.inipath
    with _readable_failures():
        typed = _configured(pytestconfig.getoption)
        written = _configured(pytestconfig.getini)
        # Each test has a folder of its own, and a typed mode is for tests that have one already.
        for configured in (typed, written):
            configured.pop("recordings", None)
            configured.pop("state", None)
        typed.pop("record", None)
        unsaid = {name: value for name, value in written.items() if name not in typed}
        settings = MockSettings().changed(**unsaid)
        # Made absolute, since pytest and tests may work in other folders.
        if inipath:
            settings = settings.anchored(inipath.parent)
        return settings.changed(**typed).anchored(started)


@pytest.fixture(scope="session")
def crosschain_mock_tls() -> "ssl.SSLContext | None":
    """What the server serves https with, for 127.0.0.1; override it in a conftest.py."""
    return None


@pytest.fixture(scope="session")
def crosschain_mock_server(
    crosschain_mock_settings: "MockSettings", crosschain_mock_tls: "ssl.SSLContext | None"
) -> Iterator["MockServer"]:
    """A server in this process, shared by the session; `.world()` makes a world on it."""
    from mockserver.testing import running

    with ExitStack() as stack:
        with _readable_failures():
            server = stack.enter_context(running(crosschain_mock_settings, tls=crosschain_mock_tls))
        yield server


@pytest.fixture
def crosschain_mock(
    request: pytest.FixtureRequest, crosschain_mock_server: "MockServer"
) -> Iterator["MockWorld"]:
    """A world of this test's own on the session's server, checked when the test has run."""
    item = request.node
    if run := _search_run(item):
        with _readable_failures():
            searched = run.world_of(crosschain_mock_server, item.nodeid, _marker_settings(item))
        item.stash.setdefault(_WORLDS, []).append(searched)
        yield searched
        item.stash[_WORLDS].remove(searched)
        return
    with ExitStack() as stack:
        with _readable_failures():
            settings = crosschain_mock_server.settings
            changes = _with_recordings(item, settings, _marker_settings(item))
            if folder := _state_folder(item, changes.pop("state", _UNSAID)):
                # A server for the one test: it has its folder for itself, in parallel sessions too.
                kept = settings.changed(**changes, state=folder)
                alone = stack.enter_context(_running(kept, crosschain_mock_server.tls))
                world = alone.world(item.nodeid)
            else:
                world = crosschain_mock_server.world(item.nodeid, **changes)
        item.stash.setdefault(_WORLDS, []).append(world)
        yield world
        # Fixtures that use the world have ended by now and may have sent more.
        late = world.complaints() if item.stash.get(_PASSED, False) else []
        journal = world.report() if late else ""
        item.stash[_WORLDS].remove(world)
        world.close()
    if late:
        text = "\n".join(late)
        pytest.fail(f"after the test: {text}\nthe journal of its world:\n{journal}", pytrace=False)


@pytest.fixture
def crosschain_mock_state(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> "Path":
    """A folder that a search finds again when it starts a test that failed once more."""
    if run := _search_run(request.node):
        run.restartable = True
        return run.state
    return tmp_path_factory.mktemp("state")


def _search_run(item: pytest.Item) -> "ItemRun | None":
    """Return the run of a search that a test is run for, None for a test of its own."""
    if not hasattr(item, "originalname") or "survive" not in item.name:
        return None
    from mockserver.survive.in_pytest import RUNNING

    return item.stash.get(RUNNING, None)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Collector,
) -> Generator[None, Any, Any]:
    """Add the failures that were selected by id to the tests that they belong to."""
    made = yield
    ids = _search_ids(collector.config)
    if not ids or not isinstance(made, list):
        return made
    from mockserver.survive.in_pytest import selected_variants

    functions = [item for item in made if isinstance(item, pytest.Function)]
    return [*made, *(more for item in functions for more in selected_variants(item, ids))]


def _search_ids(config: pytest.Config) -> list[str]:
    """Return the ids of failures that arguments name, or that failed the last time."""
    if _SEARCH_IDS not in config.stash:
        ids = [arg for arg in config.args if "[survive" in arg or "-survive" in arg]
        options = ("lf", "failedfirst")
        if any(config.getoption(name, False) for name in options) and hasattr(config, "cache"):
            last = config.cache.get("cache/lastfailed", {})
            ids += [nodeid for nodeid in last if "[survive" in nodeid or "-survive" in nodeid]
        config.stash[_SEARCH_IDS] = [name for name in ids if name.endswith("]")]
    return config.stash[_SEARCH_IDS]


@pytest.hookimpl
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Search a test that is marked, or that an option chooses, after it has run as it is."""
    if not isinstance(item, pytest.Function):
        return None
    marks = [
        mark.kwargs["survive"] for mark in item.iter_markers(_MARKER) if "survive" in mark.kwargs
    ]
    config = item.config
    chosen = config.getoption(f"{_MARKER}_survive") or config.getini(f"{_MARKER}_survive")
    by_id = "survive" in item.name and bool(_search_ids(config))
    said = marks[0] if marks else bool(chosen)
    if said is False and not by_id:
        return None
    from mockserver.survive.in_pytest import SELECTED, ItemSearch

    if said is False and SELECTED not in item.stash:
        return None
    if not marks and "crosschain_mock" not in item.fixturenames:
        return None
    ItemSearch(item, nextitem).run(said or True, _typed_search(config), marked=bool(marks))
    return True


def _typed_search(config: pytest.Config) -> dict[str, Any]:
    """Return what options, or ini keys, say of every search."""
    typed: dict[str, Any] = {}
    for name in ("only", "skip", "budget", "quick"):
        key = f"{_MARKER}_survive_{name}"
        if value := config.getoption(key) or config.getini(key):
            typed[name] = int(value) if name == "budget" and value.isdecimal() else value
    return typed


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose marker is mistyped or says what no world can have, with a world or not."""
    _check_marker_names(item)
    if _MARKER in getattr(item, "fixturenames", ()):
        # Its world is made of the settings, which tells as much.
        return
    if changes := _marker_settings(item):
        from mockserver.testing import MockSettings

        with _readable_failures():
            MockSettings().changed(**changes).require_known()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a test whose world has something to complain of."""
    item.stash[_PASSED] = False
    item.stash[_COMPLAINTS] = []
    run = _search_run(item)
    ending = run.stopper.armed() if run and run.stopper else nullcontext()
    try:
        with ending:
            yield
    except BaseException:
        item.stash[_COMPLAINTS] = _complaints(item)
        raise
    complaints = _complaints(item)
    if complaints:
        # A failing test case of unittest does not raise here: report this beside its failure.
        item.stash[_COMPLAINTS] = complaints
        pytest.fail("\n".join(complaints), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach to a failure the journal of its world, and the problems that a check would report."""
    report = yield
    if report.when == "call":
        item.stash[_PASSED] = report.passed
    if report.failed:
        complaints = item.stash.get(_COMPLAINTS, [])
        beside = "\n".join(complaints)
        if beside and str(report.longrepr) != beside:
            report.sections.append(("crosschain_mock complaints", beside))
        for world in item.stash.get(_WORLDS, []):
            report.sections.append((f"crosschain_mock journal of {world.key}", world.report()))
    return report


def _complaints(item: pytest.Item) -> list[str]:
    worlds = item.stash.get(_WORLDS, [])
    return [text for world in worlds for text in world.complaints()]


@contextmanager
def _readable_failures() -> Iterator[None]:
    """Fail with the sentence of an error that a person can put right, without a traceback."""
    from mockserver.errors import CrosschainMockError

    try:
        yield
    except CrosschainMockError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def _configured(say: Callable[[str], Any]) -> dict[str, Any]:
    """Return what options, or ini keys, say; the seed as a number."""
    settings = {}
    for name in _OPTIONS:
        value = say(f"{_MARKER}_{name}")
        if value:
            settings[name] = int(value) if name == "seed" and value.isdecimal() else value
    return settings


def _with_recordings(
    item: pytest.Item, settings: "MockSettings", changes: dict[str, Any]
) -> dict[str, Any]:
    """Return the settings of a test's world with its record mode, its folder and its permit."""
    # A mode on the command line is for tests that have one already: CI plays with `none`, and
    # somebody who records anew says `all`.
    config = item.config
    mode = changes.get("record", settings.record)
    if not mode:
        return changes
    from mockserver.testing.record_modes import folder_of_test

    typed = config.getoption(f"{_MARKER}_record")
    root = changes.get("recordings") or config.getini(f"{_MARKER}_recordings") or "recordings"
    root = config.getoption(f"{_MARKER}_recordings") or root
    permit = {
        "arm_writes": bool(config.getoption(f"{_MARKER}_arm_writes", None)),
        "allow_hosts": tuple(config.getoption(f"{_MARKER}_allow_hosts", None) or ()),
        "confirm_hosts": tuple(config.getoption(f"{_MARKER}_confirm_hosts", None) or ()),
    }
    folder = folder_of_test(item.path.parent / root, item.nodeid)
    return {**permit, **changes, "record": typed or mode, "recordings": folder}


def _running(
    settings: "MockSettings", tls: "ssl.SSLContext | None"
) -> "AbstractContextManager[MockServer]":
    from mockserver.testing import running

    return running(settings, tls=tls)


def _state_folder(item: pytest.Item, marked: Any) -> "Path | None":
    """Return the folder that keeps the world of a test; None where it is kept in memory."""
    # A marker comes before the command line, and that before the ini file: a test that is written
    # to go on does so in every session, and one that says `state=None` in none.
    from pathlib import Path

    from mockserver.testing.record_modes import folder_of_test

    config, name = item.config, f"{_MARKER}_state"
    if marked is not _UNSAID:
        if not isinstance(marked, str | Path | None):
            raise pytest.fail.Exception(f"state: expected a folder, got {marked!r}", pytrace=False)
        return folder_of_test(item.path.parent / marked, item.nodeid) if marked else None
    typed, written = config.getoption(name), config.getini(name)
    if not typed and not written:
        return None
    written_in = config.inipath.parent if config.inipath else config.rootpath
    root = config.invocation_params.dir / typed if typed else written_in / written
    # Test files of different folders may have the same name.
    return folder_of_test(root / Path(item.nodeid.partition("::")[0]).parent, item.nodeid)


def _check_marker_names(node: pytest.Item) -> None:
    """Fail a test whose marker is mistyped: pytest only warns, and the settings would be lost."""
    # A name that is only alike, such as one of the project's own, needs settings of ours to be one.
    registered = None
    for mark in node.iter_markers():
        if mark.name == _MARKER:
            continue
        if registered is None:
            lines = node.config.getini("markers")
            registered = {line.partition(":")[0].partition("(")[0].strip() for line in lines}
        if mark.name in registered:
            continue
        with_settings = any(name in _OPTIONS or name == "survive" for name in mark.kwargs)
        if _likeness(mark.name) >= (_ALIKE if with_settings else _MISTYPED):
            pytest.fail(f"{mark.name!r} is no marker; did you mean {_MARKER!r}?", pytrace=False)


@cache
def _likeness(name: str) -> float:
    """Return how much of a marker's name is that of ours, from 0 to 1."""
    from difflib import SequenceMatcher

    plain, ours = (text.replace("_", "").lower() for text in (name, _MARKER))
    return 1.0 if plain.startswith(ours) else SequenceMatcher(None, plain, ours).ratio()


def _marker_settings(node: pytest.Item) -> dict[str, Any]:
    """Return what the markers of a test say; the one closest to it wins."""
    changes: dict[str, Any] = {}
    # pytest has the marks of a test's parameters behind those of its function.
    parameters = getattr(getattr(node, "callspec", None), "marks", ())
    own = [mark for mark in parameters if mark.name == _MARKER]
    for mark in (*reversed(list(node.iter_markers(_MARKER))), *own):
        if mark.args:
            pytest.fail(
                f"the marker {_MARKER} takes settings by name, as in scenario='outage'; "
                f"got {mark.args[0]!r}",
                pytrace=False,
            )
        changes.update(mark.kwargs)
    # How the test is searched is no setting of its world.
    changes.pop("survive", None)
    return changes
