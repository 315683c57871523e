"""The service without a socket: plain requests in, plain answers out, and it never waits."""

import codecs
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import unquote

from mockserver import jsontext, limits
from mockserver.clock import ClockMode
from mockserver.contract import Generation, Operation
from mockserver.engine.refusal import StateNotLoadable
from mockserver.http_messages import Headers, Request, Response, allow_header, printable
from mockserver.mock_headers import CONTROL_PATH, REFUSAL_HEADER, TOKEN_HEADER, WORLD_HEADER
from mockserver.responders.answer_delivery import Commit, Delivery, Pending, charged, delivery_of
from mockserver.responders.breaks import BreakOutcome
from mockserver.responders.dialect_contracts import Contracts
from mockserver.responders.faults.registry import Strike
from mockserver.responders.faults.reserved_faults import may_reserve, reserved_strike
from mockserver.responders.refusal_answers import JSON_HEADERS
from mockserver.responders.responder import (
    GENERATED,
    PLAYBACK,
    SIMULATION,
    STUB,
    UPSTREAM,
    Call,
    PassingOn,
)
from mockserver.responders.simulation import Simulation, list_operations
from mockserver.server import console, cors
from mockserver.server.control import Control
from mockserver.server.control.dispatcher import refused
from mockserver.server.descriptor_exhaustion import without_files
from mockserver.server.grading import GradedRun
from mockserver.worlds.hosted import (
    DEFAULT_WORLD,
    BadWorldKey,
    Elsewhere,
    HostedCall,
    HostedWorld,
    TooManyWorlds,
    UnknownWorld,
    WorldAway,
    Worlds,
)
from mockserver.worlds.trigger_actions import Moment, fire

if TYPE_CHECKING:
    from mockserver.server.access_log import AccessLog
    from mockserver.worlds.state import Keeper

log = logging.getLogger("mockserver.requests")

_WORLD_LOWERED = WORLD_HEADER.lower()
_WORLD_PREFIX = "/w/"
_BELOW_CONTROL = f"{CONTROL_PATH}/"


# Why there is no world of a key: no key, one too many, damaged rows, or a process that is away.
_NO_WORLD = (BadWorldKey, TooManyWorlds, UnknownWorld, StateNotLoadable, WorldAway)


class BrokenAnswer(AssertionError):
    """The server's own answer breaks the contract: a defect of this server."""


class OtherProcesses(Protocol):
    """What knows of the worlds in other processes of the server; see `control_broadcast.py`."""

    def answer(self, path: str, key: str, request: Request) -> Delivery | None:
        """Return the answer to a control request; None where one process alone can give it."""

    def note_refused(self, worker: int, request: Request, name: str, reason: str) -> None:
        """Have another process note a request for one of its worlds that was refused here."""


