"""The report as SARIF 2.1.0, for tools that show findings of many checkers side by side."""

from collections.abc import Mapping

from mockserver import __version__, jsontext
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.report.basis_text import ground_of
from mockserver.conformance.report.causes import Cause
from mockserver.conformance.report.report import Accepted, Report
from mockserver.conformance.report.shown import visible
from mockserver.conformance.report.snippets import curl
from mockserver.conformance.verdict import Severity, Verdict, verdict_on
from mockserver.jsontext import Json

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Mapping[Verdict, str] = {
    Verdict.VIOLATION: "error",
    Verdict.DIFFERS_OBSERVED: "warning",
    Verdict.DIFFERS_ASSUMPTION: "note",
    Verdict.EXTRA: "note",
}
_RANKS: Mapping[Severity, int] = {Severity.CRITICAL: 90, Severity.MAJOR: 60, Severity.MINOR: 30}
_MOST_PLACES = 50


def as_sarif(report: Report) -> str:
    """Return the report as SARIF text: a result for each cause, its operations as locations."""
    rules = list({outcome.rule.name: outcome.rule for outcome in report.result.outcomes}.values())
    numbers = {rule.name: number for number, rule in enumerate(rules)}
    results = [_result(cause, report, numbers) for cause in report.causes]
    results += [_accepted(one, report, numbers) for one in report.accepted]
    document = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "crosschain-mock conform",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [_invocation(report)],
                "results": results,
                "properties": {
                    "seed": report.result.seed,
                    "requests": report.result.requests,
                    "submissions": report.result.submissions,
                    "conclusion": report.conclusion,
                },
            }
        ],
    }
    return jsontext.pretty(document) + "\n"


def _rule(rule: Rule) -> dict[str, Json]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.summary or rule.name},
        "help": {"text": f"crosschain-mock conform explain {rule.name}"},
        "defaultConfiguration": {"level": _LEVELS[verdict_on(rule.basis)]},
        "properties": {
            "layer": rule.layer.value,
            "severity": rule.severity.value,
            "basis": str(rule.basis),
        },
    }


def _invocation(report: Report) -> dict[str, Json]:
    told = [*report.hints, *report.notes]
    return {
        "executionSuccessful": report.exit_code in (0, 1),
        "exitCode": report.exit_code,
        "toolExecutionNotifications": [
            {"level": "warning", "message": {"text": _clean(text, report)}} for text in told
        ],
    }


def _accepted(one: Accepted, report: Report, numbers: Mapping[str, int]) -> dict[str, Json]:
    word = one.acceptance
    said = f"accepted until {word.expires} by {word.owner}: {word.reason}"
    suppression = {"kind": "external", "status": "accepted", "justification": _clean(said, report)}
    return {**_result(one.cause, report, numbers), "suppressions": [suppression]}


def _result(cause: Cause, report: Report, numbers: Mapping[str, int]) -> dict[str, Json]:
    explain_basis = ground_of(cause, report.result.contract)
    text = f"{cause.told} ({explain_basis})"
    commands = [
        curl(exchange, report.result.target, report.masker, own_keys=report.own_keys)
        for exchange in cause.examples[0].finding.exchanges
    ]
    return {
        "ruleId": cause.rule.name,
        "ruleIndex": numbers[cause.rule.name],
        "level": _LEVELS[cause.verdict],
        "rank": _RANKS[cause.rule.severity],
        "message": {"text": _clean(text, report)},
        "locations": _locations(cause, report),
        "partialFingerprints": {"cause/v1": cause.id},
        "occurrenceCount": cause.count,
        "properties": {"verdict": cause.verdict.value, "curl": commands},
    }


def _locations(cause: Cause, report: Report) -> list[Json]:
    """Return a location for each operation: its path, and the place inside its messages.

    Code scanning shows nothing without a file, so the path of the operation stands where one would.
    """
    contract = report.result.contract
    place = _clean(cause.place, report)
    found: list[Json] = []
    for name in cause.operations[:_MOST_PLACES]:
        operation = contract.operation(name)
        path = f"{operation.method} {operation.path}"
        logical = [{"name": name, "fullyQualifiedName": path, "kind": "function"}]
        if place:
            inner = {"name": place, "fullyQualifiedName": f"{path}#{place}", "kind": "member"}
            logical.append(inner)
        physical = {
            "artifactLocation": {"uri": operation.path.lstrip("/")},
            "region": {"startLine": 1},
        }
        found.append({"physicalLocation": physical, "logicalLocations": logical})
    return found


def _clean(text: str, report: Report) -> str:
    return " ".join(visible(report.masker.text(text)).split())
