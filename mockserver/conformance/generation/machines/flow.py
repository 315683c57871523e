"""What all state machines share: the sequence that they are played in."""

from hypothesis.stateful import RuleBasedStateMachine

from mockserver.conformance.generation.sequence_run import SequenceRun


class Flow(RuleBasedStateMachine):
    """Does what a client does, one step after the other, and holds the answers against a model."""

    def __init__(self, sequence: SequenceRun) -> None:
        """Take the sequence whose steps are played."""
        super().__init__()
        self._sequence = sequence
        self._context = sequence.context
        self._broken = sequence.broken