class Service:
    """Finds the world and the operation of a request and lets the responders answer."""

    def __init__(
        self,
        worlds: Worlds,
        simulation: Simulation,
        contracts: Contracts,
        control: Control,
        *,
        check_answers: bool = False,
    ) -> None:
        """Take the parts; `check_answers` checks the simulation's answers against the contract."""
        self.keeper: Keeper | None = None
        """What keeps the worlds on a disk; None for worlds in memory."""
        self.access: AccessLog | None = None
        """Where each request is logged as JSON; None where nobody has asked for it."""
        self.spread: OtherProcesses | None = None
        """Answers what reaches worlds of other processes; None where there are none."""
        self.worlds = worlds
        self.graded = GradedRun.of_environment()
        """What `grade` wants of this server; None where nobody grades."""
        self._simulation = simulation
        self._contracts = contracts
        self.control = control
        self._counters = control.server.counters
        self._check_answers = check_answers
        self._opener = cors.Opener()
        self._opened = self._opener.opened
        self.failures: list[str] = []
        """Errors inside the server, for tests to look at."""

    def close(self) -> None:
        """Write what is left of the worlds' state. Raises `StateNotLoadable` where that fails."""
        if self.access is not None:
            self.access.close()
            self.access = None
        if self.keeper is not None:
            self.keeper.close()
            self.keeper = None

    @property
    def replaying(self) -> str:
        """How many recorded exchanges the worlds of this server can play; empty for none."""
        hosted = self.worlds.model()
        if hosted.replay is None:
            return ""
        line = str(hosted.replay.index(hosted.contract).usable)
        if hosted.keys.developers or hosted.keys.wallets:
            line += "; signatures of requests that they answer are not verified"
        return line

    def fetched(self) -> Iterator[None]:
        """Fetch the files and modules that operations need beyond a first answer, step by step."""
        # Each `next` takes a step of some ten milliseconds. What only the control API needs is left
        # to those who use it, and what explains a refusal, which takes 3 MiB, to the first one.
        yield
        list_operations()
        yield
        _ = self._contracts.source.errata
        if self._logs_refusals():
            # In steps: each of them takes as long as some hundred requests.
            for module in ("recordings", "recordings.redaction"):
                yield
                import_module(f"mockserver.{module}")
            yield
            import_module("mockserver.recordings.redaction").read_contract()
        # Python imports a coding at its first use: `signing.javascript` sorts and cuts by these.
        for coding in ("utf-16-be", "utf-16-le"):
            codecs.lookup(coding)

    def answer(self, request: Request) -> Delivery:
        """Return the answer to a request, and how to send it."""
        return delivery_of(self.respond(request))

    def respond(self, request: Request) -> Response | Delivery:
        """Return the answer to a request, or its `Delivery` where it is not sent at once."""
        began_ns = perf_counter_ns()
        path, key = self.place(request)
        hosted = self.worlds.here.get(key)
        operation = None
        if hosted is not None:
            operation = hosted.contract.by_route.get((path, request.method))
        if (
            operation is None
            or hosted is None
            or not hosted.is_ordinary()
            or self.access is not None
            or self.graded is not None
            or self._check_answers
            or may_reserve(request)
            or (operation.writes and self.worlds.full_of_orders())
            or (self.keeper is not None and self.keeper.writes.failing)
        ):
            return self._logged(request, path, key, began_ns)
        # Nearly every request, without a call for each step of `_called`: calls are what it costs.
        call: Any = HostedCall.__new__(HostedCall)
        call.operation, call.request, call.hosted = operation, request, hosted
        at_ms, responder = hosted.world.hold(), SIMULATION
        try:
            answer = self._simulation.answer(call)
        except Exception as error:  # noqa: BLE001 - reported there
            responder, answer = self._failed(call, error)
        finally:
            hosted.world.release()
        took_ns = perf_counter_ns() - began_ns
        hosted.journal.add(at_ms, operation.id, request, answer, responder, "", took_ns)
        number = 0 if hosted.record is None else hosted.record.touched()
        if isinstance(answer, Response):
            self._tell(operation, path, request, answer)
            opened = self._opened(answer, hosted.key, hosted.epoch, request.headers)
            return _once_kept(opened, number, hosted, path) if number else opened
        headers = self._opener.headers(JSON_HEADERS, hosted.key, hosted.epoch, request.headers)
        # Field by field: the constructor of a value takes twice as long.
        made: Any = Response.__new__(Response)
        made.status, made.headers, made.body, made.coded = 200, headers, answer, None
        response: Response = made
        if log.isEnabledFor(logging.INFO):
            self._tell(operation, path, request, response)
        else:
            self._counters.requests[operation.id] += 1
        return _once_kept(response, number, hosted, path) if number else response

    def _logged(self, request: Request, path: str, key: str, began_ns: int) -> Response | Delivery:
        answer = self._responded(request, path, key, began_ns)
        if self.access is None:
            return answer
        if isinstance(answer, Delivery) and answer.pending is not None:
            # Its status is that of the answer which somebody else still has to give.
            settle = partial(self._settled, request, began_ns, answer.pending.settle)
            return replace(answer, pending=Pending(answer.pending.fetch, settle))
        self._log(request, began_ns, answer)
        return answer

    def _settled(
        self,
        request: Request,
        began_ns: int,
        settle: Callable[[Response], Response],
        came: Response,
    ) -> Response:
        response = settle(came)
        self._log(request, began_ns, response)
        return response

    def _log(self, request: Request, began_ns: int, answer: Response | Delivery) -> None:
        """Add a request to the access log, unless that is closed already."""
        if self.access is not None:
            took_ns = perf_counter_ns() - began_ns
            self.access.note(self.worlds, self.place(request), request, answer, took_ns)

    def _responded(
        self, request: Request, path: str, key: str, began_ns: int
    ) -> Response | Delivery:
        if path.startswith(CONTROL_PATH) and _is_control(path):
            return self._controlled(path.removeprefix(CONTROL_PATH), key, request)
        try:
            hosted = self.worlds.get(key)
        except _NO_WORLD as error:
            lost = self._refused(path, _refusal_of(error), str(error))
            return self._opened(lost, DEFAULT_WORLD, "", request.headers)
        operation = hosted.contract.find(request.method, path)
        if operation is None:
            return self._beside(hosted, path, request, began_ns)
        return self._called(HostedCall(operation, request, hosted), path, began_ns)

    def _controlled(self, path: str, key: str, request: Request) -> Response | Delivery:
        """Return the answer of the control API, or its denial."""
        if request.method == "HEAD":
            request = replace(request, method=request.answered_as)
        if denied := self.control.denied(path, key, request):
            return denied
        if self.spread is not None and (answer := self.spread.answer(path, key, request)):
            return answer
        return self.controlled_here(path, key, request)

    def controlled_here(self, path: str, key: str, request: Request) -> Response | Delivery:
        """Return the answer of the control API in a world of this process."""
        try:
            # A question never makes a world: it would be well, for nothing has come to it.
            if self.control.asks(path, request) and not self.worlds.is_there(key):
                return self.control.nobody(path, key, request)
            if (request.method, path) == ("PUT", "/world") and key not in self.worlds:
                hosted = self.worlds.unmade(key)
            elif path.startswith("/worlds") and key not in self.worlds:
                # A world that is named to find its server is not made by that.
                hosted = self.worlds.model()
            else:
                hosted = self.worlds.get(key)
        except UnknownWorld as error:
            return refused(404, f"unknown-world: {error}")
        except _NO_WORLD as error:
            away = isinstance(error, StateNotLoadable | WorldAway)
            name = f"{error.refusal}: " if isinstance(error, WorldAway) else ""
            return refused(503 if away else 400, f"{name}{error}")
        return self.controlled_in(hosted, path, request)

    def controlled_in(
        self, hosted: HostedWorld, path: str, request: Request
    ) -> Response | Delivery:
        """Return the answer of the control API in a world."""
        if self.keeper is None:
            return self._acted(hosted, path, request)
        return self._controlled_and_kept(self.keeper, hosted, path, request)

    def _controlled_and_kept(
        self, keeper: "Keeper", hosted: HostedWorld, path: str, request: Request
    ) -> Delivery:
        """Return the answer of the control API once what it tells of is on the disk."""
        reads = request.method in ("GET", "OPTIONS")
        if (failing := keeper.writes.failing) and not reads:
            return Delivery(refused(503, failing))
        delivery = self._acted(hosted, path, request)
        if reads:
            number = 0 if hosted.record is None else hosted.record.touched()
        else:
            number = keeper.settle(hosted)
        # With a full disk people can still look at the server, which serves nobody else.
        if not number or failing:
            return delivery
        return replace(delivery, commit=Commit(number, lambda reason: refused(503, reason)))

    def _acted(self, hosted: HostedWorld, path: str, request: Request) -> Delivery:
        """Return the answer of the control API, with what triggers do after it."""
        before = hosted.world.orders.count() if hosted.triggers.items else 0
        answer = self.control.answer(hosted, path, request)
        if hosted.triggers.items and hosted.world.orders.count() > before:
            # A transaction that was announced, or sent to a node, has made an order.
            for trigger in hosted.triggers.due_with_order():
                fire(trigger, Moment(hosted, None, before))
        hosted.release_due()
        return answer

    def reasons_in_msg(self, dialect: str) -> bool:
        generations = self._contracts.get(dialect).generations.values()
        return all(generation.reasons_in_msg for generation in generations)

    def _logs_refusals(self) -> bool:
        """Whether the log has refusals of the default world, as `_tell` writes them."""
        dialect = self.worlds.model().contract.dialect.name
        level = logging.INFO if self.reasons_in_msg(dialect) else logging.WARNING
        return log.isEnabledFor(level)

    def prepared(self, request: Request) -> Request:
        """Return a request with what is made of its long body; another thread calls this."""
        path, key = self.place(request)
        if not _is_control(path):
            return request
        return self.control.prepared(path.removeprefix(CONTROL_PATH), key, request)

    def most_bytes(self, request: Request) -> int:
        """Return how many bytes the body of a request may have, of which the head has come."""
        path, key = self.place(request)
        if not _is_control(path):
            return limits.BODY.most
        path = path.removeprefix(CONTROL_PATH)
        if self.control.denied(path, key, request):
            return limits.BODY.most
        return self.control.most_bytes(path, request.method)

    def refuse(self, request: Request, name: str, reason: str) -> Response:
        """Return the refusal of a request that could not be read, and note it in its world."""
        began_ns = perf_counter_ns()
        path, key = self.place(request)
        if _is_control(path):
            return refused(self._contracts.get("documented").refusals[name].http, reason)
        refusal = self._refused(path, name, reason)
        try:
            hosted = self.worlds.get(key)
        except _NO_WORLD:
            hosted = self.worlds.model()
        except Elsewhere as elsewhere:
            if self.spread is not None:
                self.spread.note_refused(elsewhere.worker, request, name, reason)
            return self._opened(refusal, key, "", request.headers)
        at_ms, took_ns = hosted.world.now(), perf_counter_ns() - began_ns
        hosted.note(at_ms, None, request, refusal, "server", took_ns=took_ns)
        return self._opened(refusal, hosted.key, hosted.epoch, request.headers)

    def away(self, request: Request) -> Response:
        """Return the refusal of a request that processes hand to and fro."""
        path, _ = self.place(request)
        reason = "the app keys of this request are being bound to a world; try again"
        refusal = self._refused(path, "worker-away", reason)
        return self._opened(refusal, DEFAULT_WORLD, "", request.headers)

    def place(self, request: Request) -> tuple[str, str]:
        """Return the path below the world and the world's key: by path, header or app key."""
        path, headers = request.path, request.headers
        if "%" in path:
            path = unquote(path, errors="replace")
        if path[:3] == _WORLD_PREFIX:
            key, slash, rest = path.removeprefix(_WORLD_PREFIX).partition("/")
            return f"{slash}{rest}", key
        named = headers.lowered(_WORLD_LOWERED)
        if named is not None:
            return path, named
        return path, self.worlds.key_of(headers) if self.worlds.by_app_key else DEFAULT_WORLD

    def _preflight(
        self, hosted: HostedWorld, path: str, request: Request, began_ns: int
    ) -> Response:
        """Return the answer to a preflight, which the journal shows as every other request."""
        response = cors.preflight(hosted.contract, path, request.headers)
        at_ms, took_ns = hosted.world.now(), perf_counter_ns() - began_ns
        hosted.note(at_ms, None, request, response, "preflight", took_ns=took_ns)
        return response

    def _beside(
        self, hosted: HostedWorld, path: str, request: Request, began_ns: int
    ) -> Response | Delivery:
        """Return the answer to a request that no operation of the contract is meant for."""
        if cors.is_preflight(request):
            return self._preflight(hosted, path, request, began_ns)
        if request.method == "HEAD" and (read := hosted.contract.find(request.answered_as, path)):
            return self._called(HostedCall(read, request, hosted), path, began_ns)
        if console.wants_front(path, request):
            return console.front(hosted.contract, request, self.control.server.scheme)
        operation = hosted.breaks.operation(hosted.contract, request.method, path)
        if operation is not None:
            return self._called(HostedCall(operation, request, hosted), path, began_ns)
        at_ms, response = hosted.world.now(), self._lost(hosted, path, request)
        took_ns = perf_counter_ns() - began_ns
        number = hosted.note(at_ms, None, request, response, "server", took_ns=took_ns)
        self._tell(None, path, request, response)
        opened = self._opened(response, hosted.key, hosted.epoch, request.headers)
        return _once_kept(opened, number, hosted, path) if number else opened

    def _called(self, call: HostedCall, path: str, began_ns: int) -> Response | Delivery:
        """Return the answer to a call of an operation, and note it in its world."""
        hosted, request = call.hosted, call.request
        if self.graded is not None:
            self.graded.note(call)
        if hosted.record is not None and self.keeper is not None and self.keeper.writes.failing:
            return _not_kept(hosted, call.operation.generation, self.keeper.writes.failing)
        at_ms = hosted.world.hold()
        try:
            if hosted.triggers.items or hosted.held:
                responder, answer, fault = self._triggered(call)
            else:
                responder, answer, fault = self._delivered(call)
        finally:
            hosted.world.release()
        operation, sent = call.operation, None
        if responder == UPSTREAM and hosted.upstream is not None:
            return self._passed_on(call, path, hosted.upstream, delivery_of(answer), began_ns)
        if isinstance(answer, Response):
            response = answer
        else:
            response, sent = answer.response, answer
        took_ns = perf_counter_ns() - began_ns
        number = hosted.note(at_ms, operation.id, request, response, responder, fault, took_ns)
        self._tell(operation, path, request, response, fault)
        opened = self._opened(response, hosted.key, hosted.epoch, request.headers)
        if number:
            sent = sent or Delivery(opened)
            commit = _commit(number, hosted, operation.generation)
            return replace(sent, response=opened, commit=commit)
        if sent is None:
            return opened
        return Delivery(opened, sent.delay_ms, sent.cut, gate=sent.gate)

    def _triggered(self, call: HostedCall) -> tuple[str, Delivery | Response, str]:
        """Return what `_delivered` does, with what triggers do before and after the call."""
        hosted, name = call.hosted, call.operation.id
        hosted.release(lambda held: held.until == name)
        due, before = hosted.triggers.due(call), hosted.world.orders.count()
        moment = Moment(hosted, call, before)
        for trigger in due:
            if not trigger.after:
                fire(trigger, moment)
        responder, answer, fault = self._delivered(call)
        if hosted.world.orders.count() > before:
            due += hosted.triggers.due_with_order()
        for trigger in due:
            if trigger.after and (gate := fire(trigger, moment)) is not None:
                answer = replace(delivery_of(answer), gate=gate)
        return responder, answer, fault

    def _passed_on(
        self, call: HostedCall, path: str, upstream: PassingOn, delivery: Delivery, began_ns: int
    ) -> Delivery:
        """Return the delivery of an answer that the service behind this one still has to give."""
        hosted, request, operation = call.hosted, call.request, call.operation
        own = (WORLD_HEADER, TOKEN_HEADER)
        headers = [item for item in request.headers.items_sent if item[0] not in own]
        sent = replace(request, path=path, headers=Headers(headers))

        def settle(response: Response) -> Response:
            at_ms, took_ns = hosted.world.now(), perf_counter_ns() - began_ns
            hosted.note(at_ms, operation.id, request, response, UPSTREAM, took_ns=took_ns)
            self._tell(operation, path, request, response)
            return self._opened(response, hosted.key, hosted.epoch, request.headers)

        return replace(delivery, pending=Pending(lambda: upstream.answer(sent), settle))

    def _tell(
        self,
        operation: Operation | None,
        path: str,
        request: Request,
        response: Response,
        fault: str = "",
    ) -> None:
        """Count an exchange, and log it."""
        plain = response.headers is JSON_HEADERS
        refusal = None if plain else response.header(REFUSAL_HEADER)
        self._counters.requests["unknown" if operation is None else operation.id] += 1
        if refusal is not None or fault:
            self._counters.note(refusal, fault)
        level = logging.INFO
        if refusal and operation is not None and not operation.generation.reasons_in_msg:
            # The text of the answer has no reason, so that this log line is where to look.
            level = logging.WARNING
        if log.isEnabledFor(level):
            line = f"{printable(request.method)} {printable(path)} {response.status}"
            if refusal or operation is None:
                # Only a path of an operation, answered without a reason, can hold no secret.
                line = _log_line(f"{line} {refusal}" if refusal else line)
            log.log(level, "%s", line)

    def _delivered(self, call: HostedCall) -> tuple[str, Delivery | Response, str]:
        """Return who answers, the answer as it is sent, and what disturbed it."""
        if call.operation.writes and (full := self.worlds.full_of_orders()):
            return "server", _beyond(call, full), ""
        try:
            hosted = call.hosted
            strike = hosted.faults.strike(call) if hosted.faults.items else None
            if strike is None and may_reserve(call.request):
                strike = reserved_strike(call)
            if strike is not None:
                return self._disturbed(call, strike)
            responder, outcome = self._respond(call)
            return responder, outcome.delivery, outcome.note
        except Exception as error:  # noqa: BLE001 - reported there
            return *self._failed(call, error), ""

    def _disturbed(self, call: HostedCall, strike: Strike) -> tuple[str, Delivery, str]:
        """Return an answer as faults and breaks change it."""
        responder, outcome = self._struck(call, strike)
        if outcome is None:
            return responder, self._charged(strike.delivery(None), call.hosted), strike.names
        broken = outcome.delivery
        delivery = self._charged(strike.delivery(broken.response), call.hosted)
        # A fault's delay was in the world's time and is charged; a break's is wall time already.
        late, cut = delivery.delay_ms + broken.delay_ms, delivery.cut or broken.cut
        names = ", ".join(filter(None, (strike.names, outcome.note)))
        return responder, replace(delivery, delay_ms=late, cut=cut), names

    def _charged(self, delivery: Delivery, hosted: HostedWorld) -> Delivery:
        """Return a delivery whose delay is paid for, in the way of the world's clock."""
        late = delivery.delay_ms
        if not late or hosted.world.time.clock.mode is not ClockMode.CLIENT:
            return charged(delivery, hosted.world)
        # The client moves the clock while it waits, or gives up before.
        return replace(delivery, delay_ms=0, gate=hosted.late_answer(late))

    def _struck(self, call: HostedCall, strike: Strike) -> tuple[str, BreakOutcome | None]:
        if strike.done:
            return self._respond(call)
        if not strike.answers:
            return "fault", None
        # The client gets the answer it would have got, while this world stays as it is.
        twin = call.hosted.fork(call.hosted.key)
        _, outcome = self._respond(replace(call, hosted=twin))
        return "fault", outcome

    def _respond(self, call: HostedCall) -> tuple[str, BreakOutcome]:
        """Return who answers, and the answer as the world's breaks leave it."""
        breaks = call.hosted.breaks
        if not breaks.active:
            responder, response = self._unbroken(call)
            return responder, BreakOutcome(Delivery(response))
        responders = ["break"]

        def below(changed: Call) -> Delivery:
            # Breaks pass on the call they got, perhaps with another request or world.
            name, response = self._unbroken(cast("HostedCall", changed))
            responders.append(name)
            return Delivery(response)

        outcome = breaks.apply(call, below)
        return responders[-1], outcome

    def _unbroken(self, call: HostedCall) -> tuple[str, Response]:
        interrupted = self._in_front(call)
        if interrupted is not None:
            return interrupted
        response = self._simulation.respond(call)
        if self._check_answers:
            self._check(call.operation, response)
        return SIMULATION, response

    def _in_front(self, call: HostedCall) -> tuple[str, Response] | None:
        """Return the responder before the simulation that answers, and its answer, or None."""
        # Their answers are not checked against the contract: a stub was when it was set, unless
        # that was declined; a recording is of a real service; generated answers may break
        # assumptions.
        hosted = call.hosted
        if (response := hosted.stubs.take(call)) is not None:
            return STUB, response
        if (
            hosted.generated is not None
            and (response := hosted.generated.respond(call)) is not None
        ):
            return GENERATED, response
        if hosted.replay is not None:
            # What plays recordings is imported with the first world that replays: most have none.
            from mockserver.responders.replay.player import played  # noqa: PLC0415

            response = played(call, hosted.replay, self._simulation.respond)
        if response is None and hosted.upstream is None and hosted.world.scenario.templates:
            from mockserver.responders.templates import templated  # noqa: PLC0415 - as above

            if (response := templated(call)) is not None:
                return SIMULATION, response
        if response is None and hosted.upstream is not None:
            why = hosted.upstream.why_not
            generation = call.operation.generation
            response = hosted.refuser.refuse(generation, "not-recorded", why or "not recorded yet")
            return PLAYBACK if why else UPSTREAM, response
        return None if response is None else (PLAYBACK, response)

    def _failed(self, call: HostedCall, error: Exception) -> tuple[str, Response]:
        """Report an error inside the server; return who answers, and the answer."""
        if full := without_files(error):
            return "server", _beyond(call, full)
        log.error("failed to answer %s", call.operation.id, exc_info=error)
        failure = f"{call.operation.id}: {type(error).__name__}: {error}"
        self.failures = [*self.failures, failure][: limits.FAILURES.most]
        call.hosted.failed(failure)
        reason = f"a defect of the mock: {type(error).__name__}; please report it"
        refuser = call.hosted.refuser
        return "server", refuser.refuse(call.operation.generation, "internal-error", reason)

    def _check(self, operation: Operation, response: Response) -> None:
        """Check a success against the contract. Raises `BrokenAnswer`."""
        if response.status != 200:
            return
        violations = operation.response_violations(jsontext.decode(response.body))
        if violations:
            raise BrokenAnswer(f"{operation.id}: {'; '.join(map(str, violations))}")

    def _lost(self, hosted: HostedWorld, path: str, request: Request) -> Response:
        """Return the refusal of a path or method that no operation answers."""
        contract = hosted.contract
        generation = contract.generation_of(path)
        methods = contract.methods(path)
        if request.method == "OPTIONS" and (methods or path == "*"):
            return Response(204, (allow_header(methods or ["GET", "POST"]),), b"")
        if methods:
            reason = f"{request.method} {path} is not answered; use {' or '.join(methods)}"
            refused = hosted.refuser.refuse(generation, "wrong-method", reason)
            return refused.with_headers(allow_header(methods))
        reason = f"nothing is at {path[:200]!r}"
        explained = self._contracts.where_path_exists(contract, request.method, path)
        near = contract.nearest(path)
        if explained:
            reason = f"{reason} in this dialect: {explained}"
        elif near:
            reason = f"{reason}; the nearest operation is {near.method} {near.path}"
        else:
            reason = f"{reason}; `crosschain-mock routes` lists the operations"
        return hosted.refuser.refuse(generation, "unknown-path", reason)

    def _refused(self, path: str, name: str, reason: str) -> Response:
        hosted = self.worlds.model()
        return hosted.refuser.refuse(hosted.contract.generation_of(path), name, reason)


