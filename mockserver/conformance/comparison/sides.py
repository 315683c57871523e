"""The two sides of a comparison: a service that answers now, or what a journal kept of one."""

from pathlib import Path

from mockserver.conformance.runs.journal import Run, is_journal, read_run
from mockserver.conformance.session.target import Target, UnsafeOrWrong, target_of
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class Side:
    """One side: `target` where a service is asked, `run` where a journal is read."""

    name: str
    target: Target | None = None
    run: Run | None = None


def side_of(text: str) -> Side:
    """Return the side that an address or the name of a journal stands for.

    Two addresses with a comma between them are those of v1 and of 2.0. Raises `UnsafeOrWrong`.
    """
    if "://" in text:
        return Side(text, target=_target(text))
    path = Path(text)
    if is_journal(path):
        return Side(text, run=read_run(path))
    if path.exists():
        raise UnsafeOrWrong(
            f"{text!r} is no journal of a run; write one with crosschain-mock conform --journal"
        )
    raise UnsafeOrWrong(
        f"{text!r} is neither an address nor a file; write for example 'http://127.0.0.1:8080'"
    )


def _target(text: str) -> Target:
    first, comma, second = text.partition(",")
    return target_of(v1=first, v2=second) if comma else target_of(first)
