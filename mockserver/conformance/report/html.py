"""The report as one HTML file: nothing is fetched, no script runs, everything is escaped.

Its parts are in `report.html`. Should an escape ever fail, the browser still runs and fetches
nothing, as the policy in the page says.
"""

import html
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from string import Formatter

from mockserver import __version__
from mockserver.conformance.report.causes import Cause
from mockserver.conformance.report.exchanges import ReportedExchange
from mockserver.conformance.report.model import Report
from mockserver.conformance.verdict import FINDINGS, UNJUDGED, UNREACHED, Verdict
from mockserver.wording import counted, listed, one_line

_FOLDER = Path(__file__).parent
_OPEN = 3
_MOST_BODY = 6_000
_MOST_EXCHANGES = 4
_MOST_OTHERS = 50
_LONGEST_LINE = 2_000


def as_html(model: Report) -> str:
    style = f"{(_FOLDER / 'report.css').read_text('utf-8')}{_filtering()}"
    return _part(
        "page",
        conclusion=model.conclusion,
        version=__version__,
        style=style,
        parts=_joined(_parts(model)),
    )


def _parts(model: Report) -> Iterator[str]:
    tone = {0: "good", 1: Verdict.VIOLATION}.get(model.exit_code, Verdict.DIFFERS_OBSERVED)
    yield _part(
        "banner",
        tone=tone,
        bases=model.bases,
        conclusion=model.conclusion,
        circumstances=model.circumstances,
    )
    yield from (_part("hint", text=text) for text in (*model.hints, *model.notes))
    yield _part("tiles", tiles=_joined(_tiles(model)))
    yield _findings(model)
    if model.accepted:
        rows = (
            _part("accepted_cause", cause=cause, operations=listed(cause.operations))
            for cause in model.accepted
        )
        yield _part("accepted", rows=_joined(rows))
    yield from _unjudged(model)
    yield from _coverage(model)
    yield _rules(model)
    yield _requests(model)


def _tiles(model: Report) -> Iterator[str]:
    def tile(number: object, name: str, tone: str = "") -> str:
        return _part("tile", number=number, name=name, tone=tone)

    for verdict in FINDINGS:
        number = model.verdicts[verdict]
        yield tile(number, verdict.words, verdict.value if number else "")
    if model.accepted:
        yield tile(len(model.accepted), "accepted")
    yield tile(model.counts[Verdict.HOLDS], "checks hold", "good")
    for verdict in UNJUDGED:
        number = model.counts[verdict]
        yield tile(number, verdict.words, "unclear" if number and verdict in UNREACHED else "")
    yield tile(model.submissions, "submissions sent")
    if model.coverage is not None:
        yield tile(f"{model.coverage.overall.score} %", "of facts proven")


def _findings(model: Report) -> str:
    counts = {verdict: model.verdicts[verdict] for verdict in FINDINGS if model.verdicts[verdict]}
    filters = _part(
        "filters",
        inputs=_joined(_part("filter", verdict=verdict) for verdict in counts),
        total=sum(counts.values()),
        labels=_joined(
            _part("label", verdict=verdict, words=verdict.words, number=number)
            for verdict, number in counts.items()
        ),
    )
    order = [cause for head in model.explained for cause in head.every]
    causes = [_cause(cause, opened=n < _OPEN) for n, cause in enumerate(order)]
    return _part(
        "findings",
        filters=filters if causes else "",
        number=counted(len(causes), "cause"),
        causes=_joined(causes or [_part("nothing")]),
    )


def _cause(cause: Cause, *, opened: bool) -> str:
    return _part(
        "cause",
        cause=cause,
        opened=" open" * opened,
        operations=listed(cause.operations),
        findings=counted(cause.count, "finding"),
        places=counted(len(cause.operations), "operation"),
        details=_joined(_details(cause)),
    )


def _details(cause: Cause) -> Iterator[str]:
    yield from (_part("hint", text=f"was {word}") for word in cause.expired)
    yield from map(_exchange, cause.exchanges[:_MOST_EXCHANGES])
    if len(cause.exchanges) > _MOST_EXCHANGES:
        more = counted(len(cause.exchanges) - _MOST_EXCHANGES, "more exchange")
        yield _part("remark", text=f"and {more}")
    if cause.count > 1:
        rows = (_part("finding", finding=finding) for finding in cause.findings[:_MOST_OTHERS])
        yield _part("all", count=cause.count, rows=_joined(rows))


