"""The rule pack: one function a rule, listed here and nowhere else."""

from mockserver.conformance.checks.acceptance import ACCEPTANCE
from mockserver.conformance.checks.bodies import BODIES
from mockserver.conformance.checks.extras import EXTRAS
from mockserver.conformance.checks.generations import GENERATIONS
from mockserver.conformance.checks.list_forms import LIST_FORMS
from mockserver.conformance.checks.list_items import LIST_ITEMS
from mockserver.conformance.checks.lists import EXCHANGE_LISTS
from mockserver.conformance.checks.lists_compared import CROSS_LISTS
from mockserver.conformance.checks.named import NAMED_RULES
from mockserver.conformance.checks.orders import ORDERS
from mockserver.conformance.checks.protocol import PROTOCOL
from mockserver.conformance.checks.published_forms import TAKEN
from mockserver.conformance.checks.quotes import EXCHANGE_QUOTES
from mockserver.conformance.checks.quotes_compared import CROSS_QUOTES
from mockserver.conformance.checks.reads import EXCHANGE_READS
from mockserver.conformance.checks.refusals import REFUSALS
from mockserver.conformance.checks.relations import RELATIONS
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.checks.schema import SCHEMA
from mockserver.conformance.checks.swaps import EXCHANGE_SWAPS
from mockserver.conformance.checks.tickets import TICKET_RULES
from mockserver.conformance.checks.timing import TIMING
from mockserver.conformance.checks.usable_offers import CROSS_USABLE
from mockserver.conformance.checks.v1_orders import V1_ORDERS

RULES: tuple[Rule, ...] = (
    *SCHEMA,
    *EXTRAS,
    *BODIES,
    *PROTOCOL,
    *REFUSALS,
    *ACCEPTANCE,
    *TAKEN,
    *TIMING,
    *EXCHANGE_LISTS,
    *EXCHANGE_QUOTES,
    *EXCHANGE_SWAPS,
    *EXCHANGE_READS,
    *LIST_ITEMS,
    *LIST_FORMS,
    *CROSS_LISTS,
    *CROSS_QUOTES,
    *RELATIONS,
    *CROSS_USABLE,
    *GENERATIONS,
    *ORDERS,
    *TICKET_RULES,
    *V1_ORDERS,
    *NAMED_RULES,
)
"""Every rule, in the order of reports."""


def rules_by_fact() -> dict[str, list[str]]:
    """Return the names of the rules that stand on a fact of the register, by its id."""
    found: dict[str, list[str]] = {}
    for rule in RULES:
        if rule.basis.fact:
            found.setdefault(rule.basis.fact, []).append(rule.name)
    return found
