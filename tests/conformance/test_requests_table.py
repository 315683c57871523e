"""The table of other and wrong requests: a new one is a row, and a wrong row is told of."""

from pathlib import Path

import pytest

from mockserver import contract, documents, resources
from mockserver.conformance.requests.alternative_forms import CONTRASTS, AlternativeForm, forms_of
from mockserver.conformance.requests.negative import Kind
from mockserver.conformance.requests.wrong_values import WrongValues
from mockserver.contract import BasisKind
from mockserver.errors import InvalidFile

TABLE = resources.schemas() / "requests.yaml"
FORM = (
    '  - {of: v2.getPrice/usual, words: "other form: a long symbol", input: query.symbol,'
    " with: a symbol of another token, fact: v2.get-price, send: LONG}\n"
)
MISTAKE = (
    "  of spaces: {words: of spaces, kind: form, says: nothing but blanks, put: ' ',"
    " by: A-213, assumes: is more than blanks}\n"
)


def _with(folder: Path, *changes: tuple[str, str]) -> Path:
    text = TABLE.read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    copy = folder / "requests.yaml"
    copy.write_text(text, "utf-8")
    return copy


def _read(table: Path) -> tuple[tuple[AlternativeForm, ...], WrongValues]:
    document = documents.read(table, "requests")
    return forms_of(document), WrongValues(document)


def test_a_form_more_is_a_row(tmp_path):
    (added, *others), _ = _read(_with(tmp_path, ("forms:\n", f"forms:\n{FORM}")))
    assert (added.probe, added.place) == ("v2.getPrice/other form: a long symbol", "query.symbol")
    assert added.basis.kind is BasisKind.DOCUMENTED
    assert [one.probe for one in others] == [one.probe for one in CONTRASTS]


def test_a_wrong_value_more_is_a_name_and_a_row_where_it_is_new(tmp_path):
    table = _with(
        tmp_path,
        ("mistakes:\n", f"mistakes:\n{MISTAKE}"),
        ("  v2.getPrice: {", "  v2.getPrice: {symbol: [of spaces], "),
    )
    _, values = _read(table)
    operation = contract.load().operation("v2.getPrice")
    added = next(one for one in values.of(operation) if one.place == "query.symbol")
    assert (added.words, added.told) == ("symbol of spaces", "nothing but blanks")
    assert str(added.basis).endswith("A-213")
    assert "v2.getPrice/symbol of spaces" in values.probes_with_a(Kind.FORM)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("change: no summary", "change: no sumary", "'no sumary' is none of with summary"),
        ("fact: v1.raw.amount", "fact: v1.raw.amounts", "v1.raw.amounts"),
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
