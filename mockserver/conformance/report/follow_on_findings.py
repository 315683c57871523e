"""Which findings follow from others: one fault in a list, or one cut answer, shows in many rules.

The order is that of diagnosis: whether answers arrive, their envelope, their form, the lists, what
was submitted, amounts, what is compared with them, and last what a service takes though it ought
to refuse. A finding follows from an earlier one that is about the same operation, or about an
operation whose answers it was computed from.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import field

from mockserver.conformance.checks.rule import IN_ONE_FORM
from mockserver.conformance.report.causes import Cause
from mockserver.conformance.verdict import Verdict
from mockserver.contract import ids
from mockserver.fast_dataclass import dataclass

# Rules in the order of diagnosis, by stages; of one stage the earlier explain the later. Findings
# that stand elsewhere than others of their rule have their place behind an `@`.
_ORDER = (
    # Whether answers arrive.
    (
        "same-answer-in-every-delivery no-redirect answers-are-whole no-server-error"
        " documented-operations-are-served body-is-strict-json media-type-is-json"
        " no-unasked-compression"
    ),
    # The envelope.
    (
        "envelope-code envelope-members success-has-success-code success-is-http-200"
        " refusal-carries-code success-has-content"
    ),
    # The form of data.
    (
        "data-form integers-are-plain items-have-one-form tickets-have-one-form"
        " amounts-are-whole-units call-data-is-hex addresses-are-whole every-token-is-complete"
        " names-are-bare"
    ),
    # The lists.
    (
        "both-lists-say-the-same one-index-is-one-token v1-tokens-are-as-in-2.0"
        " tokens-of-a-chain-are-on-it v1-tokens-of-a-chain-are-on-it"
        " tokens-are-on-listed-chains every-token-of-a-chain-is-listed"
        " every-listed-token-is-on-its-chain each-item-is-listed-once one-token-has-one-form"
        " coins-are-as-their-chains-say chains-are-spelled-alike no-list-is-empty"
        " version-follows-the-list v1-version-follows-the-list lists-show-what-requests-take"
    ),
    # What was submitted.
    (
        "order-ids-are-unique ticket-ids-are-unique v1-order-numbers-are-unique"
        " same-deposit-is-one-order same-v1-deposit-is-one-order same-report-is-one-ticket"
        " each-order-is-told-for-itself accepted-orders-are-known accepted-tickets-are-known"
        " accepted-v1-orders-are-found final-statuses-stay final-v1-statuses-stay"
        " check-agrees-with-the-list solved-tickets-stay-solved settled-orders-are-told-alike"
        " tickets-echo-what-was-reported tickets-are-listed-for-their-address"
        " tickets-are-of-the-address tickets-have-one-status tickets-are-listed"
        " each-ticket-is-listed-once"
    ),
    # Amounts.
    (
        "amount-is-read-as-smallest-units bridge-keeps-the-amount output-grows-with-input"
        " v1-output-grows-with-input chain-decimal-is-the-targets call-is-for-the-amount"
        " published-call-is-for-what-was-asked call-pays-the-recipient"
        " v1-quote-echoes-the-request v1-quote-adds-up usd-value-fits-output"
        " fees-are-smallest-units service-fee-is-a-small-share service-fee-is-its-rate"
        " gas-fee-is-not-a-share minimum-is-not-above-output balance-is-of-the-token"
        " readable-balance-is-the-balance price-is-a-price price-is-of-the-token"
    ),
    # What is compared with them.
    (
        "price-agrees-with-quotes swap-follows-prices quote-price-is-the-tokens"
        " usd-value-fits-output@data.price same-answer-in-every-delivery@data.outAmount"
        " v1-prices-are-in-usd call-pays-what-was-quoted"
        " slippage-is-in-hundredths-of-a-percent more-slippage-asks-for-less"
        " v1-quote-is-like-that-of-2.0 there-and-back-gains-nothing more-never-pays-less"
        " parts-add-up amounts-are-reckoned-exactly output-is-the-same-for-anybody"
        " equal-quotes-agree success-pays-what-was-quoted same-meaning-same-answer"
        " equal-requests-are-answered-alike forgets-refusals"
    ),
)
_PLACES = {
    name: (stage, place)
    for stage, names in enumerate(_ORDER)
    for place, name in enumerate(names.split())
}
_ARRIVAL, _FORM, _LISTS, _SUBMITTED = 0, 2, 3, 4
_REST = len(_ORDER)
_FLOWS = (
    {ids.ORDER, ids.CHECK},
    {ids.TICKET, ids.TICKETS, ids.CHECK_TICKET},
    {ids.V1_ORDER, ids.V1_DETAIL},
)
# Names of chains and tokens in a message.
_NAME = re.compile(r"\b[A-Z][A-Z0-9]{1,9}\b")
_NO_NAMES = {"USD", "HTTP", "JSON", "UTF"}
_WORST = tuple(Verdict).index


@dataclass(slots=True)
class Explanation:
    """A cause, and the causes that may follow from it, in the order of diagnosis."""

    cause: Cause
    followers: list[Cause] = field(default_factory=list)

    @property
    def every(self) -> tuple[Cause, ...]:
        return (self.cause, *self.followers)

    @property
    def verdict(self) -> Verdict:
        """The worst of them: a mild cause may have results that contradict the description."""
        return min((cause.verdict for cause in self.every), key=_WORST)


def explanations(causes: Iterable[Cause]) -> tuple[Explanation, ...]:
    """Return causes with those that may follow from them, the worst first."""
    heads: list[Explanation] = []
    for cause in sorted(causes, key=_place):
        explaining = (head for head in heads if any(_explains(each, cause) for each in head.every))
        head = next(explaining, None)
        if head is None:
            heads.append(Explanation(cause))
        else:
            head.followers.append(cause)
    return tuple(sorted(heads, key=lambda head: _WORST(head.verdict)))


def _place(cause: Cause) -> tuple[int, int]:
    rule = cause.rule.name
    return _PLACES.get(f"{rule}@{cause.place}") or _PLACES.get(rule, (_REST, 0))


def _explains(earlier: Cause, later: Cause) -> bool:
    same_operation = not set(earlier.operations).isdisjoint(later.operations)
    if earlier.rule.name == later.rule.name:
        # The same in further places of one operation, or in further operations.
        return same_operation or _way(earlier) == _way(later)
    stage, later_stage = _place(earlier)[0], _place(later)[0]
    if same_operation and earlier.place and earlier.place == later.place:
        return True
    if stage == _REST:
        return False
    if stage >= _FORM and stage != _LISTS and _WORST(earlier.verdict) > _WORST(later.verdict):
        # What is assumed does not explain away what is contradicted.
        return False
    if stage == _ARRIVAL and earlier.place == IN_ONE_FORM and later_stage != _ARRIVAL:
        # What was found otherwise was requested in the usual form.
        return False
    if stage == _LISTS:
        return later_stage >= _LISTS and _share_names(earlier, later)
    if stage == _SUBMITTED and any(
        _is_of(earlier, flow) and _is_of(later, flow) for flow in _FLOWS
    ):
        return True
    return not set(earlier.operations).isdisjoint(_read(later))


def _is_of(cause: Cause, flow: set[str]) -> bool:
    return not flow.isdisjoint(cause.operations)


def _read(cause: Cause) -> Iterator[str]:
    """Yield the operations that findings are about, and those whose answers they compare."""
    yield from cause.operations
    for finding in cause.findings:
        yield from (exchange.operation for exchange in finding.exchanges)


def _way(cause: Cause) -> str:
    """Return how it is wrong, without values and names."""
    return _NAME.sub("", re.sub(r"'[^']*'|[0-9]\S*", "", cause.message))


def _share_names(earlier: Cause, later: Cause) -> bool:
    named = {name for finding in earlier.findings for name in _NAME.findall(finding.message)}
    texts = [
        text
        for finding in later.findings
        for text in (finding.message, *(exchange.url for exchange in finding.exchanges))
    ]
    return not (named - _NO_NAMES).isdisjoint(
        name for text in texts for name in _NAME.findall(text)
    )
