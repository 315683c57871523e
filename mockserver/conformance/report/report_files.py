"""Reports into files: which format goes where, checked before anything is sent."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from mockserver.conformance.report.ci_formats import as_github, as_junit, as_sarif
from mockserver.conformance.report.html import as_html
from mockserver.conformance.report.json_report import as_json
from mockserver.conformance.report.model import Report
from mockserver.conformance.report.rule_reruns import as_pytest, saved_lines
from mockserver.conformance.session.target import UnsafeOrWrong
from mockserver.fast_dataclass import dataclass
from mockserver.suggestions import did_you_mean
from mockserver.userfiles import write_text


@dataclass(frozen=True, slots=True)
class Destination:
    """A requested report: its format, and the file, None for stdout."""

    format: str
    file: Path | None


def destination_of(text: str) -> Destination:
    """Return the destination that `html=FILE` or `json=-` stands for.

    Raises `UnsafeOrWrong` for an unknown format, or a file that cannot be written.
    """
    name, equals, target = text.partition("=")
    if name not in NAMES:
        near = did_you_mean(name, list(NAMES))
        names = ", ".join(NAMES)
        raise UnsafeOrWrong(f"--report {text!r}: {name!r} is none of {names}{near}")
    if not equals or not target:
        file = "test_findings.py" if name == "pytest" else f"report.{name}"
        raise UnsafeOrWrong(f"--report {text!r}: say where, as in {name}={file} or {name}=-")
    if target == "-":
        if name == "pytest":
            raise UnsafeOrWrong(
                "--report 'pytest=-': a file of requests stands beside the test; name a file"
            )
        return Destination(name, None)
    check_writable(Path(target), "--report")
    if name == "pytest":
        check_writable(probes_of(Path(target)), "--report")
    return Destination(name, Path(target))


def probes_of(test: Path) -> Path:
    """Return the file of requests beside a test module."""
    return test.with_suffix(".probes")


def check_writable(file: Path, option: str) -> None:
    """Raise `UnsafeOrWrong` where a file cannot be written; nothing is written yet."""
    folder = file.parent
    reason = ""
    if not folder.is_dir():
        reason = f"there is no folder {str(folder)!r}"
    elif file.is_dir():
        reason = "it is a folder"
    elif not os.access(file if file.exists() else folder, os.W_OK):
        reason = "it may not be written"
    if reason:
        raise UnsafeOrWrong(f"{option}: cannot write {str(file)!r}: {reason}")


def write(destination: Destination, model: Report) -> None:
    """Write a report. Raises `CannotWrite`."""
    if destination.format == "pytest" and destination.file is not None:
        _write_test(destination.file, model)
        return
    text = FORMATS[destination.format](model)
    if destination.file is None:
        # The formats declare UTF-8, whatever the encoding of the terminal is.
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.buffer.flush()
    else:
        write_text(destination.file, text)


def _write_test(file: Path, model: Report) -> None:
    lines, probes = saved_lines(model), probes_of(file)
    if lines:
        write_text(probes, "".join(f"{line}\n" for line in lines))
    write_text(file, as_pytest(model, probes.name if lines else ""))


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "html": as_html,
    "json": as_json,
    "junit": as_junit,
    "sarif": as_sarif,
    "github": as_github,
}
"""The formats of one text, each by the function that writes it."""

NAMES = (*FORMATS, "pytest")
"""All formats. `pytest` is a module, and a file of requests beside it."""
