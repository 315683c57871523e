"""How long a service is waited for: its `Retry-After`, and when too little of it answers."""

from collections import defaultdict
from itertools import takewhile

from mockserver.conformance.session.exchange import Answer, NoAnswer
from mockserver.conformance.session.permit import Refusing
from mockserver.contract import Operation

# After two such troubles in a row, a generation is given up.
_UNREACHABLE, _GIVE_UP = (NoAnswer.UNREACHABLE, NoAnswer.TLS), 2
# How many time-outs in a row an operation may have.
_HANGING = 2
# How many different operations may time out in a row before their generation is given up.
_ALL_HANG = 3
# A longer wait than this would use up the time of the run.
_LONGEST_RETRY_S = 20

AnswersByGeneration = defaultdict[str, list[tuple[str, NoAnswer | None]]]
"""Of each generation, the operations that got a request, and why no answer came."""


def check_somebody_answers(operation: Operation, answered: AnswersByGeneration) -> None:
    """Raise `Refusing` where a generation, or an operation, has not answered too often."""
    generation = operation.generation.id
    last = answered[generation][::-1]
    trouble = last[0][1] if last else None
    if trouble is not None:
        in_a_row = [probe for probe, _ in takewhile(lambda pair: pair[1] is trouble, last)]
        times = len(in_a_row)
        if trouble in _UNREACHABLE and times >= _GIVE_UP:
            raise Refusing(f"the {generation} service did not answer {times} times ({trouble})")
        hung = dict.fromkeys(reversed(in_a_row))
        if trouble is NoAnswer.TIMED_OUT and len(hung) >= _ALL_HANG:
            names = ", ".join(hung)
            raise Refusing(f"the {generation} service did not answer in time: {names} hung")
    own = (came for probe, came in last if probe == operation.id)
    times = sum(no_answer is NoAnswer.TIMED_OUT for no_answer in takewhile(lambda came: came, own))
    if times >= _HANGING:
        raise Refusing(f"{operation.id} did not answer {times} times ({NoAnswer.TIMED_OUT})")


def retry_after_s(answer: Answer) -> int | None:
    """Return the seconds a service asks to wait, where it does and they are bearable."""
    if answer.status not in (429, 503):
        return None
    text = (answer.header("Retry-After") or "").strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 4):
        return None
    return int(text) if int(text) <= _LONGEST_RETRY_S else None
