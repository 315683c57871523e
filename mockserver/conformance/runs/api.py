"""A run in one call, for scripts and tests."""

from pathlib import Path
from typing import Unpack

from mockserver.conformance.result import INTERRUPTED, Result
from mockserver.conformance.runs import runner
from mockserver.conformance.runs.option_reading import RunOptions, options_of
from mockserver.conformance.runs.run_journal import journalled
from mockserver.conformance.session.target import target_of


def run(
    url: str | None = None,
    *,
    v1: str | None = None,
    v2: str | None = None,
    journal: str | Path | None = None,
    resume: str | Path | None = None,
    **options: Unpack[RunOptions],
) -> Result:
    """Judge the service at `url`, or at a base address for each generation.

    Nothing but reading operations is sent unless `arm_writes` is given. `journal` names a file
    that keeps every exchange; `resume` goes on with such a file and sends only what is not in it.
    Raises `UnsafeOrWrong` before anything is sent, `KeyboardInterrupt` where the user ends it.
    """
    target = target_of(url, v1=v1, v2=v2)
    chosen = options_of(options, target)
    with journalled(target, chosen, journal=journal, resume=resume) as keeper:
        return raise_if_interrupted(runner.run(target, chosen, keeper=keeper))


def raise_if_interrupted(result: Result) -> Result:
    """Return a result; raise `KeyboardInterrupt` again where it ended the run early."""
    if INTERRUPTED in result.notes:
        raise KeyboardInterrupt
    return result
