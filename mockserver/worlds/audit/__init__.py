"""The audit of a world: money that was doubled, lost or is stuck, by its traffic."""

from mockserver.worlds.audit.auditing import QUOTE_AGE_MS, Audit, audit, kinds_named
from mockserver.worlds.audit.findings import KINDS, Finding

__all__ = ["KINDS", "QUOTE_AGE_MS", "Audit", "Finding", "audit", "kinds_named"]
