"""The report as JUnit XML: a testcase for each rule and operation."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mockserver.conformance.report.model import CauseModel, OutcomeModel, ReportModel
from mockserver.conformance.verdict import UNJUDGED
from mockserver.contract import Layer
from mockserver.wording import one_line

_MOST_FINDINGS = 20


def as_junit(model: ReportModel) -> str:
    """Return the report as XML text.

    What fails the run is a failure; what was not judged, and what a baseline accepts, is skipped;
    milder findings pass and are told in the output of their testcase.
    """
    outcomes = model.outcomes
    # `testsuites` has no `skipped` in the schema that Jenkins holds reports against.
    root = Element(
        "testsuites",
        name="crosschain-mock conform",
        tests=str(len(outcomes)),
        failures=_number_failing(outcomes, model),
        errors="0",
        time=f"{model.elapsed_ms / 1000:.3f}",
    )
    for layer in Layer:
        found = [outcome for outcome in outcomes if outcome.rule.layer is layer]
        if found:
            root.append(_suite(layer, found, model))
    indent(root)
    text: str = tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(layer: Layer, outcomes: Sequence[OutcomeModel], model: ReportModel) -> Element:
    suite = Element(
        "testsuite",
        name=f"conformance.{layer}",
        tests=str(len(outcomes)),
        failures=_number_failing(outcomes, model),
        errors="0",
        skipped=str(sum(outcome.is_skipped for outcome in outcomes)),
    )
    properties = SubElement(suite, "properties")
    for name, value in (
        ("seed", model.seed),
        ("target", model.bases),
        ("requests", model.requests),
        ("submissions", model.submissions),
    ):
        SubElement(properties, "property", name=name, value=str(value))
    for outcome in outcomes:
        case = SubElement(
            suite,
            "testcase",
            classname=f"conformance.{layer}.{outcome.rule.name}",
            name=outcome.id,
        )
        _tell(case, outcome, model)
    return suite


def _tell(case: Element, outcome: OutcomeModel, model: ReportModel) -> None:
    if outcome.verdict in UNJUDGED:
        _skip(case, f"{outcome.verdict}: {outcome.reason}")
        return
    failing = outcome.failing(model.failing)
    for cause in failing:
        message = one_line(cause.located)
        SubElement(case, "failure", type=cause.verdict, message=message).text = _text(cause)
    if outcome.is_skipped:
        _skip(case, "; ".join(outcome.accepted))
    milder = [cause for cause in outcome.causes if cause not in failing]
    if milder:
        SubElement(case, "system-out").text = "\n".join(
            f"{cause.verdict}: {cause.located}\n{_text(cause)}" for cause in milder
        )


def _skip(case: Element, why: str) -> None:
    SubElement(case, "skipped", message=one_line(why))


def _number_failing(outcomes: Sequence[OutcomeModel], model: ReportModel) -> str:
    return str(sum(bool(outcome.failing(model.failing)) for outcome in outcomes))


def _text(cause: CauseModel) -> str:
    lines = [f"cause {cause.id}, {cause.rule.severity}", cause.ground]
    lines += [f"{one.place}: {one.message}" for one in cause.findings(_MOST_FINDINGS)]
    for exchange in cause.exchanges:
        lines += exchange.lines(remarks=False)
    return "\n".join(lines)
