"""The report as one HTML file: nothing is fetched, no script runs, everything is escaped."""

import html
from collections.abc import Iterator
from pathlib import Path

from mockserver import __version__
from mockserver.conformance.report.model import CauseModel, ExchangeModel, ReportModel
from mockserver.conformance.report.shown import Shown, Text
from mockserver.conformance.verdict import FINDINGS, UNJUDGED, UNREACHED, Verdict
from mockserver.wording import counted, listed, one_line

_STYLE = Path(__file__).with_name("report.css")
_OPEN = 3
_MOST_BODY = 6_000
_MOST_EXCHANGES = 4
_MOST_OTHERS = 50


def as_html(model: ReportModel) -> str:
    """Return the report as the text of an HTML file."""
    return "\n".join(_Page(model).lines()) + "\n"


class _Page:
    """The parts of the page, from the summary to the small print."""

    def __init__(self, model: ReportModel) -> None:
        self._report = model

    def lines(self) -> Iterator[str]:
        """Yield the whole document."""
        report = self._report
        yield "<!DOCTYPE html>"
        yield '<html lang="en"><head><meta charset="utf-8">'
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # Should an escape ever fail, the browser still runs and fetches nothing.
        yield (
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        )
        yield f"<title>{_esc(report.conclusion)}</title>"
        yield f"<style>\n{_STYLE.read_text('utf-8')}{_filtering()}</style></head>"
        yield '<body><div class="page">'
        yield from self._banner()
        yield from self._tiles()
        yield from self._causes()
        yield from self._accepted()
        yield from self._unjudged()
        yield from self._coverage()
        yield from self._rules()
        yield from self._requests()
        yield (
            f"<footer>crosschain-mock {_esc(__version__)} · developer keys and signatures are "
            "masked · a click on a command selects all of it</footer>"
        )
        yield "</div></body></html>"

    def _banner(self) -> Iterator[str]:
        report = self._report
        tone = {0: "good", 1: "violation"}.get(report.exit_code, "differs-from-observed")
        yield f'<header class="banner {tone}"><h1>Conformance of {_esc(report.bases)}</h1>'
        yield f'<p class="says">{_esc(report.conclusion)}</p>'
        yield f'<p class="soft">{_esc(report.circumstances)}</p></header>'
        for text in (*report.hints, *report.notes):
            yield f'<p class="hint">{_clean(text)}</p>'

    def _tiles(self) -> Iterator[str]:
        report = self._report
        findings, counts = report.verdicts, report.counts
        yield '<section class="tiles" aria-label="Summary">'
        for verdict in FINDINGS:
            tone = verdict.value if findings[verdict] else ""
            yield _tile(findings[verdict], verdict.words, tone)
        if report.accepted:
            yield _tile(len(report.accepted), "accepted")
        yield _tile(counts[Verdict.HOLDS], "checks hold", "good")
        for verdict in UNJUDGED:
            yield _tile(
                counts[verdict],
                verdict.words,
                "unclear" if counts[verdict] and verdict in UNREACHED else "",
            )
        yield _tile(report.submissions, "submissions sent")
        if report.coverage is not None:
            yield _tile(f"{report.coverage.whole.score} %", "of facts proven")
        yield "</section>"

    def _causes(self) -> Iterator[str]:
        causes = self._report.causes
        yield "<section>"
        if causes:
            yield from self._filters()
        yield f"<h2>Findings ({counted(len(causes), 'cause')})</h2>"
        yield '<div class="causes">'
        if not causes:
            yield '<p class="soft">nothing was found</p>'
        for number, cause in enumerate(causes):
            yield from self._cause(cause, opened=number < _OPEN)
        yield "</div></section>"

    def _filters(self) -> Iterator[str]:
        found = self._report.verdicts
        shown_verdicts = [verdict for verdict in FINDINGS if found[verdict]]
        yield '<input class="filter" type="radio" name="filter" id="f-all" checked>'
        for verdict in shown_verdicts:
            yield f'<input class="filter" type="radio" name="filter" id="f-{verdict}">'
        yield '<div class="labels">'
        yield f'<label for="f-all">all {sum(found.values())}</label>'
        for verdict in shown_verdicts:
            yield f'<label for="f-{verdict}">{verdict.words} {found[verdict]}</label>'
        yield "</div>"

    def _cause(self, cause: CauseModel, *, opened: bool) -> Iterator[str]:
        rule = cause.rule
        yield f'<details class="cause {cause.verdict}" id="{cause.id}"{" open" * opened}><summary>'
        yield (
            f'<span class="tag">{cause.verdict.words}</span>'
            f'<span class="rule">{_esc(rule.name)}</span> '
            f'<span class="soft">{_esc(listed(cause.operations))}</span>'
        )
        yield f'<span class="what">{_clean(cause.located, 600)}</span>'
        yield '</summary><div class="inside">'
        yield f"<p>{_clean(rule.summary)}</p>"
        yield f"<blockquote>{_clean(cause.ground)}</blockquote>"
        yield (
            f'<p class="soft">cause {cause.id} · {rule.layer} · {rule.severity} · '
            f"{counted(cause.count, 'finding')} in "
            f"{counted(len(cause.operations), 'operation')}</p>"
        )
        for said in cause.expired:
            yield f'<p class="hint">{_clean(said)}</p>'
        exchanges = cause.exchanges
        for exchange in exchanges[:_MOST_EXCHANGES]:
            yield from self._exchange(exchange)
        if len(exchanges) > _MOST_EXCHANGES:
            more = counted(len(exchanges) - _MOST_EXCHANGES, "more exchange")
            yield f'<p class="soft">and {more}</p>'
        yield from self._test(cause)
        yield from self._others(cause)
        yield "</div></details>"

    def _exchange(self, exchange: ExchangeModel) -> Iterator[str]:
        one = exchange.shown(most=_MOST_BODY, pretty=True)
        yield f'<h3>Exchange {one.number}: {_esc(one.probe)}</h3><div class="sides">'
        yield f"<div><pre>{_esc(_request(one))}</pre></div>"
        yield f"<div><pre>{_esc(_answer(one))}</pre></div></div>"
        yield "<h3>As a command</h3>"
        if exchange.needs:
            yield f'<p class="soft">{_esc(exchange.needs)}</p>'
        if one.writes:
            yield '<p class="soft">this is a submission</p>'
        yield f'<pre class="copy">{_esc(exchange.command)}</pre>'

    def _test(self, cause: CauseModel) -> Iterator[str]:
        yield "<h3>As a test</h3><details><summary>pytest</summary>"
        yield f'<div class="inside"><pre class="copy">{_esc(cause.test)}</pre></div></details>'

    def _others(self, cause: CauseModel) -> Iterator[str]:
        if cause.count == 1:
            return
        yield f"<details><summary>all {cause.count} findings</summary>"
        yield '<div class="inside"><table><tr><th>operation</th><th>place</th><th>finding</th></tr>'
        for finding in cause.findings(_MOST_OTHERS):
            yield (
                f"<tr><td>{_esc(finding.operation)}</td>"
                f"<td><code>{_clean(finding.place)}</code></td>"
                f"<td>{_clean(finding.message, 300)}</td></tr>"
            )
        yield "</table></div></details>"

    def _accepted(self) -> Iterator[str]:
        if not self._report.accepted:
            return
        yield "<h2>Accepted</h2><table><tr><th>rule</th><th>operations</th><th>finding</th>"
        yield "<th>owner</th><th>until</th><th>reason</th></tr>"
        for one in self._report.accepted:
            word = one.acceptance
            cells = (
                one.rule.name,
                listed(one.operations),
                one.message,
                word.owner,
                word.expires,
                word.reason,
            )
            inside = "".join(f"<td>{_clean(cell, 300)}</td>" for cell in cells)
            yield f"<tr>{inside}</tr>"
        yield "</table>"

    def _unjudged(self) -> Iterator[str]:
        groups = {verdict: self._report.unjudged(verdict) for verdict in UNJUDGED}
        if not any(groups.values()):
            return
        yield "<h2>Not judged</h2>"
        for verdict, reasons in groups.items():
            if not reasons:
                continue
            number = sum(map(len, reasons.values()))
            yield f"<details><summary>{verdict.words}: {counted(number, 'check')}</summary>"
            yield '<div class="inside"><table><tr><th>reason</th><th>checks</th></tr>'
            for reason, names in reasons.items():
                told = f"<td>{_clean(reason, 600)}</td><td>{_esc(', '.join(names))}</td>"
                yield f"<tr>{told}</tr>"
            yield "</table></div></details>"

    def _coverage(self) -> Iterator[str]:
        coverage = self._report.coverage
        if coverage is None:
            return
        whole = coverage.whole
        yield "<h2>Facts of the contract</h2>"
        yield (
            f"<p>{whole.proven} of {whole.total} facts were proven ({whole.score} %); "
            f"{whole.within_reach} were within reach of this plan ({whole.index} %).</p>"
        )
        targets = coverage.targets
        if targets.total:
            why = "; ".join(f"{count} x {reason}" for reason, count in targets.reasons.items())
            left = f" Left out: {_esc(why)}." if why else ""
            yield f"<p>Edges of inputs: {len(targets.hit)} of {targets.total} asked at.{left}</p>"
        yield "<details><summary>by operation</summary><div class='inside'><table>"
        yield '<tr><th>operation</th><th></th><th class="number">proven</th>'
        yield '<th class="number">within reach</th><th class="number">facts</th></tr>'
        for operation, share in coverage.operations.items():
            yield (
                f"<tr><td>{_esc(operation)}</td>"
                f'<td><meter min="0" max="{share.total}" value="{share.proven}"></meter></td>'
                f'<td class="number">{share.proven}</td>'
                f'<td class="number">{share.within_reach}</td>'
                f'<td class="number">{share.total}</td></tr>'
            )
        yield "</table></div></details>"

    def _rules(self) -> Iterator[str]:
        outcomes = self._report.outcomes
        by_rule: dict[str, list[Verdict]] = {}
        for outcome in outcomes:
            by_rule.setdefault(outcome.rule.name, []).append(outcome.verdict)
        rules = {rule.name: rule for rule in self._report.rules}
        yield "<h2>Rules</h2>"
        yield f"<details><summary>{counted(len(rules), 'rule')}, "
        yield f"{counted(len(outcomes), 'check')}</summary><div class='inside'><table>"
        yield '<tr><th>rule</th><th>says</th><th class="number">holds</th>'
        yield '<th class="number">found</th><th class="number">not judged</th></tr>'
        for name, verdicts in by_rule.items():
            holds = sum(verdict is Verdict.HOLDS for verdict in verdicts)
            found = sum(verdict.is_finding for verdict in verdicts)
            yield (
                f"<tr><td>{_esc(name)}</td><td>{_clean(rules[name].summary)}</td>"
                f'<td class="number">{holds}</td><td class="number">{found}</td>'
                f'<td class="number">{len(verdicts) - holds - found}</td></tr>'
            )
        yield "</table></div></details>"

    def _requests(self) -> Iterator[str]:
        result = self._report
        yield "<h2>Requests sent</h2>"
        yield f"<details><summary>{counted(result.requests, 'request')}, "
        yield f"submissions sent: {result.submissions}</summary><div class='inside'><table>"
        yield '<tr><th>operation</th><th>kind</th><th class="number">sent</th></tr>'
        for operation in result.contract:
            kind = "submission" if operation.writes else "read"
            tone = ' class="writes"' if operation.writes else ""
            number = result.sent.get(operation.id, 0)
            yield f"<tr{tone}><td>{_esc(operation.id)}</td><td>{kind}</td>"
            yield f'<td class="number">{number}</td></tr>'
        if result.sent_elsewhere:
            yield "<tr><td>no operation</td><td>read</td>"
            yield f'<td class="number">{result.sent_elsewhere}</td></tr>'
        yield "</table></div></details>"


