"""The report as one HTML file: nothing is fetched, one script copies, everything is escaped.

Its parts are in `report.html`. Should an escape ever fail, the browser still fetches nothing, and
runs and applies only the script and the style whose hashes the policy in the page names.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from string import Formatter

from mockserver import __version__
from mockserver.conformance.report.causes import Cause
from mockserver.conformance.report.exchanges_and_curl import ReportedExchange
from mockserver.conformance.report.highlighting import (
    MarkedSpan,
    answer_spans,
    body_spans,
    head_spans,
)
from mockserver.conformance.report.masking import BodyText
from mockserver.conformance.report.model import Report
from mockserver.conformance.report.rule_reruns import command_again
from mockserver.conformance.verdict import FINDINGS, UNJUDGED, UNREACHED, Verdict
from mockserver.fast_dataclass import grouped
from mockserver.mock_headers import policy_hash
from mockserver.wording import counted, listed, one_line

_FOLDER = Path(__file__).parent
_OPEN = 3
_MOST_BODY = 6_000
# So much of a body stands before a member that is marked further down.
_MOST_BEFORE = 1_500
_MOST_EXCHANGES = 4
_MOST_OTHERS = 50
_LONGEST_LINE = 2_000
_LONGEST_MESSAGE = 600
_CODE = re.compile(r"`([^`]+)`")


def as_html(model: Report) -> str:
    style = f"{(_FOLDER / 'report.css').read_text('utf-8')}{_filtering()}"
    script = (_FOLDER / "report.js").read_text("utf-8")
    return _part(
        "page",
        conclusion=model.conclusion,
        version=__version__,
        style=style,
        style_hash=policy_hash(style),
        script=script,
        script_hash=policy_hash(script),
        parts=_joined(_parts(model)),
    )


def _parts(model: Report) -> Iterator[str]:
    tone = {0: "good", 1: Verdict.VIOLATION}.get(model.exit_code, Verdict.DIFFERS_OBSERVED)
    yield _part("banner", tone=tone, model=model)
    yield from (_part("hint", text=text) for text in (*model.hints, *model.notes))
    yield _part("tiles", tiles=_joined(_tiles(model)))
    yield _findings(model)
    if model.accepted:
        row = partial(_part, "accepted_cause")
        rows = (row(cause=cause, operations=listed(cause.operations)) for cause in model.accepted)
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
    inputs = _joined(_part("filter", verdict=verdict) for verdict in counts)
    labels = _joined(
        _part("label", verdict=verdict, words=verdict.words, number=number)
        for verdict, number in counts.items()
    )
    filters = _part("filters", inputs=inputs, total=sum(counts.values()), labels=labels)
    order = [cause for head in model.explained for cause in head.every]
    causes = [_cause(model, cause, opened=n < _OPEN) for n, cause in enumerate(order)]
    number, shown = counted(len(causes), "cause"), _joined(causes or [_part("nothing")])
    return _part("findings", filters=filters if causes else "", number=number, causes=shown)


def _cause(model: Report, cause: Cause, *, opened: bool) -> str:
    return _part(
        "cause",
        cause=cause,
        opened=" open" * opened,
        operations=listed(cause.operations),
        what=_located(cause),
        findings=counted(cause.count, "finding"),
        places=counted(len(cause.operations), "operation"),
        details=_joined(_details(model, cause)),
    )


def _located(cause: Cause) -> str:
    """Return the message of a cause, in which its place is code."""
    text, place = one_line(cause.located, _LONGEST_MESSAGE), cause.findings[0].place
    if not place or not text.startswith(place):
        return _inline(text)
    return f"<code>{html.escape(place)}</code>{_inline(text[len(place) :])}"


def _details(model: Report, cause: Cause) -> Iterator[str]:
    yield from (_part("hint", text=f"was {word}") for word in cause.expired)
    for exchange in cause.exchanges[:_MOST_EXCHANGES]:
        yield _exchange(exchange, _places(cause, exchange))
    if len(cause.exchanges) > _MOST_EXCHANGES:
        more = counted(len(cause.exchanges) - _MOST_EXCHANGES, "more exchange")
        yield _part("remark", text=f"and {more}")
    if again := command_again(model, cause):
        yield _part("command", about="This rule alone, once more:", command=again)
    if cause.count > 1:
        rows = (_part("finding", finding=finding) for finding in cause.findings[:_MOST_OTHERS])
        yield _part("all", count=cause.count, rows=_joined(rows))


def _places(cause: Cause, exchange: ReportedExchange) -> tuple[str, ...]:
    """Return the places of the findings that an exchange shows."""
    # What it is compared with is marked, too, where that is another answer of the same operation:
    # the members of others only have the same name by chance.
    return tuple(
        finding.place
        for finding in cause.findings
        if exchange.number in finding.numbers
        and (exchange.operation == finding.operation or exchange is finding.exchanges[-1])
    )


def _exchange(exchange: ReportedExchange, places: Sequence[str]) -> str:
    request = _joined((f"{exchange.method} {exchange.url}", *map(": ".join, exchange.headers)))
    answered = [f"HTTP {exchange.status} in {exchange.elapsed_ms} ms"]
    answered += map(": ".join, exchange.answer_headers)
    answered += [f"({exchange.trouble})"] if exchange.trouble else []
    head = _joined(answered) if exchange.status or not exchange.trouble else exchange.trouble
    sent = _body(exchange.sent, partial(body_spans, places=places))
    came = _body(exchange.came, partial(answer_spans, places=places)) if exchange.status else ""
    return _part(
        "exchange",
        exchange=exchange,
        sent=_with_body(_marked(request, head_spans(request, places)), sent),
        came=_with_body(html.escape(head), came),
        commands=_joined(_commands(exchange)),
    )


def _commands(exchange: ReportedExchange) -> Iterator[str]:
    in_words, signing = exchange.preparation
    if exchange.submits:
        yield _part("remark", text="This is a submission.")
    if in_words:
        yield _part("remark", text=f"Before the command: {in_words}.")
    if signing:
        yield _part("command", about="Before the command, sign:", command=signing)
    yield _part("command", about="As a command:", command=exchange.command)
    if exchange.saved:
        about = "A line of a file for `--probes`, which sends it in every run:"
        yield _part("command", about=about, command=exchange.saved)


def _with_body(head: str, body: str) -> str:
    return f"{head}\n\n{body}" if body else head


def _body(body: BodyText, spans_of: Callable[[str], tuple[MarkedSpan, ...]]) -> str:
    """Return a body as HTML, from its beginning or from shortly before the first mark."""
    lines = body.in_lines()
    spans = spans_of(lines.text) if lines.is_json else ()
    start = 0
    if spans and spans[0].end > _MOST_BODY:
        near = max(spans[0].start - _MOST_BEFORE, 0)
        # From the beginning of a line, so that what is shown keeps its indentation.
        start = lines.text.rfind("\n", 0, near) + 1 or near
    shown = replace(lines, text=lines.text[start:]).shortened(_MOST_BODY)
    end = start + len(shown.text)
    inside = [
        MarkedSpan(span.start - start, min(span.end, end) - start)
        for span in spans
        if span.start < end
    ]
    left_out = f"… ({start} characters before)\n" if start else ""
    return left_out + _marked(str(shown), inside)


def _marked(text: str, spans: Iterable[MarkedSpan]) -> str:
    """Return a text as HTML in which what a finding is about is marked."""
    pieces, done = [], 0
    for span in spans:
        pieces.append(html.escape(text[done : span.start]))
        pieces.append(f"<mark>{html.escape(text[span.start : span.end])}</mark>")
        done = span.end
    return "".join((*pieces, html.escape(text[done:])))


def _inline(text: str) -> str:
    """Return a line as HTML; what stands between backticks is code."""
    return _CODE.sub(r"<code>\1</code>", html.escape(text))


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
    targets, never = coverage.targets, coverage.keywords.reasons
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
        never="; ".join(f"{len(names)} x {why}" for why, names in never.items()) or "none",
        edges=edges if targets.total else "",
        rows=_joined(rows),
    )


def _rules(model: Report) -> str:
    rows = []
    for outcomes in grouped(model.outcomes, lambda outcome: outcome.rule.name).values():
        rule, verdicts = outcomes[0].rule, [outcome.verdict for outcome in outcomes]
        holds = verdicts.count(Verdict.HOLDS)
        finding_count = sum(verdict.is_finding for verdict in verdicts)
        rest = len(verdicts) - holds - finding_count
        rows.append(_part("rule", rule=rule, holds=holds, finding_count=finding_count, rest=rest))
    rules, checks = counted(len(rows), "rule"), counted(len(model.outcomes), "check")
    return _part("rules", rules=rules, checks=checks, rows=_joined(rows))


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
    number = counted(model.requests, "request")
    return _part("requests", number=number, submissions=model.submissions, rows=_joined(rows))


class _Escaping(Formatter):
    """Fills the fields of a part, escaped unless the part says that a field is made already."""

    def format_field(self, value: object, format_spec: str) -> str:
        text = str(value)
        # Named in the template, where a reviewer sees each place that is not escaped.
        if format_spec == "raw":
            return text
        if not format_spec:
            return html.escape(text)
        most = _LONGEST_LINE if format_spec == "line" else int(format_spec)
        return _inline(one_line(text, most))


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
