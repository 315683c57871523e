"""A finding as a test of its own: plain pytest that fails where the service is wrong."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from mockserver.conformance.generation.stages import STAGES
from mockserver.conformance.report.causes import Cause
from mockserver.conformance.report.exchanges import (
    WITH_BODY,
    ReportedExchange,
    literal,
    variable_of,
)
from mockserver.conformance.report.masking import Part, Text, label_of
from mockserver.conformance.report.model import Report
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

    Where one answer shows the finding, the test sends that request by itself. Where several are
    needed, the test judges the rule again, for which crosschain-mock has to be installed.
    """
    parts = _parts(cause, report)
    return _CODING + parts.remarks + "\n" + _joined([parts])


def as_pytest(report: Report) -> str:
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
    """Return a file of tests: their imports and helpers, each once, and then the tests."""
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
    """Return the parts of a test; `number` tells its function that sends from those of others."""
    expected, exchange, remarks = cause.expected, cause.best, _remarks(cause)
    if expected is None or exchange is None:
        return _judged_again(cause, report, remarks)
    text = "\n".join((*expected.lines, "")) if expected.lines else ""
    helpers = [_READ] if expected.reads or "read(" in text else []
    helpers += [_AT] if "at(" in text else []
    ask = "ask" if number is None else f"ask_{number}"
    sent = _request(exchange, ask)
    imports = ["import http.client"]
    imports += ["import json"] if helpers else []
    imports += ["import os"] if "os.environ" in sent else []
    imports += ["import re"] if "re.search" in text else []
    imports += ["import time"] if "time.time" in sent else []
    reading = "    envelope = read(body)\n" if expected.reads else ""
    # Where reading the body is the whole test, its value would be an unused name.
    reading = "    read(body)\n" if expected.reads and not expected.lines else reading
    test = f"def {_name(cause)}():\n    answer, body = {ask}()\n" + reading
    return _Parts(
        remarks, tuple(imports), tuple(helpers), sent, test + textwrap.indent(text, "    ")
    )


def _remarks(cause: Cause) -> str:
    what = f"{cause.rule.name} [{cause.operations[0]}], cause {cause.id}"
    lines = (one_line(line)[:600] for line in (what, cause.located, cause.ground))
    wrapped = [part for line in lines for part in textwrap.wrap(line, _WIDTH)]
    # Comments, since no text can end them early as it could a docstring.
    return "".join(f"# {line}\n" for line in wrapped)


def _request(exchange: ReportedExchange, ask: str) -> str:
    """Return the function that sends the request byte for byte."""
    where = urlsplit(exchange.address)
    kind = "HTTPSConnection" if where.scheme == "https" else "HTTPConnection"

    def written(text: Text) -> str:
        """Return a text as an expression, its secrets as variables of the environment."""
        return " + ".join(map(variable, text)) or repr("")

    def variable(part: Part) -> str:
        if not part.label:
            return repr(part.text)
        name = variable_of(part.label)
        if exchange.own_keys:
            return f'os.environ["{name}"]'
        return f'os.environ.get("{name}", {part.text!r})'

    def header(name: str, value: Text) -> str:
        stamp = exchange.stamp_of(name)
        if stamp is not None:
            return _stamped(stamp)
        # Headers travel as UTF-8 here; http.client would send Latin-1.
        is_plain = bool(label_of(name)) or all(part.text.isascii() for part in value)
        return written(value) if is_plain else f"{written(value)}.encode()"

    def body(raw: Text | bytes) -> str:
        if isinstance(raw, bytes):
            return repr(raw)
        return f"({written(raw)}).encode()" if len(raw) > 1 else f"{written(raw)}.encode()"

    lines = [
        f"connection = http.client.{kind}({where.hostname!r}, {where.port!r}, timeout=30)",
        f"target = {written(literal(exchange.target))}",
        f"connection.putrequest({exchange.method!r}, target, skip_accept_encoding=True)",
    ]
    lines += [
        f"connection.putheader({name!r}, {header(name, value)})" for name, value in exchange.fields
    ]
    if not exchange.has_field("Accept"):
        lines.append("connection.putheader('Accept', 'application/json')")
    if exchange.sent.size or exchange.method in WITH_BODY:
        lines += [
            f"sent = {body(exchange.raw_body)}",
            "connection.putheader('Content-Length', str(len(sent)))",
            "connection.endheaders(sent)",
        ]
    else:
        lines.append("connection.endheaders()")
    lines += ["answer = connection.getresponse()", "return answer, answer.read()"]
    return f"\ndef {ask}():\n" + textwrap.indent("\n".join(lines), "    ") + "\n"


def _stamped(offset_s: int) -> str:
    """Return the time of the request as an expression, relative to when the test runs."""
    return f"str((int(time.time()) + {offset_s}) * 1000)"


def _judged_again(cause: Cause, report: Report, remarks: str) -> _Parts:
    """Return a test that judges the rule again, since the finding needs several answers."""
    operation, target = cause.operations[0], report.target
    same = target.v1 == target.v2
    given = [repr(target.v1)] if same else []
    if not same:
        given += [
            f"{name}={base!r}" for name, base in (("v1", target.v1), ("v2", target.v2)) if base
        ]
    # A rule that judges every exchange sends none itself: the other rules have to run as well.
    # Generated requests depend on those before them.
    is_stage = cause.rule.check in STAGES
    alone = not cause.rule.every_exchange and not is_stage
    given += [f"{name}={value!r}" for name, value in report.choices.items() if is_stage]
    given += [f"only=[{cause.rule.name!r}]"] if alone else []
    given += [f"seed={report.seed}"]
    dialect = report.contract.dialect.name
    given += [f"dialect={dialect!r}"] if dialect != "documented" else []
    far = [host for host in target.hosts if not is_loopback(host)]
    given += [f"allow_hosts={far!r}"] if far else []
    if report.submissions:
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
    words = f"{cause.rule.name}_{cause.operations[0]}"
    return "test_" + re.sub(r"[^A-Za-z0-9]+", "_", words).strip("_").lower()
