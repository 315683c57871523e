"""A scenario: everything a world starts from, as one value that many worlds share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from decimal import Decimal

from mockserver.clock import ClockMode
from mockserver.engine.aggregates import AggregateQuote, QuoteKey, SwapKey, SwapQuotes
from mockserver.engine.calendar import Calendar
from mockserver.engine.catalog import Catalog
from mockserver.engine.courses import COURSES, Course, Policy, course_problems
from mockserver.engine.fees import Rates
from mockserver.engine.orders import Generation, Kind, Order
from mockserver.engine.outages import Route, Window
from mockserver.engine.prices import Prices
from mockserver.engine.quotes import (
    BridgeKey,
    BridgeQuote,
    CrossChainKey,
    CrossChainQuote,
    TransferQuotes,
)
from mockserver.values import dataclass


@dataclass(frozen=True, slots=True)
class OrderRule:
    """Which orders take which course; what is None matches all. Amounts are in whole tokens."""

    course: str
    policy: Policy | None = None
    polls: int | None = None
    generation: Generation | None = None
    kind: Kind | None = None
    source_chain: str | None = None
    target_chain: str | None = None
    token: str | None = None
    least_amount: Decimal | None = None
    most_amount: Decimal | None = None


@dataclass(frozen=True, slots=True)
class OpeningBalance:
    """What one address owns of a token on a chain at the beginning, in whole tokens."""

    chain: str
    address: str
    token: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Openings:
    """What addresses own at the beginning: `usd` worth of each token, or a fixed amount of it."""

    usd: Decimal = Decimal(1000)
    whole: Mapping[str, Decimal] = field(default_factory=dict)
    accounts: Sequence[OpeningBalance] = ()


@dataclass(frozen=True, slots=True)
class FixedQuotes:
    """Quotes that come out to the last digit for their inputs.

    Amounts that are off by up to `near_percent` follow their rates.
    """

    bridge: Mapping[BridgeKey, BridgeQuote] = field(default_factory=dict)
    aggregate: Mapping[QuoteKey, AggregateQuote] = field(default_factory=dict)
    swaps: Mapping[SwapKey, int] = field(default_factory=dict)
    near_percent: int = 0
    cross_chain: Mapping[CrossChainKey, CrossChainQuote] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """The beginning of a world. Without `start_ms` its clock starts at the wall clock's time.

    `known_orders` are there from the beginning; their times count from that moment.
    """

    name: str
    catalog: Catalog
    prices: Prices
    rates: Rates = field(default_factory=Rates)
    seed: int = 0
    clock_mode: ClockMode = ClockMode.REAL
    clock_rate: Decimal = Decimal(1)
    start_ms: int | None = None
    courses: Mapping[str, Course] = field(default_factory=lambda: COURSES)
    order_rules: Sequence[OrderRule] = ()
    default_course: str = "success"
    default_policy: Policy = Policy.TIME
    default_polls: int = 3
    refund_ms: int = 40_000
    ticket_ms: int = 300_000
    openings: Openings = field(default_factory=Openings)
    calendar: Sequence[Window] = ()
    list_version: int = 1
    id_prefix: int = 30
    fixed: FixedQuotes = field(default_factory=FixedQuotes)
    known_orders: Sequence[Order] = ()
    outages: Calendar = field(init=False, repr=False, compare=False)
    """The calendar with its look-ups, which all worlds of the scenario begin with."""

    transfers: TransferQuotes = field(init=False, repr=False, compare=False)
    """Its quotes of transfers."""

    swaps: SwapQuotes = field(init=False, repr=False, compare=False)
    """Its quotes of swaps."""
    opening_units: dict[tuple[str, int], int] = field(init=False, repr=False, compare=False)
    """What an address that is not named owns at the beginning, by symbol and decimals."""

    routes: dict[tuple[str, str, str, str], Route] = field(init=False, repr=False, compare=False)
    """Routes of late, one value each: by nickname and symbol of both ends."""

    def __post_init__(self) -> None:
        """Make what all worlds of the scenario share."""
        put = object.__setattr__
        put(self, "outages", Calendar(tuple(self.calendar)))
        fixed = self.fixed
        quotes = TransferQuotes(
            self.rates, self.prices, fixed.bridge, fixed.near_percent, fixed.cross_chain
        )
        put(self, "transfers", quotes)
        swaps = SwapQuotes(
            self.catalog,
            self.rates,
            self.prices,
            self.seed,
            fixed.aggregate,
            fixed.swaps,
            fixed.near_percent,
        )
        put(self, "swaps", swaps)
        put(self, "opening_units", {})
        put(self, "routes", {})


Problem = tuple[tuple[str | int, ...], str]
"""What is wrong with a scenario: the path of the field, and what would be right."""


def scenario_problems(scenario: Scenario) -> tuple[Problem, ...]:
    """Return what is wrong with a scenario beyond the form and the names of its parts.

    Ranges of single values are for the schemas of the files, chains and tokens for the catalog, and
    windows for the calendar to complain of.
    """
    return (
        *_price_problems(scenario),
        *_course_problems(scenario),
        *_rule_problems(scenario),
        *_number_problems(scenario),
        *_opening_problems(scenario),
    )


def _price_problems(scenario: Scenario) -> Iterator[Problem]:
    prices = scenario.prices
    for token in scenario.catalog.tokens:
        if prices.usd.get(token.symbol, Decimal(0)) <= 0:
            yield ("prices", token.symbol), "has no price above 0; every token needs one"
    if prices.drift is not None and prices.drift.period_ms <= 0:
        yield ("prices", "drift"), "needs a period above 0 ms"


def _course_problems(scenario: Scenario) -> Iterator[Problem]:
    for name, course in scenario.courses.items():
        for message in course_problems(course):
            yield ("courses", name), message
    if scenario.default_course not in scenario.courses:
        yield ("default_course",), _no_course(scenario.default_course, scenario)


def _rule_problems(scenario: Scenario) -> Iterator[Problem]:
    chains = {chain.nickname for chain in scenario.catalog.chains}
    tokens = {token.symbol for token in scenario.catalog.tokens}
    for number, rule in enumerate(scenario.order_rules):
        place = ("order_rules", number)
        if rule.course not in scenario.courses:
            yield (*place, "course"), _no_course(rule.course, scenario)
        for name in ("source_chain", "target_chain"):
            if getattr(rule, name) not in {None, *chains}:
                yield (*place, name), f"{getattr(rule, name)!r} is no nickname of the catalog"
        if rule.token not in {None, *tokens}:
            yield (*place, "token"), f"{rule.token!r} is no symbol of the catalog"
        least, most = rule.least_amount, rule.most_amount
        if least is not None and most is not None and least > most:
            yield (*place, "least_amount"), "is above most_amount"


def _number_problems(scenario: Scenario) -> Iterator[Problem]:
    if (scenario.start_ms or 0) < 0:
        yield ("start_ms",), f"{scenario.start_ms} is too small; 0 or more is right"
    if scenario.clock_rate <= 0:
        yield ("clock_rate",), f"{scenario.clock_rate} does not move the clock; above 0 is right"
    if scenario.rates.depth_usd <= 0:
        yield ("rates", "depth_usd"), f"{scenario.rates.depth_usd} is no depth; above 0 is right"


def _opening_problems(scenario: Scenario) -> Iterator[Problem]:
    chains = {chain.nickname for chain in scenario.catalog.chains}
    tokens = {token.symbol: token for token in scenario.catalog.tokens}
    for number, opening in enumerate(scenario.openings.accounts):
        place, token = ("openings", "accounts", number), tokens.get(opening.token)
        if opening.chain not in chains:
            yield (*place, "chain"), f"{opening.chain!r} is no nickname of the catalog"
        if token is None or opening.chain not in token.contracts:
            yield (*place, "token"), f"{opening.token!r} is not on {opening.chain!r}"


def _no_course(name: str, scenario: Scenario) -> str:
    return f"{name!r} is no course; there are {', '.join(map(repr, scenario.courses))}"
