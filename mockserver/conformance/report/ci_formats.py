"""The report for the programs of a pipeline: JUnit XML, SARIF 2.1.0, and annotations of GitHub."""

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mockserver import __version__, jsontext
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.report.causes import Cause, ReportedOutcome
from mockserver.conformance.report.model import Report
from mockserver.conformance.verdict import Severity, Verdict
from mockserver.contract import Contract, Layer
from mockserver.jsontext import Json, picked
from mockserver.wording import github_command, listed, one_line

_LEVELS: Mapping[Verdict, str] = {
    Verdict.VIOLATION: "error",
    Verdict.DIFFERS_OBSERVED: "warning",
    Verdict.DIFFERS_ASSUMPTION: "notice",
    Verdict.EXTRA: "notice",
}
_RANKS: Mapping[Severity, int] = {Severity.CRITICAL: 90, Severity.MAJOR: 60, Severity.MINOR: 30}
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST_PLACES = 50
_MOST_FINDINGS = 20
_LONGEST = 2_000


def as_github(model: Report) -> str:
    """Return a workflow command for each cause, and one for the conclusion."""
    return "".join(f"{line}\n" for line in _annotations(model))


def _annotations(model: Report) -> Iterator[str]:
    for text in (*model.hints, *model.notes):
        yield github_command("warning", "conform", text)
    for cause in model.causes:
        level = "error" if cause.fails(model.fail_on) else _LEVELS[cause.verdict]
        title = f"{cause.rule.name} [{listed(cause.operations, 3)}]"
        best = [cause.best.command] if cause.best else []
        lines = (cause.located, cause.ground, *best)
        yield github_command(level, title, "\n".join(line[:_LONGEST] for line in lines))
    for accepted in model.accepted:
        word = accepted.acceptance
        title = f"{accepted.rule.name} is accepted until {word.expires} by {word.owner}"
        yield github_command("notice", title, word.reason)
    sent = f"{model.requests} requests, submissions sent: {model.submissions}"
    yield github_command("notice", "conform", f"{model.conclusion}; {sent}")


def as_junit(model: Report) -> str:
    """Return the report as XML text.

    What fails the run is a failure; what was not judged, and what a baseline accepts, is skipped;
    milder findings pass and stand in the output of their testcase.
    """
    outcomes = model.outcomes
    # In the schema that Jenkins checks reports against, `testsuites` has no `skipped`.
    name, time = "crosschain-mock conform", f"{model.elapsed_ms / 1000:.3f}"
    root = Element("testsuites", {"name": name, **_numbers(outcomes, model), "time": time})
    for layer in Layer:
        if of_layer := [outcome for outcome in outcomes if outcome.rule.layer is layer]:
            root.append(_suite(layer, of_layer, model))
    return xml_text(root)


def xml_text(root: Element) -> str:
    """Return a document with its declaration, indented."""
    indent(root)
    text: str = tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(layer: Layer, outcomes: Sequence[ReportedOutcome], model: Report) -> Element:
    name, skipped = f"conformance.{layer}", str(sum(outcome.is_skipped for outcome in outcomes))
    numbers = {**_numbers(outcomes, model), "skipped": skipped}
    suite = Element("testsuite", {"name": name, **numbers})
    properties = SubElement(suite, "properties")
    values = {"target": model.bases, **picked(model, "requests", "submissions")}
    for fact, value in {"seed": model.seed, **values}.items():
        SubElement(properties, "property", name=fact, value=str(value))
    for outcome in outcomes:
        classname = f"{name}.{outcome.rule.name}"
        case = SubElement(suite, "testcase", classname=classname, name=outcome.id)
        _add_findings(case, outcome, model)
    return suite


def _add_findings(case: Element, outcome: ReportedOutcome, model: Report) -> None:
    if outcome.is_defect:
        SubElement(case, "error", type="defect", message=one_line(outcome.reason))
    elif outcome.is_skipped:
        reason = "; ".join(outcome.accepted) or f"{outcome.verdict}: {outcome.reason}"
        SubElement(case, "skipped", message=one_line(reason))
    failing = outcome.failing(model.fail_on)
    for cause in failing:
        failure = SubElement(case, "failure", type=cause.verdict, message=one_line(cause.located))
        failure.text = _findings_text(cause)
    if milder := [cause for cause in outcome.causes if cause not in failing]:
        texts = (f"{cause.verdict}: {cause.located}\n{_findings_text(cause)}" for cause in milder)
        SubElement(case, "system-out").text = "\n".join(texts)


