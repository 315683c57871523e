"""The options of a run: what a value of the table may be, and the settings that values make."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TypedDict

from mockserver import documents
from mockserver.clock import ClockRefused, parse_duration, parse_instant
from mockserver.conformance.option_table import OPTIONS, Kind, Option
from mockserver.conformance.options import Options, with_generation
from mockserver.conformance.requests.kept import read_kept
from mockserver.conformance.session.bindings import ROLES, Bindings
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.errors import InvalidFile
from mockserver.signing import wallet
from mockserver.signing.curve import SigningUnavailable
from mockserver.validation import did_you_mean

Duration = str | timedelta
"""A time such as `10m` or `1.5s`, or a `timedelta`."""


_SAME = ("seed", "budget", "rate", "only", "skip", "edges", "examples", "sequences", "deep")
_TIMES = {
    "time": "time_ms",
    "request_time": "request_ms",
    "slow": "slow_ms",
    "patience": "patience_ms",
    "wait": "wait_ms",
}
_PLAIN = {**dict(zip(_SAME, _SAME, strict=True)), **_TIMES, "allow_hosts": "hosts"}
"""The settings that are values as they were read, by their keywords."""
_ARMING = {"arm_writes": "writes", "most_writes": "most", "confirm_hosts": "confirmed"}


class RunOptions(TypedDict, total=False):
    """What `run` takes by name; whatever is left out, or None, has a careful default.

    The table of options (`docs/reference/options.md`) says what each is. `budget` is in requests,
    `rate` in requests a second; `timestamp` is a time with its offset, or milliseconds since 1970.
    `roles` binds roles to the member names of list items, and `bindings` is a file that does.
    """

    seed: int
    dialect: str
    overlay: str | Path
    budget: int
    rate: int | float | str | Decimal
    time: Duration
    request_time: Duration
    slow: Duration
    patience: Duration
    wait: Duration
    allow_hosts: str | Iterable[str]
    confirm_hosts: str | Iterable[str]
    arm_writes: bool
    most_writes: int
    app_key: str
    app_secret: str
    wallet_key: str
    address: str
    orders: str | Iterable[str]
    tickets: str | Iterable[str]
    hashes: str | Iterable[str]
    timestamp: str | int
    bindings: str | Path
    roles: Mapping[str, str]
    only: str | Iterable[str]
    skip: str | Iterable[str]
    edges: bool
    examples: int
    sequences: int
    deep: int
    probes: str | Path


def options_of(given: Mapping[str, object], target: Target | None = None) -> Options:
    """Return the options that keyword arguments make; for a target, with what is usual for it.

    Raises `UnsafeOrWrong`.
    """
    known = sorted(RunOptions.__annotations__)
    for name in given:
        if name not in known:
            near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise UnsafeOrWrong(f"{name!r} is no option of a run{near}")
    rows = {option.key: option for option in OPTIONS}
    values = {
        name: value_of(rows[name], value) for name, value in given.items() if value is not None
    }
    return options_from(values, target)


def options_from(values: Mapping[str, Any], target: Target | None = None) -> Options:
    """Return the options that values make which have been read; None counts as left out.

    Raises `UnsafeOrWrong` for a key without its secret, `InvalidFile` for a file of bindings.
    """
    chosen = {name: value for name, value in values.items() if value is not None}
    dialect = chosen.get("dialect", Options().dialect)
    options = Options(
        **{to: chosen[name] for name, to in _PLAIN.items() if name in chosen},
        # An overlay is a part of the dialect's name, which journals keep.
        dialect=f"{dialect}+{chosen['overlay']}" if "overlay" in chosen else dialect,
        arming=Arming(**{to: chosen[name] for name, to in _ARMING.items() if name in chosen}),
        caller=_caller(chosen),
        bindings=_bindings(chosen),
        probes=read_kept(Path(chosen["probes"])) if "probes" in chosen else (),
    )
    if target is None:
        return options
    edges, examples = chosen.get("edges"), chosen.get("examples")
    return with_generation(options, target, edges=edges, examples=examples)


def _caller(chosen: Mapping[str, Any]) -> Caller:
    key, secret = chosen.get("app_key"), chosen.get("app_secret")
    if bool(key) != bool(secret):
        raise UnsafeOrWrong("app_key and app_secret belong together; give both or none")
    changes: dict[str, Any] = {}
    if key:
        if not f"{key}{secret}".isprintable() or not key.isascii():
            raise UnsafeOrWrong("the developer key or its secret holds what no header can carry")
        changes = {"app_key": key, "app_secret": secret, "own_keys": True}
    changes |= _wallet(chosen.get("wallet_key"), chosen.get("address"))
    changes |= {name: chosen[name] for name in ("orders", "tickets", "hashes") if name in chosen}
    for one in changes.get("hashes", ()):
        if not all(one.partition(":")):
            raise UnsafeOrWrong(f"hash: expected CHAIN:HASH, such as ETH:0x41…, got {one!r}")
    if "timestamp" in chosen:
        changes |= {"timestamp_ms": chosen["timestamp"], "fixed_time": True}
    return Caller(**changes)


def _wallet(key: str | None, address: str | None) -> dict[str, Any]:
    """Return the wallet's key and address: without its key, nobody signs for an address."""
    if not key:
        return {"address": address, "wallet_key": None} if address else {}
    try:
        own = wallet.address_of(key)
    except (ValueError, SigningUnavailable) as problem:
        raise UnsafeOrWrong(f"wallet_key: {problem}") from None
    if address and address.lower() != own.lower():
        raise UnsafeOrWrong(f"wallet_key is the key of {own}, and not of the address {address}")
    return {"address": address or own, "wallet_key": key}


