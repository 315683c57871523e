"""The options of a run: how their values are read and checked, and the settings they make."""

import re
import ssl
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TypedDict, TypeGuard

from mockserver import file_formats
from mockserver.conformance.option_table import OPTIONS, SWITCHED, Option, OptionKind
from mockserver.conformance.options import Options, with_generation
from mockserver.conformance.requests.user_probes import read_saved
from mockserver.conformance.session.caller import Caller
from mockserver.conformance.session.permit import Arming
from mockserver.conformance.session.role_bindings import ROLES, Bindings
from mockserver.conformance.session.target import Target, UnsafeOrWrong
from mockserver.errors import InvalidFile
from mockserver.signing import wallet_signatures
from mockserver.signing.wallet_libraries import SigningUnavailable
from mockserver.suggestions import did_you_mean
from mockserver.times_and_durations import ClockRefused, Duration, parse_duration, parse_instant
from mockserver.userfiles import NotReadable, trusting

_OTHERWISE = {"request_time": "request_ms", "allow_hosts": "hosts"}
_FIELDS = {field.name for field in fields(Options)} - {"dialect", "bindings", "probes"}
# The settings that are values as they were read, by their keywords.
_PLAIN = {
    row.key: name
    for row in OPTIONS
    for name in (_OTHERWISE.get(row.key, f"{row.key}_ms" if row.kind == "duration" else row.key),)
    if name in _FIELDS
}
_ARMING = {"arm_writes": "writes", "most_writes": "most", "confirm_hosts": "confirmed"}


class RunOptions(TypedDict, total=False):
    """What `run` takes by name; whatever is left out, or None, has a careful default.

    The table of options (`docs/reference/options.md`) says what each is. `budget` is in requests,
    `rate` in requests a second; `timestamp` is a time with its offset, or milliseconds since 1970.
    `roles` binds roles to the member names of list items, and `bindings` is a file that does.
    """

    # Written by .ci/options.
    dialect: str
    overlay: str | Path
    only: str | Iterable[str]
    skip: str | Iterable[str]
    roles: Mapping[str, str]
    bindings: str | Path
    allow_hosts: str | Iterable[str]
    arm_writes: bool
    most_writes: int
    confirm_hosts: str | Iterable[str]
    app_key: str
    app_secret: str
    wallet_key: str
    address: str
    orders: str | Iterable[str]
    tickets: str | Iterable[str]
    hashes: str | Iterable[str]
    timestamp: str | int
    cacert: str | Path
    seed: int
    budget: int
    rate: int | float | str | Decimal
    time: Duration
    request_time: Duration
    concurrency: int
    wait: Duration
    patience: Duration
    edges: bool
    delivery: bool
    examples: int
    sequences: int
    deep: int
    probes: str | Path
    slow: Duration


def options_of(keywords: Mapping[str, object], target: Target | None = None) -> Options:
    """Return the options that keyword arguments make; for a target, with what is usual for it.

    Raises `UnsafeOrWrong`.
    """
    known = sorted(RunOptions.__annotations__)
    for name in keywords:
        if name not in known:
            near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise UnsafeOrWrong(f"{name!r} is no option of a run{near}")
    rows = {option.key: option for option in OPTIONS}
    chosen = {name: value for name, value in keywords.items() if value is not None}
    return options_from({name: value_of(rows[name], chosen[name]) for name in chosen}, target)


def options_from(values: Mapping[str, Any], target: Target | None = None) -> Options:
    """Return the options that values make which have been read; None counts as left out.

    Raises `UnsafeOrWrong` for a key without its secret or a file without certificates,
    `InvalidFile` for a file of bindings.
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
        probes=read_saved(Path(chosen["probes"])) if "probes" in chosen else (),
        tls=_trust(chosen),
    )
    if target is None:
        return options
    wanted = {name: chosen.get(name) for name in ("edges", "delivery", "examples", "sequences")}
    return with_generation(options, target, **wanted)


def _trust(chosen: Mapping[str, Any]) -> ssl.SSLContext | None:
    if "cacert" not in chosen:
        return None
    try:
        return trusting(Path(chosen["cacert"]))
    except NotReadable as error:
        raise UnsafeOrWrong(f"cacert: {str(chosen['cacert'])!r} {error}") from None


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
    for change in changes.get("hashes", ()):
        if not all(change.partition(":")):
            raise UnsafeOrWrong(f"hash: expected CHAIN:HASH, such as ETH:0x41…, got {change!r}")
    if "timestamp" in chosen:
        changes |= {"timestamp_ms": chosen["timestamp"], "fixed_time": True}
    return Caller(**changes)


def _wallet(key: str | None, address: str | None) -> dict[str, Any]:
    """Return the wallet's key and address: without its key, nothing is signed for an address."""
    if not key:
        return {"address": address, "wallet_key": None} if address else {}
    try:
        own = wallet_signatures.address_of(key)
    except (ValueError, SigningUnavailable) as problem:
        raise UnsafeOrWrong(f"wallet_key: {problem}") from None
    if address and address.lower() != own.lower():
        raise UnsafeOrWrong(f"wallet_key is the key of {own}, and not of the address {address}")
    return {"address": address or own, "wallet_key": key}


