"""What a scenario's templates know of a service: the names in its lists, its orders and tickets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from mockserver import jsontext
from mockserver.engine.orders import OrderGeneration, Ticket
from mockserver.engine.outages import OrderRoute
from mockserver.engine.scenario import Scenario
from mockserver.engine.submission import SentOrder
from mockserver.fast_dataclass import dataclass
from mockserver.jsontext import Json
from mockserver.times_and_durations import parse_duration

NamedInputs = Mapping[str, Json]
"""The inputs of a request by their names, wherever they travelled."""

_TOKEN_INPUTS = ("symbol", "token", "fromtoken", "contractaddress", "toindex")


def is_blank(value: Json) -> bool:
    return value in (None, "")


def family_of(name: str) -> str:
    """Return what kind of name an input holds: `chain`, `token` or nothing of a list."""
    lowered = name.lower()
    if lowered.endswith("chain"):
        return "chain"
    is_token = lowered in _TOKEN_INPUTS or lowered.endswith("tokenaddress")
    return "token" if is_token else ""


@dataclass(frozen=True, slots=True)
class ListedNames:
    """The names that lists of a service have: each chain with all its names, tokens by item.

    Everything is in lower case.
    """

    chains: Sequence[frozenset[str]] = ()
    tokens: Sequence[frozenset[str]] = ()

    @classmethod
    def of(cls, names: Mapping[str, Any]) -> "ListedNames":
        """Return the names of a scenario's templates."""
        both = (
            [frozenset(str(text).lower() for text in item) for item in names.get(kind, ())]
            for kind in ("chains", "tokens")
        )
        return cls(*both)

    def chain(self, name: Json) -> frozenset[str]:
        """Return all names of a chain; none where no list has it."""
        lowered = str(name).lower()
        return next((chain for chain in self.chains if lowered in chain), frozenset())

    def has_token(self, name: Json, chain: Json) -> bool:
        """Tell whether a list has a token on a chain; items that name no chain are on each."""
        lowered, on = str(name).lower(), self.chain(chain)
        every = frozenset().union(*self.chains)
        return any(
            # A name of a chain in an item ties it to that chain; items without one are on each.
            lowered in token and (not on or not token & every or token & on)
            for token in self.tokens
        )

    def unknown(self, inputs: NamedInputs) -> str:
        """Return what a request names that no list has: `chain` or `token`; empty where nothing."""
        named = [(name, value) for name, value in inputs.items() if not is_blank(value)]
        for name, value in named:
            if self.chains and family_of(name) == "chain" and not self.chain(value):
                return "chain"
        for name, value in named:
            if self.tokens and family_of(name) == "token":
                for chain in _chains_for(name, inputs):
                    if not self.has_token(value, chain):
                        return "token"
        return ""


def _chains_for(name: str, inputs: NamedInputs) -> Iterator[Json]:
    """Yield the chains on which an input's token has to be."""
    ends: tuple[str, ...] = (
        ("to",) if name.lower().startswith("to") and name != "token" else ("from",)
    )
    if name in ("symbol", "token"):
        ends = ("from", "to")
    chains = [inputs[f"{end}Chain"] for end in ends if f"{end}Chain" in inputs]
    yield from chains or [inputs.get("chain")]


def route_texts(inputs: NamedInputs) -> list[str]:
    """Return the chains and tokens that a request names."""
    return [f"{name} {value}" for name, value in sorted(inputs.items()) if family_of(name)]


def deposit_of(generation: OrderGeneration, inputs: NamedInputs) -> str:
    """Return what pays for an order: the hash of v1, a digest of the certificates of 2.0."""
    if generation is OrderGeneration.V1:
        return str(inputs.get("certHash") or "")
    return sha256(str(inputs.get("sourceCerts") or "").encode()).hexdigest()


def sent_order(
    scenario: Scenario,
    names: ListedNames,
    generation: OrderGeneration,
    kind: Mapping[str, Any],
    inputs: NamedInputs,
    order_id: str = "",
) -> SentOrder:
    """Return the order that a submission asks for, as far as its inputs tell.

    A chain or a token that the catalog lacks stands for the first one there, which books nothing.
    """
    deposit = deposit_of(generation, inputs)
    target = nickname_of(scenario, names, inputs.get("toChain"))
    named = inputs.get("fromChain")
    source = nickname_of(scenario, names, named) if named else target
    tokens = [_symbol_on(scenario, chain, inputs) for chain in (source, target)]
    course = kind.get("course", scenario.default_course)
    return SentOrder(
        order_id,
        generation,
        OrderRoute(source, tokens[0], target, tokens[1]),
        user_of(inputs),
        str(inputs.get("toAddr") or user_of(inputs)),
        deposit,
        jsontext.encode(dict(inputs)).decode("ascii"),
        scenario.courses.get(course) or scenario.courses[scenario.default_course],
    )


def nickname_of(scenario: Scenario, names: ListedNames, chain: Json) -> str:
    """Return the catalog's name of a chain that a client calls by any of its names."""
    called = names.chain(chain) or {str(chain).lower()}
    nicknames = [known.nickname for known in scenario.catalog.chains]
    # The first chain where none is known: an order of a template needs a route, and books nothing.
    return next((name for name in nicknames if name.lower() in called), nicknames[0])


def _symbol_on(scenario: Scenario, nickname: str, inputs: NamedInputs) -> str:
    catalog = scenario.catalog
    symbols = [placed.symbol for placed in catalog.tokens_on(catalog.chain(nickname))]
    named = {str(inputs.get(name)) for name in ("fromToken", "token", "symbol")}
    # As with chains: the first is as good as any where nothing is named.
    return next((symbol for symbol in symbols if symbol in named), symbols[0] if symbols else "")


def user_of(inputs: NamedInputs) -> str:
    """Return the address of the user, under the names that it has in requests."""
    names = ("evmAddress", "evmAddres", "Evmaddress", "EvmAddress")
    return next((str(inputs[name]).lower() for name in names if name in inputs), "")


def with_templates(scenario: Scenario, templates: Mapping[str, Any]) -> Scenario:
    """Return a scenario that answers by templates, with the orders and tickets that they know."""
    if not templates:
        return scenario
    names = ListedNames.of(templates.get("names", {}))
    kinds: Mapping[str, Any] = templates.get("orders", {})
    orders = [
        sent_order(
            scenario,
            names,
            OrderGeneration(item["generation"]),
            kinds.get(item["generation"], {}),
            item["inputs"],
            item["id"],
        ).stored(-parse_duration(item["ago"]), scenario.refund_ms)
        for item in kinds.get("known", ())
    ]
    tickets = [
        Ticket(
            item["id"], item["address"], item["chain"], item["hash"], -parse_duration(item["ago"])
        )
        for item in templates.get("tickets", {}).get("known", ())
    ]
    return replace(
        scenario,
        templates=templates,
        known_orders=(*scenario.known_orders, *orders),
        known_tickets=tuple(tickets),
    )