def _numbers(outcomes: Sequence[ReportedOutcome], model: Report) -> dict[str, str]:
    failing = sum(bool(outcome.failing(model.fail_on)) for outcome in outcomes)
    defects = sum(outcome.is_defect for outcome in outcomes)
    return {"tests": str(len(outcomes)), "failures": str(failing), "errors": str(defects)}


def _findings_text(cause: Cause) -> str:
    lines = [f"cause {cause.id}, {cause.rule.severity}", cause.ground]
    lines += [f"{each.place}: {each.message}" for each in cause.findings[:_MOST_FINDINGS]]
    for exchange in cause.exchanges:
        lines += exchange.lines(remarks=False)
    return "\n".join(lines)


def as_sarif(model: Report) -> str:
    """Return the report as SARIF text: a result for each cause, its operations as locations."""
    numbers = {rule.name: number for number, rule in enumerate(model.rules)}
    causes = (*model.causes, *model.accepted)
    driver = {
        "name": "crosschain-mock conform",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in model.rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(model)],
        "results": [_result(cause, model.contract, numbers) for cause in causes],
        "properties": picked(model, "seed", "requests", "submissions", "conclusion"),
    }
    return jsontext.pretty({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}) + "\n"


def _rule(rule: Rule) -> dict[str, Json]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.summary or rule.name},
        "help": {"text": f"crosschain-mock conform explain {rule.name}"},
        "defaultConfiguration": {"level": _sarif_level(rule.basis.kind.contradicted)},
        "properties": {**picked(rule, "layer", "severity"), "basis": str(rule.basis)},
    }


def _invocation(model: Report) -> dict[str, Json]:
    return {
        "executionSuccessful": model.exit_code in (0, 1) and not model.defects,
        "exitCode": model.exit_code,
        "toolExecutionNotifications": [
            {"level": "warning", "message": {"text": one_line(text)}}
            for text in (*model.hints, *model.notes)
        ],
    }


def _result(cause: Cause, contract: Contract, numbers: Mapping[str, int]) -> dict[str, Json]:
    commands = [exchange.command for exchange in cause.exchanges]
    justification = one_line(str(cause.acceptance))
    suppression = {"kind": "external", "status": "accepted", "justification": justification}
    return {
        "ruleId": cause.rule.name,
        "ruleIndex": numbers[cause.rule.name],
        "level": _sarif_level(cause.verdict),
        "rank": _RANKS[cause.rule.severity],
        "message": {"text": one_line(f"{cause.located} ({cause.ground})")},
        "locations": _locations(cause, contract),
        "partialFingerprints": {"cause/v1": cause.id},
        "occurrenceCount": cause.count,
        "properties": {"verdict": cause.verdict.value, "curl": commands},
        **({"suppressions": [suppression]} if cause.acceptance else {}),
    }


def _locations(cause: Cause, contract: Contract) -> list[Json]:
    """Return a location for each operation: its path, and the place inside its messages."""
    # Code scanning shows nothing without a file, so the path of the operation stands where one
    # would.
    place = one_line(cause.place)
    locations: list[Json] = []
    for name in cause.operations[:_MOST_PLACES]:
        operation = contract.operation(name)
        path = f"{operation.method} {operation.path}"
        logical = [{"name": name, "fullyQualifiedName": path, "kind": "function"}]
        inner = {"name": place, "fullyQualifiedName": f"{path}#{place}", "kind": "member"}
        logical += [inner] if place else []
        file = {"uri": operation.path.lstrip("/")}
        physical = {"artifactLocation": file, "region": {"startLine": 1}}
        locations.append({"physicalLocation": physical, "logicalLocations": logical})
    return locations


def _sarif_level(verdict: Verdict) -> str:
    return _LEVELS[verdict].replace("notice", "note")
