"""The rule about what the contract does not mention."""

from collections.abc import Iterator, Mapping

from mockserver.conformance.checks.evidence import answered
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.checks.schema_walk import Applied, Unspoken, first_parts
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.verdict import Verdict
from mockserver.contract import Operation
from mockserver.validation import shown

_MOST = 100


def no_undocumented_members(context: RunContext, operation: Operation) -> Iterator[Finding]:
    found = first_parts(answered(context, operation), _counts)
    # Where a list is keyed by names the contract does not have, there may be thousands.
    for place, (exchange, value) in list(found.items())[:_MOST]:
        yield Finding(
            f"{place} is not mentioned anywhere; it came as {shown(value)}",
            (exchange,),
            place=place,
            verdict=Verdict.EXTRA,
            cause="extra",
        )


def _counts(exchange: Exchange, part: Applied | Unspoken) -> bool:
    """Tell whether a member is judged: of a refusal, whose data is open, only the envelope's."""
    if isinstance(part, Applied) or exchange.succeeded:
        return isinstance(part, Unspoken)
    return len(part.place) == 1 and isinstance(exchange.body, Mapping) and "code" in exchange.body
