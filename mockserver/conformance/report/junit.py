"""The report as JUnit XML: a testcase for each rule and operation."""

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from mockserver.conformance.checks.outcome import Outcome
from mockserver.conformance.report.basis_text import ground_of
from mockserver.conformance.report.causes import Cause, causes_of
from mockserver.conformance.report.report import Acceptance, Report
from mockserver.conformance.report.shown import visible
from mockserver.conformance.report.snippets import curl, needs
from mockserver.conformance.verdict import UNJUDGED, Layer


def as_junit(report: Report) -> str:
    """Return the report as XML text.

    What fails the run is a failure; what was not judged, and what a baseline accepts, is skipped;
    milder findings pass and are told in the output of their testcase.
    """
    page = _Page(report)
    suites = [suite for layer in Layer for suite in page.suite(layer)]
    result = report.result
    failures = sum(page.failed(outcome) for outcome in result.outcomes)
    # `testsuites` has no `skipped` in the schema that Jenkins holds reports against.
    head = (
        f'<testsuites name="crosschain-mock conform" tests="{len(result.outcomes)}" '
        f'failures="{failures}" errors="0" '
        f'time="{result.elapsed_ms / 1000:.3f}">'
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>", ""]
    return "\n".join(lines)


class _Page:
    """The parts of the document."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._open = {id(example.finding) for cause in report.causes for example in cause.examples}
        self._words = {
            id(example.finding): one.acceptance
            for one in report.accepted
            for example in one.cause.examples
        }

    def suite(self, layer: Layer) -> Iterator[str]:
        """Yield the lines of a layer, none where it has no rule."""
        outcomes = [one for one in self._report.result.outcomes if one.rule.layer is layer]
        if not outcomes:
            return
        failures = sum(map(self.failed, outcomes))
        skipped = sum(map(self.skipped, outcomes))
        yield (
            f'  <testsuite name="conformance.{layer}" tests="{len(outcomes)}" '
            f'failures="{failures}" errors="0" skipped="{skipped}">'
        )
        for line in self._properties():
            yield f"    {line}"
        for outcome in outcomes:
            yield from self._case(outcome)
        yield "  </testsuite>"

    def failed(self, outcome: Outcome) -> bool:
        """Tell whether an outcome fails the run."""
        return any(cause.verdict in self._report.failing for cause in self._causes(outcome))

    def skipped(self, outcome: Outcome) -> bool:
        """Tell whether an outcome is neither good nor bad."""
        accepted = any(id(finding) in self._words for finding in outcome.findings)
        return outcome.verdict in UNJUDGED or (accepted and not self._causes(outcome))

    def _properties(self) -> Iterator[str]:
        result = self._report.result
        told = {
            "seed": str(result.seed),
            "target": ", ".join(dict.fromkeys(result.target.bases.values())),
            "requests": str(result.requests),
            "submissions": str(result.submissions),
        }
        yield "<properties>"
        for name, value in told.items():
            yield f"  <property name={quoteattr(name)} value={quoteattr(self._clean(value))}/>"
        yield "</properties>"

    def _case(self, outcome: Outcome) -> Iterator[str]:
        rule = outcome.rule
        attributes = (
            f"classname={quoteattr(f'conformance.{rule.layer}.{rule.name}')} "
            f"name={quoteattr(outcome.id)}"
        )
        inside = [*self._inside(outcome)]
        if not inside:
            yield f"    <testcase {attributes}/>"
            return
        yield f"    <testcase {attributes}>"
        yield from inside
        yield "    </testcase>"

    def _inside(self, outcome: Outcome) -> Iterator[str]:
        if outcome.verdict in UNJUDGED:
            told = quoteattr(self._clean(f"{outcome.verdict}: {outcome.reason}"))
            yield f"      <skipped message={told}/>"
            return
        causes = self._causes(outcome)
        for cause in causes:
            if cause.verdict in self._report.failing:
                message = quoteattr(self._clean(cause.told))
                text = escape(self._text(cause))
                yield f'      <failure type="{cause.verdict}" message={message}>{text}</failure>'
        if not causes and self.skipped(outcome):
            words = {id(word): word for word in map(self._word, outcome.findings) if word}
            said = "; ".join(
                f"accepted until {word.expires} by {word.owner}: {word.reason}"
                for word in words.values()
            )
            yield f"      <skipped message={quoteattr(self._clean(said))}/>"
        milder = [cause for cause in causes if cause.verdict not in self._report.failing]
        if milder:
            told = "\n".join(f"{one.verdict}: {one.told}\n{self._text(one)}" for one in milder)
            clean = escape(visible(self._report.masker.text(told)))
            yield f"      <system-out>{clean}</system-out>"

    def _word(self, finding: object) -> Acceptance | None:
        return self._words.get(id(finding))

    def _causes(self, outcome: Outcome) -> list[Cause]:
        """Return the causes of an outcome as far as they are not accepted."""
        kept = []
        for cause in causes_of((outcome,)):
            examples = [one for one in cause.examples if id(one.finding) in self._open]
            if examples:
                kept.append(cause.only(examples))
        return kept

    def _text(self, cause: Cause) -> str:
        report = self._report
        lines = [
            f"cause {cause.id}, {cause.rule.severity}",
            ground_of(cause, report.result.contract),
        ]
        lines += [f"{one.finding.place}: {one.finding.message}" for one in cause.examples[:20]]
        for exchange in cause.examples[0].finding.exchanges:
            export = needs(exchange, own_keys=report.own_keys)
            lines += [f"# {export}"] if export else []
            lines.append(
                curl(exchange, report.result.target, report.masker, own_keys=report.own_keys)
            )
        return visible(report.masker.text("\n".join(lines)))

    def _clean(self, text: str) -> str:
        return " ".join(visible(self._report.masker.text(text)).split())
