"""What stands in one place: ids of operations; and what an operation, a rule and a break more take.

The latter are added to a copy of the package.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mockserver.contract import Verdict, ids, load, shipped_facts
from mockserver.engine.order_statuses import Status
from mockserver.engine.pricing import AGGREGATORS
from mockserver.engine.tickets import TicketStatus
from mockserver.limits import AMOUNT_DIGITS
from mockserver.mock_headers import ANSWER_HEADERS, CONTROL_PATH, TOKEN_HEADER
from mockserver.signing.developer_signatures import HEADERS
from mockserver.signing.keyring import EXAMPLE_ADDRESS
from mockserver.times_and_durations import EXAMPLE_START

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "mockserver"

OPERATION = """
  - id: v2.getHealth
    operationId: getHealth
    generation: v2
    method: GET
    path: /v1/getHealth
    summary: Tell whether the service is well
    tags: ["prices"]
    section: "4.2 row 10"
    effect: read
    auth: none
    deprecated: false
    request: v2/getHealth.request.json
    data: v2/getHealth.data.json
    example: {}
"""
DATA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "getHealth data",
    "x-section": "2.3",
    "type": "object",
    "required": ["healthy", "since"],
    "properties": {
        "healthy": {"type": "boolean", "description": "whether all is well"},
        "since": {"type": "string", "description": "timestamp as text"},
    },
}
REQUEST = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "getHealth request",
    "x-section": "4.2 row 10",
    "type": "object",
    "properties": {},
}
MEANING = '''

def get_health(world: World, inputs: Inputs) -> Json:
    """Tell whether the service is well, and since when in seconds."""
    return {"healthy": True, "since": str(world.now() // 1000)}
'''
RULE = '''

@_PACK.minor("interface.operations", "v2.getHealth", each=("usual",))
@each(answers, "data.healthy", vacuous="the service was not asked how it is")
def service_is_well(_: RunContext, exchange: Exchange) -> Findings:
    """A service that answers is well."""
    if exchange.data.get("healthy") is not True:
        yield Finding("the service says that it is not well")
'''
BREAK = """
    health-is-denied: {says: a service that is well says that it is not, fact: interface.operations,
      at: [v2.getHealth], change: {healthy: opposite}}
