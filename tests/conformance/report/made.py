"""Results made by hand, for what no run shows on demand."""

import io
from dataclasses import replace

from rich.console import Console

from mockserver import jsontext
from mockserver.conformance.checks.rule import Finding, Outcome, Rule, worst
from mockserver.conformance.report.model import report_of
from mockserver.conformance.report.terminal import print_report
from mockserver.conformance.result import Result
from mockserver.conformance.session.exchange import Answer, Exchange
from mockserver.conformance.session.target import Target
from mockserver.conformance.verdict import Severity, Verdict
from mockserver.contract import Layer, fact_basis, load
from mockserver.http_messages import Headers, Request

CONTRACT = load()
BASE = "http://127.0.0.1:9"
QUOTE = "v2.getBridgeQuote"


def rule(name="a-rule", operations=(QUOTE,), **changes):
    """Return a rule that finds nothing by itself."""

    def check(context, operation):
        """What is asked is answered.

        Whoever asks wants to know.
        """
        yield from ()

    values = {
        "layer": Layer.EXCHANGE,
        "severity": Severity.MAJOR,
        "basis": fact_basis("resources.v2"),
        "operations": operations,
        **changes,
    }
    return Rule(name, check, **values)


def exchange(operation_id=QUOTE, *, number=1, body=b"", answer=None, label="made", **request):
    """Return an exchange; what is not given is plain and good."""
    operation = CONTRACT.operation(operation_id)
    sent = Request(
        request.get("method", operation.method),
        request.get("path", operation.path),
        request.get("query", ""),
        Headers(request.get("headers", ())),
        body,
        request.get("version", "1.1"),
        request.get("is_absolute", False),
    )
    came = answer or Answer(
        200,
        (("Content-Type", "application/json"),),
        jsontext.encode({"code": 0, "msg": "success", "data": {}}),
        7,
    )
    return Exchange(number, f"{operation_id}/{label}", operation, sent, came)


def outcome(one_rule, findings, operation_id=QUOTE, *, verdict=None, reason=""):
    """Return an outcome with its findings, or with a reason for having none."""
    bare = Outcome(one_rule, CONTRACT.operation(operation_id), Verdict.HOLDS, tuple(findings))
    found = verdict or worst(tuple(bare.verdict_of(finding) for finding in findings))
    return Outcome(one_rule, CONTRACT.operation(operation_id), found, tuple(findings), reason)


def result(outcomes, exchanges=(), **changes):
    """Return the result of a run that never was."""
    sent = {operation.id: 0 for operation in CONTRACT}
    for one in exchanges:
        sent[one.operation.id] += 1
    values = {
        "contract": CONTRACT,
        "target": Target(BASE, BASE),
        "seed": 1,
        "outcomes": tuple(outcomes),
        "exchanges": tuple(exchanges),
        "sent": sent,
        "planned": len(exchanges),
        **changes,
    }
    return Result(**values)


def report(*findings, exchanges=None, caller=None, target=None, **changes):
    """Return the report of one rule with some findings."""
    sent = exchanges
    if sent is None:
        sent = {one.number: one for finding in findings for one in finding.exchanges}.values()
    made = result([outcome(rule(), findings)], tuple(sent))
    made = made if target is None else replace(made, target=target)
    return report_of(made, caller=caller, **changes)


def finding(message="wrong", *exchanges, place="", **changes):
    """Return a finding."""
    return Finding(message, exchanges, place, **changes)


def printed(told, *, width=10_000, terminal=False, **options):
    """Return what a report prints on a terminal, or into a pipe."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=terminal,
        no_color=not terminal,
        highlight=False,
        color_system="standard" if terminal else None,
    )
    print_report(told, console, **options)
    return stream.getvalue()
