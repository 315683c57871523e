"""What a run asks beside its plan: at the edges of inputs, and again for what came late."""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, zip_longest

from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.options import MOST_EDGES, Options
from mockserver.conformance.requests.slower import FEWEST_ROUNDS, ROUNDS, probes, suspects
from mockserver.conformance.requests.targets import targets_of
from mockserver.conformance.session.draft import Draft
from mockserver.conformance.session.session import Session

_OF_ITS_KIND = "answers-as-soon-as-its-kind"
"""The rule for which what came late is asked for again."""

Requests = Iterator[tuple[str, Draft]]
"""Requests by the names of their probes, to be sent one after the other."""


def at_edges(session: Session, options: Options, kept: int, within: Collection[str]) -> Requests:
    """Yield the requests at edges of some operations that there is room for, once; the others are
    left out with the reason.

    So many requests of the budget are `kept` for the last look at the lists. Generated requests
    come after that, and have their share of the budget kept as well: at most half of what is left,
    since edges show more than as many requests by chance.
    """
    if not options.edges:
        return
    context, transport = session.context, session.transport
    served = [one for one in context.contract if one.generation.id in transport.generations]
    generated = options.examples * len(served)
    kept += min(generated, max(0, transport.left - kept) // 2)
    submitted = options.examples * sum(operation.writes for operation in served)
    kept_writes = min(submitted, transport.writes_left // 2)
    columns = []
    for operation in served:
        if operation.id in within and operation.writes and not options.arming.writes:
            for target in targets_of(context, operation):
                context.leave_out(target.probe, "writes are not armed")
        elif operation.id in within:
            columns.append(targets_of(context, operation))
    # The operations in turn: a small budget meets all of them.
    in_turn = filter(None, chain.from_iterable(zip_longest(*columns)))
    for number, target in enumerate(in_turn):
        writes = context.contract.operation(target.operation_id).writes
        if number >= MOST_EDGES:
            reason = f"{MOST_EDGES} requests at the edges of inputs were sent before it"
        elif transport.left <= kept:
            reason = "what is left of the budget is kept for what comes after"
        elif writes and transport.writes_left <= kept_writes:
            reason = "what is left of the submissions is kept for generated ones"
        else:
            yield target.probe, target.draft
            continue
        context.leave_out(target.probe, reason)


def what_was_late(session: Session, rules: Iterable[Rule], kept: int) -> Requests:
    """Yield again what came far later than others of its kind; `kept` is as it is for edges."""
    if not any(rule.name == _OF_ITS_KIND for rule in rules):
        return
    for suspect in list(suspects(session.context)):
        rounds = min((session.transport.left - kept) // 2, ROUNDS)
        if rounds < FEWEST_ROUNDS:
            return
        yield from probes(suspect, rounds)
