"""What one client has subscribed to at the node of a chain, and how it is told."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from mockserver import limits
from mockserver.engine.catalog import EVM_FAMILY, SOLANA_FAMILY, Chain
from mockserver.jsontext import Json
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.node import solana
from mockserver.worlds.node.evm_subscriptions import Subscription, subscribe
from mockserver.worlds.node.json_rpc_calls import BAD_PARAMS, REFUSED, RpcCall, RpcError
from mockserver.worlds.node.json_rpc_envelope import answer

_Subscribing = Callable[[RpcCall], Subscription]

_SUBSCRIBING: Mapping[int, Mapping[str, _Subscribing]] = MappingProxyType(
    {EVM_FAMILY: {"eth_subscribe": subscribe}, SOLANA_FAMILY: solana.SUBSCRIBING}
)


def has_subscriptions(chain: Chain) -> bool:
    return chain.family in _SUBSCRIBING


class Subscriptions:
    """The subscriptions of one client to the node of a chain."""

    def __init__(self, chain: Chain) -> None:
        """Begin without any."""
        self._chain = chain
        self._watches: dict[str | int, Subscription] = {}
        self._made = 0
        self._methods: dict[str, Callable[[RpcCall], Json]] = {}
        for name, subscribing in _SUBSCRIBING[chain.family].items():
            self._methods[name] = self._making(subscribing)
            ending = name.replace("Sub", "Unsub").replace("_sub", "_unsub")
            self._methods[ending] = self._end

    def answer(self, hosted: HostedWorld, body: Json) -> Json:
        """Return the answer to a call that subscribes or ends that; None for every other one."""
        if not isinstance(body, Mapping) or body.get("method") not in tuple(self._methods):
            return None
        return answer(hosted, self._chain.nickname, body, self._methods)

    def news(self, hosted: HostedWorld, *, poll: bool) -> Iterator[Json]:
        """Yield what has come since the last time, as notifications.

        With `poll` a client that waits for blocks counts as one that has asked for the newest: on
        a clock that stands, that brings one.
        """
        call = RpcCall(hosted, self._chain, ())
        if poll and any(watch.heads for watch in self._watches.values()):
            call.blocks.poll()
        for name, watch in tuple(self._watches.items()):
            for item in watch.news(call):
                params = {"subscription": name, "result": item}
                yield {"jsonrpc": "2.0", "method": watch.method, "params": params}
            if watch.ended:
                del self._watches[name]

    def _making(self, subscribing: _Subscribing) -> Callable[[RpcCall], Json]:
        def make(call: RpcCall) -> Json:
            if len(self._watches) >= limits.SUBSCRIPTIONS.most:
                raise RpcError(REFUSED, f"there are {limits.SUBSCRIPTIONS} already; end some first")
            watch = subscribing(call)
            self._made += 1
            name = f"0x{self._made:032x}" if call.chain.evm else self._made
            self._watches[name] = watch
            return name

        return make

    def _end(self, call: RpcCall) -> Json:
        name = call.parameter(0)
        if isinstance(name, str | int) and self._watches.pop(name, None) is not None:
            return True
        if call.chain.evm:
            raise RpcError(REFUSED, "subscription not found")
        raise RpcError(BAD_PARAMS, "Invalid subscription id.")
