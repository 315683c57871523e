"""The judging step of the GitHub Action: `python -m mockserver.cli.github_action`.

`INPUTS` holds the inputs as a JSON object of texts. They are options of `conform run` as the option
table names them, so that the Action has no list of its own. What the command says is also the
summary of the job, and the counts of its report are the outputs.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from mockserver.conformance.option_table import OPTIONS, SWITCHED, Option
from mockserver.conformance.verdict import DIFFERENCES, FINDINGS, Verdict


def arguments(inputs: Mapping[str, str]) -> list[str]:
    """Return the arguments of `conform run` for inputs; empty ones count as not given.

    Raises `ValueError` for a switch that is neither on nor off.
    """
    rows = [(row, row.in_form("action")) for row in OPTIONS]
    made = [
        argument
        for row, name in rows
        if name and row.kind != "address"
        for argument in _of_row(row, inputs.get(name, ""))
    ]
    addresses = [inputs[name] for row, name in rows if row.kind == "address" and inputs.get(name)]
    # An address that begins with dashes is still none of our options.
    return [*made, "--", *addresses] if addresses else made


def _of_row(row: Option, text: str) -> Iterator[str]:
    if row.kind in ("flag", "switch"):
        if text.strip() and text not in SWITCHED:
            raise ValueError(f"{row.in_form('action')}: expected true or false, got {text!r}")
        on = SWITCHED.get(text)
        if on:
            yield f"--{row.name}"
        elif on is False and row.kind == "switch":
            yield f"--no-{row.name}"
        return
    for value in text.splitlines() if row.kind == "texts" else (text,):
        if value:
            yield f"--set={row.name}={value}" if row.rare else f"--{row.name}={value}"


def outputs(report: str) -> dict[str, str]:
    """Return the outputs that a JSON report makes; none where the run could not begin."""
    if not report:
        return {}
    document = json.loads(report)
    counts = document["counts"]
    return {
        "conclusion": " ".join(document["conclusion"].split()),
        "violations": str(counts[Verdict.VIOLATION]),
        "differences": str(sum(counts[verdict] for verdict in DIFFERENCES)),
        "checks": str(sum(counts[verdict] for verdict in (Verdict.HOLDS, *FINDINGS))),
    }


def _judge(options: list[str], report: Path) -> tuple[int, bytes]:
    """Run `conform`; return its exit status, and what it said while that was shown as well."""
    command = (sys.executable, "-m", "mockserver", "conform", "run")
    said = []
    with subprocess.Popen(  # noqa: S603 (the command checks its arguments)
        [*command, "--report=github=-", f"--report=json={report}", *options],
        stderr=subprocess.PIPE,
    ) as child:
        for line in child.stderr or ():
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()
            said.append(line)
    return child.returncode, b"".join(said)


def main() -> int:
    """Judge the service, write summary and outputs, and return the exit status of `conform`."""
    try:
        options = arguments(json.loads(os.environ["INPUTS"]))
    except ValueError as problem:
        status, said, told = 2, f"Error: {problem}\n".encode(), {}
        sys.stderr.buffer.write(said)
    else:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            status, said = _judge(options, report)
            told = outputs(report.read_text("utf-8") if report.exists() else "")
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("ab") as summary:
        # Four tildes, since what is quoted may hold fences of its own.
        summary.write(b"### Conformance\n~~~~text\n" + said + b"~~~~\n")
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as written:
        written.writelines(
            f"{name}={value}\n" for name, value in {"exit-code": status, **told}.items()
        )
    return status


if __name__ == "__main__":
    sys.exit(main())