"""


def _add(file: Path, text: str, before: str = "") -> None:
    """Put a text in front of another, or at the end of a file."""
    found = file.read_text("utf-8")
    assert before in found
    at = found.index(before) if before else len(found)
    file.write_text(f"{found[:at]}{text.removeprefix(chr(10)) if before else text}{found[at:]}")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The package with one operation, one rule and one break more."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("mockserver", "schemas", "fixtures"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    schemas, package = folder / "schemas", folder / "mockserver"
    _add(schemas / "endpoints.yaml", OPERATION)
    (schemas / "v2" / "getHealth.data.json").write_text(json.dumps(DATA))
    (schemas / "v2" / "getHealth.request.json").write_text(json.dumps(REQUEST))
    _add(package / "operations" / "v2.py", MEANING)
    _add(package / "conformance" / "checks" / "balances_and_prices.py", RULE)
    _add(schemas / "breaks.yaml", BREAK, "    envelope-code-as-text:")
    return folder


def _said(copy: Path, *words: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "mockserver", *words],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.stdout, ended.stderr
    return ended.stdout


def test_the_operation_is_listed_and_described(copy):
    assert "/v1/getHealth" in _said(copy, "routes")
    document = json.loads(_said(copy, "openapi", "v2"))
    assert (
        document["paths"]["/v1/getHealth"]["get"]["summary"] == "Tell whether the service is well"
    )


def test_the_rule_is_explained(copy):
    said = _said(copy, "conform", "explain", "service-is-well")
    assert "A service that answers is well" in said
    assert "operations: v2.getHealth" in said


def test_the_operation_is_served_the_break_breaks_it_and_the_rule_finds_that(copy):
    words = ("conform", "selftest", "health-is-denied", "--mode", "cheapest", "--seeds", "0")
    told = json.loads(_said(copy, *words, "--json"))
    (trial,) = told["trials"]
    assert (trial["name"], trial["verdict"]) == ("health-is-denied", "violation")
    assert trial["told"]
    assert all("service-is-well" in one for one in trial["told"])
    assert (told["passed"], told["missed"]) == (True, [])


def _texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the texts in code with their lines; docstrings and what stands alone are prose."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.lineno, node.value


def _spelled(texts: Iterable[tuple[int, str]], words: Set[str]) -> list[tuple[int, str]]:
    """Return the texts in code that are one of some words, or begin with it as probes do."""
    return [(line, text) for line, text in texts if {text, text.partition("/")[0]} & words]


@cache
def _code_texts() -> dict[str, list[tuple[int, str]]]:
    """Return the texts in each file of the package, which takes seconds to parse."""
    return {name: list(_texts(source)) for name, source in _code()}


def _code() -> Iterator[tuple[str, str]]:
    """Yield the files of the package, and what is in them."""
    for file in sorted(PACKAGE.rglob("*.py")):
        yield file.relative_to(PACKAGE).as_posix(), file.read_text("utf-8")


OPERATIONS = frozenset(operation.id for operation in load("observed"))
VERDICTS = frozenset(Verdict)
SOURCES = frozenset(fact.source for fact in shipped_facts().evidence)
"""Assumptions and cite keys: code names the facts that they carry."""


# The types of the public API are literals; a test holds that they are those of the engine.
_ORDER_STATUSES = ["engine/order_statuses.py", "testing/options.py"]


@pytest.mark.parametrize(
    ("words", "home"),
    [
        (OPERATIONS, ["contract/ids.py"]),
        (VERDICTS, ["contract/facts.py"]),
        (SOURCES, []),
        ({*ANSWER_HEADERS, TOKEN_HEADER, CONTROL_PATH}, ["mock_headers.py"]),
        ({EXAMPLE_START}, ["times_and_durations.py"]),
        ({EXAMPLE_ADDRESS}, ["signing/keyring.py"]),
        (frozenset(Status) - set(TicketStatus), _ORDER_STATUSES),
        (
            frozenset(TicketStatus),
            ["engine/order_statuses.py", "engine/tickets.py", "testing/options.py"],
        ),
    ],
    ids=["operations", "verdicts", "sources", "own", "start", "address", "statuses", "tickets"],
)
def test_a_word_is_spelled_in_one_file(words, home):
    files = {name: _spelled(texts, words) for name, texts in _code_texts().items()}
    assert [name for name, found in files.items() if found] == home


def test_each_of_these_ids_is_that_of_an_operation():
    named = [value for name, value in vars(ids).items() if name.isupper()]
    assert {one for one in named if isinstance(one, str)} <= OPERATIONS
    assert len(OPERATIONS & {one for one in named if isinstance(one, str)}) > 20


def test_the_digits_of_amounts_are_those_of_the_schema():
    schema = json.loads((ROOT / "schemas" / "common" / "smallest-units.json").read_text("utf-8"))
    form = re.compile(schema["allOf"][0]["pattern"])
    assert form.fullmatch("9" * AMOUNT_DIGITS)
    assert not form.fullmatch("9" * (AMOUNT_DIGITS + 1))


def test_an_id_that_is_spelled_elsewhere_is_found():
    code = '"""Of `v2.getChain`."""\nprobe = f"{1}"\nusual = "v2.getChain/usual"\n"v2.getChain"\n'
    assert _spelled(_texts(code), OPERATIONS) == [(3, "v2.getChain/usual")]
    assert _spelled(_texts("a = {'v2.getChain': 1}"), OPERATIONS) == [(1, "v2.getChain")]
    assert _spelled(_texts("fact = 'v2.get-chain'"), OPERATIONS) == []
    assert _spelled(_texts("NONE, WORST = 'none', 'violation'"), VERDICTS) == [(1, "violation")]
    assert _spelled(_texts("basis = Basis(ASSUMED, '', 'A-213')"), SOURCES) == [(1, "A-213")]
    assert _spelled(_texts("over = status == 'Refunded'"), frozenset(Status)) == [(1, "Refunded")]


def test_the_headers_of_an_account_are_listed_in_one_file():
    lists = {name: _lists(source) for name, source in _code() if "signature" in source.lower()}
    assert [name for name, found in lists.items() if found] == ["signing/developer_signatures.py"]
    assert _lists("_OWN = ('Signature', 'appkey', 'expireTime')")
    assert not _lists("sent = [headers.get(name) for name in ('expireTime', 'timestamp')]")


def _lists(source: str) -> list[ast.expr]:
    """Return where code lists three of the headers of a developer account."""
    own = set(map(str.lower, HEADERS))
    displays = ast.Tuple | ast.List | ast.Set | ast.Dict
    return [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, displays)
        for items in [node.keys if isinstance(node, ast.Dict) else node.elts]
        if len(own & {str(getattr(one, "value", "")).lower() for one in items}) > 2
    ]


def _groups(source: str) -> Iterator[frozenset[str]]:
    """Yield the groups of three operations and more that code writes down."""
    for node in ast.walk(ast.parse(source if source.count("ids.") > 2 else "")):
        if isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) > 2:
            names = [ast.unparse(one) for one in node.elts]
            if all(name.startswith("ids.") for name in names):
                yield frozenset(getattr(ids, name.removeprefix("ids.")) for name in names)


def _written_twice(*sources: str) -> list[frozenset[str]]:
    """Return the groups that stand in two places, or in one beside `ids`."""
    named = (frozenset(one) for one in vars(ids).values() if isinstance(one, tuple))
    counted = Counter([*named, *(group for source in sources for group in _groups(source))])
    return [group for group, count in counted.items() if count > 1]


def _listed(text: str) -> bool:
    """Tell whether a list in JSON or YAML without anchors has every status of tickets."""
    return any(all(status in found for status in TicketStatus) for found in _LIST.findall(text))


_LIST = re.compile(r"\[[^][]*\]")


def test_the_statuses_of_tickets_are_listed_with_the_inputs_and_those_of_orders():
    files = [one for one in (ROOT / "schemas").rglob("*") if one.suffix in (".json", ".yaml")]
    assert [one.name for one in sorted(files) if _listed(one.read_text("utf-8"))] == [
        "scenario.json",
        "checkOrder.data.json",
        "getAllTicketByAddress.request.json",
    ]
    form = json.loads((ROOT / "schemas" / "meta" / "scenario.json").read_text("utf-8"))
    assert form["$defs"]["step"]["properties"]["status"]["enum"] == list(Status)
    assert form["$defs"]["aggregator"]["enum"] == list(AGGREGATORS)
    assert _listed("read: [read Unknown, read Pending,\n  read Succeeded]")
    assert not _listed("open: [Unknown, Pending], final: [Succeeded]")


def test_a_group_of_operations_is_written_once():
    assert _written_twice(*(source for _, source in _code())) == []


def test_a_group_that_is_written_twice_is_found():
    group = "_LISTS = (ids.CHAINS, ids.ASSETS, ids.PRICE)"
    assert _written_twice(group, "_PAIR = (ids.CHAINS, ids.ASSETS)") == []
    assert _written_twice(group, f"other = {group[9:]}") == [
        frozenset([ids.CHAINS, ids.ASSETS, ids.PRICE])
    ]
    assert _written_twice("a = {ids.TICKET, ids.ORDER, ids.V1_ORDER}") == [frozenset(ids.WRITES)]


def _objects(schema: Any) -> Iterator[frozenset[str]]:
    """Yield the members of each object of a schema that has three and more."""
    for node in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(node, dict | list):
            yield from _objects(node)
    if isinstance(schema, dict) and len(schema.get("properties", ())) > 2:
        yield frozenset(schema["properties"])


ANSWERED = {one for operation in load("observed") for one in _objects(operation.data_schema)}
ANSWERING = ("operations", "responders")
"""The packages that make answers; others read them."""


def _answers(source: str) -> Iterator[frozenset[str]]:
    """Yield the objects of answers of which code writes three members at once."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Dict):
            keys = {getattr(key, "value", None) for key in node.keys}
            objects = [one for one in ANSWERED if len(keys & one) > 2 and keys <= {*one, None}]
            yield from sorted(objects, key=len)[:1]


def _made_twice(*sources: str) -> list[frozenset[str]]:
    counted = Counter(one for source in sources for one in _answers(source))
    return [members for members, count in counted.items() if count > 1]


def test_an_object_of_an_answer_is_made_in_one_place():
    sources = [source for name, source in _code() if name.partition("/")[0] in ANSWERING]
    assert sum(len(list(_answers(source))) for source in sources) > 10
    assert _made_twice(*sources) == []


def test_an_object_that_is_made_twice_is_found():
    order = "{'status': 'x', 'execHash': '', 'amountOut': '0'}"
    assert _made_twice(f"a = {order}") == []
    assert _made_twice("a = {'status': 1, 'beside': 2}") == []
    (members,) = _made_twice(f"a = {order}", f"b = {{**a, {order[1:]}")
    assert "timestamp" in members
