"""The shipped contract against itself, its documents and its dialects; folders of our form."""

import json
import shutil

import pytest
import yaml

from mockserver import jsontext, resources
from mockserver.contract import load
from mockserver.contract.diff import Level, compare, read_side
from mockserver.contract.openapi import document
from mockserver.errors import CrosschainMockError
from tests.diff.conftest import brief

DOCUMENTS = sorted(
    path for path in (resources.schemas().parent / "docs/reference").glob("openapi-*.json")
)
SHIPPED = ["documented", "observed", *(one.id for one in load().errata)]


def between(old, new):
    return compare(read_side(str(old)), read_side(str(new)))


@pytest.mark.parametrize("name", [*SHIPPED, resources.schemas(), *DOCUMENTS], ids=str)
def test_nothing_differs_from_itself(name):
    assert between(name, name).changes == ()


def test_there_are_documents():
    assert len(DOCUMENTS) >= 5


@pytest.mark.parametrize("dialect", ["documented", "observed"])
@pytest.mark.parametrize("generation", ["v1", "v2", None])
def test_a_folder_promises_what_its_own_document_does(tmp_path, dialect, generation):
    path = tmp_path / "api.json"
    found = document(load(dialect), generation, version="1")
    path.write_bytes(jsontext.encode(found))
    forth, back = between(dialect, path), between(path, dialect)
    other = {"v1": "v2.", "v2": "v1."}.get(generation, "-")
    for comparison in (forth, back):
        changes = [one for one in comparison.changes if not one.operation.startswith(other)]
        assert changes == []
        assert len(comparison.changes) == 0 or generation is not None


def test_a_document_may_be_yaml(tmp_path):
    path = tmp_path / "api.yaml"
    found = json.loads(jsontext.encode(document(load(), "v2", version="1")))
    path.write_text(yaml.safe_dump(found, sort_keys=False))
    original = tmp_path / "api.json"
    original.write_text(json.dumps(found))
    assert between(original, path).changes == ()


def test_lifted_refusals_have_another_status(tmp_path):
    paths = [tmp_path / "plain.json", tmp_path / "lifted.json"]
    for path, lifted in zip(paths, (False, True), strict=True):
        path.write_bytes(jsontext.encode(document(load(), "v2", version="1", lifted=lifted)))
    assert [brief(change) for change in between(*paths).changes] == [
        ("breaking", "refusal-status", "refusal.status")
    ]


def test_what_the_field_does_otherwise_than_the_description():
    found = between("documented", "observed")
    broken = {(change.operation, change.kind, change.place) for change in found.of(Level.BREAKING)}
    assert broken >= {
        ("v1.*", "success-code", "code"),
        ("v1.getSupportTokens", "input-moved", "query.chain"),
        ("v1.submitCrossChain", "input-renamed", "body.evmAddress"),
        ("v1.submitCrossChain", "type", "body.fromAddress"),
        ("v2.getAggregateQuote", "required", "data.minOutAmount"),
        ("v2.getPrice", "type", "data.updateTime"),
    }
    harmless = {(change.operation, change.kind) for change in found.of(Level.HARMLESS)}
    assert ("v2.getVaultAddress", "operation-added") in harmless
    assert ("v2.submitOrder", "forms") in harmless
    assert ("*", "unknown-names") in harmless
    assert all(change.basis and change.why for change in found.changes)


ERRATA = [
    erratum.id
    for erratum in load().errata
    if any("/example" not in change["path"] for change in erratum.changes)
]


@pytest.mark.parametrize("erratum", ERRATA)
def test_every_erratum_that_changes_something_is_noticed_both_ways(erratum):
    forth, back = between("documented", erratum), between(erratum, "documented")
    assert forth.changes
    assert back.changes


@pytest.fixture
def folder(tmp_path):
    """Return a copy of the shipped contract that may be edited."""
    return shutil.copytree(resources.schemas(), tmp_path / "schemas")


def edit(folder, name, old, new):
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def found(folder):
    forth = between("documented", folder)
    back = between(folder, "documented")
    return [
        [(one.operation, *brief(one)) for one in comparison.changes if not one.text_only]
        for comparison in (forth, back)
    ]


def test_a_folder_has_effects(folder):
    edit(folder, "endpoints.yaml", "effect: read", "effect: write")
    assert found(folder) == [
        [("v1.getSupportChains", "breaking", "effect", "")],
        [("v1.getSupportChains", "harmless", "effect", "")],
    ]


def test_a_folder_has_authentication(folder):
    edit(folder, "endpoints.yaml", "auth: none", "auth: developer-key")
    assert found(folder) == [
        [("v1.getSupportChains", "breaking", "auth", "")],
        [("v1.getSupportChains", "harmless", "auth", "")],
    ]


