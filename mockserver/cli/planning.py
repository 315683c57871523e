"""What `conform plan` shows: the requests of a run, of which none is sent."""

from collections import Counter

from mockserver.conformance.options import MOST_EDGES
from mockserver.conformance.runs.planner import Prepared
from mockserver.jsontext import Json
from mockserver.wording import counted


def rows(ready: Prepared) -> list[tuple[str, str, str]]:
    """Return the stage, the name and the request of each probe, in the order of sending."""
    found = []
    for probe in ready.plan.probes:
        operation = ready.contract.operation(probe.operation_id)
        stage = probe.stage.name.lower().replace("_", " ")
        found.append((stage, probe.name, f"{operation.method} {operation.path}"))
    return found


def summary(ready: Prepared, *, edges: bool) -> list[str]:
    """Return what it comes to, a sentence a line; `edges` tells of requests that come after it."""
    plan, rate = ready.plan, format(ready.limits.rate.normalize(), "f")
    told = (
        f"{counted(len(plan.rules), 'rule')}, {counted(len(plan.probes), 'request')} at most, "
        f"{_submissions(ready)} of them submissions, no faster than {rate} a second; "
        "nothing was sent"
    )
    later = [f"up to {MOST_EDGES} requests at the edges of inputs come after them"]
    reasons = Counter(plan.left_out.values()).most_common()
    left_out = [f"left out: {number} x {reason}" for reason, number in reasons]
    return [told, *(later if edges else []), *left_out]


def facts(ready: Prepared) -> dict[str, Json]:
    """Return the plan as JSON values."""
    return {
        "requests": len(ready.plan.probes),
        "submissions": _submissions(ready),
        "rate": ready.limits.rate,
        "rules": [rule.name for rule in ready.plan.rules],
        "probes": [
            {
                "stage": stage,
                "name": probe.name,
                "operation": probe.operation_id,
                "request": request,
                "after": list(probe.after),
            }
            for probe, (stage, _, request) in zip(ready.plan.probes, rows(ready), strict=True)
        ],
        "leftOut": dict(ready.plan.left_out),
    }


def _submissions(ready: Prepared) -> int:
    return sum(ready.contract.operation(one.operation_id).writes for one in ready.plan.probes)
