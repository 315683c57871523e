"""Dialects are patches on the data; each erratum can be applied alone, and all together."""

import pytest

from mockserver.contract import UnknownDialect, load

ERRATA = [erratum.id for erratum in load().errata]


@pytest.mark.parametrize("erratum", ERRATA)
def test_every_erratum_applies_alone(erratum):
    contract = load(erratum)
    assert contract.dialect.errata == (erratum,)
    assert {one.id for one in load()} <= {one.id for one in contract}


def test_the_observed_dialect_is_all_of_them():
    assert load("observed").dialect.errata == tuple(ERRATA)
    assert load("documented").dialect.errata == ()


def test_errata_are_applied_in_the_order_of_the_register():
    assert load(f"{ERRATA[2]}, {ERRATA[0]}").dialect.errata == (ERRATA[0], ERRATA[2])


@pytest.mark.parametrize("spec", ["", "klingon", "E-01,E-99"])
def test_an_unknown_dialect_is_named_with_what_there_is(spec):
    with pytest.raises(UnknownDialect, match=r"'documented', 'observed', or errata such as"):
        load(spec)


@pytest.mark.parametrize("spec", ["OBSERVED", "obsrved"])
def test_a_misspelt_dialect_is_told_the_nearest_one(spec):
    with pytest.raises(UnknownDialect, match="did you mean 'observed'"):
        load(spec)


def test_applying_a_dialect_leaves_the_documents_alone():
    contract = load()
    before = [operation.id for operation in contract.source.contract("documented")]
    contract.source.contract("observed")
    assert [operation.id for operation in contract.source.contract("documented")] == before
