"""The tables of requests: a new one is a row, and a wrong row is told of with its line."""

from pathlib import Path
from typing import Any

import pytest

from mockserver import contract, file_formats, resources
from mockserver.conformance.requests.alternative_forms import (
    ALTERNATIVES,
    AlternativeForm,
    forms_of,
)
from mockserver.conformance.requests.negative import WrongValues
from mockserver.conformance.requests.probe import Stage
from mockserver.conformance.requests.probe_labels import FILTERS, LISTED, NAMED, SAMPLES
from mockserver.conformance.requests.probe_table import PLANNED, read
from mockserver.conformance.requests.variations import MistakeKind, filled, variations_of
from mockserver.conformance.session.caller import MOST_TICKETS
from mockserver.conformance.session.list_probes import FIRST_LIST_PROBES
from mockserver.contract import BasisKind
from mockserver.errors import InvalidFile

TABLE = resources.schemas() / "requests.yaml"
PLAN = resources.schemas() / "probes.yaml"
FORM = (
    '  - {of: [v2.getPrice/usual], words: "other form: a long symbol", input: query.symbol,'
    " with: a symbol of another token, send: LONG}\n"
)
MISTAKE = (
    "  of spaces: {words: of spaces, kind: form, says: nothing but blanks, put: ' ',"
    " fact: inputs.listed}\n"
)


def _with(folder: Path, *changes: tuple[str, str], table: Path = TABLE) -> Path:
    text = table.read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    copy = folder / table.name
    copy.write_text(text, "utf-8")
    return copy


def _read(table: Path) -> tuple[tuple[AlternativeForm, ...], WrongValues]:
    document = file_formats.read(table, "requests")
    return forms_of(document), WrongValues(document)


def test_a_form_more_is_a_row(tmp_path):
    (added, *others), _ = _read(_with(tmp_path, ("forms:\n", f"forms:\n{FORM}")))
    assert (added.probe, added.place) == ("v2.getPrice/other form: a long symbol", "query.symbol")
    assert added.basis.kind is BasisKind.DOCUMENTED
    assert [one.probe for one in others] == [one.probe for one in ALTERNATIVES]


def test_an_edge_more_is_a_row(tmp_path):
    row = '  many blanks: {words: "of {length} blanks around {0}", put: " {} ", edges: [symbol]}\n'
    table = _with(tmp_path, ("\nvalues:\n", f"\nvalues:\n{row}"))
    added = variations_of(file_formats.read(table, "requests"))["many blanks"]
    no_run: Any = None
    assert list(added.values("USDT", no_run)) == [("of 3 blanks around  N ", " USDT ")]
    assert added.edges == frozenset({"symbol"})
    assert not added.right
    assert added.kind is None


@pytest.mark.parametrize(
    ("put", "right", "value"),
    [
        ("-{}", 5, "-5"),
        ("{:x<6.6}", "abc", "abcxxx"),
        ("{:.2}", "abc", "ab"),
        ("${j}{", 1, "${j}{"),
    ],
)
def test_the_right_value_fills_the_slots_of_a_row(put, right, value):
    assert filled(put, right) == value
    assert filled(7, right) == 7


def test_a_wrong_value_more_is_a_name_and_a_row_where_it_is_new(tmp_path):
    table = _with(
        tmp_path,
        ("\nvalues:\n", f"\nvalues:\n{MISTAKE}"),
        ("  v2.getPrice: {", "  v2.getPrice: {symbol: [of spaces], "),
    )
    _, values = _read(table)
    operation = contract.load().operation("v2.getPrice")
    added = next(one for one in values.of(operation) if one.place == "query.symbol")
    assert (added.words, added.problem) == ("symbol of spaces", "nothing but blanks")
    assert str(added.basis).endswith("A-213")
    assert "v2.getPrice/symbol of spaces" in values.probes_with_a(MistakeKind.FORM)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("change: with summary", "change: with sumary", "'with sumary' is none of with summary"),
        ("input: query.slippage", "input: query.slipage", "'query.slipage' is none of"),
        ("edges: [slippage]", "edges: [slipage]", "'slipage' is none of"),
        ("fact: inputs.recipient", "fact: inputs.receiver", "inputs.receiver"),
        ("value: zero", "value: nought", "'nought' is none of"),
        ("amount: [zero]", "amount: [nought]", "'nought' is none of"),
        ('send: "3600"', 'put: "3600"', "either change or send"),
    ],
)
def test_a_wrong_name_is_told_with_its_line(tmp_path, old, new, told):
    number = TABLE.read_text("utf-8").partition(old)[0].count("\n") + 1
    with pytest.raises(InvalidFile) as raised:
        _read(_with(tmp_path, (old, new)))
    (problem, *_) = raised.value.problems
    assert told in str(problem)
    assert problem.line is not None
    assert number - 3 <= problem.line <= number


PROBE = """  - stage: reads
    each: samples
    rows:
      "v2.getPrice/{} by day": {of: {asset: sampled_token}, after: [lists], conditional: true}
"""


def _plan(folder: Path, old: str, new: str):
    copy = _with(folder, (old, new), table=PLAN)
    return list(read(file_formats.read(copy, "probes")))


def test_a_probe_more_is_a_row(tmp_path):
    last = "      v2.checkTicket/unknown: {}\n"
    probes = _plan(tmp_path, last, f"{last}{PROBE}")
    added = [one for one in probes if one.name not in {one.name for one in PLANNED}]
    assert [one.name for one in added] == [f"v2.getPrice/{one} by day" for one in SAMPLES]
    assert all(one.stage is Stage.READS and one.conditional for one in added)
    assert added[0].after == FIRST_LIST_PROBES[:2] + FIRST_LIST_PROBES[2:4]
    assert len(probes) == len(PLANNED) + 2


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{chain: second_chain}", "{chain: third_chain}", "'third_chain' is no function"),
        ("each: statuses", "each: status", "'status' is none of"),
        ("after: [lists, swap quotes]}", "after: [lists, swaps]}", "'swaps' is neither a set"),
        ("awaits: tickets", "awaits: ticket", "orders or tickets"),
    ],
)
def test_a_wrong_row_of_the_plan_is_told_with_its_line(tmp_path, old, new, told):
    number = PLAN.read_text("utf-8").partition(old)[0].count("\n") + 1
    with pytest.raises(InvalidFile) as raised:
        _plan(tmp_path, old, new)
    (problem,) = raised.value.problems
    assert told in str(problem)
    assert problem.line is not None
    assert number - 2 <= problem.line <= number


def test_what_rules_look_for_by_name_is_planned():
    names = {one.name for one in PLANNED}
    assert len(LISTED) == MOST_TICKETS
    wanted = {
        *FIRST_LIST_PROBES,
        *(f"v2.checkOrder/{name}" for name in NAMED),
        *(f"v2.checkTicket/{name}" for name in LISTED),
        *(f"v2.getAllTicketByAddress/read {name}" for name in FILTERS),
        *(f"v2.getBridgeQuote/{name}" for name in SAMPLES),
    }
    assert wanted <= names
