"""A report as plain JSON values, masked: what the JSON and HTML formats are made of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mockserver import __version__
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.report.causes import Cause
from mockserver.conformance.report.coverage import Coverage, Share
from mockserver.conformance.report.report import Accepted, Report
from mockserver.conformance.report.shown import Shown, Text, shown, visible
from mockserver.conformance.report.snippets import curl, needs
from mockserver.conformance.report.testing import test_of
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Basis
from mockserver.jsontext import Json

FORMAT = "crosschain-mock/conformance@1"
_MOST_EXAMPLES = 20
_MOST_TEXT = 20_000


def facts_of(report: Report) -> dict[str, Json]:
    """Return everything a report tells."""
    writer = _Writer(report)
    result = report.result
    outcomes = result.outcomes
    return {
        "format": FORMAT,
        "tool": {"name": "crosschain-mock", "version": __version__},
        "target": {"v1": result.target.v1, "v2": result.target.v2},
        "dialect": result.contract.dialect.name,
        "seed": result.seed,
        "conclusion": report.conclusion,
        "exitCode": report.exit_code,
        "failOn": report.fail_on.value,
        "strict": report.strict,
        "elapsedMs": result.elapsed_ms,
        "requests": {
            "total": result.requests,
            "planned": result.planned,
            "submissions": result.submissions,
            "elsewhere": result.sent_elsewhere,
            "byOperation": dict(result.sent),
        },
        "counts": {verdict.value: result.counts[verdict] for verdict in Verdict},
        "hints": [writer.text(hint) for hint in report.hints],
        "notes": [writer.text(note) for note in report.notes],
        "causes": [writer.cause(cause) for cause in report.causes],
        "accepted": [writer.accepted(one) for one in report.accepted],
        "expired": [writer.accepted(one) for one in report.expired],
        "outcomes": [
            {
                "id": outcome.id,
                "rule": outcome.rule.name,
                "operation": outcome.operation.id,
                "verdict": outcome.verdict.value,
                "reason": writer.text(outcome.reason),
            }
            for outcome in outcomes
        ],
        "rules": [rule_facts(rule) for rule in {o.rule.name: o.rule for o in outcomes}.values()],
        "unsent": {name: writer.text(why) for name, why in sorted((result.unsent or {}).items())},
        "exchanges": [writer.exchange(one) for one in _told(report)],
        "coverage": _coverage(report.coverage) if report.coverage else None,
    }


def rule_facts(rule: Rule) -> dict[str, Json]:
    """Return what there is to know of a rule."""
    return {
        "name": rule.name,
        "summary": rule.summary,
        "layer": rule.layer.value,
        "severity": rule.severity.value,
        "basis": _basis(rule.basis),
        "operations": list(rule.operations),
    }


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the parts of a report as JSON values, without secrets."""

    report: Report

    def text(self, text: str) -> str:
        return visible(self.report.masker.text(text))

    def cause(self, cause: Cause) -> dict[str, Json]:
        report = self.report
        return {
            "id": cause.id,
            "verdict": cause.verdict.value,
            "rule": cause.rule.name,
            "layer": cause.rule.layer.value,
            "severity": cause.rule.severity.value,
            "basis": _basis(cause.basis),
            "place": self.text(cause.place),
            "message": self.text(cause.message),
            "operations": list(cause.operations),
            "count": cause.count,
            "findings": [
                {
                    "operation": example.operation.id,
                    "place": self.text(example.finding.place),
                    "message": self.text(example.finding.message),
                    "exchanges": [exchange.number for exchange in example.finding.exchanges],
                }
                for example in cause.examples[:_MOST_EXAMPLES]
            ],
            "curl": [self.command(one) for one in cause.examples[0].finding.exchanges],
            "pytest": test_of(cause, report.result, report.masker, own_keys=report.own_keys),
        }

    def command(self, exchange: Exchange) -> dict[str, Json]:
        report = self.report
        return {
            "exchange": exchange.number,
            "needs": needs(exchange, own_keys=report.own_keys),
            "submission": exchange.operation.writes,
            "command": curl(
                exchange, report.result.target, report.masker, own_keys=report.own_keys
            ),
        }

    def accepted(self, one: Accepted) -> dict[str, Json]:
        cause, word = one.cause, one.acceptance
        return {
            "cause": cause.id,
            "verdict": cause.verdict.value,
            "rule": cause.rule.name,
            "operations": list(cause.operations),
            "place": self.text(cause.place),
            "message": self.text(cause.message),
            "reason": self.text(word.reason),
            "owner": self.text(word.owner),
            "expires": word.expires,
        }

    def exchange(self, exchange: Exchange) -> dict[str, Json]:
        report = self.report
        return _exchange(shown(exchange, report.result.target, report.masker, most=_MOST_TEXT))


def _told(report: Report) -> Iterator[Exchange]:
    """Yield the exchanges that findings name, each once, in order."""
    found = {
        exchange.number: exchange
        for cause in (*report.causes, *(one.cause for one in report.accepted))
        for example in cause.examples[:_MOST_EXAMPLES]
        for exchange in example.finding.exchanges
    }
    yield from (found[number] for number in sorted(found))


def _exchange(one: Shown) -> dict[str, Json]:
    return {
        "number": one.number,
        "probe": one.probe,
        "operation": one.operation,
        "submission": one.writes,
        "request": {
            "method": one.method,
            "url": one.url,
            "headers": [list(header) for header in one.headers],
            "body": _text(one.body),
        },
        "answer": {
            "status": one.status,
            "headers": [list(header) for header in one.answer_headers],
            "body": _text(one.answer),
            "elapsedMs": one.elapsed_ms,
            "trouble": one.trouble,
        },
    }


def _text(text: Text) -> Mapping[str, Json]:
    return {"text": text.text, "bytes": text.size, "cut": text.cut}


def _coverage(coverage: Coverage) -> dict[str, Json]:
    return {
        **_share(coverage.whole),
        "operations": {name: _share(share) for name, share in coverage.operations.items()},
        "unproven": [
            {"id": fact.id, "withinReach": fact.id in coverage.within_reach, **_basis(fact.basis)}
            for fact in coverage.unproven
        ],
    }


def _share(share: Share) -> dict[str, Json]:
    return {
        "facts": share.total,
        "withinReach": share.within_reach,
        "proven": share.proven,
        "index": share.index,
        "score": share.score,
    }


def _basis(basis: Basis) -> dict[str, Json]:
    return {
        "grounds": basis.kind.value,
        "reference": basis.reference,
        "fact": basis.fact,
        "says": basis.says,
    }
