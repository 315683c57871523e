"""Every break and control: seen where it says, and nowhere else."""

from collections import Counter

import pytest

from mockserver.contract import BasisKind, Layer, Verdict
from mockserver.contract.facts import shipped_facts
from mockserver.mock_headers import REFUSAL_HEADER
from mockserver.responders.breaks.catalogue import BREAKS, CATALOGUE
from tests.breaks.conftest import CONTRACT, different, service, touches

REAL = [one for one in BREAKS if not one.control]
CONTROLS = [one for one in BREAKS if one.control]


def test_the_script_reaches_every_operation_with_a_success(healthy):
    good = {
        told.operation for told in healthy if told.delivery.response.header(REFUSAL_HEADER) is None
    }
    assert good >= {operation.id for operation in CONTRACT}


@pytest.mark.parametrize("name", CATALOGUE)
def test_it_shows_where_it_says_and_nowhere_else(name):
    one = CATALOGUE[name]
    shared = service()
    before = len(shared.failures)
    context = {"reads": False, "writes": False}
    for told, _ in different(name):
        assert touches(one, told.path), f"{told.path} answers differently"
        assert told.entry.fault == f"break ({name})"
        assert not any("break" in key.lower() for key, _ in told.delivery.response.headers)
        context["writes" if told.step.writes else "reads"] = True
    assert shared.failures[before:] == []
    assert any(context.values()), "no answer differs"
    if not one.needs_writes:
        assert context["reads"], "only a submission shows it"


def test_each_operation_that_a_break_names_is_touched():
    silent = []
    # Which answers wait is a matter of turns, and the script is short.
    for one in BREAKS:
        if one.name == "now-and-then-late":
            continue
        changed = {told.operation for told, _ in different(one.name)}
        silent += [(one.name, operation) for operation in set(one.operations) - changed]
    # These learn from a submission what they tell later, and leave its answer alone.
    assert sorted(silent) == [
        ("order-begins-anew", "v2.submitOrder"),
        ("order-of-swap-pays-less", "v2.submitOrder"),
        ("refused-tickets-kept", "v2.submitTicket"),
        ("v1-order-for-anyone", "v1.submitCrossChain"),
        ("v1-order-found-by-its-beginning", "v1.submitCrossChain"),
        ("v1-order-on-any-chain", "v1.submitCrossChain"),
        ("v1-unknown-is-shown", "v1.submitCrossChain"),
    ]


def test_names_are_unique_and_tell_what_they_are():
    assert len(CATALOGUE) == len(BREAKS)
    assert all(name == one.name for name, one in CATALOGUE.items())
    assert all(one.control == one.name.startswith("allowed-") for one in BREAKS)
    assert all(one.summary and one.section and one.operations for one in BREAKS)
    assert all(one.verdict is not None for one in REAL)
    assert all(one.because for one in CONTROLS)
    assert not any(one.verdict is Verdict.VIOLATION for one in CONTROLS)


def test_there_are_enough_of_every_layer_for_every_operation():
    layers = Counter(one.layer for one in REAL)
    least = dict.fromkeys(Layer, 14) | {Layer.GENERATION: 8, Layer.TIMING: 4}
    assert {layer: layers[layer] >= least[layer] for layer in Layer} == dict.fromkeys(Layer, True)
    assert len(CONTROLS) >= 16
    assert {name for one in REAL for name in one.operations} == {
        operation.id for operation in CONTRACT
    }


def test_three_quarters_show_with_reading_alone():
    assert sum(not one.needs_writes for one in REAL) >= len(REAL) * 3 / 4


def test_a_break_names_a_fact_and_is_called_what_contradicts_it():
    register = shipped_facts()
    for one in BREAKS:
        basis = register.fact(one.fact).basis
        assert one.section == basis.reference, one.name
        differs = (Verdict.DIFFERS_OBSERVED, Verdict.DIFFERS_ASSUMPTION)
        if not one.control and one.verdict in differs:
            assert basis.kind is not BasisKind.DOCUMENTED, one.name


def test_what_is_not_documented_has_a_source_that_exists():
    """A cite key of the schemas or the errata, or a registered assumption."""
    known = {one.id for one in CONTRACT.assumptions}
    known |= {source for row in CONTRACT for source in _sources(row.data_schema)}
    known |= {source for erratum in CONTRACT.errata for source in erratum.source}
    assert [one.id for one in shipped_facts().evidence if one.source not in known] == []


def _sources(schema):
    """Yield the cite keys of a schema."""
    if isinstance(schema, dict):
        yield schema.get("x-source")
        for inner in schema.values():
            yield from _sources(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _sources(inner)