def _request(one: Shown) -> str:
    lines = [f"{one.method} {one.url}", *(f"{name}: {value}" for name, value in one.headers)]
    return _with_body(lines, one.body)


def _answer(one: Shown) -> str:
    if one.trouble and not one.status:
        return one.trouble
    lines = [f"HTTP {one.status} in {one.elapsed_ms} ms"]
    lines += [f"{name}: {value}" for name, value in one.answer_headers]
    if one.trouble:
        lines.append(f"({one.trouble})")
    return _with_body(lines, one.answer)


def _with_body(lines: list[str], body: Text) -> str:
    return "\n".join([*lines, "", str(body)] if body.size else lines)


def _tile(number: object, name: str, tone: str = "") -> str:
    return f'<div class="tile {tone}"><b>{_esc(str(number))}</b><span>{_esc(name)}</span></div>'


def _esc(text: str) -> str:
    return html.escape(text)


def _clean(text: str, most: int = 2_000) -> str:
    return _esc(one_line(text, most))


def _filtering() -> str:
    """Return the rules that show one verdict when its button is chosen, without any script."""
    hiding = (
        f"#f-{verdict}:checked ~ .causes .cause:not(.{verdict}) {{ display: none; }}"
        for verdict in FINDINGS
    )
    chosen = (
        f"#f-{name}:checked ~ .labels label[for=f-{name}] "
        "{ color: var(--ink); border-color: var(--ink); font-weight: 600; }"
        for name in ("all", *FINDINGS)
    )
    return "\n".join((*hiding, *chosen))