def _bindings(chosen: Mapping[str, Any]) -> Bindings:
    roles = chosen.get("roles", {})
    if "bindings" not in chosen:
        return Bindings(roles)
    document = documents.read(Path(chosen["bindings"]), "bindings")
    written = dict(document.value["roles"])
    problems = [
        document.problem(
            ("roles", name),
            f"no such role{did_you_mean(name, list(ROLES))} (there are {', '.join(ROLES)})",
        )
        for name in written
        if name not in ROLES
    ]
    if problems:
        raise InvalidFile(problems)
    return Bindings({**written, **roles})


def value_of(option: Option, value: object) -> Any:
    """Return a value as settings hold it: times in milliseconds. Raises `UnsafeOrWrong`."""
    try:
        return _READERS[option.kind](option, value)
    except _Unreadable as error:
        raise UnsafeOrWrong(f"{option.key}: {error}") from None


def value_of_text(option: Option, text: str) -> Any:
    """Return a value that is written as text, in an ini file or an option of pytest.

    Raises `UnsafeOrWrong`.
    """
    value: object = text
    if option.kind in ("flag", "switch"):
        if text not in _SWITCHED:
            raise UnsafeOrWrong(f"{option.key}: expected yes or no, got {text!r}")
        value = _SWITCHED[text]
    elif option.kind in ("whole", "instant") and _NUMBER.fullmatch(text):
        value = int(text)
    return value_of(option, value)


_SWITCHED: Mapping[str, bool] = {"yes": True, "true": True, "no": False, "false": False}
_NUMBER = re.compile(r"[0-9]{1,18}")


class _Unreadable(Exception):
    """A value that an option cannot have; the message says what would be right."""


def _text(_: Option, value: object) -> str:
    if isinstance(value, str):
        return value
    # What came is not repeated: it may be a secret in a wrong wrapping.
    raise _Unreadable(f"expected a text, got {type(value).__name__}")


def _texts(_: Option, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    found = tuple(value) if isinstance(value, Iterable) else (None,)
    if all(isinstance(one, str) for one in found):
        return tuple(str(one) for one in found)
    raise _Unreadable(f"expected texts, got {value!r}")


def _whole(option: Option, value: object) -> int:
    least = int(option.least)
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise _Unreadable(f"expected a whole number from {least}, got {value!r}")


def _rate(option: Option, value: object) -> Decimal:
    try:
        rate = Decimal(str(value))
    except InvalidOperation:
        rate = Decimal("NaN")
    least, most = Decimal(option.least), Decimal(option.most)
    if not isinstance(value, bool) and rate.is_finite() and least <= rate <= most:
        return rate
    raise _Unreadable(f"expected requests a second from {least} to {most}, got {value!r}")


def _duration(option: Option, value: object) -> int:
    ms = -1
    if isinstance(value, timedelta):
        ms = value // timedelta(milliseconds=1)
    elif isinstance(value, str):
        try:
            ms = parse_duration(value)
        except ClockRefused as error:
            raise _Unreadable(str(error)) from None
    if ms < int(option.least):
        raise _Unreadable(f"expected a time such as '10m' or '1.5s', got {value!r}")
    return ms


def _instant(_: Option, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    try:
        return parse_instant(str(value))
    except ClockRefused as error:
        raise _Unreadable(str(error)) from None


def _word(option: Option, value: object) -> str:
    if value in option.words:
        return str(value)
    near = did_you_mean(str(value), option.words)
    raise _Unreadable(f"expected one of {', '.join(option.words)}, got {value!r}{near}")


def _flag(_: Option, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise _Unreadable(f"expected True or False, got {value!r}")


def _file(_: Option, value: object) -> Path:
    if isinstance(value, str | Path) and str(value):
        return Path(value)
    raise _Unreadable(f"expected the name of a file, got {value!r}")


def _roles(_: Option, value: object) -> dict[str, str]:
    if isinstance(value, Mapping) and all(
        isinstance(role, str) and isinstance(member, str) for role, member in value.items()
    ):
        return dict(value)
    raise _Unreadable(f"expected texts by name, got {value!r}")


_READERS: Mapping[Kind, Callable[[Option, object], Any]] = {
    "address": _text,
    "text": _text,
    "texts": _texts,
    "whole": _whole,
    "rate": _rate,
    "duration": _duration,
    "instant": _instant,
    "word": _word,
    "flag": _flag,
    "switch": _flag,
    "file": _file,
    "roles": _roles,
}
