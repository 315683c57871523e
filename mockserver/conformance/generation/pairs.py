"""What a request is about: tokens and chains that belong together, drawn from what was listed."""

import re
from collections.abc import Callable, Sequence

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from mockserver.conformance.discovery.discovered import inventory_of
from mockserver.conformance.discovery.inventory import Token
from mockserver.conformance.discovery.routes import Route, usual_amount
from mockserver.conformance.generation.values import smallest_units, whole_tokens
from mockserver.conformance.session.context import RunContext
from mockserver.contract import Operation
from mockserver.jsontext import Json

_USUAL_DECIMALS = 18
_MOST_DECIMALS = 76
_NAME = re.compile(r"[^ \t\r\n]{1,64}")


class Scenery:
    """Draws scenes for the requests of one operation."""

    def __init__(self, operation: Operation, context: RunContext) -> None:
        """Take what was listed until now."""
        v1 = operation.generation.id == "v1"
        inventory = inventory_of(context)
        listed = inventory.v1_tokens if v1 else inventory.tokens
        self._tokens = [one for one in listed if _is_usable(one)]
        self._v1_chains = (
            [chain.name for chain in inventory.v1_chains if chain.offered] if v1 else []
        )
        self._targets = self._choice({field.role for field in operation.fields})
        self._amounts = {
            field.role: "number" in field.types for field in operation.fields if field.is_amount
        }
        # Worked out here: Hypothesis keeps strategies for long, and with them whatever they reach.
        priced = self._tokens if self._amounts else ()
        self._usual = {token: usual_amount(context, token) for token in priced}
        self._drawn: dict[object, SearchStrategy[Json]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no list shows a token that requests could be about."""
        return not self._tokens

    def draw(self, draw: DrawFn) -> dict[str, Json]:
        """Draw a scene and return what it gives to the inputs, by role."""
        source = draw(self._one_of("source", self._tokens))
        if self._v1_chains:
            chain = draw(self._one_of("v1 chains", self._v1_chains))
            scene = Route(source, Token(source.symbol, chain, source.address, source.decimals))
        else:
            targets = [one for one in self._targets(source) if one != source] or [source]
            scene = Route(source, draw(self._one_of(source, targets)))
        values = dict(scene.values)
        for role, is_whole in self._amounts.items():
            values[role] = draw(self._amount(source, is_whole=is_whole))
        return values

    def _choice(self, roles: set[str]) -> Callable[[Token], Sequence[Token]]:
        """Return what tells which tokens can be got for one."""
        if "toTokenAddress" in roles and "toChain" not in roles:
            return lambda one: [other for other in self._tokens if other.chain == one.chain]
        if {"toTokenAddress", "toToken"} & roles:
            return lambda one: self._tokens
        if "toChain" not in roles:
            return lambda one: [one]
        return lambda one: [other for other in self._tokens if other.symbol == one.symbol]

    def _one_of(self, key: object, values: Sequence[Json]) -> SearchStrategy[Json]:
        if key not in self._drawn:
            self._drawn[key] = st.sampled_from(values)
        return self._drawn[key]

    def _amount(self, token: Token, *, is_whole: bool) -> SearchStrategy[Json]:
        decimals = _decimals(token)
        usual = self._usual[token]
        key = (decimals, usual, is_whole)
        if key not in self._drawn:
            make = whole_tokens if is_whole else smallest_units
            self._drawn[key] = make(decimals, usual)
        return self._drawn[key]


def _is_usable(token: Token) -> bool:
    """Tell whether a token is offered under names that a request can carry."""
    names = (token.symbol, token.chain, token.address)
    return token.offered and all(_NAME.fullmatch(name) for name in names)


def _decimals(token: Token) -> int:
    decimals = token.decimals
    is_plausible = decimals is not None and 0 <= decimals <= _MOST_DECIMALS
    return decimals if is_plausible and decimals is not None else _USUAL_DECIMALS
