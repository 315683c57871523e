"""Reports for browsers, for build servers, and as tests of the client."""

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from xml.sax.saxutils import quoteattr

from mockserver.mock_headers import policy_hash
from mockserver.survive.exports import as_test
from mockserver.survive.outcomes import BAD, UNDISTURBED, RunOutcome, RunResult
from mockserver.survive.report import (
    Subject,
    as_json,
    coverage,
    ordered,
    outcomes_by_place,
    see_again,
    summary,
    terminal,
    timeline,
)
from mockserver.survive.search import Defect, SearchReport


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
    return junit_suite("survive", cases, failures)


def junit_suite(name: str, cases: Sequence[str], failures: int) -> str:
    """Return the JUnit report of test cases that are XML already."""
    head = f'<testsuite name="{name}" tests="{len(cases)}" failures="{failures}" errors="0">'
    rows = "\n".join(cases)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}\n{rows}\n</testsuite>\n'


def _sarif(report: SearchReport, subject: Subject) -> str:
    rules = {
        failure.kind.name: {"text": failure.kind.summary}
        for defect in report.defects
        for failure in defect.result.run.failures
    }
    if any(not defect.result.run.failures for defect in report.defects):
        rules[UNDISTURBED] = {"text": "wrong although nothing goes wrong"}
    results = [
        {
            "ruleId": _rule(defect.result),
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


def _rule(result: RunResult) -> str:
    """Return the kind of a result's first failure, or that it needs none."""
    return next((failure.kind.name for failure in result.run.failures), result.name)


def _what(result: RunResult) -> str:
    return f"{result.outcome.value}: {'; '.join(result.costs) or result.why}"


_STYLE = (
    ":root{color-scheme:light dark}h1{font-size:1.5rem}"
    ":not(pre)>code{background:#8882;border-radius:3px;padding:0 .2rem}"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}"
    "pre{overflow:auto;background:#8881;padding:.6rem}td{padding:.1rem .6rem}"
    ".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(28rem,100%),1fr));gap:1rem}"
    ".two>*{min-width:0}.wide{overflow-x:auto}.bad{color:#b00020}.yes{color:#1b6e2e}"
    "pre.wrap{white-space:pre-wrap;overflow-wrap:anywhere}"
    "table{border-collapse:collapse}th{font-weight:normal;text-align:left;padding:.1rem .6rem}"
    ".grid td,.grid th{border:1px solid #8884;text-align:center}"
    ".grid th[scope=row]{text-align:left}"
    "h2,p{overflow-wrap:anywhere}.grid td,.all td:nth-child(-n+2){white-space:nowrap}"
    ".all td{vertical-align:top}.all td:last-child{min-width:16rem;overflow-wrap:anywhere}"
    # On a phone a row of many columns becomes a few lines, of which none is out of sight.
    "@media(max-width:40rem){.all tr{display:block;border-top:1px solid #8884;padding:.3rem 0}"
    ".all td,.all th{display:inline-block;padding:0 .6rem 0 0}.all td:last-child{min-width:0}"
    ".all td:nth-child(-n+2){white-space:normal;overflow-wrap:anywhere}}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}.bad{color:#ff6b6b}"
    ".yes{color:#7fd896}}"
)


def html_page(title: str, parts: Sequence[str]) -> str:
    """Return a page that stands alone: it fetches nothing, and has no style but its own."""
    style = policy_hash(_STYLE)
    policy = f"default-src 'none'; style-src '{style}'; base-uri 'none'; form-action 'none'"
    head = (
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width,initial-scale=1'>",
        f'<meta http-equiv=Content-Security-Policy content="{policy}">',
        f"<title>{title}</title><style>{_STYLE}</style><h1>{title}</h1>",
    )
    return "\n".join((*head, *parts)) + "</html>\n"


def _html(report: SearchReport, subject: Subject) -> str:
    parts = [f"<p><code>{escape(subject.flow)}</code>: {escape(summary(report))}</p>"]
    if report.unsure:
        parts.append(f"<p class=bad>Unsure: {escape(report.unsure)}.</p>")
    parts += [f"<p>Note: {escape(note)}.</p>" for note in report.notes]
    parts += [_defect_html(defect, report, subject) for defect in ordered(report.defects)]
    parts.append(_table_html(report))
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code><td class={'bad' if result.bad else 'ok'}>"
        f"{result.outcome.value}<td>{escape(result.why)}"
        for name, result in sorted(report.results.items())
    )
    parts.append(f"<h2>All failures</h2><div class=wide><table class=all>{rows}</table></div>")
    return html_page("Which failure costs money?", parts)


def _table_html(report: SearchReport) -> str:
    """Return the table of calls and kinds, with how many of the failures struck."""
    cells = outcomes_by_place(report)
    kinds = list(dict.fromkeys(name for row in cells.values() for name in row))
    if not kinds:
        return ""
    heads = "".join(f"<th scope=col>{escape(name)}" for name in kinds)
    rows = "".join(
        f"<tr><th scope=row><code>{escape(point)}</code>"
        + "".join(_cell(row.get(name)) for name in kinds)
        for point, row in cells.items()
    )
    reached, planned = coverage(report)
    percent = 100 * reached // planned if planned else 0
    return (
        f"<h2>Where each kind struck</h2><p>{reached} of {planned} failures struck ({percent} %). "
        "Each cell has the worst outcome; an empty one was not tried there.</p>"
        f"<div class=wide><table class=grid><tr><th>{heads}{rows}</table></div>"
    )


def _cell(outcome: RunOutcome | None) -> str:
    if outcome is None:
        return "<td>"
    style = "bad" if outcome in BAD else "yes" if outcome is RunOutcome.SURVIVED else "ok"
    return f"<td class={style}>{outcome.value}"


def _defect_html(defect: Defect, report: SearchReport, subject: Subject) -> str:
    result = defect.result
    why = " and ".join(failure.kind.summary for failure in result.run.failures)
    ours = "\n".join(timeline(result.run, result.diverged))
    # The same stretch, so that a reader compares line with line.
    theirs = "\n".join(timeline(report.base, result.diverged, result.run))
    return (
        f"<h2 class=bad>{escape(_what(result))}</h2><p>When {escape(why or 'nothing goes wrong')} "
        f"(<code>{escape(result.name)}</code>). {escape(result.why)}</p><div class=two><div>"
        f"<h3>Undisturbed</h3><pre>{escape(theirs)}</pre></div><div><h3>With the failure</h3>"
        f"<pre>{escape(ours)}</pre></div></div>"
        f"<p>See it again:</p><pre class=wrap>{escape(see_again(result, subject.command))}</pre>"
    )


FORMATS: Mapping[str, Callable[[SearchReport, Subject], str]] = MappingProxyType(
    {"text": _text, "json": _json, "html": _html, "junit": _junit, "sarif": _sarif, "test": as_test}
)
"""The formats of a report by name."""


def failing(report: SearchReport, fail_on: tuple[str, ...]) -> bool:
    """Tell whether a search fails: by an outcome that is named, or since it is unsure."""
    return any(
        result.outcome in fail_on and (result.bad or result.outcome not in BAD)
        for result in report.results.values()
    )
