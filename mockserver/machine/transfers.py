"""What a machine asks a client to do: to move an amount on a route, and to tell how it stands."""

from decimal import Decimal
from typing import Literal, NamedTuple

from mockserver.engine.catalog import Catalog
from mockserver.engine.courses import Status, V1Status
from mockserver.engine.orders import Generation, OrderView
from mockserver.values import dataclass

Flow = Literal["v1", "v2"]
"""A generation of the interface, through which a transfer goes."""

State = Literal["underway", "arrived", "failed"]
"""How a client says that a transfer stands: `failed` is an end without success, refund or not."""

STATES = ("underway", "arrived", "failed")

_RAN_OUT = (Status.FAILED, Status.REFUNDED)


class Route(NamedTuple):
    """A token and the chains that it moves between, by their 2.0 nicknames."""

    symbol: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Transfer:
    """A wish of the client's user: to move an amount of a token from one chain to another, once.

    `source` and `target` are chain names of the flow. `amount` is in whole tokens, `units` the same
    in smallest units of the source chain. No two transfers of a machine move the same amount.
    """

    number: int
    flow: Flow
    symbol: str
    source: str
    target: str
    amount: Decimal
    units: int
    target_decimals: int

    def __repr__(self) -> str:
        ends = f"from {self.source} to {self.target}"
        return f"<Transfer {self.number}, {self.flow}: {self.amount} {self.symbol} {ends}>"

    def whole(self, units: int) -> Decimal:
        """Return smallest units of the target chain in whole tokens."""
        return Decimal(units).scaleb(-self.target_decimals)

    def is_of(self, view: OrderView) -> bool:
        """Tell whether an order moves the money of this transfer."""
        order = view.order
        wanted = (Generation(self.flow), self.symbol, self.units)
        return (order.generation, order.route.source_token, order.amount) == wanted


def transfer_on(catalog: Catalog, route: Route, flow: Flow, number: int, tokens: int) -> Transfer:
    """Return the transfer of a number. Raises `Refusal` for a route that the catalog does not have.

    The number stands behind the point, so that amounts differ; none of them is a reserved value.
    """
    source, target = catalog.chain(route.source), catalog.chain(route.target)
    token = catalog.token(route.symbol)
    amount = tokens + Decimal(number).scaleb(-3)
    decimals = catalog.placed(source, token).decimals
    return Transfer(
        number=number,
        flow=flow,
        symbol=route.symbol,
        source=source.nickname if flow == "v2" else source.v1_name or source.nickname,
        target=target.nickname if flow == "v2" else target.v1_name or target.nickname,
        amount=amount,
        units=int(amount.scaleb(decimals)),
        target_decimals=catalog.placed(target, token).decimals,
    )


def names_of(view: OrderView) -> tuple[str, ...]:
    """Return what an order may be called by: its id, its v1 number, and the hash of its deposit."""
    order = view.order
    return tuple(name for name in (order.id, order.sn, order.cert_hash) if name)


def state_of(view: OrderView) -> State:
    """Return how an order stands by what its generation tells of it."""
    if view.status is Status.SUCCEEDED:
        return "arrived"
    if view.order.generation is Generation.V1:
        return "failed" if view.v1_status is V1Status.FAILED else "underway"
    return "failed" if view.status in _RAN_OUT else "underway"
