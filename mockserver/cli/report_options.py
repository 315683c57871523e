"""What a run of `conform` leaves behind: files, reports, and how much is printed."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The options of `conform` that are about what is reported, and not about what is sent."""

    journal: Path | None
    resume: Path | None
    strict: bool
    fail_on: str
    report: tuple[str, ...]
    baseline: Path | None
    write_baseline: Path | None
    owner: str | None
    expires: str | None
    reason: str
    quiet: bool
    verbose: bool
