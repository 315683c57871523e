"""What others can use of a search: a test, a scenario and a capsule of each defect."""

import json
import os
import platform
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mockserver import __version__, file_formats
from mockserver.contract import Contract
from mockserver.jsontext import Json
from mockserver.recordings import Recording
from mockserver.scenarios.library import is_file
from mockserver.server.capsules import Capsule, begun_anew, files_in, save
from mockserver.server.growing_capsules import exchange_of
from mockserver.server.recorder import KeeperOptions, RecordingKeeper
from mockserver.survive.outcomes import RunResult
from mockserver.survive.report import Subject, headline, ordered, summary_of_failures
from mockserver.survive.runs import RunOfFlow
from mockserver.survive.search import SearchReport
from mockserver.times_and_durations import iso
from mockserver.userfiles import write_text

_TEST = '''"""What `crosschain-mock survive` has found, one test for each defect."""

{imports}import pytest
from mockserver.survive import survive


{flow}


@pytest.mark.parametrize("failure", {names!r})
def test_no_money_is_lost(failure):
    assert survive(flow, replay=[failure]{options})
'''
_COMMAND = '''def flow():
    """Run the client, which finds the addresses of its world in its environment."""
    subprocess.run({argv!r}, check=True)'''
_FUNCTION = '''def flow(service):
    """Run the client: here, what was searched was {flow}."""
    raise NotImplementedError("call your client with service.base_url_v2 and service.state")'''


def as_test(report: SearchReport, subject: Subject) -> str:
    """Return a module of pytest with a test for each defect."""
    names = [defect.result.name for defect in ordered(report.defects)]
    argv = list(subject.argv)
    flow = _COMMAND.format(argv=argv) if argv else _FUNCTION.format(flow=repr(subject.flow))
    options = "".join(f", {name}={value!r}" for name, value in subject.options.items())
    imports = "import subprocess\n\n" if argv else ""
    return _TEST.format(imports=imports, flow=flow, names=names, options=options)


def file_stem(result: RunResult) -> str:
    """Return the id of a result as the name of a file: `lost-once-submitOrder-1`."""
    return re.sub(r"[^A-Za-z0-9]+", "-", result.name)


def write_scenarios(report: SearchReport, subject: Subject, folder: Path) -> list[Path]:
    """Write a scenario for each defect, which has its failure from the beginning on.

    Raises `CannotWrite`.
    """
    files = []
    for defect in ordered(report.defects):
        file = folder / f"{file_stem(defect.result)}.yaml"
        text = "\n".join(_scenario(defect.result, report, subject, file)) + "\n"
        write_text(file, text, parents=True)
        files.append(file)
    return files


def _scenario(
    result: RunResult, report: SearchReport, subject: Subject, file: Path
) -> Iterator[str]:
    run = result.run
    twice = any(failure.doubles for failure in run.failures)
    yield f"# {headline(result)}"
    yield f"# when {summary_of_failures(run)}"
    # A run of its own does not know how often is once too often.
    yield from (f"# meant: {expected}" for expected in report.meant)
    dialect = f" --dialect {subject.options['dialect']}" if "dialect" in subject.options else ""
    flow = shlex.join(subject.argv) if subject.argv else "CLIENT"
    if twice:
        shared = "export CROSSCHAIN_MOCK_STATE=$(mktemp -d)"
        flow = f"sh -c {shlex.quote(f'{shared}; {flow} & {flow}; wait')}"
    yield (
        f"# See it again: crosschain-mock run --scenario {shlex.quote(str(file))}{dialect} "
        f"--audit --exit-claims -- {flow}"
    )
    if len(run.steps) > 1:
        yield (
            "# It was started again after that, with the same CROSSCHAIN_MOCK_STATE, in the same "
            "world, 6 hours later."
        )
    yield "format: crosschain-mock/scenario@1"
    yield f"title: {json.dumps(result.name)}"
    base = str(subject.options.get("scenario", "default"))
    if is_file(base):
        base = Path(os.path.relpath(base, file.parent)).as_posix()
    yield f"extends: {json.dumps(base)}"
    if subject.seed is not None:
        yield f"seed: {subject.seed}"
    clock = run.start["world"]["clock"]
    yield "clock:"
    yield f"  mode: {clock['mode']}"
    yield f"  start: {json.dumps(iso(clock['now_ms']))}"
    if clock["mode"] == "scaled":
        yield f"  rate: {json.dumps(clock['rate'])}"
    steps = [step for failure in run.failures for step in failure.steps()]
    holds = _holds_of_two(report.contract) if twice else ()
    steps += [("/at", hold) for hold in holds if hold["operation"] in run.operations]
    if steps:
        yield "failures:"
    for path, name in (("/faults", "faults"), ("/at", "at")):
        bodies = [body for where, body in steps if where == path]
        if bodies:
            yield f"  {name}:"
            yield from (f"    - {json.dumps(body, ensure_ascii=False)}" for body in bodies)
    breaks = [each for where, body in steps if where == "/breaks" for each in body["breaks"]]
    if breaks:
        yield f"  breaks: {json.dumps(breaks)}"


def _holds_of_two(contract: Contract) -> Iterator[dict[str, Json]]:
    """Yield what lets the first of two clients wait for the second one, outside of a search."""
    for operation in contract:
        if operation.writes and "orders" in operation.row.get("tags", ()):
            yield {"operation": operation.id, "hold": {"until": operation.id, "most": "5s"}}


def write_capsules(report: SearchReport, subject: Subject, folder: Path) -> list[Path]:
    """Write a capsule of the run that shows each defect. Raises `CannotWrite` and `BadCapsule`."""
    named = subject.options.get("scenario", "default")
    text = file_formats.text_of(Path(named)) if is_file(named) else ""
    files = []
    for defect in ordered(report.defects):
        file = folder / f"{file_stem(defect.result)}.capsule"
        # It makes the folder, and says what is wrong with it.
        write_text(file, "", parents=True)
        save(capsule_of_run(defect.result.run, headline(defect.result), text), file)
        files.append(file)
    return files


def capsule_of_run(run: RunOfFlow, title: str, scenario_text: str = "") -> Capsule:
    """Return the capsule of a run: its world with what went wrong, and all of its requests."""
    began_ms = run.lines[0].at_ms
    with tempfile.TemporaryDirectory() as folder:
        keeper = RecordingKeeper(
            KeeperOptions(
                Path(folder), origin="simulation", start=iso(began_ms), title=title, one_file=True
            )
        )
        try:
            before_ms = began_ms
            for line in run.lines:
                keeper.keep(exchange_of(line.entry, before_ms))
                before_ms = line.at_ms
        finally:
            keeper.close()
        files = dict(files_in(Path(folder)))
    world = run.start["world"]
    return Capsule(
        title=title,
        versions={"crosschainMock": __version__, "python": platform.python_version()},
        scenario=world["scenario"],
        start=begun_anew(run.start, began_ms, world["orders"], world["tickets"]),
        journal=Recording(title, "simulation", ()),
        scenario_text=scenario_text,
        healed_after=run.healed_after,
        files=files,
    )
