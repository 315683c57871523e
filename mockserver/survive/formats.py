"""Reports for browsers, for build servers, and as tests of the client."""

import json
from collections.abc import Callable, Mapping
from html import escape
from types import MappingProxyType
from xml.sax.saxutils import quoteattr

from mockserver.survive.outcomes import BAD, RunOutcome, RunResult
from mockserver.survive.report import as_json, ordered, summary, terminal, timeline
from mockserver.survive.search import SearchReport
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    """What was searched: the flow, the command that searches it again, and the seed."""

    flow: str
    command: str
    seed: int | None


def _json(report: SearchReport, subject: Subject) -> str:
    return (
        json.dumps(as_json(report, subject.flow, subject.seed), indent=1, ensure_ascii=False) + "\n"
    )


def _text(report: SearchReport, subject: Subject) -> str:
    return "\n".join(terminal(report, subject.command)) + "\n"


def _junit(report: SearchReport, subject: Subject) -> str:
    cases, failures = [], 0
    for name, result in sorted(report.results.items()):
        attributes = f"classname={quoteattr('survive')} name={quoteattr(name)}"
        inner = ""
        if result.bad:
            failures += 1
            what = "; ".join(result.costs) or result.why
            lines = "\n".join(timeline(result.run, result.diverged))
            about = f"type={quoteattr(result.outcome.value)} message={quoteattr(what)}"
            inner = f"<failure {about}>{escape(lines)}</failure>"
        elif result.outcome in (RunOutcome.NOT_REACHED, RunOutcome.UNSURE):
            inner = f"<skipped message={quoteattr(result.why)}/>"
        cases.append(f"  <testcase {attributes}>{inner}</testcase>")
    head = f'<testsuite name="survive" tests="{len(cases)}" failures="{failures}" errors="0">'
    rows = "\n".join(cases)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}\n{rows}\n</testsuite>\n'


def _sarif(report: SearchReport, subject: Subject) -> str:
    rules = {
        failure.kind.name: {"text": failure.kind.summary}
        for defect in report.defects
        for failure in defect.result.run.failures
    }
    results = [
        {
            "ruleId": defect.result.run.failures[0].kind.name,
            "level": "error",
            "message": {"text": f"{_what(defect.result)} ({defect.result.name})"},
            "partialFingerprints": {"failure": defect.result.name},
            "locations": [
                {"logicalLocations": [{"fullyQualifiedName": subject.flow, "kind": "function"}]}
            ],
        }
        for defect in ordered(report.defects)
    ]
    driver = {
        "name": "crosschain-mock survive",
        "rules": [{"id": name, "shortDescription": text} for name, text in sorted(rules.items())],
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _what(result: RunResult) -> str:
    return f"{result.outcome.value}: {'; '.join(result.costs) or result.why}"


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}"
    "pre{overflow:auto;background:#8881;padding:.6rem}td{padding:.1rem .6rem}"
    ".two{display:grid;grid-template-columns:1fr 1fr;gap:1rem}.bad{color:#b00020}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}.bad{color:#ff6b6b}}"
)


def _html(report: SearchReport, subject: Subject) -> str:
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<title>Which failure costs money?</title>",
        f"<style>{_STYLE}</style><h1>Which failure costs money?</h1>",
        f"<p><code>{escape(subject.flow)}</code>: {escape(summary(report))}</p>",
    ]
    if report.unsure:
        parts.append(f"<p class=bad>Unsure: {escape(report.unsure)}.</p>")
    parts += [_defect_html(defect.result, report) for defect in ordered(report.defects)]
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code><td class={'bad' if result.bad else 'ok'}>"
        f"{result.outcome.value}<td>{escape(result.why)}"
        for name, result in sorted(report.results.items())
    )
    parts.append(f"<h2>All failures</h2><table>{rows}</table></html>")
    return "\n".join(parts) + "\n"


def _defect_html(result: RunResult, report: SearchReport) -> str:
    why = " and ".join(failure.kind.summary for failure in result.run.failures)
    ours = "\n".join(timeline(result.run, result.diverged))
    theirs = "\n".join(timeline(report.base, result.diverged))
    return (
        f"<h2 class=bad>{escape(_what(result))}</h2><p>When {escape(why)} "
        f"(<code>{escape(result.name)}</code>).</p><div class=two><div><h3>Undisturbed</h3>"
        f"<pre>{escape(theirs)}</pre></div><div><h3>With the failure</h3>"
        f"<pre>{escape(ours)}</pre></div></div>"
    )


_TEST = '''"""What `crosschain-mock survive` has found, one test for each defect."""

import pytest
from mockserver.survive import survive


def flow(service):
    """Run the client: here, what was searched was {flow}."""
    raise NotImplementedError("call your client with service.base_url_v2 and service.state")


@pytest.mark.parametrize("failure", {names!r})
def test_no_money_is_lost(failure):
    assert survive(flow, replay=[failure])
'''


def _test(report: SearchReport, subject: Subject) -> str:
    names = [defect.result.name for defect in ordered(report.defects)]
    return _TEST.format(flow=repr(subject.flow), names=names)


FORMATS: Mapping[str, Callable[[SearchReport, Subject], str]] = MappingProxyType(
    {"text": _text, "json": _json, "html": _html, "junit": _junit, "sarif": _sarif, "test": _test}
)
"""The formats of a report by name."""


def failing(report: SearchReport, fail_on: tuple[str, ...]) -> bool:
    """Tell whether a search fails: by an outcome that is named, or since it is unsure."""
    return any(
        result.outcome in fail_on and (result.bad or result.outcome not in BAD)
        for result in report.results.values()
    )
