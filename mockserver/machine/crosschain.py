"""The machine: a user sends and looks up transfers, while the service is disturbed."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from types import new_class
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from hypothesis.strategies import SearchStrategy

from mockserver.contract import ids
from mockserver.engine.catalog import Catalog
from mockserver.engine.order_statuses import Status, V1Status
from mockserver.engine.orders import OrderGeneration, OrderView
from mockserver.fast_dataclass import dataclass
from mockserver.testing import BadSetting, MockCheckFailed, MockWorld, running
from mockserver.testing.options import Course, Does, FaultKind, FaultOptions, OutageMode
from mockserver.worlds.end_of_test_check import entry_lines

Flow = Literal["v1", "v2"]
"""A generation of the interface, through which a transfer goes."""

State = Literal["underway", "arrived", "failed"]
"""The state of a transfer to the client: `failed` is an end without success, refund or not."""

STATES = ("underway", "arrived", "failed")

_RAN_OUT = (Status.FAILED, Status.REFUNDED)


class Route(NamedTuple):
    """A token and the chains that it moves between, by their 2.0 nicknames."""

    symbol: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer that the client's user wants: an amount of a token to another chain, once.

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

    def whole_tokens(self, units: int) -> Decimal:
        """Return smallest units of the target chain in whole tokens."""
        return Decimal(units).scaleb(-self.target_decimals)

    # Machines that were written before this name call it so.
    whole = whole_tokens

    def is_of(self, view: OrderView) -> bool:
        """Tell whether an order moves the money of this transfer."""
        order = view.order
        wanted = (OrderGeneration(self.flow), self.symbol, self.units)
        return (order.generation, order.route.source_token, order.amount) == wanted


def _transfer_on(catalog: Catalog, route: Route, flow: Flow, number: int, tokens: int) -> Transfer:
    """Return the transfer of a number. Raises `Refusal` for a route that the catalog lacks."""
    # The number stands behind the point, so that amounts differ; none of them is a reserved value.
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


def _names_of(view: OrderView) -> tuple[str, ...]:
    """Return what an order may be called by: its id, its v1 number, and the hash of its deposit."""
    order = view.order
    return tuple(name for name in (order.id, order.sn, order.cert_hash) if name)


def _state_of(view: OrderView) -> State:
    if view.status is Status.SUCCEEDED:
        return "arrived"
    # v1 has fewer words: what is dropped has failed there, and may yet be refunded in 2.0.
    if view.order.generation is OrderGeneration.V1:
        return "failed" if view.v1_status is V1Status.FAILED else "underway"
    return "failed" if view.status in _RAN_OUT else "underway"


_MOST_TOKENS = 100_000
_FEWEST_TOKENS = 20
_STEPS = 20
_BAD_GATEWAY = 502
_MOST_ENTRIES = 8


class Fault(NamedTuple):
    """What happens to the first answers of a step, and whether their requests take effect."""

    kind: FaultKind
    does: Does
    times: int


# More than any client tries again.
_EVERY_TIME = 100
# None first: Hypothesis shrinks towards the beginning, and no fault is the simplest.
_FAULTS: tuple[Fault | None, ...] = (
    None,
    Fault("reset-before-headers", "done", 1),
    Fault("reset-before-headers", "done", _EVERY_TIME),
    Fault("http-status", "done", 1),
    Fault("truncated-body", "done", 1),
    Fault("reset-before-headers", "none", _EVERY_TIME),
    Fault("http-status", "none", 1),
)
_COURSES: tuple[Course, ...] = ("success", "slow", "fail", "refund", "dropped")
_OUTAGES: tuple[OutageMode, ...] = ("listed-dead", "quote-only", "delisted")


def _of_machine(values: str) -> SearchStrategy[Any]:
    """Return one of the values that the machine's class has under a name."""
    return st.runner().flatmap(lambda machine: st.sampled_from(getattr(machine, values)))


_FLOW: SearchStrategy[Flow] = _of_machine("flows")
_ROUTE: SearchStrategy[Route] = _of_machine("routes")
_TOKENS = st.integers(_FEWEST_TOKENS, _MOST_TOKENS)
_FAULT = st.sampled_from(_FAULTS)