def _beyond(call: HostedCall, reason: str) -> Response:
    return call.hosted.refuser.refuse(call.operation.generation, "limit-reached", reason)


@lru_cache(256)
def _log_line(line: str) -> str:
    """Return a line of the log without secrets."""
    # Clients repeat what is refused, and to seek secrets takes longer than to refuse.
    # A first answer needs none of it.
    from mockserver.recordings.redaction import log_line  # noqa: PLC0415

    return log_line(line)


def _once_kept(response: Response, number: int, hosted: HostedWorld, path: str) -> Delivery:
    """Return an answer that is sent when a commit is on the disk."""
    return Delivery(response, commit=_commit(number, hosted, hosted.contract.generation_of(path)))


def _commit(number: int, hosted: HostedWorld, generation: Generation) -> Commit:
    return Commit(number, partial(_not_kept, hosted, generation))


def _not_kept(hosted: HostedWorld, generation: Generation, reason: str) -> Response:
    """Return the refusal of a request whose effect is not on the disk."""
    return hosted.refuser.refuse(generation, "state-not-kept", reason)


def _refusal_of(error: Exception) -> str:
    """Return the name of the refusal of a request whose world there is not."""
    if isinstance(error, WorldAway):
        return error.refusal
    if isinstance(error, UnknownWorld):
        return "unknown-world"
    if isinstance(error, StateNotLoadable):
        return "state-not-kept"
    return "unknown-path" if isinstance(error, BadWorldKey) else "limit-reached"


def _is_control(path: str) -> bool:
    return path.startswith(_BELOW_CONTROL) or path == CONTROL_PATH
