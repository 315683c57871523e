"""The settings of a run: what it may send, as whom, and how much."""

import ssl
from collections.abc import Iterable
from dataclasses import field, replace
from decimal import Decimal
from fnmatch import fnmatchcase

from mockserver import limits
from mockserver.conformance.checks.rule import Rule
from mockserver.conformance.requests.user_probes import SavedRequest
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.context import SLOW_MS
from mockserver.conformance.session.permit import LOCAL_RATE, REMOTE_RATE, Arming, Limits
from mockserver.conformance.session.role_bindings import Bindings
from mockserver.conformance.session.target import Target
from mockserver.contract import load
from mockserver.fast_dataclass import dataclass

DEFAULT_EXAMPLES = 2
"""How many generated requests an operation gets by itself."""
DEFAULT_SEQUENCES = 2
"""How many sequences each flow is tried with by itself, where submissions are allowed."""
FALSE_SIGNATURES = 7
"""How many requests an account of the user's own adds at most: a key and six signatures."""
NAMED_COST = 8
"""How many requests each named order, ticket or transaction may add."""
MOST_DELIVERY, MOST_DELIVERY_ARMED = 230, 370
"""How many requests ask again in other ways of delivery, where nothing differs; submissions, and
balances that fall behind them, take more.
"""
_SEQUENCE_COST, _SEQUENCE_COST_ARMED = 30, 70
"""How many requests a sequence of each flow takes, which is one without submissions."""
MOST_READING = 1_000
"""How many requests a run sends by default that submits nothing, whatever it has to ask again."""
MOST_EDGES = 766
"""How many requests at the edges of inputs a run may add to its plan, where it has room."""