def _exchange(reported_exchange: ReportedExchange) -> str:
    sent, came = (
        str(body.in_lines().shortened(_MOST_BODY))
        for body in (reported_exchange.sent, reported_exchange.came)
    )
    request = [
        f"{reported_exchange.method} {reported_exchange.url}",
        *(f"{name}: {value}" for name, value in reported_exchange.headers),
    ]
    answered = [f"HTTP {reported_exchange.status} in {reported_exchange.elapsed_ms} ms"]
    answered += [f"{name}: {value}" for name, value in reported_exchange.answer_headers]
    answered += [f"({reported_exchange.trouble})"] if reported_exchange.trouble else []
    remarks = [reported_exchange.needs, "this is a submission" if reported_exchange.submits else ""]
    return _part(
        "exchange",
        exchange=reported_exchange,
        sent="\n".join([*request, "", sent] if sent else request),
        came=(
            reported_exchange.trouble
            if reported_exchange.trouble and not reported_exchange.status
            else "\n".join([*answered, "", came] if came else answered)
        ),
        remarks="".join(_part("remark", text=text) + "\n" for text in remarks if text),
    )


def _unjudged(model: Report) -> Iterator[str]:
    groups = []
    for verdict in UNJUDGED:
        reasons = model.unjudged(verdict)
        rows = (
            _part("reason", reason=reason, names=", ".join(names))
            for reason, names in reasons.items()
        )
        checks = counted(sum(map(len, reasons.values())), "check")
        if reasons:
            groups.append(_part("reasons", words=verdict.words, checks=checks, rows=_joined(rows)))
    if groups:
        yield _part("unjudged", groups=_joined(groups))


def _coverage(model: Report) -> Iterator[str]:
    coverage = model.coverage
    if coverage is None:
        return
    targets = coverage.targets
    why = "; ".join(f"{count} x {reason}" for reason, count in targets.reasons.items())
    left = f" Left out: {why}." if why else ""
    edges = _part("edges", hit=len(targets.hit), total=targets.total, left=left)
    rows = (
        _part("share", operation=operation, share=share)
        for operation, share in coverage.operations.items()
    )
    yield _part(
        "coverage",
        overall=coverage.overall,
        keywords=coverage.keywords,
        edges=edges if targets.total else "",
        rows=_joined(rows),
    )


def _rules(model: Report) -> str:
    by_rule: dict[str, list[Verdict]] = {rule.name: [] for rule in model.rules}
    for outcome in model.outcomes:
        by_rule[outcome.rule.name].append(outcome.verdict)
    rows = []
    for rule in model.rules:
        verdicts = by_rule[rule.name]
        holds = verdicts.count(Verdict.HOLDS)
        finding_count = sum(verdict.is_finding for verdict in verdicts)
        rest = len(verdicts) - holds - finding_count
        rows.append(_part("rule", rule=rule, holds=holds, finding_count=finding_count, rest=rest))
    return _part(
        "rules",
        rules=counted(len(rows), "rule"),
        checks=counted(len(model.outcomes), "check"),
        rows=_joined(rows),
    )


def _requests(model: Report) -> str:
    rows = [
        _part(
            "request",
            tone=' class="writes"' if operation.writes else "",
            operation=operation.id,
            kind="submission" if operation.writes else "read",
            number=model.sent.get(operation.id, 0),
        )
        for operation in model.contract
    ]
    if model.sent_elsewhere:
        elsewhere = {"tone": "", "operation": "no operation", "kind": "read"}
        rows.append(_part("request", number=model.sent_elsewhere, **elsewhere))
    return _part(
        "requests",
        number=counted(model.requests, "request"),
        submissions=model.submissions,
        rows=_joined(rows),
    )


class _Escaping(Formatter):
    """Fills the fields of a part, escaped unless the part says that a field is made already."""

    def format_field(self, value: object, format_spec: str) -> str:
        text = str(value)
        if format_spec == "raw":
            return text
        if format_spec:
            most = _LONGEST_LINE if format_spec == "line" else int(format_spec)
            text = one_line(text, most)
        return html.escape(text)


_FORMATTER = _Escaping()


@cache
def _templates() -> dict[str, str]:
    text = (_FOLDER / "report.html").read_text("utf-8")
    _, *parts = re.split(r"^<!-- @(\w+) -->\n", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _part(name: str, /, **fields: object) -> str:
    text = _FORMATTER.vformat(_templates()[name], (), fields)
    return text if name == "page" else text[:-1]


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(parts)


def _filtering() -> str:
    """Return the CSS that shows one verdict when its button is chosen, without any script."""
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
