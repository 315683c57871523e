"""The options of a run by friendly names, as keyword arguments and pytest options give them."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import TypedDict

from mockserver.clock import ClockRefused, parse_duration
from mockserver.conformance.options import Options
from mockserver.conformance.session.bindings import Bindings
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.target import UnsafeOrWrong
from mockserver.validation import did_you_mean

Duration = str | timedelta
"""A time such as `10m` or `1.5s`, or a `timedelta`."""


class RunOptions(TypedDict, total=False):
    """What `run` takes by name; whatever is left out has a careful default.

    `budget` is in requests, `rate` in requests a second. `time` bounds the whole run,
    `request_time` one request, and `patience` how long to wait in all for what was submitted;
    `wait` is how long the service may take to answer at all.
    `allow_hosts` names hosts that are not this machine; `arm_writes` lets submissions out, at most
    `most_writes` of them, to a host that is not local only where `confirm_hosts` names it again.
    `roles` binds roles to the member names of list items. `only` and `skip` name rules, layers or
    operations, `*` stands for anything. `edges` asks at the edges of each input; `examples`,
    `sequences` and `deep` are how many generated requests an operation gets, sequences a state
    machine, and Schemathesis examples an operation. A service on this machine gets edges and some
    examples by itself.
    """

    seed: int
    dialect: str
    budget: int
    rate: int | float | str | Decimal
    time: Duration
    request_time: Duration
    patience: Duration
    wait: Duration
    allow_hosts: str | Iterable[str]
    confirm_hosts: str | Iterable[str]
    arm_writes: bool
    most_writes: int
    app_key: str
    app_secret: str
    address: str
    roles: Mapping[str, str]
    only: str | Iterable[str]
    skip: str | Iterable[str]
    edges: bool
    examples: int
    sequences: int
    deep: int


def options_of(given: Mapping[str, object]) -> Options:
    """Return the options that keyword arguments make. Raises `UnsafeOrWrong`."""
    known = sorted(RunOptions.__annotations__)
    for name in given:
        if name not in known:
            near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise UnsafeOrWrong(f"{name!r} is no option of a run{near}")
    read = _Given(given)
    usual = Options()
    return Options(
        seed=read.whole("seed", usual.seed),
        dialect=read.text("dialect", usual.dialect),
        budget=read.whole("budget", 0, least=1) if "budget" in given else None,
        rate=read.rate("rate"),
        time_ms=read.duration("time", usual.time_ms),
        request_ms=read.duration("request_time", usual.request_ms),
        patience_ms=read.duration("patience", 0, least=0)
        if given.get("patience") is not None
        else None,
        wait_ms=read.duration("wait", usual.wait_ms),
        hosts=read.names("allow_hosts"),
        arming=_arming(read),
        caller=_caller(read),
        bindings=Bindings(read.roles("roles")),
        only=read.names("only"),
        skip=read.names("skip"),
        edges=read.flag("edges"),
        examples=read.whole("examples", usual.examples),
        sequences=read.whole("sequences", usual.sequences),
        deep=read.whole("deep", usual.deep),
    )


def _arming(read: "_Given") -> Arming:
    usual = Arming()
    return Arming(
        writes=read.flag("arm_writes"),
        most=read.whole("most_writes", usual.most),
        confirmed=read.names("confirm_hosts"),
    )


def _caller(read: "_Given") -> Caller:
    usual = Caller()
    key, secret = read.text("app_key", ""), read.text("app_secret", "")
    if bool(key) != bool(secret):
        raise UnsafeOrWrong("app_key and app_secret belong together; give both or none")
    return Caller(
        app_key=key or usual.app_key,
        app_secret=secret or usual.app_secret,
        own_keys=bool(key),
        address=read.text("address", usual.address),
    )


class _Given:
    """Reads values of options, each of which may be of a wrong type."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self._given = given

    def whole(self, name: str, usual: int, *, least: int = 0) -> int:
        value = self._given.get(name, usual)
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        raise UnsafeOrWrong(f"{name}: expected a whole number from {least}, got {value!r}")

    def flag(self, name: str) -> bool:
        value = self._given.get(name, False)
        if isinstance(value, bool):
            return value
        raise UnsafeOrWrong(f"{name}: expected True or False, got {value!r}")

    def text(self, name: str, usual: str) -> str:
        value = self._given.get(name, usual)
        if isinstance(value, str):
            return value
        # What came is not repeated: it may be a secret in a wrong wrapping.
        raise UnsafeOrWrong(f"{name}: expected a text, got {type(value).__name__}")

    def names(self, name: str) -> tuple[str, ...]:
        value = self._given.get(name, ())
        if isinstance(value, str):
            return (value,)
        found = tuple(value) if isinstance(value, Iterable) else (None,)
        if all(isinstance(one, str) for one in found):
            return tuple(str(one) for one in found)
        raise UnsafeOrWrong(f"{name}: expected texts, got {value!r}")

    def roles(self, name: str) -> dict[str, str]:
        value = self._given.get(name, {})
        if isinstance(value, Mapping) and all(
            isinstance(role, str) and isinstance(member, str) for role, member in value.items()
        ):
            return dict(value)
        raise UnsafeOrWrong(f"{name}: expected texts by name, got {value!r}")

    def rate(self, name: str) -> Decimal | None:
        value = self._given.get(name)
        if value is None:
            return None
        try:
            rate = Decimal(str(value))
        except InvalidOperation:
            rate = Decimal(0)
        if not isinstance(value, bool) and rate.is_finite() and 0 < rate <= 100_000:
            return rate
        raise UnsafeOrWrong(f"{name}: expected requests a second above 0, got {value!r}")

    def duration(self, name: str, usual: int, *, least: int = 1) -> int:
        value = self._given.get(name)
        if value is None:
            return usual
        ms = -1
        if isinstance(value, timedelta):
            ms = value // timedelta(milliseconds=1)
        elif isinstance(value, str):
            try:
                ms = parse_duration(value)
            except ClockRefused as error:
                raise UnsafeOrWrong(f"{name}: {error}") from None
        if ms < least:
            raise UnsafeOrWrong(f"{name}: expected a time such as '10m' or '1.5s', got {value!r}")
        return ms
