"""A finding as a test of its own: plain pytest that fails where the service is wrong."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from mockserver.conformance.generation.stages import STAGES
from mockserver.conformance.report.causes import Cause
from mockserver.conformance.report.expectations import expectation_of
from mockserver.conformance.report.masking import label_of, visible
from mockserver.conformance.report.report import Report
from mockserver.conformance.report.rule_explanation import ground_of
from mockserver.conformance.report.snippets import (
    literal_url,
    placeholder,
    stamp_of,
    url_of,
    variable_of,
)
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Verdict
from mockserver.exchange import is_loopback
from mockserver.values import dataclass
from mockserver.wording import one_line

_WIDTH = 96
_DEVELOPER = ("APP_KEY", "APP_SECRET")
# A message in one of the first two lines could name an encoding (`content-encoding: gzip`) that
# Python would obey.
_CODING = "# -*- coding: utf-8 -*-\n"

_READ = '''
def read(body):
    """Read JSON as strictly as it is meant: UTF-8, no NaN, no member twice."""
    text = body.decode("utf-8")
    assert not text.startswith("\\ufeff")
    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def refuse(name):
    raise ValueError(f"{name} is no JSON number")


def once(pairs):
    assert len(dict(pairs)) == len(pairs), "a member is there twice"
    return dict(pairs)
'''

_AT = '''

def at(value, *steps):
    """Yield the values at a place; a step None stands for every item of a list."""
    found = [value]
    for step in steps:
        if step is None:
            found = [item for one in found for item in one]
        else:
            found = [one[step] for one in found if step in one]
    return found
'''


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a test is made of, so that several can stand in one file."""

    remarks: str
    imports: tuple[str, ...]
    helpers: tuple[str, ...]
    request: str
    test: str


def test_of(cause: Cause, report: Report) -> str:
    """Return a test module for a cause.

    Where one answer shows the finding, the test sends that request by itself; where it takes
    several answers to see it, the test asks the rule again, and needs crosschain-mock installed.
    """
    parts = _parts(cause, report)
    return _CODING + parts.remarks + "\n" + _joined([parts])


def tests_of(report: Report) -> str:
    """Return one test module for all causes that count, each with a test as `test_of` has it."""
    every: list[_Parts] = []
    names: set[str] = set()
    for number, cause in enumerate(report.causes, 1):
        parts = _parts(cause, report, number)
        name = _name(cause)
        if name in names:
            test = parts.test.replace(f"def {name}(", f"def {name}_{number}(", 1)
            parts = replace(parts, test=test)
        names.add(name)
        every.append(parts)
    what = f"# {len(every)} findings of crosschain-mock conform; each fails until it is fixed\n"
    return _CODING + what + "\n" + (_joined(every, remarks=True) if every else "")


def _joined(every: Sequence[_Parts], *, remarks: bool = False) -> str:
    """Return imports and helpers of tests, and then what each of them has for itself."""
    imports = sorted({one for parts in every for one in parts.imports})
    helpers = [one for one in (_READ, _AT) if any(one in parts.helpers for parts in every)]
    plain = [one for one in imports if one.startswith("import ")]
    others = [one for one in imports if one not in plain]
    lines = "\n\n".join("\n".join(group) for group in (plain, others) if group) + "\n"
    if remarks:
        blocks = [one.strip("\n") for one in helpers]
        for parts in every:
            blocks += [(parts.remarks + parts.request.strip("\n")).strip("\n"), parts.test.rstrip()]
        return "\n\n\n".join([lines.rstrip(), *blocks]) + "\n"
    [parts] = every
    request = f"\n{parts.request}" if parts.request else ""
    middle = ("\n" + "".join(helpers)) if helpers else ""
    return lines + request + middle + "\n\n" + parts.test


def _parts(cause: Cause, report: Report, number: int | None = None) -> _Parts:
    """Return the parts of a test; `number` tells its function that asks from those of others."""
    found = expectation_of(cause.examples[0].finding, cause.verdict)
    remarks = _remarks(cause, report)
    if found is None:
        return _judged_again(cause, report, remarks)
    expected, exchange = found
    text = "\n".join((*expected.lines, "")) if expected.lines else ""
    helpers = [_READ] if expected.reads or "read(" in text else []
    helpers += [_AT] if "at(" in text else []
    ask = "ask" if number is None else f"ask_{number}"
    sent = _request(exchange, report, ask)
    imports = ["import http.client"]
    imports += ["import json"] if helpers else []
    imports += ["import os"] if "os.environ" in sent else []
    imports += ["import re"] if "re.search" in text else []
    imports += ["import time"] if "time.time" in sent else []
    reading = "    envelope = read(body)\n" if expected.reads else ""
    # An unused name would be all that is left where reading the body is the whole test.
    reading = "    read(body)\n" if expected.reads and not expected.lines else reading
    test = f"def {_name(cause)}():\n    answer, body = {ask}()\n" + reading
    return _Parts(
        remarks, tuple(imports), tuple(helpers), sent, test + textwrap.indent(text, "    ")
    )


