"""Pairs of generated requests whose answers must be related, sent one after the other.

Each relation has the formula, the tolerance and the basis of the planned rule of the same meaning.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal

from mockserver.conformance.checks.all_rules import RULES
from mockserver.conformance.checks.answered_quotes import AnsweredQuote, quote_of
from mockserver.conformance.checks.equal_and_similar_requests import (
    differences,
    less_for_more,
    second_output,
    unlike_its_parts,
)
from mockserver.conformance.checks.judged_exchanges import is_its_own
from mockserver.conformance.checks.quotes_compared import gained
from mockserver.conformance.checks.rule import Finding
from mockserver.conformance.discovery import amounts
from mockserver.conformance.discovery.amount_units import amount_text, reading_of
from mockserver.conformance.discovery.token_routes import default_amount_of
from mockserver.conformance.generation.input_values import is_reserved
from mockserver.conformance.generation.stages import StageProblem
from mockserver.conformance.requests.edge_cases import reversed_inputs
from mockserver.conformance.requests.negative import signed
from mockserver.conformance.requests.valid import fresh_address
from mockserver.conformance.requests.variations import is_hex
from mockserver.conformance.session.context import RunContext
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.request_draft import Draft
from mockserver.conformance.verdict import if_known
from mockserver.contract import Operation
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.limits import AMOUNT_DIGITS

_ENDS = (
    ("fromChain", "toChain"),
    ("fromToken", "toToken"),
    ("fromTokenAddress", "toTokenAddress"),
    ("fromDecimal", "toDecimal"),
)
# Below this, rounding to smallest units shows in the share.
_FEW_UNITS = 10_000
_OTHER_SLIPPAGE = "77"


@dataclass(frozen=True, slots=True)
class Relation:
    """Another form of a request, and what its answer then has to be.

    `words` say in what it differs; `rule` names the planned rule of the same meaning, which has
    its basis and the operations it holds for. `make` returns the other request, None where it
    does not apply; `judge` finds what is wrong with the two answers.
    """

    words: str
    rule: str
    make: Callable[[RunContext, Exchange, Draft], Draft | None]
    judge: Callable[[RunContext, Exchange, Exchange, str], Iterator[Finding]]

    @property
    def is_same(self) -> bool:
        """Whether the answer has to be the same."""
        return self.rule == _SAME

    def second_draft(self, context: RunContext, first: Exchange, draft: Draft) -> Draft | None:
        """Return what to send after a request that was answered with success, signed anew."""
        changed = if_known(self.make, context, first, draft)
        return None if changed is None else signed(changed, first.operation, context.caller)


def relations_of(operation: Operation) -> tuple[Relation, ...]:
    """Return the relations that hold for an operation; a submission is sent only once."""
    if operation.writes:
        return ()
    return tuple(
        relation for relation in _RELATIONS if operation.id in _RULES[relation.rule].operations
    )


def related_problems(
    relation: Relation, context: RunContext, first: Exchange, exchange: Exchange
) -> Iterator[StageProblem]:
    """Yield what two answers break of a relation; nothing where an outage may have come between."""
    if not is_its_own(exchange):
        return
    findings = if_known(lambda: list(relation.judge(context, first, exchange, relation.words)))
    for finding in findings or ():
        judged = replace(
            finding, basis=_RULES[relation.rule].basis, cause=f"related {relation.words}"
        )
        yield StageProblem((relation.words, finding.place, ""), judged)


def _reversed(context: RunContext, first: Exchange, draft: Draft) -> Draft | None:
    turned = reversed_inputs(draft)
    before, after = ([*sent.query, None, *(sent.body or ())] for sent in (draft, turned))
    return turned if before != after else None


def _in_upper_case(context: RunContext, first: Exchange, draft: Draft) -> Draft | None:
    changed = draft
    for field in first.operation.fields:
        value = draft.part(field.location).get(field.name)
        if field.location != "headers" and is_hex(value):
            changed = changed.having(field.location, field.name, f"0x{str(value)[2:].upper()}")
    return None if changed == draft else changed


def _doubled(context: RunContext, first: Exchange, draft: Draft) -> Draft | None:
    field = first.operation.amount
    amount = amounts.number(draft.part(field.location).get(field.name)) if field else None
    return None if amount is None else _with_amount(draft, first.operation, amount * 2)


def _back(context: RunContext, first: Exchange, draft: Draft) -> Draft | None:
    quote = quote_of(context, first)
    if quote is None or not _is_typical(context, quote) or not quote.got:
        return None
    if quote.decimals != quote.route.target.decimals:
        return None
    fields = {field.role: field for field in first.operation.fields}
    changed = draft
    for source, target in _ENDS:
        if source in fields and target in fields:
            for here, there in ((source, target), (target, source)):
                if (value := draft.part(fields[there].location).get(fields[there].name)) is None:
                    return None
                changed = changed.having(fields[here].location, fields[here].name, value)
    text = amount_text(quote.got, quote.route.target, reading_of(context, first.operation.id))
    return _with_amount(changed, first.operation, Decimal(text))


def _with_amount(draft: Draft, operation: Operation, amount: Decimal) -> Draft | None:
    """Return a request for another amount; None if that is not above zero, or is reserved."""
    field, text = operation.amount, f"{amount:f}"
    if field is None or amount <= 0 or is_reserved(text) or len(text) > AMOUNT_DIGITS:
        return None
    value: Json = amount if "number" in field.types else text
    return draft.having(field.location, field.name, value)


def _for_another(context: RunContext, first: Exchange, draft: Draft) -> Draft:
    return draft.having("query", "recipient", fresh_address(context, "another recipient"))


def _same_output(
    context: RunContext, first: Exchange, exchange: Exchange, how: str
) -> Iterator[Finding]:
    return second_output(first, exchange, how) if exchange.succeeded else iter(())


def _grows(context: RunContext, first: Exchange, exchange: Exchange, how: str) -> Iterator[Finding]:
    less, more = quote_of(context, first), quote_of(context, exchange)
    if less is None or more is None:
        return
    yield from less_for_more(less, more)
    # Fixed fees are a large part of a less than usual amount.
    if _is_typical(context, less):
        yield from unlike_its_parts(more, less, less)


def _gains(context: RunContext, first: Exchange, exchange: Exchange, how: str) -> Iterator[Finding]:
    there, back = quote_of(context, first), quote_of(context, exchange)
    if there is not None and back is not None:
        yield from gained(context, there, back)


def _is_typical(context: RunContext, quote: AnsweredQuote) -> bool:
    """Tell whether a quote is large enough that fixed fees and rounding do not matter."""
    units = amounts.EXACT.scaleb(quote.got or Decimal(0), quote.decimals)
    return quote.put >= default_amount_of(context, quote.route.source) and units >= _FEW_UNITS


_SAME = "same-meaning-same-answer"
_BY_AMOUNT = "more-never-pays-less"
_FOR_ANYBODY = "output-is-the-same-for-anybody"
_RELATIONS = (
    Relation("the request repeated", _SAME, lambda _, __, draft: draft, differences),
    Relation("inputs in reverse order", _SAME, _reversed, differences),
    Relation("upper-case hex", _SAME, _in_upper_case, differences),
    Relation("twice the amount", _BY_AMOUNT, _doubled, _grows),
    Relation("the way back", "there-and-back-gains-nothing", _back, _gains),
    Relation("another recipient", _FOR_ANYBODY, _for_another, _same_output),
    Relation(
        "another slippage",
        _FOR_ANYBODY,
        lambda _, __, draft: draft.having("query", "slippage", _OTHER_SLIPPAGE),
        _same_output,
    ),
)
_RULES = {rule.name: rule for rule in RULES}
