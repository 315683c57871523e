"""What exists and is in no list: chains and tokens that a service knows, and does not offer."""

from collections.abc import Iterator

from mockserver.conformance.checks.evidence import check_edges_are_asked, is_its_own
from mockserver.conformance.checks.judging import JUDGED, Said
from mockserver.conformance.checks.refusals import check_that_refusals_mean_something, is_empty
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery.inventory import chains_of
from mockserver.conformance.discovery.listing import folded
from mockserver.conformance.requests.words import KNOWN, label_of
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.looks import LAST_LOOK
from mockserver.conformance.verdict import NotApplicable
from mockserver.contract import Operation

_CHAINS = {"v1": "v1.getSupportChains", "v2": "v2.getChain"}


def refuses_what_is_known_and_not_listed(
    context: RunContext, operation: Operation
) -> Iterator[Said]:
    places = {field.role: f"{field.location}.{field.name}" for field in operation.fields}
    asked = [one for one in context.of(operation) if label_of(one.probe).startswith(KNOWN)]
    unsent = any(label_of(probe).startswith(KNOWN) for probe in context.unsent)
    if not asked and not unsent:
        check_edges_are_asked(context)
        raise NotApplicable("nothing is known that the lists do not show")
    back = {folded(name) for name in _listed_at_the_end(context, operation)}
    told: set[str] = set()
    for exchange in asked:
        role, _, name = label_of(exchange.probe).removeprefix(KNOWN).partition(" ")
        if not is_its_own(exchange) or folded(name) in back:
            continue
        yield JUDGED
        if exchange.succeeded and not is_empty(exchange) and role not in told:
            told.add(role)
            yield Finding(
                f"{role} is {name}, which is known and not listed, and the answer is a success",
                (exchange,),
                place=places[role],
                cause=f"{role} known",
                should_refuse=True,
            )
    if asked and not told:
        check_that_refusals_mean_something(context, operation)


def _listed_at_the_end(context: RunContext, operation: Operation) -> Iterator[str]:
    """Yield the names of chains that the last look at the list of a generation shows."""
    look = context.get(f"{_CHAINS[operation.generation.id]}/{LAST_LOOK}")
    if look is not None and look.succeeded:
        for chain in chains_of(look, context.bindings):
            yield from chain.names