class CrosschainMachine(RuleBasedStateMachine):
    """A user of your client, played against the mock: derive from it, and call your client.

    `start` makes the client, `send` moves money with it, `state` returns how that stands. `quote`,
    `received` and `restart` are judged or played where you define them. Every example begins in a
    fresh world, at `self.world`; `play` plays them all.

    What must hold after each step: money is moved once for each transfer and for nothing else, a
    transfer that was sent is known by its number, an end is reported only after the service did so,
    and stays, and neither a quote nor what has arrived is more than the amount. At the end the
    service is well again: then every transfer can be sent, and every client sees how it ended.
    """

    flows: ClassVar[Sequence[Flow]] = ("v2",)
    """The generations that transfers go through."""
    routes: ClassVar[Sequence[Route]] = (
        Route("USDT", "ARB", "BNB"),
        Route("USDT", "BNB", "ARB"),
        Route("USDC", "ETH", "POLYGON"),
    )
    """The tokens and chains of transfers; the first two have 6 and 18 decimals, and 18 and 6."""
    gives_up: ClassVar[tuple[type[Exception], ...]] = (Exception,)
    """What the client may raise while the service is disturbed, to say that it could not."""
    world: MockWorld
    """The world that the client talks to, at `world.base_url_v2` and `world.base_url`."""

    sent: Bundle[Transfer] = Bundle("sent")

    def __init__(self) -> None:
        """Begin an example. Raises `BadSetting` where the machine is not played by `play`."""
        super().__init__()
        if not hasattr(self, "world"):
            raise BadSetting(f"play this machine with {type(self).__name__}.play(crosschain_mock)")
        self.world.reset()
        self._transfers: list[Transfer] = []
        self._names: dict[Transfer, str] = {}
        self._ends: dict[Transfer, State] = {}
        self._halted: str | None = None
        self.start()

    @classmethod
    def play(cls, world: MockWorld | None = None, *, settings: settings | None = None) -> None:
        """Play the machine in a world, by default on a server of its own; raise what fails.

        The settings are Hypothesis' own, by default those of its profile without a deadline. Raises
        `BadSetting` for a machine that lacks a method, and for flows and routes that do not exist.
        """
        cls._check()
        with ExitStack() as stack:
            played_in = world or stack.enter_context(running()).world(cls.__name__)
            named = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
            body = {"world": played_in, **named}
            bound = new_class(cls.__name__, (cls,), exec_body=lambda names: names.update(body))
            run_state_machine_as_test(bound, settings=settings or _default_settings())
            # Refusals of the last example are no failures of the test itself.
            played_in.reset()

    @classmethod
    def _check(cls) -> None:
        """Raise `BadSetting` for what the class does not define, or defines wrongly."""
        for name in ("start", "send", "state"):
            if getattr(cls, name) is getattr(CrosschainMachine, name):
                raise BadSetting(f"{cls.__name__} defines no {name}(); it needs start, send, state")
        flows: Any = cls.flows
        if isinstance(flows, str) or not flows or not all(flow in ids.FLOWS for flow in flows):
            raise BadSetting(f"flows: expected some of {', '.join(ids.FLOWS)}, got {flows!r}")
        routes: Any = cls.routes
        if not routes or not all(isinstance(route, Route) for route in routes):
            raise BadSetting(
                f"routes: expected some such as {CrosschainMachine.routes[0]}, got {routes!r}"
            )

    # What a client's test defines.

    def start(self) -> None:
        """Make the client, for the addresses of `self.world`. It knows nothing yet."""
        raise NotImplementedError

    def send(self, transfer: Transfer) -> str:
        """Move the money of a transfer and submit it; return what the client knows it by.

        That is the order's id, its v1 number, or the hash of the deposit. What raises is called
        again, as a user does who sees an error; the money has to be moved once all the same.
        """
        raise NotImplementedError

    def state(self, order: str) -> State:
        """Return the state of something sent: `underway`, `arrived` or `failed`."""
        raise NotImplementedError

    def quote(self, transfer: Transfer) -> Decimal | int | None:
        """Return what will arrive according to the client, in whole tokens."""

    def received(self, order: str) -> Decimal | int | None:
        """Return what has arrived of something sent according to the client, in whole tokens."""

    def restart(self) -> None:
        """Start the client anew, with what it has kept. Played only where it is defined."""

    # What the machine does.

    @initialize(target=sent, flow=_FLOW, route=_ROUTE, tokens=_TOKENS, fault=_FAULT)
    def send_one(self, flow: Flow, route: Route, tokens: int, fault: Fault | None) -> Transfer:
        """Send a first transfer; the answer to its submission may be lost or disturbed."""
        return self._sent(flow, route, tokens, fault)

    @rule(target=sent, flow=_FLOW, route=_ROUTE, tokens=_TOKENS, fault=_FAULT)
    def send_another(self, flow: Flow, route: Route, tokens: int, fault: Fault | None) -> Transfer:
        """Send a further transfer."""
        return self._sent(flow, route, tokens, fault)

    @rule(transfer=sent, fault=_FAULT)
    def send_again(self, transfer: Transfer, fault: Fault | None) -> None:
        """Send again what the client could not send, as a user does who sees an error."""
        if transfer not in self._names:
            self._send(transfer, fault)

    @rule(transfer=sent, fault=_FAULT)
    def look_up(self, transfer: Transfer, fault: Fault | None) -> None:
        """Look a transfer up with the client."""
        if transfer in self._names:
            self._look_up(transfer, fault)

    @precondition(lambda self: type(self).quote is not CrosschainMachine.quote)
    @rule(transfer=sent)
    def ask_for_a_quote(self, transfer: Transfer) -> None:
        """Quote a transfer with the client."""
        with self._disturbed(transfer, None):
            quoted = self.quote(transfer)
            if quoted is not None and not 0 <= Decimal(quoted) <= transfer.amount:
                self._fail(f"{transfer} is quoted as {quoted}: money is made")

    @rule(seconds=st.sampled_from((5, 15, 60, 7200)))
    def wait(self, seconds: int) -> None:
        """Let time pass."""
        self.world.clock.advance(seconds=seconds)

    @rule(transfer=sent, course=st.sampled_from(_COURSES))
    def take_course(self, transfer: Transfer, course: Course) -> None:
        """Give an order another course: fail, be refunded, or wait for support."""
        for view in self._orders_of(transfer):
            if not view.status.resting:
                self.world.orders.steer(view.order.id, course)

    @rule(transfer=sent)
    def help(self, transfer: Transfer) -> None:
        """Report a dropped order to the service's support, which then refunds it."""
        for view in self._orders_of(transfer):
            if view.status is Status.DROPPED:
                order = view.order
                with self.world.hosted() as hosted:
                    hosted.world.tickets.submit(
                        order.route.source_chain, order.cert_hash, order.evm_address
                    )

    @precondition(lambda self: self._halted is None)
    @rule(chain=st.sampled_from(("ARB", "BNB")), mode=st.sampled_from(_OUTAGES))
    def halt(self, chain: str, mode: OutageMode) -> None:
        """Put a chain out of service."""
        self.world.suspend(chain, mode=mode)
        self._halted = chain

    @precondition(lambda self: self._halted is not None)
    @rule()
    def resume(self) -> None:
        """Put the chain into service again."""
        self.world.restore(self._halted)
        self._halted = None

    @precondition(lambda self: type(self).restart is not CrosschainMachine.restart)
    @rule()
    def start_anew(self) -> None:
        """Let the client's process end and begin again."""
        with self._disturbed(None, None):
            self.restart()

    # What must hold.

    def _check_orders(self) -> None:
        """Each transfer has one order at most, and no order is of something else."""
        for view in self.world.orders:
            if not any(transfer.is_of(view) for transfer in self._transfers):
                self._fail(f"nobody requested what {view.order} moves")
        for transfer in self._transfers:
            orders = self._orders_of(transfer)
            if len(orders) > 1:
                numbers = " and ".join(view.order.id for view in orders)
                self._fail(f"{transfer} was moved {len(orders)} times, by the orders {numbers}")

    def teardown(self) -> None:
        """End an example: with a service that is well, everything comes to the end it has."""
        super().teardown()
        if sys.exception() is not None:
            return
        if self._halted is not None:
            self.resume()
        for transfer in self._transfers:
            if transfer not in self._names:
                self._send(transfer, None)
        for transfer, order in self._names.items():
            [view] = self._orders_of(transfer)
            if not view.status.resting:
                self.world.clock.run_until_final(view.order.id)
            if self._orders_of(transfer)[0].status is Status.DROPPED:
                self.help(transfer)
                self.world.clock.advance(days=1)
            self._look_up(transfer, None)
            end = _state_of(self._orders_of(transfer)[0])
            if self._ends.get(transfer) != end:
                self._fail(f"{transfer} has {end}, and {order!r} is reported as underway for ever")

    def _sent(self, flow: Flow, route: Route, tokens: int, fault: Fault | None) -> Transfer:
        number = len(self._transfers) + 1
        with self.world.hosted() as hosted:
            catalog = hosted.world.scenario.catalog
        transfer = _transfer_on(catalog, route, flow, number, tokens)
        self._transfers.append(transfer)
        self._send(transfer, fault)
        return transfer

    def _send(self, transfer: Transfer, fault: Fault | None) -> None:
        with self._disturbed(transfer, fault, ids.FLOWS[transfer.flow][0]):
            name = str(self.send(transfer))
            self._check_orders()
            known = [name for view in self._orders_of(transfer) for name in _names_of(view)]
            if name not in known:
                there = f"it is known by {' or '.join(map(repr, known))}" if known else "none came"
                self._fail(f"{transfer} is lost: send() returned {name!r}, and {there}")
            self._names[transfer] = name

    def _look_up(self, transfer: Transfer, fault: Fault | None) -> None:
        order = self._names[transfer]
        with self._disturbed(None, fault, ids.FLOWS[transfer.flow][1]):
            state = self.state(order)
            self._judge(transfer, state)
            if state == "arrived":
                self._count(transfer, self.received(order))

    def _judge(self, transfer: Transfer, state: State) -> None:
        if state not in STATES:
            raise BadSetting(f"state(): expected one of {', '.join(STATES)}, got {state!r}")
        before = self._ends.get(transfer)
        if before is not None and state != before:
            self._fail(f"the end of {transfer} is undone: it was {before}, and is {state} now")
        if state == "underway":
            return
        [view] = self._orders_of(transfer)
        if state != _state_of(view):
            self._fail(f"{transfer} is reported as {state}, by the service as {view.status!s}")
        self._ends[transfer] = state

    def _count(self, transfer: Transfer, reported: Decimal | int | None) -> None:
        [view] = self._orders_of(transfer)
        came = transfer.whole_tokens(view.amount_out)
        if reported is not None and Decimal(reported) != came:
            what = "made" if Decimal(reported) > came else "lost"
            self._fail(f"money is {what}: of {transfer} {came} arrived, reported was {reported}")

    @contextmanager
    def _disturbed(
        self, transfer: Transfer | None, fault: Fault | None, operation: str = ""
    ) -> Iterator[None]:
        """Disturb one answer of an operation; let the client give up where it has a reason to."""
        if fault is not None:
            options: FaultOptions = {"does": fault.does, "first": fault.times}
            if fault.kind == "http-status":
                options["status"] = _BAD_GATEWAY
            self.world.fail(operation, fault.kind, **options)
        is_halted = transfer is not None and self._halted is not None
        try:
            yield
        except MockCheckFailed:
            raise
        except self.gives_up:
            if fault is None and not is_halted:
                raise
        finally:
            self.world.heal()
        self._check_orders()

    def _orders_of(self, transfer: Transfer) -> list[OrderView]:
        return [view for view in self.world.orders if transfer.is_of(view)]

    def _fail(self, message: str) -> NoReturn:
        last = entry_lines(self.world.journal[-_MOST_ENTRIES:])
        raise MockCheckFailed(f"{message}; what came last:\n{last}")


def _default_settings() -> settings:
    return settings(
        deadline=None,
        stateful_step_count=_STEPS,
        # Hypothesis would explain by lines of this package, which say nothing about the client.
        phases=[phase for phase in settings().phases if phase is not Phase.explain],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
