"""The table of the options of a run, `options.json`.

The command line, pytest's options and ini keys, keyword arguments, the Action's inputs and the page
of options are made of it. The imports are few, since every project with the pytest plugin pays for
them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from mockserver.fast_dataclass import dataclass

Form = Literal["command", "pytest", "ini", "keyword", "action"]
"""A way to set an option."""
FORMS: tuple[Form, ...] = ("command", "pytest", "ini", "keyword", "action")

OptionKind = Literal[
    "address",
    "text",
    "texts",
    "whole",
    "rate",
    "duration",
    "instant",
    "word",
    "flag",
    "switch",
    "file",
    "roles",
]
"""What a value is: a `flag` is on or not given, a `switch` is on, off, or left to the run; an
`address` is an argument of the command."""

SWITCHED: Mapping[str, bool] = {"yes": True, "true": True, "no": False, "false": False}
"""How a flag or a switch is written as text."""

Absent = Mapping[Form, str]


@dataclass(frozen=True, slots=True)
class Option:
    """A row of the table.

    `name` is that of the command line, without dashes; `named` is for forms that call it otherwise.
    A `rare` one is given by `--set NAME=VALUE` on the command line, so that the help stays short.
    `default` is as people write it, and `least` and `most` bound numbers. `absent` says why a form
    does not have the option. `variable` is where the environment may have the value. `heading` is
    that of the help under which it stands.
    """

    name: str
    kind: OptionKind
    help: str
    default: str | int | None = None
    least: int | str = 0
    most: str = ""
    words: tuple[str, ...] = ()
    metavar: str | None = None
    short: str = ""
    rare: bool = False
    variable: str = ""
    action_default: str = ""
    named: Mapping[Form, str] = field(default_factory=dict)
    absent: Absent = field(default_factory=dict)
    heading: str = ""

    def in_form(self, form: Form) -> str:
        """Return the bare name in a form, with underscores in Python and ini files; else empty."""
        if form in self.absent:
            return ""
        name = self.named.get("pytest" if form == "ini" else form, self.name)
        return name.replace("-", "_") if form in ("ini", "keyword") else name

    @property
    def key(self) -> str:
        """The name of the value within Python, whether or not `run` takes it as a keyword."""
        return self.named.get("keyword", self.name).replace("-", "_")

    @property
    def described(self) -> str:
        """What it is, with its words and its default."""
        words = f" One of {', '.join(self.words)}." if self.words else ""
        default = f" Default: {self.default}." if self.default not in (None, 0, "0") else ""
        return f"{self.help}{words}{default}"


_TABLE: dict[str, Any] = json.loads(Path(__file__).with_name("options.json").read_text("utf-8"))

HEADINGS: tuple[str, ...] = tuple(dict.fromkeys(row["heading"] for row in _TABLE["options"]))
"""The headings of the options, in the order of the help."""


def _option(row: Mapping[str, Any]) -> Option:
    """Return a row; the reasons why forms lack it are its own, or shared ones by name."""
    reasons: dict[Form, str] = {}
    for reason in row.get("absent", ()):
        reasons |= _TABLE["absences"][reason] if isinstance(reason, str) else reason
    values = {name: value for name, value in row.items() if name not in ("group", "absent")}
    return Option(**{**values, "words": tuple(row.get("words", ())), "absent": reasons})


def _rows(*groups: str) -> tuple[Option, ...]:
    return tuple(_option(row) for row in _TABLE["options"] if row["group"] in groups)


def _named(name: str) -> Option:
    return next(option for option in OPTIONS if option.name == name)


OPTIONS = _rows("address", "permit", "run", "beside", "report")
"""Every option, in the order of the help."""
ADDRESSES = _rows("address")
PERMIT = _rows("permit")
RUN = _rows("permit", "run")
REPORT = _rows("report")
WAIT, ROLES, STRICT, FAILING = map(_named, ("wait", "roles", "strict", "fail-on"))
FAILING_WORDS = FAILING.words
"""The short words for the verdicts that are findings, the worst first."""


_ABOUT = """\
The options of a run, and where to set them: on the command line of `crosschain-mock conform`, in
pytest as `--crosschain-mock-…` or as the ini key `crosschain_mock_…`, as keyword arguments of
`mockserver.conformance.run` and of the fixture `crosschain_conformance`, and as inputs of the
GitHub Action. `compare` takes those about requests, and the recorder those about what may be sent.

Times are written as `10m` or `1.5s`; pytest and the Action turn things on and off with `yes` and
`no`. What can be given several times stands on a line each in the Action, and in a list in Python.
On the command line `--set NAME=VALUE` sets what is rarely needed, such as `--set patience=1m`.\
"""
_COLUMNS = ("what", "command line", "pytest", "ini key", "keyword", "Action", "environment")
_TITLES: Mapping[Form, str] = {
    "command": "command line",
    "pytest": "pytest",
    "ini": "ini file",
    "keyword": "keywords",
    "action": "Action",
}


def page(rows: Iterable[Option] = OPTIONS) -> str:
    from mockserver import markdown  # noqa: PLC0415 - no run needs it

    table = tuple(rows)
    lines = (
        *(line for heading in (*HEADINGS, "") for line in _section(heading, table)),
        "## What is left out, and why",
        "",
        *markdown.table(("where", "options", "why"), _reasons(table)),
    )
    return markdown.page("Options of a conformance run", _ABOUT, lines)


def _section(heading: str, rows: Iterable[Option]) -> Iterator[str]:
    """Yield the lines of the options under a heading; nothing where there are none."""
    from mockserver import markdown  # noqa: PLC0415 - no run needs it

    if options := [row for row in rows if row.heading == heading]:
        yield from (f"## {heading}" if heading else "", "")
        yield from (*markdown.table(_COLUMNS, map(_row, options)), "")


def _row(row: Option) -> tuple[str, ...]:
    cells = (f"`{spelled}`" if (spelled := written(row, form)) else "-" for form in FORMS)
    where = f"`{row.variable}`{' (pytest)' * (row in ADDRESSES)}" if row.variable else "-"
    return (row.described, *cells, where)


_PREFIXES: Mapping[Form, str] = {
    "command": "--",
    "pytest": "--crosschain-mock-",
    "ini": "crosschain_mock_",
}


def written(row: Option, form: Form) -> str:
    """Return an option as it is written in a form; empty where the form does not have it."""
    name, of_command = row.in_form(form), form == "command"
    if not name or (of_command and row.kind == "address"):
        return name.upper()
    if of_command and row.rare:
        return f"--set {name}"
    if of_command and row.kind == "switch":
        return f"--{name}`, `--no-{name}"
    return f"{_PREFIXES.get(form, '')}{name}"


def _reasons(rows: tuple[Option, ...]) -> Iterator[tuple[str, ...]]:
    by_reason: dict[str, dict[str, list[Form]]] = {}
    for row in rows:
        for form in FORMS:
            if reason := row.absent.get(form):
                by_reason.setdefault(reason, {}).setdefault(row.name, []).append(form)
    for reason, absent in by_reason.items():
        forms = dict.fromkeys(_TITLES[form] for forms in absent.values() for form in forms)
        names = ", ".join(f"`{name}`" for name in absent)
        yield ", ".join(forms), names, reason
