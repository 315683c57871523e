"""The verdict on a world: money that was doubled, lost or is stuck, by its traffic."""

from mockserver.worlds.audit.expected import Moved, expected_of
from mockserver.worlds.audit.finding import Finding, Money
from mockserver.worlds.audit.finding_kinds import KINDS
from mockserver.worlds.audit.verdict import (
    QUOTE_AGE_MS,
    Verdict,
    judge,
    judge_in_steps,
    judge_run,
    kinds_named,
)
from mockserver.worlds.claims_and_expectations import Beliefs, Claim, Expected

__all__ = [
    "KINDS",
    "QUOTE_AGE_MS",
    "Beliefs",
    "Claim",
    "Expected",
    "Finding",
    "Money",
    "Moved",
    "Verdict",
    "expected_of",
    "judge",
    "judge_in_steps",
    "judge_run",
    "kinds_named",
]
