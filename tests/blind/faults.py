"""All faults that a service shows to every request, by name."""

from tests.blind.faults_envelopes import ENVELOPES
from tests.blind.faults_lists import LISTS
from tests.blind.faults_mixed import MIXED
from tests.blind.faults_orders import ORDERS, SUBMISSIONS
from tests.blind.faults_quotes import AGGREGATE, BRIDGE
from tests.blind.faults_reads import BALANCES, PRICES
from tests.blind.faults_swaps import SWAP
from tests.blind.faults_tickets import TICKETS
from tests.blind.faults_v1_lists import FIRST_LISTS
from tests.blind.faults_v1_orders import FIRST_ORDERS
from tests.blind.rows import Row

_ROWS: tuple[Row, ...] = (
    *ENVELOPES,
    *FIRST_LISTS,
    *FIRST_ORDERS,
    *LISTS,
    *BRIDGE,
    *AGGREGATE,
    *SWAP,
    *BALANCES,
    *PRICES,
    *SUBMISSIONS,
    *ORDERS,
    *TICKETS,
    *MIXED,
)

FAULTS: dict[str, Row] = {row.name: row for row in _ROWS}
assert len(FAULTS) == len(_ROWS), "two faults have one name"
