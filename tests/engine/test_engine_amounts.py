"""Amounts are exact, and every rounding goes the way its name says."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockserver.engine import amounts
from mockserver.engine.refusal import REFUSALS, Refusal, nearest_names, unknown
from mockserver.jsontext import plain

UNITS = st.integers(0, 10**77)
DECIMALS = st.integers(0, 36)


@settings(deadline=None)
@given(UNITS, DECIMALS, DECIMALS)
def test_rescaling_rounds_down(units: int, source: int, target: int) -> None:
    exact = Fraction(units) * Fraction(10) ** (target - source)
    assert amounts.rescale_floor(units, source, target) == amounts.floor(exact)


@settings(deadline=None)
@given(st.integers(1, amounts.MAX_UNITS), DECIMALS)
def test_whole_tokens_and_smallest_units_are_the_same_amount(units: int, decimals: int) -> None:
    whole = amounts.whole_tokens(units, decimals)
    assert amounts.units_exact(whole, decimals) == units
    assert amounts.units_exact(Decimal(plain(whole)), decimals) == units


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("0", "amount-not-positive"),
        ("-1", "amount-not-positive"),
        ("NaN", "amount-not-positive"),
        ("Infinity", "amount-not-positive"),
        ("0.0000001", "amount-too-precise"),
        ("1.0000001", "amount-too-precise"),
        ("1E-999999", "amount-too-precise"),
        ("1E+400", "amount-too-large"),
        ("1E+999999", "amount-too-large"),
        ("1" + "0" * 5000, "amount-too-large"),
        ("9" * 72, "amount-too-large"),
    ],
)
def test_amounts_nobody_may_send_are_refused(text: str, name: str) -> None:
    with pytest.raises(Refusal) as caught:
        amounts.units_exact(Decimal(text), 6)
    assert caught.value.name == name
    assert caught.value.about == "amount"


@pytest.mark.parametrize(
    ("text", "units"),
    [("10", 10**7), ("1E1", 10**7), ("0.000001", 1), ("1.500000000", 1_500_000), ("00.5", 500_000)],
)
def test_amounts_are_read_exactly(text: str, units: int) -> None:
    assert amounts.units_exact(Decimal(text), 6) == units


def test_units_of_more_than_77_digits_are_refused() -> None:
    assert amounts.checked_units(10**77 - 1) == 10**77 - 1
    for units, name in (
        (10**77, "amount-too-large"),
        (10**9999, "amount-too-large"),
        (0, "amount-not-positive"),
        (-(10**9999), "amount-not-positive"),
    ):
        with pytest.raises(Refusal) as caught:
            amounts.checked_units(units)
        assert caught.value.name == name


def test_usd_is_written_with_a_fixed_number_of_decimals() -> None:
    assert amounts.fixed(Fraction(10), 18) == "10.000000000000000000"
    assert amounts.fixed(Fraction(1, 3), 4) == "0.3333"
    assert amounts.fixed(Fraction(-1, 3), 4) == "-0.3333"
    assert amounts.fixed(Fraction(7, 2), 0) == "3"


@settings(deadline=None)
@given(st.integers(1, amounts.MAX_UNITS))
def test_the_least_integer_that_meets_a_condition_is_found(bound: int) -> None:
    assert amounts.least(lambda number: number >= bound) == bound
    assert amounts.least(lambda number: False) is None


def test_a_refusal_has_a_registered_name() -> None:
    assert Refusal("no-route", "why").reason == "why"
    with pytest.raises(KeyError):
        Refusal("no-such-name", "why")
    assert all(name == name.lower() for name in REFUSALS)


def test_an_unknown_name_comes_with_the_nearest_ones() -> None:
    assert nearest_names("usdt", ["USDC", "USDT", "FSN"])[0] == "USDT"
    assert nearest_names("zzz", ["USDC"]) == ()
    assert nearest_names("x" * 10_000, ["USDC"]) == ()
    refusal = unknown("unknown-token", "token", "USDTT", ["USDT", "FSN"])
    assert refusal.reason == "token 'USDTT' is not known; did you mean 'USDT'"
    refusal = unknown("unknown-token", "token", "?", [f"T{n}" for n in range(9)])
    assert "known are 'T0'" in refusal.reason
    assert refusal.reason.endswith("and others")


def test_near_names_are_sought_once_somebody_reads_them() -> None:
    sought: list[str] = []

    def known() -> Iterator[str]:
        sought.append("USDT")
        yield "USDT"

    refusal = unknown("unknown-token", "token", "USDTT", known())
    assert refusal.name == "unknown-token"
    assert not sought
    assert refusal.nearest == ("USDT",) == refusal.nearest
    assert str(refusal) == "token 'USDTT' is not known; did you mean 'USDT'"
    assert sought == ["USDT"]
