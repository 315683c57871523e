"""The options of a run from pytest's options, ini keys and the environment."""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mockserver.conformance.option_table import ADDRESSES, FAILING, RUN, STRICT, WAIT, Option
from mockserver.conformance.options import Options
from mockserver.conformance.runs.option_reading import options_of, value_of, value_of_text
from mockserver.conformance.runs.planner import permit_of
from mockserver.conformance.session.target import Target, UnsafeOrWrong, target_of
from mockserver.conformance.suite.hypothesis_settings import of_hypothesis, stored
from mockserver.conformance.verdict import FAIL_ON, UNREACHED, Verdict
from mockserver.contract import Contract, load
from mockserver.fast_dataclass import dataclass
from mockserver.suggestions import did_you_mean
from mockserver.userfiles import anchored

NO_ADDRESS = (
    "no service is named: give --crosschain-mock-url URL, or --crosschain-mock-v1-url and "
    "--crosschain-mock-v2-url, or the same as ini key or in CROSSCHAIN_MOCK_URL"
)
DEFAULT_SEQUENCES = 1
"""How many sequences a flow gets by default, where the service is on this machine."""


@dataclass(frozen=True, slots=True)
class RequestedRun:
    """A run as pytest's options describe it; `contract` is loaded, for the permit as well."""

    target: Target
    options: Options
    contract: Contract
    fail_on: Verdict
    strict: bool

    @property
    def failing(self) -> tuple[Verdict, ...]:
        return (*self.fail_on.or_worse, *(UNREACHED if self.strict else ()))


def requested_run(config: pytest.Config) -> RequestedRun:
    """Return the run of pytest's options. Raises `UnsafeOrWrong` for what would not be sent."""
    named = addresses(config)
    if not named:
        raise UnsafeOrWrong(NO_ADDRESS)
    try:
        target = target_of(named.get("url"), v1=named.get("v1"), v2=named.get("v2"))
        chosen = {**of_hypothesis(config), **settings(config)}
        options = options_of(chosen, target)
        options = replace(options, probes=(*options.probes, *stored(options.dialect)))
        if "sequences" not in chosen and target.is_local:
            options = replace(options, sequences=DEFAULT_SEQUENCES)
        contract = load(options.dialect)
        permit_of(contract, target, options)
        strict = bool(_set_value(config, STRICT))
        return RequestedRun(target, options, contract, fail_on(config), strict)
    except UnsafeOrWrong as error:
        # In pytest these options have another prefix than on the command line of the toolkit.
        text = re.sub(r"(?<=\s)--(?=allow-host)", "--crosschain-mock-", str(error))
        text = re.sub(r"--set (confirm-host)=", r"--crosschain-mock-\1 ", text)
        raise UnsafeOrWrong(text) from None


def addresses(config: pytest.Config) -> dict[str, str]:
    """Return the base addresses by option: those of the command line, the ini file, or else of the
    environment, never mixed.
    """
    sources: tuple[Mapping[str, Any], ...] = (
        {row.key: config.getoption(f"crosschain_mock_{row.key}") for row in ADDRESSES},
        {row.key: config.getini(f"crosschain_mock_{row.in_form('ini')}") for row in ADDRESSES},
        {row.key: os.environ.get(row.variable) for row in ADDRESSES},
    )
    every = ({name: str(value) for name, value in each.items() if value} for each in sources)
    return next(filter(None, every), {})


def settings(config: pytest.Config) -> dict[str, Any]:
    """Return the options of a run from pytest's options, as keyword arguments of `run`.

    Raises `UnsafeOrWrong` for what cannot be read.
    """
    rows = [row for row in (*RUN, WAIT) if row.in_form("keyword")]
    return {row.key: value for row in rows if (value := _set_value(config, row)) is not None}


def fail_on(config: pytest.Config) -> Verdict:
    """Return the mildest verdict that fails a test. Raises `UnsafeOrWrong`."""
    word = str(_raw(config, FAILING) or FAILING.default)
    words = {**FAIL_ON, **{str(verdict): verdict for verdict in FAIL_ON.values()}}
    if word not in words:
        near = did_you_mean(word, sorted(FAIL_ON))
        raise UnsafeOrWrong(f"fail-on: expected one of {', '.join(FAIL_ON)}, got {word!r}{near}")
    return words[word]


def _set_value(config: pytest.Config, row: Option) -> Any:
    """Return the value of an option, None where it is not set. Raises `UnsafeOrWrong`."""
    raw = _raw(config, row)
    if not raw:
        return None
    return value_of_text(row, raw) if isinstance(raw, str) else value_of(row, raw)


def _raw(config: pytest.Config, row: Option) -> Any:
    """Return the value of the command line, else the ini file, else the environment variable."""
    value = config.getoption(f"crosschain_mock_{row.key}") if row.in_form("pytest") else None
    folder: Path | None = config.invocation_params.dir
    if not value and row.in_form("ini"):
        value = config.getini(f"crosschain_mock_{row.in_form('ini')}")
        folder = config.inipath and config.inipath.parent
    if value and folder and row.kind == "file":
        # Relative to where it was written: tests and pytest may work in another folder.
        return anchored(value, folder)
    return value or os.environ.get(row.variable)
