"""The contract's files: well-formed, whole, and honest about where each fact comes from."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mockserver import file_formats, limits, resources
from mockserver.contract.load import ContractSource
from mockserver.errors import InvalidFile
from mockserver.http_messages import Headers, Request
from mockserver.jsontext import encode
from mockserver.server.control.route_table import ROWS
from mockserver.validation import SchemaCheck

Node = Mapping[str, Any]
Place = tuple[str | int, ...]

ROOT = resources.schemas()
REGISTERS = ("endpoints", "refusals", "assumptions", "errata")
CITES = frozenset(
    [
        "OAE",
        "CSE",
        "SDK2",
        "DEMO",
        "DR",
        "GB-v1",
        "GB-sig",
        "GB2",
        "GB2-quote",
        "GB2-swap",
        "GB2-order",
        "GB2-kas",
        "GB2-ticket",
        "GB2-earn",
        "GB-knot",
        "ESS1",
        "ESS2",
        "ESSAPI",
        "RUB",
        "GHOST",
        "KASW",
        "KATP",
        "DAO",
        "SOL",
        "DL",
        "KF",
    ]
)
# What the description states of a value is its type and its names; every other limit needs a basis
# of its own or a section that states it.
PLAIN = frozenset(
    [
        "$schema",
        "$ref",
        "title",
        "description",
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "allOf",
        "if",
        "then",
        "default",
        "x-name",
        "x-section",
        "x-role",
        "x-reading",
        "x-once",
        "x-expects",
    ]
)


@cache
def _documents() -> dict[str, Any]:
    return {
        path.relative_to(ROOT).as_posix(): json.loads(path.read_text("utf-8"))
        for path in sorted(ROOT.rglob("*.json"))
    }


@cache
def _source() -> ContractSource:
    return ContractSource(ROOT)


def _schemas() -> dict[str, Any]:
    # What is not of the contract has no basis in it: our own formats, and those of other tools.
    others = ("meta/", "foreign/")
    return {name: schema for name, schema in _documents().items() if not name.startswith(others)}


@cache
def _register(name: str) -> Any:
    return file_formats.read(ROOT / f"{name}.yaml", name).value


def _nodes(value: Any, place: Place = ()) -> Iterator[tuple[Place, Node]]:
    if isinstance(value, Mapping):
        yield place, value
        for key, child in value.items():
            yield from _nodes(child, (*place, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _nodes(child, (*place, index))


def _in_schema(schema: Node, place: Place = (), basis: Any = None) -> Iterator[Any]:
    """Yield (place, subschema, inherited basis) for each subschema, and for nothing else."""
    yield place, schema, basis
    inner = schema.get("x-basis", basis)
    for key in ("items", "additionalProperties", "if", "then", "not"):
        if isinstance(schema.get(key), Mapping):
            yield from _in_schema(schema[key], (*place, key), inner)
    for name, child in schema.get("properties", {}).items():
        yield from _in_schema(child, (*place, "properties", name), inner)
    for key in ("allOf", "anyOf"):
        for index, child in enumerate(schema.get(key, ())):
            yield from _in_schema(child, (*place, key, index), inner)


def _misplaced(schema: Node) -> Iterator[str]:
    """Yield each place where facts of different bases share a node.

    The rule: below documented facts another basis begins only at the root of a file or at a branch
    of `allOf`; and a documented node holds no other limits than `PLAIN` ones, unless it names the
    section that states them.
    """
    for place, node, inherited in _in_schema(schema):
        begins = "x-basis" in node and inherited is None
        if begins and place and place[-2:-1] != ("allOf",):
            yield f"{place}: a basis beside documented facts"
        documented = inherited is None and "x-basis" not in node
        if documented and not (place and "x-section" in node) and set(node) - PLAIN:
            yield f"{place}: {sorted(set(node) - PLAIN)} without a basis"


def _bad_basis(node: Node) -> str | None:
    match node.get("x-basis"):
        case None:
            return "cites without a basis" if {"x-source", "x-assumption"} & set(node) else None
        case "observed" if node.get("x-source") in CITES and "x-assumption" not in node:
            return None
        case "assumed" if re.fullmatch(r"A-\d{3}", str(node.get("x-assumption"))):
            return None if "x-source" not in node else "assumed and cited"
        case basis:
            return f"basis {basis!r} without its evidence"


@pytest.mark.parametrize("name", sorted(_documents()))
def test_every_file_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(_documents()[name])


@pytest.mark.parametrize("name", REGISTERS)
def test_every_register_keeps_its_format(name: str) -> None:
    assert _register(name)["format"] == f"crosschain-mock/{name}@1"


def test_every_schema_file_is_used() -> None:
    table, errata = _register("endpoints"), _register("errata")
    used = {row["envelope"] for row in table["generations"].values()}
    for _, node in _nodes([table["operations"], errata]):
        used |= {node[key] for key in ("request", "data") if key in node and "operationId" in node}
        if "$ref" in node:
            used.add(PurePosixPath(node["$ref"]).as_posix().removeprefix("../"))
    for name, schema in _schemas().items():
        for _, node in _nodes(schema):
            if isinstance(node.get("$ref"), str):
                target = (ROOT / name).parent / node["$ref"]
                used.add(target.resolve().relative_to(ROOT.resolve()).as_posix())
    assert used == set(_schemas())


def test_there_are_six_and_thirteen_operations() -> None:
    rows = _register("endpoints")["operations"]
    assert [row["generation"] for row in rows] == ["v1"] * 6 + ["v2"] * 13
    assert all(row["id"] == f"{row['generation']}.{row['operationId']}" for row in rows)
    assert len({(row["path"], row["method"]) for row in rows}) == len(rows)


@pytest.mark.parametrize("name", sorted(_schemas()))
def test_each_basis_is_well_formed_and_stands_apart(name: str) -> None:
    schema = _schemas()[name]
    assert [bad for _, node in _nodes(schema) if (bad := _bad_basis(node))] == []
    assert list(_misplaced(schema)) == []


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "string", "pattern": "^0x"}, "without a basis"),
        ({"properties": {"a": {"type": "string", "x-basis": "observed"}}}, "beside documented"),
        ({"type": "object", "additionalProperties": False}, "without a basis"),
    ],
)
def test_mixed_bases_are_noticed(schema: Node, says: str) -> None:
    assert says in " ".join(_misplaced(schema))


@pytest.mark.parametrize(
    "node",
    [
        {"x-basis": "observed"},
        {"x-basis": "observed", "x-source": "NOWHERE"},
        {"x-basis": "assumed", "x-source": "DEMO"},
        {"x-basis": "guessed"},
        {"x-source": "DEMO"},
    ],
)
def test_an_ill_formed_basis_is_noticed(node: Node) -> None:
    assert _bad_basis(node) is not None


def test_changes_of_errata_are_observed_or_assumed() -> None:
    errata = _register("errata")["errata"]
    assert [bad for _, node in _nodes(errata) if (bad := _bad_basis(node))] == []
    assert {cite for row in errata for cite in row["source"]} <= CITES


def _cited() -> set[str]:
    """Return the assumptions that the contract, the code and the fixtures name."""
    package = Path(file_formats.__file__).parent
    folders = ((ROOT, "*.json"), (ROOT, "*.yaml"), (package, "*.py"), (resources.fixtures(), "*"))
    files = [path for folder, pattern in folders for path in folder.rglob(pattern)]
    texts = [
        path.read_text("utf-8")
        for path in files
        if path.suffix in (".json", ".yaml", ".py")
        if path.name != "assumptions.yaml" and path.parent != ROOT / "meta"
    ]
    return {found for text in texts for found in re.findall(r"\bA-\d{3}\b", text)}


def test_assumptions_are_registered_and_used() -> None:
    registered = [row["id"] for row in _register("assumptions")["assumptions"]]
    assert len(registered) == len(set(registered))
    assert sorted(_cited() - set(registered)) == []
    assert sorted(set(registered) - _cited()) == []


def test_every_limit_is_put_in_words() -> None:
    limits = {"pattern", "minimum", "maximum", "exclusiveMinimum", "maxLength", "anyOf"}
    silent = [
        f"{name}: {place}"
        for name, schema in _schemas().items()
        for place, node, _ in _in_schema(schema)
        if limits & set(node) and "x-expects" not in node
    ]
    assert silent == []


def test_answers_are_never_closed() -> None:
    closed = [
        name
        for name, schema in _schemas().items()
        if not name.endswith(".request.json")
        for _, node in _nodes(schema)
        if node.get("additionalProperties") is False
    ]
    assert closed == []


def _each_dialect() -> list[str]:
    return ["documented", "observed", *(row["id"] for row in _register("errata")["errata"])]


def _request(row: Node, body: Any = None) -> Request:
    example = row["example"]
    query = "&".join(
        f"{k}={str(v).lower() if v is False else v}" for k, v in example.get("query", {}).items()
    )
    sent = encode(body if body is not None else example["body"]) if "body" in example else b""
    headers = Headers(tuple(example.get("headers", {}).items()))
    return Request(row["method"], row["path"], query, headers, sent)


@pytest.mark.parametrize("dialect", _each_dialect())
@pytest.mark.deep(quick=12)
def test_every_erratum_applies_alone_and_its_examples_keep_it(dialect: str) -> None:
    plain = _source().contract()
    touched = {row["id"]: row["operations"] for row in _register("errata")["errata"]}
    for operation in _source().contract(dialect):
        reading = operation.read(_request(operation.row))
        assert [str(violation) for violation in reading.violations] == []
        if dialect in ("documented", "observed") or operation.id in touched[dialect]:
            Draft202012Validator.check_schema(operation.request_schema)
            Draft202012Validator.check_schema(operation.response_schema)
        elif not _changes_what_holds_for_all(dialect):
            # An erratum names every operation that it changes, or changes what holds for all.
            assert operation.request_schema == plain.operation(operation.id).request_schema
            assert operation.data_schema == plain.operation(operation.id).data_schema


def _changes_what_holds_for_all(dialect: str) -> bool:
    row = next(row for row in _register("errata")["errata"] if row["id"] == dialect)
    return any(
        change["document"].endswith("envelope.json") or change["path"] == "/unknown_names"
        for change in row["changes"]
    )


@pytest.mark.parametrize(
    ("operation", "field", "good", "bad"),
    [
        ("v1.getCrossChainQuote", "amount", [1, 10**60], [0, -1, "1", 10**61, True]),
        ("v1.getCrossChainQuote", "feeLevel", [0, 10], [-1, 11, "0"]),
        ("v1.getCrossChainQuote", "fromChain", ["BSC"], ["", "B SC", "x" * 33]),
        ("v1.submitCrossChain", "certHash", ["0x" + "aB" * 32], ["0x", "ab" * 32, "0x" + "g" * 64]),
        ("v1.submitCrossChain", "fromAddress", [0, 2**256 - 1], [-1, 2**256, "0x1"]),
        ("v2.getBridgeQuote", "amount", ["1", "9" * 77], ["0", "01", "-1", "1e3", "0x1", "9" * 78]),
        ("v2.getAggregateQuote", "fromDecimal", ["6", "18"], ["", "six", "1000"]),
        ("v2.getAggregateSwap", "slippage", ["1", "5000"], ["0", "5001", "1.5"]),
        ("v2.checkOrder", "id", ["30000000001"], ["", "abc", "1" * 31]),
        ("v2.checkTicket", "ticketId", ["1"], ["-1", "x"]),
        ("v2.getAllTicketByAddress", "filter", ["Unknown", "Succeeded"], ["Failed", "pending"]),
        ("v2.submitOrder", "orderType", ["1"], ["3", 1]),
        ("v2.submitOrder", "slippage", ["0"], ["100", "5001", 0]),
        ("v2.submitOrder", "sourceCerts", ["0xab", "ab"], ["", "0x", "abc", "zz"]),
        ("v2.submitOrder", "extra", ["", "1_2;3_2"], [None]),
        ("v2.submitTicket", "hash", ["0x1"], ["", "a b"]),
    ],
)
def test_request_fields_both_ways(
    operation: str, field: str, good: list[Any], bad: list[Any]
) -> None:
    schema = _source().contract().operation(operation).request_schema
    part = next(p for p in schema["properties"].values() if field in p.get("properties", {}))
    example = next(
        values
        for values in _example(operation).values()
        if isinstance(values, Mapping) and field in values
    )
    check = SchemaCheck(part)
    assert [value for value in good if not check.accepts({**example, field: value})] == []
    assert [value for value in bad if check.accepts({**example, field: value})] == []


def _example(operation: str) -> Mapping[str, Any]:
    row: Mapping[str, Any] = _source().contract().operation(operation).row["example"]
    return row


@pytest.mark.parametrize(
    ("envelope", "answer", "kept"),
    [
        ("v1", {"code": 0, "data": {}, "msg": "success", "status": 0}, True),
        ("v1", {"code": 0, "data": {}}, False),
        ("v1", {"code": 31005}, True),
        ("v2", {"code": 3, "data": None}, True),
        ("v2", {"code": 0, "msg": "success"}, False),
        ("v2", {"msg": "fail"}, False),
    ],
)
def test_only_a_success_owes_the_whole_envelope(envelope: str, answer: Any, kept: bool) -> None:
    assert SchemaCheck(_documents()[f"{envelope}/envelope.json"]).accepts(answer) is kept


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("refusals", "refusals:\n  - name: Bad_Name\n"),
        ("assumptions", "assumptions:\n  - id: 14\n"),
        ("errata", "errata: []\n"),
        ("endpoints", "operations: []\n"),
        ("recording", "title: x\norigin: published\ndialect: documented\nexchanges: []\n"),
    ],
)
def test_a_broken_register_is_refused(tmp_path: Path, kind: str, text: str) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(f"format: crosschain-mock/{kind}@1\n{text}", "utf-8")
    with pytest.raises(InvalidFile):
        file_formats.read(file, kind)


def test_every_seed_of_a_world_has_one_range():
    read = {
        name: json.loads((ROOT / "meta" / f"{name}.json").read_text("utf-8"))["properties"]
        for name in ("scenario", "calendar")
    }
    seeds = [read["scenario"]["seed"], read["calendar"]["random"]["properties"]["seed"]]
    [route] = [row for row in ROWS if (row.method, row.path) == ("POST", "/worlds")]
    assert route.body is not None
    seeds.append(route.body["properties"]["seed"])
    assert {(one["minimum"], one["maximum"]) for one in seeds} == {(0, limits.MOST_SEED)}
