"""A world in a test: its addresses, its clock, its orders, and its requests."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Self, Unpack

from mockserver.engine.outages import Direction, Window
from mockserver.jsontext import Json
from mockserver.responders.control_forms import check, form
from mockserver.responders.faults.registry import Fault
from mockserver.responders.stubs import Stub
from mockserver.testing.clock import MockClock
from mockserver.testing.expected_refusals import ExpectedRefusal, MockCheckFailed, operation_ids
from mockserver.testing.locked_access import WorldHandle, public_api
from mockserver.testing.options import (
    AuditKind,
    ExpectedTransfer,
    FaultKind,
    FaultOptions,
    Match,
    OrderRef,
    Outage,
    Side,
    StubResponse,
    Wanted,
    WrongWord,
    check_names,
    duration_ms,
    json_of,
    spelled,
    window,
    word,
)
from mockserver.testing.orders import MockOrders, order_id_or_text
from mockserver.testing.settings import BadSetting, MockSettings
from mockserver.testing.triggers import At, When, price_body
from mockserver.times_and_durations import Duration
from mockserver.worlds.announced_transactions import announce
from mockserver.worlds.audit import QUOTE_AGE_MS, Claim, Expected, Verdict, judge, kinds_named
from mockserver.worlds.end_of_test_check import (
    Remedies,
    complaints,
    entry_lines,
    unexpected_since,
    unused,
)
from mockserver.worlds.hosted import HostedWorld
from mockserver.worlds.journal import Entry
from mockserver.worlds.journal_text import readable_journal
from mockserver.worlds.lint import LintResult, lint, lint_settings
from mockserver.worlds.trigger_actions import new_price
from mockserver.worlds.verdict_evidence import ground_of
from mockserver.worlds.verification import unmet, verify

if TYPE_CHECKING:
    from mockserver.server.recorder.record_modes import Tape
    from mockserver.strategies import GeneratedService

_REMEDIES = Remedies(
    "put the call into `with crosschain_mock.expect_refusal():` if that is meant",
    "record it with --crosschain-mock-record=new where the test has a record mode",
    "take it away, or say unused='allow' (marker, --crosschain-mock-unused or ini key)",
    "stamps='either' takes both (marker, --crosschain-mock-stamps or ini key)",
)


@public_api
class MockWorld:
    """One world of a running server. As a context manager it is checked and closed at the end."""

    def __init__(
        self,
        handle: WorldHandle,
        url: str,
        settings: MockSettings,
        tape: "Tape | None" = None,
        demands: Sequence[str] | None = None,
    ) -> None:
        """Look at a world of the server at `url`.

        A world of a test's own has `demands`: the judgements that were asked for it alone, so that
        nothing to judge is a failure.
        """
        self._handle, self._lock = handle, handle.lock
        handle.views = {"": MockWorld, "clock": MockClock, "orders": MockOrders}
        self._url = url
        # A world that goes on from an earlier session was checked up to there.
        self._checked = handle.hosted.journal.last_sequence
        self._expected: set[int] = set()
        self._audited: set[tuple[str, str]] = set()
        self._linted: set[str] = set()
        self._kept: list[str] = []
        self._changes_judged = 0
        self._tape = tape
        self._demands = demands or ()
        is_witness = demands is not None and settings.audit
        self._end_witness = handle.witness(self._note_findings) if is_witness else None
        self.settings = settings
        """How the world was made."""
        self.clock = MockClock(handle)
        """Its clock."""
        self.orders = MockOrders(handle)
        """Its orders."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        __tracebackhide__ = True
        try:
            # What a test raised says more than what it left behind.
            if kind is None:
                self.check()
        finally:
            self.close()

    def __repr__(self) -> str:
        return f"<MockWorld {self.key!r} at {self.base_url}>"

    @property
    def key(self) -> str:
        """Its key on the server."""
        return self._handle.key

    @property
    def epoch(self) -> str:
        """Distinguishes it from an earlier world of its key, as `X-Mock-Epoch` of its answers."""
        return self._handle.hosted.epoch

    def require_epoch(self, epoch: str) -> None:
        """Raise `BadControl` where it is not the world that had this epoch, but a later one."""
        self._handle.hosted.require_epoch(epoch)

    @property
    def base_url(self) -> str:
        """The base address of v1, whose paths begin with `/open/v1/`."""
        return f"{self._url}/w/{self.key}"

    @property
    def base_url_v2(self) -> str:
        """The base address of the 2.0 interface, whose paths begin with `/v1/`."""
        return self.base_url

    @contextmanager
    def hosted(self) -> Iterator[HostedWorld]:
        """Hold the world itself, for what these methods do not offer; no request is answered."""
        with self._lock:
            yield self._handle.hosted

    def suspend(
        self, chain: str | None = None, *, token: str | None = None, **outage: Unpack[Outage]
    ) -> Window:
        """Put a chain, a token, or a token on a chain out of service.

        Raises `CrosschainMockError` for names that do not exist and windows that overlap.
        """
        hosted = self._handle.hosted
        planned = window(chain, token, hosted.world.now(), outage)
        return hosted.suspend(planned)

    def restore(
        self, chain: str | None = None, *, token: str | None = None, direction: Side | None = None
    ) -> tuple[Window, ...]:
        """End the outages of a subject now. Raises `InvalidOutage` where there is none."""
        if chain is None and token is None:
            raise WrongWord("name what to restore: a chain, a token, or both")
        side = None if direction is None else word("direction", Direction, direction)
        return self._handle.hosted.world.outages.restore(chain, token, side)

    def fail(
        self, operation: str | None, kind: FaultKind, /, **options: Unpack[FaultOptions]
    ) -> Fault:
        """Disturb the answers of an operation, or of all with None; `kind` is the kind of fault.

        `fail("submitOrder", "reset-before-headers", does="done", first=1)` accepts the first order
        and resets the connection. Raises `BadControl` with a sentence for what does not exist.
        """
        hosted = self._handle.hosted
        if "order" in options:
            options["order"] = order_id_or_text(hosted.world, options["order"])
        wanted = {"kind": kind, **spelled(options, FaultOptions, "a fault")}
        if operation is not None:
            wanted["operation"] = operation
        return hosted.faults.add(wanted, hosted.contract, hosted.world.scenario)

    def heal(self, fault: Fault | str | None = None) -> None:
        """Take a fault away, by itself or its id, or all of them.

        Raises `BadControl` for one that is gone.
        """
        hosted = self._handle.hosted
        if fault is None:
            hosted.faults.clear()
        else:
            hosted.faults.remove(fault if isinstance(fault, str) else fault.id)

    def at(self, operation: str | None, nth: int = 1, when: When = "after") -> At:
        """Name a call that is still to come, to say what happens right before or after it.

        `at("submitOrder", 1, "after").suspend("BNB")` suspends a chain once the first order is
        made, before its answer is sent. A call that never comes fails the test.
        """
        place: dict[str, Json] = {"nth": nth, "phase": when}
        if operation is not None:
            place["operation"] = operation
        return At(self._handle, place)

    def price(
        self,
        token: str,
        usd: Decimal | float | None = None,
        *,
        percent: Decimal | float | None = None,
    ) -> Decimal:
        """Move the USD price of a token, to a value or by percent of what it is; return it.

        Raises `BadControl` where it would not be above 0, or the token does not exist.
        """
        hosted = self._handle.hosted
        body = price_body(token, usd, percent)
        # As the control API checks it, so that both refuse in the same words.
        check(form("price-given"), body, "body")
        symbol, price = new_price(hosted, body)
        hosted.move_price(symbol, price)
        return price

    def release(self, name: str | None = None) -> int:
        """Send the answers that `at(…).hold(name=…)` holds back, or all; return how many."""
        hosted = self._handle.hosted
        return hosted.release(lambda held: name is None or held.name == name)

    def stub(
        self,
        operation: str,
        *,
        match: Match | None = None,
        times: int | None = None,
        unchecked: bool = False,
        **response: Unpack[StubResponse],
    ) -> Stub:
        """Answer an operation's requests that have the parts of `match`, in front of everything.

        A stub that never answers, or less often than `times`, fails the test. Data that breaks
        the contract is refused unless `unchecked`. Raises `BadControl`.
        """
        check_names(response, StubResponse.__annotations__, "a stub")
        members = {name: json_of(name, value) for name, value in response.items()}
        wanted: dict[str, Json] = {"operation": operation, "response": members}
        more = {"match": json_of("match", match), "times": times, "unchecked": unchecked or None}
        wanted |= {name: value for name, value in more.items() if value is not None}
        hosted = self._handle.hosted
        return hosted.stubs.add(wanted, hosted.contract, hosted.refuser)

    def permissive(
        self,
        service: "int | GeneratedService",
        *operations: str,
        undocumented: bool = False,
    ) -> "GeneratedService":
        """Answer with what the contract allows: generated for a seed, or drawn by a test.

        A seed makes a service for `operations`, by default for all but tickets; a service comes
        from `mockserver.strategies.services(…)`. The world begins anew. Requests that break the
        contract, and operations that are not generated, are left to the simulation. With
        `undocumented` only the interface description is kept. Raises `ImportError` without
        Hypothesis, `UnknownOperation`, and `BadSetting` for a service of another dialect.
        """
        from mockserver.strategies import GeneratedService, service_of  # noqa: PLC0415 - Hypothesis is an extra
        from mockserver.strategies.generated_service import Permissive  # noqa: PLC0415

        contract = self._handle.hosted.contract
        dialect = contract.dialect.name
        # A bool is an integer for Python, and no seed.
        if isinstance(service, int) and not isinstance(service, bool):
            service = service_of(service, *operations, dialect=dialect, undocumented=undocumented)
        elif not isinstance(service, GeneratedService):
            raise BadSetting(f"expected a seed or a service of services(…), got {service!r}")
        elif operations or undocumented:
            raise BadSetting("operations and 'undocumented' go with a seed; give them to services")
        if service.dialect != dialect:
            raise BadSetting(
                f"a service of {service.dialect!r} for a world that speaks {dialect!r}"
            )
        # What the simulation has answered would contradict what is generated from now on.
        self.reset()
        self._handle.hosted.generated = Permissive(service, contract)
        return service

    def announce(self, transaction: Mapping[str, Json]) -> Json:
        """Announce a transaction that a client sent to a chain, and return its outcome.

        Give `chain` with `raw` in hex, or with `from`, `to`, `value`, `data` and `hash`. Raises
        `BadTransaction` where it is none.
        """
        return announce(self._handle.hosted, json_of("transaction", transaction))

    @property
    def journal(self) -> tuple[Entry, ...]:
        """What came and what was answered, oldest first."""
        return tuple(self._handle.hosted.journal)

    def requests(self, operation: str | None = None, *, refused: bool | None = None) -> list[Entry]:
        """Return the entries of an operation, `v2.checkOrder` or `checkOrder`, or of all.

        Raises `UnknownName` for an operation that does not exist.
        """
        hosted = self._handle.hosted
        ids = None if operation is None else operation_ids(operation, hosted.contract)
        entries = tuple(hosted.journal)
        return [
            entry
            for entry in entries
            if (ids is None or entry.operation in ids)
            and refused in (None, entry.refusal is not None)
        ]

    def verify(self, operation: str | None = None, /, **wanted: Unpack[Wanted]) -> None:
        """Check which requests came: `verify("submitOrder", exactly=1)`.

        Raises `MockCheckFailed` with what came, and `BadControl` for options without meaning.
        """
        __tracebackhide__ = True
        body = spelled(wanted, Wanted, "verify")
        if operation is not None:
            body["operation"] = operation
        verdict = verify(self._handle.hosted, body)
        if not verdict.held:
            near = "".join(f"\n  near: {text}" for text in verdict.nearest)
            came = entry_lines(verdict.entries)
            raise MockCheckFailed(f"{verdict.message}; what came:\n{came}{near}")

    def expect_refusal(
        self, name: str | None = None, *, operation: str | None = None
    ) -> ExpectedRefusal:
        """Expect that the service refuses at least one request of a block, by that name.

        Raises `MockCheckFailed` at the end of the block where it did not, and `UnknownName` for a
        refusal or an operation that does not exist.
        """
        return ExpectedRefusal(self._handle, self._expected, name, operation)

    def snapshot(self, name: str | None = None) -> str:
        """Keep the world as it is, clock and all, and return the name to go back to."""
        return self._handle.hosted.snapshot(name)

    def revert(self, name: str) -> None:
        """Go back to a snapshot; the journal goes on. Raises `UnknownSnapshot`."""
        self._handle.hosted.revert(name)

    def reset(self) -> None:
        """Begin the scenario anew, without faults, stubs and journal."""
        hosted = self._handle.hosted
        self._note_findings()
        hosted.reset()
        self._changes_judged = 0
        self._checked = hosted.journal.last_sequence

    def dump(self) -> Mapping[str, Json]:
        """Return everything that has happened as plain data, to be kept in a file."""
        return self._handle.hosted.dump_of_epoch()

    def claims(
        self, order: OrderRef, state: str = "arrived", *, amount: Decimal | str | None = None
    ) -> None:
        """Say what the client believes of an order: `claims(order, "arrived", amount="9.694")`.

        The state is arrived, partly, returned or lost; `amount` is in whole tokens, or a text such
        as `"9694000 units"`. The audit holds it against what has become of the order. Raises
        `BadControl`.
        """
        hosted = self._handle.hosted
        number = order_id_or_text(hosted.world, order)
        claim = Claim.of(number, state, None if amount is None else str(amount))
        hosted.beliefs = hosted.beliefs.claimed(claim)

    def expects(self, amount: str | None = None, **transfer: Unpack[ExpectedTransfer]) -> None:
        """Say what transfer is to happen: `expects("2.5 ETH", to=address, times=1)`.

        The audit finds it missing, too often, or with another recipient, amount or chain. What was
        not named may be anything. Raises `BadControl`.
        """
        wanted = {"amount": amount, **spelled(transfer, ExpectedTransfer, "expects")}
        if "source" in wanted:
            wanted["from"] = wanted.pop("source")
        named = {name: value for name, value in wanted.items() if value is not None}
        hosted = self._handle.hosted
        hosted.beliefs = hosted.beliefs.expecting(Expected.of(named))

    def died(self) -> None:
        """Say that the client died before it had read the newest answer."""
        hosted = self._handle.hosted
        hosted.beliefs = hosted.beliefs.died(hosted.journal.last_sequence)

    def audit(
        self,
        *kinds: AuditKind,
        quote_age: Duration | None = None,
        as_is: bool = False,
    ) -> Verdict:
        """Return what happened to money that was doubled, lost or is stuck, of some kinds or all.

        `assert not crosschain_mock.audit()` prints what was found, with its exchanges. A quote is
        old after `quote_age`, five minutes by default. Orders are judged by how they will have
        ended, or with `as_is` as they stand. Raises `BadControl` for an unknown kind.
        """
        age = QUOTE_AGE_MS if quote_age is None else duration_ms(quote_age)
        return judge(self._handle.hosted, kinds_named(kinds), quote_age_ms=age, as_is=as_is)

    def lint(self, rules: object = True) -> LintResult:
        """Return what is wrong with the requests that came, although nothing else went wrong.

        All rules by default; or those that a text, a list, or a mapping of limits names, as in
        `lint({"stale-quote": "30s"})`. `assert not crosschain_mock.lint().serious` leaves notes
        out. Raises `BadControl` for a rule or a limit that does not exist.
        """
        return lint(self._handle.hosted, lint_settings(rules), without=self._expected)

    def complaints(self) -> list[str]:
        """Return what the test did not expect, in sentences.

        These are defects, stubs and failures that no request met, refusals, requests to worlds
        that nobody made, and what the audit and lint find where the settings ask for them. What was
        returned before is not repeated.
        """
        hosted = self._handle.hosted
        allow, since = self.settings.refusals == "allow", self._checked
        refusals = [] if allow else unexpected_since(hosted, since, self._expected)
        sentences = [*complaints(hosted, refusals, _REMEDIES, since)]
        if self.settings.unused == "fail":
            met_nothing = filter(None, unmet(hosted, self._changes_judged))
            sentences += unused(hosted, met_nothing, _REMEDIES)
            self._changes_judged = len(hosted.changes)
        # Each request is complained of once, by the first check that sees it.
        self._checked = hosted.journal.last_sequence
        self._note_findings()
        sentences, self._kept = [*sentences, *self._kept], []
        sentences += [*self._lint_complaints(), *self._handle.strays()]
        # Only where nothing else is wrong: what is wrong came, so there was something to judge.
        return sentences or self._unfounded()

    def _unfounded(self) -> list[str]:
        """Return that nothing can be judged, where it was this test that asked for a judgement."""
        # Once: a second check of a test would say the same again.
        demands, self._demands = self._demands, ()
        missing = ground_of(self._handle.hosted).missing if demands else ""
        return [f"{' and '.join(demands)}: {missing}"] if missing else []

    def _note_findings(self) -> None:
        """Note what is wrong now; a reset takes the evidence away, and not what was wrong."""
        kinds = self.settings.audit
        if not kinds:
            return
        judged = [("", finding) for finding in judge(self._handle.hosted, kinds)]
        for hosted, since in self._handle.beside():
            # A world that tests share may have been wrong before.
            judged += [
                (f"in world {hosted.key!r}: ", finding)
                for finding in judge(hosted, kinds)
                if not finding.entries or finding.entries[-1].sequence > since
            ]
        for where, finding in judged:
            # A test may check more than once: each finding fails it once.
            if (where, finding.message) not in self._audited:
                self._audited.add((where, finding.message))
                self._kept.append(f"audit: {where}{finding}")

    def _lint_complaints(self) -> list[str]:
        rules = self.settings.lint
        if not rules:
            return []
        result = lint(self._handle.hosted, lint_settings(rules), without=self._expected)
        news = [finding for finding in result.serious if finding.message not in self._linted]
        self._linted |= {finding.message for finding in news}
        return [f"lint: {finding}" for finding in news]

    def check(self) -> None:
        """Raise `MockCheckFailed` with all that the test did not expect."""
        __tracebackhide__ = True
        sentences = self.complaints()
        if sentences:
            raise MockCheckFailed("\n".join(sentences))

    def report(self) -> str:
        """Return the journal as text for a person."""
        return readable_journal(self.journal)

    def close(self) -> None:
        """Forget the world; it cannot be used any more. What it recorded is whole then."""
        if self._end_witness is not None:
            self._end_witness()
            self._end_witness = None
        self._handle.close()
        if self._tape is not None:
            self._tape.close()
