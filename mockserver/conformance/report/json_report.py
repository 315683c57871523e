"""The report as JSON, in the published format `crosschain-mock/conformance@1`."""

import json
from collections.abc import Iterator

from mockserver import __version__
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.report.causes import Cause, ReportedOutcome
from mockserver.conformance.report.coverage import Coverage, Share
from mockserver.conformance.report.exchanges_and_curl import ReportedExchange
from mockserver.conformance.report.model import Report
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Basis
from mockserver.jsontext import Json, picked

FORMAT = "crosschain-mock/conformance@1"
_MOST_EXAMPLES = 20
_MOST_TEXT = 20_000


def as_json(report: Report) -> str:
    # Not escaped: YAML, which people read JSON with too, does not know surrogate pairs.
    return json.dumps(facts_of(report), indent=2, ensure_ascii=False) + "\n"


def facts_of(model: Report) -> dict[str, Json]:
    return {
        "format": FORMAT,
        "tool": {"name": "crosschain-mock", "version": __version__},
        "target": {"v1": model.target.v1, "v2": model.target.v2},
        "dialect": model.contract.dialect.name,
        **picked(model, "seed", "conclusion", "exit_code", "fail_on", "strict", "elapsed_ms"),
        "requests": {
            "total": model.requests,
            **picked(model, "planned", "submissions"),
            "elsewhere": model.sent_elsewhere,
            "byOperation": dict(model.sent),
        },
        "counts": {verdict.value: model.counts[verdict] for verdict in Verdict},
        **picked(model, "hints", "notes"),
        "causes": [_cause(cause, because) for cause, because in _explained(model)],
        "accepted": [_accepted(cause) for cause in model.accepted],
        "expired": [_accepted(cause) for cause in model.expired],
        "outcomes": [_outcome(outcome) for outcome in model.outcomes],
        "rules": [rule_facts(rule) for rule in model.rules],
        "unsent": dict(model.unsent),
        "exchanges": [_exchange(exchange) for exchange in _exchanges(model)],
        "coverage": _coverage(model.coverage) if model.coverage else None,
    }


def rule_facts(rule: Rule) -> dict[str, Json]:
    return {
        **picked(rule, "name", "summary", "layer", "severity"),
        "basis": _basis(rule.basis),
        "operations": list(rule.operations),
    }


def _explained(model: Report) -> Iterator[tuple[Cause, str | None]]:
    """Yield each cause with the id of that from which it may follow, after that one."""
    for head in model.explained:
        yield head.cause, None
        yield from ((follower, head.cause.id) for follower in head.followers)


def _outcome(outcome: ReportedOutcome) -> dict[str, Json]:
    said = picked(outcome, "operation", "verdict", "reason")
    return {"id": outcome.id, "rule": outcome.rule.name, **said}


def _cause(cause: Cause, because: str | None) -> dict[str, Json]:
    return {
        **picked(cause, "id", "verdict"),
        "because": because,
        "rule": cause.rule.name,
        **picked(cause.rule, "layer", "severity"),
        "basis": _basis(cause.basis),
        **picked(cause, "place", "message", "operations", "count"),
        "findings": [
            {**picked(finding, "operation", "place", "message"), "exchanges": list(finding.numbers)}
            for finding in cause.findings[:_MOST_EXAMPLES]
        ],
        "curl": [
            {
                "exchange": exchange.number,
                "needs": exchange.needs,
                "submission": exchange.submits,
                "command": exchange.command,
                "probe": exchange.saved,
            }
            for exchange in cause.exchanges
        ],
    }


def _accepted(cause: Cause) -> dict[str, Json]:
    return {
        "cause": cause.id,
        "verdict": cause.verdict.value,
        "rule": cause.rule.name,
        **picked(cause, "operations", "place", "message"),
        **picked(cause.acceptance, "reason", "owner", "expires"),
    }


def _exchanges(model: Report) -> list[ReportedExchange]:
    """Return the exchanges that the examples of causes name, each once, in order."""
    exchanges = {
        exchange.number: exchange
        for cause in (*model.causes, *model.accepted)
        for finding in cause.findings[:_MOST_EXAMPLES]
        for exchange in finding.exchanges
    }
    return [exchanges[number] for number in sorted(exchanges)]


def _exchange(exchange: ReportedExchange) -> dict[str, Json]:
    bodies = (body.shortened(_MOST_TEXT) for body in (exchange.sent, exchange.came))
    sent, came = ({"text": body.text, "bytes": body.size, "cut": body.cut} for body in bodies)
    return {
        **picked(exchange, "number", "probe", "operation"),
        "submission": exchange.submits,
        "request": {**picked(exchange, "method", "url", "headers"), "body": sent},
        "answer": {
            "status": exchange.status,
            "headers": [list(header) for header in exchange.answer_headers],
            "body": came,
            **picked(exchange, "elapsed_ms", "trouble"),
        },
    }


def _coverage(coverage: Coverage) -> dict[str, Json]:
    return {
        **_share(coverage.overall),
        "operations": {name: _share(share) for name, share in coverage.operations.items()},
        "unproven": [
            {"id": fact.id, "withinReach": fact.id in coverage.within_reach, **_basis(fact.basis)}
            for fact in coverage.unproven
        ],
        "keywords": {
            **picked(
                coverage.keywords,
                *("total", "exercised", "score", "reachable", "reach_score"),
                *("broken", "could_be_broken"),
            ),
            **{
                name: [each for each in coverage.keywords.every if each in used]
                for name, used in (
                    ("right", coverage.keywords.right),
                    ("wrong", coverage.keywords.wrong),
                    ("beyond", coverage.keywords.beyond),
                )
            },
            "never": list(coverage.keywords.never),
            "reasons": {why: list(names) for why, names in coverage.keywords.reasons.items()},
            "unbroken": list(coverage.keywords.unbroken),
        },
        "targets": {
            "total": coverage.targets.total,
            "hit": len(coverage.targets.hit),
            "missed": [
                {"probe": probe, "reason": why} for probe, why in coverage.targets.missed.items()
            ],
        },
    }


def _share(share: Share) -> dict[str, Json]:
    return {"facts": share.total, **picked(share, "within_reach", "proven", "index", "score")}


def _basis(basis: Basis) -> dict[str, Json]:
    return {"grounds": basis.kind.value, **picked(basis, "reference", "fact", "says")}
