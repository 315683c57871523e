"""What pytest's options, ini keys and the environment ask of a run."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from mockserver.conformance.options import Options, is_installed, with_generation
from mockserver.conformance.runs.settings import options_of
from mockserver.conformance.session.permit import Permit
from mockserver.conformance.session.target import Target, UnsafeOrWrong, target_of
from mockserver.conformance.verdict import FAIL_ON, Verdict
from mockserver.contract import Contract, load
from mockserver.validation import did_you_mean

NO_ADDRESS = (
    "no service is named: give --crosschain-mock-url URL, or --crosschain-mock-v1-url and "
    "--crosschain-mock-v2-url, or the same as ini key or in CROSSCHAIN_MOCK_URL"
)
_ADDRESSES = ("url", "v1_url", "v2_url")
_ENVIRONMENT = {
    "url": "CROSSCHAIN_MOCK_URL",
    "v1_url": "CROSSCHAIN_MOCK_BASE_URL",
    "v2_url": "CROSSCHAIN_MOCK_BASE_URL_V2",
}
_SECRETS = {"app_key": "CROSSCHAIN_APP_KEY", "app_secret": "CROSSCHAIN_APP_SECRET"}
_WHOLE = ("seed", "budget", "most_writes", "examples", "sequences", "deep")
USUAL_SEQUENCES = 1
"""How many sequences a flow gets by itself, where the service is on this machine."""
_TEXTS = ("dialect", "rate", "time", "request_time", "patience", "wait", "address")


@dataclass(frozen=True, slots=True)
class RequestedRun:
    """A run that was asked for; `contract` is loaded, since the permit needs it as well."""

    target: Target
    options: Options
    contract: Contract
    fail_on: Verdict
    strict: bool

    @property
    def failing(self) -> tuple[Verdict, ...]:
        """The verdicts that fail a test."""
        order = tuple(Verdict)
        unclear = (Verdict.VACUOUS, Verdict.INCONCLUSIVE) if self.strict else ()
        return (*order[: order.index(self.fail_on) + 1], *unclear)


def requested_run(config: pytest.Config) -> RequestedRun:
    """Return the run that is asked for. Raises `UnsafeOrWrong` for what would not be sent."""
    try:
        return _requested_run(config)
    except UnsafeOrWrong as error:
        # Hosts are named by other options here than on the command line of the toolkit.
        text = re.sub(r"(?<=\s)--(?=(?:allow|confirm)-host)", "--crosschain-mock-", str(error))
        raise UnsafeOrWrong(text) from None


def _requested_run(config: pytest.Config) -> RequestedRun:
    named = addresses(config)
    if not named:
        raise UnsafeOrWrong(NO_ADDRESS)
    target = target_of(named.get("url"), v1=named.get("v1_url"), v2=named.get("v2_url"))
    given = settings(config)
    options = with_generation(
        options_of(given), target, edges=_edges(config), examples=_count(given, "examples")
    )
    if "sequences" not in given and target.is_local and is_installed():
        options = replace(options, sequences=USUAL_SEQUENCES)
    contract = load(options.dialect)
    Permit(
        contract,
        target,
        hosts=options.hosts,
        arming=options.arming,
        own_keys=options.caller.own_keys,
    )
    return RequestedRun(target, options, contract, fail_on(config), bool(_given(config, "strict")))


def addresses(config: pytest.Config) -> dict[str, str]:
    """Return the base addresses by option: those of the command line, the ini file, or else of the
    environment, never mixed.
    """
    sources: tuple[Mapping[str, Any], ...] = (
        {name: config.getoption(f"crosschain_mock_{name}") for name in _ADDRESSES},
        {name: config.getini(f"crosschain_mock_{name}") for name in _ADDRESSES},
        {name: os.environ.get(variable) for name, variable in _ENVIRONMENT.items()},
    )
    for source in sources:
        found = {name: str(value) for name, value in source.items() if value}
        if found:
            return found
    return {}


def settings(config: pytest.Config) -> dict[str, object]:
    """Return the options of a run that pytest was given, as keyword arguments of `run`."""
    found: dict[str, object] = {}
    for name in _WHOLE:
        value = _given(config, name)
        if value:
            found[name] = int(value) if str(value).isdecimal() else value
    for name in _TEXTS:
        value = _given(config, name)
        if value:
            found[name] = value
    for name in ("allow_host", "confirm_host"):
        hosts = _given(config, name)
        if hosts:
            found[f"{name}s"] = tuple(hosts)
    if _given(config, "arm_writes"):
        found["arm_writes"] = True
    found |= {name: os.environ[key] for name, key in _SECRETS.items() if os.environ.get(key)}
    return found


def _edges(config: pytest.Config) -> bool | None:
    """Return whether edges are asked for, None where nobody said. Raises `UnsafeOrWrong`."""
    word = str(_given(config, "edges") or "")
    if word not in ("", "yes", "no"):
        raise UnsafeOrWrong(f"edges: expected yes or no, got {word!r}")
    return None if not word else word == "yes"


def _count(given: Mapping[str, object], name: str) -> int | None:
    value = given.get(name)
    return value if isinstance(value, int) else None


def fail_on(config: pytest.Config) -> Verdict:
    """Return the mildest verdict that fails a test. Raises `UnsafeOrWrong`."""
    word = str(_given(config, "fail_on") or "violation")
    if word in FAIL_ON:
        return FAIL_ON[word]
    try:
        found = Verdict(word)
    except ValueError:
        found = Verdict.HOLDS
    if found in FAIL_ON.values():
        return found
    near = did_you_mean(word, sorted(FAIL_ON))
    raise UnsafeOrWrong(f"fail-on: expected one of {', '.join(FAIL_ON)}, got {word!r}{near}")


def _given(config: pytest.Config, name: str) -> Any:
    """Return what the command line says, else the ini file where it may say it."""
    value = config.getoption(f"crosschain_mock_{name}")
    if value:
        return value
    try:
        return config.getini(f"crosschain_mock_{name}")
    except (KeyError, ValueError):
        # What is dangerous has no ini key: it is typed, or it is not meant.
        return None
