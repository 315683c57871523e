"""The report as JSON, in the published format `crosschain-mock/conformance@1`."""

import json

from mockserver.conformance.report.facts import facts_of
from mockserver.conformance.report.model import ReportModel


def as_json(report: ReportModel) -> str:
    """Return the report as JSON text."""
    # Letters stand as they are: escaped pairs of surrogates are none of YAML, which reads JSON too.
    return json.dumps(facts_of(report), indent=2, ensure_ascii=False) + "\n"
