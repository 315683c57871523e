"""What `conform plan` shows: the requests of a run, of which none is sent."""

from collections import Counter
from dataclasses import dataclass

from mockserver.conformance.options import MOST_EDGES, Options
from mockserver.conformance.requests.probe import Probe
from mockserver.conformance.runs.planner import Plan
from mockserver.conformance.runs.preparation import prepared
from mockserver.conformance.session.pace import Limits
from mockserver.conformance.session.target import Target
from mockserver.contract import Contract
from mockserver.jsontext import Json
from mockserver.wording import counted


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan with the contract it is for."""

    contract: Contract
    plan: Plan
    limits: Limits
    edges: bool = False

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """The stage, the name and the request of each probe, in the order of sending."""
        return [
            (probe.stage.name.lower().replace("_", " "), probe.name, self._route(probe))
            for probe in self.plan.probes
        ]

    @property
    def submissions(self) -> int:
        """How many of the requests are submissions."""
        return sum(self.contract.operation(p.operation_id).writes for p in self.plan.probes)

    @property
    def summary(self) -> list[str]:
        """What it comes to, a sentence a line."""
        rate = format(self.limits.rate.normalize(), "f")
        rules, requests = len(self.plan.rules), len(self.plan.probes)
        told = (
            f"{counted(rules, 'rule')}, {counted(requests, 'request')} at most, "
            f"{self.submissions} of them submissions, no faster than {rate} a second; "
            "nothing was sent"
        )
        reasons = Counter(self.plan.left_out.values())
        edges = [f"up to {MOST_EDGES} requests at the edges of inputs come after them"]
        return [
            told,
            *(edges if self.edges else []),
            *(f"left out: {number} x {reason}" for reason, number in reasons.most_common()),
        ]

    def facts(self) -> dict[str, Json]:
        """Return the plan as JSON values."""
        return {
            "requests": len(self.plan.probes),
            "submissions": self.submissions,
            "rate": self.limits.rate,
            "rules": [rule.name for rule in self.plan.rules],
            "probes": [
                {
                    "stage": stage,
                    "name": probe.name,
                    "operation": probe.operation_id,
                    "request": route,
                    "after": list(probe.after),
                }
                for probe, (stage, _, route) in zip(self.plan.probes, self.rows, strict=True)
            ],
            "leftOut": dict(self.plan.left_out),
        }

    def _route(self, probe: Probe) -> str:
        operation = self.contract.operation(probe.operation_id)
        return f"{operation.method} {operation.path}"


def planned(target: Target, options: Options) -> Planned:
    """Return what a run would send. Raises `UnsafeOrWrong` as the run itself would."""
    ready = prepared(target, options)
    return Planned(ready.contract, ready.plan, ready.limits, options.edges)
