"""Lists and quotes in any order: no request may change the answer to another."""

from collections.abc import Collection, Iterable
from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import rule

from mockserver.conformance.checks.judged_exchanges import GATEWAY_STATUSES
from mockserver.conformance.discovery.amount_units import amount_text, reading_of
from mockserver.conformance.discovery.amounts import units, within
from mockserver.conformance.discovery.inventory import (
    ListedToken,
    chains_of,
    inventory_of,
    tokens_of,
)
from mockserver.conformance.discovery.token_routes import (
    TokenRoute,
    bridge_routes,
    default_amount_of,
)
from mockserver.conformance.generation.shrunk_sequences import FlowRun, OperationFlow
from mockserver.conformance.generation.stages import READS
from mockserver.conformance.requests.valid import valid_request
from mockserver.conformance.session.exchange import Exchange
from mockserver.conformance.session.role_bindings import Bindings
from mockserver.contract import ids

_CHAINS, _TOKENS, _OF_A_CHAIN, _QUOTE, _PRICE = READS.operations
_ASKS = {
    "chains": _CHAINS,
    "tokens": _TOKENS,
    "tokens of a chain": _OF_A_CHAIN,
    "quote": _QUOTE,
    "price": _PRICE,
}
_MOST_CHAINS = 4
_ACTIONS = (*4 * ("quote",), "nonsense", "tokens of a chain", "price", "tokens", "chains")
# Prices move during a run; answers of other requests differ by more.
_BAND = Decimal(3)


class ReadFlow(OperationFlow):
    """Requests lists and quotes, and remembers the first answer to each request."""

    stage = READS
    writes = False
    length = 20

    def __init__(self, run: FlowRun) -> None:
        """Take the first chains, and what was known before the first sequence."""
        super().__init__(run)
        self._first: dict[str, Exchange] = {}
        self._quoted: dict[tuple[TokenRoute, int], int] = {}
        self._listed: dict[str, frozenset[tuple[str, str]]] = {}
        chains = [chain.name for chain in inventory_of(self._context).offered]
        self._chains = chains[:_MOST_CHAINS] or [""]
        self._routes = self._once("routes", bridge_routes)
        self._known = self._once("known", lambda context: inventory_of(context).tokens)
        self._reading = self._once("reading", lambda context: reading_of(context, ids.BRIDGE))

    @rule(
        action=st.sampled_from(_ACTIONS),
        number=st.integers(0, _MOST_CHAINS - 1),
        times=st.sampled_from([1, 3, 10]),
    )
    def read(self, action: str, number: int, times: int) -> None:
        """Send a read. One rule for all: with several, Hypothesis would leave most of them out."""
        route = self._routes[number % len(self._routes)]
        match action:
            case "quote":
                self._quote(route, times)
            case "chains":
                self._list("list the chains", _CHAINS)
            case "tokens":
                self._list("list the tokens", _TOKENS)
            case "tokens of a chain":
                # Two at least: an answer is judged by comparing it with another.
                for further in range(min(times + 1, len(self._chains))):
                    self._list_chain(self._chains[(number + further) % len(self._chains)])
            case "price":
                token = route.source
                self._read(f"price of {token.symbol} on {token.chain!r}", _PRICE, asset=token)
            case _:
                # It must be refused, and must leave no trace.
                self._ask("quote nothing", ids.BRIDGE, route=route, amount="0")

    def _complete(self, answered: Collection[str]) -> None:
        for action, operation_id in _ASKS.items():
            if operation_id not in answered:
                self.read(action=action, number=0, times=1)

    def _read(self, words: str, operation_id: str, **about: object) -> Exchange | None:
        """Send a request, which must be accepted if an equal one was accepted before."""
        # Where equal requests are accepted before and right after, the refusal in between was not
        # about the request.
        draft = valid_request(self._context, operation_id, **about)
        if (exchange := self._send(words, operation_id, draft)) is None:
            return None
        before = self._first.setdefault(words, exchange)
        is_busy = exchange.answer.status in GATEWAY_STATUSES
        if is_busy or not before.succeeded or exchange.succeeded:
            return exchange
        again = self._send(f"{words} once more", operation_id, draft)
        if again is not None and again.succeeded:
            self._fails("refused between", operation_id, words=words)
        elif again is not None and again.answer.status not in GATEWAY_STATUSES:
            self._fails("refused after", operation_id, words=words)
        return exchange

    def _list(self, words: str, operation_id: str, **about: object) -> Exchange | None:
        before = self._first.get(words)
        exchange = self._read(words, operation_id, **about)
        if exchange is None or before is None:
            return exchange
        if before.data.get("version") != exchange.data.get("version"):
            self._first[words] = exchange
        elif not _says_the_same(before, exchange):
            self._fails("other list", operation_id, words=words)
        return exchange

    def _list_chain(self, chain: str) -> None:
        """List the tokens of a chain, and compare them with those of other chains."""
        # Chains do not all have the same contracts.
        exchange = self._list(f"list the tokens of {chain!r}", _OF_A_CHAIN, chain=chain)
        if exchange is None or not exchange.succeeded:
            return
        tokens = _contracts(tokens_of(exchange, Bindings(), inventory_of(self._context).chains))
        own = _contracts(token for token in self._known if token.chain == chain)
        # A contract may have the same address on two chains, unless the lists showed otherwise.
        tells = len(tokens) > 1 or (tokens and own and tokens.isdisjoint(own))
        for listed_chain, theirs in self._listed.items():
            if listed_chain != chain and tells and tokens == theirs:
                self._fails("other chain", chain=chain, listed_chain=listed_chain)
        self._listed[chain] = tokens

    def _quote(self, route: TokenRoute, times: int) -> None:
        """Request a quote, which must be about the same as before, and pay more for more."""
        source, target = route.source, route.target
        # Computed once: a price that comes meanwhile would change the usual amount.
        typical_amount = self._once(
            f"amount of {route}", lambda context: default_amount_of(context, source)
        )
        amount = amount_text(typical_amount * times, source, self._reading)
        words = f"quote {amount} {source.symbol} from {source.chain!r} to {target.chain!r}"
        exchange = self._read(words, ids.BRIDGE, route=route, amount=amount)
        out = None if exchange is None else units(exchange.data.get("outAmount"))
        if out is None:
            return
        before = self._quoted.setdefault((route, times), out)
        if before and not within(Decimal(before), Decimal(out), _BAND):
            self._fails("other quote", out=out, before=before)
        for (larger, fewer), less in self._quoted.items():
            if larger == route and less and (fewer - times) * (less - out) <= 0 != fewer - times:
                self._fails("amount ignored", out=out, times=times, less=less, fewer=fewer)


def _says_the_same(before: Exchange, exchange: Exchange) -> bool:
    if not (before.succeeded and exchange.succeeded) or before.body == exchange.body:
        return True
    # The order of a list does not count.
    of = chains_of if exchange.operation.id == _CHAINS else tokens_of
    return frozenset(of(before, Bindings())) == frozenset(of(exchange, Bindings()))


def _contracts(tokens: Iterable[ListedToken]) -> frozenset[tuple[str, str]]:
    """Return the tokens that have a contract; native ones do not."""
    return frozenset(
        (token.symbol, token.address.lower()) for token in tokens if not token.is_native
    )
