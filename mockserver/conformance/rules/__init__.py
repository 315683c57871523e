"""The rule pack: one function a rule, listed here and nowhere else."""

from mockserver.conformance.rules.acceptance import ACCEPTANCE
from mockserver.conformance.rules.bodies import BODIES
from mockserver.conformance.rules.cross_lists import CROSS_LISTS
from mockserver.conformance.rules.cross_quotes import CROSS_QUOTES
from mockserver.conformance.rules.cross_usable import CROSS_USABLE
from mockserver.conformance.rules.exchange_lists import EXCHANGE_LISTS
from mockserver.conformance.rules.exchange_quotes import EXCHANGE_QUOTES
from mockserver.conformance.rules.exchange_reads import EXCHANGE_READS
from mockserver.conformance.rules.exchange_swaps import EXCHANGE_SWAPS
from mockserver.conformance.rules.extras import EXTRAS
from mockserver.conformance.rules.generations import GENERATIONS
from mockserver.conformance.rules.list_items import LIST_ITEMS
from mockserver.conformance.rules.orders import ORDERS
from mockserver.conformance.rules.protocol import PROTOCOL
from mockserver.conformance.rules.refusals import REFUSALS
from mockserver.conformance.rules.schema import SCHEMA
from mockserver.conformance.rules.taken import TAKEN
from mockserver.conformance.rules.tickets import TICKET_RULES
from mockserver.conformance.rules.timing import TIMING
from mockserver.conformance.rules.v1_orders import V1_ORDERS
from mockserver.conformance.verdict import Rule

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
    *CROSS_LISTS,
    *CROSS_QUOTES,
    *CROSS_USABLE,
    *GENERATIONS,
    *ORDERS,
    *TICKET_RULES,
    *V1_ORDERS,
)
"""Every rule, in the order of reports."""
