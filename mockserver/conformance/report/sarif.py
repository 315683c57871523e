"""The report as SARIF 2.1.0, for tools that show findings of many checkers side by side."""

from collections.abc import Mapping

from mockserver import __version__, jsontext
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.report.github import LEVELS
from mockserver.conformance.report.model import CauseModel, ReportModel
from mockserver.conformance.verdict import Severity, Verdict, verdict_on
from mockserver.contract import Contract
from mockserver.jsontext import Json
from mockserver.wording import one_line

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Mapping[Verdict, str] = {
    verdict: "note" if level == "notice" else level for verdict, level in LEVELS.items()
}
_RANKS: Mapping[Severity, int] = {Severity.CRITICAL: 90, Severity.MAJOR: 60, Severity.MINOR: 30}
_MOST_PLACES = 50


def as_sarif(model: ReportModel) -> str:
    """Return the report as SARIF text: a result for each cause, its operations as locations."""
    numbers = {rule.name: number for number, rule in enumerate(model.rules)}
    results = [_result(cause, model.contract, numbers) for cause in model.causes]
    results += [_accepted(one, model.contract, numbers) for one in model.accepted]
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
                        "rules": [_rule(rule) for rule in model.rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [_invocation(model)],
                "results": results,
                "properties": {
                    "seed": model.seed,
                    "requests": model.requests,
                    "submissions": model.submissions,
                    "conclusion": model.conclusion,
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


def _invocation(model: ReportModel) -> dict[str, Json]:
    return {
        "executionSuccessful": model.exit_code in (0, 1),
        "exitCode": model.exit_code,
        "toolExecutionNotifications": [
            {"level": "warning", "message": {"text": one_line(text)}}
            for text in (*model.hints, *model.notes)
        ],
    }


def _accepted(cause: CauseModel, contract: Contract, numbers: Mapping[str, int]) -> dict[str, Json]:
    justification = one_line(str(cause.acceptance))
    suppression = {"kind": "external", "status": "accepted", "justification": justification}
    return {**_result(cause, contract, numbers), "suppressions": [suppression]}


def _result(cause: CauseModel, contract: Contract, numbers: Mapping[str, int]) -> dict[str, Json]:
    commands = [exchange.command for exchange in cause.exchanges]
    return {
        "ruleId": cause.rule.name,
        "ruleIndex": numbers[cause.rule.name],
        "level": _LEVELS[cause.verdict],
        "rank": _RANKS[cause.rule.severity],
        "message": {"text": one_line(f"{cause.located} ({cause.ground})")},
        "locations": _locations(cause, contract),
        "partialFingerprints": {"cause/v1": cause.id},
        "occurrenceCount": cause.count,
        "properties": {"verdict": cause.verdict.value, "curl": commands},
    }


def _locations(cause: CauseModel, contract: Contract) -> list[Json]:
    """Return a location for each operation: its path, and the place inside its messages.

    Code scanning shows nothing without a file, so the path of the operation stands where one would.
    """
    place = one_line(cause.place)
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