def _remarks(cause: Cause, report: Report) -> str:
    operation = cause.examples[0].operation.id
    lines = (
        f"{cause.rule.name} [{operation}], cause {cause.id}",
        cause.summary,
        ground_of(cause, report.result.contract),
    )
    clean = [one_line(visible(report.masker.text(line)))[:600] for line in lines]
    wrapped = [part for line in clean for part in textwrap.wrap(line, _WIDTH)]
    # Comments, since no text can end them early as it could a docstring.
    return "".join(f"# {line}\n" for line in wrapped)


def _request(exchange: Exchange, report: Report, ask: str) -> str:
    """Return the function that sends the request byte for byte."""
    parts = urlsplit(literal_url(url_of(exchange, report.result.target)))
    path = parts.path or "/"
    inside = f"{path}?{parts.query}" if parts.query else path
    kind = "HTTPSConnection" if parts.scheme == "https" else "HTTPConnection"
    request = exchange.request
    write = _Writer(report)
    lines = [
        f"connection = http.client.{kind}({parts.hostname!r}, {parts.port!r}, timeout=30)",
        f"target = {write.text(inside)}",
        f"connection.putrequest({request.method!r}, target, skip_accept_encoding=True)",
    ]
    for name, value in request.headers.items_sent:
        stamp = stamp_of(exchange, name)
        written = write.header(name, value) if stamp is None else _stamped(stamp)
        lines.append(f"connection.putheader({name!r}, {written})")
    if "Accept" not in request.headers:
        lines.append("connection.putheader('Accept', 'application/json')")
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        lines += [
            f"sent = {write.body(request.body)}",
            "connection.putheader('Content-Length', str(len(sent)))",
            "connection.endheaders(sent)",
        ]
    else:
        lines.append("connection.endheaders()")
    lines += ["answer = connection.getresponse()", "return answer, answer.read()"]
    return f"\ndef {ask}():\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def _stamped(offset_s: int) -> str:
    """Return the time of the request as an expression: it counts from when the test runs."""
    return f"str((int(time.time()) + {offset_s}) * 1000)"


class _Writer:
    """Writes texts as Python expressions, secrets as variables of the environment."""

    def __init__(self, report: Report) -> None:
        self._masker = report.masker
        self._own_keys = report.own_keys

    def header(self, name: str, value: str) -> str:
        label = label_of(name)
        if label and value:
            return self._variable(label, value)
        # Headers travel as UTF-8 here; http.client would send Latin-1.
        written = self.text(value)
        return written if value.isascii() else f"{written}.encode()"

    def text(self, text: str) -> str:
        parts = [
            self._variable(part.label, part.text) if part.label else repr(part.text)
            for part in self._masker.parts(text)
        ]
        return " + ".join(parts) or repr("")

    def body(self, body: bytes) -> str:
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            return repr(self._masker.text(body.decode("latin-1")).encode("latin-1"))
        written = self.text(text)
        return f"({written}).encode()" if " + " in written else f"{written}.encode()"

    def _variable(self, label: str, value: str) -> str:
        if self._own_keys:
            return f'os.environ["{variable_of(label)}"]'
        return f'os.environ.get("{variable_of(label)}", {placeholder(label, value)!r})'


def _judged_again(cause: Cause, report: Report, remarks: str) -> _Parts:
    """Return a test that asks the rule again: it takes more than one answer to see."""
    operation = cause.examples[0].operation.id
    result, target = report.result, report.result.target
    same = target.v1 == target.v2
    given = [repr(target.v1)] if same else []
    if not same:
        given += [
            f"{name}={base!r}" for name, base in (("v1", target.v1), ("v2", target.v2)) if base
        ]
    # A rule that judges every exchange asks for none, and may have seen it in that of another.
    # What is generated depends on what was asked before.
    is_stage = cause.rule.check in STAGES
    alone = not cause.rule.every_exchange and not is_stage
    given += [f"{name}={value!r}" for name, value in result.choices.items() if is_stage]
    given += [f"only=[{cause.rule.name!r}]"] if alone else []
    given += [f"seed={result.seed}"]
    dialect = result.contract.dialect.name
    given += [f"dialect={dialect!r}"] if dialect != "documented" else []
    far = [host for host in target.hosts if not is_loopback(host)]
    given += [f"allow_hosts={far!r}"] if far else []
    if result.submissions:
        given += ["arm_writes=True"] + ([f"confirm_hosts={far!r}"] if far else [])
    if report.own_keys:
        given += [f'{one.lower()}=os.environ["{variable_of(one)}"]' for one in _DEVELOPER]
    imports = ("import os",) if report.own_keys else ()
    arguments = "".join(f"        {one},\n" for one in given)
    holds = f"    assert outcome.verdict == {Verdict.HOLDS.value!r}, outcome.reason\n"
    test = (
        f"def {_name(cause)}():\n"
        f"    result = run(\n{arguments}    )\n"
        "    (outcome,) = (\n        one\n        for one in result.outcomes\n"
        f"        if one.id == {f'{cause.rule.name}[{operation}]'!r}\n    )\n"
        "    assert not outcome.findings, outcome.findings[0].message\n" + (holds if alone else "")
    )
    return _Parts(remarks, (*imports, "from mockserver.conformance import run"), (), "", test)


def _name(cause: Cause) -> str:
    told = f"{cause.rule.name}_{cause.examples[0].operation.id}"
    return "test_" + re.sub(r"[^A-Za-z0-9]+", "_", told).strip("_").lower()
