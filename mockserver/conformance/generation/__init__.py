"""Stages after the plan: saved and generated requests, sequences, and other ways of delivery.

A stage is imported when a run wants it: Hypothesis is slow to import, Schemathesis an extra.
"""

from importlib import import_module
from importlib.util import find_spec

from mockserver.conformance.checks.rule import Outcome
from mockserver.conformance.options import Options
from mockserver.conformance.result import INTERRUPTED
from mockserver.conformance.session.session import Session
from mockserver.conformance.session.target import UnsafeOrWrong


def check_installed(options: Options) -> None:
    """Raise `UnsafeOrWrong` where a stage is wanted whose libraries are not installed."""
    if options.deep and find_spec("schemathesis") is None:
        raise UnsafeOrWrong(
            "a deep run needs schemathesis; install 'crosschain-mock[conformance]', or ask for none"
        )


def generated(session: Session, options: Options) -> tuple[tuple[Outcome, ...], tuple[str, ...]]:
    """Return the outcomes of the stages that are wanted, and a note where one was interrupted.

    Saved requests come first, and sequences before single requests: sequences need submissions, of
    which a run may make only a few, and leave a share of them.
    """
    outcomes: list[Outcome] = []
    for wanted, (module, name) in _STAGES.items():
        if getattr(options, wanted):
            try:
                stage = getattr(import_module(f"{__name__}.{module}"), name)
                outcomes.extend(stage(session, options))
            except KeyboardInterrupt:
                return tuple(outcomes), (INTERRUPTED,)
    return tuple(outcomes), ()


# The stages by the option that wants them: module and function.
_STAGES = {
    "probes": ("stages", "saved"),
    # A few submissions of its own, which longer sequences would use up.
    "delivery": ("delivery", "delivery"),
    "sequences": ("sequence_stage", "sequences"),
    "examples": ("explore", "explore"),
    "deep": ("schemathesis_stage", "deep"),
}