def _bindings(chosen: Mapping[str, Any]) -> Bindings:
    roles = chosen.get("roles", {})
    if "bindings" not in chosen:
        return Bindings(roles)
    document = file_formats.read(Path(chosen["bindings"]), "bindings")
    written = dict(document.value["roles"])
    known = f"(there are {', '.join(ROLES)})"
    if problems := [
        document.problem(("roles", name), f"no such role{did_you_mean(name, list(ROLES))} {known}")
        for name in written
        if name not in ROLES
    ]:
        raise InvalidFile(problems)
    return Bindings({**written, **roles})


def value_of(option: Option, value: object) -> Any:
    """Return a value as settings hold it: times in milliseconds. Raises `UnsafeOrWrong`."""
    read, expected = _KINDS[option.kind]
    try:
        setting = read(option, value)
    except ClockRefused as error:
        raise UnsafeOrWrong(f"{option.key}: {error}") from None
    if setting is not None:
        return setting
    wanted = expected.format(least=option.least, most=option.most, words=", ".join(option.words))
    # What came for a text is not repeated: it may be a secret in a wrong wrapping.
    got = type(value).__name__ if option.kind in ("address", "text") else repr(value)
    near = did_you_mean(str(value), option.words) if option.words else ""
    raise UnsafeOrWrong(f"{option.key}: expected {wanted}, got {got}{near}")


def value_of_text(option: Option, text: str) -> Any:
    """Return a value that is written as text, in an ini file or an option of pytest.

    Raises `UnsafeOrWrong`.
    """
    value: object = text
    if option.kind in ("flag", "switch"):
        if text not in SWITCHED:
            raise UnsafeOrWrong(f"{option.key}: expected yes or no, got {text!r}")
        value = SWITCHED[text]
    elif option.kind in ("whole", "instant") and _NUMBER.fullmatch(text):
        value = int(text)
    return value_of(option, value)


_NUMBER = re.compile(r"[0-9]{1,18}")


def _is_integer(value: object, least: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


# Functions that turn a value into a setting, one a kind; they return None where they cannot.


def _only(kind: type) -> Callable[[Option, object], Any]:
    """Return what takes values of a type as they are, and none of another."""
    return lambda _, value: value if isinstance(value, kind) else None


def _texts(_: Option, value: object) -> tuple[str, ...] | None:
    if isinstance(value, str):
        return (value,)
    texts = tuple(value) if isinstance(value, Iterable) else (None,)
    return texts if all(isinstance(text, str) for text in texts) else None


def _integer(option: Option, value: object) -> int | None:
    return value if _is_integer(value, int(option.least)) else None


def _rate(option: Option, value: object) -> Decimal | None:
    try:
        rate = Decimal(str(value))
    except InvalidOperation:
        return None
    within = rate.is_finite() and Decimal(option.least) <= rate <= Decimal(option.most)
    return rate if within and not isinstance(value, bool) else None


def _duration(option: Option, value: object) -> int | None:
    if isinstance(value, timedelta):
        ms = value // timedelta(milliseconds=1)
    else:
        ms = parse_duration(value) if isinstance(value, str) else -1
    return ms if ms >= int(option.least) else None


def _instant(_: Option, value: object) -> int:
    return value if _is_integer(value, 0) else parse_instant(str(value))


def _file(_: Option, value: object) -> Path | None:
    return Path(value) if isinstance(value, str | Path) and str(value) else None


def _roles(_: Option, value: object) -> dict[str, str] | None:
    if not isinstance(value, Mapping):
        return None
    texts = all(isinstance(part, str) for pair in value.items() for part in pair)
    return dict(value) if texts else None


# What reads a value of each kind, and what is expected where it cannot.
_KINDS: Mapping[OptionKind, tuple[Callable[[Option, object], Any], str]] = {
    "address": (_only(str), "a text"),
    "text": (_only(str), "a text"),
    "texts": (_texts, "texts"),
    "whole": (_integer, "a whole number from {least}"),
    "rate": (_rate, "requests a second from {least} to {most}"),
    "duration": (_duration, "a time such as '10m' or '1.5s', of {least} ms or more"),
    "instant": (_instant, "a time"),
    "word": (lambda option, value: str(value) if value in option.words else None, "one of {words}"),
    "flag": (_only(bool), "True or False"),
    "switch": (_only(bool), "True or False"),
    "file": (_file, "the name of a file"),
    "roles": (_roles, "texts by name"),
}