MOST_CELLS = 1_400
"""How many requests for each token on each chain a run may add with more examples."""
# The operations that are asked for each token: quotes, calls, prices, balances, orders.
_WITH_CELLS = 8
MOST_FURTHER_VALUES = 800
"""How many requests with further values of an input a run may add with more examples."""
# The reading operations that have inputs.
_WITH_INPUTS = 13
USUAL_CELLS, MOST_USUAL_CELLS = 16, 48
"""How many tokens of chains a reading operation is asked for besides, where there is room: before
and behind requests beyond the bounds of inputs.
"""
CELLS_AN_EXAMPLE = 8
"""How many further tokens of chains each example beyond the usual ones reaches, for an operation,
and how many further values of its inputs.

A service with eighty tokens on its chains has them all asked for with twelve examples.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of a run; all of them have a careful default.

    `hosts` are those that the user has named, beside loopback. `only` and `skip` are names of
    rules, layers or operations, with `*` as wildcard. `edges` adds requests at the edges of each
    input, `delivery` asks again in other ways, `examples` is how many generated requests an
    operation gets, `sequences` how many sequences each state machine is tried with, and `deep` how
    many examples Schemathesis makes of each operation; `generated_for` are the operations that get
    examples, all where it is empty. `probes` are requests that are sent in every run. `patience_ms`
    is how long, in wall time, a run waits in all for what it submitted to settle; it waits only as
    long as something has not. The default is six seconds, and none with the mock, whose clock the
    user moves. `wait_ms` is how long a run waits at its beginning for a service that is still
    starting, and `slow_ms` how long an answer may take. `concurrency` is how many reading requests
    of the plan and of the edge cases are under way at the same time. `tls` says which
    certificates of services are trusted; None trusts those of the system.
    """

    seed: int = 1
    dialect: str = "documented"
    budget: int | None = None
    rate: Decimal | None = None
    time_ms: int = limits.RUN_MS
    request_ms: int = limits.REQUEST_MS
    slow_ms: int = SLOW_MS
    most_bytes: int = limits.ANSWER.most
    hosts: tuple[str, ...] = ()
    arming: Arming = field(default_factory=Arming)
    caller: Caller = field(default_factory=Caller)
    bindings: Bindings = field(default_factory=Bindings)
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    patience_ms: int | None = None
    wait_ms: int = 0
    concurrency: int = 1
    edges: bool = False
    delivery: bool = False
    examples: int = 0
    sequences: int = 0
    deep: int = 0
    generated_for: tuple[str, ...] = ()
    probes: tuple[SavedRequest, ...] = ()
    tls: ssl.SSLContext | None = None

    def chooses(self, rule: Rule, operation_id: str = "") -> bool:
        """Whether `only` and `skip` leave a rule, for one of its operations where named.

        The id of an operation chooses the rules that judge that operation alone.
        """
        alone = rule.operations if len(rule.operations) == 1 else (operation_id,)
        names = (rule.name, rule.layer.value, *alone)
        return (not self.only or _match(names, self.only)) and not _match(names, self.skip)

    def chosen_operations(self, rules: Iterable[Rule]) -> frozenset[str]:
        """Return the operations that some of the rules judge, at the edges of inputs too."""
        return frozenset(
            operation_id
            for rule in rules
            for operation_id in rule.operations_at_edges
            if self.chooses(rule, operation_id)
        )

    @property
    def most_cells(self) -> int:
        """How many requests an operation gets for tokens on chains that no edge case has."""
        return max(0, self.examples - DEFAULT_EXAMPLES) * CELLS_AN_EXAMPLE if self.edges else 0

    @property
    def most_edges(self) -> int:
        """How many requests at the edges of inputs are sent, with those for each token."""
        cells = min(MOST_CELLS, self.most_cells * _WITH_CELLS)
        return MOST_EDGES + cells + self.most_further_values

    @property
    def most_further_values(self) -> int:
        """How many requests are sent with values that no usual edge case of an input has."""
        return min(MOST_FURTHER_VALUES, self.most_cells * _WITH_INPUTS)

    @property
    def for_sequences(self) -> int:
        """How many requests the sequences take where nothing is amiss."""
        return self.sequences * (_SEQUENCE_COST_ARMED if self.arming.writes else _SEQUENCE_COST)

    @property
    def choices(self) -> dict[str, object]:
        """What decides which requests are made, as `run` takes it."""
        names = ("edges", "delivery", "examples", "sequences", "deep", "only", "skip")
        return {name: getattr(self, name) for name in names}

    def limits(self, target: Target, operations: int | None = None) -> Limits:
        """Return the bounds for a target: a service that is not ours gets requests slowly.

        `operations` is how many the dialect has, each of which gets generated requests; by default
        as many as the description.
        """
        return Limits(
            budget=self.budget if self.budget is not None else self._default_budget(operations),
            rate=self.rate or (LOCAL_RATE if target.is_local else REMOTE_RATE),
            time_ms=self.time_ms,
            request_ms=self.request_ms,
            most_bytes=self.most_bytes,
        )

    def _default_budget(self, operations: int | None) -> int:
        described = len(load().operations)
        operations = described if operations is None else operations
        usual = min(self.examples, DEFAULT_EXAMPLES)
        planned = (530 if self.arming.writes else 214) * operations // described
        planned += MOST_EDGES * self.edges + operations * usual
        planned += (MOST_DELIVERY_ARMED if self.arming.writes else MOST_DELIVERY) * self.delivery
        if not self.arming.writes:
            planned = min(planned, MOST_READING)
        # What a user asks for beside that is sent beside it.
        named = NAMED_COST * self.caller.names + FALSE_SIGNATURES * self.caller.own_keys
        generated = operations * (self.examples - usual + self.deep * 4) + self.for_sequences
        generated += (self.most_edges - MOST_EDGES) * self.edges
        return planned + named + generated + len(self.probes)


def with_generation(
    options: Options,
    target: Target,
    *,
    edges: bool | None = None,
    delivery: bool | None = None,
    examples: int | None = None,
    sequences: int | None = None,
) -> Options:
    """Return options with the usual amount of generation where none is set.

    A service on this machine gets edge cases of its inputs, requests in other ways of delivery,
    some requests of Hypothesis, and short sequences where submissions are allowed; another one gets
    only what options name.
    """
    default_examples = DEFAULT_EXAMPLES if target.is_local else 0
    examples = default_examples if examples is None else examples
    # Who wants no examples wants nothing of chance.
    has_sequences = target.is_local and options.arming.writes and examples
    return replace(
        options,
        edges=target.is_local if edges is None else edges,
        delivery=target.is_local if delivery is None else delivery,
        examples=examples,
        sequences=(DEFAULT_SEQUENCES if has_sequences else 0) if sequences is None else sequences,
    )


def _match(names: Iterable[str], patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)