def test_a_folder_has_refusals(folder):
    row = "  - name: new-one\n    meaning: m\n    http: 200\n"
    for generation in ("v1", "v2"):
        status = ", status: 1" if generation == "v1" else ""
        basis = "basis: observed, source: ESS1"
        row += f'    {generation}: {{code: 77, msg: "m"{status}, {basis}}}\n'
    edit(folder, "refusals.yaml", "refusals:\n", f"refusals:\n{row}")
    forth, back = found(folder)
    assert forth == [
        (f"{one}.*", "may-break", "refusal-added", "refusal new-one") for one in ("v1", "v2")
    ]
    assert back == [
        (f"{one}.*", "harmless", "refusal-removed", "refusal new-one") for one in ("v1", "v2")
    ]


def test_the_code_of_a_refusal_that_was_seen_breaks_and_an_assumed_one_may(folder):
    seen = 'code: 31010, msg: "Validation failed!", status: 1, basis: observed'
    edit(folder, "refusals.yaml", seen, seen.replace("31010", "31011"))
    assert found(folder)[0] == [("v1.*", "breaking", "refusal-code", "refusal missing-header")]
    edit(folder, "refusals.yaml", seen.replace("31010", "31011"), seen)
    edit(folder, "refusals.yaml", seen, seen)
    edit(
        folder, "refusals.yaml", 'code: 3, msg: "missing header"', 'code: 4, msg: "missing header"'
    )
    assert found(folder)[0] == [("v2.*", "may-break", "refusal-code", "refusal missing-header")]


def test_the_http_status_of_a_refusal(folder):
    edit(folder, "refusals.yaml", "http: 413", "http: 400")
    assert [one[2] for one in found(folder)[0]] == ["refusal-http", "refusal-http"]


def test_what_becomes_of_unknown_names(folder):
    edit(folder, "endpoints.yaml", "unknown_names: refused", "unknown_names: ignored")
    forth, back = found(folder)
    assert ("*", "harmless", "unknown-names", "names that no operation declares") in forth
    assert ("*", "may-break", "unknown-names", "names that no operation declares") in back


def test_the_words_of_a_success(folder):
    edit(
        folder, "endpoints.yaml", "success: {code: 0, msg: success}", "success: {code: 0, msg: ok}"
    )
    assert found(folder)[0] == [("v2.*", "may-break", "success", "success msg")]


def test_a_folder_is_read_in_a_dialect(folder):
    plain, dialect = read_side(str(folder)), read_side(str(folder), "E-01")
    assert [brief(one) for one in compare(plain, dialect).changes if not one.text_only] == [
        ("breaking", "success-code", "code")
    ]


BROKEN = {
    "a table that is none": (
        "endpoints.yaml",
        "\noperations:\n",
        "\noperation:\n",
        "operations: missing",
    ),
    "a lost schema": (
        "endpoints.yaml",
        "data: v1/getSupportChains.data.json",
        "data: v1/nowhere.data.json",
        "operations[0].data: there is no file 'v1/nowhere.data.json'",
    ),
    "a lost envelope": (
        "endpoints.yaml",
        "envelope: v1/envelope.json",
        "envelope: v1/none.json",
        "generations.v1.envelope: expected a file such as",
    ),
    "a lost reference": (
        "v1/getSupportTokens.request.json",
        "../common/chain-name.json",
        "../common/chain.json",
        "the reference '../common/chain.json' leads nowhere",
    ),
    "a circle": (
        "common/smallest-units.json",
        '"type": "string",',
        '"$ref": "smallest-units.json",',
        "leads back to the file itself",
    ),
    "a bad keyword": (
        "common/smallest-units.json",
        '"type": "string"',
        '"type": "text"',
        "smallest-units.json: type: expected one of array",
    ),
    "no JSON": ("common/smallest-units.json", '"type": "string",', '"type" "string",', "not JSON"),
    "a bad refusal": (
        "refusals.yaml",
        "http: 400",
        "http: soon",
        "refusals.yaml:9: refusals[0].http",
    ),
}


@pytest.mark.parametrize(("name", "old", "new", "words"), BROKEN.values(), ids=list(BROKEN))
def test_a_broken_folder_is_told_with_file_and_place(folder, name, old, new, words):
    edit(folder, name, old, new)
    with pytest.raises(CrosschainMockError) as caught:
        read_side(str(folder))
    assert words in str(caught.value)
    assert name in str(caught.value)


def test_an_erratum_that_does_not_fit_the_folder_is_told(folder):
    edit(
        folder, "errata.yaml", "path: /generations/v1/success/code", "path: /generations/v9/x/code"
    )
    with pytest.raises(CrosschainMockError, match=r"errata.yaml: errata: E-01"):
        read_side(str(folder), "observed")
    read_side(str(folder))


def test_a_dialect_that_the_folder_does_not_have_is_told(folder):
    with pytest.raises(CrosschainMockError, match="unknown dialect 'klingon'"):
        read_side(str(folder), "klingon")
